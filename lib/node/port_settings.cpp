// SPDX-License-Identifier: Apache-2.0
#include "node/port_settings.h"

#include "base/parse.h"
#include "kernel/netlink/rtnl.h"
#include "kernel/pci/pci.h"
#include "node/pci_state.h"

namespace fabric::qos {
namespace {

// The settings that one message each of dcbnl, ethtool and rtnetlink brings. Every reading is saved as an original to
// restore, so rarely used settings are not among them. (roce_prio is in the APP table: without it, the priority of
// RoCE's packets would be unknown.)
constexpr SettingId kAlwaysRead[]{SettingId::dcbx,      SettingId::fw_lldp,     SettingId::pause, SettingId::mtu,
                                  SettingId::trust,     SettingId::dscp_map,    SettingId::ets,   SettingId::pfc,
                                  SettingId::roce_prio, SettingId::cable_length};

// ENODEV: the name of the port's netdev leads to another device, or to none.
Result<void> check_device(Kernel& kernel, const Port& port) {
  if (port.ifindex == 0) return {};
  auto link = rtnl::link(*kernel.route, port.netdev);
  if (link && link->ifindex == port.ifindex) return {};
  if (link || link.error().code == ENODEV)
    if (const std::string now = renamed_to(kernel, port); !now.empty())
      return error(ENODEV, port.netdev + ": renamed to " + now + " since the last scan");
  if (!link) return link.error();
  return error(ENODEV, port.netdev + ": another device has the name now");
}

Result<Reading> read_keys(Kernel& kernel, const Port& port, const Keys& keys, const Keys& requested) {
  if (port.netdev.empty()) return error(ENODEV, port.id() + ": no netdev");
  // Its settings may be another device's, and its card is unknown, by which originals are saved.
  if (is_unread(port, PortPart::netdev)) return error(EAGAIN, why_unread(port, PortPart::netdev));
  if (!kernel.route) {
    auto mtu = kernel.root.read_line("sys/class/net/" + port.netdev + "/mtu");
    if (!mtu) return mtu.error();
    Reading out;
    out.values.mtu = parse_number<uint32_t>(*mtu);
    return out;
  }
  if (auto same = check_device(kernel, port); !same) return same.error();
  PortIo io = port_io(kernel, port);
  io.requested = requested;
  auto out = read_all(driver_for(port.kernel_driver, &kernel.root, port.netdev), io, keys);
  // Each of its messages and files has named the device.
  if (auto same = check_device(kernel, port); !same) return same.error();
  if (!out || !has_key(keys, SettingId::mrrs) || out->values.mrrs || port.pci.empty()) return out;
  // Reading MRRS requires CAP_SYS_ADMIN: without it, the value that fabric-agent-pci.service last read.
  const auto state = state::load_pci_state(kernel.root);
  if (!state || !*state) return out;
  const PciSettings* function = find_in((*state)->functions, port.pci);
  if (function == nullptr) return out;
  out->values.mrrs = function->mrrs;
  if (!function->mrrs && !function->unread.empty()) out->not_offered(SettingId::mrrs, function->unread);
  return out;
}

// Reads once more if an answer was lost; not after a timeout, because dead firmware costs a minute each time.
Result<Reading> read_repeating(Kernel& kernel, const Port& port, const Keys& keys, const Keys& requested) {
  auto out = read_keys(kernel, port, keys, requested);
  if (!out && is_transient(out.error()) && out.error().code != ETIMEDOUT)
    out = read_keys(kernel, port, keys, requested);
  return out;
}

}  // namespace

PortIo port_io(Kernel& kernel, const Port& port) {
  return {.kernel = kernel,
          .netdev = port.netdev,
          .ifindex = port.ifindex,
          .rdma = port.rdma,
          .port = port.number,
          .pci = port.pci,
          .fec_in_use = driver_for(port.kernel_driver, &kernel.root, port.netdev).fec_in_use,
          .is_member = port.is_member()};
}

std::vector<Port> others_of_bond(const Root& root, const Port& port) {
  std::vector<Port> out;
  if (port.is_member()) {
    Port& bond = out.emplace_back(port);
    bond.role = PortRole::bond;
    bond.netdev = port.bond;
    bond.ifindex = 0;
  }
  if (port.role != PortRole::bond) return out;
  const std::string names = root.line_of("sys/class/net/" + port.netdev + "/bonding/slaves");
  for (const std::string_view name : words(names)) {
    Port& member = out.emplace_back(port);
    member.role = PortRole::bond_member;
    member.netdev = name;
    member.ifindex = 0;
    if (const auto place = pci::location_at(root, "sys/class/net/" + member.netdev + "/device"))
      member.pci = place->pci;
  }
  return out;
}

std::string bond_above(const Root& root, const Port& port) {
  if (port.is_member()) return port.bond;
  if (port.role == PortRole::bond || port.netdev.empty()) return {};
  const std::string master = "sys/class/net/" + port.netdev + "/master";
  return root.exists(master + "/bonding") ? root.link_name(master) : std::string();
}

std::string vendor_command(const Port& port, const Setting& setting, const Qos& want) {
  const Driver& driver = driver_for(port.kernel_driver);
  if (driver.vendor_command == nullptr || op_of(driver, setting.id).write != nullptr || !has_value(setting, want))
    return {};
  constexpr std::string_view kMac = "mac:";
  std::string mac;
  if (port.card_address.starts_with(kMac)) mac = port.card_address.substr(kMac.size());
  return driver.vendor_command(setting, want, port.rdma, mac);
}

Keys always_read() {
  Keys out;
  for (SettingId id : kAlwaysRead) out.set(index(id));
  return out;
}

Result<Reading> read(Kernel& kernel, const Port& port, const Keys& keys) {
  return read_repeating(kernel, port, keys | always_read(), keys);
}

Result<void> read_again(Kernel& kernel, const Port& port, const Keys& keys, Reading& have) {
  const auto now = read_repeating(kernel, port, keys, keys);
  if (!now) return now.error();
  update(have, *now, keys);
  return {};
}

bool is_there(Kernel& kernel, const Port& port) {
  if (!kernel.route || port.netdev.empty()) return false;
  const auto link = rtnl::link(*kernel.route, port.netdev);
  return link && (port.ifindex == 0 || link->ifindex == port.ifindex);
}

std::string renamed_to(Kernel& kernel, const Port& port) {
  if (!kernel.route || port.ifindex == 0) return {};
  const auto link = rtnl::link_at(*kernel.route, port.ifindex);
  if (!link || link->name == port.netdev) return {};
  return link->name;
}

}  // namespace fabric::qos
