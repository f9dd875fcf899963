// SPDX-License-Identifier: Apache-2.0
// What was read of a port's settings at one moment. It comes out of a read and goes into a write, unchanged.
#pragma once

#include "setting/setting_table.h"

namespace fabric {

// What the port could be set to, as it reports it. Not settings.
struct Capacity {
  std::optional<uint32_t> speed{};                                // Mb/s, of the link as it is
  std::optional<uint32_t> max_mtu{};                              // bytes (IFLA_MAX_MTU)
  std::optional<uint32_t> buffer_total{};                         // bytes (dcbnl_buffer.total_size)
  std::optional<uint32_t> traffic_classes{}, lossless_classes{};  // ieee_ets.ets_cap, ieee_pfc.pfc_cap
  std::optional<uint32_t> ring_rx{}, ring_tx{}, channels{};
  std::vector<std::string> optional_counters{};
};

// What the values alone do not say.
struct Notes {
  // Why a setting is not offered, if its reader knows: one sentence with the remedy.
  std::map<SettingId, std::string> reasons{};
  // What the driver shows of these settings does not show what the NIC does, and why: one sentence.
  std::map<SettingId, std::string> unverified{};
  // Those of `unverified` that one write makes known: written even if they match the policy.
  Keys unread{};
  // Writes that may stop traffic (Op::disruptive) and do not on this NIC.
  Keys harmless{};
};

struct Reading {
  Qos values;
  Capacity capacity{};
  Notes notes{};

  void not_offered(SettingId setting, std::string why) { notes.reasons[setting] = std::move(why); }
};

// Replaces what `have` knows of `keys` by what `now`, a later reading of these, knows of them.
void update(Reading& have, const Reading& now, const Keys& keys);

}  // namespace fabric
