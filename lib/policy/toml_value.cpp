// SPDX-License-Identifier: Apache-2.0
#include "policy/toml_value.h"

#include <algorithm>

#include "base/find.h"
#include "base/json.h"
#include "setting/setting_table.h"

namespace fabric {
namespace {

// Calls `each` for the elements of an array of `min` to `max` elements, with their indexes.
template <class Each>
MaybeProblem read_array(const toml::node& node, std::string_view what, size_t min, size_t max, Each&& each) {
  const auto* array = node.as_array();
  if (array == nullptr) return expected(node, what);
  if (array->size() < min || array->size() > max)
    return fault_at(node, "expected " + std::string(what) + ", not " + std::to_string(array->size()) + " of them");
  for (size_t i = 0; i < array->size(); ++i)
    if (auto problem = each(*array->get(i), i)) return problem;
  return std::nullopt;
}

MaybeProblem read_priority(const toml::node& node, uint8_t& out) { return read_integer(node, 0, kPriorities - 1, out); }

MaybeProblem read_kind(const toml::node& node, bool& out) { return read_switch(node, out); }

MaybeProblem read_kind(const toml::node& node, uint32_t& out) { return read_integer(node, 0, UINT32_MAX, out); }

template <HasWords Enum>
MaybeProblem read_kind(const toml::node& node, Enum& out) {
  return read_word(node, out);
}

// Numbers from 0 to `most`.
template <class T>
MaybeProblem read_numbers(const toml::node& node, std::string_view what, size_t least, int64_t most,
                          std::array<T, kPriorities>& out) {
  return read_array(node, what, least, kPriorities,
                    [&](const toml::node& element, size_t i) { return read_integer(element, 0, most, out[i]); });
}

MaybeProblem read_kind(const toml::node& node, Pause& out) {
  constexpr Pause kAll[]{{false, false}, {true, false}, {false, true}, {true, true}};
  return read_one_of(node, out, kAll, [](const Pause& each) { return to_text(each); });
}

MaybeProblem read_kind(const toml::node& node, PrioSet& out) {
  return read_array(node, "an array of priorities 0 to 7", 0, kPriorities,
                    [&](const toml::node& element, size_t) -> MaybeProblem {
                      uint8_t prio = 0;
                      if (auto problem = read_priority(element, prio)) return problem;
                      if (out.has(prio))
                        return fault_at(element, "priority " + std::to_string(prio) + " is listed twice");
                      out.add(prio);
                      return std::nullopt;
                    });
}

MaybeProblem read_kind(const toml::node& node, DscpMap& out) {
  const auto* table = node.as_table();
  if (table == nullptr) return expected(node, "a table of DSCP = priority");
  for (auto&& [key, value] : *table) {
    std::string_view word = key;
    auto dscp = parse_number<uint8_t>(word);
    if (!dscp || *dscp > 63 || out.count(*dscp) != 0)
      return fault_at(value, "expected each DSCP from 0 to 63 once, not \"" + std::string(word) + "\"");
    if (auto problem = read_priority(value, out[*dscp])) return problem;
  }
  return std::nullopt;
}

constexpr Tsa kAlgorithms[]{Tsa::strict, Tsa::cb_shaper, Tsa::ets, Tsa::vendor};
std::string_view tsa_word(Tsa tsa) {
  switch (tsa) {
    case Tsa::strict: return "strict";
    case Tsa::cb_shaper: return "cbs";
    case Tsa::ets: return "ets";
    case Tsa::vendor: return "vendor";
  }
  return "vendor";
}

MaybeProblem read_kind(const toml::node& node, Ets& out) {
  const auto* table = node.as_table();
  if (table == nullptr) return expected(node, "a table with prio_tc, tsa and bw");
  for (auto&& [key, value] : *table) {
    const std::string_view name = key;
    MaybeProblem problem;
    if (name == "prio_tc")
      problem =
          read_numbers(value, "eight traffic classes, one per priority", kPriorities, kPriorities - 1, out.prio_tc);
    else if (name == "tsa")
      problem = read_array(
          value, "at most eight algorithms, one per traffic class", 0, kPriorities,
          [&](const toml::node& element, size_t i) { return read_one_of(element, out.tsa[i], kAlgorithms, tsa_word); });
    else if (name == "bw")
      problem = read_numbers(value, "at most eight percentages, one per traffic class", 0, UINT8_MAX, out.bw);
    else problem = fault_at(value, "unknown key \"" + std::string(name) + "\"; ets has prio_tc, tsa and bw");
    if (problem) return problem;
  }
  for (std::string_view key : {"prio_tc", "tsa"})
    if (table->get(key) == nullptr) return fault_at(node, std::string(key) + " is missing");
  return std::nullopt;
}

MaybeProblem read_kind(const toml::node& node, Eight& out) {
  return read_numbers(node, "eight numbers from 0 to 7, one per priority", kPriorities, kPriorities - 1, out);
}

MaybeProblem read_kind(const toml::node& node, Buffers& out) {
  if (node.value_exact<std::string_view>() == "auto") {
    out.automatic = true;
    return std::nullopt;
  }
  return read_numbers(node, "eight sizes in bytes, or \"auto\"", kPriorities, UINT32_MAX, out.bytes);
}

MaybeProblem read_kind(const toml::node& node, Rates& out) {
  return read_numbers(node, "eight rates in kbit/s, one per traffic class", kPriorities, INT64_MAX, out.kbit);
}

MaybeProblem read_kind(const toml::node& node, OrNone& out) {
  if (node.value_exact<std::string_view>() == "none") return std::nullopt;
  return read_kind(node, out.value.emplace());
}

// Calls `each` for the node of one word, or for each of an array of words.
template <class Each>
MaybeProblem read_words(const toml::node& node, std::string_view what, Each&& each) {
  if (node.is_string()) return each(node);
  return read_array(node, what, 0, 1'000, [&](const toml::node& element, size_t) -> MaybeProblem {
    if (!element.is_string()) return expected(element, what);
    return each(element);
  });
}

MaybeProblem read_kind(const toml::node& node, Fec& out) {
  constexpr std::string_view kWhat = "\"auto\", \"off\", \"rs\", \"baser\" or \"llrs\"";
  return read_words(node, kWhat, [&](const toml::node& word) -> MaybeProblem {
    const auto bit = parse_fec_word(word.as_string()->get());
    if (!bit) return expected(word, kWhat);
    out.bits = static_cast<uint8_t>(out.bits | *bit);
    return std::nullopt;
  });
}

MaybeProblem read_kind(const toml::node& node, AppTrust& out) {
  constexpr std::string_view kWhat = "\"dscp\" or \"pcp\"";
  return read_words(node, kWhat, [&](const toml::node& word) -> MaybeProblem {
    const auto selector = parse_selector(word.as_string()->get());
    if (!selector) return expected(word, kWhat);
    if (contains(out.selectors, *selector)) return fault_at(word, describe(word) + " is listed twice");
    out.selectors.push_back(*selector);
    return std::nullopt;
  });
}

MaybeProblem read_kind(const toml::node& node, Names& out) {
  if (const auto* text = node.as_string()) {
    if (text->get() != "all") return expected(node, "an array of names, or \"all\"");
    out.names = {"*"};
    return std::nullopt;
  }
  return read_words(node, "an array of names, or \"all\"", [&](const toml::node& word) -> MaybeProblem {
    const std::string& name = word.as_string()->get();
    if (name.empty() || name == "*") return expected(word, "the name of a counter");
    out.names.insert(name);
    return std::nullopt;
  });
}

}  // namespace

