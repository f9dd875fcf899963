// SPDX-License-Identifier: Apache-2.0
// mlx5_core of NVIDIA OFED and DOCA: dcbnl as in Linux, congestion control in sysfs, where each priority has a switch
// of its own (mlx5/core/en_sysfs.c, en_ecn.c), and a traffic class forced on all queue pairs
// (infiniband/hw/mlx5/main_ext.c). OFED's qos/ files have the same values as dcbnl and are not used; qos/trust was in
// OFED 4.1 only.
// cnp_802p_prio shows the number also while the firmware chooses the priority (cnp_prio_mode), which no file shows; a
// write ends that (mlx5e_store_cnp_802p_prio() sends a mode of 0). If a query fails, the read fails, except that the
// files enable/0..7 are then empty.
#include <algorithm>

#include "base/parse.h"
#include "kernel/rdma/infiniband.h"
#include "nic/driver.h"
#include "nic/generic/file_settings.h"
#include "nic/generic/upstream.h"
#include "nic/nvidia/mlx5.h"

namespace fabric {
namespace {

constexpr auto kFiles = std::to_array<file_settings::File>({
    {SettingId::cnp_dscp, "roce_np/cnp_dscp"},
    {SettingId::cnp_prio, "roce_np/cnp_802p_prio"},
    {SettingId::min_time_between_cnps, "roce_np/min_time_between_cnps"},
    {SettingId::clamp_tgt_rate, "roce_rp/clamp_tgt_rate"},
    {SettingId::clamp_tgt_rate_after_time_inc, "roce_rp/clamp_tgt_rate_after_time_inc"},
    {SettingId::rpg_time_reset, "roce_rp/rpg_time_reset"},
    {SettingId::rpg_byte_reset, "roce_rp/rpg_byte_reset"},
    {SettingId::rpg_threshold, "roce_rp/rpg_threshold"},
    {SettingId::rpg_max_rate, "roce_rp/rpg_max_rate"},
    {SettingId::rpg_ai_rate, "roce_rp/rpg_ai_rate"},
    {SettingId::rpg_hai_rate, "roce_rp/rpg_hai_rate"},
    {SettingId::rpg_gd, "roce_rp/rpg_gd"},
    {SettingId::rpg_min_dec_fac, "roce_rp/rpg_min_dec_fac"},
    {SettingId::rpg_min_rate, "roce_rp/rpg_min_rate"},
    {SettingId::rate_to_set_on_first_cnp, "roce_rp/rate_to_set_on_first_cnp"},
    {SettingId::dce_tcp_g, "roce_rp/dce_tcp_g"},
    {SettingId::dce_tcp_rtt, "roce_rp/dce_tcp_rtt"},
    {SettingId::rate_reduce_monitor_period, "roce_rp/rate_reduce_monitor_period"},
    {SettingId::initial_alpha_value, "roce_rp/initial_alpha_value"},
});

std::string folder_of(const std::string& netdev) { return "sys/class/net/" + netdev + "/ecn"; }

std::string path_of(const PortIo& io, const file_settings::File& file) {
  return folder_of(io.netdev) + "/" + std::string(file.name);
}

// A bond has these files at its members.
bool has_ecn_files(const Root& root, const std::string& netdev) {
  const std::string names = netdev + " " + root.line_of("sys/class/net/" + netdev + "/bonding/slaves");
  return std::ranges::any_of(words(names), [&](auto name) { return root.exists(folder_of(std::string(name))); });
}

// The path is relative to folder_of().
std::string enable_file(SettingId id, int prio) {
  const std::string side = id == SettingId::ecn_rp ? "roce_rp" : "roce_np";
  return side + "/enable/" + std::to_string(prio);
}

Result<void> write_enable(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have) {
  const auto member = setting.id == SettingId::ecn_rp ? &Qos::ecn_rp : &Qos::ecn_np;
  const PrioSet to = (want.*member).value_or(PrioSet{}), from = (have.values.*member).value_or(PrioSet{});
  for (int prio = 0; prio < kPriorities; ++prio)
    if (to.has(prio) != from.has(prio))
      if (auto written = write_netdev_file(io, "ecn/" + enable_file(setting.id, prio), to.has(prio) ? "1" : "0");
          !written)
        return written;
  return {};
}

// The path is relative to the folder of the RDMA device.
std::string traffic_class_file(const PortIo& io) { return "tc/" + std::to_string(io.port) + "/traffic_class"; }

Result<void> write_traffic_class(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  const auto& value = want.traffic_class->value;
  return write_rdma_file(io, traffic_class_file(io), value ? std::to_string(*value) : "-1");
}

// The notification point is a switch of the port that has a file for each priority: NVIDIA's NICs send CNPs for all of
// them while one is on (NVIDIA, "HowTo Configure DCQCN"). So another priority that is on is no difference.
Qos expected(const Qos& want, const Reading& have) {
  Qos out = mlx5::expected(want, have);
  const auto& on = have.values.ecn_np;
  if (out.ecn_np && out.ecn_np->bits != 0 && on && on->bits != 0) out.ecn_np = on;
  return out;
}

Result<Reading> read(const PortIo& io, const Keys& keys) {
  auto out = mlx5::read(io, keys);
  if (!out) return out;
  // mlx5e_set_trust_state() sets the number of classes, too (mlx5e_setup_tc_mqprio()), and so closes and opens the
  // netdev's channels. More DSCPs beside others do not change the trust.
  out->notes.harmless.reset(index(SettingId::trust));
  if (out->values.trust != Trust::dscp) out->notes.harmless.reset(index(SettingId::dscp_map));
  for (const auto& file : kFiles)
    if (has_key(keys, file.setting)) file_settings::read(io, path_of(io, file), file.setting, *out);
  // All eight priorities or none: an unreadable switch is not one that is off.
  for (SettingId id : {SettingId::ecn_rp, SettingId::ecn_np}) {
    if (!has_key(keys, id)) continue;
    PrioSet on;
    std::string why;
    for (int prio = 0; prio < kPriorities && why.empty(); ++prio) {
      const std::string file = folder_of(io.netdev) + "/" + enable_file(id, prio);
      const auto value = file_settings::read_number(io.kernel.root, file);
      if (!value) why = file_settings::why_no_number(io, file, value.error());
      else if (*value != 0) on.bits = static_cast<uint8_t>(on.bits | 1u << prio);
    }
    if (!why.empty()) out->not_offered(id, why);
    else if (id == SettingId::ecn_rp) out->values.ecn_rp = on;
    else out->values.ecn_np = on;
  }
  if (!has_key(keys, SettingId::traffic_class)) return out;
  if (io.rdma.empty()) {
    out->not_offered(SettingId::traffic_class, io.netdev + " has no RDMA device: mlx5_ib is not loaded");
    return out;
  }
  const std::string file = infiniband::device_folder(io.rdma) + "/" + traffic_class_file(io);
  const auto text = io.kernel.root.read(file);
  if (!text) {
    out->not_offered(SettingId::traffic_class, file_settings::why_not(io, file, text.error().code));
    return out;
  }
  // "Global tclass=106", then a line for each rule that is bound to addresses. Without such a line none is forced on
  // all.
  OrNone& traffic_class = out->values.traffic_class.emplace();
  constexpr std::string_view kGlobal = "Global tclass=";
  for (std::string_view line : split(*text, '\n'))
    if (trim(line).starts_with(kGlobal)) {
      traffic_class.value = parse_number<uint32_t>(trim(line).substr(kGlobal.size()));
      break;
    }
  return out;
}

Result<void> write_parameter(const PortIo& io, const Setting& setting, const Qos& want, const Reading&) {
  const auto text = file_settings::text_of(io, setting, want);
  if (!text) return text.error();
  return write_netdev_file(io, "ecn/" + std::string(file_settings::find(kFiles, setting.id)->name), *text);
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (setting.id == SettingId::ecn_rp || setting.id == SettingId::ecn_np || setting.id == SettingId::traffic_class ||
      file_settings::find(kFiles, setting.id) != nullptr)
    return file_settings::remedy(code);
  if (setting.id == SettingId::rtt_resp_dscp && code == 0)
    return "OFED and DOCA have no file for it: mlxconfig, or the kernel's own driver";
  // mlx5e_set_trust_state()
  if ((setting.id == SettingId::trust || setting.id == SettingId::dscp_map) && code == EINVAL)
    return "OFED does not change the trust while mqprio is in channel mode: tc qdisc show dev " + netdev;
  return mlx5::remedy(setting, have, netdev, code);
}

constexpr auto kSwitches = std::to_array<SettingOp>({
    {SettingId::ecn_rp, {write_enable, "en_ecn.c mlx5e_store_ecn_enable()", kHarmless, Reach::itself}},
    {SettingId::ecn_np, {write_enable, "en_ecn.c mlx5e_store_ecn_enable()", kHarmless, Reach::itself}},
    {SettingId::traffic_class, {write_traffic_class, "infiniband/hw/mlx5/main_ext.c", kHarmless, Reach::itself, true}},
});
constexpr auto kOps = file_settings::join(
    mlx5::kDcbOps, kSwitches, file_settings::ops(kFiles, {write_parameter, "en_ecn.c", kHarmless, Reach::itself}));

}  // namespace

const Driver kMlx5Ofed{
    .name = "mlx5_ofed",
    .source = "mlx5/core of NVIDIA OFED and DOCA",
    .kernel_names = {"mlx5_core"},
    .evidence = has_ecn_files,
    .read = read,
    .expected = expected,
    .effect = mlx5::effect,
    .never = mlx5::never,
    .impossible = mlx5::impossible,
    .remedy = remedy,
    .ops = kOps,
    .settle = mlx5::settle,
};

}  // namespace fabric
