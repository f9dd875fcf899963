// SPDX-License-Identifier: Apache-2.0
// [health]: one key per rule.
#include <cstdio>

#include "base/parse.h"
#include "config/reader.h"
#include "health/rule.h"

namespace fabric::config {
namespace {

using std::chrono::milliseconds;

constexpr double kDay = 24 * kHour;

TomlProblem wrong(const toml::node& node, std::string_view expected) {
  return {node.source().begin, "expected " + std::string(expected) + ", not " + describe(node)};
}

std::string seconds_text(double seconds) { return span_text(milliseconds(static_cast<int64_t>(seconds * 1000))); }

MaybeProblem read_seconds(const toml::node& node, double min, double max, double& out) {
  std::optional<milliseconds> span;
  if (const auto* text = node.as_string()) span = parse_span(text->get());
  else if (const auto* number = node.as_integer()) span = parse_span(std::to_string(number->get()));
  const double seconds = span ? static_cast<double>(span->count()) / 1000 : -1;
  if (!span || seconds < min || seconds > max)
    return wrong(node, "a time span from " + seconds_text(min) + " to " + seconds_text(max));
  out = seconds;
  return std::nullopt;
}

MaybeProblem read_limit(const toml::node& node, std::optional<double>& out) {
  const auto* text = node.as_string();
  if (text != nullptr && text->get() == "never") {
    out = std::nullopt;
    return std::nullopt;
  }
  std::optional<double> number;
  if (const auto* whole = node.as_integer()) number = static_cast<double>(whole->get());
  if (const auto* real = node.as_floating_point()) number = real->get();
  if (!number || !(*number > 0 && *number <= 1e12)) return wrong(node, "a number above 0, or \"never\"");
  out = number;
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
  if (const auto* text = node.as_string(); text != nullptr && text->get() == "off") {
    out.warning = out.critical = std::nullopt;
    return std::nullopt;
  }
  const auto* table = node.as_table();
  if (table == nullptr) return wrong(node, "a table of limits, or \"off\"");
  MaybeProblem problem;
  each_key(*table, [&](std::string_view name, const toml::source_position& at, const toml::node& value) {
    if (auto fault = read_part(rule, name, at, value, limits); fault && !problem) problem = std::move(fault);
  });
  if (!problem && limits.warning && limits.critical && *limits.warning > *limits.critical)
    problem = TomlProblem{node.source().begin, "warning is above critical: give both"};
  if (!problem) out = limits;
  return problem;
}

std::string limit_toml(const std::optional<double>& limit) {
  if (!limit) return "\"never\"";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", *limit);
  return text;
}

std::string rule_toml(const HealthRule& rule, const HealthLimits& limits) {
  if (!limits.warning && !limits.critical) return "\"off\"";
  std::string out = "{ warning = " + limit_toml(limits.warning) + ", critical = " + limit_toml(limits.critical);
  if (rule.measure != HealthMeasure::level) out += ", window = " + toml_string(seconds_text(limits.window));
  return out + ", confirm = " + toml_string(seconds_text(limits.confirm)) +
         ", clear = " + toml_string(seconds_text(limits.clear)) + " }";
}

// The lines that an error shows as an example: the defaults.
const std::vector<std::string>& examples() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> lines;
    for (const HealthRule& rule : health_rules())
      lines.push_back(std::string(rule.key) + " = " + rule_toml(rule, rule.limits));
    return lines;
  }();
  return all;
}

}  // namespace

void append_health_keys(std::vector<Key>& keys) {
  keys.push_back(
      {"health", "boot_grace", "boot_grace = \"30min\"",
       [](const toml::node& node, Policy& policy) { return read_seconds(node, 0, kDay, policy.health.boot_grace); },
       [](const Policy& policy) { return toml_string(seconds_text(policy.health.boot_grace)); }});
  keys.push_back(
      {"health", "reload_grace", "reload_grace = \"2min\"",
       [](const toml::node& node, Policy& policy) { return read_seconds(node, 0, kDay, policy.health.reload_grace); },
       [](const Policy& policy) { return toml_string(seconds_text(policy.health.reload_grace)); }});
  for (size_t i = 0; i < health_rules().size(); ++i) {
    const HealthRule& rule = health_rules()[i];
    keys.push_back({"health", rule.key, examples()[i],
                    [&rule](const toml::node& node, Policy& policy) {
                      HealthLimits limits = limits_of(policy.health, rule);
                      auto problem = read_rule(rule, node, limits);
                      if (!problem) policy.health.limits.insert_or_assign(std::string(rule.key), limits);
                      return problem;
                    },
                    [&rule](const Policy& policy) { return rule_toml(rule, limits_of(policy.health, rule)); }});
  }
}

}  // namespace fabric::config
