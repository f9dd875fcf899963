// SPDX-License-Identifier: Apache-2.0
// What RoCE needs of a port: the wanted state and the state as read are the same struct.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <variant>

#include "model/value.h"

namespace fabric {

// Absent means: not asked for (in a policy), or not offered by this port (as read). Absent is never zero.
// Members stand in the order of kSettings; a member without a row does not compile (tests/unit/setting_test.cpp).
struct Qos {
  std::optional<Dcbx> dcbx;
  std::optional<Pause> pause;
  std::optional<uint32_t> mtu;           // bytes, netdev MTU
  std::optional<Trust> trust;
  std::optional<DscpMap> dscp_map;
  std::optional<Ets> ets;
  std::optional<PrioSet> pfc;
  std::optional<uint32_t> cable_length;  // metres
  bool operator==(const Qos&) const = default;
};

// One setting = one row. The TOML key, the unknown-key error, plan, apply, read-back, text, JSON, the
// metric's label and the journal field all follow from the row and the member's kind.
struct Setting {
  using Member = std::variant<std::optional<Dcbx> Qos::*, std::optional<Pause> Qos::*, std::optional<uint32_t> Qos::*,
                              std::optional<Trust> Qos::*, std::optional<DscpMap> Qos::*, std::optional<Ets> Qos::*,
                              std::optional<PrioSet> Qos::*>;
  std::string_view key;
  std::string_view help;  // one line, as in fabric-agent.toml(5)
  Member member;
};

inline constexpr std::array kSettings{
    Setting{"dcbx", "who owns DCBX: \"host\" takes it from the NIC's firmware, which would overwrite the rest", &Qos::dcbx},
    Setting{"pause", "global (802.3x) pause: \"off\", \"rx\", \"tx\", \"rx,tx\"; off wherever PFC is used", &Qos::pause},
    Setting{"mtu", "netdev MTU in bytes; 4200 or more gives the RoCE path MTU 4096", &Qos::mtu},
    Setting{"trust", "classify received frames by \"dscp\" or by \"pcp\"", &Qos::trust},
    Setting{"dscp_map", "DSCP to priority, as { 26 = 3, 48 = 6 }", &Qos::dscp_map},
    Setting{"ets", "priority to traffic class, algorithm and bandwidth of each class (802.1Qaz)", &Qos::ets},
    Setting{"pfc", "priorities with priority flow control, as [3]", &Qos::pfc},
    Setting{"cable_length", "metres of cable; sizes the headroom on drivers that ask for it", &Qos::cable_length},
};
inline constexpr size_t kSettingCount = kSettings.size();

// Index of the row in kSettings, or nothing.
constexpr std::optional<size_t> setting_index(std::string_view key) {
  for (size_t i = 0; i < kSettingCount; ++i)
    if (kSettings[i].key == key) return i;
  return std::nullopt;
}

// Calls `with(optional<T>&)` on the row's member.
template <class QosRef, class Function>
auto visit_member(const Setting& setting, QosRef& qos, Function&& with) {
  return std::visit([&](auto member) { return with(qos.*member); }, setting.member);
}

// Is the setting given in `qos`?
bool has_value(const Setting& setting, const Qos& qos);
// Text of the value; "-" when absent.
std::string value_text(const Setting& setting, const Qos& qos);
// JSON of the value; null when absent.
Json value_json(const Setting& setting, const Qos& qos);
// Both present and equal.
bool same_value(const Setting& setting, const Qos& a, const Qos& b);
// Copies the member (also when absent).
void copy_value(const Setting& setting, const Qos& from, Qos& to);

}  // namespace fabric
