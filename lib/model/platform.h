// SPDX-License-Identifier: Apache-2.0
// What the platform gives GPUs and NICs: links, power, errors, IOMMU, apertures, GPUDirect. All of it is
// world-readable; privileged values are in pci_state.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/find.h"

namespace fabric {

// PCI Express link of one function, as sysfs names it: giga-transfers per second and lanes.
struct PcieLink {
  std::optional<double> speed, max_speed;  // GT/s
  std::optional<unsigned> width, max_width;
  bool all_ones = false;  // its registers read all ones: the function does not answer
  bool operator==(const PcieLink&) const = default;
};

// ACS control bits (PCIe 7.7.8.3; PCI_ACS_* of linux/pci_regs.h). Redirect bits send peer-to-peer traffic through the
// root.
inline constexpr uint16_t kAcsSourceValidation = 0x01, kAcsRequestRedirect = 0x04, kAcsCompletionRedirect = 0x08,
                          kAcsUpstreamForwarding = 0x10, kAcsDirectTranslated = 0x40;

struct PciSettings {
  std::optional<uint32_t> mrrs, max_payload;  // bytes: maximum read request, maximum payload
  std::optional<bool> relaxed_ordering;
  std::optional<uint16_t> acs;         // the ACS control register; absent: the function has no ACS
  std::string unread;                  // why nothing is known
  std::optional<bool> ten_bit_tags{};  // switched on; absent: the function cannot send them
  bool operator==(const PciSettings&) const = default;
};

// Of every GPU and NIC, and of every bridge above them, by PCI address.
struct PciState {
  std::string updated;  // RFC 3339
  std::map<std::string, PciSettings> functions;
  bool operator==(const PciState&) const = default;
};

// One class of errors that Advanced Error Reporting counted since the device came up.
struct AerCounts {
  std::optional<uint64_t> total;          // absent: the function has no AER, or firmware owns it
  std::map<std::string, uint64_t> kinds;  // "BadTLP": those that ever happened
  bool operator==(const AerCounts&) const = default;
};

// A base address register: an aperture of the device in physical memory.
struct Bar {
  unsigned number = 0;
  uint64_t size = 0;  // bytes
  bool prefetchable = false;
  std::optional<uint64_t> resizable{};  // the sizes that the device offers, bit N: 2^N MiB; absent: fixed, or unknown
  bool operator==(const Bar&) const = default;
};

// A GPU, a NIC, or a bridge above one of them.
struct PlatformFunction {
  PcieLink link;
  std::string kernel_driver{};  // "mlx5_core"; empty: none bound
  std::string power_state{};    // "D0", "D3hot", "D3cold", "unknown"; empty: unknown
  std::string power_control{};  // "on": never suspended at run time; "auto"
  AerCounts correctable{}, nonfatal{}, fatal{};
  std::string iommu_group{};  // its number; empty: none
  std::vector<Bar> bars{};    // of GPUs
  bool operator==(const PlatformFunction&) const = default;
};

// The roads by which a NIC's driver learns where GPU memory is.
struct GpuDirect {
  std::string nvidia_driver{};              // version; empty: not loaded
  std::optional<bool> nvidia_open{};        // its kernel module is the open one, which exports dma-buf
  std::vector<std::string> peer_modules{};  // loaded: "nvidia_peermem", "nv_peer_mem", ...
  std::vector<std::string> memory_peers{};  // clients of OFED's peer memory interface: "nv_mem", "amdkfd"
  bool amdgpu = false;                      // loaded
  // Of the kernel's configuration; absent: that could not be read.
  std::optional<bool> pci_p2pdma{}, dmabuf_move_notify{};
  bool operator==(const GpuDirect&) const = default;
};

struct Platform {
  std::map<std::string, PlatformFunction> functions{};  // by PCI address
  std::map<std::string, std::string> iommu_groups{};    // those of the functions: number -> "DMA", "DMA-FQ", "identity"
  std::optional<bool> iommu{};                          // the kernel drives one; absent: unknown
  std::vector<std::string> command_line{};              // its words that are about IOMMU and PCI: "intel_iommu=on"
  std::string lockdown{};                               // "integrity", "confidentiality"; empty: none, or unknown
  GpuDirect gpudirect{};
  bool operator==(const Platform&) const = default;
};

// A GPU or a physical NIC function.
struct InventoryPart {
  bool gpu = false;
  std::string pci, name;  // "0000:17:00.0"; "GPU3" or the NIC's name
  uint16_t vendor = 0, device = 0;
  std::optional<int> numa{};
  std::string root{};
  std::vector<std::string> bridges{};  // as in PciDevice
  std::optional<unsigned> width{};     // of the PCIe link
  std::optional<double> speed{};       // GT/s; not of a GPU, which lowers it when idle
  std::vector<std::string> rdma{};     // RDMA devices
  std::vector<std::string> up{};       // ports that had a link: "mlx5_0/1"
  std::vector<std::string> nics{};     // of a GPU: the NICs that it was paired with, by PCI address
  bool operator==(const InventoryPart&) const = default;
};

// The parts of the node by place, as they were when all were in order.
struct Inventory {
  std::string taken{};  // RFC 3339
  std::vector<InventoryPart> parts{};

  [[nodiscard]] const InventoryPart* find(std::string_view pci) const {
    return find_where(parts, [&](const InventoryPart& part) { return part.pci == pci; });
  }
};

}  // namespace fabric
