// SPDX-License-Identifier: Apache-2.0
#include "vendor/broadcom/bnxt_cc.h"

#include <algorithm>
#include <cstdio>

#include "vendor/generic/configfs_item.h"
#include "vendor/generic/file_settings.h"

namespace fabric::bnxt_cc {
namespace {

// The same numbers by each door's names.
struct Names {
  SettingId setting;
  std::string_view configfs, debugfs;
};
constexpr std::array kNumbers{
    Names{SettingId::cc_mode, "cc_mode", "cc_mode"},
    Names{SettingId::cc_g, "g", "run_avg_weight_g"},
    Names{SettingId::cc_phases, "nph_per_state", "num_phase_per_state"},
    Names{SettingId::cc_init_cr, "init_cr", "init_cr"},
    Names{SettingId::cc_init_tr, "init_tr", "init_tr"},
    Names{SettingId::cc_rtt, "rtt", "rtt"},
    Names{SettingId::cc_tcp_cp, "tcp_cp", "tcp_cp"},
    Names{SettingId::cc_inactivity_cp, "inact_th", "inactivity_cp"},
    Names{SettingId::cnp_dscp, "cnp_dscp", "alt_vlan_dscp"},
    Names{SettingId::cnp_prio, "cnp_prio", "alt_vlan_pcp"},
    Names{SettingId::roce_dscp, "roce_dscp", "tos_dscp"},
};
constexpr Names kMarking{SettingId::cc, "ecn_marking", "tos_ecn"};
constexpr Names kEnable{SettingId::cc, "ecn_enable", "enable_cc"};
constexpr Names kRocePrio{SettingId::roce_prio, "roce_prio", ""};

constexpr std::string_view kConfigfs = "sys/kernel/config/bnxt_re";
constexpr std::string_view kDebugfs = "sys/kernel/debug/bnxt_re";

bool is_ours(SettingId id) {
  return id == SettingId::cc || std::ranges::any_of(kNumbers, [id](const Names& names) { return names.setting == id; });
}

// The folder of the numbers while it is open.
class Door {
 public:
  static Result<Door> open(const PortIo& io) {
    const Root& root = io.kernel.root;
    if (root.exists(std::string(kConfigfs)) && !io.rdma.empty()) {
      auto item = ConfigfsItem::open(root, std::string(kConfigfs) + "/" + io.rdma);
      if (!item) return item.error();
      std::string folder = item->path() + "/ports/" + std::to_string(io.port) + "/cc/";
      return Door(root, std::move(folder), std::move(*item));
    }
    const std::string folder = std::string(kDebugfs) + "/" + io.pci + "/cc_config";
    if (auto files = root.list(folder); !files) return files.error();
    return Door(root, folder + "/", std::nullopt);
  }

  [[nodiscard]] std::string file(const Names& names) const {
    return folder_ + std::string(item_ ? names.configfs : names.debugfs);
  }
  [[nodiscard]] bool stands() const { return !item_ || item_->stands(); }
  [[nodiscard]] Result<uint32_t> read(const Names& names) const {
    return file_settings::read_number(*root_, file(names));
  }
  [[nodiscard]] Result<void> write(const Names& names, uint32_t value) const {
    char text[16];
    std::snprintf(text, sizeof text, item_ ? "0x%x" : "%u", value);
    return item_ ? root_->write(file(names), text) : root_->write_owned(file(names), text);
  }
  // Commits the written values to the firmware (configfs).
  [[nodiscard]] Result<void> apply() const { return item_ ? root_->write(folder_ + "apply", "0x1") : Result<void>{}; }

 private:
  Door(const Root& root, std::string folder, std::optional<ConfigfsItem> item)
      : root_(&root), folder_(std::move(folder)), item_(std::move(item)) {}
  const Root* root_;
  std::string folder_;
  std::optional<ConfigfsItem> item_;  // absent: debugfs
};

// Numbers to be set together, or not at all.
class Together {
 public:
  explicit Together(const Door& door) : door_(door) {}

  Result<void> set(const Names& names, uint32_t value) {
    auto now = door_.read(names);
    if (!now) return take_back(now.error());
    if (*now == value) return {};
    if (auto written = door_.write(names, value); !written) return take_back(written.error());
    before_.emplace_back(names, *now);
    return {};
  }

  Result<void> apply() {
    auto applied = door_.apply();
    return applied ? applied : take_back(applied.error());
  }

 private:
  // The old driver shows a number that was written, applied or not: left there, it would be taken for what the NIC
  // does.
  Error take_back(Error why) {
    for (; !before_.empty(); before_.pop_back()) {
      const auto& [names, value] = before_.back();
      if (auto back = door_.write(names, value); !back)
        why.what += "; /" + door_.file(names) + " could not be restored to " + std::to_string(value);
    }
    return why;
  }

