// SPDX-License-Identifier: Apache-2.0
#include "agentd/pci.h"

#include "enforce/reconcile.h"
#include "enforce/sysctl.h"
#include "kernel/pci/pci_config.h"
#include "node/pci_state.h"
#include "node/scan.h"
#include "node/state.h"

namespace fabric::agentd {
namespace {

constexpr std::chrono::seconds kPciLockPatience{10};

int failed(const PciWorld& world, const Error& failure) {
  world.log({message_id::trouble, LOG_ERR, failure.text()});
  return 2;
}

int report(const PciWorld& world, const Changes& changes) {
  int worst = 0;
  for (const Change& change : changes) {
    worst = std::max(worst, severity(change.outcome));
    if (auto message = message_for(change, nullptr, qos::Drift::Transition::nothing, {})) world.log(*message);
  }
  return worst;
}

// What each entry wants that may be the port's own. At boot most links are down, so that one which asks for a speed may
// be (may_match()).
std::set<std::optional<uint32_t>> wanted_mrrs(const Policy& policy, const Port& port) {
  if (const PortPolicy* entry = policy_for(policy, port)) return {entry->want.mrrs};
  std::set<std::optional<uint32_t>> out;
  for (const PortPolicy& entry : policy.ports) {
    if (!may_match(entry, port)) continue;
    out.insert(entry.want.mrrs);
    if (entry.match.speed.empty()) return out;
  }
  out.insert(std::nullopt);  // perhaps none is
  return out;
}

// One port's MRRS.
int keep(PciWorld& world, const Policy& policy, Port& port, state::Originals& originals) {
  const auto wanted = wanted_mrrs(policy, port);
  if (wanted.size() > 1) {
    world.log(port_entry(
        port.id(), LOG_NOTICE,
        "mrrs waits: " + why_left_alone(policy, port) + "; when it is up: systemctl restart fabric-agent-pci",
        message_id::pending));
    return 1;
  }
  Qos want;
  want.mrrs = *wanted.begin();
  if (!want.mrrs) return 0;
  qos::Options options;
  options.dry_run = policy.mode == Mode::audit;
  options.only = keys_of(want) & qos::own_keys(port);  // of a bond, the members' functions
  options.save_original = [&](const Port& of, const Qos& before) {
    return state::save_original(world.directory, originals, of, before);
  };
  return report(world, qos::reconcile(world.kernel, port, want, options));
}

// The host settings that require CAP_SYS_ADMIN.
int keep_host(PciWorld& world, const Policy& policy) {
  qos::SysctlValues wanted;
  for (const auto& [name, value] : policy.sysctl)
    if (const qos::Sysctl* row = qos::find_sysctl(name); row != nullptr && row->sys_admin) wanted.emplace(name, value);
  if (wanted.empty()) return 0;
  auto originals = qos::load_sysctl_originals(world.directory);
  if (!originals) return failed(world, originals.error());
  qos::SysctlOptions options;
  options.dry_run = policy.mode == Mode::audit;
  options.save_original = [&](const std::string& name, const std::string& before) {
    return qos::save_sysctl_original(world.directory, *originals, name, before);
  };
  return report(world, qos::reconcile_sysctl(world.kernel.root, wanted, options));
}

int keep_all(PciWorld& world, const Policy& policy, Node& node) {
  auto lock = state::take_lock(world.directory, kPciLockPatience);
  if (!lock) return failed(world, lock.error());
  auto originals = state::load_originals(world.directory);
  if (!originals) return failed(world, originals.error());
  int worst = keep_host(world, policy);
  for (Port& port : node.ports) worst = std::max(worst, keep(world, policy, port, *originals));
  return worst;
}

void add(const Root& root, const PciDevice& device, PciState& state) {
  auto read = [&](const std::string& address) {
    if (!address.empty() && !state.functions.contains(address))
      state.functions.emplace(address, pci::read_settings(root, address));
  };
  read(device.pci);
  for (const std::string& bridge : device.bridges) read(bridge);
}

}  // namespace

PciWorld real_pci_world(Kernel& kernel) {
  PciWorld world{.kernel = kernel, .scan = {}};
  world.directory = kernel.root.path();
  world.scan = [&kernel](const Policy& policy) {
    ScanOptions what = ports_only();
    what.topology = what.serials = what.members = true;
    what.exclude = policy.exclude;
    return scan(kernel, what);
  };
  return world;
}

int keep_pci(PciWorld& world, const Policy& policy) {
  Node node = world.scan(policy);
  const int worst = keep_all(world, policy, node);
  PciState state;
  state.updated = utc_now();
  for (const Gpu& gpu : node.topology.gpus) add(world.kernel.root, gpu, state);
  for (const Nic& nic : node.topology.nics) add(world.kernel.root, nic, state);
  if (auto saved = state::save_pci_state(world.directory, state); !saved) return failed(world, saved.error());
  return worst;
}

}  // namespace fabric::agentd
