// SPDX-License-Identifier: Apache-2.0
#include "node/port.h"

#include <cmath>
#include <cstdio>

#include "base/find.h"
#include "base/parse.h"
#include "kernel/pci/pci_device.h"
#include "nic/capabilities.h"

namespace fabric {

std::string Port::id() const {
  std::string id = rdma + "/" + std::to_string(number);
  if (is_member()) id += "@" + netdev;
  return id;
}

namespace qos {

Keys own_keys(const Port& port) {
  if (port.role != PortRole::bond && port.role != PortRole::bond_member) return Keys().set();
  const Keys of_bond = keys_in(SettingGroup::rdma).set(index(SettingId::mtu));
  if (port.role == PortRole::bond) return of_bond;
  return ~of_bond;
}

}  // namespace qos

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(value) < 9999.5 ? "%.4g" : "%.0f", value);  // no "5e+04"
  return text;
}

std::string_view why_not_by_verbs(const Port& port) {
  switch (port.transport) {
    // irdma_modify_qp() and siw_modify_qp() of Linux 6.12 start a queue pair only with a connection of rdma_cm.
    case RdmaTransport::iwarp: return "iWARP, whose queue pairs rdma_cm alone connects";
    // drivers/infiniband/hw/usnic/usnic_ib_verbs.c: IB_QPT_UD alone. rdma-core has no provider for it.
    case RdmaTransport::usnic: return "usNIC, which has unreliable datagrams alone, for Cisco's libfabric provider";
    case RdmaTransport::infiniband: break;
  }
  return {};
}

std::string roce_command(const Port& port) {
  if (port.transport != RdmaTransport::iwarp || !is_judged(port)) return {};
  std::string command(capabilities_of(port.kernel_driver).roce_switch);
  replace_all(command, "{pci}", port.pci);
  return command;
}

std::string why_unmanageable(const Port& port) {
  const bool is_internal = port.role == PortRole::smi || port.role == PortRole::nvlink_management;
  if (port.link_layer == LinkLayer::infiniband && !is_internal) {
    if (port.role == PortRole::virtual_function) return "InfiniBand, virtual function of " + port.owner;
    if (is_subfunction(port)) return "InfiniBand, subfunction (" + port.owner + ")";
    if (port.role == PortRole::guest_function) return "InfiniBand, virtual function of the host";
    return "InfiniBand";
  }
  if (port.transport == RdmaTransport::usnic) return "usNIC, no RoCE";
  // EFA, wherever its physical function is: the operator of a cloud has none to set, either.
  if (port.link_layer == LinkLayer::unknown && port.netdev.empty() &&
      capabilities_of(port.kernel_driver).only_in_clouds)
    return "no Ethernet port (" + port.kernel_driver + "), it has none of these settings";
  switch (port.role) {
    case PortRole::virtual_function: return "virtual function: set on its physical function " + port.owner;
    case PortRole::subfunction: return "subfunction (" + port.owner + "): set on its function " + port.pci;
    case PortRole::representor: return "representor of a virtual function or subfunction: set on the uplink's port";
    case PortRole::guest_function:
      if (is_subfunction(port)) return "subfunction (" + port.owner + "): set on its function, on the host";
      return "virtual function: set on its physical function, on the host";
    case PortRole::smi: return "SMI sub-device, management packets only";
    case PortRole::data_direct: return "Data Direct function";
    case PortRole::multi_pf_secondary:
      return "secondary function of its NIC: set on its primary function " + port.owner;
    case PortRole::nvlink_management: return "management of the NVLink switches, inside this machine";
    case PortRole::netdev_elsewhere: return "its netdev is missing or in another network namespace";
    case PortRole::physical:
    case PortRole::switchdev_uplink:
    case PortRole::plane:
    case PortRole::dpu_owned:
    case PortRole::bond:
    case PortRole::bond_member: break;
  }
  return {};
}

std::string link_state_text(const Port& port) {
  if (!port.state) return "not known";
  std::string out(port_state_text(*port.state));
  if (port.phys_state) out.append(", ").append(phys_state_text(*port.phys_state));
  if (is_active(port) && is_down(port)) out += ", no carrier";
  return out;
}

std::string_view link_word(const Port& port) {
  if (is_up(port)) return "up";
  if (is_down(port)) return "down";
  return port.state ? "not active" : "state not known";
}

std::string link_summary(const Port& port) {
  return is_up(port) && port.rate ? rate_text(*port.rate) : std::string(link_word(port));
}

std::string rate_text(double bytes_per_second) { return number_text(bytes_per_second * 8 / 1e9) + " Gb/s"; }

bool are_of_one_board(const Port& a, const Port& b) {
  return a.kernel_driver == b.kernel_driver && a.pci_id == b.pci_id && a.hca_type == b.hca_type &&
         a.board_id == b.board_id;
}

// Ports of one board that also have the same link layer and are of the same kind of function.
static bool are_equal_but_for_place(const Port& a, const Port& b) {
  return are_of_one_board(a, b) && a.link_layer == b.link_layer && is_virtual(a) == is_virtual(b) &&
         (is_judged(a) || is_endpoint(a)) && (is_judged(b) || is_endpoint(b));
}

bool are_twins(const Port& a, const Port& b) {
  return are_equal_but_for_place(a, b) && a.number == b.number && place_on_card(a.pci) == place_on_card(b.pci);
}

bool are_of_one_card(const Port& a, const Port& b) {
  return are_equal_but_for_place(a, b) && !a.pci.empty() && card_of(a.pci) == card_of(b.pci) && a.id() != b.id();
}

static const UnreadPart* unread_part(const Port& port, PortPart part) {
  return find_where(port.unread, [&](const UnreadPart& each) {
    if (part == PortPart::mtu && (each.part == PortPart::netdev || each.part == PortPart::settings)) return true;
    if (each.part == PortPart::speed && part == PortPart::rate) return true;  // of the netdev
    return each.part == part;
  });
}

bool is_unread(const Port& port, PortPart part) { return unread_part(port, part) != nullptr; }

std::string why_unread(const Port& port, PortPart part) {
  if (const UnreadPart* unread = unread_part(port, part)) return unread->why;
  return "not readable as this user, or not offered by this kernel and driver";
}

}  // namespace fabric
