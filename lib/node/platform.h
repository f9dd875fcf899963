// SPDX-License-Identifier: Apache-2.0
// The platform around GPUs and NICs: links, power, errors, IOMMU, apertures, GPUDirect. All of it is world-readable;
// pci_state.h has the privileged values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/find.h"
#include "kernel/pci/pci_device.h"
#include "kernel/pci/pci_settings.h"

namespace fabric {

class Root;
struct Node;
struct Topology;

// One class of errors that Advanced Error Reporting counted since the device came up.
struct AerCounts {
  std::optional<uint64_t> total;          // absent: the function has no AER, or firmware owns it
  std::map<std::string, uint64_t> kinds;  // by name, "BadTLP"; only kinds that have happened
  bool operator==(const AerCounts&) const = default;
};

// A base address register: an aperture of the device in physical memory.
struct Bar {
  unsigned number = 0;
  uint64_t size = 0;  // bytes
  bool prefetchable = false;
  std::optional<uint64_t> resizable{};  // sizes that the device offers, bit N: 2^N MiB; absent: fixed, or unknown
  bool operator==(const Bar&) const = default;
};

// A GPU, a NIC, a bridge above one of them, or a port with nothing below it that equals those above GPUs: a root port
// that equals those above all GPUs, or a port of a switch with a GPU or NIC.
struct PlatformFunction {
  PcieLink link;
  std::string kernel_driver{};  // "mlx5_core"; empty: none bound
  std::string power_state{};    // "D0", "D3hot", "D3cold", "unknown"; empty: unknown
  std::string power_control{};  // "on": never suspended at run time; else "auto"
  AerCounts correctable{}, nonfatal{}, fatal{};
  std::string iommu_group{};  // its number; empty: none
  std::vector<Bar> bars{};    // GPUs only
  // Its link sleeps between packets (ASPM, state L1: link/l1_aspm of sysfs); absent: it cannot, or unknown.
  std::optional<bool> link_sleeps{};
  bool operator==(const PlatformFunction&) const = default;
};

// The ways by which a NIC's driver can learn the addresses of GPU memory.
struct GpuDirect {
  std::string nvidia_driver{};              // version; empty: not loaded
  std::optional<bool> nvidia_open{};        // the kernel module is the open one, which exports dma-buf
  std::vector<std::string> peer_modules{};  // loaded ones of "nvidia_peermem", "nv_peer_mem", ...
  // Clients of OFED's peer memory interface, "nv_mem" or "amdkfd", and the provider of EFA's: "NVIDIA peermem".
  std::vector<std::string> memory_peers{};
  bool amdgpu = false;  // the module is loaded
  // Options of the kernel's configuration; absent: it could not be read.
  std::optional<bool> pci_p2pdma{}, dmabuf_move_notify{};
  bool operator==(const GpuDirect&) const = default;
};

struct Platform {
  std::map<std::string, PlatformFunction> functions{};  // by PCI address
  std::map<std::string, std::string> iommu_groups{};    // of the functions: number -> "DMA", "DMA-FQ", "identity"
  bool identity_without_pasid = false;                  // a device in a group "identity" can have no PASID
  std::optional<bool> iommu{};                          // whether the kernel drives one; absent: unknown
  std::vector<std::string> command_line{};              // the kernel's parameters for IOMMU and PCI: "intel_iommu=on"
  GpuDirect gpudirect{};
  bool operator==(const Platform&) const = default;
};

// The function is bound to a driver that hands it to a virtual machine or to a user's program (DPDK): vfio, pci-stub,
// UIO. It is judged there, not on this machine.
bool is_given_away(const PlatformFunction& function);

// Whether jobs can use a GPU that is bound to this driver. nouveau has no compute and no GPUDirect. False without one.
bool runs_jobs(std::string_view gpu_driver);

namespace scanning {

// Fills Node::platform and Node::pci_settings; the topology must be filled.
void read_platform(const Root& root, Node& node);

}  // namespace scanning

}  // namespace fabric

// Sources: Documentation/ABI/testing/sysfs-bus-pci, sysfs-bus-pci-devices-aer_stats and sysfs-kernel-iommu_groups of
// Linux 6.12.
namespace fabric::platform {

// Parses aer_dev_correctable, aer_dev_nonfatal or aer_dev_fatal: lines "BadTLP 3", the last "TOTAL_ERR_COR 3"
// (drivers/pci/pcie/aer.c, aer_stats_dev_attr). Other lines are ignored; at most 64 kinds are kept.
AerCounts parse_aer(std::string_view text);

// Parses the first six lines of `resource`, the base address registers: "0xstart 0xend 0xflags"
// (drivers/pci/pci-sysfs.c, resource_show; flags of linux/ioport.h). Leaves out unused registers and I/O ports.
std::vector<Bar> parse_bars(std::string_view text);

// The parameters in /proc/cmdline for IOMMU and PCI.
std::vector<std::string> parse_command_line(std::string_view text);

// /proc/driver/nvidia/version: "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build ...",
// or "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  ..." of the closed one.
struct NvidiaVersion {
  std::string version;
  bool open = false;
};
std::optional<NvidiaVersion> parse_nvidia_version(std::string_view text);

// "CONFIG_X=y" or "=m": true; "# CONFIG_X is not set": false; nullopt: the option is not mentioned.
std::optional<bool> parse_kernel_option(std::string_view config, std::string_view option);

// The platform of the topology's GPUs and NICs and of the bridges above them. Unreadable members stay absent.
Platform read(const Root& root, const Topology& topology);

}  // namespace fabric::platform
