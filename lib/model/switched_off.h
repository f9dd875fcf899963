// SPDX-License-Identifier: Apache-2.0
// The one reason for a missing link that is ours and not ethtool's.
#pragma once

#include <string_view>

namespace fabric {

// LinkStatus::reason of a netdev that is administratively down (no IFF_UP). RoCE drivers call the physical state of
// every port without a link "Disabled", whoever took it down (mlx5_query_port_roce, bnxt_re_query_port,
// irdma_query_port, hns_roce_query_port of Linux 6.12): that says nothing.
inline constexpr std::string_view kSwitchedOff = "Switched off";

}  // namespace fabric
