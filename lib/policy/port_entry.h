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

// Applies the profile to the entry: settings of the entry win.
void apply_profile(PortDraft& entry, const PortDraft& profile);
// Chooses the values of the fabric: the entry's, else those that the site gives, else the profile's. On a lossy fabric
// PFC is off, unless the entry says otherwise. Before follow_marks().
void follow_fabric(PortDraft& entry, const FabricKey& site, const PortDraft* profile, ConfigFaults& faults);
// Chooses the marks (the entry's, else those of the file, else the profile's) and derives the settings that are not
// given.
void follow_marks(PortDraft& entry, const MarkKey& traffic, const MarkKey& cnp, const PortDraft* profile,
                  ConfigFaults& faults);

}  // namespace fabric::config
