// SPDX-License-Identifier: Apache-2.0
#include "policy/policy.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"

namespace fabric {
namespace {

// Whether the list matches the text. An empty list matches everything.
bool matches(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() || matches_any(patterns, text);
}

bool matches(const Match& match, const Port& port) {
  bool is_named = matches(match.netdev, port.netdev);
  for (const auto& name : port.altnames) is_named = is_named || matches(match.netdev, name);
  std::string speed, numa, place;
  if (port.speed) speed = std::to_string(*port.speed);
  if (port.numa) numa = std::to_string(*port.numa);
  if (port.place) place = to_text(*port.place);
  return is_named && (matches(match.driver, port.kernel_driver) || matches(match.driver, port.driver)) &&
         matches(match.pci_id, port.pci_id) && matches(match.speed, speed) && matches(match.numa, numa) &&
         matches(match.role, place) && matches(match.rdma, port.rdma) && matches(match.pci, port.pci);
}

// Whether the entry has a role and would match the port without it.
bool differs_by_role(const PortPolicy& entry, const Port& port) {
  Match match = entry.match;
  if (match.role.empty()) return false;
  match.role.clear();
  return matches(match, port);
}

bool is_manageable(const Port& port) {
  return port.link_layer != LinkLayer::infiniband && port.transport != RdmaTransport::usnic && !is_virtual(port) &&
         !port.netdev.empty();
}

}  // namespace

bool may_match(const PortPolicy& entry, const Port& port) {
  Match match = entry.match;
  if (!port.speed && port.carrier == false) match.speed.clear();
  return is_manageable(port) && matches(match, port);
}

std::optional<unsigned> roce_traffic_class(const DscpMap& map, PrioSet pfc) {
  constexpr uint8_t kUsual = 26;
  std::optional<unsigned> out;
  for (const auto& [dscp, priority] : map)
    if (pfc.has(priority) && (!out || dscp == kUsual)) out = traffic_class_of(dscp);
  return out;
}

std::optional<unsigned> roce_traffic_class(const PortPolicy& entry) {
  if (entry.want.traffic_class && entry.want.traffic_class->value) return *entry.want.traffic_class->value;
  if (entry.want.roce_tos) return *entry.want.roce_tos;
  if (entry.traffic) return traffic_class_of(entry.traffic->dscp);
  if (!entry.want.dscp_map || !entry.want.pfc) return std::nullopt;
  return roce_traffic_class(*entry.want.dscp_map, *entry.want.pfc);
}

PrioSet roce_priorities(const PortPolicy& entry) {
  PrioSet out = entry.want.pfc.value_or(PrioSet{});
  if (entry.fabric.is_lossy() && entry.traffic) out.add(entry.traffic->priority);
  return out;
}

bool Published::has(SeriesGroup group) const { return contains(groups, group); }

bool in_window(const std::vector<Window>& windows, int weekday, unsigned minute) {
  if (windows.empty()) return true;
  for (const Window& window : windows) {
    const bool has_today = (window.days >> weekday & 1) != 0;
    const bool has_yesterday = (window.days >> (weekday + 6) % 7 & 1) != 0;
    if (window.from <= window.to) {
      if (has_today && minute >= window.from && minute < window.to) return true;
    } else {
      // The window passes midnight. Its day is the one on which it begins.
      if (has_today && minute >= window.from) return true;
      if (has_yesterday && minute < window.to) return true;
    }
  }
  return false;
}

const PortPolicy* policy_for(const Policy& policy, const Port& port) {
  if (!is_manageable(port)) return nullptr;
  for (const PortPolicy& entry : policy.ports) {
    if (matches(entry.match, port)) return &entry;
    if (may_match(entry, port)) return nullptr;
  }
  return nullptr;
}

std::string why_unmanaged(const Policy& policy, const Port& port) {
  if (std::string why = why_unmanageable(port); !why.empty()) return why;
  if (port.netdev.empty()) return "no netdev";
  if (policy_for(policy, port) != nullptr) return "";
  for (const PortPolicy& entry : policy.ports)
    if (may_match(entry, port))
      return "its link is down, and entry \"" + entry.name + "\" matches by speed, which only an active link has";
  std::string why = "no [[port]] entry matches";
  if (const PortPolicy* entry = entry_but_for_role(policy, port); entry != nullptr)
    why += ": \"" + entry->name + "\" is for the role " + joined(entry->match.role, " or ") +
           ", and this port has the role " + std::string(to_text(*port.place));
  return why;
}

const PortPolicy* entry_but_for_role(const Policy& policy, const Port& port) {
  if (!port.place || !is_manageable(port) || policy_for(policy, port) != nullptr) return nullptr;
  return find_where(policy.ports, [&](const PortPolicy& entry) { return differs_by_role(entry, port); });
}

bool matches_by_role(const Policy& policy) {
  return std::ranges::any_of(policy.ports, [](const PortPolicy& entry) { return !entry.match.role.empty(); });
}

Keys wanted_keys(const Policy& policy) {
  Keys keys;
  for (const PortPolicy& entry : policy.ports) keys |= keys_of(entry.want);
  return keys;
}

}  // namespace fabric
