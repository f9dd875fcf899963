// SPDX-License-Identifier: Apache-2.0
#include "ctl/world.h"

#include <thread>

#include "enforce/confirm.h"
#include "judge/rule.h"
#include "policy/cabling.h"
#include "policy/config.h"

namespace fabric::ctl {

int64_t wall_now(const Kernel& kernel) {
  std::tm now = local_now(kernel);
  const long ahead = now.tm_gmtoff;
  return static_cast<int64_t>(::timegm(&now)) - ahead;
}

bool names_port(const std::string& name, const Port& port) {
  return name == port.id() || name == port.rdma || (!port.netdev.empty() && name == port.netdev) ||
         contains(port.altnames, name);
}

Result<World> open_world(const Options& options) {
  auto kernel = options.open(options.root);
  if (!kernel) return kernel.error();
  // The folder above it would pass for a machine without NICs.
  if (!kernel->root.is_host() && !kernel->root.exists("sys") && !kernel->root.exists("proc"))
    return error(0, options.root + ": not a captured machine: it has no folder sys; name the folder that has");
  World world{std::move(kernel).value(), std::nullopt, {}};
  auto config = load_config_in_use(world.kernel.root, options.config, rule_rows());
  const std::string problem = config ? config->error : config.error().text();
  if (!problem.empty() && !options.config.empty()) return config ? error(0, problem) : config.error();
  world.no_policy = problem;
  if (!config) return world;
  world.policy = std::move(config->config.policy);
  load_cabling(world.kernel.root, *world.policy);
  return world;
}

Result<World> open_configured_world(const Options& options) {
  auto world = open_world(options);
  if (world && !world->no_policy.empty()) return error(0, world->no_policy);
  return world;
}

Result<void> refuse_against_other_config(const World& world, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kPause{100};
  if (!world.policy) return {};
  const std::string mine = confirm::digest(wanted_config(*world.policy));
  for (auto waited = kPause;; waited += kPause) {
    const auto agent = state::load_agent_state(world.kernel.root);
    if (!agent || !*agent || !(*agent)->running || (*agent)->mode != to_text(Mode::enforce) || !(*agent)->held.empty())
      return {};
    const auto its = state::agent_config(world.kernel.root);
    if (!its || its->empty() || *its == mine) return {};
    if (waited > patience) break;
    std::this_thread::sleep_for(kPause);
  }
  return error(
      0,
      "apply: fabric-agentd enforces another configuration and would undo this one; reload it (systemctl reload "
      "fabric-agent) or stop it first (systemctl stop fabric-agent)");
}

Node look(World& world, ScanOptions what) {
  if (world.policy) {
    what.exclude = world.policy->exclude;
    what.topology = what.topology || asks_for_role(*world.policy);
  }
  return scan(world.kernel, what);
}

bool is_chosen(const Options& options, const Port& port) {
  return options.ports.empty() ||
         std::ranges::any_of(options.ports, [&](const std::string& name) { return names_port(name, port); });
}

Result<void> check_ports(const Options& options, const Node& node) {
  const bool has_host = contains(std::array{"plan", "apply", "restore", "status"}, options.verb);
  for (const std::string& name : options.ports)
    if ((name != kHostSubject || !has_host) &&
        std::ranges::none_of(node.ports, [&](const Port& port) { return names_port(name, port); }))
      return error(0, "unknown port '" + name + "'; see fabric-agentctl status");
  return {};
}

qos::Options reconcile_options(World& world, const Options& options) {
  qos::Options out;
  if (world.policy) {
    const std::tm now = local_now(world.kernel);
    out.disruptive = world.policy->disruptive;
    out.window_open =
        in_window(world.policy->maintenance, now.tm_wday, static_cast<unsigned>(now.tm_hour * 60 + now.tm_min));
  }
  if (options.disruptive) {  // an explicit request ignores the maintenance window
    out.disruptive = *options.disruptive;
    out.window_open = true;
  }
  out.busy = [&kernel = world.kernel](const Port& port) { return qos::is_in_use(kernel, port); };
  return out;
}

qos::Options port_options(qos::Options options, const Port& port, const PortPolicy& entry) {
  options.only = qos::own_keys(port);
  options.derived = entry.derived;
  return options;
}

bool names_host(const Options& options) { return options.ports.empty() || contains(options.ports, kHostSubject); }

Changes host_changes(World& world, bool dry_run, decltype(qos::SysctlOptions::save_original) save) {
  if (!world.policy) return {};
  return qos::reconcile_sysctl(world.kernel.root, world.policy->sysctl, {dry_run, std::move(save)});
}

Plan make_plan(World& world, Node& node, const Options& options) {
  Plan plan;
  if (!world.policy || !world.kernel.route) return plan;
  qos::Options how = reconcile_options(world, options);
  how.dry_run = true;
  for (Port& port : node.ports)
    if (const PortPolicy* entry = policy_for(*world.policy, port); entry != nullptr && is_chosen(options, port))
      plan[port.id()] = qos::reconcile(world.kernel, port, entry->want, port_options(how, port, *entry));
  if (names_host(options))
    if (Changes host = host_changes(world, true, {}); !host.empty()) plan[kHostSubject] = std::move(host);
  return plan;
}

}  // namespace fabric::ctl