MaybeProblem parse_toml(std::string_view text, toml::table& out) {
  // toml++ reads, compares and destroys the parts of a dotted key recursively: thousands of them exhaust the stack.
  constexpr ptrdiff_t kMostDots = 512;  // in one line; an inline table of 64 switches by their domain names has 200
  toml::source_index number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (std::ranges::count(line, '.') > kMostDots) return TomlProblem{{number, 1}, "more than 512 dots in one line"};
  }
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return TomlProblem{parsed.error().source().begin, clean_text(parsed.error().description())};
  out = std::move(parsed).table();
  return std::nullopt;
}

std::string describe(const toml::node& node) {
  if (const auto* text = node.as_string()) return "the string " + toml_string(text->get());
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  if (node.is_floating_point()) return "a floating-point number";
  return "a date or time";
}

TomlProblem expected(const toml::node& node, std::string_view what) {
  return fault_at(node, "expected " + std::string(what) + ", not " + describe(node));
}

MaybeProblem read_integer(const toml::node& node, int64_t min, int64_t max, int64_t& out) {
  const auto* integer = node.as_integer();
  if (integer == nullptr || integer->get() < min || integer->get() > max)
    return expected(node, "an integer from " + std::to_string(min) + " to " + std::to_string(max));
  out = integer->get();
  return std::nullopt;
}

MaybeProblem read_text(const toml::node& node, std::string& out) {
  const auto* text = node.as_string();
  if (text == nullptr) return expected(node, "a string");
  out = text->get();
  return std::nullopt;
}

MaybeProblem read_switch(const toml::node& node, bool& out) {
  const auto value = node.value_exact<bool>();
  if (!value) return expected(node, "true or false");
  out = *value;
  return std::nullopt;
}

MaybeProblem read_setting(const Setting& setting, const toml::node& node, Qos& out) {
  return visit_member(setting, out, [&](auto& member) -> MaybeProblem {
    std::decay_t<decltype(*member)> value{};
    if (auto problem = read_kind(node, value)) return problem;
    member = std::move(value);
    return std::nullopt;
  });
}

std::string toml_key(std::string_view key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
  if (bare) return std::string(key);
  return toml_string(key);
}

std::string json_toml(const Json& json) {
  if (json.is_string()) return toml_string(json.get<std::string>());
  if (json.is_array()) return "[" + joined(json, ", ", json_toml) + "]";
  if (!json.is_object()) return json.dump();
  std::string out;
  for (const auto& [key, value] : json.items()) append_item(out, toml_key(key) + " = " + json_toml(value));
  if (out.empty()) return "{}";
  return "{ " + out + " }";
}

// The value's JSON as TOML, except for a few words.
std::string setting_toml(const Setting& setting, const Qos& qos) {
  if (!has_value(setting, qos)) return {};
  Json json = value_json(setting, qos);
  if (setting.id == SettingId::pause) json = value_text(setting, qos);
  if (setting.id == SettingId::ets)
    for (Json& algorithm : json["tsa"])
      if (algorithm == "cb-shaper") algorithm = "cbs";
  return json_toml(json);
}

// A basic string has the escapes of JSON, and may not contain DEL (TOML 1.0).
std::string toml_string(std::string_view text) {
  std::string out;
  for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == 0x7f) out += "\\u007f";
    else out += c;
  return out;
}

}  // namespace fabric
