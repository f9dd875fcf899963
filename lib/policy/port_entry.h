// SPDX-License-Identifier: Apache-2.0
// Internal to policy: reads a [[port]] entry or a profile.
#pragma once

#include "nic/driver.h"
#include "policy/reader.h"

namespace fabric::config {

// `traffic` or `cnp`, at the top of a file, of an entry or of a profile. Without a mark although given: "none".
struct MarkKey {
  bool given = false;
  std::optional<Mark> mark;
  FilePlace at;
};

// `fabric` of an entry or of a profile: the values that are given.
struct FabricKey {
  std::optional<FabricKind> kind;
  std::optional<bool> adaptive_routing, spraying;
  FilePlace at;
  [[nodiscard]] bool given() const { return kind || adaptive_routing || spraying; }
};

// `traffic` and `cnp` at the top of the files, and [fabric]: for the entries without their own.
struct SiteKeys {
  MarkKey traffic, cnp;
  FabricKey fabric;
};

// A [[port]] entry or a profile: its own settings, then those of the profile below it.
struct PortDraft {
  PortPolicy port;
  FilePlace at;
  bool has_no_settings = true;  // it has nothing but a name and a match
  FilePlace profile_at, front_end_at;
  MarkKey traffic, cnp;
  FabricKey fabric;
  std::array<FilePlace, kSettingCount> places{};
};

// Keys of [[port]] and of a match, besides the settings.
inline constexpr std::string_view kPortKeys[] = {"name", "match", "profile", "front_end", "traffic", "cnp", "fabric"};
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
Correctable correctable(const Setting& setting);

// Whether a pattern of match.driver matches the driver, by its name or by a kernel driver's.
bool names_driver(const std::string& pattern, const Driver& driver);

void read_mark(ConfigReader& reader, std::string_view key, const toml::node& node, MarkKey& out);

PortDraft read_port(ConfigReader& reader, const toml::table& table);
PortDraft read_profile(ConfigReader& reader, const toml::table& table);

// Adds to the entry what it does not have itself: the settings of its profile (null: none), the fabric and the marks of
// the site, else of the profile, and the settings that follow from these.
void complete(PortDraft& entry, const PortDraft* profile, const SiteKeys& site, ConfigFaults& faults);

}  // namespace fabric::config
