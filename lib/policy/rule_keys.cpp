// SPDX-License-Identifier: Apache-2.0
// [rules.ID]: a site's changes to one rule. The keys come from the rule's row.
#include "policy/rule_keys.h"

#include <chrono>
#include <cstdio>

#include "base/find.h"
#include "policy/span.h"
#include "policy/toml_value.h"

namespace fabric::config {
namespace {

using std::chrono::milliseconds;

constexpr double kDaySeconds = 24 * 3600;

std::string number_toml(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string limit_toml(const std::optional<double>& limit) {
  if (!limit) return "\"never\"";
  return number_toml(*limit);
}

milliseconds span_of(double seconds) { return milliseconds(static_cast<int64_t>(seconds * 1000)); }

std::string seconds_toml(double seconds) { return toml_string(span_text(span_of(seconds))); }

MaybeProblem read_seconds(const toml::node& node, double least, double most, double& out) {
  milliseconds span{};
  auto problem = read_span(node, span_of(least), span_of(most), span);
  if (!problem) out = std::chrono::duration<double>(span).count();
  return problem;
}

MaybeProblem read_limit(const toml::node& node, std::optional<double>& out) {
  if (node.value<std::string_view>() == "never") {
    out = std::nullopt;
    return std::nullopt;
  }
  const auto number = node.value<double>();
  if (!number || !(*number > 0 && *number <= 1e12)) return expected(node, "a number above 0, or \"never\"");
  out = number;
  return std::nullopt;
}

// The last day of a suppression, in UTC: all nodes of a site end it at the same moment.
MaybeProblem read_last_day(const toml::node& node, int64_t& out) {
  using namespace std::chrono;
  const auto* date = node.as_date();
  if (date == nullptr || date->get().year < 1970) return expected(node, "a date without quotes (YYYY-MM-DD)");
  const year_month_day day(year(date->get().year), month(date->get().month), std::chrono::day(date->get().day));
  out = duration_cast<seconds>((sys_days(day) + days(1)).time_since_epoch()).count();
  return std::nullopt;
}

constexpr std::string_view kSuppressionKeys[] = {"enabled", "reason", "until"};
constexpr std::string_view kWindowKeys[] = {"warning", "critical", "window", "confirm", "clear"};

// A table that is being read: [rules.ID], or that of one of its windows.
struct RuleTable {
  ConfigReader& reader;
  std::string name;       // "rules.link-flap"
  std::string_view rule;  // its id
  Policy& policy;

  [[nodiscard]] RuleSettings& settings() const { return policy.rules.by_id[std::string(rule)]; }
  [[nodiscard]] WindowLimits limits(const WindowRow& row) const { return limits_of(policy.rules, rule, row); }

  // Calls ConfigReader::read(), and records the place of a valid value.
  template <class T, class Read>
  bool read(std::string_view key, const toml::node& node, const std::string& example,
            Values (*readings)(const Json& written), Read&& read, T& out) const {
    const std::string full = name + "." + std::string(key);
    if (!reader.read(full, node, {std::string(key), example, readings}, read, out)) return false;
    policy.origin[full] = reader.line(node);
    return true;
  }
};

// `key`: one of kWindowKeys.
MaybeProblem read_window_key(const WindowRow& row, std::string_view key, const toml::node& node, WindowLimits& out) {
  if (key == "warning") return read_limit(node, out.warning);
  if (key == "critical") return read_limit(node, out.critical);
  if (key == "confirm") return read_seconds(node, 0, kDaySeconds, out.confirm);
  if (key == "clear") return read_seconds(node, 0, kDaySeconds, out.clear);
  if (row.measure == Measure::level) return fault_at(node, "a level has no window: the newest reading counts");
  return read_seconds(node, 1, 7 * kDaySeconds, out.window);
}

std::string window_key_toml(const WindowLimits& limits, std::string_view key) {
  if (key == "warning") return limit_toml(limits.warning);
  if (key == "critical") return limit_toml(limits.critical);
  if (key == "confirm") return seconds_toml(limits.confirm);
  if (key == "clear") return seconds_toml(limits.clear);
  return seconds_toml(limits.window);
}

Values span_readings(const Json& written) { return spans(written, false); }

void read_window_value(const RuleTable& table, const WindowRow& row, std::string_view key, const toml::node& node) {
  WindowLimits limits = table.limits(row);
  const auto read = [&](const toml::node& value, WindowLimits& out) { return read_window_key(row, key, value, out); };
  const bool is_limit = key == "warning" || key == "critical";
  if (table.read(key, node, window_key_toml(row.limits, key), is_limit ? config::limits : span_readings, read, limits))
    table.settings().windows.insert_or_assign(std::string(row.key), limits);
}

void check_order(const RuleTable& table, const WindowRow& row, const toml::node& node) {
  const WindowLimits limits = table.limits(row);
  if (limits.warning && limits.critical && *limits.warning > *limits.critical)
    table.reader.fail(fault_at(node, "warning is above critical: give both"), table.name,
                      "for example warning = " + limit_toml(row.limits.warning) +
                          " and critical = " + limit_toml(row.limits.critical));
}

// Reads the table of one window of a rule that has several.
void read_window(const RuleTable& table, const WindowRow& row, const toml::node& node) {
  const RuleTable own{table.reader, table.name + "." + std::string(row.key), table.rule, table.policy};
  const auto* keys = table.reader.table(node, own.name, "write [" + own.name + "]");
  if (keys == nullptr) return;
  each_key(*keys, [&](std::string_view key, const toml::source_position& at, const toml::node& value) {
    if (contains(kWindowKeys, key)) read_window_value(own, row, key, value);
    else table.reader.fail_unknown(at, "key", key, kWindowKeys);
  });
  check_order(own, row, node);
}

// `reason` or `until` alone suppresses nothing, and is an error. A suppression without a reason cannot be reviewed
// later, and is a warning.
void check_suppression(const RuleTable& table, const toml::table& keys) {
  const toml::node* enabled = keys.get("enabled");
  for (const std::string_view key : {"reason", "until"})
    if (const toml::node* node = keys.get(key); node != nullptr && enabled == nullptr)
      table.reader.fail(fault_at(*node, "suppresses nothing by itself"), table.name + "." + std::string(key),
                        "add enabled = false");
  if (enabled != nullptr && !table.policy.rules.is_enabled(table.rule) && !table.policy.rules.of(table.rule).reason)
    table.reader.warn(enabled->source().begin,
                      table.name + ": suppressed without a reason; add reason = \"...\", and until = DATE if it ends");
}

void read_rule_key(const RuleTable& table, const RuleRow& row, std::string_view key, const toml::source_position& at,
                   const toml::node& node) {
  if (key == "enabled") {
    bool enabled = true;
    if (table.read(key, node, "false", switches, read_switch, enabled)) table.settings().enabled = enabled;
    return;
  }
  if (key == "reason") {
    std::string reason;
    if (table.read(key, node, "\"TICKET-1: new switches\"", texts, read_name, reason)) table.settings().reason = reason;
    return;
  }
  if (key == "until") {
    int64_t end = 0;
    if (table.read(key, node, "2027-01-31", nullptr, read_last_day, end)) table.settings().until = end;
    return;
  }
  if (key == "severity") {
    const auto read = [](const toml::node& value, Status& out) -> MaybeProblem {
      const auto severity = parse_word<Status>(value.value<std::string_view>().value_or(""));
      if (!severity || !is_fault(*severity)) return expected(value, "\"warning\" or \"critical\"");
      out = *severity;
      return std::nullopt;
    };
    const auto readings = [](const Json& written) {
      constexpr std::string_view kWords[] = {"warning", "critical"};
      constexpr OtherNames kOthers[] = {{"warning", "warn"}, {"critical", "crit"}};
      return known_words(written, kWords, kOthers);
    };
    Status severity = Status::warning;
    if (table.read(key, node, "\"warning\"", readings, read, severity)) table.settings().severity = severity;
    return;
  }
  if (row.windows.size() == 1 && contains(kWindowKeys, key)) return read_window_value(table, row.windows[0], key, node);
  for (const WindowRow& each : row.windows)
    if (row.windows.size() > 1 && each.key == key) return read_window(table, each, node);
  for (const Limit* each : row.limits) {
    if (each->key != key) continue;
    const auto read = [each](const toml::node& value, double& out) -> MaybeProblem {
      const auto number = value.value<double>();
      if (!number || !(*number >= each->least && *number <= each->most))
        return expected(value, "a number from " + number_toml(each->least) + " to " + number_toml(each->most));
      out = *number;
      return std::nullopt;
    };
    double limit = each->value;
    if (table.read(key, node, number_toml(each->value), config::limits, read, limit))
      table.settings().limits.insert_or_assign(std::string(each->key), limit);
    return;
  }
  std::vector<std::string_view> known{"severity"};
  known.insert(known.end(), std::begin(kSuppressionKeys), std::end(kSuppressionKeys));
  if (row.windows.size() == 1) known.insert(known.end(), std::begin(kWindowKeys), std::end(kWindowKeys));
  else
    for (const WindowRow& each : row.windows) known.push_back(each.key);
  for (const Limit* each : row.limits) known.push_back(each->key);
  table.reader.fail_unknown(at, "key", key, known);
}

Key grace_key(std::string_view name, double RulePolicy::*member) {
  return {
      "rules",
      name,
      seconds_toml(RulePolicy().*member),
      [=](const toml::node& node, Policy& policy) { return read_seconds(node, 0, kDaySeconds, policy.rules.*member); },
      [=](const Policy& policy) { return seconds_toml(policy.rules.*member); },
      span_readings};
}

}  // namespace

std::vector<Key> grace_keys() {
  return {grace_key("boot_grace", &RulePolicy::boot_grace), grace_key("reload_grace", &RulePolicy::reload_grace)};
}

void read_rule(ConfigReader& reader, std::string_view id, const toml::source_position& at, const toml::node& node,
               RuleRows rules, Policy& policy) {
  const RuleRow* row = find_where(rules, [&](const RuleRow& each) { return each.id == id; });
  if (row == nullptr) {
    // The name of one of its measurements.
    for (const RuleRow& each : rules)
      if (find_where(each.windows, [&](const auto& window) { return window.key == id; }) != nullptr)
        return reader.fail(at, "unknown rule " + toml_string(id) + "; write [rules." + std::string(each.id) + "]" +
                                   (each.windows.size() > 1 ? " with " + std::string(id) + " = { ... }" : ""));
    std::vector<std::string_view> known;
    for (const RuleRow& each : rules) known.push_back(each.id);
    return reader.fail_unknown(at, "rule", id, known);
  }
  const RuleTable table{reader, "rules." + std::string(id), row->id, policy};
  const auto* keys = reader.table(node, table.name, "write [" + table.name + "]");
  if (keys == nullptr) return;
  each_key(*keys, [&](std::string_view key, const toml::source_position& place, const toml::node& value) {
    read_rule_key(table, *row, key, place, value);
  });
  if (row->windows.size() == 1) check_order(table, row->windows[0], node);
  check_suppression(table, *keys);
}

std::vector<RuleValue> rule_values(const RuleRow& row, const RulePolicy& policy) {
  std::vector<RuleValue> out;
  const std::string section = "rules." + std::string(row.id);
  const RuleSettings& rule = policy.of(row.id);
  if (rule.enabled) out.push_back({section, "enabled", *rule.enabled ? "true" : "false"});
  if (rule.reason) out.push_back({section, "reason", toml_string(*rule.reason)});
  if (rule.until) out.push_back({section, "until", last_day(*rule.until)});
  if (rule.severity) out.push_back({section, "severity", toml_string(to_text(*rule.severity))});
  for (const Limit* each : row.limits) out.push_back({section, each->key, number_toml(limit_of(policy, *each))});
  for (const WindowRow& each : row.windows) {
    std::string own = section;
    if (row.windows.size() > 1) own += "." + std::string(each.key);
    const WindowLimits limits = limits_of(policy, row.id, each);
    out.push_back({own, "warning", limit_toml(limits.warning)});
    out.push_back({own, "critical", limit_toml(limits.critical)});
    if (each.measure != Measure::level) out.push_back({own, "window", seconds_toml(limits.window)});
    out.push_back({own, "confirm", seconds_toml(limits.confirm)});
    out.push_back({own, "clear", seconds_toml(limits.clear)});
  }
  return out;
}

}  // namespace fabric::config
