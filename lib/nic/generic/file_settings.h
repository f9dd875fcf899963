// SPDX-License-Identifier: Apache-2.0
// Settings that a driver keeps as numbers in files: debugfs, sysfs, configfs.
#pragma once

#include "base/find.h"
#include "nic/operation.h"

namespace fabric::file_settings {

// "300", "0x12c"; nullopt: the text is not a number.
std::optional<uint32_t> number(std::string_view text);
// The number in the file. EIO: not a number (OFED's file is empty if the firmware did not answer).
Result<uint32_t> read_number(const Root& root, const std::string& file);

// Sets the setting from a number, to none, or returns its number (of a switch: 1 on, 0 off). nullopt: absent or none.
void set_number(const Setting& setting, uint32_t value, Qos& out);
void set_none(const Setting& setting, Qos& out);
std::optional<uint32_t> number_of(const Setting& setting, const Qos& qos);

// Puts the number into `out`. If it cannot be read, out.notes.reasons has the reason.
void read(const PortIo& io, const std::string& file, SettingId setting, Reading& out);
// The text to write for the setting of `want`. EOPNOTSUPP: its value is none.
Result<std::string> text_of(const PortIo& io, const Setting& setting, const Qos& want);
// Writes it to a file that is found by the PCI function, or by the RDMA device (configfs). Files of the netdev:
// write_netdev_file().
Result<void> write(const PortIo& io, const std::string& file, const Setting& setting, const Qos& want);

// A setting that is one number in one file.
struct File {
  SettingId setting;
  std::string_view name;  // below the driver's folder: "rp_time_reset", "roce_np/cnp_dscp"
};
// The row of the setting, or null.
inline const File* find(std::span<const File> files, SettingId setting) {
  return find_where(files, [=](const File& each) { return each.setting == setting; });
}
// One operation for the settings of all rows.
template <class Row, size_t size>
constexpr auto ops(const std::array<Row, size>& rows, Op op) {
  std::array<SettingOp, size> out{};
  std::ranges::transform(rows, out.begin(), [=](const Row& each) { return SettingOp{each.setting, op}; });
  return out;
}
template <size_t... sizes>
constexpr auto join(const std::array<SettingOp, sizes>&... parts) {
  std::array<SettingOp, (sizes + ...)> out{};
  auto to = out.begin();
  ((to = std::ranges::copy(parts, to).out), ...);
  return out;
}

// Why nothing below sys/kernel/debug or sys/kernel/config is accessible with any driver: a virtual function has no
// files there, the file system is not mounted, only root has access. Empty: it is accessible.
std::string closed(const PortIo& io, const std::string& file);
// Why the file cannot be read; `code` is the errno. The reason of closed(), or kernel lockdown (fs/debugfs/file.c of
// Linux 6.12, debugfs_locked_down()), or the driver has no such file.
std::string why_not(const PortIo& io, const std::string& file, int code);
// The reason for an error of read_number().
std::string why_no_number(const PortIo& io, const std::string& file, const Error& failure);
// The cause of a refused write, for Driver::remedy; empty: unknown.
std::string remedy(int code);

}  // namespace fabric::file_settings
