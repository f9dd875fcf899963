// SPDX-License-Identifier: Apache-2.0
#include "policy/correction.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/find.h"
#include "base/ip.h"
#include "base/parse.h"
#include "nic/capabilities.h"
#include "policy/policy.h"
#include "policy/span.h"

namespace fabric::config {
namespace {

constexpr size_t kMostLetters = 1'000;  // a longer value is not what a person typed
constexpr size_t kMostReadings = 16;

// The node as JSON; null if it is too large or a date.
Json json_of(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    if (text->get().size() > kMostLetters) return {};
    return text->get();
  }
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* list = node.as_array()) {
    if (list->size() > kMostLetters) return {};
    Json out = Json::array();
    for (const toml::node& each : *list) out.push_back(json_of(each));
    return out;
  }
  if (const auto* table = node.as_table()) {
    Json out = Json::object();
    for (auto&& [key, value] : *table) out[std::string(key.str())] = json_of(value);
    return out;
  }
  return {};
}

// The text of a string or number, without white space around it; empty for other values.
std::string text_of(const Json& written) {
  if (written.is_string()) return std::string(trim(written.get_ref<const std::string&>()));
  if (written.is_number()) return written.dump();
  return {};
}

// The letters and digits of the text, in lower case: "RoCE v2" and "rocev2" are the same word.
std::string folded(std::string_view text) {
  std::string out = lower(text);
  std::erase_if(out, [](char letter) { return !is_digit(letter) && (letter < 'a' || letter > 'z'); });
  return out;
}

// The parts of a text that has several elements: "3,4", "[3 4]", "26:3; 48:6".
std::vector<std::string> parts_of(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && (text.front() == '[' || text.front() == '{') && text.back() == text.front() + 2)
    text = text.substr(1, text.size() - 2);
  std::string blanks(text);
  std::ranges::replace_if(
      blanks, [](char letter) { return letter == ',' || letter == ';'; }, ' ');
  std::vector<std::string> out;
  for (const std::string_view word : words(blanks)) {
    const size_t from = word.find_first_not_of("\"'"), to = word.find_last_not_of("\"'");
    if (from != std::string_view::npos) out.emplace_back(word.substr(from, to - from + 1));
  }
  return out;
}

// The only reading of the value; null if there is none, or if there are several.
Json only(const Values& readings) {
  if (readings.size() != 1) return {};
  return readings.front();
}

// ---- DSCPs: RFC 2474 (CS), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (voice admit), RFC 8622 (lower effort)

std::optional<int> named_dscp(const std::string& name) {
  if (name == "ef") return 46;
  if (name == "be" || name == "default" || name == "df") return 0;
  if (name == "va" || name == "voiceadmit") return 44;
  if (name == "le") return 1;
  if (name.size() == 3 && name.starts_with("cs") && name[2] >= '0' && name[2] <= '7') return (name[2] - '0') * 8;
  if (name.size() == 4 && name.starts_with("af") && name[2] >= '1' && name[2] <= '4' && name[3] >= '1' &&
      name[3] <= '3')
    return (name[2] - '0') * 8 + (name[3] - '0') * 2;
  return std::nullopt;
}

// ---- numbers

// Spellings of the units of the settings' rows, in lower case, as multiples of the unit.
struct UnitNames {
  std::string_view unit, names;
  double factor;
};
constexpr UnitNames kUnitNames[] = {
    {"", "k", 1e3},
    {"", "k", 1024},
    {"bytes", "b|byte|bytes", 1},
    {"bytes", "k|kb", 1e3},
    {"bytes", "k|kb|kib", 1024},
    {"bytes", "m|mib", 1048576},
    {"m", "m|meter|meters|metre|metres", 1},
    {"m", "cm", 0.01},
    {"m", "km", 1e3},
    {"us", "us|usec|usecs|microseconds", 1},
    {"us", "ms", 1e3},
    {"ms", "ms|msec|milliseconds", 1},
    {"ms", "s|sec", 1e3},
    {"ms", "us", 1e-3},
    {"Mb/s", "m|mb/s|mbps|mbit|mbit/s", 1},
    {"Mb/s", "g|gb/s|gbps|gbit|gbit/s", 1e3},
    {"kbit/s", "kbit|kbit/s|kbps", 1},
    {"kbit/s", "m|mbit|mbit/s|mbps|mb/s", 1e3},
    {"kbit/s", "g|gbit|gbit/s|gbps|gb/s", 1e6},
    {"%", "%|percent", 1},
    {"/1024", "/1024", 1},
};

// "9,000", "1,048,576 bytes".
bool has_grouped_thousands(std::string_view text) {
  constexpr size_t kGroup = 3;
  const std::string_view number = text.substr(0, text.find_first_not_of("0123456789,"));
  const auto groups = split(number, ',');
  if (groups.size() < 2 || groups.front().empty() || groups.front().size() > kGroup || groups.front() == "0")
    return false;
  return std::all_of(groups.begin() + 1, groups.end(), [](std::string_view each) { return each.size() == kGroup; });
}

// A number and the text after it: "400 Gb/s" is 400 and "Gb/s".
struct Quantity {
  double number = 0;
  std::string unit;
};
std::optional<Quantity> quantity_of(std::string text) {
  if (const size_t open = text.find('('); open != std::string::npos && text.ends_with(')')) {
    // The name of a DSCP and a number in hexadecimal are remarks, "48 (CS6)", "106 (0x6a)"; other words may be the
    // unit, "5 (km)".
    const std::string inner = text.substr(open + 1, text.size() - open - 2);
    text.resize(open);
    if (!named_dscp(lower(inner)) && !inner.starts_with("0x")) text += inner;
  }
  text = std::string(trim(text));
  if (const std::string small = lower(text); small.starts_with("0x")) {
    const auto number = parse_number<uint32_t>(small, 16);
    if (!number) return std::nullopt;
    return Quantity{static_cast<double>(*number), {}};
  }
  if (has_grouped_thousands(text)) std::erase(text, ',');
  const size_t end = std::min(text.find_first_not_of("+-0123456789._"), text.size());
  std::string digits = text.substr(0, end);
  std::erase(digits, '_');
  if (digits.starts_with('+')) digits.erase(0, 1);
  const auto number = parse_double(digits);
  if (!number) return std::nullopt;
  return Quantity{*number, std::string(trim(std::string_view(text).substr(end)))};
}

