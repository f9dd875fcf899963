// SPDX-License-Identifier: Apache-2.0
#include "setting/value.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/parse.h"
#include "setting/setting_table.h"

namespace fabric {
namespace {

// The classes that a priority maps to. Algorithm and bandwidth of other classes do not matter.
uint8_t used_classes(const Ets& ets) {
  unsigned used = 0;
  for (uint8_t tc : ets.prio_tc)
    if (tc < kPriorities) used |= 1u << tc;
  return static_cast<uint8_t>(used);
}

std::string_view tsa_text(Tsa value) {
  switch (value) {
    case Tsa::strict: return "strict";
    case Tsa::cb_shaper: return "cb-shaper";
    case Tsa::ets: return "ets";
    case Tsa::vendor: return "vendor";
  }
  return "unknown";
}

constexpr std::pair<uint8_t, std::string_view> kFecWords[] = {
    {2, "auto"}, {4, "off"}, {8, "rs"}, {16, "baser"}, {32, "llrs"}};

std::string or_none(std::string text) {
  if (text.empty()) return "none";
  return text;
}

// "0:20480 3:180608": the number of each priority or class, and its text. Omits those with an empty text.
template <class Text>
std::string numbered(Text&& text) {
  std::string out;
  for (size_t i = 0; i < kPriorities; ++i)
    if (const std::string word(text(i)); !word.empty()) append_item(out, std::to_string(i) + ":" + word, " ");
  return out;
}

// {"rx": false, "tx": false}
Json to_json(const Pause& value) { return {{"rx", value.rx}, {"tx", value.tx}}; }

// {"26": 3}
Json to_json(const DscpMap& value) {
  Json out = Json::object();
  for (auto [dscp, prio] : value) out[std::to_string(dscp)] = prio;
  return out;
}

// {"prio_tc": [..8], "tsa": ["ets",..], "bw": [..]}
Json to_json(const Ets& value) {
  Json tsa = Json::array();
  for (Tsa algorithm : value.tsa) tsa.push_back(tsa_text(algorithm));
  return {{"prio_tc", value.prio_tc}, {"tsa", tsa}, {"bw", value.bw}};
}

std::string selector_text(uint8_t selector) {
  if (selector == AppTrust::kDscp) return "dscp";
  if (selector == AppTrust::kPcp) return "pcp";
  return std::to_string(selector);
}

// ["dscp", "pcp"]
Json to_json(const AppTrust& value) {
  Json out = Json::array();
  for (uint8_t selector : value.selectors) out.push_back(selector_text(selector));
  return out;
}

Json to_json(const Buffers& value) {
  if (value.automatic) return "auto";
  return value.bytes;
}
Json to_json(const Rates& value) { return value.kbit; }
Json to_json(const OrNone& value) {
  if (!value.value) return "none";
  return *value.value;
}
Json to_json(Fec value) { return fec_words(value); }
Json to_json(const Names& value) {
  if (value.names.contains("*")) return "all";
  return value.names;
}
template <HasWords Enum>
Json to_json(Enum value) {
  return to_text(value);
}
// A number, true or false, eight numbers.
template <class T>
Json to_json(const T& value) requires(!HasWords<T>) {
  return value;
}

// value_from(): the inverse of to_json(). Throws if the JSON has the wrong form.

uint8_t priority_of(const Json& json) {
  const auto prio = json.get<uint8_t>();
  if (prio >= kPriorities) throw std::range_error("expected a priority from 0 to 7");
  return prio;
}

void value_from(const Json& json, Pause& value) {
  json.at("rx").get_to(value.rx);
  json.at("tx").get_to(value.tx);
}

void value_from(const Json& json, DscpMap& value) {
  for (const auto& [key, prio] : json.items()) {
    const auto dscp = parse_number<uint8_t>(key);
    if (!dscp || *dscp > 63) throw std::range_error("expected a DSCP from 0 to 63");
    value[*dscp] = priority_of(prio);
  }
}

void value_from(const Json& json, Ets& value) {
  for (size_t i = 0; i < kPriorities; ++i) {
    value.prio_tc[i] = priority_of(json.at("prio_tc").at(i));
    json.at("bw").at(i).get_to(value.bw[i]);
    const auto word = json.at("tsa").at(i).get<std::string>();
    constexpr Tsa kAll[]{Tsa::strict, Tsa::cb_shaper, Tsa::ets, Tsa::vendor};
    const auto* tsa = std::ranges::find(kAll, word, tsa_text);
    if (tsa == std::end(kAll)) throw std::range_error("unknown algorithm " + word);
    value.tsa[i] = *tsa;
  }
}

void value_from(const Json& json, AppTrust& value) {
  for (const Json& word : json) {
    const auto selector = parse_selector(word.get<std::string>());
    if (!selector) throw std::range_error("expected \"dscp\" or \"pcp\"");
    value.selectors.push_back(*selector);
  }
}

void value_from(const Json& json, Buffers& value) {
  value.automatic = json == "auto";
  if (!value.automatic) json.get_to(value.bytes);
}

void value_from(const Json& json, Rates& value) { json.get_to(value.kbit); }

void value_from(const Json& json, OrNone& value) {
  if (json != "none") value.value = json.get<uint32_t>();
}

void value_from(const Json& json, Fec& value) {
  for (const Json& word : json) {
    const auto bit = parse_fec_word(word.get<std::string>());
    if (!bit) throw std::range_error("unknown FEC mode");
    value.bits = static_cast<uint8_t>(value.bits | *bit);
  }
}

void value_from(const Json& json, Names& value) {
  if (json == "all") value.names = {"*"};
  else json.get_to(value.names);
}

// A word, a number, true or false, eight numbers.
template <class T>
void value_from(const Json& json, T& value) {
  json.get_to(value);
}

}  // namespace

bool Ets::operator==(const Ets& other) const {
  if (prio_tc != other.prio_tc) return false;
  uint8_t used = used_classes(*this);
  for (size_t tc = 0; tc < kPriorities; ++tc) {
    if ((used >> tc & 1) == 0) continue;
    if (tsa[tc] != other.tsa[tc]) return false;
    if (tsa[tc] == Tsa::ets && bw[tc] != other.bw[tc]) return false;
  }
  return true;
}

std::string to_text(bool value) { return value ? "on" : "off"; }
std::string to_text(uint32_t value) { return std::to_string(value); }

std::string to_text(PrioSet value) {
  return or_none(joined(to_list(value), ",", [](int prio) { return std::to_string(prio); }));
}

std::string to_text(const Pause& value) {
  if (value.rx && value.tx) return "rx,tx";
  if (value.rx) return "rx";
  if (value.tx) return "tx";
  return "off";
}

std::string to_text(const DscpMap& value) {
  std::string out;
  for (auto first = value.begin(); first != value.end();) {
    auto last = first;
    for (auto next = std::next(last);
         next != value.end() && next->first == last->first + 1 && next->second == first->second; ++next)
      last = next;
    std::string range = std::to_string(first->first);
    if (last != first) range += "-" + std::to_string(last->first);
    append_item(out, range + ":" + std::to_string(first->second), " ");
    first = std::next(last);
  }
  return or_none(out);
}

std::string to_text(const Ets& value) {
  const uint8_t used = used_classes(value);
  std::string tsa, bw;
  for (size_t tc = 0; tc < kPriorities; ++tc) {
    if ((used >> tc & 1) == 0) continue;
    const std::string number = std::to_string(tc) + ":";
    append_item(tsa, number + std::string(tsa_text(value.tsa[tc])), " ");
    if (value.tsa[tc] == Tsa::ets) append_item(bw, number + std::to_string(value.bw[tc]), " ");
  }
  std::string out = "prio-tc " + to_text(value.prio_tc) + " tsa " + tsa;
  if (!bw.empty()) out += " bw " + bw;
  return out;
}

bool Buffers::operator==(const Buffers& other) const {
  constexpr uint32_t kCell = 288;
  if (automatic != other.automatic) return false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint32_t low = std::min(bytes[i], other.bytes[i]), high = std::max(bytes[i], other.bytes[i]);
    if (high - low >= kCell || (low == 0 && high != 0)) return false;
  }
  return true;
}

