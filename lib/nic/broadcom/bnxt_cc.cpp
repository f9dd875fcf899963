// SPDX-License-Identifier: Apache-2.0
#include "nic/broadcom/bnxt_cc.h"

#include <algorithm>
#include <cstdio>

#include "nic/generic/configfs_item.h"
#include "nic/generic/file_settings.h"

namespace fabric::bnxt_cc {
namespace {

// The same numbers by each door's names.
struct Names {
  SettingId setting;
  std::string_view configfs, debugfs;
};
constexpr auto kNumbers = std::to_array<Names>({
    {SettingId::cc_mode, "cc_mode", "cc_mode"},
    {SettingId::cc_g, "g", "run_avg_weight_g"},
    {SettingId::cc_phases, "nph_per_state", "num_phase_per_state"},
    {SettingId::cc_init_cr, "init_cr", "init_cr"},
    {SettingId::cc_init_tr, "init_tr", "init_tr"},
    {SettingId::cc_rtt, "rtt", "rtt"},
    {SettingId::cc_tcp_cp, "tcp_cp", "tcp_cp"},
    {SettingId::cc_inactivity_cp, "inact_th", "inactivity_cp"},
    {SettingId::cnp_dscp, "cnp_dscp", "alt_vlan_dscp"},
    {SettingId::cnp_prio, "cnp_prio", "alt_vlan_pcp"},
    {SettingId::roce_dscp, "roce_dscp", "tos_dscp"},
});
constexpr Names kMarking{SettingId::cc, "ecn_marking", "tos_ecn"};
constexpr Names kEnable{SettingId::cc, "ecn_enable", "enable_cc"};
constexpr Names kRocePrio{SettingId::roce_prio, "roce_prio", ""};

constexpr std::string_view kConfigfs = "sys/kernel/config/bnxt_re";
constexpr std::string_view kDebugfs = "sys/kernel/debug/bnxt_re";

bool is_ours(SettingId id) { return id == SettingId::cc || contains(kNumbers, id, &Names::setting); }

// The folder of the numbers while it is open.
struct Door {
  const Root& root;
  std::string folder;
  std::optional<ConfigfsItem> item{};  // absent: debugfs

