// SPDX-License-Identifier: Apache-2.0
// Internal to policy: the keys outside of [[port]].
#pragma once

#include "policy/reader.h"

namespace fabric::config {

// A key outside of [[port]]. `section` is empty at the top of the file.
struct Key {
  std::string_view section, name;
  std::string example;  // a value as TOML
  std::function<MaybeProblem(const toml::node& node, Policy& policy)> read;
  std::function<std::string(const Policy& policy)> show;  // the value as TOML; empty: not set and no default
  std::function<Values(const Json& written)> readings{};  // of a value that is rejected (correction.h)
  bool are_patterns = false;                              // the texts of the value are patterns of names
};
std::span<const Key> keys();
Correctable correctable(const Key& key);
// The key of that name; `section` "port" is a [[port]] entry. nullopt if it is unknown or has no fixed kind of value.
std::optional<Correctable> find_correctable(std::string_view section, std::string_view name);

// The key with its section, if it has one: "mode", "exporter.listen".
std::string full_name(std::string_view section, std::string_view key);

// The tables whose keys are free names: [firmware], [driver_version] and [sysctl].
void read_versions(ConfigReader& reader, std::string_view table, const toml::node& node, Versions& out, Policy& policy);
void read_sysctl(ConfigReader& reader, const toml::node& node, Policy& policy);

}  // namespace fabric::config
