// SPDX-License-Identifier: Apache-2.0
// The link of a port: state, rate, MTU, GIDs, flaps and errors; causes of a link that does not come up, and of damaged
// bits.
#include "judge/link.h"

#include <cmath>

#include "judge/cabling.h"
#include "judge/engine.h"
#include "judge/finding.h"
#include "judge/network.h"
#include "judge/optics.h"
#include "judge/planes.h"
#include "judge/platform_view.h"
#include "judge/port_context.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "judge/unseen.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "node/signals.h"
#include "node/topology.h"
#include "topology/compute_nics.h"

namespace fabric {

constexpr Limit kLaneShare{"damaged-link",
                           "lane_share",
                           0.9,
                           "of the bit errors on one lane",
                           "ours: a bad reference clock or switch port damages all lanes",
                           0.25,
                           1};
constexpr Limit kLinksAtOnce{
    "damaged-link", "links_with_errors", 3, "links with errors, or down, at once: not one cable", "ours", 2, 1e4};

namespace {

// -- Ports that are down by design

constexpr std::string_view kNoCable = "No cable";

// This host disabled the port: the netdev is administratively down, or the physical state of an InfiniBand port is
// Disabled. (RoCE drivers report Disabled for every port without a link.)
bool is_switched_off(const Port& port) {
  if (port.link_status && port.link_status->reason == kSwitchedOff) return true;
  return port.phys_state == kPhysDisabled && port.link_layer == LinkLayer::infiniband;
}

// The NIC reports no sign of an earlier connection. Two losses of carrier prove a link; some drivers count one when
// they first open the netdev (__bnxt_open_nic() of Linux 6.12).
bool was_never_connected(const Port& port) {
  if (port.phys_state != kPhysDisabled || port.counters.carrier_down.value_or(0) > 1) return false;
  if (!port.link_status) return true;
  const std::string& reason = port.link_status->reason;
  return reason.empty() || reason == kNoCable || reason == kSwitchedOff;
}

// A port of the same card has a routable address or an earlier connection, and this one has neither: that one is the
// port in use, also while it is down.
bool has_used_neighbor(const View& view, const Port& port) {
  const auto was_used = [](const Port& each) {
    return each.counters.carrier_down.value_or(0) > 1 || std::ranges::any_of(each.gids, is_routable_v2);
  };
  return !was_used(port) && std::ranges::any_of(view.now.ports, [&](const Port& other) {
    return &other != &port && is_judged(other) && !port.pci.empty() && card_of(other.pci) == card_of(port.pci) &&
           was_used(other);
  });
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
  bool second = has_active_neighbor(view, port) || has_used_neighbor(view, port);
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
double slot_bandwidth(const Nic& nic) { return nic.link.max_speed.value_or(0) * nic.link.max_width.value_or(0); }

// An onboard port or a management function (NVLink's): no NIC like it has a link, and one with more PCIe bandwidth has.
bool is_of_the_board(const View& view, const Port& port) {
  const Nic* nic = nic_of(view, port);
  if (nic == nullptr || slot_bandwidth(*nic) <= 0) return false;
  bool has_wider = false;
  for (const Port& other : view.now.ports) {
    if (!is_judged(other) || !is_active(other)) continue;
    const Nic* used = nic_of(view, other);
    if (used == nullptr) continue;
    const bool narrower = slot_bandwidth(*nic) * 4 <= slot_bandwidth(*used);
    if (are_alike(*used, *nic) && !narrower) return false;
    has_wider = has_wider || slot_bandwidth(*used) > slot_bandwidth(*nic);
  }
  return has_wider;
}

// The inventory or the earlier reading has the port as up.
bool was_up(const View& view, const Port& port) {
  if (view.now.inventory) {
    const auto built = built_of(view);
    const std::string* recorded = find_in(built->recorded_at, port.pci);
    const InventoryPart* part = recorded != nullptr ? view.now.inventory->find(*recorded) : nullptr;
    if (part != nullptr && contains(part->up, port.id())) return true;
  }
  return view.before != nullptr && std::ranges::any_of(view.before->ports, [&](const Port& old) {
           return old.id() == port.id() && is_active(old);
         });
}

bool is_beside_gpu(const View& view, const Port& port) {
  const Nic* nic = nic_of(view, port);
  return nic != nullptr && std::ranges::any_of(view.now.topology.gpus, [&](const Gpu& gpu) {
           const auto path = path_class(gpu, *nic);
           return path && *path <= PathClass::PXB;
         });
}

}  // namespace

std::optional<std::string> why_unused(const View& view, const Port& port) {
  // The port is administratively down, or nothing says that its cable has a fault.
  const bool may_be_off = !port.link_status || port.link_status->reason.empty() || is_switched_off(port);
  if (port.state == kPortDown && may_be_off && !was_up(view, port) && planned_cables(view.policy, port).empty())
    for (const Port* function : functions_of(view.now, port))
      if (is_used_function(*function) && serves_jobs(view.now, *function))
        return "its function " + function->id() + " is used instead";
  if (port.state != kPortDown || was_up(view, port) || !planned_cables(view.policy, port).empty()) return std::nullopt;
  const bool never_connected = was_never_connected(port), is_off = is_switched_off(port);
  if (never_connected && is_spare(view, port)) return "second port, disabled";
  if ((is_off || never_connected) && is_of_the_board(view, port)) return "no port of its model is in use, disabled";
  const bool has_no_cable = port.link_status && port.link_status->reason == kNoCable;
  if (!is_off && !has_no_cable) return std::nullopt;
  bool another_is_active = false;
  for (const Port& other : view.now.ports) {
    if (&other == &port || !is_judged(other) || !is_active(other)) continue;
    if (are_twins(other, port)) return std::nullopt;
    another_is_active = true;
  }
  if (!another_is_active || is_beside_gpu(view, port)) return std::nullopt;
  return is_off ? "administratively down" : "no module or cable";
}

namespace {

// -- State of a port

// The meaning of a physical state (0: any other state). fill_names() completes the remedy. InfiniBand has no netdev:
// in place of ethtool and ip it gets ibportstate by a directed route, which needs no subnet manager.
struct Advice {
  unsigned phys_state = 0;
  std::string_view meaning;
  FixRow fix;
};
constexpr std::string_view kNoSignal = "The port receives no signal: cable, transceiver, or disabled switch port.",
                           kFlaps = "The link goes up and down: bad cable, transceiver or connector.",
                           kIsDown = "The port is down.";
constexpr Advice kMismatch{
    kPhysTraining,
    "Link training fails: speed, FEC or auto-negotiation differ between the ends, or the cable is bad.",
    {Work::at_link,
     "Configure the same speed and FEC on {netdev} and on the switch port (ethtool {netdev}), else replace the "
     "cable."}};
constexpr Advice kEthernet[]{
    {kPhysPolling,
     kNoSignal,
     {"Enable the switch port. Compare speed, autonegotiation and FEC (ethtool {netdev}; ethtool --show-fec {netdev}) "
      "with those of the switch port. ",
      {Work::at_link, "Else reseat or replace the cable and the transceiver of {netdev}."}}},
    kMismatch,
    {kPhysRecovery, kFlaps, {Work::at_link, "Clean, reseat or replace the cable and the transceiver of {netdev}."}},
    {kPhysSleep, "The port sleeps to save power.", "Disable power saving of the port, then ip link set {netdev} up"},
    {0,
     kIsDown,
     {"Find out whether {netdev} has carrier (ip link show dev {netdev})",
      {Work::at_link, ", then check cable and switch port"},
      "."}}};
constexpr Advice kInfiniband[]{
    {kPhysPolling,
     kNoSignal,
     {"Enable the switch's port. ",
      {Work::at_link, "Reseat or replace the cable and the transceiver of {rdma}, then: ethtool {netdev}"}}},
    {kPhysTraining,
     "Link training fails: speed or width differ between the ends, or the cable is bad.",
     {Work::at_link, "Replace the cable, then compare enabled speed and width of both ends: ethtool {netdev}"}},
    {kPhysRecovery,
     kFlaps,
     {Work::at_link, "Clean, reseat or replace the cable and the transceiver of {rdma}, then: ethtool {netdev}"}},
    {0, kIsDown, {"Read its state", {Work::at_link, ", then check cable and switch port"}, ": ethtool {netdev}"}}};

// Reasons of the NIC that are more specific than the physical state, which is Disabled in RoCE drivers whatever the
// cause.
constexpr std::pair<std::string_view, Advice> kByReason[]{
    {"Link training failure", kMismatch},
    {"Logical mismatch", kMismatch},
    {"BMC request down",
     {0, "The BMC of this host took the link down.",
      "Enable the port in the settings of the BMC (NC-SI, shared network port), and read its log: ipmitool sel elist"}},
    {"OTP speed violation",
     {0,
      "The NIC refuses the speed: it is above the limit that is fused into this NIC.",
      {"Choose a lower speed on the switch port: ethtool {netdev}. ",
       {Work::in_machine, "Else replace the NIC by a model for this speed."}}}}};

Advice advice_for(const Port& port) {
  if (port.link_status) {
    const auto* row = find_where(kByReason, [&](const auto& each) { return each.first == port.link_status->reason; });
    if (row != nullptr) return row->second;
  }
  const bool infiniband = port.link_layer == LinkLayer::infiniband;
  if (port.state == kPortInit || port.state == kPortArmed) {
    if (infiniband)
      return {0, "The link is up, but no subnet manager configured the port.",
              "Start the subnet manager (opensm) or restore its path to this port: sminfo; ibstat {device}"};
    return {0,
            "The port is not ready for RDMA yet.",
            {"Run the check again. ", {Work::ends_jobs, "If nothing changes, reload the driver."}}};
  }
  if (port.state == kPortActiveDefer)
    return {0,
            "The port has just lost its link.",
            {"Run the check again. ", {Work::at_link, "If nothing changes, reseat the cable."}}};
  if (is_switched_off(port)) return {0, "This host disabled the port.", "ip link set {netdev} up"};
  const std::span<const Advice> rows = infiniband ? std::span<const Advice>(kInfiniband) : kEthernet;
  return *find_where(rows,
                     [&](const Advice& each) { return each.phys_state == 0 || each.phys_state == port.phys_state; });
}

// "0000:29:00.1" -> ".1"
std::string place_on_card(const Port& port) { return port.pci.substr(card_of(port.pci).size()); }

bool are_of_one_model(const Port& a, const Port& b) {
  return is_judged(a) && is_judged(b) && a.pci_id == b.pci_id && a.board_id == b.board_id;
}

// The link layers of the ports of each card of the port's model, by place and number.
using CardLayers = std::map<std::pair<std::string, unsigned>, LinkLayer>;
std::map<std::string, CardLayers> layers_of_cards(const View& view, const Port& port) {
  std::map<std::string, CardLayers> out;
  for (const Port& other : view.now.ports)
    if (are_of_one_model(other, port)) out[card_of(other.pci)][{place_on_card(other), other.number}] = other.link_layer;
  return out;
}

// The link layer that the other ports of the card have, and all ports of the other cards that have ports in the same
// places. nullopt: they differ, or there is no such card: cards with a port of each kind are in use.
std::optional<LinkLayer> layer_of_equal_cards(const View& view, const Port& port) {
  const auto cards = layers_of_cards(view, port);
  const CardLayers& own = cards.at(card_of(port.pci));
  std::optional<LinkLayer> out;
  size_t others = 0, equal = 0;
  const auto add = [&](LinkLayer layer) {
    if (out && out != layer) return false;
    out = layer;
    return true;
  };
  for (const auto& [place, layer] : own) {
    if (place == std::pair(place_on_card(port), port.number)) continue;
    if (!add(layer)) return std::nullopt;
    ++others;
  }
  const auto place_of = [](const auto& each) { return each.first; };
  for (const auto& [card, layers] : cards) {
    if (card == card_of(port.pci) || !std::ranges::equal(layers, own, {}, place_of, place_of)) continue;
    for (const auto& [place, layer] : layers)
      if (!add(layer)) return std::nullopt;
    ++equal;
  }
  if (others == 0 || equal == 0 || out == port.link_layer || out == LinkLayer::unknown) return std::nullopt;
  return out;
}

// The link layer that all equal ports have but this one, if there are as many of them as GPUs, or a multiple: the
// machine has them for its GPUs, and the setting of this one was lost. Else that of equal cards with several ports.
// nullopt: no fewer than two have it, or they are few: then it may be intended.
std::optional<LinkLayer> usual_link_layer(const View& view, const Port& port) {
  constexpr size_t kFew = 4;
  if (port.link_layer == LinkLayer::unknown || port.pci_id.empty() || !is_judged(port)) return std::nullopt;
  if (const auto layer = layer_of_equal_cards(view, port)) return layer;
  std::map<LinkLayer, size_t> layers;
  for (const Port& other : view.now.ports)
    if (are_of_one_model(other, port) && other.number == port.number && place_on_card(other) == place_on_card(port))
      ++layers[other.link_layer];
  const size_t gpus = view.now.topology.gpus.size();
  if (layers.size() != 2 || layers[port.link_layer] != 1) return std::nullopt;
  for (const auto& [layer, count] : layers)
    if (layer != port.link_layer && layer != LinkLayer::unknown && count + 1 >= kFew && gpus > 0 &&
        (count + 1) % gpus == 0)
      return layer;
  return std::nullopt;
}

// "; the NIC says: Autoneg, No partner detected"
std::string reason_text(const Port& port) {
  if (!port.link_status || port.link_status->reason.empty()) return {};
  const LinkStatus& link = *port.link_status;
  if (link.reason == kSwitchedOff) return "; the netdev is administratively down";
  std::string out = "; the NIC says: " + link.reason;
  if (!link.detail.empty()) out += ", " + link.detail;
  return out;
}

constexpr const char* kUpState = "ACTIVE, LinkUp";

// An InfiniBand function of four lanes, which only its VPD distinguishes from a NIC (is_nvlink_management()): with a
// VPD that was read, it would have that role.
bool may_manage_nvlink(const View& view, const Port& port) {
  constexpr unsigned kMostLanes = 4;
  const Nic* nic = nic_of(view, port);
  return nic != nullptr && nic->vendor == kNvidiaNetworking && port.link_layer == LinkLayer::infiniband &&
         nic->link.max_width && *nic->link.max_width <= kMostLanes && is_of_the_board(view, port);
}

// nullopt: the port is not ACTIVE.
std::optional<Finding> unknown_or_active(const Port& port) {
  if (!port.state)
    return bad(Status::unknown, port.id(), "-", kUpState,
               "The state of the port could not be read: " + why_unread(port, "state") + ".",
               "rdma link show " + port.id() + "; journalctl -k -g " + port.rdma);
  if (is_active(port)) return good(port.id(), link_state_text(port), kUpState);
  return std::nullopt;
}

Finding port_state_finding(const View& view, const Port& port) {
  if (auto finding = unknown_or_active(port)) {
    if (finding->status == Status::ok && is_audit_only(port)) finding->observed += " (a DPU owns its settings)";
    return *finding;
  }
  const std::string expected = kUpState;
  std::string observed = link_state_text(port) + reason_text(port);
  if (const auto why = why_unused(view, port)) {
    observed += " (" + *why + ": unused)";
    if (!view.named.contains(port.id())) return good(port.id(), observed, expected);
  }
  if (const auto layer = usual_link_layer(view, port); layer && port.state == kPortDown)
    return bad(layer_of_equal_cards(view, port) && has_other_purpose(view, port) ? Status::warning : Status::critical,
               port.id(), observed, expected,
               "The link layer of this port is " + std::string(to_text(port.link_layer)) +
                   ", and that of all equal ports " + std::string(to_text(*layer)) +
                   ": it gets no link with their switches.",
               fix_of_link_layer(port.pci, *layer));
  if (is_audit_only(port))
    return bad(Status::critical, port.id(), observed, expected,
               "The port has no link. A DPU owns it: the Arm cores there have its cable, its module and its settings.",
               "ip link set " + port.netdev +
                   " up. On the Arm cores of the DPU: ip link show; ethtool p0; ethtool -m p0; devlink port show");
  const Advice advice = advice_for(port);
  // By its position the port may be unused, though something is plugged into it.
  const bool may_be_unused =
      port.state == kPortDown && (why_unused(view, port) || is_spare(view, port) || is_of_the_board(view, port));
  const bool is_mild = may_be_unused || port.state == kPortActiveDefer;
  Fix fix = fix_of(advice.fix, &port, port.id());
  if (may_manage_nvlink(view, port))
    fix.steps.insert(fix.steps.begin(),
                     "Read its VPD as root: lspci -vv -s " + port.pci +
                         ". With SW_MNG it manages the NVLink switches inside this machine and has no cable. Else: ");
  return bad(is_mild ? Status::warning : Status::critical, port.id(), observed, expected, std::string(advice.meaning),
             std::move(fix));
}

// A member of a bond: the bond's RDMA port stays ACTIVE while one member has a link. Its carrier is known.
Finding member_state_finding(const Port& port) {
  if (*port.carrier) return good(port.id(), "carrier", "carrier");
  Fix fix{"Enable the switch port. ",
          {Work::at_link, "Reseat or replace the cable and the transceiver of " + port.netdev + "."}};
  if (is_switched_off(port)) fix = "ip link set " + port.netdev + " up";
  return bad(Status::warning, port.id(), "no carrier" + reason_text(port), "carrier",
             "A member of " + port.bond + " has no link: the bond has lost bandwidth and redundancy.", std::move(fix));
}

// Commands that give a virtual function its link, on the host that has its physical function.
std::string link_commands(const Port& port, const std::string& physical, const std::string& number) {
  const std::string set = "ip link set " + physical + " vf " + number;
  if (port.link_layer != LinkLayer::infiniband) return set + " state auto";
  return set + " state auto; " + set + " node_guid GUID; " + set + " port_guid GUID";
}

// The netdev that has the number of the virtual function: the netdev of the physical function, also if the RDMA device
// is on a bond. Empty: it is not here.
std::string physical_netdev(const View& view, const Port& port) {
  const Nic* nic = find_where(view.now.topology.nics, [&](const Nic& each) { return each.pci == port.owner; });
  if (nic != nullptr && nic->netdevs.size() == 1) return nic->netdevs.front();
  const Port* physical = physical_of(view.now, port);
  return physical != nullptr && physical->role != PortRole::bond ? physical->netdev : std::string();
}

// librdmacm identifies the device of a connection by its node GUID, and does not search if the GUID is zero
// (ucma_query_route() in librdmacm/cma.c of rdma-core 65). mlx5 derives the GUID from the MAC address that the host
// sets, when it probes the function.
Finding no_guid_finding(const View& view, const Port& port) {
  const auto finding = [&](Fix fix) {
    return bad(
        Status::warning, port.id(), link_state_text(port) + ", node GUID 0", "a node GUID of its own",
        "The host has not given this function a MAC address, so its RDMA device has no node GUID. Programs that "
        "connect "
        "with the connection manager (rdma_cm: UCX, NVMe, ib_write_bw -R) fail or crash; NCCL does not use rdma_cm.",
        std::move(fix));
  };
  // Port::pci of a subfunction is the PCI function of the NIC: to unbind that would remove all devices of the NIC.
  if (is_subfunction(port)) {
    const std::string where = port.role == PortRole::guest_function ? "On the host: " : "",
                      set = "devlink port function set DEV/PORT_INDEX ";
    return finding(
        {where + "devlink port show. ",
         {Work::ends_jobs, "Then " + set + "state inactive; " + set + "hw_addr ADDRESS; " + set + "state active"}});
  }
  std::string where = "N is the number of this function: ", netdev = physical_netdev(view, port);
  if (netdev.empty()) {
    where = "On the host (PF: netdev of the physical function, N: number of this function): ";
    netdev = "PF";
  }
  return finding({where + "ip link set " + netdev + " vf N mac ADDRESS. ",
                  {Work::ends_jobs, "Then bind its driver again: " + rebind_commands(port.pci, port.kernel_driver)}});
}

// A port without a wire: whether it has a link is decided by its physical function, the link state policy and, on
// InfiniBand, its GUID (Documentation/networking and ip-link(8), `vf NUM state`, `node_guid`, `port_guid`).
Finding function_state_finding(const View& view, const Port& port) {
  if (auto finding = unknown_or_active(port)) {
    if (is_active(port) && port.no_node_guid && serves_jobs(view.now, port)) return no_guid_finding(view, port);
    return *finding;
  }
  const std::string observed = link_state_text(port), expected = kUpState;
  const bool infiniband = port.link_layer == LinkLayer::infiniband, is_here = port.role != PortRole::guest_function;
  const Status status =
      is_here && !was_up(view, port) && !serves_jobs(view.now, port) ? Status::warning : Status::critical;
  const std::string own = port.netdev.empty() || infiniband ? "" : "ip link set " + port.netdev + " up; ";
  if (!is_endpoint(port))
    return bad(Status::warning, port.id(), observed, expected,
               "No connections run over this port: " + why_unmanageable(port) + ".", "rdma link show " + port.id());
  const Port* physical = physical_of(view.now, port);
  if (physical != nullptr && physical->state == kPortDown)
    return bad(status, port.id(), observed, expected,
               "The link is that of its physical function " + physical->id() + ", which is DOWN.",
               "fabric-agentctl diagnose " + physical->id());
  if (port.role == PortRole::subfunction)
    return bad(status, port.id(), observed, expected,
               "The subfunction has no link: its netdev is down, or its port function is not active.",
               own + "devlink port show; devlink port function set DEV/PORT_INDEX state active");
  if (!is_here && capabilities_of(port.kernel_driver).only_in_clouds)
    return bad(
        status, port.id(), observed, expected,
        "The function has no link. The operator of the cloud has its hardware and its network.",
        "journalctl -k -g " + port.pci + ". Restart the instance on another host, or report it to the operator.");
  if (!is_here && is_subfunction(port))
    return bad(status, port.id(), observed, expected,
               "The subfunction has no link. Its function is on the host of this pod: the port function there is not "
               "active, or the netdev here is down.",
               own + "on the host: devlink port show; devlink port function set DEV/PORT_INDEX state active");
  // Without a GUID, or with the policy "disable", the physical state of a function is Disabled.
  if (!is_here && infiniband &&
      (port.phys_state == kPhysPolling || port.phys_state == kPhysTraining || port.phys_state == kPhysRecovery))
    return bad(
        status, port.id(), observed, expected,
        "The physical link of this function's port is down on the host, at the port or at its far end. Link state "
        "policy and GUID of the function do not cause this state (it would be Disabled), and nothing in this virtual "
        "machine or pod changes it.",
        "Report it to the operator of the host, with the address " + port.pci +
            ", and move the job to another machine, or leave the NIC out of it on all machines (NCCL_IB_HCA).");
  if (!is_here) {
    std::string meaning =
        "The virtual function has no link. Its physical function is on the host of this guest or pod: the link state "
        "policy there decides";
    if (infiniband) meaning += ", and the GUID that the host gives it";
    if (port.state == kPortInit || port.state == kPortArmed)
      meaning =
          "The link is up, and the subnet manager has not configured this virtual function: it has no GUID from "
          "its host, or the subnet has no virtualization for it";
    return bad(status, port.id(), observed, expected, meaning + ".",
               own + "on the host, where PF is its physical function and N its number: ip link show PF; " +
                   link_commands(port, "PF", "N"));
  }
  std::string netdev = physical_netdev(view, port), number = "N";  // of the physical function; its number
  if (netdev.empty()) netdev = "PF";
  if (port.vf) number = std::to_string(*port.vf);
  std::string remedy = own + link_commands(port, netdev, number);
  if (infiniband) remedy += ". The subnet manager needs virtualization: virt_enabled 2 in opensm.conf.";
  std::string meaning = "The virtual function has no link: ";
  meaning += infiniband ? "it has no GUID, or its link state policy is disable."
                        : "its netdev is down, or its link state policy is disable.";
  return bad(status, port.id(), observed, expected, std::move(meaning), std::move(remedy));
}

// How many of the functions that serve the jobs of this machine are up, and how many are not, by their role.
struct UpAndDown {
  size_t up = 0, down = 0;
};
using FunctionCounts = std::map<PortRole, UpAndDown>;

FunctionCounts count_functions(const Node& node) {
  FunctionCounts out;
  for (const Port& port : node.ports)
    if (is_virtual(port) && serves_jobs(node, port)) ++(is_active(port) ? out[port.role].up : out[port.role].down);
  return out;
}

// Functions of a host may be DOWN because they wait for a guest or a pod. It is a fault if the function was up, or if
// most of the functions that serve the jobs of this machine are up.
bool is_function_expected_up(const View& view, const Port& port, const FunctionCounts& counts) {
  if (view.named.contains(port.id()) || was_up(view, port)) return true;
  if (port.role == PortRole::guest_function) return !belongs_elsewhere(view.now, port);
  const UpAndDown* same = find_in(counts, port.role);
  return same != nullptr && same->up > same->down && serves_jobs(view.now, port);
}

// The ports through which the fabric manager sets up the NVSwitches (HGX B200 and later) get their state from its
// subnet manager, NVLSM. It uses some of them, and others may have no link. nullopt: none waits for it, or it runs, or
// all GPUs belong to virtual machines, of which one may run it.
std::optional<Finding> no_fabric_manager(const Node& node) {
  const auto& gpus = node.topology.gpus;
  if (!gpus.empty() && std::ranges::all_of(gpus, [&](const Gpu& gpu) { return is_given_away(node, gpu.pci); }))
    return std::nullopt;
  std::string observed;
  for (const Port& port : node.ports) {
    if (port.role != PortRole::nvlink_management || !port.state) continue;
    if (*port.state > kPortInit) return std::nullopt;
    if (*port.state == kPortInit) append_item(observed, port.id() + " " + link_state_text(port), "; ");
  }
  if (observed.empty()) return std::nullopt;
  std::string meaning =
      "The fabric manager has not set up the NVSwitches through any of these ports, so CUDA cannot be initialized on "
      "the GPUs of this board.";
  std::string first;
  if (node.host && contains(node.host->software.modules, std::string(kMadModule), &ModuleRule::module)) {
    const std::string module = kMadModule;
    observed += "; " + module + " is not loaded";
    meaning += " Without " + module + " it cannot send them management datagrams, and stops.";
    first =
        "modprobe " + module + ", and for each start: echo " + module + " > /etc/modules-load.d/" + module + ".conf. ";
  }
  return bad(Status::critical, "NVLink", observed, "one of these ports ACTIVE", std::move(meaning),
             {first,
              {Work::service, "systemctl restart nvidia-fabricmanager. Its log: journalctl -u nvidia-fabricmanager. "},
              "Look at the GPUs: nvidia-smi -q (Fabric, State)"});
}

// The port was renamed, or is now a member of a bond, or belongs to a container or a virtual machine.
bool is_still_there(const View& view, const Port& old) {
  if (old.pci.empty()) return false;
  if (is_given_away(view.now, old.pci)) return true;
  for (const Port& port : view.now.ports)
    if (port.pci == old.pci && port.number == old.number && !is_virtual(port)) return true;
  return std::ranges::any_of(view.now.topology.nics,
                             [&](const Nic& nic) { return nic.pci == old.pci && nic.rdma_elsewhere; });
}

void add_gone_ports(const View& view, Findings& findings) {
  std::map<std::string, std::string, NaturalLess> gone;  // port id -> device
  const auto& nics = view.now.topology.nics;
  if (view.before != nullptr)
    for (const Port& old : view.before->ports)
      if (is_judged(old) && !contains(view.now.ports, old.id(), &Port::id) && !is_still_there(view, old))
        gone.emplace(old.id(), old.pci.empty() ? old.rdma : old.pci);
  // Health remembers devices that disappeared long ago. They are reported only if the PCI function is gone too, because
  // a driver may be unloaded on purpose or the device may be in a container.
  if (view.health != nullptr)
    for (const auto& [id, device] : view.health->devices) {
      const auto pci = place_of_gone(device);
      if (!pci || pci->empty() || id.find('@') != std::string::npos) continue;
      if (contains(view.now.ports, id, &Port::id) || nics.empty() || contains(nics, *pci, &Nic::pci)) continue;
      gone.emplace(id, *pci);
    }

  for (const auto& [id, device] : gone) {
    findings.push_back(bad(Status::critical, id, "gone", kUpState,
                           "The device disappeared: its driver was unloaded or it left the PCI bus.",
                           {Work::ends_jobs, "journalctl -k -g " + device + ", then reload the driver."}));
    if (view.health == nullptr) continue;
    if (const auto* known = find_in(view.health->devices, id); known != nullptr && place_of_gone(*known))
      findings.back().since = time_text(wall_of(*view.health, known->since));
  }
}

// "8 NICs have the driver ionic and no RDMA device (0000:09:00.0, 0000:19:00.0, ...)"
std::string without_rdma_text(const std::vector<std::string>& addresses, const std::string& driver) {
  constexpr size_t kShown = 8;
  const bool is_one = addresses.size() == 1;
  std::string out = is_one ? "1 NIC has " : std::to_string(addresses.size()) + " NICs have ";
  out += driver.empty() ? "no driver" : "the driver " + driver + " and no RDMA device";
  std::vector<std::string> shown = addresses;
  if (shown.size() > kShown) {
    shown.resize(kShown);
    shown.emplace_back("...");
  }
  return out + " (" + joined(shown) + ")";
}

// NICs without an RDMA device, by their driver and the modules for it.
struct WithoutRdma {
  std::map<std::pair<std::string, std::set<std::string>>, std::vector<std::string>> groups{};  // -> addresses

