// SPDX-License-Identifier: Apache-2.0
// Software RDMA (rxe, siw) on a netdev without a known PCI driver: it has no hardware queues, only the netdev's MTU,
// and global pause if the netdev offers it.
#include "nic/driver.h"
#include "nic/generic/upstream.h"

namespace fabric {
namespace {

std::string remedy(const Setting& setting, const Qos&, const std::string&, int code) {
  if (code != 0) return {};
  const SettingId key = setting.id;
  if (key == SettingId::pause) return "the netdev below software RDMA has no pause";
  if (key == SettingId::fw_lldp) return "software RDMA has no firmware";
  if (key >= SettingId::ecn_rp && key <= SettingId::cc_inactivity_cp)
    return "software RDMA has no congestion control: siw has TCP's, rxe none";
  return "software RDMA has no priorities in hardware";
}

constexpr SettingOp kOps[] = {
    {SettingId::pause, {upstream::write_pause, "net/ethtool/pause.c ethnl_set_pause()"}},
    {SettingId::mtu, {upstream::write_mtu, "net/core/dev.c dev_set_mtu()"}},
};

}  // namespace

const Driver kRxe{.name = "rxe", .kernel_names = {"rxe", "siw"}, .remedy = remedy, .ops = kOps};

}  // namespace fabric
