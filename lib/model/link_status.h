// SPDX-License-Identifier: Apache-2.0
// What the NIC knows of its link beyond up and down. Every value is optional: drivers report very different parts of
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric {

// LinkStatus::reason of a netdev that is administratively down (no IFF_UP): the only reason that is not from ethtool.
// RoCE drivers report the physical state "Disabled" for every port without a link, whatever the cause
// (mlx5_query_port_roce, bnxt_re_query_port, irdma_query_port, hns_roce_query_port of Linux 6.12).
inline constexpr std::string_view kSwitchedOff = "Switched off";

// The reason for link down. The words are ethtool's: "No cable"; "Autoneg" and "No partner detected".
struct LinkStatus {
  std::optional<bool> up;
  std::string reason, detail;     // empty while the link is up, or when the driver does not say
  std::optional<uint32_t> downs;  // times the physical link went down, as the NIC counts them; Linux 6.2 and later
  bool operator==(const LinkStatus&) const = default;
};

struct FecCount {
  std::optional<uint64_t> total;
  std::vector<uint64_t> lanes;  // from lane 0 of the PCS on; empty when the NIC counts in one sum only
  bool operator==(const FecCount&) const = default;
};

// Forward error correction (IEEE 802.3 clauses 74, 91, 108, 119, 134).
struct FecStatus {
  std::string active;             // "off", "rs", "baser", "llrs"; empty while the link is down
  std::optional<bool> automatic;  // the NIC chooses the mode itself
  FecCount corrected_blocks, uncorrectable_blocks, corrected_bits;
  bool operator==(const FecStatus&) const = default;
};

}  // namespace fabric
