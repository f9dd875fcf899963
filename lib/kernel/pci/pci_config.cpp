// SPDX-License-Identifier: Apache-2.0
#include "kernel/pci/pci_config.h"

#include <linux/pci_regs.h>

#include <bit>

#include "base/parse.h"

namespace fabric::pci {
namespace {

constexpr size_t kUnprivileged = 64;  // bytes
constexpr size_t kExtended = 0x100;
constexpr uint32_t kTenBitRequester = 1u << 17, kTenBitOn = 1u << 12;
constexpr int kMostHops = 48, kMostExtendedHops = (4096 - 256) / 8;  // as drivers/pci/pci.c

// A little-endian number; nullopt: past the end.
std::optional<uint32_t> number(std::string_view config, size_t at, size_t size) {
  if (at + size > config.size()) return std::nullopt;
  uint32_t out = 0;
  for (size_t i = 0; i < size; ++i) out |= static_cast<uint32_t>(static_cast<uint8_t>(config[at + i])) << 8 * i;
  return out;
}

Result<void> check_readable(std::string_view config) {
  if (config.empty()) return error(EBADMSG, "empty configuration space");
  if (config.substr(0, kUnprivileged).find_first_not_of('\xff') == std::string_view::npos)
    return error(ENODEV, "configuration space reads all ones");
  if (config.size() <= kUnprivileged)
    return error(EACCES, "only the first 64 bytes of configuration space can be read here (no CAP_SYS_ADMIN)");
  return {};
}

// Offset of the PCI Express capability.
Result<size_t> express(std::string_view config) {
  if (auto good = check_readable(config); !good) return good.error();
  if ((number(config, PCI_STATUS, 2).value_or(0) & PCI_STATUS_CAP_LIST) == 0)
    return error(EOPNOTSUPP, "no capabilities");
  size_t at = number(config, PCI_CAPABILITY_LIST, 1).value_or(0) & 0xfc;
  for (int hop = 0; at != 0; ++hop) {
    const auto id = number(config, at, 1), next = number(config, at + PCI_CAP_LIST_NEXT, 1);
    if (!id || !next || at < PCI_STD_HEADER_SIZEOF || hop == kMostHops)
      return error(EBADMSG, "its capability list is damaged");
    if (*id == PCI_CAP_ID_EXP) return at;
    at = *next & 0xfc;
  }
  return error(EOPNOTSUPP, "not PCI Express");
}

std::string config_file(const std::string& address) { return "sys/bus/pci/devices/" + address + "/config"; }

// The error of a write. Under lockdown root gets EPERM as well (drivers/pci/pci-sysfs.c pci_write_config()): more
// privileges do not help.
Error not_written(const Root& root, const std::string& address, const Error& failure) {
  const std::string level = lockdown(root);
  if (level.empty() || (failure.code != EPERM && failure.code != EACCES))
    return error(failure.code, "set mrrs: " + failure.what);
  return error(EPERM, address + ": set mrrs: kernel lockdown (" + level +
                          ") forbids writing PCI configuration space even to root");
}

}  // namespace

uint16_t DeviceControl::with_mrrs(uint32_t bytes) const {
  const unsigned code = static_cast<unsigned>(std::countr_zero(bytes)) - 7;
  return static_cast<uint16_t>((value & ~PCI_EXP_DEVCTL_READRQ) | (code << 12 & PCI_EXP_DEVCTL_READRQ));
}

Result<DeviceControl> parse_device_control(std::string_view config) {
  auto at = express(config);
  if (!at) return at.error();
  const auto value = number(config, *at + PCI_EXP_DEVCTL, 2);
  if (!value) return error(EBADMSG, "its PCI Express capability is cut short");
  return DeviceControl{*at + PCI_EXP_DEVCTL, static_cast<uint16_t>(*value)};
}

Result<std::optional<uint16_t>> parse_acs_control(std::string_view config) {
  if (auto good = check_readable(config); !good) return good.error();
  if (config.size() <= kExtended)
    return error(ENODATA, "extended configuration space is out of reach here (no MMCONFIG)");
  size_t at = kExtended;
  for (int hop = 0; hop < kMostExtendedHops; ++hop) {
    const auto header = number(config, at, 4);
    if (!header || *header == 0 || *header == UINT32_MAX) return std::optional<uint16_t>{};
    if (PCI_EXT_CAP_ID(*header) == PCI_EXT_CAP_ID_ACS) {
      const auto control = number(config, at + PCI_ACS_CTRL, 2);
      if (!control) break;
      return std::optional(static_cast<uint16_t>(*control));
    }
    at = PCI_EXT_CAP_NEXT(*header);
    if (at < kExtended) return std::optional<uint16_t>{};
  }
  return error(EBADMSG, "its extended capability list is damaged");
}

Result<std::optional<bool>> parse_ten_bit_tags(std::string_view config) {
  auto at = express(config);
  if (!at) return at.error();
  const auto flags = number(config, *at + PCI_EXP_FLAGS, 2);
  if (!flags || (*flags & PCI_EXP_FLAGS_VERS) < 2) return std::optional<bool>{};  // 10-bit tags came with version 2
  const auto can = number(config, *at + PCI_EXP_DEVCAP2, 4), on = number(config, *at + PCI_EXP_DEVCTL2, 2);
  if (!can || !on) return error(EBADMSG, "its PCI Express capability is cut short");
  if ((*can & kTenBitRequester) == 0) return std::optional<bool>{};
  return std::optional((*on & kTenBitOn) != 0);
}

PciSettings read_settings(const Root& root, const std::string& address) {
  PciSettings out;
  auto config = root.read(config_file(address));
  if (!config) {
    out.unread = config.error().text();
    return out;
  }
  auto control = parse_device_control(*config);
  if (!control) {
    out.unread = control.error().text();
    return out;
  }
  out.mrrs = control->mrrs();
  out.max_payload = control->max_payload();
  out.relaxed_ordering = control->relaxed_ordering();
  if (auto tags = parse_ten_bit_tags(*config)) out.ten_bit_tags = *tags;
  auto acs = parse_acs_control(*config);
  if (acs) out.acs = *acs;
  else out.unread = "ACS: " + acs.error().text();
  return out;
}

Result<DeviceControl> read_device_control(const Root& root, const std::string& address) {
  auto config = root.read(config_file(address));
  if (!config) return config.error();
  auto control = parse_device_control(*config);
  if (!control) return error(control.error().code, address + ": " + control.error().what);
  return control;
}

Result<void> write_mrrs(const Root& root, const std::string& address, uint32_t bytes) {
  if (!is_mrrs(bytes)) return error(EINVAL, address + ": set mrrs: not a power of two from 128 to 4096");
  auto control = read_device_control(root, address);
  if (!control) return not_written(root, address, control.error());
  const uint16_t value = control->with_mrrs(bytes);
  const char raw[] = {static_cast<char>(value & 0xff), static_cast<char>(value >> 8)};
  auto written = root.write_at(config_file(address), control->offset, std::string_view(raw, sizeof raw));
  if (!written) return not_written(root, address, written.error());
  return {};
}

std::string lockdown(const Root& root) {
  std::string level = chosen_word(root.line_of("sys/kernel/security/lockdown"));
  if (level == "none") level.clear();
  return level;
}

}  // namespace fabric::pci