void add_integer(double number, Values& out) {
  constexpr double kMost = 1e15;
  // 0.01 has no exact double: 500 cm are 5 m.
  const double whole = std::round(number);
  if (std::abs(number - whole) > 1e-9 || std::abs(whole) > kMost) return;
  const Json value = static_cast<int64_t>(whole);
  if (!contains(out, value)) out.push_back(value);
}

// ---- lists of numbers

// The numbers of a list, or of a text that is one: "0,0,0,1"; nullopt if one of them is not a number.
std::optional<std::vector<int64_t>> numbers_of(const Json& written, std::string_view unit = {}) {
  std::vector<Json> elements;
  if (written.is_string())
    for (std::string& part : parts_of(text_of(written))) elements.emplace_back(std::move(part));
  else if (written.is_array()) elements.assign(written.begin(), written.end());
  else elements.push_back(written);
  std::vector<int64_t> out;
  for (const Json& element : elements) {
    Json number = element;
    if (number.is_boolean()) number = element.get<bool>() ? 1 : 0;
    if (!number.is_number_integer()) number = only(integers(element, unit));
    if (!number.is_number_integer()) return std::nullopt;
    out.push_back(number.get<int64_t>());
  }
  return out;
}

// A text with ':' and no blanks between the two parts of a pair: "26 -> 3" is "26:3", "3 = on" is "3:on".
std::string plain_pairs(std::string text) {
  for (const auto& [sign, plain] :
       {std::pair("->", ":"), std::pair("=>", ":"), std::pair("=", ":"), std::pair(" :", ":"), std::pair(": ", ":")})
    for (size_t at = text.find(sign); at != std::string::npos; at = text.find(sign))
      text.replace(at, std::string_view(sign).size(), plain);
  return text;
}

// Values by number, as dcb(8) prints them: "0:off 3:on", "26:3 48:6".
using Pairs = std::vector<std::pair<std::string, std::string>>;
std::optional<Pairs> pairs_of(const Json& written) {
  std::vector<std::string> parts;
  if (written.is_string()) parts = parts_of(plain_pairs(text_of(written)));
  else if (written.is_array())
    for (const Json& element : written) parts.push_back(plain_pairs(text_of(element)));
  Pairs out;
  for (const std::string& part : parts) {
    const size_t sign = part.find(':');
    if (sign == std::string::npos || sign == 0 || sign + 1 == part.size()) return std::nullopt;
    out.emplace_back(part.substr(0, sign), part.substr(sign + 1));
  }
  if (out.empty()) return std::nullopt;
  return out;
}

// The values of "0:ets 1:ets 2:strict" in the order of their numbers, which count from 0; nullopt: it is not of this
// form.
std::optional<Json> in_order(const Json& written) {
  const auto pairs = pairs_of(written);
  if (!pairs) return std::nullopt;
  std::vector<Json> out(pairs->size());
  for (const auto& [key, value] : *pairs) {
    const auto index = parse_number<size_t>(key);
    if (!index || *index >= out.size() || !out[*index].is_null()) return std::nullopt;
    out[*index] = value;
  }
  return std::make_optional<Json>(out);
}

Values number_lists(const Json& written, std::string_view unit = {}) {
  if (const auto ordered = in_order(written)) return number_lists(*ordered, unit);
  if (!written.is_array() && !written.is_string()) return {};
  const auto numbers = numbers_of(written, unit);
  if (!numbers) return {};
  return {*numbers};
}

// ---- the kinds of a port's settings

// Priorities without the word for them, and with commas between them: "prio3 and prio4" is "3,4".
std::string bare_priorities(const std::string& written) {
  std::string text = lower(trim(written));
  for (const char sign : {'+', '/', '&'}) std::ranges::replace(text, sign, ',');
  std::string out;
  for (const std::string& part : parts_of(text)) {
    std::string_view word = part;
    for (const std::string_view head : {"priorities", "priority", "prios", "prio", "cos", "pcp", "p"})
      if (word.starts_with(head)) {
        word.remove_prefix(head.size());
        break;
      }
    if (!word.empty() && word != "and") append_item(out, word, ",");
  }
  if (out.find_first_not_of("0123456789,") != std::string::npos) return written;
  return out;
}

Json bare_priorities_of(const Json& written) {
  if (written.is_string()) return bare_priorities(written.get_ref<const std::string&>());
  if (!written.is_array()) return written;
  Json out = Json::array();
  for (const Json& each : written)
    out.push_back(each.is_string() ? Json(bare_priorities(each.get_ref<const std::string&>())) : each);
  return out;
}

