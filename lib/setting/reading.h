// SPDX-License-Identifier: Apache-2.0
// A port's settings as read at one moment. A reader creates it, and a writer gets it unchanged.
#pragma once

#include "base/result.h"
#include "setting/setting_table.h"

namespace fabric {

// The capacities that the port reports. These are not settings.
struct Capacity {
  std::optional<uint32_t> speed{};                                // Mb/s, of the present link
  std::optional<uint32_t> max_mtu{};                              // bytes (IFLA_MAX_MTU)
  std::optional<uint32_t> buffer_total{};                         // bytes (dcbnl_buffer.total_size)
  std::optional<uint32_t> traffic_classes{}, lossless_classes{};  // ieee_ets.ets_cap, ieee_pfc.pfc_cap
  std::optional<uint32_t> ring_rx{}, ring_tx{}, channels{};
  std::vector<std::string> optional_counters{};
};

// Facts about the values.
struct Notes {
  // Why the port does not have a setting, or has a value that the driver does not change, if its reader knows: one
  // sentence with the remedy.
  std::map<SettingId, std::string> reasons{};
  // Settings of which the driver's answer does not show what the NIC does, with the reason: one sentence.
  std::map<SettingId, std::string> unverified{};
  // The settings of `unverified` that are known after one write: they are written even if they match the policy.
  Keys unread{};
  // Settings whose write may stop traffic (Op::disruptive), but does not on this NIC.
  Keys harmless{};
};

struct Reading {
  Qos values;
  Capacity capacity{};
  Notes notes{};
  // An answer was lost, so that a setting may be absent here although the port has it. read_all() returns this error
  // instead of the reading, because a setting that was not read has no original to save.
  std::optional<Error> lost{};

  void not_offered(SettingId setting, std::string why) { notes.reasons[setting] = std::move(why); }
};

// Replaces the settings `keys` in `have` by those of `now`, a later reading of them.
void update(Reading& have, const Reading& now, const Keys& keys);

}  // namespace fabric
