// SPDX-License-Identifier: Apache-2.0
#include "model/finding.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace fabric {
namespace {

std::optional<Outcome> outcome_of(std::string_view text) {
  for (Outcome value : {Outcome::pending, Outcome::refused, Outcome::ignored, Outcome::conflict})
    if (to_text(value) == text) return value;
  return std::nullopt;
}

}  // namespace

Change with_agents_word(const Node& node, Change change) {
  const bool is_open = change.outcome == Outcome::differs || change.outcome == Outcome::pending;
  if (!is_open || !node.agent || !node.agent->running) return change;
  const auto port = node.agent->ports.find(change.port);
  if (port == node.agent->ports.end()) return change;
  const auto setting = port->second.find(change.key());
  if (setting == port->second.end()) return change;
  const std::optional<Outcome> outcome = outcome_of(setting->second.outcome);
  if (!outcome) return change;
  change.outcome = *outcome;
  change.detail = setting->second.detail;
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
  return std::any_of(port.unread.begin(), port.unread.end(),
                     [&](const std::string& reason) { return reason.find(subject) != std::string::npos; });
}

std::string why_unread(const Port& port, std::string_view subject) {
  for (const std::string& reason : port.unread)
    if (reason.find(subject) != std::string::npos) return reason;
  return "not readable as this user, or not offered by this kernel and driver";
}

}  // namespace fabric