Values readings(const PrioSet*, const Setting&, const Json& as_written) {
  if (as_written == false) return {Json::array()};
  const Json written = bare_priorities_of(as_written);
  if (written.is_object()) {  // { 3 = true }
    Json out = Json::array();
    for (const auto& [prio, value] : written.items()) {
      const Json on = only(switches(value)), number = only(integers(prio));
      if (!on.is_boolean() || !number.is_number_integer()) return {};
      if (on.get<bool>()) out.push_back(number);
    }
    return {out};
  }
  std::vector<int64_t> out;
  const std::string word = folded(text_of(written));
  if (written.is_string() && has_word("none|off|disable|disabled|no|false", word)) return {Json::array()};
  if (word == "all") return {{0, 1, 2, 3, 4, 5, 6, 7}};
  if (const auto pairs = pairs_of(written)) {  // as dcb(8): "all:off 3:on"
    for (const auto& [prio, state] : *pairs) {
      if (state == "off" && (prio == "all" || parse_number<int>(prio))) continue;
      if (state != "on" || !parse_number<int>(prio)) return {};
      out.push_back(*parse_number<int>(prio));
    }
    return {out};
  }
  if (lower(text_of(written)).starts_with("0x")) {  // a bit mask, or one priority in hexadecimal
    const auto mask = parse_number<uint8_t>(text_of(written), 16);
    if (!mask) return {};
    return {to_list(PrioSet{*mask}), {*mask}};
  }
  std::string bits;
  if (written.is_string()) bits = lower(text_of(written));
  if (bits.starts_with("0b")) {
    const auto mask = parse_number<uint8_t>(bits.substr(2), 2);
    if (!mask) return {};
    return {to_list(PrioSet{*mask})};
  }
  if (bits.size() == kPriorities && bits.find_first_not_of("01") == std::string::npos) {
    // A binary number, or a digit for each priority, 0 first.
    const uint8_t mask = parse_number<uint8_t>(bits, 2).value_or(0);
    std::ranges::reverse(bits);
    return {to_list(PrioSet{mask}), to_list(PrioSet{parse_number<uint8_t>(bits, 2).value_or(0)})};
  }
  if (const std::string text = text_of(written);
      text.size() == 3 && text[1] == '-' && is_digit(text[0]) && is_digit(text[2]) && text[0] < text[2]) {  // "3-4"
    for (int prio = text[0] - '0'; prio <= text[2] - '0'; ++prio) out.push_back(prio);
    return {out};
  }
  const auto numbers = numbers_of(written);
  if (!numbers || written.is_boolean() || numbers->empty()) return {};
  const bool is_mask = std::ranges::all_of(*numbers, [](int64_t each) { return each == 0 || each == 1; });
  if (is_mask && numbers->size() == kPriorities) {  // of mlnx_qos --pfc, priority 0 first
    for (int prio = 0; prio < kPriorities; ++prio)
      if ((*numbers)[static_cast<size_t>(prio)] == 1) out.push_back(prio);
    return {out};
  }
  for (const int64_t prio : *numbers)
    if (!contains(out, prio)) out.push_back(prio);
  // A number that is there twice may also mean a position.
  const bool is_repeated = out.size() < numbers->size();
  if (is_repeated && (is_mask || numbers->size() == kPriorities || std::ranges::count(*numbers, 0) > 1)) return {};
  return {out};
}

