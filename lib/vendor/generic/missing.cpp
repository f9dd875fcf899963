// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "vendor/generic/upstream.h"

namespace fabric::upstream {
namespace {

using Id = SettingId;

constexpr std::string_view kNoDscp = "this driver does not map DSCPs: it trusts the priority in the VLAN tag";

// Why this driver does not offer a setting, from the first to the last of neighboring rows of kSettings.
struct Missing {
  SettingId first, last;
  std::string_view why;
};
constexpr Missing kMissing[] = {
    {Id::fw_lldp, Id::fw_lldp, "only Intel's ice and i40e can switch an LLDP agent in the NIC's firmware from here"},
    {Id::trust, Id::trust, kNoDscp},
    {Id::apptrust, Id::apptrust, "this driver has no APP trust table: trust follows from the DSCP entries"},
    {Id::dscp_map, Id::dscp_map, kNoDscp},
    {Id::prio2buffer, Id::buffer_size, "this driver sizes its buffers itself; no dcbnl buffer operation"},
    {Id::cable_length, Id::cable_length,
     "only mlx5 asks for the cable's length; this driver sizes its headroom itself"},
    {Id::maxrate, Id::maxrate, "this driver has no rate limit for each class (only mlx5, mlx4 and few others have)"},
    {Id::ecn_rp, Id::ecn_np, "ECN for each priority is a switch of NVIDIA's OFED/DOCA driver alone"},
    {Id::cnp_dscp, Id::cnp_prio,
     "only NVIDIA's and Broadcom's NICs let the host mark CNPs; this NIC's firmware or the vendor's tool decides"},
    {Id::min_time_between_cnps, Id::rtt_resp_dscp,
     "a DCQCN parameter of NVIDIA's NICs; this NIC's firmware decides itself"},
    {Id::cc, Id::cc,
     "the kernel has no switch for this NIC's congestion control: the vendor's tool, or the firmware's default"},
    {Id::cc_mode, Id::roce_dscp, "a congestion control parameter of Broadcom's NICs"},
    {Id::roce_prio, Id::roce_prio,
     "a setting of Broadcom's NICs; here RoCE's priority follows from dscp_map or the VLAN's"},
    {Id::traffic_class, Id::traffic_class,
     "only NVIDIA's OFED/DOCA driver can force a traffic class on all queue pairs"},
};

}  // namespace

std::string_view why_missing(SettingId setting) {
  const auto row = std::ranges::find_if(
      kMissing, [&](const Missing& each) { return each.first <= setting && setting <= each.last; });
  return row == std::end(kMissing) ? "this driver does not offer it" : row->why;
}

}  // namespace fabric::upstream
