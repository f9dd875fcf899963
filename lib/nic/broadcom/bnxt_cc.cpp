// SPDX-License-Identifier: Apache-2.0
#include "nic/broadcom/bnxt_cc.h"

#include <algorithm>
#include <cstdio>

#include "nic/generic/configfs_item.h"
#include "nic/generic/file_settings.h"

namespace fabric::bnxt_cc {
namespace {

// A number's file names in the two interfaces.
struct FileNames {
  SettingId setting;
  std::string_view configfs, debugfs;
};
constexpr auto kNumbers = std::to_array<FileNames>({
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
constexpr FileNames kMarking{SettingId::cc, "ecn_marking", "tos_ecn"};
constexpr FileNames kEnable{SettingId::cc, "ecn_enable", "enable_cc"};
constexpr FileNames kRocePrio{SettingId::roce_prio, "roce_prio", ""};

constexpr std::string_view kConfigfs = "sys/kernel/config/bnxt_re";
constexpr std::string_view kDebugfs = "sys/kernel/debug/bnxt_re";

bool is_ours(SettingId id) { return id == SettingId::cc || contains(kNumbers, id, &FileNames::setting); }

// The folder of the numbers; while the object exists, so does the folder.
struct ParameterFolder {
  const PortIo& io;
  const Root& root;
  std::string path;
  std::optional<ConfigfsItem> item{};  // absent: debugfs

  [[nodiscard]] std::string file(const FileNames& names) const {
    return path + "/" + std::string(item ? names.configfs : names.debugfs);
  }
  [[nodiscard]] bool exists() const { return !item || item->exists(); }
  [[nodiscard]] Result<uint32_t> read(const FileNames& names) const {
    return file_settings::read_number(root, file(names));
  }
  [[nodiscard]] Result<void> write(const FileNames& names, uint32_t value) const {
    if (auto same = check_rdma_name(io); !same) return same;
    char text[16];
    std::snprintf(text, sizeof text, item ? "0x%x" : "%u", value);
    return item ? root.write(file(names), text) : root.write_owned(file(names), text);
  }
};

Result<ParameterFolder> open_folder(const PortIo& io) {
  const Root& root = io.kernel.root;
  if (root.exists(std::string(kConfigfs)) && !io.rdma.empty()) {
    auto item = ConfigfsItem::open(root, std::string(kConfigfs) + "/" + io.rdma);
    if (!item) return item.error();
    std::string path = item->path() + "/ports/" + std::to_string(io.port) + "/cc";
    return ParameterFolder{io, root, std::move(path), std::move(*item)};
  }
  std::string path = std::string(kDebugfs) + "/" + io.pci + "/cc_config";
  if (auto files = root.list(path); !files) return files.error();
  return ParameterFolder{io, root, std::move(path)};
}

using ParameterValues = std::vector<std::pair<FileNames, uint32_t>>;

// Sets all values, or none. The old driver shows a written number whether it was applied or not, so that a partial
// write would look like the NIC's values.
Result<void> set_together(const ParameterFolder& folder, const ParameterValues& values) {
  ParameterValues before;
  Result<void> done;
  for (const auto& [names, value] : values) {
    const auto now = folder.read(names);
    if (now && *now == value) continue;
    if (now) done = folder.write(names, value);
    else done = now.error();
    if (!done) break;
    before.emplace_back(names, *now);
  }
  // configfs: commits the written values to the firmware.
  if (done && folder.item) done = folder.root.write(folder.path + "/apply", "0x1");
  if (done) return done;
  Error why = done.error();
  for (; !before.empty(); before.pop_back()) {
    const auto& [names, value] = before.back();
    if (auto back = folder.write(names, value); !back)
      why.what += "; /" + folder.file(names) + " could not be restored to " + std::to_string(value);
  }
  return why;
}

Result<void> write(const PortIo& io, const Setting& setting, const Qos& want, const Reading&) {
  auto folder = open_folder(io);
  if (!folder) return folder.error();
  if (const FileNames* number = find_where(kNumbers, [&](const FileNames& each) { return each.setting == setting.id; }))
    return set_together(*folder, {{*number, file_settings::number_of(setting, want).value_or(0)}});
  // Data that is sent as not ECN-capable gets ECT(1); a configured ECT(0) is as good.
  const uint32_t on = *want.cc ? 1 : 0;
  const auto marking = folder->read(kMarking);
  uint32_t mark = on;
  if (on != 0 && marking) mark = std::max(*marking, on);
  return set_together(*folder, {{kMarking, mark}, {kEnable, on}});
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
    auto folder = open_folder(io);
    if (!folder) {
      // remedy() covers a bnxt_re without such files.
      const bool configfs = io.kernel.root.exists(std::string(kConfigfs));
      std::string path = std::string(kDebugfs) + "/" + io.pci;
      if (configfs) path = std::string(kConfigfs) + "/" + io.rdma;
      std::string why = file_settings::closed(io, path);
      if (const int code = folder.error().code; configfs || code != ENOENT)
        why = file_settings::why_not(io, path, code);
      if (why.empty()) return;
      for (const Setting& setting : kSettings)
        if (has_key(keys, setting.id) && is_ours(setting.id)) out.not_offered(setting.id, why);
      return;
    }
    const auto why_no_number = [&](const FileNames& names, const Error& failure) {
      return file_settings::why_not(io, folder->file(names), failure.code);
    };
    if (has_key(keys, SettingId::cc)) {
      const auto marking = folder->read(kMarking), enable = folder->read(kEnable);
      if (marking && enable) out.values.cc = *enable != 0 && *marking != 0;
      else out.not_offered(SettingId::cc, why_no_number(kEnable, (enable ? marking : enable).error()));
    }
    for (const FileNames& names : kNumbers) {
      if (!has_key(keys, names.setting)) continue;
      if (auto value = folder->read(names)) file_settings::set_number(setting_of(names.setting), *value, out.values);
      else out.not_offered(names.setting, why_no_number(names, value.error()));
    }
    if (folder->exists()) return;
  }
}

constinit const std::array<SettingOp, 12> kOps =
    file_settings::join(std::array{SettingOp{SettingId::cc, kOp}}, file_settings::ops(kNumbers, kOp));

void follow_roce_prio(const PortIo& io, uint32_t prio) {
  if (io.rdma.empty() || !io.kernel.root.exists(std::string(kConfigfs))) return;
  if (auto folder = open_folder(io)) (void)set_together(*folder, {{kRocePrio, prio}});
}

std::string remedy(const Setting& setting, int code) {
  if (setting.id == SettingId::ecn_rp || setting.id == SettingId::ecn_np)
    return "bnxt_re has one switch for all priorities: cc";
  if (!is_ours(setting.id)) return {};
  if (code == 0)
    return "this bnxt_re has no file for it (Linux 6.12 switches congestion control on by itself): use Linux 6.15 or "
           "later with debugfs, Broadcom's bnxt_re package with its configfs, or niccli";
  if (code == EPERM) return "kernel lockdown (Secure Boot) closes debugfs even to root: set it with niccli";
  if (code == EACCES) return "only root has access to the files (requires CAP_DAC_OVERRIDE)";
  if (code == EINVAL &&
      (setting.id == SettingId::cnp_dscp || setting.id == SettingId::cnp_prio || setting.id == SettingId::roce_dscp))
    return "firmware with service profiles takes DSCPs and priorities of RoCE and CNPs from dscp_map and its profile "
           "(niccli)";
  return file_settings::remedy(code);
}

}  // namespace fabric::bnxt_cc