// "set,26,3 set,48,6", as mlnx_qos --dscp2prio takes it.
std::optional<Pairs> pairs_to_set(const Json& written) {
  Pairs out;
  const std::string text = text_of(written);
  for (const std::string_view part : words(text)) {
    const auto fields = split(part, ',');
    if (fields.size() != 3 || fields.front() != "set") return std::nullopt;
    out.emplace_back(fields[1], fields[2]);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

Values readings(const DscpMap*, const Setting&, const Json& written) {
  Pairs pairs;
  // { dscp = 26, priority = 3 }, or an array of them.
  const auto add_mark = [&pairs](const Json& each) {
    Json mark;
    if (each.is_object()) mark = only(marks(each));
    if (!mark.is_object()) return false;
    pairs.emplace_back(mark["dscp"].dump(), mark["priority"].dump());
    return true;
  };
  if (written.is_object() && !add_mark(written)) {
    for (const auto& [key, value] : written.items()) pairs.emplace_back(key, text_of(value));
  } else if (auto set = pairs_to_set(written)) {
    pairs = std::move(*set);
  } else if (auto found = pairs_of(written)) {
    pairs = std::move(*found);
  } else if (written.is_array()) {
    for (const Json& pair : written)
      if (pair.is_array() && pair.size() == 2) pairs.emplace_back(text_of(pair[0]), text_of(pair[1]));
      else if (!add_mark(pair)) return {};
  } else if (pairs.empty()) {
    return {};
  }
  const auto map_of = [&](bool all_types_of_service) {
    Json out = Json::object();
    for (const auto& [key, value] : pairs) {
      Json dscp = only(dscps(key));
      if (all_types_of_service) {
        dscp = only(integers(key));
        if (dscp.is_number_integer()) dscp = dscp.get<int64_t>() % 4 == 3 ? Json() : Json(dscp.get<int64_t>() / 4);
      }
      const Json prio = only(integers(bare_priorities(value)));
      if (!dscp.is_number_integer() || !prio.is_number_integer() || out.contains(dscp.dump())) return Json();
      out[dscp.dump()] = prio;
    }
    return out;
  };
  Values out{map_of(false)};
  // If one number is a type of service, the other numbers are likely to be types of service as well.
  if (std::ranges::any_of(pairs, [](const auto& each) { return parse_number<int>(each.first).value_or(0) > 63; }))
    if (Json all = map_of(true); all != out.front()) out.push_back(std::move(all));
  return out;
}

Values readings(const Ets*, const Setting&, const Json& written) {
  if (!written.is_object()) return {};
  constexpr std::string_view kNames[] = {"prio_tc", "tsa", "bw"}, kAlgorithms[] = {"strict", "ets"};
  constexpr OtherNames kOtherNames[] = {
      {"bw", "tcbw|bandwidth|weight"}, {"prio_tc", "prio2tc|up2tc|priotc"}, {"tsa", "tctsa"}};
  constexpr OtherNames kOtherAlgorithms[] = {{"strict", "sp"}, {"ets", "wrr|dwrr"}};
  Json out = Json::object();
  for (const auto& [name, value] : written.items()) {
    const Json key = only(known_words(name, kNames, kOtherNames));
    if (!key.is_string() || out.contains(key.get<std::string>())) return {};
    Values member;
    if (key == "tsa")
      member = lists(
          in_order(value).value_or(value),
          [&](const Json& each) { return known_words(each, kAlgorithms, kOtherAlgorithms); }, Repeats::kept);
    else if (key == "bw") member = number_lists(value, "%");
    else member = number_lists(value);
    out[key.get<std::string>()] = only(member);
  }
  // A strict class has no share of the bandwidth.
  for (size_t tc = 0; tc < out.value("bw", Json()).size() && tc < out.value("tsa", Json()).size(); ++tc)
    if (out["tsa"][tc] == "strict") out["bw"][tc] = 0;
  return {out};
}

Values readings(const Eight*, const Setting&, const Json& written) { return number_lists(written); }
Values readings(const Buffers*, const Setting&, const Json& written) {
  if (folded(text_of(written)).starts_with("auto")) return {"auto"};
  return number_lists(written, "bytes");
}
Values readings(const Rates*, const Setting&, const Json& written) { return number_lists(written, "kbit/s"); }

Values readings(const Pause*, const Setting&, const Json& written) {
  bool rx = written == true, tx = rx;
  if (written.is_object()) {
    for (const auto& [key, value] : written.items()) {
      const Json on = only(switches(value));
      if (!on.is_boolean() || (key != "rx" && key != "tx")) return {};
      (key == "rx" ? rx : tx) = on.get<bool>();
    }
    return {to_text(Pause{rx, tx})};
  }
  if (written.is_boolean()) return {to_text(Pause{rx, tx})};
  std::string text = text_of(written);
  if (written.is_array())
    for (const Json& each : written) append_item(text, text_of(each), " ");
  std::string word = folded(text);
  for (const std::string_view head : {"autonegoff", "autonegon"})  // of ethtool -A
    if (word.starts_with(head)) word.erase(0, head.size());
  if (word == "rxontxon" || word == "rxtx" || word == "txrx" || word == "both" || word == "on" || word == "enabled" ||
      word == "enable" || word == "yes" || word == "true")
    return {"rx,tx"};
  if (word == "rxofftxoff" || word == "off" || word == "none" || word == "disabled" || word == "disable" ||
      word == "no" || word == "false" || word == "0")
    return {"off"};
  if (word == "rx" || word == "rxon" || word == "rxontxoff") return {"rx"};
  if (word == "tx" || word == "txon" || word == "rxofftxon") return {"tx"};
  return {};
}

Values readings(const Fec*, const Setting&, const Json& written) {
  constexpr std::string_view kWords[] = {"auto", "off", "rs", "baser", "llrs"};
  constexpr OtherNames kOthers[] = {{"off", "none|disabled"},
                                    {"rs",
                                     "rsfec|rs528|rs544|rs528514|rs544514|reedsolomon|rsfec528|rsfec544|cl91|clause91|"
                                     "cl108|clause108|cl134|clause134|kr4|kp4|kr4fec|kp4fec"},
                                    {"baser", "fc|fcfec|firecode|cl74|clause74"},
                                    {"llrs", "llrsfec|lowlatencyrs"}};
  if (written == false) return {"off"};
  if (lower(text_of(written)) == "rs(544,514)" || lower(text_of(written)) == "rs(528,514)") return {"rs"};
  if (const Values one = known_words(written, kWords, kOthers); !one.empty()) return one;
  return lists(written, [&](const Json& each) { return known_words(each, kWords, kOthers); });
}

Values readings(const AppTrust*, const Setting&, const Json& written) {
  constexpr std::string_view kWords[] = {"dscp", "pcp"};
  return lists(written, [&](const Json& each) { return known_words(each, kWords); });
}

Values readings(const Names*, const Setting&, const Json& written) {
  const std::string text = text_of(written);
  if (text == "*" || lower(text) == "all" || written == Json{"*"}) return {"all"};
  if (text.empty() && written.is_string()) return {};
  if (numbers_of(written)) return {};  // no name is a number
  Values out = lists(written, texts);
  if (lower(text) == "none" || lower(text) == "off") out.push_back(Json::array());
  return out;
}

Values readings(const bool*, const Setting&, const Json& written) { return switches(written); }

// DSCP x 4 + ECN. Both ECN bits mark a packet as congested (RFC 3168), so that only ECT(0) can have been meant.
Values types_of_service(const Json& written) {
  Values out = integers(written);
  for (Json& each : out)
    if (const auto tos = each.get<int64_t>(); tos > 3 && tos <= UINT8_MAX && tos % 4 == 3) each = tos - 1;
  // The value may or may not have ECN bits: not certain.
  if (const auto dscp = named_dscp(folded(text_of(written)))) out = {*dscp * 4, *dscp * 4 + 2};
  return out;
}

Values readings(const uint32_t*, const Setting& setting, const Json& written) {
  if (setting.id == SettingId::cnp_dscp || setting.id == SettingId::roce_dscp) return dscps(written);
  if (setting.id == SettingId::roce_tos) return types_of_service(written);
  if (setting.id == SettingId::pfc_watchdog)
    if (const Values on = switches(written); on == Values{false}) return {0};
  return integers(written, setting.unit);
}

Values readings(const OrNone*, const Setting& setting, const Json& written) {
  if (lower(text_of(written)) == "none") return {"none"};
  if (setting.id == SettingId::rtt_resp_dscp) return dscps(written);
  if (setting.id == SettingId::traffic_class) return types_of_service(written);
  if (setting.id == SettingId::cnp_prio) return integers(bare_priorities_of(written));
  return integers(written, setting.unit);
}

template <HasWords Enum>
Values readings(const Enum*, const Setting& setting, const Json& written) {
  static constexpr OtherNames kOthers[] = {{"host", "os|software|oscontrolled|hostcontrolled|sw"},
                                           {"firmware", "fw|firmwarecontrolled|fwcontrolled"},
                                           {"dscp", "l3|ipdscp|trustdscp"},
                                           {"pcp", "trustpcp|vlanpcp|l2|8021p|cos"},
                                           {"v2", "rocev2|roce2|2"},
                                           {"v1", "rocev1|roce1|ibrocev1|1"}};
  (void)setting;
  return known_words(written, kEnumWords<Enum>, kOthers);
}

// ---- patterns

// "ens{1,2}np0" is ["ens1np0", "ens2np0"]: glob(7) does not expand braces.
void expand_braces(const std::string& pattern, std::vector<std::string>& out) {
  const size_t open = pattern.find('{'), close = pattern.find('}', open);
  if (open == std::string::npos || close == std::string::npos || out.size() > kMostReadings)
    return out.push_back(pattern);
  const std::string_view inside = std::string_view(pattern).substr(open + 1, close - open - 1);
  std::vector<std::string> choices;
  if (const size_t dots = inside.find(".."); dots != std::string_view::npos) {  // {0..3}
    const auto from = parse_number<unsigned>(inside.substr(0, dots)),
               to = parse_number<unsigned>(inside.substr(dots + 2));
    if (!from || !to || *from > *to || *to - *from >= kMostReadings) return out.push_back(pattern);
    for (unsigned number = *from; number <= *to; ++number) choices.push_back(std::to_string(number));
  } else {
    for (const std::string_view choice : split(inside, ',')) choices.emplace_back(choice);
  }
  for (const std::string& choice : choices)
    expand_braces(pattern.substr(0, open) + choice + pattern.substr(close + 1), out);
}

bool has_list(std::string_view text) {
  size_t depth = 0;
  for (const char letter : text) {
    if (letter == '{') ++depth;
    if (letter == '}' && depth > 0) --depth;
    if (depth == 0 && (letter == ',' || letter == ';' || letter == ' ')) return true;
  }
  return text.find('{') != std::string_view::npos;
}

}  // namespace

Values integers(const Json& written, std::string_view unit) {
  Values out;
  if (written.is_array() && written.size() == 1) return integers(written[0], unit);
  if (written.is_number()) {
    add_integer(written.get<double>(), out);
    return out;
  }
  const auto quantity = quantity_of(text_of(written));
  if (!quantity) return out;
  const std::string name = lower(quantity->unit);
  if (name.empty()) add_integer(quantity->number, out);
  // Bytes a second are not bits a second.
  if (quantity->unit.find("B/s") != std::string::npos || quantity->unit.ends_with("Bps")) return {};
  for (const UnitNames& row : kUnitNames)
    if (row.unit == unit && has_word(row.names, name)) add_integer(quantity->number * row.factor, out);
  // "9k" may also mean an MTU of 9216, the jumbo frame of switches.
  if (unit == "bytes" && name.starts_with('k') && quantity->number == 9) out.emplace_back(9'216);
  return out;
}

Values switches(const Json& written) {
  constexpr std::string_view kOn[] = {"true", "on", "yes", "1", "enable", "enabled"};
  constexpr std::string_view kOff[] = {"false", "off", "no", "0", "disable", "disabled"};
  if (written.is_boolean()) return {written};
  const std::string word = lower(text_of(written));
  if (contains(kOn, word)) return {true};
  if (contains(kOff, word)) return {false};
  return {};
}

Values dscps(const Json& written) {
  std::string name = folded(text_of(written));
  if (const auto dscp = named_dscp(name)) return {*dscp};
  if (name.starts_with("dscp")) return dscps(Json(name.substr(4)));
  Values out = integers(written);
  for (Json& each : out)
    if (const auto tos = each.get<int64_t>(); tos > 63 && tos <= UINT8_MAX && tos % 4 != 3) each = tos / 4;
  return out;
}

Values texts(const Json& written) {
  if (written.is_string()) {
    const auto& text = written.get_ref<const std::string&>();
    Values out{text};
    if (const std::string bare = text_of(written); bare != text) out.emplace_back(bare);
    return out;
  }
  if (written.is_number_integer()) return {written.dump()};
  if (written.is_array() && written.size() == 1) return texts(written[0]);
  return {};
}

Values name_maps(const Json& written) {
  if (!written.is_object()) return {};
  Json out = Json::object();
  for (const auto& [key, value] : written.items()) out[key] = only(texts(value));
  return {out};
}

Values known_words(const Json& written, std::span<const std::string_view> known, std::span<const OtherNames> others) {
  constexpr size_t kLeast = 4;  // "no" is near "now"
  if (written.is_array() && written.size() == 1) return known_words(written[0], known, others);
  const std::string text = text_of(written), word = folded(text);
  if (word.empty() || text.find_first_of(",;|+") != std::string::npos) return {};
  for (const std::string_view each : known)
    if (folded(each) == word) return {each};
  for (const OtherNames& each : others)
    if (has_word(each.names, word) && contains(known, each.word)) return {each.word};
  if (text.find(' ') != std::string::npos) return {};  // "auto rs" is not a misspelled "auto"
  Values nearest;
  size_t least = 2;
  for (const std::string_view each : known) {
    const size_t distance = edit_distance(word, folded(each));
    // A different beginning is often the opposite: "mapped" and "unmapped".
    if (word.size() < kLeast || each.size() < kLeast || word.front() != each.front() || distance > least ||
        distance * 3 > std::max(word.size(), each.size()))
      continue;
    if (distance < least) nearest.clear();
    least = distance;
    nearest.emplace_back(each);
  }
  return nearest;
}

Values lists(const Json& written, const std::function<Values(const Json& element)>& element, Repeats repeats) {
  std::vector<Json> elements;
  const auto add = [&](const Json& each) {
    std::vector<std::string> parts;
    if (each.is_string() && has_list(each.get_ref<const std::string&>())) {
      const std::string text = text_of(each);
      if (text.find('{') == std::string::npos) parts = parts_of(text);
      else if (std::string_view(text).find_first_of("; ") == std::string_view::npos) expand_braces(text, parts);
    }
    if (parts.empty()) elements.push_back(each);
    for (std::string& part : parts) elements.emplace_back(std::move(part));
  };
  if (written.is_array())
    for (const Json& each : written) add(each);
  else add(written);
  Json out = Json::array();
  for (const Json& each : elements) {
    const Json value = only(element(each));
    if (value.is_null()) return {};
    if (repeats == Repeats::kept || !contains(out, value)) out.push_back(value);
  }
  if (out.empty()) return {};
  return {out};
}

Values spans(const Json& written, bool has_never) {
  if (written.is_array() && written.size() == 1) return spans(written[0], has_never);
  const std::string text = lower(text_of(written));
  if (has_never && (written == false || text == "off" || text == "never" || text == "none")) return {0};
  std::string normal = text;
  for (const auto& [name, unit] : {std::pair("secs", "s"), std::pair("mins", "min"), std::pair("hrs", "h"),
                                   std::pair("msecs", "ms"), std::pair("milliseconds", "ms")})
    if (normal.ends_with(name) && !normal.ends_with(std::string("m") + name))
      normal.replace(normal.size() - std::string_view(name).size(), std::string::npos, unit);
  if (const auto span = parse_span(normal)) return {span_text(*span)};
  // A fraction of one unit: "1.5h".
  const auto quantity = quantity_of(normal);
  if (!quantity || quantity->number < 0 || quantity->number > 1e6) return {};
  const auto unit = parse_span("1" + quantity->unit);
  if (!unit) return {};
  const double exact = quantity->number * static_cast<double>(unit->count());
  if (std::abs(exact - std::round(exact)) > 1e-6 || exact < 1) return {};
  return {span_text(std::chrono::milliseconds(static_cast<int64_t>(std::round(exact))))};
}

// "Saturday 2:00-4:00", "02:00-04:00", "Mon..Fri 23:00 - 01:00".
Values windows(const Json& written) {
  constexpr std::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  std::string text = text_of(written);
  for (const auto& [sign, plain] :
       {std::pair("..", "-"), std::pair("\u2013", "-"), std::pair(" - ", "-"), std::pair(", ", ",")})
    for (size_t at = text.find(sign); at != std::string::npos; at = text.find(sign))
      text.replace(at, std::string_view(sign).size(), plain);
  const auto parts = words(text);
  if (parts.empty() || parts.size() > 2) return {};
  std::string days;
  if (parts.size() == 1) days = "daily";
  else {
    std::string name;
    const auto close = [&]() -> bool {
      const std::string small = lower(name);
      name.clear();
      if (small == "daily" || small == "everyday" || small == "*") return days.append("daily"), true;
      if (small == "weekdays" || small == "weekday") return days.append("Mon-Fri"), true;
      if (small == "weekend" || small == "weekends") return days.append("Sat,Sun"), true;
      for (const std::string_view day : kDays)
        if (small.starts_with(day) &&
            (small.size() == 3 || small.ends_with("day") || small.ends_with("days") || small.size() == 4)) {
          days += static_cast<char>(day[0] - 'a' + 'A');
          days += day.substr(1);
          return true;
        }
      return false;
    };
    for (const char letter : parts[0]) {
      if (letter != ',' && letter != '-') {
        name += letter;
        continue;
      }
      if (!close()) return {};
      days += letter;
    }
    if (!close()) return {};
  }
  std::string times;
  for (const std::string_view time : split(parts.back(), '-')) {
    const auto clock = split(time, ':');
    const auto hour = parse_number<unsigned>(clock.front());
    if (!hour || clock.size() > 2 || (clock.size() == 2 && clock[1].size() != 2)) return {};
    std::string hours = std::to_string(*hour);
    if (hours.size() == 1) hours.insert(0, "0");
    append_item(times, hours + ":" + (clock.size() == 2 ? std::string(clock[1]) : "00"), "-");
  }
  const std::string window = days + " " + times;
  if (!parse_window(window)) return {};
  return {window};
}

// The speeds of Ethernet and InfiniBand in Gb/s: a smaller number than 1000 is one of them.
Values speeds(const Json& written) {
  constexpr double kEthernet[] = {1, 2.5, 5, 10, 25, 40, 50, 56, 100, 200, 400, 800, 1600, 3200};
  if (written.is_array() && written.size() == 1) return speeds(written[0]);
  const auto quantity = quantity_of(text_of(written));
  if (!quantity || quantity->unit.find('B') != std::string::npos) return {};
  std::string unit = lower(quantity->unit);
  for (const std::string_view end : {"/s", "ps", "it", "e", "b"})
    if (unit.ends_with(end)) unit.resize(unit.size() - end.size());
  double gigabits = 0;
  if (unit == "t") gigabits = quantity->number * 1'000;
  else if (unit == "g") gigabits = quantity->number;
  else if (unit == "m") gigabits = quantity->number / 1'000;
  else if (unit.empty() && contains(kEthernet, quantity->number)) gigabits = quantity->number;
  else if (unit.empty() && quantity->number >= 1'000) gigabits = quantity->number / 1'000;
  if (!contains(kEthernet, gigabits)) return {};
  if (gigabits == 2.5) return {"2.5G"};
  return {std::to_string(static_cast<int>(gigabits)) + "G"};
}

// "1a:00.0", "00000000:1A:00.0" as of nvidia-smi, "0000:1a:00", "pci@0000:1a:00.0", "0000:1a:00:0".
Values pci_addresses(const Json& written) {
  std::string text = lower(text_of(written));
  for (const std::string_view head : {"pci@", "pci:", "pci-", "0x"})
    if (text.starts_with(head)) text.erase(0, head.size());
  if (text.find_first_not_of("0123456789abcdef:.*?[]!-") != std::string::npos || text.ends_with(':')) return {};
  auto parts = split(text, ':');
  std::string address;
  const auto add = [&](std::string_view part) { append_item(address, part, ":"); };
  const bool has_domain = parts.front().size() >= 4 || parts.front() == "*";
  if (!has_domain) add("0000");
  if (parts.size() == 4) {  // domain:bus:device:function
    add(parts[0]), add(parts[1]), add(parts[2]);
    return {address + "." + std::string(parts[3])};
  }
  if (parts.size() > 3) return {};
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (i == 0 && has_domain)
      while (part.size() > 4 && part.front() == '0') part.remove_prefix(1);
    add(part);
  }
  const bool is_pattern = text.find_first_of("*?[") != std::string::npos;
  if (!is_pattern && std::ranges::count(address, ':') == 2 && address.find('.') == std::string::npos)
    address += ".*";  // a device: all its functions
  return {address};
}

// "[15b3:1021]" as lspci prints it, "0x15b3:0x1021", "15b3".
Values pci_ids(const Json& written) {
  std::string text = lower(text_of(written));
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::ranges::replace(text, ',', ':');
  for (size_t at = text.find("0x"); at != std::string::npos; at = text.find("0x")) text.erase(at, 2);
  if (text.size() == 9 && (text[4] == '-' || text[4] == '/' || text[4] == '.')) text[4] = ':';
  if (text.size() != 4) return {text};
  const auto number = parse_number<uint16_t>(text, 16);  // of a vendor, or of a device
  if (!number || !contains(nic_vendors(), *number, &NicVendor::id)) return {};
  return {text + ":*"};
}

// "mlx5_0/1", as rdma(8) prints it, is the device of a port.
Values device_names(const Json& written) {
  std::string text = text_of(written);
  if (constexpr std::string_view kClass = "/sys/class/infiniband/"; text.starts_with(kClass))
    text.erase(0, kClass.size());
  const size_t slash = text.find('/');
  if (text.empty() || (slash != std::string::npos && !parse_number<unsigned>(text.substr(slash + 1)))) return {};
  return {text.substr(0, slash)};
}

Values netdev_names(const Json& written) {
  std::string text = text_of(written);
  if (constexpr std::string_view kClass = "/sys/class/net/"; text.starts_with(kClass))
    return {text.substr(kClass.size())};
  const size_t at = text.rfind('@');
  if (at == std::string::npos || at + 1 == text.size()) return texts(written);
  return {text.substr(at + 1)};
}

// "10479", ":10479" and "*:10479" are all addresses, of both families.
Values listen_addresses(const Json& written) {
  std::string text = lower(text_of(written));
  for (const std::string_view head : {"http://", "https://"})
    if (text.starts_with(head)) text.erase(0, head.size());
  text.resize(std::min(text.find('/'), text.size()));
  if (parse_ip(text) && text.find(':') == std::string::npos) text += ":10479";  // the default
  const size_t colon = text.rfind(':');
  const std::string port = text.substr(colon == std::string::npos ? 0 : colon + 1);
  if (!parse_number<uint16_t>(port)) return {};
  const std::string host = colon == std::string::npos ? "" : text.substr(0, colon);
  if (host.empty() || host == "*") return {Json{"0.0.0.0:" + port, "[::]:" + port}};
  if (host == "localhost") return {Json{"127.0.0.1:" + port, "[::1]:" + port}};
  if (std::ranges::count(host, ':') > 1 && !host.starts_with('[')) return {"[" + host + "]:" + port};
  return {host + ":" + port};
}

Values shares(const Json& written) {
  const auto quantity = quantity_of(text_of(written));
  if (!quantity || (!quantity->unit.empty() && quantity->unit != "%" && lower(quantity->unit) != "percent")) return {};
  std::string number = Json(quantity->number).dump();
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return {number + "%"};
}

Values marks(const Json& written) {
  if (lower(text_of(written)) == "none") return {"none"};
  Json dscp, priority;
  if (const auto pairs = pairs_of(written); pairs && pairs->size() == 1) {
    dscp = pairs->front().first;
    priority = pairs->front().second;
  } else if (written.is_object() && written.size() == 2) {
    constexpr std::string_view kNames[] = {"dscp", "priority"};
    constexpr OtherNames kOthers[] = {{"priority", "prio|pcp"}, {"dscp", "tos"}};
    for (const auto& [name, value] : written.items()) {
      const Json key = only(known_words(name, kNames, kOthers));
      if (key == "dscp") dscp = value;
      if (key == "priority") priority = value;
      // A type of service is a DSCP x 4 also if it is a small number.
      if (folded(name) == "tos" && value.is_number_integer()) dscp = value.get<int64_t>() / 4;
    }
  }
  const Json number = only(dscps(dscp)), class_ = only(integers(priority));
  if (number.is_null() || class_.is_null()) return {};
  return {Json{{"dscp", number}, {"priority", class_}}};
}

Values fabric_kinds(const Json& written) {
  constexpr OtherNames kOthers[] = {{"scheduled", "ddc|dsf|scheduledethernet|scheduledfabric"},
                                    {"lossless", "losslessethernet|losslessroce|losslessfabric|nodrop"},
                                    {"lossy", "lossyethernet|lossyroce|lossyfabric"}};
  return known_words(written, kEnumWords<FabricKind>, kOthers);
}

Values fabrics(const Json& written) {
  constexpr std::string_view kNames[] = {"kind", "adaptive_routing", "spraying"};
  constexpr OtherNames kOthers[] = {{"kind", "type"}, {"adaptive_routing", "ar"}, {"spraying", "spray"}};
  if (const Json kind = only(fabric_kinds(written)); kind.is_string()) return {Json{{"kind", kind}}};
  if (!written.is_object() || written.empty()) return {};
  Json out = Json::object();
  for (const auto& [name, value] : written.items()) {
    if (contains(kEnumWords<FabricKind>, name) && switches(value) == Values{true} &&
        !out.contains("kind")) {  // { lossless = true }
      out["kind"] = name;
      continue;
    }
    const Json key = only(known_words(name, kNames, kOthers));
    if (!key.is_string() || out.contains(key.get<std::string>())) return {};
    out[key.get<std::string>()] = only(key == "kind" ? fabric_kinds(value) : switches(value));
  }
  return {out};
}

Values limits(const Json& written) {
  const std::string text = lower(text_of(written));
  if (written == false || text == "off" || text == "none" || text == "never" || text == "disabled") return {"never"};
  if (written.is_array() && written.size() == 1) return limits(written[0]);
  if (written.is_string())
    if (const auto number = parse_double(text)) {
      Values out;
      add_integer(*number, out);
      if (out.empty()) out.emplace_back(*number);
      return out;
    }
  return {};
}

Values setting_values(const Setting& setting, const Json& written) {
  return std::visit(
      [&](auto member) {
        using Value = std::decay_t<decltype(*(Qos().*member))>;
        const Value* kind = nullptr;
        return readings(kind, setting, written);
      },
      setting.member);
}

std::string_view key_of_others(std::string_view word) {
  // mlnx_qos(1), dcb(8), lldptool(8), ethtool(8), files of OFED (qos/, ecn/, tc/, cma_roce_tos), niccli, cmdlets of
  // Windows (NetQos, NetAdapterQos, Set-NetAdapterAdvancedProperty), the configuration database of SONiC.
  constexpr OtherNames kOthers[] = {
      {"dscp_map", "dscp2prio|dscpprio|dscptoprio|dscptotcmap|dscptotc|dscp2tc|dscptopriority|netqospolicy|ipdscpmap"},
      {"ets", "priotc|prio2tc|up2tc|tsa|tctsa|tcbw|tcbandwidth|tctxbw|etscfg|etsbw|tctoqueuemap|netqostrafficclass"},
      {"pfc", "pfcenable|pfcenabled|priopfc|pfcprio|pfcpriority|netqosflowcontrol|priorityflowcontrol"},
      {"pfc_watchdog", "pfcwd|pfcwatchdogaction|pfcpreventiontout"},
      {"prio2buffer", "tctoprioritygroupmap|priobuffer"},
      {"buffer_size", "buffers"},
      {"cable_length", "cablelen"},
      {"maxrate", "ratelimit|tcmaxrate"},
      {"trust", "truststate|trustmode"},
      {"pause", "flowcontrol|globalpause"},
      {"roce_tos", "cmarocetos|defaultrocetos"},
      {"roce_mode", "cmarocemode|defaultrocemode"},
      {"traffic_class", "globaltclass|tclass|ncclibtc|ucxibtrafficclass|nvshmemibtrafficclass"},
      {"mrrs", "maxreadreq|maxreadrequest"},
      {"fec", "encoding|fecencoding"},
      {"ecn_np", "rocenpenable"},
      {"ecn_rp", "rocerpenable"},
      {"cnp_prio", "cnp8021pprio|cnp802pprio"},
      {"mtu", "jumbopacket"},
      {"ring_rx", "rxring"},
      {"ring_tx", "txring"},
      {"channels", "combined"},
      {"fw_lldp", "fwlldpagent"}};
  const std::string name = folded(word);
  const OtherNames* row = find_where(kOthers, [&](const OtherNames& each) { return has_word(each.names, name); });
  return row == nullptr ? std::string_view() : row->word;
}

// The value after a name of its key, as options, variables and the output of other programs have it: "--pfc 0,0,0,1",
// "--dscp2prio='set,26,3'", "tclass=106", "combined 32". Empty: there is none.
static std::string value_after_name(std::string_view key, std::string_view text) {
  for (const char sign : {'=', ':', ' '}) {
    const size_t at = text.find(sign);
    if (at == std::string_view::npos) continue;
    const std::string name = folded(text.substr(0, at));
    if (name != folded(key) && key_of_others(name) != key) continue;
    std::string_view value = trim(text.substr(at + 1));
    if (value.size() > 1 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

std::string correction(const Correctable& key, const toml::node& written) {
  std::set<std::string> accepted;
  const auto add_readings = [&](const Json& value) {
    if (!key.read) return;
    for (const Json& reading : key.read(value)) {
      const std::string text = json_toml(reading);
      toml::table table;
      if (reading.is_null() || parse_toml("x = " + text + "\n", table) || key.check(*table.get("x"))) continue;
      accepted.insert(text);
    }
  };
  const Json value = json_of(written);
  add_readings(value);
  if (accepted.empty() && value.is_string())
    if (const std::string bare = value_after_name(key.key, text_of(value)); !bare.empty()) add_readings(bare);
  // The quoted value may be right without the quotes: "2026-12-31", "[3]".
  if (const auto* text = written.as_string();
      accepted.empty() && text != nullptr && text->get().size() < kMostLetters) {
    const std::string bare(trim(text->get()));
    toml::table table;
    if (bare.find_first_of("\n\r#") == std::string::npos && !parse_toml("x = " + bare + "\n", table) &&
        table.size() == 1 && !key.check(*table.get("x")))
      accepted.insert(bare);
  }
  if (accepted.size() == 1) return "write " + key.key + " = " + *accepted.begin();
  return "for example " + key.key + " = " + key.example;
}

}  // namespace fabric::config