  void add(const Node& node, const Nic& nic) {
    const PlatformFunction* function = function_of(node, nic.pci);
    std::string driver;
    if (function != nullptr) driver = function->kernel_driver;
    const bool is_unknown = !records_drivers(node) || (driver.empty() && !nic.netdevs.empty());
    if (is_unknown || nic.virtual_function || nic.nvlink_management || is_data_direct(nic)) return;
    const RdmaModules* modules = rdma_modules_of(driver, nic.vendor, nic.device);
    if (modules == nullptr) return;
    std::set<std::string> load{std::string(modules->rdma)};
    if (driver.empty()) load.emplace(modules->function);
    groups[{driver, load}].push_back(nic.pci);
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& [key, addresses] : groups) append_item(out, without_rdma_text(addresses, key.first), "; ");
    return out;
  }
  [[nodiscard]] std::set<std::string> modules() const {
    std::set<std::string> out;
    for (const auto& [key, addresses] : groups) out.insert(key.second.begin(), key.second.end());
    return out;
  }
  // The lines that keep these modules from being loaded.
  [[nodiscard]] std::vector<ModuleRule> rules(const Node& node) const {
    std::vector<ModuleRule> out;
    if (!node.host) return out;
    const std::set<std::string> load = modules();
    for (const ModuleRule& rule : node.host->software.modules)
      if (load.contains(rule.module)) out.push_back(rule);
    return out;
  }
  // " /etc/modprobe.d/rdma.conf:1 forbids it: blacklist ionic_rdma."
  [[nodiscard]] std::string why(const Node& node) const {
    std::string out;
    for (const ModuleRule& rule : rules(node))
      if (rule.text.empty()) out += " The kernel has no module " + rule.module + " (" + rule.where.text() + ").";
      else out += " A line of the configuration forbids it, " + rule.where.text() + ": " + rule.text + ".";
    return out;
  }
  [[nodiscard]] Fix fix(const Node& node) const {
    const std::set<std::string> load = modules();
    std::string places, missing;
    bool restarts = false;
    for (const ModuleRule& rule : rules(node)) {
      if (rule.text.empty()) {
        append_item(missing, rule.module, " and ");
        continue;
      }
      append_item(places, rule.where.text(), " and ");
      restarts = restarts || (rule.where.line == 0 && rule.refuses);
    }
    std::string first;
    if (!missing.empty())
      return {"Install " + missing +
                  " for this kernel: the package of additional modules (Ubuntu: linux-modules-extra), or the driver of "
                  "the NIC's vendor. ",
              {Work::ends_jobs, "If neither exists, boot a kernel with these modules."}};
    if (!places.empty()) first = "Remove the modules from " + places + ", also in the initramfs. ";
    if (restarts) return {first, {Work::ends_jobs, "Then reboot: the kernel reads its command line when it starts."}};
    if (!first.empty()) first += "Then: ";
    std::string lasting;
    if (places.empty()) lasting = ". If that helps, write the names into a file of /etc/modules-load.d, too";
    return first + "modprobe -a " + joined(load, " ") + lasting +
           ". If it changes nothing, read why the driver failed: journalctl -k -g '" + joined(load, "|") + "'";
  }
};

// Whether every GPU has a NIC of this model on its switch, and none with an RDMA device as near.
bool serve_gpus_without_rdma(const Topology& topology, const PciDevice& model) {
  if (topology.gpus.size() < 2) return false;
  std::vector<size_t> own, with_rdma;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (carries_rdma(nic)) with_rdma.push_back(i);
    else if (are_alike(nic, model) && !nic.virtual_function) own.push_back(i);
  }
  return std::ranges::all_of(topology.gpus, [&](const Gpu& gpu) {
    const auto near = nearest_class(topology, gpu, own), rdma = nearest_class(topology, gpu, with_rdma);
    return near && *near <= PathClass::PXB && (!rdma || *rdma > *near);
  });
}

// The kernel has no RDMA device, and no NIC is known that can have one. A machine may have been built so: its NICs
// beside the GPUs are Ethernet. Else a NIC may be missing.
Finding no_rdma_nic(const Node& node) {
  std::map<std::string, size_t> drivers;
  bool serve_gpus = false;
  for (const Nic& nic : node.topology.nics) {
    const PlatformFunction* function = function_of(node, nic.pci);
    if (function == nullptr || function->kernel_driver.empty()) continue;
    ++drivers[function->kernel_driver];
    serve_gpus = serve_gpus || serve_gpus_without_rdma(node.topology, nic);
  }
  const std::string observed = "no RDMA device";
  if (drivers.empty())
    return bad(Status::unknown, kHostSubject, observed, "at least one", "The kernel has no RDMA device.",
               "Find the NIC on the PCI bus, and load its RDMA driver: lspci -nnk");
  std::string text;
  for (const auto& [driver, count] : drivers) append_item(text, counted(count, "NIC") + " with " + driver);
  if (serve_gpus) return good(kHostSubject, observed + ": the NICs beside the GPUs have none (" + text + ")", "none");
  return bad(Status::unknown, kHostSubject, observed + ": " + text, "at least one",
             "No NIC of this machine is known to do RDMA.",
             "If it should have one, it is missing from the PCI bus, or was not given to this virtual machine: lspci "
             "-nnk; journalctl -k -g pcieport");
}

// No NIC has an RDMA device: names those that can have one, and the modules for it. A server with GPUs needs them.
Finding no_rdma_at_all(const Node& node) {
  WithoutRdma nics;
  for (const Nic& nic : node.topology.nics) nics.add(node, nic);
  if (nics.groups.empty()) return no_rdma_nic(node);
  return bad(
      node.topology.gpus.empty() ? Status::unknown : Status::critical, kHostSubject, "no RDMA device: " + nics.text(),
      "at least one",
      "The kernel has no RDMA device: the RDMA driver of these NICs is not loaded, or it failed." + nics.why(node),
      nics.fix(node));
}

// The NICs for GPUs have no RDMA device, but others have, which are for storage. nullopt: they have.
std::optional<Finding> no_rdma_for_gpus(const Node& node) {
  WithoutRdma nics;
  for (const Nic& nic : node.topology.nics)
    if (!carries_rdma(nic) && !is_given_away(node, nic.pci) && serve_gpus_without_rdma(node.topology, nic))
      nics.add(node, nic);
  if (nics.groups.empty()) return std::nullopt;
  return bad(
      Status::critical, "NICs", "no RDMA device: " + nics.text(), "one for each NIC that is next to a GPU",
      "No NIC on the switch of a GPU has an RDMA device, so the jobs use the NICs of storage or TCP/IP: the RDMA "
      "driver failed on these NICs, or they are disabled for RDMA." +
          nics.why(node),
      nics.fix(node));
}

void ask_port_state(const View& view, Findings& findings) {
  constexpr size_t kShown = 16;
  std::vector<std::string> waiting;   // functions that are down and may be unused
  std::vector<std::string> unjudged;  // functions that are ACTIVE, for a guest or a pod
  const FunctionCounts counts = count_functions(view.now);
  const std::vector<GpuPlanes> planes = planes_of_gpus(view);
  for (const Port& port : view.now.ports) {
    if (is_judged(port)) {
      Finding finding = port_state_finding(view, port);
      if (is_lost_plane(planes, port) && !view.named.contains(port.id()))
        finding = good(port.id(), finding.observed + " (see planes)", finding.expected);
      findings.push_back(std::move(finding));
      continue;
    }
    if (is_virtual(port)) {
      if (is_function_expected_up(view, port, counts)) findings.push_back(function_state_finding(view, port));
      else if (is_endpoint(port) && port.state == kPortDown) waiting.push_back(port.id());
      if (is_endpoint(port) && is_active(port) && is_roce(port) && !serves_jobs(view.now, port))
        unjudged.push_back(port.id());
      continue;
    }
    if (port.carrier) findings.push_back(member_state_finding(port));
  }
  const auto list = [&](std::vector<std::string> functions, const char* state) {
    if (functions.empty()) return;
    std::string count = std::to_string(functions.size()) + " VFs or subfunctions are ";
    if (functions.size() == 1) count = "1 VF or subfunction is ";
    if (functions.size() > kShown) {
      functions.resize(kShown);
      functions.emplace_back("...");
    }
    findings.push_back(good(kHostSubject, count + state + joined(functions), "any state"));
  };
  list(std::move(waiting), "DOWN, unused or waiting for a guest or pod: ");
  list(std::move(unjudged), "ACTIVE, for a guest or pod: GIDs and MTU are not judged here: ");
  if (!view.now.rdma_unread.empty()) {
    findings.push_back(bad(Status::unknown, kHostSubject, "-", "at least one RDMA device",
                           "RDMA devices could not be listed: " + view.now.rdma_unread + ".",
                           "ls -l /sys/class/infiniband; run the check as root. For an I/O error: journalctl -k"));
    return;
  }
  add_gone_ports(view, findings);
  if (auto finding = no_fabric_manager(view.now)) findings.push_back(std::move(*finding));
  if (!view.now.ports.empty())
    if (auto finding = no_rdma_for_gpus(view.now)) findings.push_back(std::move(*finding));
  if (!view.now.ports.empty() || !findings.empty()) return;
  std::string devices;
  for (const Nic& nic : view.now.topology.nics)
    for (const std::string& device : nic.rdma) append_item(devices, device);
  if (!devices.empty())
    findings.push_back(
        bad(Status::unknown, kHostSubject, "no port of " + devices, kUpState,
            "The kernel has RDMA devices, but their ports could not be read or are excluded by the configuration.",
            "rdma link show; fabric-agentctl config show (exclude)"));
  else if (contains(view.now.topology.nics, true, &Nic::rdma_elsewhere))
    findings.push_back(bad(Status::unknown, kHostSubject, "no RDMA device here", "at least one",
                           "All RDMA devices are in other network namespaces: containers have them.",
                           "Run the check in the container. Namespaces: ip netns list; rdma system show"));
  else if (std::ranges::any_of(view.now.topology.nics, carries_rdma))
    findings.push_back(good(kHostSubject, "no RDMA device: Slingshot NICs, which libfabric uses without one", "none"));
  else findings.push_back(no_rdma_at_all(view.now));
}

}  // namespace

