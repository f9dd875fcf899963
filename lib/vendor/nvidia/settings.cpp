// SPDX-License-Identifier: Apache-2.0
// mlx5_core of Linux (ConnectX-4 and later, BlueField). Congestion control is in debugfs, one number and one
// firmware command each: drivers/infiniband/hw/mlx5/cong.c of Linux 6.12.
#include "vendor/driver.h"
#include "vendor/generic/file_settings.h"
#include "vendor/generic/upstream.h"
#include "vendor/nvidia/mlx5.h"

namespace fabric {
namespace {

// Two values count only while a second file says so, else they are none; to write the value sets that, too
// (mlx5_ib_set_cc_param_mask_val()).
struct Condition {
  SettingId setting;
  std::string_view file;
  uint32_t counts;
};
constexpr Condition kConditions[]{
    {SettingId::cnp_prio, "np_cnp_prio_mode", 0},  // 0: the value; 1: not
    {SettingId::rtt_resp_dscp, "rtt_resp_dscp_valid", 1},
};

constexpr SettingId kFirst = SettingId::cnp_dscp, kLast = SettingId::rtt_resp_dscp;

bool is_parameter(SettingId id) { return kFirst <= id && id <= kLast; }

std::string folder_of(const PortIo& io) { return "sys/kernel/debug/mlx5/" + io.pci + "/cc_params"; }

// np: the notification point's; rp: the reaction point's.
std::string file_of(const PortIo& io, SettingId id) {
  std::string_view name = key_text(id);
  if (id == SettingId::rtt_resp_dscp) return folder_of(io) + "/rtt_resp_dscp";
  if (id == SettingId::clamp_tgt_rate_after_time_inc) name = "clamp_tgt_rate_ati";
  if (name.starts_with("rpg_")) name.remove_prefix(4);
  return folder_of(io) + (id <= SettingId::min_time_between_cnps ? "/np_" : "/rp_") + std::string(name);
}

const Condition* condition_of(SettingId id) {
  return find_where(kConditions, [=](const Condition& each) { return each.setting == id; });
}

// An unreadable condition counts as absent: Linux 6.1 has only the first.
bool is_none(const PortIo& io, SettingId id) {
  const Condition* condition = condition_of(id);
  if (condition == nullptr) return false;
  auto value = file_settings::read_number(io.kernel.root, folder_of(io) + "/" + std::string(condition->file));
  return value && *value != condition->counts;
}

void read_parameters(PortIo& io, Qos& out) {
  const std::string folder = folder_of(io);
  std::string why;
  if (!io.kernel.root.exists(folder)) {
    why = file_settings::closed(io, folder);
    if (why.empty())
      why = "there is no /" + folder + ": mlx5_ib is not loaded, or the NIC's firmware does not allow to set DCQCN";
  }
  for (const Setting& setting : kSettings) {
    if (!is_parameter(setting.id) || !io.wants(setting.id)) continue;
    if (!why.empty()) io.limits.reasons[setting.id] = why;
    else if (is_none(io, setting.id)) (setting.id == SettingId::cnp_prio ? out.cnp_prio : out.rtt_resp_dscp) = OrNone{};
    else file_settings::read(io, file_of(io, setting.id), setting.id, out);
  }
}

Result<Qos> read(PortIo& io) {
  auto out = mlx5::read(io);
  if (out) read_parameters(io, *out);
  return out;
}

Result<void> write_parameter(PortIo& io, const Setting& setting, const Qos& want, const Qos&) {
  const Condition* condition = condition_of(setting.id);
  if (condition != nullptr && !file_settings::take(setting, want))
    return io.kernel.root.write(folder_of(io) + "/" + std::string(condition->file), condition->counts == 0 ? "1" : "0");
  return file_settings::write(io, file_of(io, setting.id), setting, want);
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (code == 0 && (setting.id == SettingId::ecn_rp || setting.id == SettingId::ecn_np))
    return "the kernel's own mlx5 driver has no switch for each priority: mlxconfig ROCE_CC_PRIO_MASK_P1 and _P2 (as "
           "shipped: on for all), or the driver of NVIDIA OFED/DOCA";
  if (code == 0 && setting.id == SettingId::traffic_class)
    return "only the driver of NVIDIA OFED/DOCA has it; roce_tos reaches rdma_cm users";
  if (is_parameter(setting.id)) return file_settings::remedy(code);
  return mlx5::remedy(setting, have, netdev, code);
}

constexpr auto kOps = file_settings::join(
    mlx5::kDcbOps, file_settings::ops_of<kFirst, kLast>(
                       {write_parameter, "/infiniband/hw/mlx5/cong.c mlx5_ib_set_cc_params()", kHarmless, true}));

}  // namespace

const Driver kMlx5{
    .name = "mlx5",
    .source = "drivers/net/ethernet/mellanox/mlx5/core",
    .kernel_names = {"mlx5_core"},
    .read = read,
    .expected = mlx5::expected,
    .effect = mlx5::effect,
    .impossible = mlx5::impossible,
    .remedy = remedy,
    .ops = kOps,
    .settle = mlx5::settle,
};

}  // namespace fabric
