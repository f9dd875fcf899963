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

int failed(const PciEnvironment& environment, const Error& failure) {
  environment.log({message_id::trouble, LOG_ERR, failure.text()});
  return 2;
}

int report(const PciEnvironment& environment, const Changes& changes) {
  int worst = 0;
  for (const Change& change : changes) {
    worst = std::max(worst, severity(change.outcome));
    if (auto message = message_for(change, nullptr, qos::Drift::Transition::nothing, {})) environment.log(*message);
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
int reconcile_mrrs(PciEnvironment& environment, const Policy& policy, Port& port, state::Originals& originals) {
  const auto wanted = wanted_mrrs(policy, port);
  if (wanted.size() > 1) {
    environment.log(
        port_entry(port.id(), LOG_NOTICE,
                   "mrrs waits: " + why_unmanaged(policy, port) + "; when it is up: systemctl restart fabric-agent-pci",
                   message_id::pending));
    return 1;
  }
  Qos want;
  want.mrrs = *wanted.begin();
  if (!want.mrrs) return 0;
  const qos::Terms terms{.in_use = qos::ask_kernel(environment.kernel)};
  if (policy.mode == Mode::audit) return report(environment, qos::plan(environment.kernel, port, want, terms));
  const qos::SaveOriginal save = [&](const Port& of, const Qos& before) {
    return state::save_original(environment.directory, originals, of, before);
  };
  return report(environment, qos::reconcile(environment.kernel, port, want, terms, save));
}

// The host settings that require CAP_SYS_ADMIN.
int reconcile_host(PciEnvironment& environment, const Policy& policy) {
  qos::SysctlValues wanted;
  for (const auto& [name, value] : policy.sysctl)
    if (const qos::Sysctl* row = qos::find_sysctl(name); row != nullptr && row->sys_admin) wanted.emplace(name, value);
  if (wanted.empty()) return 0;
  auto originals = qos::load_sysctl_originals(environment.directory);
  if (!originals) return failed(environment, originals.error());
  qos::SysctlOptions options;
  options.dry_run = policy.mode == Mode::audit;
  options.save_original = [&](const std::string& name, const std::string& before) {
    return qos::save_sysctl_original(environment.directory, *originals, name, before);
  };
  return report(environment, qos::reconcile_sysctl(environment.kernel.root, wanted, options));
}

int reconcile_all(PciEnvironment& environment, const Policy& policy, Node& node) {
  auto lock = state::take_lock(environment.directory, kPciLockPatience);
  if (!lock) return failed(environment, lock.error());
  auto originals = state::load_originals(environment.directory);
  if (!originals) return failed(environment, originals.error());
  int worst = reconcile_host(environment, policy);
  for (Port& port : node.ports) worst = std::max(worst, reconcile_mrrs(environment, policy, port, *originals));
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

PciEnvironment real_pci_environment(Kernel& kernel) {
  PciEnvironment environment{.kernel = kernel, .scan = {}};
  environment.directory = kernel.root.path();
  environment.scan = [&kernel](const Policy& policy) {
    ScanOptions what = ports_only();
    what.topology = what.serials = what.members = true;
    what.exclude = policy.exclude;
    return scan(kernel, what);
  };
  return environment;
}

int reconcile_pci(PciEnvironment& environment, const Policy& policy) {
  Node node = environment.scan(policy);
  const int worst = reconcile_all(environment, policy, node);
  PciState state;
  state.updated = utc_now();
  for (const Gpu& gpu : node.topology.gpus) add(environment.kernel.root, gpu, state);
  for (const Nic& nic : node.topology.nics) add(environment.kernel.root, nic, state);
  if (auto saved = state::save_pci_state(environment.directory, state); !saved)
    return failed(environment, saved.error());
  return worst;
}

}  // namespace fabric::agentd
