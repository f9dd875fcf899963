// SPDX-License-Identifier: Apache-2.0
#include "nic/operation.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/parse.h"
#include "kernel/pci/pci.h"
#include "kernel/rdma/infiniband.h"

namespace fabric {
namespace {

Error other_rdma_device(const PortIo& io) {
  return error(ENODEV, io.rdma + ": another RDMA device has this name since the port was read");
}

}  // namespace

Result<void> check_rdma_name(const PortIo& io) {
  if (io.rdma.empty() || io.is_member) return {};
  const Root& root = io.kernel.root;
  const std::string folder = infiniband::device_folder(io.rdma);
  if (const auto resolved = root.resolve(folder + "/device")) {
    const auto place = pci::parse_location(*resolved);
    if (place && place->pci != io.pci) return other_rdma_device(io);
    return {};
  }
  if (!io.pci.empty()) return {};
  // rxe and siw have no PCI function; rxe's file `parent` names its netdev (rxe_verbs.c parent_show()).
  if (const std::string netdev = root.line_of(folder + "/parent"); !netdev.empty() && netdev != io.netdev)
    return other_rdma_device(io);
  return {};
}

Result<void> check_identity(const PortIo& io) {
  if (!io.kernel.route) return error(EOPNOTSUPP, io.netdev + ": not written: no netlink");
  if (auto same = check_name(*io.kernel.route, io.id()); !same) return same;
  return check_rdma_name(io);
}

Result<void> write_netdev_file(const PortIo& io, const std::string& file, std::string_view text) {
  const auto is_same = [&](const Fd& folder) -> Result<void> {
    const Fd index(::openat(folder.get(), "ifindex", O_RDONLY | O_CLOEXEC));
    if (!index) return error(errno, io.netdev + ": ifindex");
    const auto number = read_all(index.get(), 64);
    if (!number) return error_about(io.netdev + ": ifindex", number.error());
    if (parse_number<int>(trim(*number)) == io.ifindex) return {};
    return error(ENODEV, io.netdev + ": another device has this name since the port was read");
  };
  return io.kernel.root.write_in("sys/class/net/" + io.netdev, file, text, is_same);
}

Result<void> write_rdma_file(const PortIo& io, const std::string& file, std::string_view text) {
  const auto is_same = [&](const Fd& folder) -> Result<void> {
    std::string link(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(folder.get(), "device", link.data(), link.size());
    if (size < 0) return check_rdma_name(io);  // a software device
    link.resize(static_cast<size_t>(size));
    if (base_name(link) == io.pci || base_name(link).find(':') == std::string::npos) return {};
    return other_rdma_device(io);
  };
  return io.kernel.root.write_in(infiniband::device_folder(io.rdma), file, text, is_same);
}

Result<void> write_setting(const Op& op, const PortIo& io, const Setting& setting, const Qos& want,
                           const Reading& have) {
  if (auto same = check_identity(io); !same) return same;
  auto written = op.write(io, setting, want, have);
  // An operation of several messages may go on after one that was misled.
  const bool by_name = setting.group == SettingGroup::dcb || setting.id == SettingId::roce_prio;
  if (by_name)
    if (auto kept = check_name_kept(*io.kernel.route, io.id()); !kept) return kept;
  return written;
}

}  // namespace fabric
