// SPDX-License-Identifier: Apache-2.0
#include "driver/driver.h"

#include <algorithm>
#include <array>

#include "driver/vendors.h"

namespace fabric {
namespace {

struct Row {
  std::string_view key;
  Op Driver::*op;
};

constexpr std::array kRows{
    Row{"dcbx", &Driver::dcbx},         Row{"pause", &Driver::pause},
    Row{"mtu", &Driver::mtu},           Row{"trust", &Driver::trust},
    Row{"dscp_map", &Driver::dscp_map}, Row{"ets", &Driver::ets},
    Row{"pfc", &Driver::pfc},           Row{"cable_length", &Driver::cable_length},
};

constexpr bool rows_match_settings() {
  if (kRows.size() != kSettingCount) return false;
  for (size_t i = 0; i < kSettingCount; ++i)
    if (kRows[i].key != kSettings[i].key) return false;
  return true;
}
static_assert(rows_match_settings(), "every setting has its Op, in the order of kSettings");

constexpr std::array<const Driver*, 5> kDrivers{&kMlx5, &kBnxt, &kIce, &kRxe, &kUpstream};

}  // namespace

const Op& op_of(const Driver& driver, std::string_view key) {
  static constexpr Op kNone{};
  auto index = setting_index(key);
  return index ? driver.*kRows[*index].op : kNone;
}

std::span<const Driver* const> drivers() { return kDrivers; }

const Driver& driver_for(std::string_view kernel_driver) {
  for (const Driver* driver : kDrivers)
    if (std::find(driver->kernel_names.begin(), driver->kernel_names.end(), kernel_driver) !=
        driver->kernel_names.end())
      return *driver;
  return kUpstream;
}

}  // namespace fabric
