// SPDX-License-Identifier: Apache-2.0
#include "model/node.h"

#include <algorithm>
#include <ostream>

namespace fabric {

bool Port::is_member() const { return !bond.empty() && bond != netdev; }

std::string Port::id() const { return rdma + "/" + std::to_string(number) + (is_member() ? "@" + netdev : ""); }

// state_show() and phys_state_to_str() of drivers/infiniband/core/sysfs.c, Linux 6.12.
std::string_view port_state_text(unsigned state) {
  constexpr std::array<std::string_view, 6> kNames{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return state < kNames.size() ? kNames[state] : "UNKNOWN";
}

std::string_view phys_state_text(unsigned phys_state) {
  constexpr std::array<std::string_view, 8> kNames{
      "", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"};
  return phys_state > 0 && phys_state < kNames.size() ? kNames[phys_state] : "<unknown>";
}

namespace qos {

Keys own_keys(const Port& port) {
  if (port.bond.empty()) return Keys().set();
  Keys of_bond;
  for (const SettingId setting : {SettingId::mtu, SettingId::roce_mode, SettingId::roce_tos, SettingId::traffic_class,
                                  SettingId::optional_counters})
    of_bond.set(index(setting));
  return port.bond == port.netdev ? of_bond : ~of_bond;
}

}  // namespace qos

std::ostream& operator<<(std::ostream& out, const CounterName& name) { return out << name.text(); }

static std::string pair_text(const ResourceLimit& limit, std::string (*text)(uint64_t)) {
  return limit.soft == limit.hard ? text(limit.soft) : text(limit.soft) + " (hard: " + text(limit.hard) + ")";
}

std::string bytes_text(uint64_t bytes) {
  if (bytes == kNoLimit) return "unlimited";
  constexpr const char* kUnits[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + kUnits[unit];
}

std::string memory_text(const ResourceLimit& limit) { return pair_text(limit, bytes_text); }

std::string count_text(const ResourceLimit& limit) {
  return pair_text(limit,
                   [](uint64_t count) { return count == kNoLimit ? std::string("unlimited") : std::to_string(count); });
}

std::string FileLine::text() const { return line == 0 ? file : file + ":" + std::to_string(line); }

std::optional<unsigned> ConfValue::effective() const {
  if (!all || !own) return std::nullopt;
  return std::max(*all, *own);
}

namespace {

constexpr uint32_t kNetwork = 0x02, kVga = 0x0300, k3d = 0x0302, kDisplay = 0x0380, kInfiniband = 0x0c06,
                   kAccelerator = 0x1200;

// Server boards carry old ATI chips (ES1000 is 515e) for their console. The discrete GPUs that amdgpu drives have ids
// from 6600 on; its APUs lie below or at 9800 (drivers/gpu/drm/amd/amdgpu/amdgpu_drv.c, pciidlist, Linux 6.12).
bool discrete_amd(const PciDevice& function) { return function.device >= 0x6600 && function.device < 0x8000; }

// Intel's integrated graphics is always 0000:00:02.0 (arch/x86/kernel/early-quirks.c and i915 rely on it).
bool discrete_intel(const PciDevice& function) { return function.pci != "0000:00:02.0"; }

bool discrete_graphics(const PciDevice& function) {
  switch (function.vendor) {
    case kNvidia: return true;
    case kAmd: return discrete_amd(function);
    case kIntel: return discrete_intel(function);
    default: return false;
  }
}

}  // namespace

bool is_gpu(const PciDevice& function) {
  switch (function.class_code >> 8) {
    case k3d: return function.vendor != kIntel || discrete_intel(function);
    case kVga:
    case kDisplay: return discrete_graphics(function);
    // FPGAs and NPUs have this class, too.
    case kAccelerator: return function.vendor == kAmd || function.vendor == kNvidia || function.vendor == kHabana;
    default: return false;
  }
}

std::string card_of(const std::string& pci) {
  return pci.substr(0, pci.rfind('.') == std::string::npos ? 0 : pci.rfind('.'));
}

bool is_network(const PciDevice& function) {
  return function.class_code >> 16 == kNetwork || function.class_code >> 8 == kInfiniband;
}

bool is_guests_function(std::string_view pci_id) {
  constexpr std::string_view kIds[] = {"15b3:1012", "15b3:1014", "15b3:1016", "15b3:1018", "15b3:101a",
                                       "15b3:101c", "15b3:101e", "15b3:a2d3", "14e4:1806", "14e4:1807",
                                       "14e4:1808", "14e4:1809", "14e4:1819", "14e4:181b", "1dd8:1003",
                                       "8086:1889", "8086:145c", "19e5:a22e", "19e5:a22f"};
  return contains(kIds, pci_id);
}

bool is_data_direct(const PciDevice& function) {
  return function.vendor == kNvidiaNetworking && function.device == 0x2100;
}

bool can_have_data_direct(const Nic& nic) {
  constexpr uint16_t kConnectX8 = 0x1023;  // mlx5_core_pci_table
  return nic.vendor == kNvidiaNetworking && nic.device == kConnectX8 && !nic.virtual_function && !nic.rdma.empty();
}

bool carries_rdma(const Nic& nic) {
  return !nic.rdma.empty() || nic.rdma_elsewhere || (nic.vendor == kCray && nic.class_code >> 16 == kNetwork);
}

}  // namespace fabric
