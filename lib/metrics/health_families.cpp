// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"
#include "judge/cabling.h"
#include "judge/engine.h"
#include "metrics/families.h"

namespace fabric {
namespace {

constexpr Metric kValue{"fabric_health_value",
                        "Measured value of a health rule that is not ok, in the rule's unit (fabric-agent.toml(5), "
                        "[rules.ID]). Absent while ok."};
constexpr Metric kPhase{
    "fabric_health_phase",
    "Phase of a health rule: 1 pending (not yet raised), 2 raised, 3 clearing (ok, not yet cleared). Absent while ok."};
constexpr Metric kSince{"fabric_health_since_timestamp_seconds",
                        "Time at which the rule's finding was raised. Absent without a finding."};
constexpr Metric kEvents{"fabric_events_total",
                         "Findings of health rules that have begun, by event (the key of the rule) and port; of a PCI "
                         "function, device is its address."};
constexpr Metric kAcknowledged{
    "fabric_check_acknowledged",
    "1 for a finding that an operator has acknowledged (fabric-agentctl ack). Absent otherwise."};

constexpr double kFirstZero = 60;  // the longest scrape interval that sees the 0 of a series that starts with an event

// increase() needs a value from before the event. For rules that count events of a port that is a series with 0 from
// its first reading on. For levels and ratios, and for PCI functions, that would be too many: their series appear with
// the first event, and are 0 for a minute.
std::optional<double> events_of(const RuleWindow& rule, const HealthState& state, bool is_port, double now) {
  if (is_port && rule.measure == Measure::count) return static_cast<double>(state.onsets);
  if (!state.first_onset) return std::nullopt;
  return now - *state.first_onset < kFirstZero ? 0 : static_cast<double>(state.onsets);
}

constexpr Metric kNeighbor{
    "fabric_neighbor_info",
    "The switch and its port at the other end of the cable, by LLDP, else by the cable plan; always 1."};
constexpr Metric kRail{
    "fabric_rail_info",
    "The rail, plane and leaf switch of the port, by [cabling], else by its GPU and by LLDP; always 1."};

// The value of the longest glob that matches the switch or a name of the port, else `otherwise`.
std::string chosen(const std::map<std::string, std::string>& globs, const Port& port, const std::string& leaf,
                   const std::optional<size_t>& otherwise) {
  const std::pair<const std::string, std::string>* best = nullptr;
  std::vector<std::string> names{port.id(), port.rdma, port.netdev, port.pci, leaf};
  names.insert(names.end(), port.altnames.begin(), port.altnames.end());
  for (const auto& each : globs)
    if ((best == nullptr || each.first.size() > best->first.size()) &&
        std::ranges::any_of(names, [&](const std::string& name) { return glob_match(each.first, name); }))
      best = &each;
  return best != nullptr ? best->second : otherwise ? std::to_string(*otherwise) : std::string();
}

}  // namespace

void add_events(FamilySet& families, const Health& health) {
  for (const auto& [key, subjects] : health.rules) {
    const RuleWindow* rule = find_window(key);
    if (rule == nullptr || rule->is_slow) continue;  // of two hours: no scrape misses it
    for (const auto& [subject, state] : subjects) {
      const size_t slash = subject.rfind('/');
      const bool is_port = slash != std::string::npos;
      const auto count = events_of(*rule, state, is_port, health.now);
      if (!count) continue;
      Labels labels{{"event", key}};
      if (subject != "host") labels.push_back({"device", std::string_view(subject).substr(0, slash)});
      if (is_port) labels.push_back({"port", std::string_view(subject).substr(slash + 1)});
      families.add(kEvents, labels, *count);
    }
  }
}

void add_health(FamilySet& families, const Health& health) {
  for (const auto& [rule, subjects] : health.rules)
    for (const auto& [subject, state] : subjects) {
      if (state.phase() == HealthPhase::ok) continue;
      const Labels labels{{"rule", rule}, {"subject", subject}};
      families.add(kValue, labels, state.value);
      families.add(kPhase, labels, static_cast<double>(state.phase()));
      if (state.status() != Status::ok)
        families.add(kSince, labels, static_cast<double>(health.wall) - std::max(0.0, health.now - state.since()));
    }
}

void add_acknowledged(FamilySet& families, const Report& report) {
  for (const Finding& finding : report.findings)
    if (finding.acknowledged) families.add(kAcknowledged, {{"check", finding.id}, {"subject", finding.subject}}, 1);
}

// The name that the plan has for the switch wins, so that it does not change when LLDP is silent.
std::optional<CableEnd> peer_of(const Node& node, const Policy* policy, const Port& port) {
  if (!has_cable(port)) return std::nullopt;
  const auto cables = planned_cables(policy, port);
  const Neighbor* neighbor = switch_of(node, policy, port);
  if (neighbor == nullptr) return cables.empty() ? std::nullopt : std::optional(cables.front()->peer);
  const auto planned =
      std::ranges::find_if(cables, [&](const Cable* cable) { return is_device(*neighbor, cable->peer); });
  return CableEnd{planned == cables.end() ? neighbor->system() : (*planned)->peer.device, neighbor->port()};
}

void add_neighbors(FamilySet& families, const Node& node, const Policy* policy,
                   const std::map<std::string, Rail>& rails) {
  static const Cabling kNone;
  const Cabling& cabling = policy != nullptr ? policy->cabling : kNone;
  for (const Port& port : node.ports) {
    const auto peer = peer_of(node, policy, port);
    if (peer) families.add(kNeighbor, port_labels(port), {{"switch", peer->device}, {"switch_port", peer->port}}, 1);
    const auto found = rails.find(port.pci);
    const std::string leaf = peer ? peer->device : std::string();
    const auto by_place = found != rails.end() && !is_virtual(port) ? std::optional(found->second) : std::nullopt;
    const std::string rail = chosen(cabling.rails, port, leaf, by_place ? std::optional(by_place->rail) : std::nullopt);
    const std::string plane = chosen(cabling.planes, port, leaf, by_place ? by_place->plane : std::nullopt);
    if (!rail.empty() || !leaf.empty())
      families.add(kRail, port_labels(port), {{"rail", rail}, {"plane", plane}, {"leaf", leaf}}, 1);
  }
}

}  // namespace fabric