  const Door& door_;
  std::vector<std::pair<Names, uint32_t>> before_;
};

void read_number(PortIo& io, const Door& door, const Names& names, Qos& out) {
  if (!io.wants(names.setting)) return;
  auto value = door.read(names);
  const Setting& setting = setting_of(names.setting);
  if (value) file_settings::put(setting, *value, out);
  else io.limits.reasons[names.setting] = file_settings::why_not(io, door.file(names), value.error().code);
}

void read_switch(PortIo& io, const Door& door, Qos& out) {
  if (!io.wants(SettingId::cc)) return;
  auto marking = door.read(kMarking), enable = door.read(kEnable);
  if (marking && enable) out.cc = *enable != 0 && *marking != 0;
  else
    io.limits.reasons[SettingId::cc] =
        file_settings::why_not(io, door.file(kEnable), (enable ? marking : enable).error().code);
}

// ECT(1) where data goes out as not ECN-capable; a configured ECT(0) is as good.
Result<void> set_switch(const Door& door, Together& change, bool on) {
  uint32_t marking = on ? 1 : 0;
  if (auto now = door.read(kMarking); on && now && *now != 0) marking = *now;
  if (auto set = change.set(kMarking, marking); !set) return set;
  return change.set(kEnable, on ? 1 : 0);
}

// Settings that this kernel does not let us set, with the reason. remedy() covers a bnxt_re without such files.
void say_why_closed(PortIo& io, int code) {
  const bool configfs = io.kernel.root.exists(std::string(kConfigfs));
  const std::string path = configfs ? std::string(kConfigfs) + "/" + io.rdma : std::string(kDebugfs) + "/" + io.pci;
  const std::string why =
      configfs || code != ENOENT ? file_settings::why_not(io, path, code) : file_settings::closed(io, path);
  if (why.empty()) return;
  for (size_t i = 0; i < kSettingCount; ++i)
    if (io.keys[i] && is_ours(kSettings[i].id)) io.limits.reasons[kSettings[i].id] = why;
}

}  // namespace

void read(PortIo& io, Qos& out) {
  bool any = io.wants(SettingId::cc);
  for (const Names& names : kNumbers) any = any || io.wants(names.setting);
  if (!any) return;
  for (int tries = 1; tries <= ConfigfsItem::kTries; ++tries) {
    auto door = Door::open(io);
    if (!door) return say_why_closed(io, door.error().code);
    read_switch(io, *door, out);
    for (const Names& names : kNumbers) read_number(io, *door, names, out);
    if (door->stands()) return;
  }
}

Result<void> write(PortIo& io, const Setting& setting, const Qos& want, const Qos&) {
  auto door = Door::open(io);
  if (!door) return door.error();
  Together change(*door);
  const auto number = std::ranges::find_if(kNumbers, [&](const Names& names) { return names.setting == setting.id; });
  auto set = number == kNumbers.end() ? set_switch(*door, change, *want.cc)
                                      : change.set(*number, file_settings::take(setting, want).value_or(0));
  return set ? change.apply() : set;
}

void follow_roce_prio(PortIo& io, uint32_t prio) {
  if (io.rdma.empty() || !io.kernel.root.exists(std::string(kConfigfs))) return;
  auto door = Door::open(io);
  if (!door) return;
  Together change(*door);
  if (change.set(kRocePrio, prio)) (void)change.apply();
}

std::string remedy(const Setting& setting, int code) {
  if (setting.id == SettingId::ecn_rp || setting.id == SettingId::ecn_np)
    return "bnxt_re has one switch for all priorities: cc";
  if (!is_ours(setting.id)) return {};
  if (code == 0)
    return "this bnxt_re has no knob for it (Linux 6.12 switches congestion control on by itself): take Linux 7 with "
           "debugfs, "
           "Broadcom's bnxt_re package with its configfs, or niccli";
  if (code == EPERM) return "kernel lockdown (Secure Boot) closes debugfs even to root: set it with niccli";
  if (code == EACCES) return "the files are root's alone (needs CAP_DAC_OVERRIDE)";
  if (code == EINVAL &&
      (setting.id == SettingId::cnp_dscp || setting.id == SettingId::cnp_prio || setting.id == SettingId::roce_dscp))
    return "firmware with service profiles takes DSCPs and priorities of RoCE and CNPs from dscp_map and its profile "
           "(niccli)";
  return file_settings::remedy(code);
}

}  // namespace fabric::bnxt_cc
