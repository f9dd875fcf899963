// SPDX-License-Identifier: Apache-2.0
#include "model/value.h"

#include <string_view>

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
    case Tsa::strict:
      return "strict";
    case Tsa::cb_shaper:
      return "cb-shaper";
    case Tsa::ets:
      return "ets";
    case Tsa::vendor:
      return "vendor";
  }
  return "unknown";
}

void append_word(std::string& out, const std::string& word) {
  if (!out.empty()) out += ' ';
  out += word;
}

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

Json to_json(bool value) { return Json(value); }
Json to_json(uint32_t value) { return Json(value); }

Json to_json(PrioSet value) {
  Json out = Json::array();
  for (int prio = 0; prio < kPriorities; ++prio)
    if (value.has(prio)) out.push(prio);
  return out;
}

Json to_json(Trust value) { return Json(to_text(value)); }
Json to_json(Dcbx value) { return Json(to_text(value)); }
Json to_json(const Pause& value) { return Json::object().put("rx", value.rx).put("tx", value.tx); }

Json to_json(const DscpMap& value) {
  Json out = Json::object();
  for (auto [dscp, prio] : value) out.put(std::to_string(dscp), prio);
  return out;
}

Json to_json(const Ets& value) {
  Json prio_tc = Json::array(), tsa = Json::array(), bw = Json::array();
  for (uint8_t tc : value.prio_tc) prio_tc.push(tc);
  for (Tsa algorithm : value.tsa) tsa.push(tsa_text(algorithm));
  for (uint8_t percent : value.bw) bw.push(percent);
  return Json::object().put("prio_tc", prio_tc).put("tsa", tsa).put("bw", bw);
}

}  // namespace fabric
