// SPDX-License-Identifier: Apache-2.0
// Inside config/: one file being read, and its tables of keys.
#pragma once

#include <span>

#include "policy/config.h"
#include "setting/toml_value.h"

namespace fabric::config {

// A place in a file: its number in Faults, line and column from 1. Line 0: unknown.
struct Place {
  unsigned file = 0;
  toml::source_index line = 0, column = 0;
  auto operator<=>(const Place&) const = default;
};

// Gathers the faults of all files, so that one run shows them all.
class Faults {
 public:
  static constexpr size_t kShown = 10;  // errors that finish() prints

  unsigned add_file(std::string name);
  [[nodiscard]] std::string line(const Place& at) const;  // "FILE:LINE"
  [[nodiscard]] std::string text(const Place& at) const;  // "FILE:LINE:COLUMN"

  // Of a text with a value of a megabyte in it, its beginning and its end: journal and state file take it as well.
  void fail(const Place& at, const std::string& what);
  void warn(const Place& at, std::string what) { warnings_.push_back({text(at), std::move(what)}); }
  [[nodiscard]] bool many() const { return errors_.size() > kShown; }

  // The policy, or the errors: the first ten, one a line, sorted by their places. A fault of a profile is reported
  // once.
  Result<LoadedConfig> finish(Policy policy) &&;

 private:
  struct Fault {
    Place at;
    size_t number = 0;  // in the order of discovery, which sorts faults at the same place
    std::string text{};
  };
  std::vector<std::string> files_;
  std::vector<Fault> errors_;
  std::vector<ConfigWarning> warnings_;
};

class Reader {
 public:
  Reader(const std::string& file, Faults& faults) : file_(faults.add_file(file)), faults_(faults) {}

  [[nodiscard]] Place place(const toml::source_position& at) const { return {file_, at.line, at.column}; }
  [[nodiscard]] Place place(const toml::node& node) const { return place(node.source().begin); }
  [[nodiscard]] std::string line(const toml::node& node) const { return faults_.line(place(node)); }

  void fail(const toml::source_position& at, const std::string& what) { faults_.fail(place(at), what); }
  void warn(const toml::source_position& at, std::string what) { faults_.warn(place(at), std::move(what)); }
  // An error "KEY: what; write INSTEAD".
  void fail(const TomlProblem& problem, std::string_view key, std::string_view instead);
  // False, and that error, when there is a problem.
  bool good(const MaybeProblem& problem, std::string_view key, std::string_view instead);
  // Null, and that error, if the node is no table.
  const toml::table* table(const toml::node& node, std::string_view key, std::string_view instead);
  // "unknown key "pfcs"; did you mean "pfc"?"; `what` is "key", or what else the word is.
  void unknown(const toml::source_position& at, std::string_view what, std::string_view word,
               std::span<const std::string_view> known);

