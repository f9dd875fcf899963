// SPDX-License-Identifier: Apache-2.0
#include "agentd/pci.h"

#include "enforce/confirm.h"
#include "enforce/formats.h"
#include "enforce/rounds.h"
#include "enforce/sysctl.h"
#include "kernel/pci/pci_config.h"
#include "node/pci_state.h"
#include "node/scan.h"
#include "node/state.h"
#include "policy/show_config.h"

namespace fabric::agentd {
namespace {

constexpr std::chrono::seconds kPciLockPatience{10};

int failed(const PciEnvironment& environment, const Error& failure) {
  environment.log({message_id::trouble, LOG_ERR, failure.text()});
  return 2;
}

// Logs the changes. Returns the exit status.
int report(const PciEnvironment& environment, const Changes& changes) {
  int worst = 0;
  for (const Change& change : changes) {
    worst = std::max(worst, severity(change.outcome));
    if (auto message = message_for(change, nullptr, qos::Drift::Transition::nothing, {})) environment.log(*message);
  }
  return worst;
}

// The MRRS of each entry that may be the port's own, nullopt for one without it. At boot most links are down, so that
// an entry which asks for a speed may match later (may_match()).
std::set<std::optional<uint32_t>> possible_mrrs(const Policy& policy, const Port& port) {
  if (const PortPolicy* entry = policy_for(policy, port)) return {entry->want.mrrs};
  std::set<std::optional<uint32_t>> out;
  for (const PortPolicy& entry : policy.ports) {
    if (!may_match(entry, port)) continue;
    out.insert(entry.want.mrrs);
    if (entry.match.speed.empty()) return out;
  }
  out.insert(std::nullopt);  // the port may turn out to match no entry
  return out;
}

int reconcile_mrrs(PciEnvironment& environment, const Policy& policy, const Port& port, state::Originals& originals,
                   qos::Turns& turns) {
  const auto possible = possible_mrrs(policy, port);
  if (possible.size() > 1) {
    environment.log(
        port_entry(port.id(), LOG_NOTICE,
                   "mrrs waits: " + why_unmanaged(policy, port) + "; when it is up: systemctl restart fabric-agent-pci",
                   message_id::pending));
    return 1;
  }
  Qos want;
  want.mrrs = *possible.begin();
  if (!want.mrrs) return 0;
  // MRRS is no part of RoCE's class, and its write leaves the link alone: no other port of a bond matters.
  const qos::Terms terms{.in_use = qos::ask_kernel(environment.kernel), .wanted_of = qos::WantedOf::same_policy()};
  if (policy.mode == Mode::audit) return report(environment, qos::plan(environment.kernel, port, want, terms).changes);
  const qos::SaveOriginal save = [&](const Port& of, const Qos& before) {
    return state::save_original(environment.directory, originals, of, before,
                                qos::bond_above(environment.kernel.root, of));
  };
  const auto writes = turns.terms_for(port, terms, std::chrono::steady_clock::now());
  return report(environment, qos::reconcile(environment.kernel, port, want, writes, save).changes);
}

// The host settings that require CAP_SYS_ADMIN.
int reconcile_host(PciEnvironment& environment, const Policy& policy) {
  qos::SysctlValues wanted;
  for (const auto& [name, value] : policy.sysctl)
    if (const qos::Sysctl* row = qos::find_sysctl(name); row != nullptr && row->sys_admin) wanted.emplace(name, value);
  if (wanted.empty()) return 0;
  auto originals = qos::load_sysctl_originals(environment.directory);
  if (!originals) return failed(environment, originals.error());
  if (policy.mode == Mode::audit) return report(environment, qos::plan_sysctl(environment.kernel.root, wanted));
  const qos::SaveSysctl save = [&](const std::string& name, const std::string& before) {
    return qos::save_sysctl_original(environment.directory, *originals, name, before);
  };
  return report(environment, qos::reconcile_sysctl(environment.kernel.root, wanted, save));
}

// Writes under the lock, and releases it.
int reconcile_all(PciEnvironment& environment, Policy policy, const Node& node) {
  auto lock = state::take_lock(environment.directory, kPciLockPatience);
  if (!lock) return failed(environment, lock.error());
  qos::Unsettled unsettled(environment.directory, [&](const std::string& what) {
    environment.log({message_id::trouble, LOG_ERR, what});
  });
  qos::Turns turns(environment.kernel, unsettled);
  turns.note_others(node.ports, std::chrono::steady_clock::now());
  // After an unconfirmed apply, restores the settings that only this service may write, and does not enforce them.
  int worst = 0;
  auto trial = confirm::load(environment.directory);
  if (!trial) worst = failed(environment, trial.error());
  if (!trial && !confirm::is_lost(trial.error())) policy.mode = Mode::audit;  // an apply may await confirmation
  if (trial && *trial && confirm::has_work(**trial, confirm::this_moment(environment.kernel.root))) {
    const auto present = confirm::with_excluded(**trial, node.ports, policy,
                                                [&](const Policy& all) { return environment.scan(all).ports; });
    const auto restored = confirm::lapse(environment.directory, environment.kernel, present, **trial,
                                         {.in_use = qos::ask_kernel(environment.kernel),
                                          .turns = turns,
                                          .sleep = {},
                                          .share = confirm::Share::sys_admin});
    if (restored) worst = report(environment, *restored);
    else worst = failed(environment, restored.error());
  }
  if (trial && *trial && (confirm::is_pending(**trial) || (*trial)->policy == confirm::digest(wanted_config(policy))))
    policy.mode = Mode::audit;
  if (auto formats = qos::check_formats(environment.directory); !formats) return failed(environment, formats.error());
  auto originals = state::load_originals(environment.directory);
  if (!originals) return failed(environment, originals.error());
  worst = std::max(worst, reconcile_host(environment, policy));
  for (const Port& port : node.ports)
    worst = std::max(worst, reconcile_mrrs(environment, policy, port, *originals, turns));
  return worst;
}

// Adds the settings of the device and of the bridges above it.
void add(const Root& root, const PciDevice& device, PciState& state) {
  std::vector<std::string> addresses{device.pci};
  addresses.insert(addresses.end(), device.bridges.begin(), device.bridges.end());
  for (const std::string& address : addresses)
    if (!address.empty() && !state.functions.contains(address))
      state.functions.emplace(address, pci::read_settings(root, address));
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
  const Node node = environment.scan(policy);
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
