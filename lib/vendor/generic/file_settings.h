// SPDX-License-Identifier: Apache-2.0
// Settings that a driver keeps as numbers in files: debugfs, sysfs, configfs.
#pragma once

#include "vendor/driver.h"

namespace fabric::file_settings {

// One number, one file. The setting's member in Qos is a number, that or none, or a switch (1 on, 0 off).
struct Row {
  SettingId setting;
  std::string_view file;  // below the driver's folder: "rp_time_reset", "roce_np/cnp_dscp"
  bool hex = false;       // written as 0x..; read is either
};

// The row of the setting, or null.
const Row* find(std::span<const Row> rows, SettingId setting);

// "300", "0x12c"; nothing where that is not the whole text (OFED shows an empty file when the firmware did not answer).
std::optional<uint32_t> number(std::string_view text);
// The number in the file. EIO: not a number.
Result<uint32_t> read_number(const Root& root, const std::string& file);

// The member of such a setting: as a number, absent where it is absent or none.
void put(const Setting& setting, uint32_t value, Qos& out);
std::optional<uint32_t> take(const Setting& setting, const Qos& qos);

// Puts into `out` what io.wants() of the rows; each file is read once (most of them are a firmware command). What
// cannot be read stays absent, and io.limits.reasons says why.
void read(PortIo& io, const std::string& folder, std::span<const Row> rows, Qos& out);
// One row of it.
void read(PortIo& io, const std::string& folder, const Row& row, Qos& out);

// Writes the setting of `want`. EOPNOTSUPP: no row has it, or its value is none.
Result<void> write(PortIo& io, const std::string& folder, std::span<const Row> rows, const Setting& setting,
                   const Qos& want);

// The same operation for each row.
template <size_t N>
constexpr std::array<SettingOp, N> ops(const std::array<Row, N>& rows, Op op) {
  std::array<SettingOp, N> out{};
  for (size_t i = 0; i < N; ++i) out[i] = {rows[i].setting, op};
  return out;
}
template <size_t N, size_t M>
constexpr std::array<SettingOp, N + M> join(const std::array<SettingOp, N>& some,
                                            const std::array<SettingOp, M>& others) {
  std::array<SettingOp, N + M> out{};
  for (size_t i = 0; i < N; ++i) out[i] = some[i];
  for (size_t i = 0; i < M; ++i) out[N + i] = others[i];
  return out;
}

// Why nothing below sys/kernel/debug or sys/kernel/config can be used, whatever the driver: a virtual function has
// nothing there, the file system is not mounted, it is root's alone. Empty: it is open.
std::string closed(const PortIo& io, const std::string& file);
// Why the file cannot be read, `code` being the errno: closed(), or kernel lockdown (fs/debugfs/file.c of Linux 6.12,
// debugfs_locked_down()), or the driver has no such file.
std::string why_not(const PortIo& io, const std::string& file, int code);
// What a refused write means, for Driver::remedy; empty: nothing is known.
std::string remedy(int code);

}  // namespace fabric::file_settings
