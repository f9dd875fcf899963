// SPDX-License-Identifier: Apache-2.0
#include "model/finding.h"

#include <algorithm>
#include <cstdio>

#include "model/pci_kind.h"

namespace fabric {
namespace {

std::optional<Outcome> outcome_of(std::string_view text) {
  for (Outcome value : {Outcome::in_sync, Outcome::applied, Outcome::unverified, Outcome::pending, Outcome::refused,
                        Outcome::ignored, Outcome::unsaved, Outcome::conflict})
    if (to_text(value) == text) return value;
  return std::nullopt;
}

const SettingState* agents_word(const Node& node, const Change& change) {
  if (!node.agent || !node.agent->running) return nullptr;
  const auto port = node.agent->ports.find(change.port);
  if (port == node.agent->ports.end()) return nullptr;
  return find_in(port->second, change.key());
}

// Changes that cannot be judged here and need no action.
std::string why_excused(const Node& node, const Change& change) {
  const auto port = std::ranges::find_if(node.ports, [&](const Port& each) { return each.id() == change.port; });
  if (port == node.ports.end()) return {};
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
  const SettingState* agent = agents_word(node, change);
  const auto outcome = agent == nullptr ? std::nullopt : outcome_of(agent->outcome);
  const bool done = outcome && is_done(*outcome);
  if (outcome && (is_unread || (is_open && !done))) {
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

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string rate_text(double bytes_per_second) { return number_text(bytes_per_second * 8 / 1e9) + " Gb/s"; }

std::string card_of(const std::string& pci) {
  return pci.substr(0, pci.rfind('.') == std::string::npos ? 0 : pci.rfind('.'));
}

bool are_twins(const Port& a, const Port& b) {
  const auto place = [](const Port& port) { return port.pci.substr(card_of(port.pci).size()); };
  return a.kernel_driver == b.kernel_driver && a.hca_type == b.hca_type && a.board_id == b.board_id &&
         a.link_layer == b.link_layer && a.number == b.number && place(a) == place(b) && is_judged(a) && is_judged(b);
}

bool is_unread(const Port& port, std::string_view subject) {
  return std::ranges::any_of(port.unread,
                             [&](const std::string& reason) { return reason.find(subject) != std::string::npos; });
}

std::string why_unread(const Port& port, std::string_view subject) {
  for (const std::string& reason : port.unread)
    if (reason.find(subject) != std::string::npos) return reason;
  return "not readable as this user, or not offered by this kernel and driver";
}

}  // namespace fabric
