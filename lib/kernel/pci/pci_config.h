// SPDX-License-Identifier: Apache-2.0
// PCI configuration space: linux/pci_regs.h, drivers/pci/pci-sysfs.c (pci_read_config, pci_write_config) of Linux 6.12.
// Without CAP_SYS_ADMIN only the first 64 bytes can be read, which have none of the registers used here.
#pragma once

#include <cstddef>

#include "kernel/capture/root.h"
#include "kernel/pci/pci_settings.h"

namespace fabric::pci {

// The Device Control register of the PCI Express capability.
struct DeviceControl {
  size_t offset = 0;  // in configuration space
  uint16_t value = 0;
  [[nodiscard]] uint32_t mrrs() const { return 128u << (value >> 12 & 7); }        // bytes; 8192 and above are reserved
  [[nodiscard]] uint32_t max_payload() const { return 128u << (value >> 5 & 7); }  // bytes
  [[nodiscard]] bool relaxed_ordering() const { return (value & 0x0010) != 0; }
  // The value with another MRRS, a power of two from 128 to 4096.
  [[nodiscard]] uint16_t with_mrrs(uint32_t bytes) const;
};
inline constexpr bool is_mrrs(uint32_t bytes) { return bytes >= 128 && bytes <= 4096 && (bytes & (bytes - 1)) == 0; }

// No I/O. ENODEV: all ones, the device is gone or being reset; EACCES: `config` has only the first 64 bytes;
// EOPNOTSUPP: not PCI Express; EBADMSG: the capability list is damaged.
Result<DeviceControl> parse_device_control(std::string_view config);
// The ACS control register; nullopt: the function has none. No I/O; errors as above; ENODATA: `config` has only the
// first 256 bytes.
Result<std::optional<uint16_t>> parse_acs_control(std::string_view config);

// Whether 10-bit tags (more than 256 reads in flight) are on; nullopt if the function cannot send them:
// Device Capabilities 2 bit 17 and Device Control 2 bit 12 (PCI Express base specification 5.0, 7.5.3.15 and 7.5.3.16),
// which linux/pci_regs.h of Linux 6.12 does not name. No I/O; errors as above.
Result<std::optional<bool>> parse_ten_bit_tags(std::string_view config);

// Settings of the function "0000:17:00.0". Failures are listed in `unread`.
PciSettings read_settings(const Root& root, const std::string& address);
Result<DeviceControl> read_device_control(const Root& root, const std::string& address);
// Reads the register, changes the three bits of MRRS, writes the two bytes. EACCES: no privilege to read or write it;
// EPERM: kernel lockdown.
Result<void> write_mrrs(const Root& root, const std::string& address, uint32_t bytes);

// "integrity" or "confidentiality"; empty: none, or a kernel without it (Documentation/ABI: security/lockdown).
std::string lockdown(const Root& root);

}  // namespace fabric::pci
