// SPDX-License-Identifier: Apache-2.0
// A PCI function: its place in the tree, its link, its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric {

// GT/s of the generations of PCI Express, from 1.
inline constexpr double kLinkSpeeds[] = {2.5, 5, 8, 16, 32, 64};

// PCI Express link of one function, as sysfs names it: giga-transfers per second and lanes.
struct PcieLink {
  std::optional<double> speed, max_speed;  // GT/s
  std::optional<unsigned> width, max_width;
  bool all_ones = false;  // its registers read all ones: the function does not answer
  bool operator==(const PcieLink&) const = default;
};

// A PCI function with its place in the tree.
struct PciDevice {
  std::string pci;                   // "0000:17:00.0"; the domain may have more than four digits
  uint16_t vendor = 0, device = 0;   // ids as sysfs shows them
  uint32_t class_code = 0;           // 24 bits: 0x030200 is a 3D controller
  std::optional<int> numa;           // the NUMA node (with CPUs) that it hangs from; absent: unknown
  std::vector<std::string> bridges;  // PCI bridges above it, nearest first, without the host bridge
  std::string root;                  // the root bus: "pci0000:20"
  PcieLink link;
  bool numa_assumed = false;  // the kernel reports -1, and the machine has only this node
  // The NUMA node of the bridge above. The kernel gives both the node of the root bus (pci_device_add() in
  // drivers/pci/probe.c of Linux 6.12), so that they differ only if another source has set the device's node.
  std::optional<int> numa_above{};
  bool operator==(const PciDevice&) const = default;
};

// The kind of a PCI function by class and ids (class codes: PCI Code and ID Assignment Specification; linux/pci_ids.h).

inline constexpr uint16_t kAmd = 0x1002, kNvidia = 0x10de, kIntel = 0x8086, kHabana = 0x1da3, kCray = 0x17db,
                          kAmazon = 0x1d0f, kNvidiaNetworking = 0x15b3, kHygon = 0x1d94, kHuawei = 0x19e5;

// A GPU or another accelerator that jobs run on. Display chips of management controllers and graphics integrated into
// CPUs do not count, though their class may be the same.
bool is_gpu(const PciDevice& function);

// Whether the class is that of VGA controllers, which also GPUs without a connector for a display may have.
bool is_vga(const PciDevice& function);

// Whether the class is that of accelerators, whatever they accelerate.
bool is_accelerator(const PciDevice& function);

// Whether the class is that of system peripherals (080), which AWS gives its accelerators too.
bool is_peripheral(const PciDevice& function);

// "0000:17:00" of "0000:17:00.1", the card of a function. Empty for software devices.
std::string card_of(const std::string& pci);

// ".1" of "0000:17:00.1", the place of a function on its card. Empty for software devices.
std::string place_on_card(const std::string& pci);

// The model of a GPU or NIC, by its PCI ids. One model is sold on several boards, with one port and with two
// (NicBoard in node/endpoints.h), and with fewer lanes.
struct PciModel {
  uint16_t vendor = 0, device = 0;
  auto operator<=>(const PciModel&) const = default;
};
inline PciModel model_of(const PciDevice& function) { return {function.vendor, function.device}; }
inline bool are_of_one_model(const PciDevice& a, const PciDevice& b) { return model_of(a) == model_of(b); }

// Class 02xx (network), or 0c06 (InfiniBand of the first generations).
bool is_network(const PciDevice& function);

// A ConnectX or BlueField whose flash has no firmware that starts: a memory controller with an id of its own ("Flash
// Recovery" in pci.ids), for tools that write the flash.
bool is_in_flash_recovery(const PciDevice& function);
// Whether the class is that of memory controllers (05).
bool is_memory(const PciDevice& function);

// A GPU of a Grace superchip (GH200, GB200, GB300): NVLink-C2C joins it to its CPU, and it uses the address translation
// service of the SMMU (nvgrace_gpu_vfio_pci_table in drivers/vfio/pci/nvgrace-gpu/main.c, Linux 6.18).
bool has_c2c(const PciDevice& gpu);

}  // namespace fabric