  [[nodiscard]] std::string file(const Names& names) const {
    return folder + "/" + std::string(item ? names.configfs : names.debugfs);
  }
  [[nodiscard]] bool stands() const { return !item || item->stands(); }
  [[nodiscard]] Result<uint32_t> read(const Names& names) const {
    return file_settings::read_number(root, file(names));
  }
  [[nodiscard]] Result<void> write(const Names& names, uint32_t value) const {
    char text[16];
    std::snprintf(text, sizeof text, item ? "0x%x" : "%u", value);
    return item ? root.write(file(names), text) : root.write_owned(file(names), text);
  }
  // Commits the written values to the firmware (configfs).
  [[nodiscard]] Result<void> apply() const {
    if (!item) return {};
    return root.write(folder + "/apply", "0x1");
  }
};

Result<Door> open_door(const PortIo& io) {
  const Root& root = io.kernel.root;
  if (root.exists(std::string(kConfigfs)) && !io.rdma.empty()) {
    auto item = ConfigfsItem::open(root, std::string(kConfigfs) + "/" + io.rdma);
    if (!item) return item.error();
    std::string folder = item->path() + "/ports/" + std::to_string(io.port) + "/cc";
    return Door{root, std::move(folder), std::move(*item)};
  }
  std::string folder = std::string(kDebugfs) + "/" + io.pci + "/cc_config";
  if (auto files = root.list(folder); !files) return files.error();
  return Door{root, std::move(folder)};
}

using Values = std::vector<std::pair<Names, uint32_t>>;

// Sets them all, or none. The old driver shows a number that was written, applied or not: it would be taken for what
// the NIC does.
Result<void> set_together(const Door& door, const Values& values) {
  Values before;
  Result<void> done;
  for (const auto& [names, value] : values) {
    const auto now = door.read(names);
    if (now && *now == value) continue;
    if (now) done = door.write(names, value);
    else done = now.error();
    if (!done) break;
    before.emplace_back(names, *now);
  }
  if (done) done = door.apply();
  if (done) return done;
  Error why = done.error();
  for (; !before.empty(); before.pop_back()) {
    const auto& [names, value] = before.back();
    if (auto back = door.write(names, value); !back)
      why.what += "; /" + door.file(names) + " could not be restored to " + std::to_string(value);
  }
  return why;
}

void read_number(const PortIo& io, const Door& door, const Names& names, Reading& out) {
  if (auto value = door.read(names)) file_settings::put(setting_of(names.setting), *value, out.values);
  else out.not_offered(names.setting, file_settings::why_not(io, door.file(names), value.error().code));
}

void read_switch(const PortIo& io, const Door& door, Reading& out) {
  auto marking = door.read(kMarking), enable = door.read(kEnable);
  if (marking && enable) out.values.cc = *enable != 0 && *marking != 0;
  else
    out.not_offered(SettingId::cc,
                    file_settings::why_not(io, door.file(kEnable), (enable ? marking : enable).error().code));
}

// Settings that this kernel does not let us set, with the reason. remedy() covers a bnxt_re without such files.
void say_why_closed(const PortIo& io, const Keys& keys, int code, Reading& out) {
  const bool configfs = io.kernel.root.exists(std::string(kConfigfs));
  const std::string path = configfs ? std::string(kConfigfs) + "/" + io.rdma : std::string(kDebugfs) + "/" + io.pci;
  std::string why = file_settings::closed(io, path);
  if (configfs || code != ENOENT) why = file_settings::why_not(io, path, code);
  if (why.empty()) return;
  for (const Setting& setting : kSettings)
    if (has_key(keys, setting.id) && is_ours(setting.id)) out.not_offered(setting.id, why);
}

Result<void> write(const PortIo& io, const Setting& setting, const Qos& want, const Reading&) {
  auto door = open_door(io);
  if (!door) return door.error();
  if (const Names* number = find_where(kNumbers, [&](const Names& each) { return each.setting == setting.id; }))
    return set_together(*door, {{*number, file_settings::take(setting, want).value_or(0)}});
  // ECT(1) where data goes out as not ECN-capable; a configured ECT(0) is as good.
  const uint32_t on = *want.cc ? 1 : 0;
  const auto marking = door->read(kMarking);
  return set_together(*door, {{kMarking, on != 0 && marking ? std::max(*marking, on) : on}, {kEnable, on}});
}

// One firmware command each.
constexpr Op kOp{
    write, "/infiniband/hw/bnxt_re/debugfs.c bnxt_re_cc_config_set(), or bnxt_re/configfs.c of Broadcom's package",
    kHarmless};

}  // namespace

void read(const PortIo& io, const Keys& keys, Reading& out) {
  if (std::ranges::none_of(kSettings, [&](const Setting& each) { return is_ours(each.id) && has_key(keys, each.id); }))
    return;
  for (int tries = 1; tries <= ConfigfsItem::kTries; ++tries) {
    auto door = open_door(io);
    if (!door) return say_why_closed(io, keys, door.error().code, out);
    if (has_key(keys, SettingId::cc)) read_switch(io, *door, out);
    for (const Names& names : kNumbers)
      if (has_key(keys, names.setting)) read_number(io, *door, names, out);
    if (door->stands()) return;
  }
}

constinit const std::array<SettingOp, 12> kOps =
    file_settings::join(std::array{SettingOp{SettingId::cc, kOp}}, file_settings::ops(kNumbers, kOp));

void follow_roce_prio(const PortIo& io, uint32_t prio) {
  if (io.rdma.empty() || !io.kernel.root.exists(std::string(kConfigfs))) return;
  if (auto door = open_door(io)) (void)set_together(*door, {{kRocePrio, prio}});
}

std::string remedy(const Setting& setting, int code) {
  if (setting.id == SettingId::ecn_rp || setting.id == SettingId::ecn_np)
    return "bnxt_re has one switch for all priorities: cc";
  if (!is_ours(setting.id)) return {};
  if (code == 0)
    return "this bnxt_re has no knob for it (Linux 6.12 switches congestion control on by itself): take Linux 6.15 "
           "or later with debugfs, Broadcom's bnxt_re package with its configfs, or niccli";
  if (code == EPERM) return "kernel lockdown (Secure Boot) closes debugfs even to root: set it with niccli";
  if (code == EACCES) return "the files are root's alone (needs CAP_DAC_OVERRIDE)";
  if (code == EINVAL &&
      (setting.id == SettingId::cnp_dscp || setting.id == SettingId::cnp_prio || setting.id == SettingId::roce_dscp))
    return "firmware with service profiles takes DSCPs and priorities of RoCE and CNPs from dscp_map and its profile "
           "(niccli)";
  return file_settings::remedy(code);
}

}  // namespace fabric::bnxt_cc
