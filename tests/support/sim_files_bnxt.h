// SPDX-License-Identifier: Apache-2.0
// Simulates congestion control of bnxt_re behind its files (sources: lib/nic/broadcom/bnxt_cc.h): the firmware's
// values, and the module's copy of them that takes effect with `apply`.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "support/sim_files.h"

namespace fabric::test {

class SimBnxtRe {
 public:
  // `files` must outlive this object, and this object must outlive every use of `files`.
  explicit SimBnxtRe(SimFiles& files);

  // By their names in debugfs, except tx_queue and disable_prio_vlan_tx, with the values of a NIC's start.
  std::map<std::string, uint32_t> firmware;
  bool service_profiles = false;  // firmware decides the priorities itself

  // Linux 6.15: a write succeeds even if the firmware refuses the value.
  void add_debugfs(const std::string& pci);
  // An older release of Broadcom's module: mkdir creates a folder, values are hexadecimal, and all writes wait for
  // `apply`, at which the firmware takes or refuses them together.
  void add_configfs(const std::string& rdma);
  [[nodiscard]] std::string cc_folder() const { return folder_; }
  // The name in configfs of a file in debugfs.
  static std::string configfs_name(const std::string& name);

 private:
  int store(const std::string& file, std::string_view text);
  int apply(std::string_view text);
  void show(const std::string& name);

  SimFiles& files_;
  std::string folder_;
  std::map<std::string, uint32_t> pending_;
  std::set<std::string> changed_;  // written since the last `apply`
};

}  // namespace fabric::test
