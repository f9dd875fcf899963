// SPDX-License-Identifier: Apache-2.0
// The NIC's PFC watchdog: after that time of continuous pause it stops sending it, so that a host that hangs does not
// stop the network behind it. ethtool's tunable pfc-prevention-tout, in milliseconds, 0 for off: mlx5 since Linux 4.17,
// bnxt_en since Linux 6.18 and fbnic. The defaults are the firmware's: 8 s on NVIDIA's NICs (kernel commit
// 2afa609f5c97).
#include "base/parse.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "nic/driver.h"

namespace fabric {
namespace {

constexpr SettingId kId = SettingId::pfc_watchdog;

void read(const PortIo& io, const Keys& keys, Reading& out) {
  if (!has_key(keys, kId)) return;
  const auto live = [&]() -> Result<std::string> {
    if (!io.kernel.tunables) return error(EOPNOTSUPP, io.netdev + ": no tunables");
    const auto value = io.kernel.tunables->pfc_prevention(io.netdev);
    if (!value) return value.error();
    return std::to_string(*value);
  };
  const auto text = query_recorded(io.kernel, "tunable pfc-prevention-tout " + io.netdev, live);
  // EINVAL: drivers that have other tunables alone, as mlx4_en_get_tunable().
  if (!text && (text.error().code == EOPNOTSUPP || text.error().code == EINVAL))
    return out.not_offered(kId,
                           "this driver, or the NIC's firmware, has no PFC watchdog (ethtool's tunable "
                           "pfc-prevention-tout)");
  if (!text) return out.not_offered(kId, text.error().text());
  out.values.pfc_watchdog = parse_number<uint16_t>(*text);
}

// The ioctl addresses the netdev by name, which is checked again directly before.
Result<void> write(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  if (!io.kernel.tunables) return error(EOPNOTSUPP, io.netdev + ": set pfc-prevention-tout: not this machine");
  if (auto same = check_identity(io); !same) return same;
  return io.kernel.tunables->set_pfc_prevention(io.netdev, static_cast<uint16_t>(*want.pfc_watchdog));
}

std::string remedy(const Setting&, int code) {
  if (code == EINVAL)
    return "more milliseconds than the NIC's firmware counts";                   // bnxt_set_tunable(): max_pfcwd_tmo_ms
  if (code == EOPNOTSUPP) return "a function of this port that may not set it";  // bnxt_set_tunable(): a VF
  return {};
}

// mlx5_set_port_stall_watermark() writes PFCC's watermarks and masks its pause bits; bnxt_hwrm_pfcwd_cfg() is a command
// of its own.
constexpr SettingOp kOps[] = {
    {kId, {write, "net/ethtool/ioctl.c ethtool_set_tunable()", kHarmless, Reach::itself}},
};

}  // namespace

const Feature kPfcWatchdog{.ops = kOps, .read = read, .remedy = remedy};

}  // namespace fabric
