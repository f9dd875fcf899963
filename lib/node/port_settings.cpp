// SPDX-License-Identifier: Apache-2.0
#include "node/port_settings.h"

#include "base/parse.h"
#include "kernel/netlink/rtnl.h"
#include "node/pci_state.h"

namespace fabric::qos {
namespace {

Result<Qos> read_tree(const Root& root, const std::string& netdev) {
  auto mtu = root.read_line("sys/class/net/" + netdev + "/mtu");
  if (!mtu) return mtu.error();
  Qos out;
  out.mtu = parse_number<uint32_t>(*mtu);
  return out;
}

Result<void> same_device(Kernel& kernel, const Port& port) {
  if (port.ifindex == 0) return {};
  auto link = rtnl::link(*kernel.route, port.netdev);
  if (!link) return link.error();
  if (link->ifindex != port.ifindex) return error(ENODEV, port.netdev + ": another device has the name now");
  return {};
}

// Requires CAP_SYS_ADMIN to read: the value that fabric-agent-pci.service last read.
void take_published_mrrs(PortIo& io, Qos& out) {
  const auto state = state::load_pci_state(io.kernel.root);
  if (!state || !*state) return;
  const auto function = (*state)->functions.find(io.pci);
  if (function == (*state)->functions.end()) return;
  out.mrrs = function->second.mrrs;
  if (!out.mrrs && !function->second.unread.empty()) io.limits.reasons[SettingId::mrrs] = function->second.unread;
}

}  // namespace

PortIo port_io(Kernel& kernel, const Port& port) { return {kernel, port.netdev, port.rdma, port.number, port.pci}; }

bool is_there(Kernel& kernel, const Port& port) {
  if (!kernel.route || port.netdev.empty()) return false;
  const auto link = rtnl::link(*kernel.route, port.netdev);
  return link && (port.ifindex == 0 || link->ifindex == port.ifindex);
}

Result<Qos> read(Kernel& kernel, const Port& port, const Keys& keys, Limits* limits) {
  if (port.netdev.empty()) return error(ENODEV, port.id() + ": no netdev");
  if (!kernel.route) return read_tree(kernel.root, port.netdev);
  if (auto same = same_device(kernel, port); !same) return same.error();
  PortIo io = port_io(kernel, port);
  io.keys = keys;
  auto out = read_all(driver_for(port.kernel_driver, &kernel.root, port.netdev), io);
  if (out && io.wants(SettingId::mrrs) && !out->mrrs && !port.pci.empty()) take_published_mrrs(io, *out);
  if (limits != nullptr) *limits = std::move(io.limits);
  return out;
}

}  // namespace fabric::qos
