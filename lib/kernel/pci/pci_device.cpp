// SPDX-License-Identifier: Apache-2.0
#include "kernel/pci/pci_device.h"

#include "base/find.h"

namespace fabric {
namespace {

constexpr uint32_t kNetwork = 0x02, kMemory = 0x05, kVga = 0x0300, k3d = 0x0302, kDisplay = 0x0380,
                   kInfiniband = 0x0c06, kAccelerator = 0x1200, kPeripheral = 0x0880;

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

bool is_vga(const PciDevice& function) { return function.class_code >> 8 == kVga; }

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

bool is_memory(const PciDevice& function) { return function.class_code >> 16 == kMemory; }

bool is_in_flash_recovery(const PciDevice& function) {
  constexpr uint16_t kFirst = 0x01f6, kLast = 0x021f;  // ConnectX-3 to ConnectX-8, BlueField to BlueField-3
  return function.vendor == kNvidiaNetworking && is_memory(function) && function.device >= kFirst &&
         function.device <= kLast;
}

bool has_c2c(const PciDevice& gpu) {
  constexpr uint16_t kIds[] = {0x2342, 0x2345, 0x2348, 0x2941, 0x31c2};
  return gpu.vendor == kNvidia && contains(kIds, gpu.device);
}

}  // namespace fabric
