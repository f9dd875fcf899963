// SPDX-License-Identifier: Apache-2.0
// What one value may be: narrower than what a port can show, which read_setting() accepts.
#include <bit>

#include "policy/reader.h"

namespace fabric::config {
namespace {

std::string class_text(size_t tc) { return "traffic class " + std::to_string(tc); }

// The place of the part of an ets table, else of the table.
toml::source_position at_part(const toml::node& node, std::string_view part) {
  const toml::node* found = node.as_table()->get(part);
  return (found != nullptr ? *found : node).source().begin;
}

MaybeProblem check_ets_class(const Ets& ets, const toml::node& node, size_t tc) {
  const auto* tsa = node.as_table()->get("tsa")->as_array();
  for (size_t prio = 0; prio < ets.prio_tc.size(); ++prio)
    if (ets.prio_tc[prio] == tc && tc >= tsa->size())
      return TomlProblem{at_part(node, "tsa"), "priority " + std::to_string(prio) + " goes to " + class_text(tc) +
                                                   ", which has no algorithm: tsa lists " +
                                                   std::to_string(tsa->size())};
  if (tc < tsa->size() && (ets.tsa[tc] == Tsa::vendor || ets.tsa[tc] == Tsa::cb_shaper))
    return TomlProblem{tsa->get(tc)->source().begin, "expected \"strict\" or \"ets\", which every driver has"};
  if (ets.tsa[tc] != Tsa::ets && ets.bw[tc] != 0)
    return TomlProblem{
        at_part(node, "bw"),
        class_text(tc) + " is strict and takes what it needs: its bw must be 0, not " + std::to_string(ets.bw[tc])};
  return std::nullopt;
}

MaybeProblem check_ets(const toml::node& node, const Qos& value) {
  const Ets& ets = *value.ets;
  unsigned sum = 0;
  bool any = false;
  for (size_t tc = 0; tc < ets.tsa.size(); ++tc) {
    if (auto problem = check_ets_class(ets, node, tc)) return problem;
    any = any || ets.tsa[tc] == Tsa::ets;
    sum += ets.tsa[tc] == Tsa::ets ? ets.bw[tc] : 0U;
  }
  if (any && sum != 100)
    return TomlProblem{at_part(node, "bw"),
                       "the bandwidths of the ets classes add up to " + std::to_string(sum) + ", not 100"};
  return std::nullopt;
}

// PCIe 4.0 section 7.5.3.4: 128 << n.
MaybeProblem check_mrrs(const toml::node& node, const Qos& value) {
  if (std::has_single_bit(*value.mrrs)) return std::nullopt;
  return fault_at(node, "expected a power of two, not " + std::to_string(*value.mrrs));
}

// RFC 3168: ECN bits 3 mean "congestion experienced".
MaybeProblem check_ecn_bits(const toml::node& node, uint32_t tos) {
  if ((tos & 3U) != 3) return std::nullopt;
  return fault_at(node, std::to_string(tos) + " has both ECN bits set, which marks every packet as congested");
}

MaybeProblem not_empty(const toml::node& node, bool empty) {
  return empty ? MaybeProblem(fault_at(node, "the list is empty")) : std::nullopt;
}

MaybeProblem check_fec(const toml::node& node, const Qos& value) {
  if ((value.fec->bits & kFecOff) != 0 && value.fec->bits != kFecOff)
    return fault_at(node, "\"off\" excludes other modes");
  return not_empty(node, value.fec->bits == 0);
}

// mlx5e_dcbnl_ieee_setmaxrate(), Linux 5.10 to 6.12: units of 100 Mb/s up to 25.5 Gb/s, of 1 Gb/s up to 255 Gb/s; more
// is refused, or cut to eight bits by Linux 5.10 and OFED. The only driver of ours that limits rates.
MaybeProblem check_maxrate(const toml::node& node, const Qos& value) {
  constexpr uint64_t kSmall = 100'000, kLarge = 1'000'000, kSmallMost = 25'500'000, kMost = 255'000'000;
  const auto* array = node.as_array();
  for (size_t tc = 0; tc < value.maxrate->kbit.size(); ++tc) {
    const uint64_t rate = value.maxrate->kbit[tc], unit = rate <= kSmallMost ? kSmall : kLarge;
    const auto at = array->get(tc)->source().begin;
    if (rate > kMost)
      return TomlProblem{at,
                         std::to_string(rate) +
                             " is more than the 255 Gb/s that mlx5 can limit to: older drivers cut it to another rate"};
    if (rate % unit != 0)
      return TomlProblem{at, std::to_string(rate) +
                                 " would be rounded: mlx5 limits in steps of 100000 up to 25500000, of 1000000 above"};
  }
  return std::nullopt;
}

struct Rule {
  SettingId setting;
  MaybeProblem (*check)(const toml::node& node, const Qos& value);
};
constexpr Rule kRules[] = {
    {SettingId::ets, check_ets},
    {SettingId::mrrs, check_mrrs},
    {SettingId::fec, check_fec},
    {SettingId::maxrate, check_maxrate},
    {SettingId::roce_tos, [](auto& node, auto& value) { return check_ecn_bits(node, *value.roce_tos); }},
    {SettingId::traffic_class,
     [](auto& node, auto& value) { return check_ecn_bits(node, value.traffic_class->value.value_or(0)); }},
    {SettingId::apptrust, [](auto& node, auto& value) { return not_empty(node, value.apptrust->selectors.empty()); }},
};

}  // namespace

MaybeProblem check_range(const Setting& setting, const toml::node& node) {
  int64_t ignored = 0;
  const bool or_none = std::holds_alternative<std::optional<OrNone> Qos::*>(setting.member);
  if (!or_none && !std::holds_alternative<std::optional<uint32_t> Qos::*>(setting.member)) return std::nullopt;
  if (or_none && node.value<std::string_view>() == "none") return std::nullopt;
  auto problem = read_integer(node, setting.min, setting.max, ignored);
  if (problem && or_none)
    problem->what = "expected an integer from " + std::to_string(setting.min) + " to " + std::to_string(setting.max) +
                    ", or \"none\", not " + describe(node);
  if (problem && !setting.unit.empty()) problem->what.append(" (").append(setting.unit).append(")");
  return problem;
}

MaybeProblem check_value(const Setting& setting, const toml::node& node, const Qos& value) {
  for (const Rule& rule : kRules)
    if (rule.setting == setting.id) return rule.check(node, value);
  return std::nullopt;
}

}  // namespace fabric::config
