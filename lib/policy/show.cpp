// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "policy/reader.h"
#include "setting/record.h"
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
std::string origin_of(const Origins& origins, const std::string& name, const char* otherwise = "") {
  const std::string* found = find_in(origins, name);
  return found == nullptr ? otherwise : *found;
}

std::string match_toml(const Match& match) {
  std::string out;
  for (const config::MatchKey& key : config::match_keys())
    if (!(match.*key.member).empty())
      append_item(out, std::string(key.name) + " = " +
                           (key.number ? "[" + joined(match.*key.member) + "]" : value_toml(match.*key.member)));
  return out.empty() ? "" : "{ " + out + " }";
}

std::string mark_toml(const Mark& mark) {
  return "{ dscp = " + std::to_string(mark.dscp) + ", priority = " + std::to_string(mark.priority) + " }";
}

std::string port_toml(const PortPolicy& port) {
  std::string out = "\n[[port]]\n" + line("name", toml_string(port.name), port.where);
  if (auto match = match_toml(port.match); !match.empty()) out += line("match", match, port.where);
  // Its values stand below, so the file is not needed to read this.
  if (!port.profile.empty()) out += line("#profile", toml_string(port.profile), port.profile_origin);
  if (port.traffic) out += line("traffic", mark_toml(*port.traffic), port.traffic_origin);
  if (port.cnp) out += line("cnp", mark_toml(*port.cnp), port.cnp_origin);
  for (size_t i = 0; i < kSettingCount; ++i)
    if (has_value(kSettings[i], port.want))
      out += line((port.derived[i] ? "#" : "") + std::string(kSettings[i].key), setting_toml(kSettings[i], port.want),
                  port.origin[i]);
  return out;
}

std::string rules_toml(const Policy& policy, RuleRows rules) {
  std::string out, section;
  for (const RuleRow& row : rules)
    for (const config::RuleValue& each : config::rule_values(row, policy.rules)) {
      if (each.section != section) out += "\n[" + each.section + "]\n";
      section = each.section;
      out += line(each.key, each.toml, origin_of(policy.origin, config::full_name(section, each.key), "default"));
    }
  return out;
}

std::string versions_toml(const Policy& policy, const std::string& table, const Versions& versions) {
  std::string out = versions.empty() ? "" : "\n[" + table + "]\n";
  for (const auto& [name, allowed] : versions)
    out += line(toml_string(name), value_toml(allowed), origin_of(policy.origin, table + "." + name));
  return out;
}

std::string sysctl_toml(const Policy& policy) {
  std::string out = policy.sysctl.empty() ? "" : "\n[sysctl]\n";
  for (const auto& [name, value] : policy.sysctl) {
    const bool plain = value.find_first_not_of("0123456789") == std::string::npos;
    out += line(toml_string(name), plain ? value : toml_string(value), origin_of(policy.sysctl_origin, name));
  }
  return out;
}

}  // namespace

std::string show_config(const Policy& policy, RuleRows rules) {
  std::string out;
  std::string_view section;
  for (const config::Key& key : config::keys()) {
    const std::string value = key.show(policy);
    if (value.empty()) continue;
    if (key.section != section) out += "\n[" + std::string(key.section) + "]\n";
    section = key.section;
    out += line(key.name, value, origin_of(policy.origin, config::full_name(key.section, key.name), "default"));
  }
  out += rules_toml(policy, rules);
  out += versions_toml(policy, "firmware", policy.firmware) +
         versions_toml(policy, "driver_version", policy.driver_version) + sysctl_toml(policy);
  for (const PortPolicy& port : policy.ports) out += port_toml(port);
  return out;
}

std::string wanted_config(const Policy& policy) {
  Policy alone;
  alone.mode = policy.mode;
  alone.exclude = policy.exclude;
  alone.ports = policy.ports;
  alone.sysctl = policy.sysctl;
  for (PortPolicy& port : alone.ports) {
    port.origin.fill({});
    for (std::string* place : {&port.where, &port.traffic_origin, &port.cnp_origin, &port.profile_origin})
      place->clear();
  }
  return show_config(alone, {});
}

}  // namespace fabric
