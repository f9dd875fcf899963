// SPDX-License-Identifier: Apache-2.0
// Inside config/: an entry with its profile and marks, being judged as a whole.
#pragma once

#include <string>
#include <string_view>

#include "config/reader.h"

namespace fabric::config {

struct Judge {
  const Entry& entry;
  Faults& faults;
  const Qos& want = entry.port.want;

  [[nodiscard]] Place at(std::string_view key) const { return entry.places[*setting_index(key)]; }
  [[nodiscard]] bool derived(std::string_view key) const { return entry.port.derived[*setting_index(key)]; }
  [[nodiscard]] PrioSet lossless() const { return want.pfc.value_or(PrioSet{}); }
  void fail(std::string_view key, std::string_view what) const {
    faults.fail(at(key), std::string(key).append(": ").append(what));
  }
  void warn(std::string_view key, std::string_view what) const {
    faults.warn(at(key), std::string(key).append(": ").append(what));
  }
};

// Values and marks (the DSCPs that RoCE packets are given), buffers.
void check_marks(const Judge& judge);
void check_buffers(const Judge& judge);

}  // namespace fabric::config