Fix fix_of_link_layer(const std::string& pci, LinkLayer layer) {
  std::string setting = "LINK_TYPE_P1";
  if (pci.ends_with(".1")) setting = "LINK_TYPE_P2";
  const std::string value = layer == LinkLayer::infiniband ? "1" : "2", tool = "mlxconfig -d " + pci;
  return {tool + " query " + setting + "; " + tool + " set " + setting + "=" + value + "; ",
          {Work::ends_jobs, "then mlxfwreset -d " + pci + " reset"}};
}

Fix fix_of_far_link() {
  return "The link is that of its physical function, on the host of this guest or pod: run fabric-agentctl diagnose "
         "there, or report it to the operator of the host.";
}

std::optional<Finding> port_state_fault(const View& view, const Port& port) {
  const bool is_member = port.is_member() && port.carrier.has_value();
  if (!is_judged(port) && !is_member) return std::nullopt;
  Finding finding = is_member ? member_state_finding(port) : port_state_finding(view, port);
  if (finding.status == Status::ok || finding.status == Status::unknown) return std::nullopt;
  return finding;
}

namespace {

// The port is down now, and no reading says more than that it has no partner or no signal. The rules that know more
// come first (kOrder in cause.cpp). The check reports the port in any case: it is the cause also if the culprit is
// unknown, so that the port has one finding.
MaybeCause link_is_down(const PortContext& ctx) {
  const auto fault = port_state_fault(ctx.view, ctx.port);
  if (!fault || !is_down(ctx.port) || is_switched_off(ctx.port)) return std::nullopt;
  Cause out{.evidence = {fault->observed + "; expected " + fault->expected}, .meaning = fault->meaning};
  out.critical = fault->status == Status::critical;  // not of a member: the bond has another
  out.add(error_lines(ctx));
  if (is_audit_only(ctx.port) || may_manage_nvlink(ctx.view, ctx.port)) {
    out.culprit = Culprit::unknown;
    out.next = fault->fix;
    return out;
  }
  if (ctx.port.phys_state == kPhysSleep || by_reason(ctx, {"BMC request down", "OTP speed violation"}) ||
      usual_link_layer(ctx.view, ctx.port)) {
    out.culprit = Culprit::host;
    out.next = fault->fix;
    return out;
  }
  size_t down = 0;  // ports that should be up
  for (const Port& port : ctx.view.now.ports)
    if (is_down(port) && !is_switched_off(port) && port_state_fault(ctx.view, port)) ++down;
  if (static_cast<double>(down) >= ctx.limit(kLinksAtOnce)) {
    out.culprit = Culprit::unknown;
    out.add(std::to_string(down) + " ports of this host are down: more likely the switch or this host");
    out.next.push_back("Find what the " + std::to_string(down) +
                       " ports have in common: a switch (read its log and its power), a NIC, or a driver of this host "
                       "(journalctl -k)");
  } else {
    out.add_ambiguous(
        "a port that is disabled, or has another speed or FEC, at " + ctx.peer_label() + " looks the same from here",
        "Read the state of the port at " + ctx.peer_label() +
            ": if it is enabled and has no link either, it is the cable or one of its modules.");
  }
  out.next.insert(out.next.end(), fault->fix.begin(), fault->fix.end());
  if (!ctx.port.module)
    out.next.emplace_back(fill_names("Read the module as root: ethtool -m {netdev}", &ctx.port, {}));
  return out;
}

}  // namespace

