// SPDX-License-Identifier: Apache-2.0
// Simulates congestion control of bnxt_re behind its files (sources: lib/nic/broadcom/bnxt_cc.h): the firmware's
// values, and the module's copy of them that takes effect with `apply`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/sim_files.h"

namespace fabric::test {

class SimBnxtRe {
 public:
  // `files` must outlive this object, and this object must outlive every use of `files`.
  explicit SimBnxtRe(SimFiles& files) : files_(files) {}

  // By their names in debugfs, with the values that Linux 6.12 leaves on a Thor.
  std::map<std::string, uint32_t> firmware{
      {"enable_cc", 1},     {"tos_ecn", 0},      {"cc_mode", 1},  {"run_avg_weight_g", 4}, {"num_phase_per_state", 5},
      {"init_cr", 200},     {"init_tr", 800},    {"rtt", 40},     {"tcp_cp", 0},           {"inactivity_cp", 10000},
      {"alt_vlan_dscp", 0}, {"alt_vlan_pcp", 0}, {"tos_dscp", 0}, {"roce_prio", 3}};
  bool service_profiles = false;  // firmware decides the priorities itself

  // Linux 7: a write succeeds even if the firmware refuses the value.
  void add_debugfs(const std::string& pci);
  // An older release of Broadcom's module: mkdir creates a folder, values are hexadecimal, and all writes wait for
  // `apply`.
  void add_configfs(const std::string& rdma);
  [[nodiscard]] std::string cc_folder() const { return folder_; }
  // The name in configfs of a file in debugfs.
  static std::string configfs_name(const std::string& name);

 private:
  int store(const std::string& file, std::string_view text);
  int apply(std::string_view text);
  void show(const std::string& name);
  [[nodiscard]] bool firmware_takes(const std::string& name, uint32_t value) const;

  SimFiles& files_;
  std::string folder_;
  std::map<std::string, uint32_t> pending_;
};

}  // namespace fabric::test