 private:
  unsigned file_;
  Faults& faults_;
};

// `traffic` or `cnp`, at the top of a file, of an entry or of a profile. Given without a mark: "none".
struct MarkKey {
  bool given = false;
  std::optional<Mark> mark;
  Place at;
};

// A [[port]] entry or a profile: its own settings, then those of the profile below it.
struct Entry {
  PortPolicy port;
  Place at;
  bool leaves_alone = true;  // it has nothing but a name and a match
  Place profile_at;
  MarkKey traffic, cnp;
  std::array<Place, kSettingCount> places{};
};

// All files together, before profiles and marks are laid under the entries.
struct Document {
  Policy policy;
  std::vector<Entry> entries;
  MarkKey traffic, cnp;
  RuleRows rules;  // that [rules.ID] may name
};

// A key outside of [[port]]. `section` is empty at the top of the file.
struct Key {
  std::string_view section, name;
  std::string example;  // a whole line, as the man page shows it
  std::function<MaybeProblem(const toml::node& node, Policy& policy)> read;
  std::function<std::string(const Policy& policy)> show;  // the value as TOML; empty: not set, without default
};
std::span<const Key> keys();
// [rules] boot_grace, reload_grace
std::vector<Key> grace_keys();

// [rules.ID]
void read_rule(Reader& reader, std::string_view id, const toml::source_position& at, const toml::node& node,
               Document& document);
// What show_config() shows of a rule: its limits, configured or not; `enabled` and `severity` if they are given.
struct RuleValue {
  std::string section;  // "rules.link-errors.bit_errors"
  std::string_view key;
  std::string toml;
};
std::vector<RuleValue> rule_values(const RuleRow& row, const RulePolicy& policy);

// Keys of [[port]] beside the settings, and of its match; those of a profile beside the settings.
inline constexpr std::string_view kPortKeys[] = {"name", "match", "profile", "traffic", "cnp"};
inline constexpr std::string_view kProfileKeys[] = {"traffic", "cnp"};
struct MatchKey {
  std::string_view name;
  std::vector<std::string> Match::*member;
  // The text as the Match has it, or nothing: it has the wrong form.
  std::optional<std::string> (*normal)(const toml::node& element);
  std::string_view expected, example;
  bool number = false;  // shown without quotes
};
std::span<const MatchKey> match_keys();
// "pfc", "match.rdma": with its section, if it has one.
std::string full_name(std::string_view section, std::string_view key);
// False: a bracket stays open, or it has braces, which glob(7) does not expand. Such a pattern matches no real name.
bool is_glob(std::string_view pattern);
void read_match(Reader& reader, const toml::node& node, Match& match);

void read_mark(Reader& reader, std::string_view key, const toml::node& node, MarkKey& out);

// One [[port]] entry; a profile.
Entry read_port(Reader& reader, const toml::table& table);
Entry read_profile(Reader& reader, const toml::table& table);
// What a number may be, before it is read; rules within the value that was read, by its key: the sum of ets, ECN bits.
MaybeProblem check_range(const Setting& setting, const toml::node& node);
MaybeProblem check_value(const Setting& setting, const toml::node& node, const Qos& value);

// [firmware], [driver_version]
void read_versions(Reader& reader, std::string_view table, const toml::node& node, Versions& out, Policy& policy);
// [sysctl]
void read_sysctl(Reader& reader, const toml::node& node, Policy& policy);

// Applies the profile to the entry: settings of the entry win.
void apply_profile(Entry& entry, const Entry& profile);
// Chooses the marks (the entry's, else those of the file, else the profile's) and derives the settings that are not
// given.
void follow_marks(Entry& entry, const Document& document, const Entry* profile, Faults& faults);
// Values that contradict each other, or are more aggressive than the vendor's.
void check_together(const Entry& entry, Faults& faults);

// False: not TOML, and reported.
bool parse(Reader& reader, std::string_view text, toml::table& out);
// The same for a file. A part of one is mostly valid TOML, and means less than was written.
bool parse_file(Reader& reader, std::string_view text, toml::table& out);

// A string as parse_span() takes it, or a number of seconds.
MaybeProblem read_span(const toml::node& node, std::chrono::milliseconds min, std::chrono::milliseconds max,
                       std::chrono::milliseconds& out);
// A string that is not empty; one, or an array of them.
MaybeProblem read_name(const toml::node& node, std::string& out);
MaybeProblem read_texts(const toml::node& node, std::vector<std::string>& out);
// What `value_of` makes of the node, or of every element of an array; where it makes nothing, `what` was expected.
template <class Value, class ValueOf>
MaybeProblem read_list(const toml::node& node, std::string_view what, std::vector<Value>& out, ValueOf&& value_of) {
  std::vector<Value> values;
  auto problem = each_of(node, [&](const toml::node& element) -> MaybeProblem {
    auto value = value_of(element);
    if (!value) return expected(element, what);
    values.push_back(std::move(*value));
    return std::nullopt;
  });
  if (!problem) out = std::move(values);
  return problem;
}

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

}  // namespace fabric::config
