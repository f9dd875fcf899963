// SPDX-License-Identifier: Apache-2.0
#include "judge/finding.h"

#include <algorithm>

#include "nic/capabilities.h"
#include "nic/driver.h"
#include "node/node.h"

namespace fabric {

Change with_agent_outcome(const Node& node, Change change) {
  const bool is_open = change.outcome == Outcome::differs || change.outcome == Outcome::pending;
  const bool is_unread =
      !was_read(change) && (change.outcome == Outcome::unsupported || change.outcome == Outcome::refused);
  const SettingState* agent = nullptr;
  if (node.agent && node.agent->running)
    if (const auto* settings = find_in(node.agent->ports, change.port); settings != nullptr)
      agent = find_in(*settings, change.key());
  const std::optional<Outcome> outcome = agent != nullptr ? agent->outcome : std::nullopt;
  const bool knows_more = outcome && *outcome != Outcome::differs && *outcome != Outcome::unsupported;
  const bool done = knows_more && is_done(*outcome);
  if (knows_more && (is_unread || (is_open && !done))) {
    change.outcome = *outcome == Outcome::applied ? Outcome::in_sync : *outcome;
    change.detail = agent->detail;
    if (done) change.from = change.to;
  }

  // Changes that cannot be judged here and need no action.
  const Port* port = find_port(node.ports, change.port);
  if (port == nullptr) return change;
  if (change.outcome == Outcome::unsupported && is_guests_function(port->pci_id)) {
    change.outcome = Outcome::in_sync;
    change.from = "set by the host: this is a virtual function";
    return change;
  }
  // Some drivers show the active mode only (Driver::fec_in_use). port-state reports the missing link.
  if (change.setting == SettingId::fec && change.sysctl.empty() && change.from == to_text(kUnknownFec) &&
      is_down(*port) && change.outcome != Outcome::refused) {
    change.outcome = Outcome::in_sync;
    change.from = "unknown while the link is down";
  }
  return change;
}

Work work_of_write(const Port& port, SettingId setting) {
  if (!is_disruptive(op_of(driver_for(port.kernel_driver), setting), setting, {})) return Work::none;
  return Work::ends_jobs;
}

bool is_audit(const View& view) {
  const auto& agent = view.now.agent;
  if (agent && agent->running && agent->mode) return agent->mode == Mode::audit;
  return view.policy != nullptr && view.policy->mode == Mode::audit;
}

Finding audited(Finding finding) {
  if (finding.status == Status::unknown && !is_unverified(finding)) return finding;
  finding.status = Status::ok;
  if (!finding.outcome) finding.outcome = Outcome::differs;
  finding.meaning += " Audit mode: not written.";
  finding.fix = {"To see what mode = \"enforce\" would write: fabric-agentctl plan"};
  return finding;
}

}  // namespace fabric
