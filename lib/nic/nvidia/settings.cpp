// SPDX-License-Identifier: Apache-2.0
// mlx5_core of Linux (ConnectX-4 and later, BlueField). Congestion control is in debugfs, one number and one
// firmware command each: drivers/infiniband/hw/mlx5/cong.c of Linux 6.12.
#include "nic/driver.h"
#include "nic/generic/file_settings.h"
#include "nic/generic/upstream.h"
#include "nic/nvidia/mlx5.h"

namespace fabric {
namespace {

// Two values are valid only if a second file has this number, else they are none; writing the value sets that number as
// well (mlx5_ib_set_cc_param_mask_val()).
struct ValidityFile {
  SettingId setting;
  std::string_view file;
  uint32_t valid;
};
constexpr ValidityFile kValidityFiles[]{
    {SettingId::cnp_prio, "np_cnp_prio_mode", 0},
    {SettingId::rtt_resp_dscp, "rtt_resp_dscp_valid", 1},
};

constexpr auto kFiles = std::to_array<file_settings::File>({
    {SettingId::cnp_dscp, "np_cnp_dscp"},
    {SettingId::cnp_prio, "np_cnp_prio"},
    {SettingId::min_time_between_cnps, "np_min_time_between_cnps"},
    {SettingId::clamp_tgt_rate, "rp_clamp_tgt_rate"},
    {SettingId::clamp_tgt_rate_after_time_inc, "rp_clamp_tgt_rate_ati"},
    {SettingId::rpg_time_reset, "rp_time_reset"},
    {SettingId::rpg_byte_reset, "rp_byte_reset"},
    {SettingId::rpg_threshold, "rp_threshold"},
    {SettingId::rpg_max_rate, "rp_max_rate"},
    {SettingId::rpg_ai_rate, "rp_ai_rate"},
    {SettingId::rpg_hai_rate, "rp_hai_rate"},
    {SettingId::rpg_gd, "rp_gd"},
    {SettingId::rpg_min_dec_fac, "rp_min_dec_fac"},
    {SettingId::rpg_min_rate, "rp_min_rate"},
    {SettingId::rate_to_set_on_first_cnp, "rp_rate_to_set_on_first_cnp"},
    {SettingId::dce_tcp_g, "rp_dce_tcp_g"},
    {SettingId::dce_tcp_rtt, "rp_dce_tcp_rtt"},
    {SettingId::rate_reduce_monitor_period, "rp_rate_reduce_monitor_period"},
    {SettingId::initial_alpha_value, "rp_initial_alpha_value"},
    {SettingId::rtt_resp_dscp, "rtt_resp_dscp"},
});

std::string folder_of(const PortIo& io) { return "sys/kernel/debug/mlx5/" + io.pci + "/cc_params"; }

std::string path_of(const PortIo& io, std::string_view file) { return folder_of(io) + "/" + std::string(file); }

const ValidityFile* validity_file_of(SettingId id) {
  return find_where(kValidityFiles, [=](const ValidityFile& each) { return each.setting == id; });
}

Result<Reading> read(const PortIo& io, const Keys& keys) {
  auto out = mlx5::read(io, keys);
  if (!out) return out;
  const Root& root = io.kernel.root;
  const std::string folder = folder_of(io);
  std::string why;
  if (!root.exists(folder)) {
    why = file_settings::closed(io, folder);
    // In a RoCE LAG only the first function has an RDMA device: mlx5_ib_stage_cong_debugfs_init().
    if (why.empty() && root.exists("sys/class/net/" + io.netdev + "/bonding_slave"))
      why =
          "in a RoCE LAG the kernel's driver has DCQCN's parameters only of the bond's first function; NVIDIA's "
          "OFED/DOCA driver has those of each function";
    if (why.empty())
      why = "there is no /" + folder + ": mlx5_ib is not loaded, or the NIC's firmware does not allow setting DCQCN";
  }
  // Only the requested files are read, because each costs a firmware command.
  for (const auto& [id, file] : kFiles) {
    if (!has_key(keys, id)) continue;
    if (!why.empty()) {
      out->not_offered(id, why);
      continue;
    }
    // An unreadable condition counts as absent: Linux 6.1 has only the first one.
    if (const ValidityFile* condition = validity_file_of(id)) {
      const auto value = file_settings::read_number(root, path_of(io, condition->file));
      if (value && *value != condition->valid) {
        file_settings::set_none(setting_of(id), out->values);
        continue;
      }
    }
    file_settings::read(io, path_of(io, file), id, *out);
  }
  return out;
}

Result<void> write_parameter(const PortIo& io, const Setting& setting, const Qos& want, const Reading&) {
  const ValidityFile* condition = validity_file_of(setting.id);
  if (condition != nullptr && !file_settings::number_of(setting, want))
    return io.kernel.root.write(path_of(io, condition->file), condition->valid == 0 ? "1" : "0");
  return file_settings::write(io, path_of(io, file_settings::find(kFiles, setting.id)->name), setting, want);
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (code == 0 && (setting.id == SettingId::ecn_rp || setting.id == SettingId::ecn_np))
    return "the kernel's own mlx5 driver has no switch for each priority: mlxconfig ROCE_CC_PRIO_MASK_P1 and _P2 (as "
           "shipped: on for all), or the driver of NVIDIA OFED/DOCA";
  if (code == 0 && setting.id == SettingId::traffic_class)
    return "only the driver of NVIDIA OFED/DOCA has it; roce_tos reaches rdma_cm users";
  if (file_settings::find(kFiles, setting.id) != nullptr) return file_settings::remedy(code);
  return mlx5::remedy(setting, have, netdev, code);
}

constexpr auto kOps = file_settings::join(
    mlx5::kDcbOps, file_settings::ops(kFiles, {write_parameter, "/infiniband/hw/mlx5/cong.c mlx5_ib_set_cc_params()",
                                               kHarmless, Reach::itself, true}));

}  // namespace

const Driver kMlx5{
    .name = "mlx5",
    .source = "drivers/net/ethernet/mellanox/mlx5/core",
    .kernel_names = {"mlx5_core"},
    .read = read,
    .expected = mlx5::expected,
    .effect = mlx5::effect,
    .never = mlx5::never,
    .impossible = mlx5::impossible,
    .remedy = remedy,
    .ops = kOps,
    .settle = mlx5::settle,
};

}  // namespace fabric
