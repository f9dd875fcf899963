// SPDX-License-Identifier: Apache-2.0
// Internal to policy: `match` of a [[port]] entry, which ports it is for. A pattern that can match no port is an error.
#pragma once

#include "nic/driver.h"
#include "policy/reader.h"

namespace fabric::config {

struct MatchKey {
  std::string_view name;
  std::vector<std::string> Match::*member;
  // The text as Match has it; nullopt if it has the wrong form.
  std::optional<std::string> (*normal)(const toml::node& element);
  std::string_view expected, example;               // in a message; a value as TOML
  bool number = false;                              // shown without quotes
  Values (*readings)(const Json& element) = texts;  // of an element that is rejected (correction.h)
};
std::span<const MatchKey> match_keys();

void read_match(ConfigReader& reader, const toml::node& node, Match& match);

// Whether a pattern of match.driver matches the driver, by its name or by a kernel driver's.
bool names_driver(const std::string& pattern, const Driver& driver);
// Whether the patterns show that `early` matches every port that `late` matches.
bool covers(const Match& early, const Match& late);
// Whether the entry names its ports: by a key of which each pattern has a part of a name. The domain of a PCI address
// does not count, because most machines have a single one.
bool names_ports(const Match& match);

}  // namespace fabric::config
