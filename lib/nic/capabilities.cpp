// SPDX-License-Identifier: Apache-2.0
#include "nic/capabilities.h"

#include "base/find.h"

namespace fabric {
namespace {

struct DriverRow {
  std::string_view kernel_driver;
  Capabilities capabilities;
};

constexpr DriverRow kRows[] = {
    // PortXmitWait: sysfs does not name its tick. NVIDIA devices count eight bytes of the port since Quantum, 32 of a
    // lane before (ibdiagnet manual 2.13, "Congestion Assessment on InfiniBand Links"; ib-traffic-monitor uses the same
    // for NICs).
    {"mlx5_core",
     {.priority_bytes = true,
      .counts_by_queue_pair = true,
      .multi_pf_netdev = true,
      .transmit_wait_bytes = 8,
      .lldp_agent_off =
          "mlxconfig -d ADDRESS set LLDP_NB_RX_MODE_P1=0 LLDP_NB_DCBX_P1=0, then mlxfwreset -d ADDRESS reset",
      .devlink_reload = true}},
    {"mlx4_core", {.devlink_reload = true}},
    {"hns3", {.devlink_reload = true}},
    {"bnxt_en",
     {.priority_bytes = true,
      .storm_warning_stops_pause = true,
      .lldp_agent_off = "niccli: LLDP nearest bridge agent off in the NIC's NVM",
      .devlink_reload = true}},
    {"bng_en", {.priority_bytes = true}},
    {"ice",
     {.lldp_agent_off = "ethtool --set-priv-flags NETDEV fw-lldp-agent off, or fw_lldp = false in the policy",
      .devlink_reload = true}},
    {"i40e",
     {.lldp_agent_off = "ethtool --set-priv-flags NETDEV disable-fw-lldp on, or fw_lldp = false in the policy"}},
    {"efa", {.resends_on_other_paths = true}},
    {"siw", {.breaks_nvidia_smi_topo = true}},
};

}  // namespace

const Capabilities& capabilities_of(std::string_view kernel_driver) {
  static constexpr Capabilities kNone{};
  const DriverRow* row = find_where(kRows, [&](const DriverRow& each) { return each.kernel_driver == kernel_driver; });
  if (row == nullptr) return kNone;
  return row->capabilities;
}

std::string_view software_driver(bool has_parent_file, std::string_view protocol) {
  if (has_parent_file) return "rxe";
  if (protocol == "iw") return "siw";
  return "";
}

}  // namespace fabric
