// SPDX-License-Identifier: Apache-2.0
// Internal to policy: a file that is being read, and its faults.
#pragma once

#include <functional>
#include <span>

#include "policy/config.h"
#include "policy/correction.h"
#include "policy/span.h"
#include "policy/toml_value.h"

namespace fabric::config {

// A place in a file: its number in ConfigFaults, line and column from 1. Line 0: unknown.
struct FilePlace {
  unsigned file = 0;
  toml::source_index line = 0, column = 0;
  auto operator<=>(const FilePlace&) const = default;
};

// Collects the faults of all files, so that one run reports them all.
class ConfigFaults {
 public:
  static constexpr size_t kShown = 10;  // errors that finish() prints

  unsigned add_file(std::string name);
  [[nodiscard]] std::string line(const FilePlace& at) const;  // "FILE:LINE"
  [[nodiscard]] std::string text(const FilePlace& at) const;  // "FILE:LINE:COLUMN"

  // Shortens a long text to its beginning and end, because a value may have a megabyte, and the text also goes to the
  // journal and the state file.
  void fail(const FilePlace& at, const std::string& what);
  void warn(const FilePlace& at, std::string what) { warnings_.push_back({text(at), std::move(what)}); }
  [[nodiscard]] bool many() const { return errors_.size() > kShown; }

  // The policy, or an Error with the first ten errors, one per line, sorted by their places. Reports a fault of a
  // profile once, even if several entries use the profile.
  Result<LoadedConfig> finish(Policy policy) &&;

 private:
  struct Fault {
    FilePlace at;
    size_t number = 0;  // in the order of discovery, which sorts faults at the same place
    std::string text{};
  };
  std::vector<std::string> files_;
  std::vector<Fault> errors_;
  std::vector<ConfigWarning> warnings_;
};

// Reports the places and faults of one file.
class ConfigReader {
 public:
  ConfigReader(const std::string& file, ConfigFaults& faults) : file_(faults.add_file(file)), faults_(faults) {}

  [[nodiscard]] FilePlace place(const toml::source_position& at) const { return {file_, at.line, at.column}; }
  [[nodiscard]] FilePlace place(const toml::node& node) const { return place(node.source().begin); }
  [[nodiscard]] std::string line(const toml::node& node) const { return faults_.line(place(node)); }

  void fail(const toml::source_position& at, const std::string& what) { faults_.fail(place(at), what); }
  void warn(const toml::source_position& at, std::string what) { faults_.warn(place(at), std::move(what)); }
  // An error "KEY: what; ADVICE".
  void fail(const TomlProblem& problem, std::string_view key, std::string_view advice);
  // Reports the problem of a written value, if there is one, as that error with the value's correction, and returns
  // false.
  bool accept(const MaybeProblem& problem, std::string_view name, const toml::node& written, const Correctable& key);
  // Reads a value by `read`(node, out), which also checks the corrections: `key` has no check of its own. Leaves `out`
  // as it is if the value has a problem, which is reported as by accept().
  template <class T, class Read>
  bool read(std::string_view name, const toml::node& written, Correctable key, Read&& read, T& out) {
    key.check = [&](const toml::node& value) {
      T ignored = out;
      return read(value, ignored);
    };
    T value = out;
    if (!accept(read(written, value), name, written, key)) return false;
    out = std::move(value);
    return true;
  }
  // Reports that error and returns null if the node is not a table.
  const toml::table* table(const toml::node& node, std::string_view key, std::string_view advice);
  // "unknown key "pfcs"; did you mean "pfc"?"; `what` is the kind of word: "key", "rule".
  void fail_unknown(const toml::source_position& at, std::string_view what, std::string_view word,
                    std::span<const std::string_view> known);

 private:
  unsigned file_;
  ConfigFaults& faults_;
};

// False: a bracket is not closed, or it has braces, which glob(7) does not expand. Such a pattern matches no real name.
bool is_glob(std::string_view pattern);
// Whether the pattern begins with one of the heads, and a number or a wildcard follows.
bool begins_like(std::string_view pattern, std::span<const std::string_view> heads);
// Why a pattern of names can match nothing, and the patterns to write in its place (none: not certain).
struct PatternDoubt {
  std::string what;
  std::vector<std::string> instead{};
};
// Nullopt if it can match. Names of devices have neither commas nor blanks, and a pattern is as in glob(7), not a
// regular expression.
std::optional<PatternDoubt> pattern_doubt(std::string_view key, const std::string& pattern);
// Warns of each pattern of the key that `find` doubts. The correction is the whole value of the key: the patterns that
// can match stay in it, and no pattern in it would be doubted again.
using FindDoubt = std::function<std::optional<PatternDoubt>(const std::string& pattern)>;
void warn_of_patterns(ConfigReader& reader, const toml::node& node, std::string_view section, std::string_view key,
                      const std::vector<std::string>& patterns, const FindDoubt& find);
// Reports text that is not TOML and returns false.
bool parse(ConfigReader& reader, std::string_view text, toml::table& out);
// parse() for a whole file. Also reports an empty or truncated file: the rest of it is usually valid TOML.
bool parse_file(ConfigReader& reader, std::string_view text, toml::table& out);

// A string that parse_span() accepts, or a number of seconds.
MaybeProblem read_span(const toml::node& node, std::chrono::milliseconds min, std::chrono::milliseconds max,
                       std::chrono::milliseconds& out);
// A string that is not empty.
MaybeProblem read_name(const toml::node& node, std::string& out);
// One such string, or an array of them.
MaybeProblem read_texts(const toml::node& node, std::vector<std::string>& out);
// Converts the node, or each element of an array, by `value_of`. `what` was expected if `value_of` returns nothing.
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

// Calls `each` for a table's entries with the key's text and position. toml++ 2 does not keep the position of a key:
// then it is that of the value.
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