std::string to_text(const Eight& value) {
  return numbered([&](size_t i) { return std::to_string(value[i]); });
}

std::optional<uint8_t> parse_selector(std::string_view text) {
  if (text == "dscp") return AppTrust::kDscp;
  if (text == "pcp") return AppTrust::kPcp;
  return parse_number<uint8_t>(text);
}

std::string to_text(const AppTrust& value) { return or_none(joined(value.selectors, ",", selector_text)); }

std::string to_text(const Buffers& value) {
  if (value.automatic) return "auto";
  return or_none(numbered([&](size_t i) -> std::string {
    if (value.bytes[i] == 0) return {};
    return std::to_string(value.bytes[i]);
  }));
}

std::string to_text(const Rates& value) {
  constexpr uint64_t kMega = 1'000, kGiga = 1'000'000;
  return or_none(numbered([&](size_t i) -> std::string {
    const uint64_t rate = value.kbit[i];
    if (rate == 0) return {};
    if (rate % kGiga == 0) return std::to_string(rate / kGiga) + "gbit";
    if (rate % kMega == 0) return std::to_string(rate / kMega) + "mbit";
    return std::to_string(rate) + "kbit";
  }));
}

std::string to_text(const OrNone& value) {
  if (!value.value) return "none";
  return std::to_string(*value.value);
}

