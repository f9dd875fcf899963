// SPDX-License-Identifier: Apache-2.0
// [health]: one key per rule. [thresholds]: one key per row that checks and diagnosis rules compare with.
#include <cstdio>

#include "base/find.h"
#include "diagnosis/diagnosis.h"
#include "health/rule.h"
#include "policy/keys.h"

namespace fabric::config {
namespace {

using std::chrono::milliseconds;

constexpr double kDay = 24 * kHour;

std::string limit_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

milliseconds span_of(double seconds) { return milliseconds(static_cast<int64_t>(seconds * 1000)); }

std::string seconds_text(double seconds) { return toml_string(span_text(span_of(seconds))); }

MaybeProblem read_seconds(const toml::node& node, double min, double max, double& out) {
  milliseconds span{};
  auto problem = read_span(node, span_of(min), span_of(max), span);
  if (!problem) out = std::chrono::duration<double>(span).count();
  return problem;
}

MaybeProblem read_limit(const toml::node& node, std::optional<double>& out) {
  const bool never = node.value<std::string_view>() == "never";
  const auto number = node.value<double>();
  if (!never && !(number && *number > 0 && *number <= 1e12)) return expected(node, "a number above 0, or \"never\"");
  out = never ? std::nullopt : number;
  return std::nullopt;
}

MaybeProblem read_part(const HealthRule& rule, std::string_view name, const toml::source_position& at,
                       const toml::node& node, HealthLimits& out) {
  if (name == "warning") return read_limit(node, out.warning);
  if (name == "critical") return read_limit(node, out.critical);
  if (name == "confirm") return read_seconds(node, 0, kDay, out.confirm);
  if (name == "clear") return read_seconds(node, 0, kDay, out.clear);
  if (name == "window" && rule.measure != HealthMeasure::level) return read_seconds(node, 1, 7 * kDay, out.window);
  return TomlProblem{at, "unknown key " + toml_string(name) + ": warning, critical, " +
                             (rule.measure == HealthMeasure::level ? "" : "window, ") + "confirm or clear"};
}

MaybeProblem read_rule(const HealthRule& rule, const toml::node& node, HealthLimits& out) {
  HealthLimits limits = rule.limits;
  if (node.value<std::string_view>() == "off") {
    out.warning = out.critical = std::nullopt;
    return std::nullopt;
  }
  const auto* table = node.as_table();
  if (table == nullptr) return expected(node, "a table of limits, or \"off\"");
  MaybeProblem problem;
  each_key(*table, [&](std::string_view name, const toml::source_position& at, const toml::node& value) {
    if (auto fault = read_part(rule, name, at, value, limits); fault && !problem) problem = std::move(fault);
  });
  if (!problem && limits.warning && limits.critical && *limits.warning > *limits.critical)
    problem = fault_at(node, "warning is above critical: give both");
  if (!problem) out = limits;
  return problem;
}

std::string rule_toml(const HealthRule& rule, const HealthLimits& limits) {
  if (!limits.warning && !limits.critical) return "\"off\"";
  const auto limit = [](const std::optional<double>& each) { return each ? limit_text(*each) : "\"never\""; };
  std::string out = "{ warning = " + limit(limits.warning) + ", critical = " + limit(limits.critical);
  if (rule.measure != HealthMeasure::level) out += ", window = " + seconds_text(limits.window);
  return out + ", confirm = " + seconds_text(limits.confirm) + ", clear = " + seconds_text(limits.clear) + " }";
}

MaybeProblem read_threshold(const Threshold& row, const toml::node& node, Policy& policy) {
  const auto number = node.value<double>();
  if (!number || !(*number >= row.least && *number <= row.most))
    return expected(node, "a number from " + limit_text(row.least) + " to " + limit_text(row.most));
  policy.thresholds.insert_or_assign(std::string(row.key), *number);
  return std::nullopt;
}

Key grace_key(std::string_view name, double HealthPolicy::*member) {
  return {"health", name, std::string(name) + " = " + seconds_text(HealthPolicy().*member),
          [=](const toml::node& node, Policy& policy) { return read_seconds(node, 0, kDay, policy.health.*member); },
          [=](const Policy& policy) { return seconds_text(policy.health.*member); }};
}

}  // namespace

void append_limit_keys(std::vector<Key>& keys) {
  keys.push_back(grace_key("boot_grace", &HealthPolicy::boot_grace));
  keys.push_back(grace_key("reload_grace", &HealthPolicy::reload_grace));
  for (const HealthRule& rule : health_rules())
    keys.push_back({"health", rule.key, std::string(rule.key) + " = " + rule_toml(rule, rule.limits),
                    [&rule](const toml::node& node, Policy& policy) {
                      HealthLimits limits = limits_of(policy.health, rule);
                      auto problem = read_rule(rule, node, limits);
                      if (!problem) policy.health.limits.insert_or_assign(std::string(rule.key), limits);
                      return problem;
                    },
                    [&rule](const Policy& policy) { return rule_toml(rule, limits_of(policy.health, rule)); }});
  for (const Threshold* row : thresholds())
    keys.push_back({"thresholds", row->key, std::string(row->key) + " = " + limit_text(row->value),
                    [row](const toml::node& node, Policy& policy) { return read_threshold(*row, node, policy); },
                    [row](const Policy& policy) {
                      const double* given = find_in(policy.thresholds, row->key);
                      return limit_text(given == nullptr ? row->value : *given);
                    }});
}

}  // namespace fabric::config
