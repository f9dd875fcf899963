// SPDX-License-Identifier: Apache-2.0
#include "support/sim_files_bnxt.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace fabric::test {
namespace {

struct Row {
  const char *debugfs, *configfs;
  uint32_t max;  // of the firmware
};
constexpr Row kRows[] = {{"enable_cc", "ecn_enable", 1},
                         {"tos_ecn", "ecn_marking", 3},
                         {"cc_mode", "cc_mode", 1},
                         {"run_avg_weight_g", "g", 7},
                         {"num_phase_per_state", "nph_per_state", 15},
                         {"init_cr", "init_cr", 0xffff},
                         {"init_tr", "init_tr", 0xffff},
                         {"rtt", "rtt", 0x3fff},
                         {"tcp_cp", "tcp_cp", 0x3ff},
                         {"inactivity_cp", "inact_th", 0xffff},
                         {"alt_vlan_dscp", "cnp_dscp", 63},
                         {"alt_vlan_pcp", "cnp_prio", 7},
                         {"tos_dscp", "roce_dscp", 63},
                         {"roce_prio", "roce_prio", 7}};

std::string last_part(const std::string& file) { return file.substr(file.rfind('/') + 1); }

}  // namespace

std::string SimBnxtRe::configfs_name(const std::string& name) {
  for (const Row& row : kRows)
    if (name == row.debugfs) return row.configfs;
  return {};
}

bool SimBnxtRe::firmware_takes(const std::string& name, uint32_t value) const {
  for (const Row& row : kRows)
    if (name == row.debugfs) return value <= row.max;
  return false;
}

void SimBnxtRe::add_debugfs(const std::string& pci) {
  const std::string folder = "sys/kernel/debug/bnxt_re/" + pci + "/cc_config/";
  for (const auto& [name, value] : firmware)
    if (name != "roce_prio") files_.tree.file(folder + name, std::to_string(value) + "\n");
  files_.on_write(folder + "*", [this](SimFiles& files, const std::string& file, std::string_view text) {
    const auto value = kernel_number(text);
    if (!value || text.size() >= 16) return EINVAL;
    const std::string name = last_part(file);
    if (!firmware_takes(name, *value)) return 0;
    firmware[name] = *value;
    files.tree.file(file, std::to_string(*value) + "\n");
    return 0;
  });
}

void SimBnxtRe::show(const std::string& name) {
  char text[16];
  std::snprintf(text, sizeof text, "%#x\n", pending_[name]);
  files_.tree.file(folder_ + configfs_name(name), text);
}

void SimBnxtRe::add_configfs(const std::string& rdma) {
  const std::string item = "sys/kernel/config/bnxt_re/" + rdma;
  folder_ = item + "/ports/1/cc/";
  pending_ = firmware;
  files_.tree.folder("sys/kernel/config/bnxt_re");
  files_.on_make_directory(item, [this](SimFiles& files, const std::string&, std::string_view) {
    for (const auto& [name, value] : pending_) show(name);
    files.tree.file(folder_ + "apply", "");
    return 0;
  });
  files_.on_remove_directory(item, [](SimFiles& files, const std::string& folder, std::string_view) {
    files.tree.remove(folder);
    return 0;
  });
  files_.on_write(folder_ + "*",
                  [this](SimFiles&, const std::string& file, std::string_view text) { return store(file, text); });
  files_.on_write(folder_ + "apply",
                  [this](SimFiles&, const std::string&, std::string_view text) { return apply(text); });
}

// sscanf(buf, "%x"): "10" is sixteen.
int SimBnxtRe::store(const std::string& file, std::string_view text) {
  const std::string written(text);
  const auto value = static_cast<uint32_t>(std::strtoul(written.c_str(), nullptr, 16));
  for (const Row& row : kRows) {
    if (last_part(file) != row.configfs) continue;
    const std::string name = row.debugfs;
    if (service_profiles && (name == "alt_vlan_pcp" || name == "roce_prio")) return EINVAL;
    if (value > row.max) return EINVAL;
    pending_[name] = value;
    show(name);
    return 0;
  }
  return EINVAL;
}

// bnxt_re_program_cnp_dcb_values(): without congestion control there is nothing of CNPs.
int SimBnxtRe::apply(std::string_view text) {
  if (kernel_number(text) != 1u) return 0;
  if (pending_["enable_cc"] == 0) {
    pending_["alt_vlan_dscp"] = pending_["alt_vlan_pcp"] = 0;
    show("alt_vlan_dscp"), show("alt_vlan_pcp");
  }
  firmware = pending_;
  return 0;
}

}  // namespace fabric::test
