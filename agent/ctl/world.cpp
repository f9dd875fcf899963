// SPDX-License-Identifier: Apache-2.0
#include "ctl/world.h"

#include <algorithm>

#include "config/config.h"
#include "qos/busy.h"

namespace fabric::ctl {
namespace {

bool names_port(const std::string& name, const Port& port) {
  return name == port.id() || name == port.rdma || (!port.netdev.empty() && name == port.netdev);
}

}  // namespace

Result<World> open_world(const Options& options) {
  auto kernel = open_kernel(options.root);
  if (!kernel) return kernel.error();
  World world{std::move(kernel).value(), std::nullopt, {}};
  auto config = load_config(options.config_file());
  if (config)
    world.policy = std::move(config->policy);
  else if (options.config.empty())
    world.no_policy = config.error().text();
  else
    return config.error();
  return world;
}

Result<World> open_configured_world(const Options& options) {
  auto world = open_world(options);
  if (world && !world->policy) return error(0, world->no_policy);
  return world;
}

Node look(World& world, ScanOptions what) {
  if (world.policy) what.exclude = world.policy->exclude;
  return scan(world.kernel, what);
}

bool is_chosen(const Options& options, const Port& port) {
  return options.ports.empty() || std::any_of(options.ports.begin(), options.ports.end(),
                                              [&](const std::string& name) { return names_port(name, port); });
}

Result<void> check_ports(const Options& options, const Node& node) {
  for (const std::string& name : options.ports)
    if (std::none_of(node.ports.begin(), node.ports.end(), [&](const Port& port) { return names_port(name, port); }))
      return error(0, name + " is no RDMA port of this machine; fabric-agentctl status lists them");
  return {};
}

qos::Options reconcile_options(World& world, const Options& options) {
  qos::Options out;
  if (world.policy) out.disruptive = world.policy->disruptive;
  if (options.disruptive) out.disruptive = *options.disruptive;
  out.busy = [&kernel = world.kernel](const Port& port) { return qos::has_user_queue_pairs(kernel, port); };
  return out;
}

Plan make_plan(World& world, Node& node, const Options& options) {
  Plan plan;
  if (!world.policy || !world.kernel.route) return plan;
  qos::Options how = reconcile_options(world, options);
  how.dry_run = true;
  for (Port& port : node.ports)
    if (const PortPolicy* entry = policy_for(*world.policy, port); entry != nullptr && is_chosen(options, port))
      plan[port.id()] = qos::reconcile(world.kernel, port, entry->want, how);
  return plan;
}

}  // namespace fabric::ctl
