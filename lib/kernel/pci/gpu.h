// SPDX-License-Identifier: Apache-2.0
// Which GPU it is, from files alone.
//
// NVIDIA: /proc/driver/nvidia/gpus/ADDRESS/information (README of the Linux driver, chapter "Using the /proc File
// System Interface"). AMD: the files of the PCI function (product_name, unique_id, current_compute_partition:
// amdgpu_pm.c, amdgpu_fru_eeprom.c, amdgpu_gfx.c of Linux 6.12) and the nodes of /sys/class/kfd (kfd_topology.c).
// Intel, Habana: PCI ids. All of it is world-readable.
//
// libnvidia-ml is not asked here: it opens /dev/nvidiactl and every GPU, which wakes a GPU that sleeps and needs the
// device nodes inside the service's sandbox. sys/nvml.h asks it for a person, where these files are silent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/capture/root.h"
#include "model/node.h"

namespace fabric::gpu {

// What NVIDIA's `information` file says. A GPU that nobody has opened yet shows its UUID as question marks: empty then.
struct Information {
  std::string model, uuid;
  std::optional<unsigned> minor;
  bool excluded = false;  // "GPU Excluded: Yes": nvidia-smi and CUDA do not count it
};
Information parse_information(std::string_view text);

// One GPU (or partition of one) of the kernel's compute driver; `pci` is the function it is on.
struct KfdNode {
  std::string pci;
  std::optional<unsigned> render_minor;
  std::string unique_id;  // 16 hexadecimal digits; empty: none
};
// Of a node's `properties`, lines of "name value". Absent for a CPU's node.
std::optional<KfdNode> parse_kfd_properties(std::string_view text);

// Fills model, uuid, vendor_index, minor, render_minors and partition of all GPUs. What is not told stays as it is.
void identify(const Root& root, Topology& topology);

}  // namespace fabric::gpu
