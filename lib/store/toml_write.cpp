// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/json.h"
#include "base/parse.h"
#include "model/setting_table.h"
#include "store/record.h"
#include "store/toml_words.h"

namespace fabric {
namespace {

template <class Range, class Text>
std::string array_toml(const Range& range, Text&& text) {
  return "[" + joined(range, ", ", text) + "]";
}

std::string in_quotes(std::string_view word) { return "\"" + std::string(word) + "\""; }
std::string number(uint32_t value) { return std::to_string(value); }

std::string kind_toml(Dcbx value) { return in_quotes(word_of<Dcbx>(kDcbx, value)); }
std::string kind_toml(Trust value) { return in_quotes(word_of<Trust>(kTrust, value)); }
std::string kind_toml(const Pause& value) { return in_quotes(word_of<Pause>(kPause, value)); }
std::string kind_toml(uint32_t value) { return number(value); }

std::string kind_toml(bool value) { return value ? "true" : "false"; }
std::string kind_toml(const Eight& value) { return array_toml(value, number); }
std::string kind_toml(const Buffers& value) {
  return value.automatic ? in_quotes("auto") : array_toml(value.bytes, number);
}
std::string kind_toml(const Rates& value) {
  return array_toml(value.kbit, [](uint64_t rate) { return std::to_string(rate); });
}
std::string kind_toml(RoceMode value) { return in_quotes(word_of<RoceMode>(kRoceMode, value)); }
std::string kind_toml(const OrNone& value) { return value.value ? number(*value.value) : in_quotes("none"); }
std::string kind_toml(Fec value) { return array_toml(fec_words(value), in_quotes); }
std::string kind_toml(const AppTrust& value) {
  return array_toml(value.selectors, [](uint8_t selector) { return in_quotes(selector_text(selector)); });
}
std::string kind_toml(const Names& value) {
  if (value.names.contains("*")) return in_quotes("all");
  return array_toml(value.names, [](const std::string& name) { return toml_string(name); });
}

std::string kind_toml(PrioSet value) {
  std::vector<uint8_t> prios;
  for (uint8_t prio = 0; prio < kPriorities; ++prio)
    if (value.has(prio)) prios.push_back(prio);
  return array_toml(prios, number);
}

std::string kind_toml(const DscpMap& value) {
  const auto entry = [](const auto& each) { return number(each.first) + " = " + number(each.second); };
  return value.empty() ? "{}" : "{ " + joined(value, ", ", entry) + " }";
}

std::string kind_toml(const Ets& value) {
  return "{ prio_tc = " + array_toml(value.prio_tc, number) +
         ", tsa = " + array_toml(value.tsa, [](Tsa tsa) { return in_quotes(word_of<Tsa>(kTsa, tsa)); }) +
         ", bw = " + array_toml(value.bw, number) + " }";
}

}  // namespace

std::string setting_toml(const Setting& setting, const Qos& qos) {
  return visit_member(setting, qos, [](const auto& member) { return member ? kind_toml(*member) : std::string{}; });
}

std::string settings_toml(const Qos& qos) {
  std::string out;
  for (const Setting& setting : kSettings) {
    const std::string line = std::string(setting.key) + " = " + setting_toml(setting, qos) + "\n";
    toml::table table;
    Qos again;
    if (has_value(setting, qos) && !parse_toml(line, table) && !read_setting(setting, *table.get(setting.key), again))
      out += line;
  }
  return out;
}

// A finite JSON number is a TOML number.
std::string number_toml(double value) {
  if (!std::isfinite(value)) return {};
  std::string text = Json(value).dump();
  if (text.ends_with(".0")) text.erase(text.size() - 2);
  return text;
}

// A basic string has JSON's escapes, and may not contain DEL (TOML 1.0).
std::string toml_string(std::string_view text) {
  std::string out;
  for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == 0x7f) out += "\\u007f";
    else out += c;
  return out;
}

}  // namespace fabric
