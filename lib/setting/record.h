// SPDX-License-Identifier: Apache-2.0
// Records as TOML: one row a field, for writing and for reading.
//
//   template <>
//   inline constexpr std::tuple kFields<Ack>{Field{"id", &Ack::id, {.required = true}}, Field{"by", &Ack::by}};
//
// A member is a text, a number, a bool, an enum, a record, or an optional, a vector, an array or a map of them.
#pragma once

#include <limits>
#include <tuple>

#include "base/parse.h"
#include "base/status.h"
#include "setting/toml_value.h"

namespace fabric {

// A value of another type, or out of range, is not read: the field keeps its default.
struct FieldRule {
  bool required = false;  // the record is not read without it (a text: if it is empty)
  bool strict = false;    // nor if it, or an element of it, is not valid
  int64_t min = std::numeric_limits<int64_t>::min(), max = std::numeric_limits<int64_t>::max();
  Breaks breaks = Breaks::replace;
};

template <class Record, class Member>
struct Field {
  std::string_view key;
  Member Record::*member;
  FieldRule rule{};
};
template <class Record, class Member>
Field(std::string_view, Member Record::*, FieldRule = {}) -> Field<Record, Member>;

// The rows of a record.
template <class Record>
inline constexpr std::nullptr_t kFields = nullptr;

template <class T>
concept IsRecord = !std::is_null_pointer_v<std::remove_const_t<decltype(kFields<T>)>>;
template <class T>
concept IsMap = requires {
  typename T::mapped_type;
};
template <class T>
concept IsSection = IsMap<T> ||(requires { typename T::value_type; } && IsRecord<typename T::value_type>);
template <class T>
concept IsOptional = requires(T value) {
  value.has_value();
};

// The shortest text that reads back as the same number; empty if it is not finite.
std::string number_toml(double value);

template <class T>
std::vector<std::string> assignments(const T& value);

// Empty if the value is absent or a number that is not finite.
template <class T>
std::string value_toml(const T& value) {
  const auto element_toml = [](const auto& element) { return value_toml(element); };
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (HasWords<T>) return toml_string(to_text(value));
  else if constexpr (std::is_enum_v<T>) return std::to_string(static_cast<unsigned>(value));
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (std::is_floating_point_v<T>) return number_toml(value);
  else if constexpr (std::is_convertible_v<T, std::string_view>) return toml_string(value);
  else if constexpr (IsOptional<T>) return value ? value_toml(*value) : std::string();
  else if constexpr (IsRecord<T> || IsMap<T>) return "{ " + joined(assignments(value)) + " }";
  else if constexpr (IsRecord<typename T::value_type>) return "[\n  " + joined(value, ",\n  ", element_toml) + "\n]";
  else return "[" + joined(value, ", ", element_toml) + "]";
}

// "key = value"; empty without a value.
template <class Value>
std::string assignment(std::string_view key, const Value& value) {
  const std::string text = value_toml(value);
  return text.empty() ? text : std::string(key) + " = " + text;
}

// For every element of a map, and for the fields of a record that differ from their default.
template <class T>
std::vector<std::string> assignments(const T& value) {
  std::vector<std::string> out;
  const auto add = [&](const auto& field) {
    const auto& member = value.*field.member;
    if (field.rule.required || member != T{}.*field.member) out.push_back(assignment(field.key, member));
  };
  if constexpr (IsMap<T>)
    for (const auto& [key, element] : value) out.push_back(assignment(toml_string(key), element));
  else std::apply([&](const auto&... field) { (add(field), ...); }, kFields<T>);
  std::erase(out, std::string());
  return out;
}

template <class T>
std::string lines_toml(const T& value) {
  return joined(assignments(value), "", [](const std::string& line) { return line + "\n"; });
}

// [[key]] for every record of a list, [key."name"] for every record or map of a map, [key] for another map.
template <class T>
std::string section_toml(const std::string& key, const T& value) {
  std::string out;
  if constexpr (!IsMap<T>) {
    for (const auto& record : value) out += "\n[[" + key + "]]\n" + lines_toml(record);
  } else if constexpr (IsRecord<typename T::mapped_type> || IsMap<typename T::mapped_type>) {
    for (const auto& [name, entry] : value) out += "\n[" + key + "." + toml_string(name) + "]\n" + lines_toml(entry);
  } else if (!value.empty()) {
    out = "\n[" + key + "]\n" + lines_toml(value);
  }
  return out;
}

// A whole file: every field, also with its default, and maps and lists of records as sections.
template <IsRecord Record>
std::string document_toml(const std::string& comment, const Record& record) {
  std::string lines, sections;
  const auto add = [&](const auto& field) {
    const auto& member = record.*field.member;
    if constexpr (IsSection<std::decay_t<decltype(member)>>) sections += section_toml(std::string(field.key), member);
    else if (const std::string line = assignment(field.key, member); !line.empty()) lines += line + "\n";
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, kFields<Record>);
  return comment + lines + sections;
}

// A problem if the node is of another type or out of range. Skips such elements of a list or map, unless it is strict.
inline MaybeProblem read_value(const toml::node& node, const FieldRule&, bool& out) { return read_flag(node, out); }
MaybeProblem read_value(const toml::node& node, const FieldRule& rule, double& out);
MaybeProblem read_value(const toml::node& node, const FieldRule& rule, std::string& out);

template <std::integral T>
MaybeProblem read_value(const toml::node& node, const FieldRule& rule, T& out) {
  using Range = std::numeric_limits<T>;
  const int64_t min = std::cmp_less(rule.min, Range::min()) ? static_cast<int64_t>(Range::min()) : rule.min;
  const int64_t max = std::cmp_less(rule.max, Range::max()) ? rule.max : static_cast<int64_t>(Range::max());
  int64_t number = 0;
  auto problem = read_integer(node, min, max, number);
  if (!problem) out = static_cast<T>(number);
  return problem;
}

template <class Enum>
requires std::is_enum_v<Enum> MaybeProblem read_value(const toml::node& node, const FieldRule& rule, Enum& out) {
  if constexpr (HasWords<Enum>) {
    return read_word(node, out);
  } else {
    std::underlying_type_t<Enum> number{};
    auto problem = read_value(node, rule, number);
    if (!problem) out = static_cast<Enum>(number);
    return problem;
  }
}

template <class T>
MaybeProblem read_value(const toml::node& node, const FieldRule& rule, std::optional<T>& out) {
  T value{};
  auto problem = read_value(node, rule, value);
  if (!problem) out = std::move(value);
  return problem;
}

template <class T>
MaybeProblem read_value(const toml::node& node, const FieldRule& rule, std::vector<T>& out) {
  if (!node.is_array()) return expected(node, "an array");
  for (const toml::node& each : *node.as_array()) {
    T element{};
    auto problem = read_value(each, rule, element);
    if (problem && rule.strict) return problem;
    if (!problem) out.push_back(std::move(element));
  }
  return std::nullopt;
}

template <class T, size_t Size>
MaybeProblem read_value(const toml::node& node, const FieldRule& rule, std::array<T, Size>& out) {
  std::vector<T> elements;
  auto problem = read_value(node, rule, elements);
  std::copy_n(elements.begin(), std::min(Size, elements.size()), out.begin());
  return problem;
}

template <IsMap Map>
MaybeProblem read_value(const toml::node& node, const FieldRule& rule, Map& out) {
  if (!node.is_table()) return expected(node, "a table");
  for (auto&& [key, value] : *node.as_table()) {
    typename Map::mapped_type element{};
    auto problem = read_value(value, rule, element);
    if (problem && rule.strict) return problem;
    if (!problem) out.insert_or_assign(clean_text(key.str()), std::move(element));
  }
  return std::nullopt;
}

template <IsRecord Record>
MaybeProblem read_record(const toml::table& table, Record& out) {
  const auto problem_of = [&](const auto& field) -> MaybeProblem {
    if (const toml::node* node = table.get(field.key)) {
      auto problem = read_value(*node, field.rule, out.*field.member);
      return field.rule.required || field.rule.strict ? problem : std::nullopt;
    }
    if (!field.rule.required) return std::nullopt;
    return TomlProblem{table.source().begin, std::string(field.key) + " is missing"};
  };
  MaybeProblem problem;
  std::apply([&](const auto&... field) { (void)(!(problem = problem_of(field)) && ...); }, kFields<Record>);
  return problem;
}

template <IsRecord Record>
MaybeProblem read_value(const toml::node& node, const FieldRule&, Record& out) {
  return node.is_table() ? read_record(*node.as_table(), out) : expected(node, "a table");
}

template <IsRecord Record>
Result<Record> record_of(const toml::table& table, const std::string& name) {
  Record out;
  if (auto problem = read_record(table, out)) return corrupt(name, problem->at, problem->what);
  return out;
}

// A whole file, by parse_state().
template <IsRecord Record>
Result<Record> parse_record(std::string_view text, const std::string& name) {
  const auto table = parse_state(text, name);
  return table ? record_of<Record>(*table, name) : table.error();
}

}  // namespace fabric
