// SPDX-License-Identifier: Apache-2.0
#include "support/sim_files_bnxt.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "vm/module/driver_rules.h"

namespace fabric::test {
namespace {

// By a name in debugfs. Null: there is no such number.
const rule_bnxt_cc* find_row(std::string_view name) {
  for (const rule_bnxt_cc& row : rule_bnxt_cc_rows)
    if (name == row.name) return &row;
  return nullptr;
}

const rule_bnxt_cc* find_configfs_row(std::string_view file) {
  for (const rule_bnxt_cc& row : rule_bnxt_cc_rows)
    if (row.configfs != nullptr && file == row.configfs) return &row;
  return nullptr;
}

std::string last_part(const std::string& file) { return file.substr(file.rfind('/') + 1); }

}  // namespace

SimBnxtRe::SimBnxtRe(SimFiles& files) : files_(files) {
  for (int i = 0; i < RULE_BNXT_CC_PARAMS; ++i)
    if (i != RULE_BNXT_TX_QUEUE && i != RULE_BNXT_NO_PRIO_VLAN)
      firmware[rule_bnxt_cc_rows[i].name] = rule_bnxt_cc_rows[i].value;
}

std::string SimBnxtRe::configfs_name(const std::string& name) {
  const rule_bnxt_cc* row = find_row(name);
  return row != nullptr && row->configfs != nullptr ? row->configfs : "";
}

void SimBnxtRe::add_debugfs(const std::string& pci) {
  const std::string folder = "sys/kernel/debug/bnxt_re/" + pci + "/cc_config/";
  for (const auto& [name, value] : firmware)
    if (name != "roce_prio") files_.tree.file(folder + name, std::to_string(value) + "\n");
  files_.on_write(folder + "*", [this](SimFiles& files, const std::string& file, std::string_view text) {
    const auto value = kernel_number(text);
    if (!value || text.size() >= 16) return EINVAL;
    const rule_bnxt_cc* row = find_row(last_part(file));
    uint32_t kept = 0;
    if (row == nullptr || !rule_bnxt_cc_debugfs(row, *value, &kept)) return 0;
    firmware[row->name] = kept;
    files.tree.file(file, std::to_string(kept) + "\n");
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
  const rule_bnxt_cc* row = find_configfs_row(last_part(file));
  if (row == nullptr || !pending_.contains(row->name)) return EINVAL;
  const std::string name = row->name;
  if (service_profiles && (name == "alt_vlan_pcp" || name == "roce_prio")) return EINVAL;
  uint32_t kept = 0;
  if (rule_bnxt_cc_configfs(row, value, &kept) != 0) return EINVAL;
  pending_[name] = kept;
  changed_.insert(name);
  show(name);
  return 0;
}

// bnxt_re_program_cnp_dcb_values(): without congestion control the module forgets what it has of CNPs and does not send
// it.
int SimBnxtRe::apply(std::string_view text) {
  if (kernel_number(text) != 1u) return changed_.clear(), 0;
  if (!changed_.empty() && !service_profiles && pending_["enable_cc"] == 0) {
    for (const char* name : {"alt_vlan_dscp", "alt_vlan_pcp"}) {
      pending_[name] = 0;
      changed_.erase(name);
      show(name);
    }
  }
  const std::set<std::string> sent = std::exchange(changed_, {});
  for (const std::string& name : sent)
    if (pending_[name] > find_row(name)->max) return EINVAL;
  for (const std::string& name : sent) firmware[name] = pending_[name];
  return 0;
}

}  // namespace fabric::test
