// SPDX-License-Identifier: Apache-2.0
#include "judge/rule.h"

#include <cmath>
#include <cstdio>

#include "base/name_index.h"
#include "judge/cause.h"
#include "judge/settings.h"

namespace fabric {
namespace {

// The seconds, packets or bits of the window. 0: unknown.
double base_of(CounterSum::Per per, const Port& port, const Signals& signals) {
  switch (per) {
    case CounterSum::Per::second: return signals.seconds;
    case CounterSum::Per::packet: {
      if (signals.rx_packets || signals.tx_packets)
        return std::max(1.0, signals.rx_packets.value_or(0) + signals.tx_packets.value_or(0));
      if (!signals.rx_bytes && !signals.tx_bytes) return 0;
      // Drivers that count only bytes: at least as many packets as at the largest path MTU.
      return std::max(1.0, (signals.rx_bytes.value_or(0) + signals.tx_bytes.value_or(0)) / kLargestPathMtu);
    }
    case CounterSum::Per::bit: break;
  }
  if (port.rate) return *port.rate * 8 * signals.seconds;
  return port.speed.value_or(0) * 1e6 * signals.seconds;
}

Rise value_of(const CounterSum::Part& part, const Signals& signals) {
  if (part.member == nullptr) return std::nullopt;
  return signals.*part.member;
}

}  // namespace

std::optional<Measured> sum_counters(const CounterSum& sum, const Port& port, const Signals& signals) {
  Measured out{port.id()};
  bool any = false;
  for (const CounterSum::Part& part : sum.parts) {
    const Rise rise = value_of(part, signals);
    if (!rise) continue;
    any = true;
    if (sum.largest) out.amount = std::max(out.amount, *rise);
    else out.amount += *rise;
    if (*rise > 0) append_item(out.evidence, amount_text(number_text(*rise), part.name));
  }
  out.base = base_of(sum.per, port, signals);
  if (!any || out.base <= 0) return std::nullopt;
  bool moved = !out.evidence.empty();
  // A rule may leave out parts.
  if (!moved) out.evidence = "no " + std::string(std::ranges::find_if(sum.parts, &CounterSum::Part::member)->name);
  for (const CounterSum::Part& part : sum.context)
    if (const double rise = value_of(part, signals).value_or(0); rise > 0) {
      moved = true;
      append_item(out.evidence, amount_text(number_text(rise), part.name));
    }
  // "no ..." does not name the window: the text of a healthy port does not change from reading to reading.
  if (!moved) return out;
  // Without a counter of packets, the base is 1.
  if (out.amount != 0 && sum.per == CounterSum::Per::packet && out.base > 1)
    out.evidence += " in " + number_text(out.base) + " packets";
  if (out.amount != 0 && sum.per == CounterSum::Per::bit)
    out.evidence += " (" + number_text(out.amount / out.base) + " of the bits)";
  out.evidence += " in " + number_text(std::round(signals.seconds * 10) / 10) + " s";
  return out;
}

std::optional<Measured> read_counters(const View& view, const RuleWindow& window, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  if (signals == nullptr) return std::nullopt;
  return sum_counters(window.sum, port, *signals);
}

void read_ports(const View& view, const RuleWindow& window, MeasuredList& out) {
  for (const Port& port : view.now.ports) {
    // A guest sees the link of its function, and nothing of the port that has it.
    if (is_virtual(port) && !is_own_device(port) && !(window.transport && is_endpoint(port))) continue;
    if (auto reading = window.read_port(view, window, port)) out.push_back(std::move(*reading));
  }
}

std::span<const Rule> rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> table = setting_rules();
    for (const auto subject :
         {kPortStateRules, kGidRules,    kLinkRules,       kFunctionRules, kOpticsRules,       kPfcRules,
          kLossRules,      kPcieRules,   kPlatformRules,   kTopologyRules, kInventoryRules,    kSymmetryRules,
          kPlanesRules,    kUnseenRules, kHostRules,       kLimitsRules,   kRdmaSoftwareRules, kNetworkRules,
          kRailsRules,     kMtuRules,    kPartitionRules,  kFirmwareRules, kCablingRules,      kSettingsRules,
          kAgentRules,     kDeviceRules, kUnexplainedRules})
      table.insert(table.end(), subject.begin(), subject.end());
    std::ranges::stable_sort(table, {}, [](const Rule& each) {
      size_t rank = 0;
      std::string_view id = each.id;
      if (each.is_cause()) rank = rank_of_cause(each.id);
      if (each.is_cause() || each.group == group::settings) id = {};  // keeps the order of its table
      return std::tuple(std::ranges::find(kRuleGroups, each.group), rank, id);
    });
    return table;
  }();
  return all;
}

Keys judged_settings() {
  Keys out;
  out.set(index(SettingId::traffic_class));  // the fix of unprotected-traffic depends on it
  for (const Rule& rule : rules())
    if (rule.windows.empty())  // a rule over time reads counters; its settings matter only if the policy has them
      for (const SettingId setting : rule.settings) out.set(index(setting));
  return out;
}

const Rule* find_rule(std::string_view id) {
  static const NameIndex<Rule> index(rules(), &Rule::id);
  return index.find(id);
}

RuleRows rule_rows() {
  static const std::vector<RuleRow> all = [] {
    std::vector<RuleRow> out;
    for (const Rule& rule : rules()) {
      RuleRow row{rule.id};
      for (const Measurement& each : rule.windows) {
        row.windows.push_back(each.window);
        if (each.slow) row.windows.push_back(*each.slow);
      }
      for (const Limit* each : rule.limits)
        if (each != nullptr && each->rule == rule.id) row.limits.push_back(each);
      out.push_back(std::move(row));
    }
    return out;
  }();
  return all;
}

std::string limit_text(const Limit& limit) {
  char value[32];
  std::snprintf(value, sizeof value, "%.9g ", limit.value);
  return "Limit: " + (value + std::string(limit.unit)) + ". Source: " + std::string(limit.source) + ". Key: [rules." +
         std::string(limit.rule) + "] " + std::string(limit.key);
}

std::string runbook(const Rule& rule) {
  std::string text(rule.meaning);
  if (!rule.excludes.empty()) text.append("\nExcludes: ").append(rule.excludes);
  if (!rule.inspect.empty()) text.append("\nInspect: ").append(rule.inspect);
  if (!rule.fix.empty() && !rule.is_cause()) text.append("\nFix: ").append(rule.fix.text());
  for (const Limit* each : rule.limits)
    if (each != nullptr) text += "\n" + limit_text(*each);
  return text;
}

}  // namespace fabric