constexpr Rule kPortState{
    .id = "port-state",
    .group = group::link,
    .title = "An RDMA port is not ACTIVE or its link is down",
    .meaning =
        "A port that is not ACTIVE carries no RDMA. The finding shows the reason that the NIC reports, else the "
        "physical state: Polling means no signal (cable, transceiver, switch port); training or recovery means a bad "
        "cable, or speed and FEC that differ between the two ends. Disabled on InfiniBand means that this host "
        "disabled the port. RoCE drivers report Disabled for every port without a link. INIT on InfiniBand means that "
        "no subnet manager configured the port. A bond stays ACTIVE with one link, so each member is reported "
        "separately. A virtual function has no cable: its link state policy and, on InfiniBand, its GUID decide; in a "
        "guest, an InfiniBand function that is Polling or in training waits for the link of its host. On a "
        "host, functions that are DOWN are listed, and reported if named or if they were up; a port that is off, while "
        "one of its functions is ACTIVE with a routable GID, is unused. A function in use without "
        "a node GUID is reported, because the connection manager cannot use it. A device that left the PCI bus while "
        "fabric-exporter ran is reported for 12 hours. If no NIC has an RDMA device, or none of those next to the "
        "GPUs, the finding names the NICs, their driver and the modules to load; NICs beside the GPUs that can have "
        "none are no fault. A link layer that neither the other ports of its card nor equal cards have is a lost "
        "LINK_TYPE. If ports that manage the NVSwitches are INIT and none is ACTIVE, the fabric manager has not "
        "started.",
    .inspect = "rdma link show; ip link show dev NETDEV; ethtool NETDEV; journalctl -k -g RDMADEV",
    .fix =
        "ip link set NETDEV up, if the netdev is down. Otherwise reseat or replace the cable and the transceivers, and "
        "enable the switch port.",
    .ask = ask_port_state,
    .culprit = Culprit::cable,
    .explains = {Symptom::link, Symptom::loss},
    .find_cause = link_is_down,
};

namespace {

Finding rate_finding(const View& view, const Port& port, const std::set<std::string>& for_gpus) {
  const std::string show = fill_names("ethtool {netdev}", &port, port.id());
  if (!port.rate)
    return bad(Status::unknown, port.id(), "-", "a link speed",
               "The speed of this active port could not be read: " + why_unread(port, "rate") + ".", show);
  std::vector<double> rates;  // of the active ports equal to this one, including its own
  for (const Port& other : view.now.ports)
    if (is_active(other) && other.rate && are_twins(port, other) &&
        for_gpus.contains(port.rdma) == for_gpus.contains(other.rdma))
      rates.push_back(*other.rate);
  const double best = *std::ranges::max_element(rates);
  if (*port.rate >= best) return good(port.id(), rate_text(*port.rate), rate_text(best));
  // If all ports have the best rate or one lower rate, and at least half of them, two or more, have the lower one,
  // these are two groups by design. More than half of the ports that serve GPUs must have the lower rate: if half of
  // them reach the higher one, the board and its network support it.
  const auto same = std::ranges::count(rates, *port.rate), full = std::ranges::count(rates, best);
  const auto dark = std::ranges::count_if(view.now.ports, [&](const Port& other) {  // may have the higher rate
    return !is_active(other) && are_twins(port, other) && for_gpus.contains(port.rdma) == for_gpus.contains(other.rdma);
  });
  const auto least = full + dark + (for_gpus.contains(port.rdma) ? 1 : 0);
  if (same >= 2 && same >= least && same + full == static_cast<long>(rates.size()))
    return good(port.id(), rate_text(*port.rate) + ", like at least half of the equal ports", rate_text(best));
  Fix fix{"Configure the same speed and FEC as on the switch port (" + show + "). ",
          {Work::at_link, "Replace a cable or transceiver that brings up fewer lanes."}};
  if (is_virtual(port)) fix = fix_of_far_link();
  for (const Port& member : view.now.ports)
    if (member.is_member() && member.bond == port.netdev && member.carrier == false)
      fix = "Restore the link of " + member.netdev + ": a bond is as fast as its members that have one.";
  const bool odd_one_out = static_cast<size_t>(full) * 2 > rates.size();
  return bad(odd_one_out ? Status::critical : Status::warning, port.id(), rate_text(*port.rate),
             rate_text(best) + ", like equal ports",
             "The link is slower than those of equal ports. Every collective runs at the speed of its slowest link.",
             std::move(fix));
}

// The driver reports no width of the link: the kernel's answer is EINVAL (rate_show() in
// drivers/infiniband/core/sysfs.c, Linux 6.12; mana_ib). Not if equal ports have a rate: then the driver reports it.
bool has_driver_without_rate(const View& view, const Port& port) {
  if (port.rate || !is_unread(port, "rate") || !why_unread(port, "rate").ends_with("(EINVAL)")) return false;
  return std::ranges::none_of(
      view.now.ports, [&](const Port& other) { return is_active(other) && other.rate && are_twins(port, other); });
}

// The reference is the rate of equal ports, not a table of models.
void ask_rate(const View& view, Findings& findings) {
  const std::set<std::string> for_gpus = devices_for_gpus(view);
  for (const Port& port : view.now.ports)
    if (is_own_device(port) && is_active(port) && !misses_speed(view, port, for_gpus) &&
        !has_driver_without_rate(view, port))
      findings.push_back(rate_finding(view, port, for_gpus));
}

}  // namespace

constexpr Rule kRate{
    .id = "rate",
    .group = group::link,
    .title = "A port is slower than equal ports",
    .meaning =
        "Compares ports of the same NIC model in the same position. A slower port has lost lanes or negotiated a lower "
        "speed, and every collective runs at the speed of its slowest link.",
    .inspect = "ethtool NETDEV; ethtool --show-fec NETDEV; the speed and FEC of the switch port",
    .fix = "Configure the same speed and FEC at both ends. Replace a cable or transceiver that brings up fewer lanes.",
    .ask = ask_rate,
};

namespace {

std::optional<Finding> ask_roce_mtu(const View& view, const Port& port) {
  if (!is_judged(port) && !serves_jobs(view.now, port)) return std::nullopt;
  if (!is_roce(port) || port.netdev.empty()) return std::nullopt;
  if (port.state.value_or(kPortActive) != kPortActive) return std::nullopt;
  const std::string expected = "netdev 4192 or more, RoCE 4096";
  if (!port.qos.mtu && !port.active_mtu)
    return bad(Status::unknown, port.id(), "-", expected,
               "The MTU of the port could not be read: " + why_unread(port, "mtu") + ".",
               "ip link show dev " + port.netdev + "; ibv_devinfo -d " + port.rdma);
  const uint32_t possible = port.qos.mtu ? roce_mtu(*port.qos.mtu) : *port.active_mtu;
  const uint32_t reached = port.active_mtu.value_or(possible);
  const std::string observed = "netdev " + (port.qos.mtu ? to_text(*port.qos.mtu) : "-") + ", RoCE " + to_text(reached);
  if (reached < possible)
    return bad(Status::warning, port.id(), observed, "RoCE " + to_text(possible),
               "The RDMA device did not follow the MTU of its netdev: packets are smaller than the network allows.",
               {Work::ends_jobs, "ip link set " + port.netdev + " mtu " + to_text(*port.qos.mtu) +
                                     "; if nothing changes, reload the RDMA driver."});
  const PortPolicy* entry = policy_of(view, port);
  const bool is_wanted = entry != nullptr && entry->want.mtu && entry->want.mtu == port.qos.mtu;
  if (reached >= kLargestPathMtu || is_wanted) return good(port.id(), observed, expected);
  if (has_other_purpose(view, port)) return good(port.id(), observed + " (serves no GPU)", expected);
  // The check of the setting has the fix.
  const Changes* planned = planned_changes(view, port.id());
  if (planned != nullptr && std::ranges::any_of(*planned, [](const Change& change) {
        return change.setting == SettingId::mtu && change.sysctl.empty() && !is_done(change.outcome);
      }))
    return good(port.id(), observed + " (see mtu)", expected);
  std::string first = "Set mtu = 9000 in the policy (4192 at least, on the whole path, the switch included). ",
              then = "Until then";
  if (is_virtual(port)) {
    first = "Raise the MTU of its physical function first, which limits it. ";
    then = "Then";
  }
  Fix remedy{
      first,
      {Work::ends_jobs | Work::when_idle, then + ", when no job runs:\nip link set dev " + port.netdev + " mtu 9000"}};
  return bad(Status::warning, port.id(), observed, expected,
             "RoCE cuts messages into packets of " + to_text(reached) +
                 " bytes instead of 4096: more packets, lower throughput.",
             std::move(remedy));
}

}  // namespace

