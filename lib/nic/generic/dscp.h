// SPDX-License-Identifier: Apache-2.0
// The DSCP entries (selector 5) of a dcbnl APP table. Entries of other selectors are left unchanged.
#pragma once

#include "kernel/netlink/dcbnl.h"
#include "setting/value.h"

namespace fabric::dscp {

using dcbnl::AppTable;

inline constexpr int kCount = 64;  // a DSCP has six bits (RFC 2474)

// DSCP -> priority as listed. The kernel's list may have a DSCP with several priorities: as in drivers, the highest
// counts (fls() of dcb_ieee_getapp_mask(), net/dcb/dcbnl.c).
DscpMap map_of(const AppTable& table);

// All DSCPs: the listed ones unchanged, the others by their class selector, dscp >> 3 (RFC 2474 section 4.2.2).
DscpMap complete(DscpMap map);

AppTable entries_of(const DscpMap& map);

bool contains(const AppTable& table, const dcb_app& entry);

// The entries to delete from and to add to the table so that it lists exactly `want`.
struct Difference {
  AppTable stale, missing;
};
Difference difference(const AppTable& table, const DscpMap& want);

}  // namespace fabric::dscp
