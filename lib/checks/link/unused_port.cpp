// SPDX-License-Identifier: Apache-2.0
// Ports that are down by design.

#include "checks/cabling/peer.h"
#include "judge/finding.h"
#include "node/locality.h"

namespace fabric {
namespace {

enum : unsigned { kPortDown = 1, kPhysDisabled = 3 };  // enum ib_port_state, enum ib_port_phys_state (rdma/ib_verbs.h)
constexpr std::string_view kNoCable = "No cable";

// Never connected, as far as the NIC reports. Two losses of carrier prove a link; some drivers count one when they
// first open the netdev (__bnxt_open_nic() of Linux 6.12).
bool was_never_connected(const Port& port) {
  if (port.phys_state != kPhysDisabled || port.counters.carrier_down.value_or(0) > 1) return false;
  const std::string reason = port.link_status ? port.link_status->reason : std::string();
  return reason.empty() || reason == kNoCable || reason == kSwitchedOff;
}

bool has_active_neighbor(const View& view, const Port& port) {
  return std::ranges::any_of(view.now.ports, [&](const Port& other) {
    const bool same_card = !port.pci.empty() && card_of(other.pci) == card_of(port.pci);
    return &other != &port && is_judged(other) && is_active(other) && (same_card || other.rdma == port.rdma);
  });
}

// An unused second port: no equal port is active on another card, and the card, or another with such a port, has an
// active one. A card that has lost the link of the port in use has no more ports in use than before.
bool is_spare(const View& view, const Port& port) {
  bool second = has_active_neighbor(view, port);
  for (const Port& other : view.now.ports) {
    if (&other == &port || !are_twins(other, port)) continue;
    if (is_active(other)) return false;
    second = second || has_active_neighbor(view, other);
  }
  return second;
}

const Nic* nic_of(const View& view, const Port& port) {
  const auto& nics = view.now.topology.nics;
  return find_where(nics, [&](const Nic& nic) { return contains(nic.rdma, port.rdma); });
}

// GT/s of all lanes, at most.
double slot_of(const Nic& nic) { return nic.link.max_speed.value_or(0) * nic.link.max_width.value_or(0); }

// An onboard port or a management function (NVLink's): no NIC like it has a link, and one with more PCIe bandwidth has.
bool is_of_the_board(const View& view, const Port& port) {
  const Nic* nic = nic_of(view, port);
  if (nic == nullptr || slot_of(*nic) <= 0) return false;
  bool wider = false;
  for (const Port& other : view.now.ports) {
    const Nic* used = is_judged(other) && is_active(other) ? nic_of(view, other) : nullptr;
    if (used == nullptr) continue;
    const bool narrower = slot_of(*nic) * 4 <= slot_of(*used);
    if (are_alike(*used, *nic) && !narrower) return false;
    wider = wider || slot_of(*used) > slot_of(*nic);
  }
  return wider;
}

bool was_up(const View& view, const Port& port) {
  const InventoryPart* part = view.now.inventory ? view.now.inventory->find(port.pci) : nullptr;
  if (part != nullptr && contains(part->up, port.id())) return true;
  const auto is_it = [&](const Port& old) { return old.id() == port.id() && is_active(old); };
  return view.before != nullptr && std::ranges::any_of(view.before->ports, is_it);
}

bool is_beside_gpu(const View& view, const Port& port) {
  const Nic* nic = nic_of(view, port);
  return nic != nullptr && std::ranges::any_of(view.now.topology.gpus, [&](const Gpu& gpu) {
           const auto path = path_class(gpu, *nic);
           return path && *path <= PathClass::PXB;
         });
}

}  // namespace

bool is_switched_off(const Port& port) {
  if (port.link_status && port.link_status->reason == kSwitchedOff) return true;
  return port.phys_state == kPhysDisabled && port.link_layer == LinkLayer::infiniband;
}

bool may_be_spare(const View& view, const Port& port) { return is_spare(view, port) || is_of_the_board(view, port); }

std::optional<std::string> why_unused(const View& view, const Port& port) {
  if (port.state != kPortDown || was_up(view, port) || !planned_cables(view.policy, port).empty()) return std::nullopt;
  const bool second = is_spare(view, port), of_the_board = is_of_the_board(view, port), off = is_switched_off(port);
  if (was_never_connected(port) && second) return "second port, disabled";
  if (of_the_board && (off || was_never_connected(port))) return "no port of its model is in use, disabled";
  const bool is_left_off = off || (port.link_status && port.link_status->reason == kNoCable);
  const auto is_other = [&](const Port& other) { return &other != &port && is_judged(other) && is_active(other); };
  const auto is_twin = [&](const Port& other) { return is_other(other) && are_twins(other, port); };
  if (!is_left_off || std::ranges::none_of(view.now.ports, is_other) || std::ranges::any_of(view.now.ports, is_twin) ||
      is_beside_gpu(view, port))
    return std::nullopt;
  return off ? "administratively down" : "no module or cable";
}

}  // namespace fabric
