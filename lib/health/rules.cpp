// SPDX-License-Identifier: Apache-2.0
// The list of health rules, and the reading of those that are sums of counters.
#include <cmath>

#include "health/rule.h"

namespace fabric {
namespace {

// 0: packets are not counted. Drivers that count only bytes: at least as many packets as at the largest path MTU.
double packets_of(const Signals& signals) {
  constexpr double kLargestPayload = 4096;
  if (signals.rx_packets || signals.tx_packets)
    return std::max(1.0, signals.rx_packets.value_or(0) + signals.tx_packets.value_or(0));
  if (!signals.rx_bytes && !signals.tx_bytes) return 0;
  return std::max(1.0, (signals.rx_bytes.value_or(0) + signals.tx_bytes.value_or(0)) / kLargestPayload);
}

double base_of(CounterSum::Per per, const Port& port, const Signals& signals) {
  if (per == CounterSum::Per::packet) return packets_of(signals);
  if (per == CounterSum::Per::second) return signals.seconds;
  return (port.rate ? *port.rate * 8 : port.speed ? *port.speed * 1e6 : 0) * signals.seconds;
}

std::string base_text(CounterSum::Per per, double amount, double base) {
  if (per == CounterSum::Per::second || amount == 0) return {};
  return per == CounterSum::Per::packet ? " in " + number_text(base) + " packets"
                                        : " (" + number_text(amount / base) + " of the bits)";
}

Rise value_of(const CounterSum::Part& part, const Signals& signals) {
  return part.member == nullptr ? std::nullopt : signals.*part.member;
}

}  // namespace

const std::vector<HealthRule>& health_rules() {
  static const std::vector<HealthRule> all = [] {
    std::vector<HealthRule> out;
    for (const auto family : {link_health_rules(), loss_health_rules(), discard_health_rules(), pause_health_rules(),
                              pcie_health_rules(), optics_health_rules(), device_health_rules()})
      for (const HealthRow& row : family) {
        out.push_back({row.window, row, false});
        if (row.slow) out.push_back({*row.slow, row, true});
      }
    return out;
  }();
  return all;
}

const HealthRule* find_health_rule(std::string_view key) {
  return find_where(health_rules(), [&](const HealthRule& rule) { return rule.key == key; });
}

const HealthLimits& limits_of(const HealthPolicy& policy, const HealthRule& rule) {
  const auto given = policy.limits.find(rule.key);
  return given == policy.limits.end() ? rule.limits : given->second;
}

const HealthPolicy& health_policy(const View& view) {
  static const HealthPolicy defaults;
  return view.policy == nullptr ? defaults : view.policy->health;
}

std::optional<HealthReading> sum_counters(const CounterSum& sum, const Port& port, const Signals& signals) {
  HealthReading out{port.id()};
  bool any = false;
  for (const CounterSum::Part& part : sum.parts) {
    const Rise rise = value_of(part, signals);
    if (!rise) continue;
    any = true;
    out.amount = sum.largest ? std::max(out.amount, *rise) : out.amount + *rise;
    if (*rise > 0) append_item(out.evidence, number_text(*rise) + " " + std::string(part.name));
  }
  out.base = base_of(sum.per, port, signals);
  if (!any || out.base <= 0) return std::nullopt;
  bool moved = !out.evidence.empty();
  if (!moved) out.evidence = "no " + std::string(sum.parts[0].name);
  for (const CounterSum::Part& part : sum.context)
    if (const double rise = value_of(part, signals).value_or(0); rise > 0) {
      moved = true;
      append_item(out.evidence, number_text(rise) + " " + std::string(part.name));
    }
  // "no ..." does not name the window: the text of a healthy port does not change from reading to reading.
  if (moved)
    out.evidence +=
        base_text(sum.per, out.amount, out.base) + " in " + number_text(std::round(signals.seconds * 10) / 10) + " s";
  return out;
}

std::optional<HealthReading> read_counters(const View& view, const HealthRule& rule, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  return signals == nullptr ? std::nullopt : sum_counters(rule.sum, port, *signals);
}

void read_ports(const View& view, const HealthRule& rule, HealthReadings& out) {
  for (const Port& port : view.now.ports)
    if (!port.virtual_function)
      if (auto reading = rule.read_port(view, rule, port)) out.push_back(std::move(*reading));
}

const Port* port_before(const View& view, const Port& port) {
  if (view.before == nullptr) return nullptr;
  const auto& old = view.before->ports;
  return find_where(old, [&](const Port& other) { return other.id() == port.id() && other.pci == port.pci; });
}

double window_of(const View& view) {
  return view.before == nullptr ? 0 : std::chrono::duration<double>(view.now.taken - view.before->taken).count();
}

const Signals* signals_of_port(const View& view, const Port& port) {
  return view.signals == nullptr ? nullptr : find_in(*view.signals, port.id());
}

}  // namespace fabric
