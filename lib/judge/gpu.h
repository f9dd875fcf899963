// SPDX-License-Identifier: Apache-2.0
// GPUs that no job can use.
#pragma once

#include "judge/report.h"
#include "judge/view.h"

namespace fabric {

// The command that shows the kernel's messages about GPUs of any vendor, as the beginning of a fix.
inline const std::string kGpuLog = "journalctl -k -g 'Xid|pciehp|amdgpu'; ";

// Binds a GPU to its driver for jobs in place of the other one that has it.
Fix fix_of_other_driver(const std::string& pci, const std::string& other, const std::string& driver);

// Adds GPUs without a driver for jobs, and GPUs in other partitions than equal ones. `notes`: GPUs that are bound to a
// driver for virtual machines on purpose.
void add_unusable_gpus(const View& view, Findings& faults, Findings& notes);

}  // namespace fabric
