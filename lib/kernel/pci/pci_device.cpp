// SPDX-License-Identifier: Apache-2.0
#include "kernel/pci/pci_device.h"

#include "base/find.h"

namespace fabric {
namespace {

constexpr uint32_t kNetwork = 0x02, kVga = 0x0300, k3d = 0x0302, kDisplay = 0x0380, kInfiniband = 0x0c06,
                   kAccelerator = 0x1200, kPeripheral = 0x0880;

// Intel's integrated graphics always has this address (arch/x86/kernel/early-quirks.c and i915 rely on it).
constexpr std::string_view kIntelIntegrated = "0000:00:02.0";

}  // namespace

bool is_gpu(const PciDevice& function) {
  switch (function.class_code >> 8) {
    case k3d: return function.vendor != kIntel || function.pci != kIntelIntegrated;
    case kVga:
    case kDisplay:
      // Hygon's DCUs (1d94:55b7) have the class of a display controller; its CPUs have no graphics.
      if (function.vendor == kNvidia || function.vendor == kHygon) return true;
      if (function.vendor == kIntel) return function.pci != kIntelIntegrated;
      // Server boards carry old ATI chips (ES1000 is 515e) for their console. The discrete GPUs that amdgpu drives have
      // ids from 6600 on; its APUs have ids below that, or from 9800 on (drivers/gpu/drm/amd/amdgpu/amdgpu_drv.c,
      // pciidlist, Linux 6.12).
      return function.vendor == kAmd && function.device >= 0x6600 && function.device < 0x8000;
    // FPGAs, NPUs of desktop CPUs and engines for compression have this class as well. Huawei's Ascend have ids from
    // d100 on (d100, d500, d801 to d803).
    case kAccelerator:
      return function.vendor == kAmd || function.vendor == kNvidia || function.vendor == kHabana ||
             function.vendor == kHygon || (function.vendor == kHuawei && function.device >> 12 == 0xd);
    // AWS Inferentia and Trainium: 7064 to 7067, 7164, 7264, 7364.
    case kPeripheral: return function.vendor == kAmazon && (function.device & 0xf0fc) == 0x7064;
    default: return false;
  }
}

bool is_accelerator(const PciDevice& function) { return function.class_code >> 8 == kAccelerator; }

bool is_peripheral(const PciDevice& function) { return function.class_code >> 8 == kPeripheral; }

std::string card_of(const std::string& pci) {
  const size_t dot = pci.rfind('.');
  if (dot == std::string::npos) return {};
  return pci.substr(0, dot);
}

std::string place_on_card(const std::string& pci) { return pci.substr(card_of(pci).size()); }

bool is_network(const PciDevice& function) {
  return function.class_code >> 16 == kNetwork || function.class_code >> 8 == kInfiniband;
}

bool is_guests_function(std::string_view pci_id) {
  constexpr std::string_view kIds[] = {
      "15b3:1002", "15b3:1004", "15b3:1012", "15b3:1014", "15b3:1016", "15b3:1018", "15b3:101a", "15b3:101c",
      "15b3:101e", "15b3:a2d3", "14e4:1606", "14e4:1607", "14e4:1608", "14e4:1609", "14e4:16bd", "14e4:16c1",
      "14e4:16c2", "14e4:16c3", "14e4:16c4", "14e4:16c5", "14e4:16cb", "14e4:16d3", "14e4:16dc", "14e4:16e1",
      "14e4:16e5", "14e4:16e6", "14e4:1806", "14e4:1807", "14e4:1808", "14e4:1809", "14e4:1819", "14e4:181b",
      "14e4:d800", "1077:1664", "1077:8090", "1dd8:1003", "8086:1889", "8086:145c", "19e5:a22e", "19e5:a22f",
      "1d0f:efa0", "1d0f:efa1", "1d0f:efa2", "1d0f:efa3", "1414:00ba", "1ded:107f"};
  return contains(kIds, pci_id);
}

bool is_dpu_function(std::string_view pci_id) {
  constexpr std::string_view kIds[] = {"15b3:a2d2", "15b3:a2d6", "15b3:a2dc", "15b3:a2df"};
  return contains(kIds, pci_id);
}

bool is_data_direct(const PciDevice& function) {
  return function.vendor == kNvidiaNetworking && function.device == 0x2100;
}

bool has_c2c(const PciDevice& gpu) {
  constexpr uint16_t kIds[] = {0x2342, 0x2345, 0x2348, 0x2941, 0x31c2};
  return gpu.vendor == kNvidia && contains(kIds, gpu.device);
}

}  // namespace fabric
