// SPDX-License-Identifier: Apache-2.0
// Inside config/: one file being read, and its tables of keys.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "qos/toml_value.h"

namespace fabric::config {

// Gathers the faults of all files, so that one run shows them all.
struct Faults {
  std::vector<std::string> errors;
  std::vector<ConfigWarning> warnings;
};

class Reader {
 public:
  Reader(std::string file, Faults& faults) : file_(std::move(file)), faults_(faults) {}

  // "FILE:LINE" and "FILE:LINE:COLUMN"
  [[nodiscard]] std::string line(const toml::node& node) const;
  [[nodiscard]] std::string place(const toml::source_position& at) const;

  void fail(const toml::source_position& at, const std::string& what);
  void warn(const toml::source_position& at, const std::string& what);
  // False (and an error "KEY: what; INSTEAD") when there is a problem.
  bool good(const MaybeProblem& problem, std::string_view key, std::string_view instead);
  // "unknown key "pfcs"; did you mean "pfc"?"
  void unknown_key(const toml::source_position& at, std::string_view key, std::span<const std::string_view> known);

 private:
  std::string file_;
  Faults& faults_;
};

// A key outside of [[port]]. `section` is empty at the top of the file.
struct Key {
  std::string_view section, name;
  std::string_view example;  // a whole line, as the man page shows it
  MaybeProblem (*read)(const toml::node& node, Policy& policy);
  std::string (*show)(const Policy& policy);  // the value as TOML
};
std::span<const Key> keys();

// Keys of [[port]] beside the settings, and of its match.
inline constexpr std::string_view kPortKeys[] = {"name", "match"};
struct MatchKey {
  std::string_view name;
  std::vector<std::string> Match::*member;
};
inline constexpr MatchKey kMatchKeys[] = {
    {"driver", &Match::driver}, {"rdma", &Match::rdma},   {"netdev", &Match::netdev}, {"pci", &Match::pci},
    {"pci_id", &Match::pci_id}, {"speed", &Match::speed}, {"numa", &Match::numa},     {"role", &Match::role}};

// A string or an array of strings, none of them empty.
MaybeProblem read_texts(const toml::node& node, std::vector<std::string>& out);
// One [[port]] entry with all its checks.
PortPolicy read_port(Reader& reader, const toml::table& table);

// A table's entries with the key's text and position (the value's, where toml++ 2 does not keep the key's).
template <class Each>
void each_key(const toml::table& table, Each&& each) {
  for (auto&& [key, node] : table) {
    std::string_view text = key;
    auto position = [](const auto& k, const toml::node& value) {
      if constexpr (requires { k.source(); }) return k.source().begin;
      else return value.source().begin;
    };
    each(text, position(key, node), node);
  }
}

std::string texts_toml(const std::vector<std::string>& texts);

}  // namespace fabric::config
