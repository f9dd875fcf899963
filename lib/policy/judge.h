// SPDX-License-Identifier: Apache-2.0
// Inside config/: an entry with its profile and marks, being judged as a whole.
#pragma once

#include "policy/reader.h"
#include "setting/setting_table.h"

namespace fabric::config {

struct Judge {
  const Entry& entry;
  Faults& faults;
  const Qos& want = entry.port.want;

  [[nodiscard]] Place at(SettingId setting) const { return entry.places[index(setting)]; }
  [[nodiscard]] PrioSet lossless() const { return want.pfc.value_or(PrioSet{}); }
  void fail(SettingId setting, std::string_view what) const {
    faults.fail(at(setting), std::string(key_text(setting)).append(": ").append(what));
  }
  void warn(SettingId setting, std::string_view what) const {
    faults.warn(at(setting), std::string(key_text(setting)).append(": ").append(what));
  }
};

// Values and marks (the DSCPs that RoCE packets are given), congestion control.
void check_marks(const Judge& judge);
void check_congestion(const Judge& judge);

}  // namespace fabric::config
