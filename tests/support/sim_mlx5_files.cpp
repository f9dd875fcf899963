// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "base/parse.h"
#include "support/sim_files.h"
#include "vm/module/driver_rules.h"

namespace fabric::test {
namespace {

// A write of a parameter. `set_too` is the file of the parameter that the driver sets with it; empty: none.
SimFiles::Handler handler(const rule_mlx5_cc& row, const std::string& set_too = {}) {
  return [&row, set_too](SimFiles& files, const std::string& file, std::string_view text) {
    const auto value = kernel_number(text);
    uint32_t kept = 0;
    if (!value || rule_mlx5_cc_write(&row, *value, &kept) != 0) return EINVAL;
    files.tree.file(file, std::to_string(kept) + "\n");
    if (!set_too.empty()) files.tree.file(set_too, std::to_string(row.to) + "\n");
    return 0;
  };
}

// A query that fails shows nothing; an unchanged value costs no command.
int set_enable(SimFiles& files, const std::string& file, std::string_view text) {
  auto value = parse_number<int>(text);
  if (!value) return EINVAL;
  files.tree.file(file, (*value & 1) != 0 ? "1\n" : "0\n");
  return 0;
}

// Below 0: none is forced any more.
int set_traffic_class(SimFiles& files, const std::string& file, std::string_view text) {
  text = trim(text);
  if (text.starts_with("tclass=")) text.remove_prefix(7);
  const auto value = parse_number<int>(text);
  if (!value || *value > 255) return EINVAL;
  files.tree.file(file, *value < 0 ? "" : "Global tclass=" + std::to_string(*value) + "\n");
  return 0;
}

}  // namespace

void add_mlx5_cc_params(SimFiles& files, const std::string& pci) {
  const std::string folder = "sys/kernel/debug/mlx5/" + pci + "/cc_params/";
  for (const rule_mlx5_cc& row : rule_mlx5_cc_rows) {
    const std::string file = folder + row.name;
    files.tree.file(file, std::to_string(row.value) + "\n");
    files.on_write(file, handler(row, row.sets != 0 ? folder + rule_mlx5_cc_rows[row.sets].name : ""));
  }
}

void add_ofed_ecn(SimFiles& files, const std::string& netdev) {
  const std::string folder = "sys/class/net/" + netdev + "/ecn/";
  for (int i = 0; i < RULE_MLX5_CC_PARAMS; ++i) {
    const rule_mlx5_cc& row = rule_mlx5_cc_rows[i];
    if (row.ofed == nullptr) continue;
    const std::string file = folder + (i < RULE_MLX5_CC_NP ? "roce_rp/" : "roce_np/") + row.ofed;
    files.tree.file(file, std::to_string(row.value) + "\n");
    files.on_write(file, handler(row));
  }
  for (const char* half : {"roce_rp", "roce_np"})
    for (int prio = 0; prio < 8; ++prio) files.tree.file(folder + half + "/enable/" + std::to_string(prio), "1\n");
  files.on_write(folder + "roce_?p/enable/?", set_enable);
}

void add_ofed_traffic_class(SimFiles& files, const std::string& rdma, unsigned port) {
  const std::string file = "sys/class/infiniband/" + rdma + "/tc/" + std::to_string(port) + "/traffic_class";
  files.tree.file(file, "");
  files.on_write(file, set_traffic_class);
}

}  // namespace fabric::test