constexpr SettingId kOfRoceMtu[]{SettingId::mtu};

constexpr Rule kRoceMtu{
    .id = "roce-mtu",
    .group = group::link,
    .title = "The netdev MTU is too small for the RoCE path MTU 4096",
    .meaning =
        "RoCE needs 96 bytes around its payload: a netdev MTU of 4192 or more gives a path MTU of 4096, 1500 gives "
        "1024. A smaller path MTU means more packets and lower throughput. An MTU that the policy wants is not "
        "reported, nor is the MTU of a port for storage or management beside NICs that serve the GPUs.",
    .inspect = "ip link show dev NETDEV; ibv_devinfo -d RDMADEV",
    .fix = "Set mtu = 9000 in the policy and configure the same MTU on the switch.",
    .settings = kOfRoceMtu,
    .ask_port = ask_roce_mtu,
};

namespace {

std::string describe(const Gid& gid) {
  std::string out = "index " + to_text(gid.index) + " " + gid.gid;
  if (!gid.netdev.empty()) out += " on " + gid.netdev;
  return out;
}

// The bond that the netdev of the port's NIC is a member of; empty: none.
std::string bond_of(const Node& node, const Port& port) {
  const Nic* nic = find_where(node.topology.nics, [&](const Nic& each) { return each.pci == port.pci; });
  if (nic == nullptr) return {};
  return nic->bond;
}

// The other member of the port's bond, which has its GIDs. The kernel keeps the GIDs of an active-backup bond at its
// active member (bonding_default_del_cmd in drivers/infiniband/core/roce_gid_mgmt.c, Linux 6.12).
const Port* active_member(const Node& node, const Port& port) {
  const std::string bond = bond_of(node, port);
  if (bond.empty()) return nullptr;
  return find_where(node.ports, [&](const Port& other) {
    return other.id() != port.id() && !other.gids.empty() && bond_of(node, other) == bond;
  });
}

// The ports of the bond that have this GID, `port` among them. More than one: no RoCE LAG combines them, which would
// make one RDMA device of the bond. In other modes than active-backup all have the bond's GIDs.
std::vector<const Port*> sharers_of(const Node& node, const Port& port, const Gid& gid) {
  const std::string bond = bond_of(node, port);
  std::vector<const Port*> out;
  if (bond.empty()) return out;
  for (const Port& each : node.ports)
    if (is_endpoint(each) && (&each == &port || each.rdma != port.rdma) && bond_of(node, each) == bond &&
        std::ranges::any_of(each.gids, [&](const Gid& own) { return own.gid == gid.gid && is_routable_v2(own); }))
      out.push_back(&each);
  return out;
}

// The other port of an active-backup bond that no RoCE LAG combines, which has no GIDs because this one is the active
// member.
const Port* backup_of(const Node& node, const Port& port, const Gid& gid) {
  const std::string bond = bond_of(node, port);
  if (bond.empty() || gid.netdev.empty() || gid.netdev == port.netdev) return nullptr;
  return find_where(node.ports, [&](const Port& other) {
    return other.rdma != port.rdma && is_judged(other) && is_roce(other) && is_active(other) && other.gids.empty() &&
           !is_unread(other, "gid") && bond_of(node, other) == bond;
  });
}

// The netdev of the port's NIC. The netdev of the port itself is the bond, also if the device has no LAG.
std::string member_of(const Node& node, const Port& port) {
  const Nic* nic = find_where(node.topology.nics, [&](const Nic& each) { return each.pci == port.pci; });
  if (nic == nullptr || nic->netdevs.empty()) return port.netdev;
  return nic->netdevs.front();
}

constexpr const char* kOneDeviceOfBond = "a GID of its own, or one RDMA device for the bond";

// A RoCE LAG combines the ports of one NIC (mlx5/core/lag/lag.c of Linux 6.12), also in active-backup mode. `ports`:
// those of the bond that have an RDMA device, in the order of the node's.
Fix fix_of_bond(const Node& node, const Port& port, const std::vector<const Port*>& ports, const std::string& bond) {
  const bool is_one_nic =
      std::ranges::all_of(ports, [&](const Port* each) { return card_of(each->pci) == card_of(port.pci); });
  if (is_one_nic)
    return {{Work::ends_jobs | Work::when_idle,
             "While no job runs, load the driver again with the bond in place, so that it combines both ports (virtual "
             "functions in legacy mode prevent it): journalctl -k -g lag. "},
            {Work::ends_jobs,
             "Else give each netdev an address of its own: ip link set " + member_of(node, port) + " nomaster"}};
  // The first NIC stays, so that the host keeps the addresses and routes of the bond.
  std::string others;
  for (const Port* each : ports)
    if (card_of(each->pci) != card_of(ports.front()->pci)) append_item(others, member_of(node, *each), " ");
  return {Work::ends_jobs, "Leave the ports of one NIC in " + bond + " and take the others out: for netdev in " +
                               others +
                               "; do ip link set $netdev nomaster; done. Give these a bond for each NIC, or an address "
                               "of their own. A RoCE LAG combines the ports of one NIC only."};
}

Finding shared_gid_finding(const View& view, const Port& port, const std::vector<const Port*>& sharers,
                           const Gid& gid) {
  const std::string bond = bond_of(view.now, port);
  const std::string observed =
      describe(gid) + ": on " + joined(sharers, ", ", [](const Port* each) { return each->id(); });
  if (has_other_purpose(view, port)) return good(port.id(), observed + " (serves no GPU)", kOneDeviceOfBond);
  return bad(Status::critical, port.id(), observed, kOneDeviceOfBond,
             bond + " spans " + std::to_string(sharers.size()) +
                 " RDMA devices, and no RoCE LAG combines them: all have its GIDs. The switch sends answers to any of "
                 "the links; those that reach another device are dropped, and connections fail or hang.",
             fix_of_bond(view.now, port, sharers, bond));
}

// Jobs run, and half of the NICs carry nothing. Storage and management need no more of a bond than that.
Finding active_backup_finding(const View& view, const Port& port, const Port& other, const std::string& observed) {
  if (has_other_purpose(view, port)) return good(port.id(), observed + " (serves no GPU)", kOneDeviceOfBond);
  const std::string bond = bond_of(view.now, port);
  return bad(Status::warning, port.id(), observed, kOneDeviceOfBond,
             bond +
                 " is active-backup over two RDMA devices, and no RoCE LAG combines them: RoCE uses the active member "
                 "alone. At a failover the GIDs move to the other device, and all RDMA connections end.",
             fix_of_bond(view.now, port, {std::min(&port, &other), std::max(&port, &other)}, bond));
}

// Why the port needs no routable GID of its own, while no equal port has one. Empty: it needs one.
std::string why_without_gid(const View& view, const Port& port) {
  for (const Port& other : view.now.ports)
    if (&other != &port && are_twins(other, port) && std::ranges::any_of(other.gids, is_routable_v2)) return {};
  if (is_virtual(port) && port.role != PortRole::guest_function) return "no equal function has one";
  const Nic* own = nic_of(view, port);
  const auto is_own_function = [&](const Nic& nic) {  // of a guest, or in a container
    return nic.virtual_function && own != nullptr && !own->virtual_function && nic.root == own->root &&
           nic.bridges == own->bridges;
  };
  if (!functions_of(view.now, port).empty() || std::ranges::any_of(view.now.topology.nics, is_own_function))
    return "jobs use its virtual functions";
  return {};
}

// "58a2:e1ff:fe00:0002", the identifier of an interface in a link-local GID that is made from a MAC address; empty: it
// is not (RFC 4291, appendix A).
std::string_view mac_part(const Gid& gid) {
  const std::string_view text = gid.gid;
  constexpr size_t kHalf = 20;
  if (!text.starts_with("fe80:0000:0000:0000:") || text.size() != 39) return {};
  const std::string_view part = text.substr(kHalf);
  return part.substr(7, 5) == "ff:fe" ? part : std::string_view{};
}

// The default GID of the port's netdev, which the kernel makes from its MAC address, if a link-local GID behind it is
// made from another one. nullptr: there is none. A netdev on top of it (macvlan, VLAN) has no default GID, and the
// macvlans of several pods may have the same name.
const Gid* odd_default_gid(const Port& port, const Gid& best) {
  const Gid* first = nullptr;
  if (best.netdev != port.netdev) return nullptr;
  for (const Gid& gid : port.gids) {  // by index
    if (gid.netdev != best.netdev || gid.type != best.type || mac_part(gid).empty()) continue;
    if (first == nullptr) first = &gid;
    else if (mac_part(gid) != mac_part(*first)) return first;
  }
  return nullptr;
}

// Either the default GID or the link-local address of the netdev is of an earlier MAC address. The kernel loses the
// change if it comes while the RDMA device registers (Linux 9af0feae8016).
Finding odd_default_finding(const Port& port, const Gid& odd, const Gid& best) {
  return bad(
      Status::warning, port.id(),
      describe(best) + "; default GID " + describe(odd) + " and a link-local GID are made from two MAC addresses",
      "a default GID of the MAC address of the netdev",
      "The MAC address of " + best.netdev +
          " has changed, and one of both GIDs is of the earlier address: usually the default GID, if the address was "
          "set while the RDMA device registered. The GIDs of the addresses have other indexes than on equal machines: "
          "a job with a fixed index takes the wrong one.",
      {"Compare: cat /sys/class/net/" + best.netdev + "/address. ",
       {Work::ends_jobs | Work::when_idle,
        "While no job runs, register the RDMA device again, with the MAC address in place: devlink dev reload pci/" +
            port.pci + ". "},
       {Work::ends_jobs, "Linux 7.0 and kernels with its change 9af0feae8016 keep the GIDs in step."}});
}

// A port that is down loses its addresses: `port-state` reports it. `address` reports a missing address.
std::optional<Finding> ask_gid(const View& view, const Port& port) {
  if (is_active(port) && port.transport == RdmaTransport::iwarp && is_endpoint(port))
    return good(port.id(), "iWARP: runs over TCP, without the GIDs, PFC and traffic class of RoCE", "any");
  if (!is_active(port) || !is_roce(port)) return std::nullopt;
  const std::string expected = "a RoCE v2 GID of a routable address";
  if (is_bare_uplink(port)) {
    std::string functions;
    for (const Port* each : functions_of(view.now, port)) append_item(functions, each->id());
    if (functions.empty()) functions = "virtual functions or subfunctions, which have no RDMA device here";
    return good(port.id(), "none: its E-Switch is in switchdev mode, and RoCE runs over " + functions, expected);
  }
  if (lacks_any_gid(view.now))
    return bad(
        Status::warning, port.id(), "none in this network namespace: its netdev is in another", expected,
        "No RDMA port of this container can be used for RoCE: a GID exists only for an address of a netdev of the "
        "NIC in the same network namespace, and without one no queue pair connects.",
        "Give the pod a second network with a netdev of this NIC: a macvlan on it, or a virtual function (Multus "
        "with the CNI plugin macvlan or SR-IOV). A device plugin that shares the NIC adds its device file alone.");
  if (belongs_elsewhere(view.now, port))
    return good(port.id(), "none in this network namespace: its netdev is in another", expected);
  if (!serves_jobs(view.now, port) || lacks_address(view, port)) return std::nullopt;
  const std::string files =
      "Run the check as root. Files: /sys/class/infiniband/" + port.rdma + "/ports/" + to_text(port.number);
  std::string give_address = "ip address add ADDRESS/PREFIX dev " + port.netdev;
  if (port.netdev.empty()) give_address = "its netdev is missing, or in another network namespace: rdma link show";
  if (port.gids.empty() && is_unread(port, "gid"))
    return bad(Status::unknown, port.id(), "-", expected,
               "The GID table could not be read: " + why_unread(port, "gid") + ".", files + "/gids");
  std::vector<Gid> v2;
  std::ranges::copy_if(port.gids, std::back_inserter(v2),
                       [&](const Gid& gid) { return gid.type == "RoCE v2" && is_here(view.now, port, gid); });
  auto best = std::ranges::find_if(v2, is_ipv4);
  if (best == v2.end()) best = std::ranges::find_if(v2, is_routable_v2);
  if (best != v2.end()) {
    if (const auto sharers = sharers_of(view.now, port, *best); sharers.size() > 1)
      return shared_gid_finding(view, port, sharers, *best);
    if (const Port* other = backup_of(view.now, port, *best))
      return active_backup_finding(view, port, *other, describe(*best) + ": " + other->id() + " has none");
    if (const Gid* odd = odd_default_gid(port, *best)) return odd_default_finding(port, *odd, *best);
    return good(port.id(), describe(*best), expected);
  }
  if (std::ranges::any_of(port.gids, [](const Gid& gid) { return gid.type.empty(); }))
    return bad(Status::unknown, port.id(), "GIDs of unknown type", expected, "The types of the GIDs could not be read.",
               files + "/gid_attrs/types");
  if (port.gids.empty())
    if (const Port* active = active_member(view.now, port); active != nullptr)
      return active_backup_finding(view, port, *active,
                                   "none: " + active->id() + " is the active member of the bond and has them");
  const std::string why = why_without_gid(view, port);
  if (!why.empty()) return good(port.id(), "no routable RoCE v2 GID: " + why, expected);
  if (port.gids.empty() && is_unread(port, kEswitchSubject))
    return bad(Status::unknown, port.id(), "no GID at all, and the mode of the E-Switch is unknown", expected,
               "In switchdev mode the uplink has no GIDs by design, and its virtual functions and subfunctions have "
               "them. Here devlink did not answer, and there is no representor yet that would show the mode.",
               "As root: devlink dev eswitch show pci/" + port.pci + ". If the mode is legacy: ip link set " +
                   port.netdev + " up, and configure an IP address: " + give_address);
  const Ipv6Note ipv6 = note_on_ipv6(view, port);
  const std::string first = cloud_addresses(view.now.topology) + ipv6.fix;
  const bool twin_has_gid = std::ranges::any_of(view.now.ports, [&](const Port& other) {
    return &other != &port && are_twins(other, port) && std::ranges::any_of(other.gids, is_routable_v2);
  });
  // The front end of a virtual machine is a function below a netdev of its hypervisor, which has the addresses.
  if (v2.empty() && !twin_has_gid && port.role == PortRole::guest_function && has_other_purpose(view, port) &&
      !view.named.contains(port.id()))
    return good(port.id(), "no RoCE v2 GID (serves no GPU)", expected);
  if (v2.empty())
    return bad(Status::critical, port.id(), "no RoCE v2 GID", expected,
               "Without a RoCE v2 GID no RoCE v2 connection can be made over this port." + ipv6.meaning,
               first + (port.netdev.empty() ? "" : "ip link set " + port.netdev + " up, and ") +
                   ("configure an IP address: " + give_address));
  const std::string observed = "only link-local: " + describe(v2.front());
  if (has_other_purpose(view, port)) return good(port.id(), observed + " (serves no GPU)", expected);
  return bad(twin_has_gid ? Status::critical : Status::warning, port.id(), observed, expected,
             "A link-local GID does not cross routers, and most fabrics route between racks." + ipv6.meaning,
             first + "Configure an IPv4 address or a global IPv6 address: " + give_address);
}

}  // namespace

