// SPDX-License-Identifier: Apache-2.0
// bng_en (Broadcom BCM57708, 800 Gb/s): drivers/net/ethernet/broadcom/bnge, Linux 6.17 and later; pause since commit
// dc85e8a51f5a of April 2026, after Linux 7.0. It has no operation of dcbnl, FEC, rings or channels (bnge_ethtool_ops,
// bnge_netdev_ops), and its RDMA driver bng_re neither an RDMA device nor files of congestion control (bng_debugfs.c).
//
// The MTU is not written: without an ndo_change_mtu() the kernel changes its own number, and the NIC gets it when
// the netdev is opened (bnge_hwrm_vnic_cfg(), mru).
#include "nic/driver.h"
#include "nic/generic/upstream.h"

namespace fabric {
namespace {

// Settings that bnxt_en has by dcbnl or by files of bnxt_re.
constexpr SettingId kQos[]{SettingId::dcbx, SettingId::trust,   SettingId::dscp_map, SettingId::ets,
                           SettingId::pfc,  SettingId::maxrate, SettingId::roce_prio};

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (setting.id == SettingId::pause && code == EOPNOTSUPP)
    return "this NIC's firmware does not let the host set pause";
  if (setting.id == SettingId::pause && code == EINVAL)
    return "pause is negotiated with the speed only: ethtool -s " + netdev + " autoneg on";
  if (code != 0) return upstream::remedy(setting, have, netdev, code);
  if (setting.id == SettingId::mtu)
    return "bng_en passes the MTU to the NIC only when the netdev comes up: set it before, in the network "
           "configuration";
  if (contains(kQos, setting.id)) return "bng_en has no dcbnl operations: no kernel sets QoS of this NIC";
  if (setting.id == SettingId::cc || setting.id == SettingId::cnp_dscp || setting.id == SettingId::cnp_prio ||
      (SettingId::cc_mode <= setting.id && setting.id <= SettingId::roce_dscp))
    return "no kernel sets the congestion control of this NIC: bng_re has no files for it";
  return upstream::remedy(setting, have, netdev, code);
}

// While flow control is negotiated, or when that ends, the PHY is reset (bnge_hwrm_set_pause()).
constexpr SettingOp kOps[] = {
    {SettingId::pause, {upstream::write_pause, "bnge_ethtool.c bnge_set_pauseparam()"}},
};

}  // namespace

const Driver kBnge{
    .name = "bnge",
    .source = "drivers/net/ethernet/broadcom/bnge",
    .kernel_names = {"bng_en"},
    .remedy = remedy,
    .ops = kOps,
};

}  // namespace fabric
