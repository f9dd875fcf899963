// SPDX-License-Identifier: Apache-2.0
#include "ctl/machine.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "enforce/rounds.h"
#include "enforce/sysctl.h"
#include "judge/rule.h"
#include "judge/unseen.h"
#include "node/nvml.h"
#include "policy/cabling.h"
#include "policy/config.h"
#include "policy/last_good.h"

namespace fabric::ctl {

const Policy* Machine::policy_or_null() const {
  if (!policy) return nullptr;
  return &*policy;
}

int64_t wall_now(const Kernel& kernel) {
  std::tm now = local_now(kernel);
  const long utc_offset = now.tm_gmtoff;  // timegm() resets it
  return static_cast<int64_t>(::timegm(&now)) - utc_offset;
}

bool names_port(const std::string& name, const Port& port) {
  return name == port.id() || name == port.rdma || (!port.netdev.empty() && name == port.netdev) ||
         contains(port.altnames, name);
}

Result<Machine> open_machine(const Options& options) {
  auto kernel = options.open(options.root);
  if (!kernel) return kernel.error();
  // Otherwise the parent directory of a capture would look like a machine without NICs.
  if (!kernel->root.is_host() && !kernel->root.exists("sys") && !kernel->root.exists("proc"))
    return error(0, options.root + ": not a captured machine: no directory sys in it");
  Machine machine{std::move(kernel).value(), std::nullopt, {}};
  if (!options.config.empty()) {
    auto given = load_config(machine.kernel.root, options.config, rule_rows());
    if (!given) return given.error();
    machine.policy = std::move(given->policy);
    load_cabling(machine.kernel.root, *machine.policy);
    return machine;
  }
  auto config = load_config_in_use(machine.kernel.root, {}, rule_rows());
  if (!config) {
    machine.no_policy = config.error();
    return machine;
  }
  machine.no_policy = config->error;
  machine.policy = std::move(config->config.policy);
  load_cabling(machine.kernel.root, *machine.policy);
  return machine;
}

Result<Machine> open_configured_machine(const Options& options) {
  auto machine = open_machine(options);
  if (machine && machine->no_policy) return error(0, machine->no_policy->text());
  return machine;
}

Node scan_machine(Machine& machine, ScanOptions what) {
  if (machine.policy) {
    what.exclude = machine.policy->exclude;
    what.topology = what.topology || matches_by_role(*machine.policy);
  }
  return scan(machine.kernel, what);
}

void ask_nvml(Machine& machine, Topology& topology) {
  if (!machine.kernel.route) return;
  const auto text = query_recorded(machine.kernel, "nvml devices", []() -> Result<std::string> {
    const auto devices = nvml::devices();
    if (!devices) return devices.error();
    return nvml::to_text(*devices);
  });
  if (text) nvml::complete(nvml::parse_devices(*text), topology);
}

bool is_chosen(const Options& options, const Port& port) {
  for (const std::string& name : options.ports)
    if (names_port(name, port)) return true;
  return options.ports.empty();
}

// A device of a container is not here, and the check names it.
static Error unknown_port(const std::string& name, const Node& node) {
  for (const std::string& device : devices_elsewhere(node))
    if (const std::string rdma = device.substr(0, device.find(' ')); name == rdma || name.starts_with(rdma + "/"))
      return error(
          0, device +
                 " is in another network namespace: run this command there (in a container, from its host as root: "
                 "--root /proc/PID/root, PID being one of its processes)");
  return error(0, "unknown port '" + name + "'; see fabric-agentctl status");
}

Result<void> check_ports(const Options& options, const Node& node) {
  const bool has_host = contains(std::array{"plan", "apply", "restore", "status"}, options.verb);
  for (const std::string& name : options.ports)
    if ((name != kHostSubject || !has_host) &&
        std::ranges::none_of(node.ports, [&](const Port& port) { return names_port(name, port); }))
      return unknown_port(name, node);
  return {};
}

qos::Terms write_terms(Machine& machine, const Options& options, qos::WantedOf wanted_of) {
  qos::Terms out{.in_use = qos::ask_kernel(machine.kernel), .wanted_of = std::move(wanted_of)};
  // --disruptive overrides the maintenance window, and without a policy there is no window.
  if (options.disruptive || !machine.policy) {
    out.disruptive = options.disruptive.value_or(Disruptive::idle);
    out.window = qos::Maintenance::open;
    return out;
  }
  const std::tm now = local_now(machine.kernel);
  out.disruptive = machine.policy->disruptive;
  if (in_window(machine.policy->maintenance, now.tm_wday, static_cast<unsigned>(now.tm_hour * 60 + now.tm_min)))
    out.window = qos::Maintenance::open;
  return out;
}

qos::Terms apply_terms(Machine& machine, const Node& node, const Options& options) {
  return write_terms(machine, options, qos::wanted_by(*machine.policy, node.ports));
}

std::function<bool(const Port&)> front_end_of(const Machine& machine) {
  return [&machine](const Port& port) {
    const Policy* policy = machine.policy_or_null();
    const PortPolicy* entry = policy == nullptr ? nullptr : policy_for(*policy, port);
    return entry != nullptr && entry->front_end;
  };
}

bool names_host(const Options& options) { return options.ports.empty() || contains(options.ports, kHostSubject); }

Plan make_plan(Machine& machine, const Node& node, const Options& options) {
  Plan plan;
  if (!machine.policy || !machine.kernel.route) return plan;
  qos::Terms terms = apply_terms(machine, node, options);
  for (const Port& port : node.ports) {
    const PortPolicy* entry = policy_for(*machine.policy, port);
    if (entry == nullptr || !is_chosen(options, port)) continue;
    terms.front_end = entry->front_end;
    terms.derived = entry->derived;
    plan[port.id()] = qos::plan(machine.kernel, port, entry->want, terms).changes;
  }
  if (names_host(options))
    if (Changes host = qos::plan_sysctl(machine.kernel.root, machine.policy->sysctl); !host.empty())
      plan[kHostSubject] = std::move(host);
  return plan;
}

}  // namespace fabric::ctl