constexpr Rule kGid{
    .id = "gid",
    .group = group::link,
    .title = "A RoCE port has no RoCE v2 GID with a routable address, or shares it",
    .meaning =
        "The GID table follows the IP addresses of the netdev. Without a RoCE v2 GID no connection can be made. A "
        "link-local GID does not cross routers; it is reported of ports that serve the GPUs, if any do. A missing GID "
        "is "
        "reported of the others too, but not of the front end of a guest. A bond over ports that no RoCE LAG combines "
        "gives both RDMA devices the same GID, and answers reach the wrong one; in active-backup mode it uses one "
        "device, and connections end at a failover. In switchdev mode the uplink has no "
        "GIDs by design: its virtual functions and subfunctions have them. A default GID of an earlier MAC address "
        "shifts the indexes of the others. A GID whose netdev is in another network namespace does not count. A "
        "container whose RDMA ports have neither a netdev nor a GID can use none of them.",
    .inspect = "ip address show dev NETDEV; grep . /sys/class/infiniband/RDMADEV/ports/1/gids/*",
    .fix =
        "Configure an IPv4 address or a global IPv6 address on the netdev. Give a container a netdev of the NIC "
        "(macvlan, virtual function). Bond only ports of one NIC that has a RoCE LAG.",
    .ask_port = ask_gid,
};

double allowed_error_ratio(const Port& port) {
  constexpr double kFast = 100'000;  // Mb/s
  const bool is_slow = port.speed && *port.speed > 0 && *port.speed <= kFast;
  return is_slow ? 1e-12 : 1e-13;
}

namespace {

using enum Measure;
using S = Signals;

bool has_link(const Port& port) { return port.carrier.value_or(is_active(port)); }

void add_lane(Measured& reading, const View& view, const Port& port) {
  const Port* before = port_before(view, port);
  if (before == nullptr) return;
  const auto bad = bad_lane(*before, port, limit_of(view, kFewEvents), limit_of(view, kLaneShare));
  if (!bad) return;
  reading.evidence += "; " + number_text(std::floor(bad->share * 1000) / 10) + " % of the bit errors are on lane " +
                      std::to_string(bad->lane);
}

constexpr double kRs544 = 2.4e-4, kRs528 = 5e-5, kFireCode = 1e-8;

// The bit error ratio that the port's FEC corrects. RS(544,514), IEEE 802.3 136.1, unless another code is certain:
// RS(528,514) on lanes of 25 Gb/s (SFF-8024 table 4-4, code 01h), or BASE-R's fire code. That corrects one burst in a
// block of 2112 bits (clause 74): at 1e-8, blocks with two errors leave 2e-13 of the bits wrong.
double correctable_ratio(const Port& port) {
  constexpr double kSlowLane = 28'000;  // Mb/s
  if (port.fec && port.fec->active == "baser") return kFireCode;
  size_t lanes = 1;
  if (port.fec) lanes = std::max<size_t>(1, port.fec->corrected_bits.lanes.size());
  const bool is_slow = port.speed && *port.speed > 0 && *port.speed <= kSlowLane * static_cast<double>(lanes);
  return is_slow ? kRs528 : kRs544;
}

void scale_limits(Measured& reading, const View& view, const RuleWindow& rule, double scale) {
  const WindowLimits& limits = limits_of(rule_policy(view), rule);
  if (limits.warning) reading.warning = *limits.warning * scale;
  if (limits.critical) reading.critical = *limits.critical * scale;
}

// Damaged bits per bit that are allowed between a NIC and its module, before FEC (IEEE 802.3 120E.1.1).
constexpr double kChipToModule = 1e-5;

// The place where the errors of a link arise, by the measurements of its module.
enum class Origin : uint8_t { unknown, cable, host };

// Bits that are damaged when they reach the module from the cable were damaged by the fiber, a connector or the far
// end. If few are, the errors arise between the module and the NIC: FEC of the NIC corrects more, or the other
// direction is bad too. A ratio of 0 may be that of a module that does not measure, and is no evidence.
Origin origin_of_errors(const View& view, const Port& port, const Signals& signals) {
  const InputErrors arrived = input_errors(port);
  const double much = limit_of_window(view, "pre_fec_ber") * correctable_ratio(port) / kRs544;
  if (arrived.from_cable.value_or(0) <= 0) return Origin::unknown;
  if (*arrived.from_cable >= much) return Origin::cable;
  if (arrived.from_nic.value_or(0) >= limit_of_window(view, "module_from_nic")) return Origin::host;
  const double bits = 8 * port.rate.value_or(0) * signals.seconds;
  if (bits > 0 && rise(signals.fec_corrected_bits) / bits >= much) return Origin::host;
  return Origin::unknown;
}

// Empty if the module does not measure what arrives.
std::string origin_text(const View& view, const Port& port, const Signals& signals) {
  const InputErrors arrived = input_errors(port);
  std::string out;
  if (arrived.from_cable) out = number_text(*arrived.from_cable) + " of those from the cable";
  if (arrived.from_nic) append_item(out, number_text(*arrived.from_nic) + " of those from the NIC");
  if (out.empty()) return out;
  out.insert(0, "bits that reach the module damaged, before FEC: ");
  switch (origin_of_errors(view, port, signals)) {
    case Origin::cable: return out + ": the errors come over the cable";
    case Origin::host: return out + ": the errors arise between the module and the NIC";
    case Origin::unknown: break;
  }
  return out;
}

void add_origin(Measured& reading, const View& view, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  if (seen == nullptr || reading.amount <= 0) return;
  if (const std::string text = origin_text(view, port, *seen); !text.empty()) reading.evidence += "; " + text;
}

// A link that trains makes symbol errors, whichever end took it down. If the link did not stay up, only damaged frames
// count, if the port counts them.
std::optional<Measured> read_bit_errors(const View& view, const RuleWindow& rule, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  if (seen == nullptr) return std::nullopt;
  Signals signals = *seen;
  const Port* before = port_before(view, port);
  const bool stayed_up =
      signals.link_downs.value_or(0) <= 0 && has_link(port) && (before == nullptr || has_link(*before));
  if (!stayed_up && signals.crc_errors) signals.symbol_errors = signals.fec_uncorrectable = 0;
  auto reading = sum_counters(rule.sum, port, signals);
  if (!reading) return reading;
  scale_limits(*reading, view, rule, allowed_error_ratio(port) / 1e-13);
  add_lane(*reading, view, port);
  add_origin(*reading, view, port);
  return reading;
}

std::optional<Measured> read_pre_fec_ber(const View& view, const RuleWindow& rule, const Port& port) {
  auto reading = read_counters(view, rule, port);
  if (!reading) return reading;
  if (const double ratio = correctable_ratio(port); ratio < kRs544) {
    scale_limits(*reading, view, rule, ratio / kRs544);
    reading->evidence += "; this FEC corrects up to " + number_text(ratio);
  }
  add_lane(*reading, view, port);
  add_origin(*reading, view, port);
  return reading;
}

std::optional<Measured> read_from_cable(const View& view, const RuleWindow& rule, const Port& port) {
  const auto ratio = input_errors(port).from_cable;
  if (!ratio) return std::nullopt;
  Measured out{port.id(), *ratio};
  out.evidence = number_text(*ratio) + " of the bits from the cable reach the module damaged";
  if (const double corrects = correctable_ratio(port); corrects < kRs544)
    scale_limits(out, view, rule, corrects / kRs544);
  return out;
}

std::optional<Measured> read_from_nic(const View&, const RuleWindow&, const Port& port) {
  const auto ratio = input_errors(port).from_nic;
  if (!ratio) return std::nullopt;
  return Measured{port.id(), *ratio, 0, number_text(*ratio) + " of the bits from the NIC reach the module damaged"};
}

std::optional<Measured> read_fec_words(const View& view, const RuleWindow&, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  if (seen == nullptr || !seen->fec_words || !seen->fec_words_near_limit || *seen->fec_words <= 0) return std::nullopt;
  Measured out{port.id(), *seen->fec_words_near_limit, *seen->fec_words, "no code word near the limit"};
  if (out.amount > 0)
    out.evidence = number_text(out.amount) + " of " + number_text(out.base) +
                   " code words needed two thirds of the symbols that FEC corrects, or more";
  return out;
}

constexpr FixRow kInfinibandCable{"Read the error counters of both ends: perfquery -x. ",
                                  {Work::at_link, "Clean, reseat or replace the cable, then try another switch port."}};
constexpr FixRow kFiber{
    "Compare the lanes' power at both ends: ethtool -m {netdev}. ",
    {Work::at_link | Work::when_idle, "Clean and reseat the connectors, and replace the cable when no job runs."}};

constexpr Measurement kLinkFlapWindows[]{
    {.window = {"link_flap", count, WindowLimits{3, 5, 12 * kHour, 0, kMinute}, "link downs",
                "gpud: 3 in 12 h; azurehpc drains a node after 5 in a day", "link stays up"},
     .quiet = 1,
     .graced = true,
     .meaning = "The link went down and came back: RoCE stops each time, and connections may break.",
     .remedy = {"Rule out changes of PFC, FEC or DCB, which restart the link",
                {Work::service, ": journalctl -u fabric-agent"},
                ". Check the module and its light: ethtool -m {netdev}. ",
                {Work::at_link,
                 "Clean and reseat the connectors, then replace the cable or the transceivers, then try another switch "
                 "port."}},
     .sum = {{{{"link downs", &S::link_downs}}}}},
};

constexpr Measurement kLinkErrorsWindows[]{
    {.window = {"bit_errors", ratio, WindowLimits{1e-11, kNever, 20, 0, kMinute},
                "errors after FEC per bit; 10 times as many up to 100 Gb/s", "ours: 100 times what IEEE 802.3 allows",
                "errors below 1e-11 of the bits (1e-10 up to 100 Gb/s)", 10},
     .meaning =
         "Bits arrive damaged, and the packets are sent again. The cause is this link, or a device on the path if "
         "there are only ICRC errors, or CRC errors without uncorrectable FEC words.",
     .remedy = {"Check the module and its light: ethtool -m {netdev}. ",
                {Work::at_link,
                 "Clean, reseat or replace the cable and the transceivers, then try another switch port."}},
     .slow = {{"bit_errors_slow", ratio, WindowLimits{1e-13, kNever, 2 * kHour, 0, 10 * kMinute},
               "errors after FEC per bit; 10 times as many up to 100 Gb/s",
               "IEEE 802.3: 1e-13 above 100 Gb/s (802.3bs), 1e-12 up to it (802.3ba). At 400 Gb/s 1e-13 is "
               "144 an hour (NVSentinel: 120 symbol errors)",
               "errors below 1e-13 of the bits (1e-12 up to 100 Gb/s)", 20}},
     .sum = {.parts = {{{"uncorrectable FEC words", &S::fec_uncorrectable},
                        {"symbol errors", &S::symbol_errors},
                        {"CRC errors", &S::crc_errors},
                        {"ICRC errors", &S::icrc_errors}}},
             .per = CounterSum::Per::bit,
             .largest = true},
     .read_port = read_bit_errors},
    {.window = {"link_recoveries", count, WindowLimits{6, kNever, kMinute, 0, kMinute}, "link recoveries",
                "NVSentinel: link_error_recovery more than 5 a minute", "at most 5 a minute"},
     .meaning = "The link retrains repeatedly and carries no data meanwhile.",
     .remedy = kInfinibandCable,
     .slow = {{"link_recoveries_slow", count, WindowLimits{10, kNever, 2 * kHour, 0, 10 * kMinute}, "link recoveries",
               "ibcheckerrs (infiniband-diags): 10", "fewer than 10 in 2 h", 6}},
     .sum = {{{{"link recoveries", &S::link_recoveries}}}}},
    {.window = {"link_integrity", count, WindowLimits{1, kNever, kMinute, 0, kMinute},
                "times the port's threshold of local errors was exceeded",
                "NVSentinel: any local_link_integrity_errors is fatal", "none"},
     .meaning = "The bit errors of this InfiniBand link exceeded the port's own threshold.",
     .remedy = kInfinibandCable,
     .sum = {{{{"link integrity errors", &S::link_integrity_errors}}}}},
};

constexpr Measurement kPreFecBerWindows[]{
    {.window = {"pre_fec_ber", ratio, WindowLimits{kRs544 / 10, kRs544, 20, 10, kMinute},
                "corrected bits per bit; lower for weaker FEC",
                "IEEE 802.3 136.1: RS(544,514) corrects up to 2.4e-4; warning at a tenth of it (ours)",
                "below a tenth of the ratio that FEC corrects (2.4e-4 for lanes of 50 Gb/s and faster)", 100},
     .meaning = "FEC is close to its limit: with a little more heat or dirt, frames are lost.",
     .remedy = kFiber,
     .sum = {.parts = {{{"bits corrected by FEC", &S::fec_corrected_bits}}}, .per = CounterSum::Per::bit},
     .read_port = read_pre_fec_ber},
    {.window = {"fec_margin", ratio, WindowLimits{1e-9, kNever, 10 * kMinute, 0, 10 * kMinute},
                "share of code words in which FEC corrected two thirds of the symbols that it can, or more",
                "ours: random errors at a tenth of the ratio that RS(544,514) corrects leave 1 such word in 1e15",
                "no more than 1 code word in 1e9 near the limit of FEC", 10},
     .meaning = "Errors come in bursts that FEC just corrects: the next longer burst loses frames.",
     .remedy = kFiber,
     .read_port = read_fec_words},
    {.window = {"module_from_cable", level, WindowLimits{kRs544 / 10, kRs544, 0, 10, kMinute},
                "damaged bits per bit, before FEC, from the cable at the module (CMIS VDM); lower for weaker FEC",
                "as pre_fec_ber", "below a tenth of the ratio that FEC corrects"},
     .meaning = "Bits are damaged when they reach the module: the fiber, a connector, or the far module.",
     .remedy = kFiber,
     .read_port = read_from_cable},
    {.window = {"module_from_nic", level, WindowLimits{kChipToModule, kRs544, 0, 10, kMinute},
                "damaged bits per bit, before FEC, from the NIC at the module (CMIS VDM)",
                "IEEE 802.3 120E.1.1: less than 1e-5 between a NIC and its module", "below 1e-5"},
     .meaning = "Bits that this NIC sends are damaged before they leave the module: the contacts, the cage, the NIC or "
                "the module. Only the far end counts these errors.",
     .remedy = {Work::at_link | Work::when_idle,
                "Reseat the module of {netdev} when no job runs. If nothing changes, try it in another cage: the fault "
                "is in the NIC if it stays with the cage, else in the module."},
     .read_port = read_from_nic},
};

}  // namespace

