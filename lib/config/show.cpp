// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "config/config.h"
#include "config/reader.h"

namespace fabric {
namespace {

constexpr size_t kCommentColumn = 40;

std::string line(std::string_view name, const std::string& value, const std::string& origin) {
  std::string text = std::string(name) + " = " + value;
  text.resize(std::max(text.size() + 1, kCommentColumn), ' ');
  return text + "# " + origin + "\n";
}

std::string origin_of(const Policy& policy, const config::Key& key) {
  std::string full = (key.section.empty() ? "" : std::string(key.section) + ".") + std::string(key.name);
  auto found = policy.origin.find(full);
  return found == policy.origin.end() ? "default" : found->second;
}

std::string match_toml(const Match& match) {
  std::string out;
  for (const config::MatchKey& key : config::kMatchKeys)
    if (!(match.*key.member).empty())
      out += (out.empty() ? "" : ", ") + std::string(key.name) + " = " + config::texts_toml(match.*key.member);
  return out.empty() ? "" : "{ " + out + " }";
}

std::string port_toml(const PortPolicy& port) {
  std::string out = "\n[[port]]\n" + line("name", toml_string(port.name), port.where);
  if (auto match = match_toml(port.match); !match.empty()) out += line("match", match, port.where);
  for (size_t i = 0; i < kSettingCount; ++i)
    if (has_value(kSettings[i], port.want)) out += line(kSettings[i].key, setting_toml(kSettings[i], port.want), port.origin[i]);
  return out;
}

}  // namespace

std::string show_config(const Policy& policy) {
  std::string out;
  std::string_view section;
  for (const config::Key& key : config::keys()) {
    if (key.section != section) out += "\n[" + std::string(key.section) + "]\n";
    section = key.section;
    out += line(key.name, key.show(policy), origin_of(policy, key));
  }
  for (const PortPolicy& port : policy.ports) out += port_toml(port);
  return out;
}

}  // namespace fabric
