// SPDX-License-Identifier: Apache-2.0
#include "policy/policy.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric {
namespace {

bool allows(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() || matches_any(patterns, text);
}

bool has_name(const Match& match, const Port& port) {
  return allows(match.netdev, port.netdev) ||
         std::ranges::any_of(port.altnames, [&](const auto& name) { return allows(match.netdev, name); });
}

bool matches(const Match& match, const Port& port) {
  bool driver =
      match.driver.empty() || matches_any(match.driver, port.kernel_driver) || matches_any(match.driver, port.driver);
  const std::string speed = port.speed ? std::to_string(*port.speed) : "";
  const std::string numa = port.numa ? std::to_string(*port.numa) : "";
  return driver && allows(match.pci_id, port.pci_id) && allows(match.speed, speed) && allows(match.numa, numa) &&
         allows(match.role, port.serves) && allows(match.rdma, port.rdma) && has_name(match, port) &&
         allows(match.pci, port.pci);
}

bool can_have_one(const Port& port) {
  return port.link_layer != LinkLayer::infiniband && !port.usnic && !is_virtual(port) && !port.netdev.empty();
}

}  // namespace

bool may_match(const PortPolicy& entry, const Port& port) {
  Match match = entry.match;
  if (!port.speed && port.carrier == false) match.speed.clear();
  return can_have_one(port) && matches(match, port);
}

bool Published::has(SeriesGroup group) const { return contains(groups, group); }

bool in_window(const std::vector<Window>& windows, int weekday, unsigned minute) {
  if (windows.empty()) return true;
  const auto has = [](const Window& window, int day) { return (window.days >> day & 1) != 0; };
  return std::ranges::any_of(windows, [&](const Window& window) {
    if (window.from <= window.to) return has(window, weekday) && minute >= window.from && minute < window.to;
    // Past midnight: the day is the one on which it begins.
    return (has(window, weekday) && minute >= window.from) || (has(window, (weekday + 6) % 7) && minute < window.to);
  });
}

const PortPolicy* policy_for(const Policy& policy, const Port& port) {
  if (!can_have_one(port)) return nullptr;
  for (const PortPolicy& entry : policy.ports) {
    if (matches(entry.match, port)) return &entry;
    if (may_match(entry, port)) return nullptr;
  }
  return nullptr;
}

std::string why_left_alone(const Policy& policy, const Port& port) {
  if (std::string why = why_unmanageable(port); !why.empty()) return why;
  if (port.netdev.empty()) return "no netdev";
  if (policy_for(policy, port) != nullptr) return "";
  for (const PortPolicy& entry : policy.ports)
    if (may_match(entry, port))
      return "its link is down, and which entry is its own (\"" + entry.name + "\" asks for a speed) is not known";
  return "no [[port]] entry matches";
}

bool asks_for_role(const Policy& policy) {
  return std::ranges::any_of(policy.ports, [](const PortPolicy& entry) { return !entry.match.role.empty(); });
}

Keys wanted_keys(const Policy& policy) {
  Keys keys;
  for (const PortPolicy& entry : policy.ports) keys |= keys_of(entry.want);
  return keys;
}

}  // namespace fabric
