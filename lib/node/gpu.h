// SPDX-License-Identifier: Apache-2.0
// The identity of GPUs, from files alone.
//
// NVIDIA: /proc/driver/nvidia/gpus/ADDRESS/information (README of the Linux driver, chapter "Using the /proc File
// System Interface"). AMD: the files of the PCI function (product_name, unique_id, current_compute_partition:
// amdgpu_pm.c, amdgpu_fru_eeprom.c, amdgpu_gfx.c of Linux 6.12) and the nodes of /sys/class/kfd (kfd_topology.c). Its
// load is gpu_busy_percent ("a percentage of load based on the aggregate activity level in the IP cores", amdgpu_pm.c),
// if mem_busy_percent says that its memory is used, too.
// Intel, Habana: PCI ids. All of it is world-readable.
//
// libnvidia-ml is not used here: it opens /dev/nvidiactl and every GPU, which wakes a sleeping GPU and needs the device
// nodes inside the service's sandbox. node/nvml.h uses it for fabric-agentctl if these files lack a fact.
#pragma once

#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric {

// The word that marks faults of a vendor's GPU in the kernel log, to append to the pattern of journalctl -g: "|Xid" for
// NVIDIA, else the name of the vendor's driver; empty: another vendor.
std::string gpu_log_word(uint16_t vendor);

// The driver that makes the GPU usable for jobs. Empty: unknown.
std::string_view gpu_module(const Gpu& gpu);

}  // namespace fabric

namespace fabric::gpu {

// NVIDIA's `information` file. Until the GPU is first opened its UUID is question marks, and `uuid` is
// empty.
struct Information {
  std::string model, uuid;
  std::optional<unsigned> minor;
  bool excluded = false;  // "GPU Excluded: Yes": nvidia-smi and CUDA skip it
};
Information parse_information(std::string_view text);

// A GPU, or a partition of one, as the kernel's compute driver lists it. `pci` is its function.
struct KfdNode {
  std::string pci;
  std::optional<unsigned> render_minor;
  std::string unique_id;  // 16 hexadecimal digits; empty: none
};
// Parses a node's `properties`, lines of "name value". nullopt: the node is a CPU.
std::optional<KfdNode> parse_kfd_properties(std::string_view text);

// Fills model, uuid, vendor_index, minor, render_minors and partition of all GPUs, and the load of AMD's GPUs for which
// is_slower_than_equals() is true. Unknown members stay unchanged.
void identify(const Root& root, Topology& topology);

// Whether the link of the GPU is slower than that of another GPU of its model. The load then shows whether it is idle.
bool is_slower_than_equals(const Topology& topology, const Gpu& gpu);

}  // namespace fabric::gpu
