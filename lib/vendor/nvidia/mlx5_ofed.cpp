// SPDX-License-Identifier: Apache-2.0
// mlx5_core of NVIDIA OFED and DOCA: dcbnl as upstream, congestion control in sysfs, where each priority has a switch
// of its own (mlx5/core/en_sysfs.c, en_ecn.c), and a traffic class forced on all queue pairs
// (infiniband/hw/mlx5/main_ext.c). OFED's qos/ files say the same as dcbnl and are left alone; qos/trust was in
// OFED 4.1 only.
// cnp_802p_prio shows the number also while the firmware chooses the priority (cnp_prio_mode), which no file shows; a
// write ends that (mlx5e_store_cnp_802p_prio() sends a mode of 0). A query that fails is an error of the read, but for
// enable/0..7, which are then empty.
#include "base/parse.h"
#include "vendor/driver.h"
#include "vendor/generic/file_settings.h"
#include "vendor/generic/upstream.h"
#include "vendor/nvidia/mlx5.h"

namespace fabric {
namespace {

constexpr SettingId kFirst = SettingId::cnp_dscp, kLast = SettingId::initial_alpha_value;

bool is_parameter(SettingId id) { return kFirst <= id && id <= kLast; }

std::string folder_of(const std::string& netdev) { return "sys/class/net/" + netdev + "/ecn"; }

// The files have the names of the settings, but for one. np: the notification point's; rp: the reaction point's.
std::string file_of(const PortIo& io, SettingId id) {
  const bool is_np = id == SettingId::ecn_np || (kFirst <= id && id <= SettingId::min_time_between_cnps);
  const std::string folder = folder_of(io.netdev) + (is_np ? "/roce_np/" : "/roce_rp/");
  if (id == SettingId::ecn_rp || id == SettingId::ecn_np) return folder + "enable";
  return folder + std::string(id == SettingId::cnp_prio ? "cnp_802p_prio" : key_text(id));
}

bool has_ecn_files(const Root& root, const std::string& netdev) { return root.exists(folder_of(netdev)); }

std::string enable_file(const PortIo& io, SettingId id, int prio) {
  return file_of(io, id) + "/" + std::to_string(prio);
}

// All eight, or nothing: a priority of which nothing is known is not one that is off.
void read_enable(PortIo& io, SettingId id, std::optional<PrioSet>& out) {
  if (!io.wants(id)) return;
  PrioSet on;
  for (int prio = 0; prio < kPriorities; ++prio) {
    const std::string file = enable_file(io, id, prio);
    auto value = file_settings::read_number(io.kernel.root, file);
    if (!value) {
      io.limits.reasons[id] = file_settings::why_no_number(io, file, value.error());
      return;
    }
    if (*value != 0) on.bits = static_cast<uint8_t>(on.bits | 1u << prio);
  }
  out = on;
}

Result<void> write_enable(PortIo& io, const Setting& setting, const Qos& want, const Qos& have) {
  const PrioSet to = (setting.id == SettingId::ecn_rp ? want.ecn_rp : want.ecn_np).value_or(PrioSet{});
  const PrioSet from = (setting.id == SettingId::ecn_rp ? have.ecn_rp : have.ecn_np).value_or(PrioSet{});
  for (int prio = 0; prio < kPriorities; ++prio)
    if (to.has(prio) != from.has(prio))
      if (auto written = io.kernel.root.write(enable_file(io, setting.id, prio), to.has(prio) ? "1" : "0"); !written)
        return written;
  return {};
}

std::string traffic_class_file(const PortIo& io) {
  return "sys/class/infiniband/" + io.rdma + "/tc/" + std::to_string(io.port) + "/traffic_class";
}

// "Global tclass=106", then a line for each rule that is bound to addresses; no such line where none is forced on all.
OrNone parse_traffic_class(std::string_view text) {
  constexpr std::string_view kGlobal = "Global tclass=";
  for (std::string_view line : split(text, '\n'))
    if (trim(line).starts_with(kGlobal)) return {parse_number<uint32_t>(trim(line).substr(kGlobal.size()))};
  return {};
}

void read_traffic_class(PortIo& io, Qos& out) {
  if (!io.wants(SettingId::traffic_class)) return;
  if (io.rdma.empty()) {
    io.limits.reasons[SettingId::traffic_class] = io.netdev + " has no RDMA device: mlx5_ib is not loaded";
    return;
  }
  const std::string file = traffic_class_file(io);
  if (auto text = io.kernel.root.read(file)) out.traffic_class = parse_traffic_class(*text);
  else io.limits.reasons[SettingId::traffic_class] = file_settings::why_not(io, file, text.error().code);
}

Result<void> write_traffic_class(PortIo& io, const Setting&, const Qos& want, const Qos&) {
  const auto& value = want.traffic_class->value;
  return io.kernel.root.write(traffic_class_file(io), value ? std::to_string(*value) : "-1");
}

Result<Qos> read(PortIo& io) {
  auto out = mlx5::read(io);
  if (!out) return out;
  for (const Setting& setting : kSettings)
    if (is_parameter(setting.id)) file_settings::read(io, file_of(io, setting.id), setting.id, *out);
  read_enable(io, SettingId::ecn_rp, out->ecn_rp);
  read_enable(io, SettingId::ecn_np, out->ecn_np);
  read_traffic_class(io, *out);
  return out;
}

Result<void> write_parameter(PortIo& io, const Setting& setting, const Qos& want, const Qos&) {
  return file_settings::write(io, file_of(io, setting.id), setting, want);
}

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (setting.id == SettingId::ecn_rp || setting.id == SettingId::ecn_np || setting.id == SettingId::traffic_class ||
      is_parameter(setting.id))
    return file_settings::remedy(code);
  if (setting.id == SettingId::rtt_resp_dscp && code == 0)
    return "OFED and DOCA have no file for it: mlxconfig, or the kernel's own driver";
  return mlx5::remedy(setting, have, netdev, code);
}

constexpr auto kSwitches = std::to_array<SettingOp>({
    {SettingId::ecn_rp, {write_enable, "en_ecn.c mlx5e_store_ecn_enable()", kHarmless}},
    {SettingId::ecn_np, {write_enable, "en_ecn.c mlx5e_store_ecn_enable()", kHarmless}},
    {SettingId::traffic_class, {write_traffic_class, "infiniband/hw/mlx5/main_ext.c", kHarmless, true}},
});
constexpr auto kOps = file_settings::join(
    mlx5::kDcbOps, kSwitches, file_settings::ops_of<kFirst, kLast>({write_parameter, "en_ecn.c", kHarmless}));

}  // namespace

const Driver kMlx5Ofed{
    .name = "mlx5_ofed",
    .source = "mlx5/core of NVIDIA OFED and DOCA",
    .kernel_names = {"mlx5_core"},
    .evidence = has_ecn_files,
    .read = read,
    .expected = mlx5::expected,
    .effect = mlx5::effect,
    .impossible = mlx5::impossible,
    .remedy = remedy,
    .ops = kOps,
    .settle = mlx5::settle,
};

}  // namespace fabric
