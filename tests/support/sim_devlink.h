// SPDX-License-Identifier: Apache-2.0
// Simulates devlink of a function as far as health reporters go: mlx5/core/health.c and diag/reporter_vnic.c,
// bnxt/bnxt_devlink.c, and the messages of net/devlink/health.c, of Linux 6.12; "icm_consumption" is of Linux 6.15.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel/netlink/netlink.h"

namespace fabric::test {

struct SimDevlink {
  // In the order of the dump. mlx5 before Linux 6.4: without "vnic". bnxt_en: "fw" and "hw".
  std::vector<std::string> reporters{"fw", "fw_fatal", "vnic"};
  // The counters of the reporter "vnic" that the NIC has, by name.
  std::map<std::string, uint64_t> vnic{};
  // False: the reporter "fw_fatal" is in error. The driver ignores that its command failed, and reports zeros.
  bool firmware_answers = true;
  bool privileged = true;  // CAP_NET_ADMIN, for the diagnosis
  int diagnosed = 0;       // how often
};

// The answer to a message of the devlink family; the device is pci/`pci`.
Result<std::vector<Message>> answer_devlink(SimDevlink& device, uint16_t family, const std::string& pci, View8 payload);

}  // namespace fabric::test
