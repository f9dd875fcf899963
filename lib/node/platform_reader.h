// SPDX-License-Identifier: Apache-2.0
// The platform around GPUs and NICs, from files that everybody may read: Documentation/ABI/testing/sysfs-bus-pci,
// sysfs-bus-pci-devices-aer_stats and sysfs-kernel-iommu_groups of Linux 6.12.
#pragma once

#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric::platform {

// aer_dev_correctable and its sisters: lines "BadTLP 3", the last "TOTAL_ERR_COR 3" (drivers/pci/pcie/aer.c,
// aer_stats_dev_attr). Other lines are ignored; at most 64 kinds are kept.
AerCounts parse_aer(std::string_view text);

// The six base address registers that lead `resource`: lines "0xstart 0xend 0xflags" (drivers/pci/pci-sysfs.c,
// resource_show; flags of linux/ioport.h). Unused ones and I/O ports are left out.
std::vector<Bar> parse_bars(std::string_view text);

// The words of /proc/cmdline that are about IOMMU and PCI.
std::vector<std::string> parse_command_line(std::string_view text);

// /proc/driver/nvidia/version: "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build ...",
// or "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  ..." of the closed one.
struct NvidiaVersion {
  std::string version;
  bool open = false;
};
std::optional<NvidiaVersion> parse_nvidia_version(std::string_view text);

// "CONFIG_X=y" (or m) is true, "# CONFIG_X is not set" false; absent: the option is not mentioned.
std::optional<bool> parse_kernel_option(std::string_view config, std::string_view option);

// Everything, for the topology's GPUs and NICs and the bridges above them. Unreadable members stay absent.
Platform read(const Root& root, const Topology& topology);

}  // namespace fabric::platform
