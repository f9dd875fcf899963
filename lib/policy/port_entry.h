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

// Keys of [[port]], besides the settings.
inline constexpr std::string_view kPortKeys[] = {"name", "match", "profile", "front_end", "traffic", "cnp", "fabric"};
Correctable correctable(const Setting& setting);

void read_mark(ConfigReader& reader, std::string_view key, const toml::node& node, MarkKey& out);

PortDraft read_port(ConfigReader& reader, const toml::table& table);
PortDraft read_profile(ConfigReader& reader, const toml::table& table);

// Adds to the entry what it does not have itself: the settings of its profile (null: none), the fabric and the marks of
// the site, else of the profile, and the settings that follow from these.
void complete(PortDraft& entry, const PortDraft* profile, const SiteKeys& site, ConfigFaults& faults);

}  // namespace fabric::config
