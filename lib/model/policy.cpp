// SPDX-License-Identifier: Apache-2.0
#include "model/policy.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric {
namespace {

bool allows(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() || matches_any(patterns, text);
}

bool matches(const Match& match, const Port& port) {
  bool driver =
      match.driver.empty() || matches_any(match.driver, port.kernel_driver) || matches_any(match.driver, port.driver);
  const std::string speed = port.speed ? std::to_string(*port.speed) : "";
  const std::string numa = port.numa ? std::to_string(*port.numa) : "";
  return driver && allows(match.pci_id, port.pci_id) && allows(match.speed, speed) && allows(match.numa, numa) &&
         allows(match.role, port.role) && allows(match.rdma, port.rdma) && allows(match.netdev, port.netdev) &&
         allows(match.pci, port.pci);
}

// A link that is down has no speed: an entry that asks for one, and takes the port otherwise, may be its own.
bool may_match(const PortPolicy& entry, const Port& port) {
  if (entry.match.speed.empty() || port.speed || port.carrier != false) return false;
  Match rest = entry.match;
  rest.speed.clear();
  return matches(rest, port);
}

bool can_have_one(const Port& port) {
  return port.link_layer != LinkLayer::infiniband && !port.virtual_function && !port.netdev.empty();
}

}  // namespace

std::string_view to_text(Mode value) { return value == Mode::enforce ? "enforce" : "audit"; }

std::string_view to_text(Disruptive value) {
  constexpr std::array<std::string_view, 3> kTexts{"idle", "now", "never"};
  return kTexts.at(static_cast<size_t>(value));
}

std::string_view to_text(RawCounters value) { return value == RawCounters::all ? "all" : "unmapped"; }

std::string_view to_text(SeriesGroup value) {
  constexpr std::string_view kTexts[] = {"module_limits", "casts", "lanes", "bursts", "checks", "owners", "timings"};
  return kTexts[static_cast<size_t>(value)];
}

bool Published::has(SeriesGroup group) const { return contains(groups, group); }

std::string_view to_text(Compat value) {
  constexpr std::string_view kTexts[] = {"node_exporter", "rdma_exporter", "rdma_exporter_qp"};
  return kTexts[static_cast<size_t>(value)];
}

std::string_view to_text(Release value) { return value == Release::restore ? "restore" : "leave"; }

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
  if (!port.left_alone.empty()) return port.left_alone;
  if (port.netdev.empty()) return "no netdev";
  if (policy_for(policy, port) != nullptr) return "";
  for (const PortPolicy& entry : policy.ports)
    if (can_have_one(port) && may_match(entry, port))
      return "its link is down, and which entry is its own (\"" + entry.name + "\" asks for a speed) is not known";
  return "no [[port]] entry matches";
}

}  // namespace fabric
