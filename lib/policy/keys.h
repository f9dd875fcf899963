// SPDX-License-Identifier: Apache-2.0
// Inside policy: the keys outside of [[port]].
#pragma once

#include "policy/reader.h"

namespace fabric::config {

// A key outside of [[port]]. `section` is empty at the top of the file.
struct Key {
  std::string_view section, name;
  std::string example;  // a whole line, as the man page shows it
  std::function<MaybeProblem(const toml::node& node, Policy& policy)> read;
  std::function<std::string(const Policy& policy)> show;  // the value as TOML; empty: not set, without default
};
std::span<const Key> keys();

// "pfc", "match.rdma": with its section, if it has one.
std::string full_name(std::string_view section, std::string_view key);

// The tables of free names: [firmware] and [driver_version], and [sysctl].
void read_versions(ConfigReader& reader, std::string_view table, const toml::node& node, Versions& out, Policy& policy);
void read_sysctl(ConfigReader& reader, const toml::node& node, Policy& policy);

}  // namespace fabric::config