constexpr Rule kLinkFlap{
    .id = "link-flap",
    .group = group::counters,
    .title = "The link goes down and up",
    .meaning =
        "Counts how often carrier or the physical link went down within the window (12 hours by default), as counted "
        "by the kernel (carrier_down_count) and the NIC. Each flap stops RoCE for seconds and can end connections. "
        "Flaps while the machine boots or the driver loads do not count; flaps from a change of PFC (mlx5), FEC or "
        "DCB, which restarts the link, do. The finding clears when the window has "
        "passed.",
    .inspect =
        "journalctl -k -g 'Link|carrier'; journalctl -u fabric-agent; ip -s -s link show dev NETDEV; the log of the "
        "switch port",
    .fix =
        "Clean and reseat the connectors, then replace the cable or the transceivers, then use another switch port. "
        "fabric-agentctl ack link-flap acknowledges a known flap.",
    .windows = kLinkFlapWindows,
};
constexpr Rule kLinkErrors{
    .id = "link-errors",
    .group = group::counters,
    .title = "The link damages bits",
    .meaning =
        "Compares symbol and CRC errors, uncorrectable FEC code words, ICRC errors and InfiniBand link recoveries with "
        "the number of bits carried; IEEE 802.3 requires a bit error ratio of 1e-13 or less. An InfiniBand port that "
        "exceeds its own threshold of local errors is reported at once. While a link goes down and up, only damaged "
        "frames count. ICRC errors without other errors come from inside a switch or a NIC; CRC errors without "
        "uncorrectable FEC words come from another link, whose damaged frames a switch has forwarded (cut-through).",
    .inspect = "ethtool -S NETDEV | grep -iE 'phy|fec|err|fcs'; ethtool -I --show-fec NETDEV; perfquery (InfiniBand)",
    .fix = "Clean, reseat or replace the cable and the transceivers of this port, then use another switch port.",
    .windows = kLinkErrorsWindows,
};
constexpr Rule kPreFecBer{
    .id = "pre-fec-ber",
    .group = group::counters,
    .title = "FEC corrects nearly as many bits as it can",
    .meaning =
        "Bits corrected by forward error correction per bit carried. RS(544,514) corrects up to 2.4e-4, RS(528,514) at "
        "25 Gb/s per lane up to 5e-5, BASE-R 1e-8; beyond that frames are lost. A ratio near the limit announces a "
        "failing laser, a dirty connector or an aging cable, and gets worse when warm. Where the driver has a "
        "histogram of "
        "code words by corrected symbols (mlx5, bnxt_en; Linux 6.18), code words near the limit are counted too: they "
        "show bursts of errors, which the ratio of bits hides. A CMIS module with Versatile Diagnostics Monitoring "
        "(VDM) measures the damaged bits that reach it from the cable and from the NIC: they tell the two sides apart.",
    .inspect = "ethtool -I --show-fec NETDEV; mlxlink -d ADDRESS -c -e",
    .fix = "Clean and reseat the connectors, then replace the cable while no job runs.",
    .windows = kPreFecBerWindows,
};

// Causes of a link that does not come up, by the reason that the NIC or its firmware reports.

MaybeCause by_reason(const PortContext& ctx, std::initializer_list<std::string_view> reasons) {
  if (!is_down(ctx.port) || !ctx.port.link_status || ctx.port.link_status->reason.empty()) return std::nullopt;
  const LinkStatus& status = *ctx.port.link_status;
  std::string text = status.reason;
  if (!status.detail.empty()) text += ": " + status.detail;
  if (std::ranges::none_of(reasons, [&](std::string_view each) { return text.find(each) != std::string::npos; }))
    return std::nullopt;
  return Cause{.evidence = {"the NIC's reason for link down: " + text}};
}

namespace {

using enum Symptom;

MaybeCause admin_down(const PortContext& ctx) {
  if (!is_down(ctx.port)) return std::nullopt;
  if (ctx.port.link_status && ctx.port.link_status->reason == kSwitchedOff)
    return Cause{.evidence = {"the netdev is administratively down"}};
  if (ctx.port.link_layer != LinkLayer::infiniband || ctx.port.phys_state != kPhysDisabled) return std::nullopt;
  return Cause{.evidence = {"the physical state is Disabled: the port was disabled on this host"}};
}

MaybeCause device_reset(const PortContext& ctx) {
  if (ctx.before == nullptr) return std::nullopt;
  Cause out;
  bool was_reset = false;
  for (const HealthReporter& now : ctx.port.reporters) {
    // Other reporters are of the netdev's queues ("tx", "rx", "tx_hang"), which also stall without a link or when
    // paused, or of virtual functions ("mdd", "vnic").
    const bool is_of_the_nic = now.name.starts_with("fw") || now.name.starts_with("hw");
    if (!is_of_the_nic) continue;
    for (const HealthReporter& before : ctx.before->reporters) {
      if (before.name != now.name) continue;
      if (now.errors <= before.errors && now.recoveries <= before.recoveries && (!before.healthy || now.healthy))
        continue;
      // The firmware stopped or was reset; a single reported error is less. mlx5's and ice's "fw" never return to
      // healthy after an error (mlx5/core/health.c, Linux 6.12; intel/ice/devlink/health.c, 6.15), and bnxt's "hw" is
      // for its NVM.
      if (now.name.starts_with("fw") && now.recoveries > before.recoveries) was_reset = true;
      if (now.name == "fw_fatal" && !now.healthy) was_reset = true;
      std::string line = "health reporter " + now.name + ": errors +" +
                         std::to_string(now.errors - std::min(now.errors, before.errors)) + ", recoveries +" +
                         std::to_string(now.recoveries - std::min(now.recoveries, before.recoveries));
      if (!now.healthy) line += ", not healthy now";
      out.add(std::move(line));
    }
  }
  if (out.evidence.empty()) return std::nullopt;
  // A reset takes the link down; it does not cause errors on a link that stays up.
  const bool lost_link = is_down(ctx.port) || rose(ctx.signals.link_downs);
  const bool explains = ctx.symptoms.has(link) ? lost_link : was_reset;
  if (!explains) return std::nullopt;
  out.add(error_lines(ctx));
  return out;
}

MaybeCause no_partner(const PortContext& ctx) {
  if (usual_link_layer(ctx.view, ctx.port)) return std::nullopt;  // port-state reports it
  if (rx_power_low(ctx)) return std::nullopt;                     // the lanes identify the fault
  if (auto out = by_reason(ctx, {"FEC mismatch during override", "No HCD", "FEC is not locked", "Unsupported rate"})) {
    out->next.push_back("Compare speed and FEC of both ends: ethtool " + ctx.port.netdev + "; ethtool --show-fec " +
                        ctx.port.netdev);
    return out;
  }
  if (auto out = no_light(ctx)) {
    out->add_ambiguous(
        "a broken fiber and a far transmitter that is off look the same from here",
        "Read the tx power of the module at " + ctx.peer_label() + ": with light there, it is the fiber");
    return out;
  }
  return by_reason(ctx, {"No partner detected", "Ack not received", "Remote side is not ready yet",
                         "Link partner did not set receiver ready", "Serdes ALOS"});
}

}  // namespace

constexpr Rule kAdminDown{
    .id = "admin-down",
    .group = group::diagnosis,
    .title = "The port is administratively down on this host.",
    .meaning =
        "The netdev is administratively down, or the physical state of an InfiniBand port is Disabled. Find the "
        "program that disabled it: journalctl -k, then the network manager.",
    .fix = "Enable it: ip link set {netdev} up",
    .culprit = Culprit::host,
    .explains = {link, loss},
    .excludes = "RoCE drivers report Disabled for every port without a link.",
    .find_cause = admin_down,
};

constexpr Rule kDeviceReset{
    .id = "device-reset",
    .group = group::diagnosis,
    .title = "The NIC's firmware failed or was reset, which took down the link and the connections.",
    .meaning =
        "A devlink health reporter of the firmware or hardware (fw, fw_fatal, hw) counted an error or a recovery in "
        "the window.",
    .fix = {"Read the firmware's dump: devlink health show pci/{pci}, then devlink health dump show pci/{pci} reporter "
            "fw\nRead the kernel log: journalctl -k -g {pci}\nUpdate the firmware; ",
            {Work::in_machine, "replace the NIC if it happens again."}},
    .culprit = Culprit::host,
    .status = Status::critical,
    .explains = {link, loss},
    .excludes = "Reporters of queues (tx, rx). If the link stayed up, errors without a recovery or a fatal state.",
    .find_cause = device_reset,
};

constexpr Rule kNoPartner{
    .id = "no-partner",
    .group = group::diagnosis,
    .title = "The link does not come up with the far end of the cable: it is off, unplugged, or in another mode.",
    .meaning =
        "The NIC reports that no partner was detected, that the remote side is not ready, or that FEC or the mode "
        "differs; or our module receives no light on any lane and its transmitter has no fault.",
    .fix = {"Enable the port at {peer}, and compare speed, FEC and autonegotiation: ethtool {netdev}\n",
            {Work::at_link, "Then reseat or replace the fiber, and try another switch port."}},
    .culprit = Culprit::peer,
    .status = Status::critical,
    .explains = {link, loss},
    .excludes =
        "Low light on some lanes, an own module that is off or failing, a module that measured no light with a link as "
        "well.",
    .find_cause = no_partner,
};

