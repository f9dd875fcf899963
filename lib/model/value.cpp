// SPDX-License-Identifier: Apache-2.0
#include "model/value.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/parse.h"

namespace fabric {
namespace {

// The classes that some priority maps to; only of these do the algorithm and the bandwidth matter.
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

void append_word(std::string& out, const std::string& word) { append_item(out, word, " "); }

std::string pair_text(size_t left, std::string_view right) { return std::to_string(left).append(":").append(right); }

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
  std::string out;
  for (int prio = 0; prio < kPriorities; ++prio) {
    if (!value.has(prio)) continue;
    if (!out.empty()) out += ',';
    out += std::to_string(prio);
  }
  return out.empty() ? "none" : out;
}

std::string to_text(Trust value) { return value == Trust::dscp ? "dscp" : "pcp"; }
std::string to_text(Dcbx value) { return value == Dcbx::host ? "host" : "firmware"; }

std::string to_text(const Pause& value) {
  if (value.rx && value.tx) return "rx,tx";
  if (value.rx) return "rx";
  return value.tx ? "tx" : "off";
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
    append_word(out, range + ":" + std::to_string(first->second));
    first = std::next(last);
  }
  return out.empty() ? "none" : out;
}

std::string to_text(const Ets& value) {
  std::string out = "prio-tc";
  for (size_t prio = 0; prio < kPriorities; ++prio)
    append_word(out, pair_text(prio, std::to_string(value.prio_tc[prio])));
  std::string tsa, bw;
  uint8_t used = used_classes(value);
  for (size_t tc = 0; tc < kPriorities; ++tc) {
    if ((used >> tc & 1) == 0) continue;
    append_word(tsa, pair_text(tc, tsa_text(value.tsa[tc])));
    if (value.tsa[tc] == Tsa::ets) append_word(bw, pair_text(tc, std::to_string(value.bw[tc])));
  }
  out += " tsa " + tsa;
  if (!bw.empty()) out += " bw " + bw;
  return out;
}

bool Buffers::operator==(const Buffers& other) const {
  constexpr uint32_t kCell = 256;
  if (automatic != other.automatic) return false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint32_t low = std::min(bytes[i], other.bytes[i]), high = std::max(bytes[i], other.bytes[i]);
    if (high - low >= kCell || (low == 0 && high != 0)) return false;
  }
  return true;
}

std::string to_text(const Eight& value) {
  std::string out;
  for (size_t i = 0; i < value.size(); ++i) append_word(out, pair_text(i, std::to_string(value[i])));
  return out;
}

std::string selector_text(uint8_t selector) {
  if (selector == 5) return "dscp";
  return selector == 255 ? "pcp" : std::to_string(selector);
}

std::optional<uint8_t> parse_selector(const std::string& text) {
  if (text == "dscp") return 5;
  if (text == "pcp") return 255;
  unsigned number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number > 255) return std::nullopt;
  return static_cast<uint8_t>(number);
}

std::string to_text(const AppTrust& value) {
  return value.selectors.empty() ? "none" : joined(value.selectors, ",", selector_text);
}

std::string to_text(const Buffers& value) {
  if (value.automatic) return "auto";
  std::string out;
  for (size_t i = 0; i < value.bytes.size(); ++i)
    if (value.bytes[i] != 0) append_word(out, pair_text(i, std::to_string(value.bytes[i])));
  return out.empty() ? "none" : out;
}

std::string to_text(const Rates& value) {
  constexpr uint64_t kMega = 1'000, kGiga = 1'000'000;
  std::string out;
  for (size_t i = 0; i < value.kbit.size(); ++i) {
    const uint64_t rate = value.kbit[i];
    if (rate == 0) continue;
    const std::string text = rate % kGiga == 0   ? std::to_string(rate / kGiga) + "gbit"
                             : rate % kMega == 0 ? std::to_string(rate / kMega) + "mbit"
                                                 : std::to_string(rate) + "kbit";
    append_word(out, pair_text(i, text));
  }
  return out.empty() ? "none" : out;
}

std::string to_text(RoceMode value) { return value == RoceMode::v1 ? "v1" : "v2"; }
std::string to_text(const OrNone& value) { return value.value ? std::to_string(*value.value) : "none"; }

namespace {
constexpr std::pair<uint8_t, std::string_view> kFecWords[] = {
    {2, "auto"}, {4, "off"}, {8, "rs"}, {16, "baser"}, {32, "llrs"}};
}

std::vector<std::string> fec_words(Fec value) {
  std::vector<std::string> out;
  for (const auto& [bit, word] : kFecWords)
    if ((value.bits & bit) != 0) out.emplace_back(word);
  return out;
}

std::optional<uint8_t> parse_fec_word(const std::string& text) {
  for (const auto& [bit, word] : kFecWords)
    if (text == word) return bit;
  return std::nullopt;
}

std::string to_text(Fec value) {
  const auto words = fec_words(value);
  return words.empty() ? "none" : joined(words, ",");
}

std::string to_text(const Names& value) {
  if (value.names.contains("*")) return "all";
  return value.names.empty() ? "none" : joined(value.names, ",");
}

Json to_json(bool value) { return Json(value); }
Json to_json(uint32_t value) { return Json(value); }

Json to_json(PrioSet value) {
  Json out = Json::array();
  for (int prio = 0; prio < kPriorities; ++prio)
    if (value.has(prio)) out.push_back(prio);
  return out;
}

Json to_json(Trust value) { return Json(to_text(value)); }
Json to_json(Dcbx value) { return Json(to_text(value)); }
Json to_json(const Pause& value) { return Json::object({{"rx", value.rx}, {"tx", value.tx}}); }

Json to_json(const DscpMap& value) {
  Json out = Json::object();
  for (auto [dscp, prio] : value) out[std::to_string(dscp)] = prio;
  return out;
}

Json to_json(const Ets& value) {
  Json prio_tc = Json::array(), tsa = Json::array(), bw = Json::array();
  for (uint8_t tc : value.prio_tc) prio_tc.push_back(tc);
  for (Tsa algorithm : value.tsa) tsa.push_back(tsa_text(algorithm));
  for (uint8_t percent : value.bw) bw.push_back(percent);
  return Json::object({{"prio_tc", prio_tc}, {"tsa", tsa}, {"bw", bw}});
}

Json to_json(const Eight& value) {
  Json out = Json::array();
  for (uint8_t each : value) out.push_back(each);
  return out;
}

Json to_json(const AppTrust& value) {
  Json out = Json::array();
  for (uint8_t selector : value.selectors) out.push_back(selector_text(selector));
  return out;
}

Json to_json(const Buffers& value) {
  if (value.automatic) return Json("auto");
  Json out = Json::array();
  for (uint32_t each : value.bytes) out.push_back(each);
  return out;
}

Json to_json(const Rates& value) {
  Json out = Json::array();
  for (uint64_t each : value.kbit) out.push_back(each);
  return out;
}

Json to_json(RoceMode value) { return Json(to_text(value)); }
Json to_json(const OrNone& value) { return value.value ? Json(*value.value) : Json(); }

Json to_json(Fec value) {
  Json out = Json::array();
  for (const std::string& word : fec_words(value)) out.push_back(word);
  return out;
}

Json to_json(const Names& value) {
  if (value.names.contains("*")) return Json("all");
  Json out = Json::array();
  for (const std::string& name : value.names) out.push_back(name);
  return out;
}

}  // namespace fabric
