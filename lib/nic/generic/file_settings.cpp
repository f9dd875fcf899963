// SPDX-License-Identifier: Apache-2.0
#include "nic/generic/file_settings.h"

#include "base/parse.h"
#include "kernel/pci/pci_config.h"

namespace fabric::file_settings {
namespace {

constexpr std::string_view kDebugfs = "sys/kernel/debug";
constexpr std::string_view kConfigfs = "sys/kernel/config";

std::string_view mount_of(std::string_view folder) {
  for (std::string_view mount : {kDebugfs, kConfigfs})
    if (folder.starts_with(mount)) return mount;
  return {};
}

}  // namespace

std::optional<uint32_t> number(std::string_view text) {
  text = trim(text);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  return parse_number<uint32_t>(text, hex ? 16 : 10);
}

Result<uint32_t> read_number(const Root& root, const std::string& file) {
  auto text = root.read_line(file);
  if (!text) return text.error();
  auto value = number(*text);
  if (!value) return error(EIO, "/" + file + " reads \"" + text->substr(0, 20) + "\"");
  return *value;
}

void set_number(const Setting& setting, uint32_t value, Qos& out) {
  visit_member(setting, out, [=]<class T>(std::optional<T>& member) {
    if constexpr (std::is_same_v<T, uint32_t>) member = value;
    if constexpr (std::is_same_v<T, bool>) member = value != 0;
    if constexpr (std::is_same_v<T, OrNone>) member = OrNone{value};
  });
}

void set_none(const Setting& setting, Qos& out) {
  if (const auto* member = std::get_if<std::optional<OrNone> Qos::*>(&setting.member)) out.** member = OrNone{};
}

std::optional<uint32_t> number_of(const Setting& setting, const Qos& qos) {
  return visit_member(setting, qos, []<class T>(const std::optional<T>& member) -> std::optional<uint32_t> {
    if constexpr (std::is_same_v<T, uint32_t> || std::is_same_v<T, bool>) return member;
    if constexpr (std::is_same_v<T, OrNone>) return member ? member->value : std::nullopt;
    return std::nullopt;
  });
}

void read(const PortIo& io, const std::string& file, SettingId setting, Reading& out) {
  if (auto value = read_number(io.kernel.root, file)) set_number(setting_of(setting), *value, out.values);
  else out.not_offered(setting, why_no_number(io, file, value.error()));
}

Result<std::string> text_of(const PortIo& io, const Setting& setting, const Qos& want) {
  const auto value = number_of(setting, want);
  if (!value) return error(EOPNOTSUPP, io.netdev + ": " + std::string(setting.key));
  return std::to_string(*value);
}

Result<void> write(const PortIo& io, const std::string& file, const Setting& setting, const Qos& want) {
  const auto text = text_of(io, setting, want);
  if (!text) return text.error();
  if (auto same = check_rdma_name(io); !same) return same;
  return io.kernel.root.write(file, *text);
}

std::string closed(const PortIo& io, const std::string& file) {
  if (!io.pci.empty() && io.kernel.root.exists("sys/bus/pci/devices/" + io.pci + "/physfn"))
    return "a virtual function: its settings belong to its physical function";
  const std::string mount(mount_of(file));
  if (mount.empty()) return {};
  // A mount point below sys/kernel is empty if nothing is mounted. debugfs is readable by root only.
  const auto names = io.kernel.root.list(mount);
  if (!names && (names.error().code == EACCES || names.error().code == EPERM))
    return "only root has access to /" + mount;
  if (!names) return "this kernel has no /" + mount;
  if (names->empty()) return "/" + mount + " is not mounted: systemctl start sys-kernel-" + base_name(mount) + ".mount";
  return {};
}

std::string why_not(const PortIo& io, const std::string& file, int code) {
  if (std::string why = closed(io, file); !why.empty()) return why;
  if (code == EPERM && mount_of(file) == kDebugfs && !pci::lockdown(io.kernel.root).empty())
    return "kernel lockdown (Secure Boot) closes debugfs even to root: boot without it, or use a driver with sysfs "
           "files";
  if (code == EPERM || code == EACCES) return "only root has access to /" + file;
  if (code == ENOENT || code == ENOTDIR) return "there is no /" + file;
  return error(code, "/" + file).text();
}

std::string why_no_number(const PortIo& io, const std::string& file, const Error& failure) {
  if (failure.code == EIO) return "the firmware did not answer: " + failure.what;
  return why_not(io, file, failure.code);
}

std::string remedy(int code) {
  if (code == EINVAL || code == ERANGE) return "the NIC's firmware does not accept this value";
  if (code == EACCES) return "only root may write the file, or it is read-only (as a virtual function's is)";
  if (code == EPERM) return "kernel lockdown (Secure Boot) closes such files even to root";
  if (code == EROFS) return "it is read-only here (a container, or ProtectKernelTunables= of the service)";
  if (code == ENOENT) return "the driver has removed the file";
  return {};
}

}  // namespace fabric::file_settings