// Causes of link errors and of links that go down: cable, switch, or this host.

namespace {

using enum Symptom;

const Port* port_of_netdev(const View& view, const std::string& netdev) {
  return find_where(view.now.ports, [&](const Port& port) { return port.netdev == netdev; });
}

bool lost_its_link(const View& view, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  return seen != nullptr && rose(seen->link_downs);
}

bool another_link_was_lost(const PortContext& ctx) {
  return std::ranges::any_of(ctx.view.now.ports, [&](const Port& port) {
    return port.id() != ctx.port.id() && !is_virtual(port) && lost_its_link(ctx.view, port);
  });
}

// The netdev was created again.
bool was_driver_reloaded(const View& view, const Port& port) {
  return view.before != nullptr && std::ranges::any_of(view.before->ports, [&](const Port& before) {
           return before.id() == port.id() && before.ifindex != port.ifindex;
         });
}

// This host may have taken the links down itself: all of them are on one card, or no other link stayed up. One NIC with
// functions in two sockets (socket direct) is one card.
bool could_be_this_host(const View& view, const std::set<std::string>& lost) {
  std::set<std::string> cards;
  bool other_stayed = false;
  for (const Port& port : view.now.ports) {
    const Nic* nic =
        find_where(view.now.topology.nics, [&](const Nic& each) { return each.pci == port.pci && !each.card.empty(); });
    if (lost.contains(port.id())) cards.insert(nic == nullptr ? card_of(port.pci) : nic->card);
    else if (!is_virtual(port) && !is_down(port) && !lost_its_link(view, port)) other_stayed = true;
  }
  return cards.size() < 2 || !other_stayed;
}

MaybeCause switch_restart(const PortContext& ctx) {
  if (ctx.peer == nullptr || !rose(ctx.signals.link_downs)) return std::nullopt;
  std::set<std::string> lost;
  for (const Neighbor& each : ctx.view.now.neighbors.heard) {
    const Port* port = port_of_netdev(ctx.view, each.netdev);
    if (port == nullptr) continue;
    const bool lost_link = lost_its_link(ctx.view, *port), same_switch = each.system() == ctx.peer->system();
    if (lost_link != same_switch) return std::nullopt;
    if (lost_link && was_driver_reloaded(ctx.view, *port)) return std::nullopt;
    if (lost_link) lost.insert(port->id());
  }
  if (lost.size() < 2) return std::nullopt;
  return Cause{!could_be_this_host(ctx.view, lost),
               {std::to_string(lost.size()) + " ports to " + ctx.peer->system() +
                " lost their link in the same window, and no other port did"}};
}

MaybeCause one_lane(const PortContext& ctx) {
  if (ctx.before == nullptr) return std::nullopt;
  const auto bad = bad_lane(*ctx.before, ctx.port, ctx.limit(kFewEvents), ctx.limit(kLaneShare));
  if (!bad || damaged_frames(ctx.signals) <= 0 || came_damaged(ctx.port, ctx.signals)) return std::nullopt;
  // Lanes of a good link differ by as much before FEC: a few damaged frames, which every link has, prove nothing.
  Cause out{damaged_frames(ctx.signals) >= ctx.limit(kFewEvents),
            {percent(bad->share) + " of the bit errors are on lane " + std::to_string(bad->lane)}};
  out.add(error_lines(ctx));
  return out;
}

// Several links of the port's rate count errors, and all of them have errors.
enum class Among : uint8_t { all, twins };
bool all_links_have_errors(const PortContext& ctx, Among among) {
  size_t counting = 0;
  for (const Port& port : ctx.view.now.ports) {
    const Signals* seen = signals_of_port(ctx.view, port);
    if (is_virtual(port) || seen == nullptr || port.rate != ctx.port.rate) continue;
    if (among == Among::twins && !are_twins(port, ctx.port)) continue;
    if (!seen->crc_errors && !seen->symbol_errors && !seen->fec_uncorrectable) continue;
    if (damaged_frames(*seen) < ctx.limit(kFewEvents)) return false;
    ++counting;
  }
  return static_cast<double>(counting) >= ctx.limit(kLinksAtOnce);
}

MaybeCause link_errors(const PortContext& ctx) {
  if (auto result = by_reason(ctx, {"Large number of physical errors"})) return result;
  // Errors per bit: the limit of the rule link-errors, which is for links above 100 Gb/s.
  const double allowed = ctx.limit("bit_errors_slow") * allowed_error_ratio(ctx.port) / 1e-13;
  const Signals& seen = ctx.signals;
  const double count = damaged_frames(seen), few = ctx.limit(kFewEvents);
  const bool is_much = count >= few && count >= allowed * 8 * ctx.port.rate.value_or(0) * ctx.signals.seconds;
  if (count <= 0 && !rose(seen.link_recoveries) && !rose(seen.link_integrity_errors)) return std::nullopt;
  // A few errors may come from someone touching the cable.
  const bool retrains = rise(seen.link_recoveries) >= ctx.limit("link_recoveries") || rose(seen.link_integrity_errors);
  Cause out{is_much || retrains, error_lines(ctx)};
  if (count >= few && !is_much) out.add("within the limit of a good link, " + number_text(allowed) + " of the bits");
  if (is_much && rose(seen.link_downs) && seen.crc_errors == 0.0) {
    const bool others_were_lost = another_link_was_lost(ctx);
    out.is_proven = !others_were_lost && rise(seen.link_downs) >= ctx.limit("link_flap");
    std::string line = "no frame was damaged";
    if (others_were_lost) line += ", and other links went down too";
    out.add(line + ": a link that goes down and up makes symbol errors as well");
  }
  if (came_damaged(ctx.port, seen))
    out.doubt("but FEC corrected every code word: the frames were damaged before this link");
  // Errors on all links at once do not come from one cable. Links of another speed lead to another network. Storage
  // NICs of the same speed may do so too: then all links of NICs like this one count.
  if (all_links_have_errors(ctx, Among::all))
    out.doubt("all links of this host at this speed have errors at the same time: more likely the switch or this host");
  else if (all_links_have_errors(ctx, Among::twins))
    out.doubt(
        "all links of NICs like this one in this host have errors at the same time: more likely the switch or this "
        "host");
  out.add(lines_of({{"receive buffer overruns, which damaged credits cause too", seen.buffer_overruns}}));
  // Packets that did not fit are receive errors too (IBTA 1.4, 16.1.3.5, PortRcvErrors).
  if (rose(seen.buffer_overruns) && count <= rise(seen.crc_errors) && !retrains)
    out.doubt("packets that overran the buffer count as damaged frames, and nothing else was damaged");
  if (!ctx.port.module)
    out.next.emplace_back(
        fill_names("Read the module as root to find the faulty end: ethtool -m {netdev}", &ctx.port, {}));
  return out;
}

MaybeCause flapping_link(const PortContext& ctx) {
  if (rise(ctx.signals.link_downs) < ctx.limit("link_flap") || another_link_was_lost(ctx)) return std::nullopt;
  std::string stayed_up;  // other ports to the same switch
  for (const Neighbor& each : ctx.view.now.neighbors.heard) {
    if (ctx.peer == nullptr || each.system() != ctx.peer->system()) continue;
    const Port* port = port_of_netdev(ctx.view, each.netdev);
    if (port == nullptr || port->id() == ctx.port.id() || is_down(*port)) continue;
    append_item(stayed_up, port->id());
  }
  std::string others = "no other port of this host lost its link";
  if (!stayed_up.empty())
    others = "meanwhile " + stayed_up + " kept the link to " + ctx.peer->system() + ", and " + others;
  return Cause{.is_proven = !stayed_up.empty(),
               .evidence = {plus("link downs", *ctx.signals.link_downs), std::move(others)}};
}

MaybeCause damaged_in_host(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  Cause out;
  if (is_unheard(ctx)) {
    const double from_nic = input_errors(ctx.port).from_nic.value_or(0);
    if (from_nic < ctx.limit("module_from_nic")) return std::nullopt;
    out.is_proven = from_nic >= correctable_ratio(ctx.port);  // else FEC of the far end corrects them
    out.add(loss_lines(ctx));
  } else {
    if (damaged_frames(seen) <= 0 || came_damaged(ctx.port, seen)) return std::nullopt;
    if (origin_of_errors(ctx.view, ctx.port, seen) != Origin::host) return std::nullopt;
    out.is_proven = damaged_frames(seen) >= ctx.limit(kFewEvents);
    out.add(error_lines(ctx));
    if (rose(seen.fec_corrected_bits)) out.add(plus("bits corrected by FEC", *seen.fec_corrected_bits));
  }
  out.add(origin_text(ctx.view, ctx.port, seen));
  return out;
}

// Readings that identify a part come first.
MaybeCause damaged_link(const PortContext& ctx) {
  MaybeCause candidate;
  for (const auto ask : {rx_power_low, one_lane, link_errors, flapping_link}) {
    MaybeCause out = ask(ctx);
    const bool is_proven = out && out->is_proven;
    if (!candidate || is_proven) candidate = std::move(out);
    if (is_proven) break;
  }
  if (const std::string text = origin_text(ctx.view, ctx.port, ctx.signals); candidate && !text.empty())
    candidate->add(text);
  return candidate;
}

}  // namespace

constexpr Rule kSwitchRestart{
    .id = "switch-restart",
    .group = group::diagnosis,
    .title = "The switch at the far end went down for a moment: all links to it were lost together.",
    .meaning =
        "Two or more ports of several NICs to one switch lost their link in the same window, all other ports to it "
        "too, and no port to another switch.",
    .fix = "Check the uptime, log and power of {peer}.",
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {link, loss},
    .excludes =
        "All links of this host end on that switch, the ports are of one NIC, or the driver was loaded again: it may "
        "have been this host.",
    .find_cause = switch_restart,
};

constexpr Rule kDamagedInHost{
    .id = "damaged-in-host",
    .group = group::diagnosis,
    .title = "Bits are damaged between the NIC and its module: contacts, cage, NIC, or the module.",
    .meaning =
        "Ten or more damaged frames, although few bits from the cable reach the module damaged (CMIS VDM): less than a "
        "tenth of the ratio that FEC corrects. And FEC of the NIC corrects more than that, or 1e-5 of the bits from "
        "the NIC reach the module damaged. Sent packets that do not arrive, while more bits than FEC corrects reach "
        "the module damaged from the NIC, are this too.",
    .fix =
        {Work::at_link | Work::when_idle,
         "Reseat the module of {netdev} when no job runs, and clean its contacts.\nTry the module in another cage, and "
         "another module in this one: the fault is in the NIC if it stays with the cage, else in the module."},
    .limits = {&kFewEvents},
    .culprit = Culprit::host,
    .status = Status::critical,
    .explains = {link, loss},
    .excludes =
        "A module that does not measure what arrives from the cable, or measures 0; frames that were damaged before "
        "this link; a link that is down.",
    .find_cause = damaged_in_host,
};

constexpr Rule kDamagedLink{
    .id = "damaged-link",
    .group = group::diagnosis,
    .title = "The link damages bits or flaps: fiber, connector, cable, or one of the two modules.",
    .meaning =
        "Link errors, and one of: rx power below the module's own limits on some lanes; ten damaged frames, and 90 % "
        "of the FEC errors on one lane; ten or more symbol errors, CRC errors or uncorrectable code words, more than "
        "IEEE 802.3 allows (1e-13 of the bits, 1e-12 up to 100 Gb/s); six link recoveries; a link that went down "
        "three times while another link to the same switch stayed up.",
    .fix = {{Work::at_link,
             "Clean and reseat cable and modules of {netdev} at both ends.\nCompare the lanes' power at both ends: "
             "ethtool "
             "-m {netdev}, and the tx power of the same lane at {peer}: if it is low, replace that module, else the "
             "cable.\n"},
            {Work::at_link | Work::in_machine, "If the errors stay, try another port of {peer}, then another NIC."}},
    .limits = {&kFewEvents, &kLinksAtOnce, &kLaneShare},
    .culprit = Culprit::cable,
    .status = Status::critical,
    .explains = {link, loss, overrun},
    .excludes =
        "Errors on three or more links at once (the switch or this host), only CRC errors although FEC corrected "
        "every code word (they were damaged before this link), only receive errors while a buffer overran "
        "(InfiniBand), "
        "low rx power without errors.",
    .find_cause = damaged_link,
};

std::span<const Rule> link_rules() {
  static constexpr Rule kAll[]{kPortState,     kRate,          kRoceMtu,    kGid,         kLinkFlap,
                               kLinkErrors,    kPreFecBer,     kAdminDown,  kDeviceReset, kNoPartner,
                               kSwitchRestart, kDamagedInHost, kDamagedLink};
  return kAll;
}

}  // namespace fabric