std::vector<std::string> fec_words(Fec value) {
  std::vector<std::string> out;
  for (const auto& [bit, word] : kFecWords)
    if ((value.bits & bit) != 0) out.emplace_back(word);
  return out;
}

std::optional<uint8_t> parse_fec_word(std::string_view text) {
  for (const auto& [bit, word] : kFecWords)
    if (text == word) return bit;
  return std::nullopt;
}

std::string to_text(Fec value) { return or_none(joined(fec_words(value), ",")); }

std::string to_text(const Names& value) {
  if (value.names.contains("*")) return "all";
  return or_none(joined(value.names, ","));
}

std::vector<int> to_list(PrioSet value) {
  std::vector<int> out;
  for (int prio = 0; prio < kPriorities; ++prio)
    if (value.has(prio)) out.push_back(prio);
  return out;
}

Json to_json(PrioSet value) { return to_list(value); }

void from_json(const Json& json, PrioSet& value) {
  value.bits = 0;
  for (const Json& prio : json) value.add(priority_of(prio));
}

Json value_json(const Setting& setting, const Qos& qos) {
  return visit_member(setting, qos, [](const auto& value) -> Json {
    if (!value) return {};
    return to_json(*value);
  });
}

void from_json(const Json& json, Qos& qos) {
  if (!json.is_object()) throw std::runtime_error("expected an object");
  for (const Setting& setting : kSettings) {
    const auto found = json.find(setting.key);
    if (found == json.end()) continue;
    visit_member(setting, qos, [&](auto& member) {
      try {
        value_from(*found, member.emplace());
      } catch (const std::exception& fault) {
        throw std::runtime_error(std::string(setting.key) + ": " + unreadable_state("", fault).what);
      }
    });
  }
}

void to_json(Json& json, const Qos& qos) {
  json = Json::object();
  for (const Setting& setting : kSettings) {
    if (!has_value(setting, qos)) continue;
    const Json member = {{std::string(setting.key), value_json(setting, qos)}};
    try {
      Qos read_back;
      from_json(member, read_back);
      json.update(member);
    } catch (const std::exception&) {
      continue;
    }
  }
}

}  // namespace fabric
