// SPDX-License-Identifier: Apache-2.0
#include "judge/finding.h"

#include "node/node.h"

namespace fabric {
namespace {

// Changes that cannot be judged here and need no action.
std::string why_excused(const Node& node, const Change& change) {
  const Port* port = find_where(node.ports, [&](const Port& each) { return each.id() == change.port; });
  if (port == nullptr) return {};
  if (change.outcome == Outcome::unsupported && is_guests_function(port->pci_id))
    return "set by the host: this is a virtual function";
  // Some drivers show the active mode only (Driver::fec_in_use). port-state reports the missing link.
  if (change.setting == SettingId::fec && change.sysctl.empty() && change.from == "none" && port->carrier == false &&
      change.outcome != Outcome::refused)
    return "unknown while the link is down";
  return {};
}

}  // namespace

Change with_agents_word(const Node& node, Change change) {
  const bool is_open = change.outcome == Outcome::differs || change.outcome == Outcome::pending;
  const bool is_unread =
      change.from == "-" && (change.outcome == Outcome::unsupported || change.outcome == Outcome::refused);
  const auto* settings = node.agent && node.agent->running ? find_in(node.agent->ports, change.port) : nullptr;
  const SettingState* agent = settings != nullptr ? find_in(*settings, change.key()) : nullptr;
  const auto outcome = agent != nullptr ? parse_word<Outcome>(agent->outcome) : std::nullopt;
  const bool knows_more = outcome && *outcome != Outcome::differs && *outcome != Outcome::unsupported;
  const bool done = knows_more && is_done(*outcome);
  if (knows_more && (is_unread || (is_open && !done))) {
    change.outcome = *outcome == Outcome::applied ? Outcome::in_sync : *outcome;
    change.detail = agent->detail;
    if (done) change.from = change.to;
  }
  if (std::string why = why_excused(node, change); !why.empty()) {
    change.outcome = Outcome::in_sync;
    change.from = std::move(why);
  }
  return change;
}

}  // namespace fabric
