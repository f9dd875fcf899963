// SPDX-License-Identifier: Apache-2.0
// Settings in the PCI configuration space of GPUs, NICs and the bridges above them; only root can read all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace fabric {

// ACS control bits (PCIe 7.7.8.3; PCI_ACS_* of linux/pci_regs.h). Redirect bits send peer-to-peer traffic through the
// root.
inline constexpr uint16_t kAcsSourceValidation = 0x01, kAcsRequestRedirect = 0x04, kAcsCompletionRedirect = 0x08,
                          kAcsUpstreamForwarding = 0x10, kAcsDirectTranslated = 0x40;

struct PciSettings {
  std::optional<uint32_t> mrrs, max_payload;  // bytes: maximum read request, maximum payload
  std::optional<bool> relaxed_ordering;
  std::optional<uint16_t> acs;         // the ACS control register; absent: the function has no ACS
  std::string unread;                  // why the settings are unknown
  std::optional<bool> ten_bit_tags{};  // whether they are on; absent: the function cannot send them
  bool operator==(const PciSettings&) const = default;
};

// The settings of all GPUs, NICs and bridges above them.
struct PciState {
  std::string updated;                           // RFC 3339
  std::map<std::string, PciSettings> functions;  // by PCI address
  bool operator==(const PciState&) const = default;
};

}  // namespace fabric
