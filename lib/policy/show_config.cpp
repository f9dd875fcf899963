// SPDX-License-Identifier: Apache-2.0
#include "policy/show_config.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "policy/keys.h"
#include "policy/match.h"
#include "policy/rule_keys.h"
#include "setting/setting_table.h"

namespace fabric {

namespace {

constexpr size_t kCommentColumn = 40;

std::string line(std::string_view name, const std::string& value, const std::string& origin) {
  std::string text = std::string(name) + " = " + value;
  text.resize(std::max(text.size() + 1, kCommentColumn), ' ');
  return text + "# " + origin + "\n";
}

template <class Origins>
std::string origin_of(const Origins& origins, const std::string& name, const char* fallback = "") {
  const std::string* found = find_in(origins, name);
  if (found == nullptr) return fallback;
  return *found;
}

std::string mark_toml(const Mark& mark) {
  return "{ dscp = " + std::to_string(mark.dscp) + ", priority = " + std::to_string(mark.priority) + " }";
}

std::string fabric_toml(const Fabric& fabric) {
  return "{ kind = " + toml_string(to_text(fabric.kind)) +
         ", adaptive_routing = " + json_toml(fabric.adaptive_routing) + ", spraying = " + json_toml(fabric.spraying) +
         " }";
}

std::string port_toml(const PortPolicy& port) {
  std::string out = "\n[[port]]\n" + line("name", toml_string(port.name), port.where);
  std::string match;
  for (const config::MatchKey& key : config::match_keys()) {
    const std::vector<std::string>& patterns = port.match.*key.member;
    if (patterns.empty()) continue;
    std::string list = value_toml(patterns);
    if (key.number) list = "[" + joined(patterns) + "]";
    append_item(match, std::string(key.name) + " = " + list);
  }
  if (!match.empty()) out += line("match", "{ " + match + " }", port.where);
  // A comment: the profile's values follow, so that the text can be read without the profile.
  if (!port.profile.empty()) out += line("#profile", toml_string(port.profile), port.profile_origin);
  if (port.front_end) out += line("front_end", "true", port.front_end_origin);
  if (!port.fabric_origin.empty()) out += line("fabric", fabric_toml(port.fabric), port.fabric_origin);
  if (port.traffic) out += line("traffic", mark_toml(*port.traffic), port.traffic_origin);
  if (port.cnp) out += line("cnp", mark_toml(*port.cnp), port.cnp_origin);
  for (size_t i = 0; i < kSettingCount; ++i) {
    if (!has_value(kSettings[i], port.want)) continue;
    std::string key(kSettings[i].key);
    if (port.derived[i]) key.insert(0, "#");
    out += line(key, setting_toml(kSettings[i], port.want), port.origin[i]);
  }
  return out;
}

std::string versions_toml(const Policy& policy, const std::string& table, const Versions& versions) {
  if (versions.empty()) return {};
  std::string out = "\n[" + table + "]\n";
  for (const auto& [name, allowed] : versions)
    out += line(toml_string(name), value_toml(allowed), origin_of(policy.origin, table + "." + name));
  return out;
}

}  // namespace

std::string show_config(const Policy& policy, RuleRows rules) {
  std::string out, section;
  for (const config::Key& key : config::keys()) {
    const std::string value = key.show(policy);
    if (value.empty()) continue;
    if (key.section != section) out += "\n[" + std::string(key.section) + "]\n";
    section = key.section;
    out += line(key.name, value, origin_of(policy.origin, config::full_name(section, key.name), "default"));
  }
  section.clear();
  for (const RuleRow& row : rules)
    for (const config::RuleValue& each : config::rule_values(row, policy.rules)) {
      if (each.section != section) out += "\n[" + each.section + "]\n";
      section = each.section;
      out += line(each.key, each.toml, origin_of(policy.origin, config::full_name(section, each.key), "default"));
    }
  out += versions_toml(policy, "firmware", policy.firmware);
  out += versions_toml(policy, "driver_version", policy.driver_version);
  if (!policy.sysctl.empty()) out += "\n[sysctl]\n";
  for (const auto& [name, value] : policy.sysctl) {
    std::string toml = value;
    if (value.find_first_not_of("0123456789") != std::string::npos) toml = toml_string(value);
    out += line(toml_string(name), toml, origin_of(policy.sysctl_origin, name));
  }
  for (const PortPolicy& port : policy.ports) out += port_toml(port);
  return out;
}

std::string wanted_config(const Policy& policy) {
  Policy alone;
  alone.mode = policy.mode;
  alone.exclude = policy.exclude;
  alone.fabric = policy.fabric;
  alone.ports = policy.ports;
  alone.sysctl = policy.sysctl;
  for (PortPolicy& port : alone.ports) {
    port.origin.fill({});
    for (std::string* place :
         {&port.where, &port.traffic_origin, &port.cnp_origin, &port.profile_origin, &port.front_end_origin})
      place->clear();
    if (!port.fabric_origin.empty()) port.fabric_origin = "given";  // else show_config() leaves the value out
  }
  return show_config(alone, {});
}

}  // namespace fabric
