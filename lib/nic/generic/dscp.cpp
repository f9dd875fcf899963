// SPDX-License-Identifier: Apache-2.0
#include "nic/generic/dscp.h"

#include <algorithm>

namespace fabric::dscp {
namespace {

bool is_dscp(const dcb_app& entry) { return entry.selector == IEEE_8021QAZ_APP_SEL_DSCP && entry.protocol < kCount; }

}  // namespace

bool contains(const AppTable& table, const dcb_app& entry) {
  return std::ranges::any_of(table, [&](const dcb_app& other) {
    return other.selector == entry.selector && other.protocol == entry.protocol && other.priority == entry.priority;
  });
}

DscpMap map_of(const AppTable& table) {
  DscpMap out;
  for (const dcb_app& entry : table) {
    if (!is_dscp(entry)) continue;
    auto [slot, added] = out.try_emplace(static_cast<uint8_t>(entry.protocol), entry.priority);
    if (!added) slot->second = std::max(slot->second, entry.priority);
  }
  return out;
}

DscpMap complete(DscpMap map) {
  for (int dscp = 0; dscp < kCount; ++dscp)
    map.try_emplace(static_cast<uint8_t>(dscp), static_cast<uint8_t>(dscp >> 3));
  return map;
}

AppTable entries_of(const DscpMap& map) {
  AppTable out;
  for (auto [dscp, prio] : map) out.push_back({IEEE_8021QAZ_APP_SEL_DSCP, prio, dscp});
  return out;
}

Difference difference(const AppTable& table, const DscpMap& want) {
  Difference out;
  const auto wanted = entries_of(want);
  for (const dcb_app& entry : table)
    if (is_dscp(entry) && !contains(wanted, entry)) out.stale.push_back(entry);
  for (const dcb_app& entry : wanted)
    if (!contains(table, entry)) out.missing.push_back(entry);
  return out;
}

}  // namespace fabric::dscp
