// SPDX-License-Identifier: Apache-2.0
#include "setting/setting_table.h"

#include <bit>

#include "base/name_index.h"

namespace fabric {
namespace {

using Problem = std::optional<ValueProblem>;

// RFC 3168: ECN bits 3 mean "congestion experienced".
Problem check_ecn_bits(uint32_t tos) {
  if ((tos & 3U) != 3) return std::nullopt;
  return ValueProblem{std::to_string(tos) + " has both ECN bits set, which marks every packet as congested"};
}

}  // namespace

Problem check_fec(const Qos& want) {
  if ((want.fec->bits & kFecOff) != 0 && want.fec->bits != kFecOff) return ValueProblem{"\"off\" excludes other modes"};
  if (want.fec->bits == 0) return ValueProblem{"the list is empty"};
  return std::nullopt;
}

Problem check_apptrust(const Qos& want) {
  if (want.apptrust->selectors.empty()) return ValueProblem{"the list is empty"};
  return std::nullopt;
}

Problem check_ets(const Qos& want) {
  const Ets& ets = *want.ets;
  unsigned sum = 0;
  bool any = false;
  for (size_t tc = 0; tc < ets.tsa.size(); ++tc) {
    if (ets.tsa[tc] == Tsa::vendor || ets.tsa[tc] == Tsa::cb_shaper)
      return ValueProblem{"expected \"strict\" or \"ets\", which every driver has", "tsa", tc};
    if (ets.tsa[tc] == Tsa::ets) {
      any = true;
      sum += ets.bw[tc];
    } else if (ets.bw[tc] != 0) {
      return ValueProblem{"traffic class " + std::to_string(tc) +
                              " is strict, so it has no share of the bandwidth: its bw must be 0, not " +
                              std::to_string(ets.bw[tc]),
                          "bw"};
    }
  }
  if (any && sum != 100)
    return ValueProblem{"the bandwidths of the ets classes add up to " + std::to_string(sum) + ", not 100", "bw"};
  return std::nullopt;
}

// mlx5e_dcbnl_ieee_setmaxrate(), Linux 5.10 to 6.12: units of 100 Mb/s up to 25.5 Gb/s, of 1 Gb/s up to 255 Gb/s. A
// higher rate is rejected; Linux 5.10 and OFED cut it to eight bits. No other driver of ours limits rates.
Problem check_maxrate(const Qos& want) {
  constexpr uint64_t kSmall = 100'000, kLarge = 1'000'000, kSmallMost = 25'500'000, kMost = 255'000'000;
  for (size_t tc = 0; tc < want.maxrate->kbit.size(); ++tc) {
    const uint64_t rate = want.maxrate->kbit[tc];
    if (rate > kMost)
      return ValueProblem{std::to_string(rate) +
                              " is more than the 255 Gb/s that mlx5 can limit to: older drivers cut it to another rate",
                          {},
                          tc};
    uint64_t unit = kSmall;
    if (rate > kSmallMost) unit = kLarge;
    if (rate % unit != 0)
      return ValueProblem{
          std::to_string(rate) + " would be rounded: mlx5 limits in steps of 100000 up to 25500000, of 1000000 above",
          {},
          tc};
  }
  return std::nullopt;
}

Problem check_roce_tos(const Qos& want) { return check_ecn_bits(*want.roce_tos); }
Problem check_traffic_class(const Qos& want) { return check_ecn_bits(want.traffic_class->value.value_or(0)); }

// PCIe 4.0 section 7.5.3.4: 128 << n.
Problem check_mrrs(const Qos& want) {
  if (std::has_single_bit(*want.mrrs)) return std::nullopt;
  return ValueProblem{"expected a power of two, not " + std::to_string(*want.mrrs)};
}

std::optional<SettingId> parse_setting(std::string_view key) {
  static const NameIndex<Setting> index(kSettings, &Setting::key);
  const Setting* setting = index.find(key);
  if (setting == nullptr) return std::nullopt;
  return setting->id;
}

Keys keys_in(SettingGroup group) {
  Keys out;
  for (size_t i = 0; i < kSettingCount; ++i) out[i] = kSettings[i].group == group;
  return out;
}

bool has_value(const Setting& setting, const Qos& qos) {
  return visit_member(setting, qos, [](const auto& value) { return value.has_value(); });
}

Keys keys_of(const Qos& qos) {
  Keys out;
  for (size_t i = 0; i < kSettingCount; ++i) out[i] = has_value(kSettings[i], qos);
  return out;
}

std::string value_text(const Setting& setting, const Qos& qos) {
  return visit_member(setting, qos, [](const auto& value) -> std::string {
    if (!value) return "-";
    return std::string(to_text(*value));
  });
}

bool same_value(const Setting& setting, const Qos& a, const Qos& b) {
  return std::visit([&](auto member) { return a.*member && b.*member && *(a.*member) == *(b.*member); },
                    setting.member);
}

void copy_value(const Setting& setting, const Qos& from, Qos& to) {
  std::visit([&](auto member) { to.*member = from.*member; }, setting.member);
}

}  // namespace fabric
