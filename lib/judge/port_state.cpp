// SPDX-License-Identifier: Apache-2.0
// The state of a port: whether it is up, whether it should be, and why its link does not come up.
#include "judge/port_state.h"

#include "judge/cabling.h"
#include "judge/finding.h"
#include "judge/inventory.h"
#include "judge/link.h"
#include "judge/no_rdma.h"
#include "judge/optics.h"
#include "judge/planes.h"
#include "judge/platform_view.h"
#include "judge/port_context.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "nic/capabilities.h"
#include "nic/counter_row.h"
#include "node/endpoints.h"
#include "node/topology.h"

namespace fabric {

namespace {

// -- Ports that are down by design

constexpr std::string_view kNoCable = "No cable";

// This host disabled the port: the netdev is administratively down, or the physical state of an InfiniBand port is
// Disabled. (RoCE drivers report Disabled for every port without a link.)
bool is_switched_off(const Port& port) {
  if (port.link_status && port.link_status->reason == kSwitchedOff) return true;
  return port.phys_state == kPhysDisabled && port.link_layer == LinkLayer::infiniband;
}

// The port itself keeps the trace of an earlier link. Two losses of an Ethernet link prove one: some drivers count one
// when they first open the netdev (__bnxt_open_nic() of Linux 6.12). A LID is from a subnet manager that saw the link.
bool has_trace_of_link(const View& view, const Port& port) {
  if (port.counters.carrier_down.value_or(0) > 1) return true;
  if (const auto* lids = find_in(view.now.network.lids, port.id()); lids != nullptr && infiniband::is_lid(lids->own))
    return true;
  const uint64_t first_opening = port.link_layer == LinkLayer::infiniband ? 0 : 1;
  return std::ranges::any_of(port.counters.pma, [&](const Counter& counter) {
    return counter.row != nullptr && counter.row->metric == &metrics::kPortLinkDowned && counter.value > first_opening;
  });
}

// The NIC reports no sign of an earlier connection.
bool was_never_connected(const View& view, const Port& port) {
  if (port.phys_state != kPhysDisabled || has_trace_of_link(view, port)) return false;
  if (!port.link_status) return true;
  const std::string& reason = port.link_status->reason;
  return reason.empty() || reason == kNoCable || reason == kSwitchedOff;
}

// A port of the same card has a routable address or an earlier connection, and this one has neither: that one is the
// port in use, also while it is down.
bool has_used_neighbor(const View& view, const Port& port) {
  const auto was_used = [&view](const Port& each) {
    return has_trace_of_link(view, each) || std::ranges::any_of(each.gids, is_routable_v2);
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

// GT/s of all lanes, at most.
double slot_bandwidth(const Nic& nic) { return nic.link.max_speed.value_or(0) * nic.link.max_width.value_or(0); }

// An onboard port or a management function (NVLink's): no NIC like it has a link, and one with more PCIe bandwidth has.
bool is_of_the_board(const View& view, const Port& port) {
  const Nic* nic = nic_of(view.now.topology, port.rdma);
  if (nic == nullptr || slot_bandwidth(*nic) <= 0) return false;
  bool has_wider = false;
  for (const Port& other : view.now.ports) {
    if (!is_judged(other) || !is_active(other)) continue;
    const Nic* used = nic_of(view.now.topology, other.rdma);
    if (used == nullptr) continue;
    const bool narrower = slot_bandwidth(*nic) * 4 <= slot_bandwidth(*used);
    if (are_of_one_model(*used, *nic) && !narrower) return false;
    has_wider = has_wider || slot_bandwidth(*used) > slot_bandwidth(*nic);
  }
  return has_wider;
}

// The inventory or the earlier reading has the port as up.
bool was_up(const View& view, const Port& port) {
  if (view.now.inventory) {
    const InventoryPart* part = built_of(view)->record_of(*view.now.inventory, port.pci);
    if (part != nullptr && contains(part->up, port.id())) return true;
  }
  return view.before != nullptr && std::ranges::any_of(view.before->ports, [&](const Port& old) {
           return is_same_port(old, port) && is_active(old);
         });
}

bool is_beside_gpu(const View& view, const Port& port) {
  const Nic* nic = nic_of(view.now.topology, port.rdma);
  return nic != nullptr && std::ranges::any_of(view.now.topology.gpus,
                                               [&](const Gpu& gpu) { return is_on_switch(path_class(gpu, *nic)); });
}

}  // namespace

std::optional<std::string> why_unused(const View& view, const Port& port) {
  // The port is administratively down, or nothing says that its cable has a fault.
  const bool may_be_off = !port.link_status || port.link_status->reason.empty() || is_switched_off(port);
  // In switchdev mode functions keep their state without the wire, over which they send.
  if (port.state == kPortDown && may_be_off && !port.switchdev && !was_up(view, port) &&
      planned_cables(view.policy, port).empty())
    for (const Port* function : functions_of(view.now, port))
      if (is_used_function(*function) && serves_jobs(view.now, *function))
        return "its function " + function->id() + " is used instead";
  if (port.state != kPortDown || was_up(view, port) || !planned_cables(view.policy, port).empty()) return std::nullopt;
  const bool never_connected = was_never_connected(view, port), is_off = is_switched_off(port);
  if (never_connected && is_spare(view, port)) return "second port, disabled";
  if ((is_off || never_connected) && is_of_the_board(view, port)) return "no port of its model is in use, disabled";
  const bool has_no_cable = port.link_status && port.link_status->reason == kNoCable;
  if (!is_off && !has_no_cable) return std::nullopt;
  // A netdev that is down has been configured so. An InfiniBand port has no such configuration: one that had a link was
  // disabled by hand, by a fault or by the switch.
  if (port.link_layer == LinkLayer::infiniband && is_off && has_trace_of_link(view, port)) return std::nullopt;
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
// Disabled alone does not show whether the netdev is off or has no carrier; here it is up and has none.
constexpr Advice kNoCarrier{
    kPhysDisabled,
    "The netdev is up and has no carrier: the cable, its module or the switch port gives no link.",
    {"Enable the switch port, and compare speed and FEC of both ends (ethtool {netdev}). ",
     {Work::at_link, "Then reseat or replace the cable and the module of {netdev}."}}};
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

// Reasons of the NIC, or their details, that are more specific than the physical state, which is Disabled in RoCE
// drivers whatever the cause. A detail is before its reason.
constexpr std::pair<std::string_view, Advice> kByReason[]{
    // Remote fault: the far end sends, and reports that it receives no signal that it can use.
    {"Remote side is not ready yet",
     {0,
      "The far end reports a fault: it does not receive this port's signal, or is not ready.",
      {"Read the state and the receive power of the switch port. Compare speed and FEC of both ends (ethtool "
       "{netdev}). ",
       {Work::at_link, "Clean or swap the fiber, then replace the module of {netdev}."}}}},
    {"Unsupported rate", kMismatch},
    {"Bad signal integrity",
     {0,
      "The signal that this port receives is too bad for a link.",
      {"Read the module and its light: ethtool -m {netdev}. ",
       {Work::at_link, "Clean, reseat or replace the cable and the modules of both ends."}}}},
    {"Module",
     {0,
      "The NIC reports a fault of the module in this port, or that the module is not ready.",
      {"Read its state: ethtool -m {netdev}. ",
       {Work::at_link, "Reseat the module of {netdev}; if nothing changes, replace it."}}}},
    {"Calibration failure",
     {0,
      "The NIC cannot calibrate its receiver for the cable or module in this port.",
      {Work::at_link, "Reseat the cable or module of {netdev}; if nothing changes, replace it."}}},
    {"No cable",
     {0,
      "The NIC sees no cable or module in this port.",
      {Work::at_link, "Plug in or reseat the cable or module of {netdev}, then check cable and switch port."}}},
    {"Cable issue",
     {0,
      "The NIC does not accept the cable or module in this port, or its test failed.",
      {"Read its type: ethtool -m {netdev}. ",
       {Work::at_link, "Replace it by a type that the NIC's firmware supports."}}}},
    {"EEPROM issue",
     {0,
      "The NIC cannot read the memory of the cable or module in this port.",
      {Work::at_link, "Reseat the cable or module of {netdev}; if nothing changes, replace it."}}},
    {"Power budget exceeded",
     {0,
      "The module needs more power than this port gives, and stays off.",
      {"Read its power class: ethtool -m {netdev}. ",
       {Work::at_link, "Use a module with a lower one, or a port with a larger budget."}}}},
    {"Overheat",
     {0,
      "The module or the NIC is too hot, and its link was turned off.",
      {"Read the temperature of the module: ethtool -m {netdev}. ",
       {Work::at_machine, "Check the airflow and the neighboring modules."}}}},
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

constexpr Advice kPartlyLit{
    0,
    "The module of this port receives light on some lanes and not on others: a fiber, a connector, or a laser of the "
    "far end.",
    {"Compare the lanes at both ends: ethtool -m {netdev}. ",
     {Work::at_link,
      "Clean both ends and swap the fiber; if the far end sends no light on that lane, replace its module."}}};

// The states of an InfiniBand link that is up. A subnet manager gives the port its LID, and sets it to ARMED and
// ACTIVE; the port keeps the LID when its link is lost (IBTA 1.4, 14.3.5; PortInfo).
constexpr Advice kNeverManaged{0, "The link is up, but no subnet manager configured the port.",
                               "Start the subnet manager (opensm) or restore its path to this port: sminfo; ibstat "
                               "{device}"},
    kManagedBefore{0,
                   "The link is up. A subnet manager configured the port before its link was lost, and has not done so "
                   "since.",
                   "Run the check again: the subnet manager may not have seen the link yet. If nothing changes, start "
                   "it (opensm) or restore its path to this port: sminfo; ibstat {device}"},
    kArmed{0, "The link is up. The subnet manager has begun to configure the port, and has not activated it.",
           "Run the check again. If nothing changes, read the log of the subnet manager, and restart it: sminfo; "
           "ibstat {device}"},
    kLogicallyDown{0,
                   "The physical link is up, and the port is logically down: it is about to come up, or the host or "
                   "the subnet manager took it down.",
                   {"Run the check again. If nothing changes: ip link set {netdev} up. ",
                    {Work::ends_jobs, "Else reset the link: ibportstate -C {device} -P {port} -D 0 {port} reset"}}};

// InfiniBand: the link is up, and the subnet manager has not activated the port.
bool waits_for_subnet_manager(const Port& port) {
  return port.link_layer == LinkLayer::infiniband && (port.state == kPortInit || port.state == kPortArmed);
}

bool is_logically_down(const Port& port) {
  return port.link_layer == LinkLayer::infiniband && port.state == kPortDown && port.phys_state == kPhysLinkUp;
}

const Advice* subnet_advice(const Port& port, const infiniband::Lids* lids) {
  if (is_logically_down(port)) return &kLogicallyDown;
  if (!waits_for_subnet_manager(port)) return nullptr;
  if (port.state == kPortArmed) return &kArmed;
  return lids != nullptr && infiniband::is_lid(lids->own) ? &kManagedBefore : &kNeverManaged;
}

// ", LID 12, SM LID 1"; empty: the LIDs are unknown.
std::string lids_text(const infiniband::Lids* lids) {
  if (lids == nullptr) return {};
  return ", LID " + std::to_string(lids->own) + ", SM LID " + std::to_string(lids->subnet_manager);
}

// Whether the LIDs are those of the port's present state: fabric-exporter reads the state more often than the LIDs.
bool are_lids_current(const Port& port, const infiniband::Lids* lids) {
  return lids != nullptr && lids->active && is_active(port) && port.role == PortRole::physical;
}

// An ACTIVE InfiniBand port without a LID. nullopt: it has one, or its LIDs are unknown.
std::optional<Finding> lid_finding(const Port& port, const infiniband::Lids* lids) {
  if (!are_lids_current(port, lids) || infiniband::is_lid(lids->own)) return std::nullopt;
  return bad(Status::warning, port.id(), link_state_text(port) + lids_text(lids), "a LID",
             "The port is ACTIVE and has no LID: other ports have no address to send to it.",
             "Restart the subnet manager (opensm), which gives the port a LID: sminfo; ibstat " + port.rdma);
}

Advice advice_for(const Port& port, const infiniband::Lids* lids) {
  if (const Advice* advice = subnet_advice(port, lids)) return *advice;
  if (port.link_status) {
    const LinkStatus& status = *port.link_status;
    const auto* row = find_where(
        kByReason, [&](const auto& each) { return each.first == status.reason || each.first == status.detail; });
    if (row != nullptr) return row->second;
  }
  const bool infiniband = port.link_layer == LinkLayer::infiniband;
  if (port.state == kPortInit || port.state == kPortArmed)
    return {0,
            "The port is not ready for RDMA yet.",
            {"Run the check again. ", {Work::ends_jobs, "If nothing changes, reload the driver."}}};
  if (port.state == kPortActiveDefer)
    return {0,
            "The port has just lost its link.",
            {"Run the check again. ", {Work::at_link, "If nothing changes, reseat the cable."}}};
  if (is_switched_off(port)) return {0, "This host disabled the port.", "ip link set {netdev} up"};
  if (is_partly_lit(port)) return kPartlyLit;
  if (!infiniband && port.phys_state == kPhysDisabled && port.carrier == false) return kNoCarrier;
  const std::span<const Advice> rows = infiniband ? std::span<const Advice>(kInfiniband) : kEthernet;
  return *find_where(rows,
                     [&](const Advice& each) { return each.phys_state == 0 || each.phys_state == port.phys_state; });
}

// The link layers of the ports of each card of the port's board, by place and number.
using CardLayers = std::map<std::pair<std::string, unsigned>, LinkLayer>;
std::map<std::string, CardLayers> layers_of_cards(const View& view, const Port& port) {
  std::map<std::string, CardLayers> out;
  for (const Port& other : view.now.ports)
    if (is_judged(other) && are_of_one_board(other, port))
      out[card_of(other.pci)][{place_on_card(other.pci), other.number}] = other.link_layer;
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
    if (place == std::pair(place_on_card(port.pci), port.number)) continue;
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
    if (is_judged(other) && are_of_one_board(other, port) && other.number == port.number &&
        place_on_card(other.pci) == place_on_card(port.pci))
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
  const Nic* nic = nic_of(view.now.topology, port.rdma);
  return nic != nullptr && nic->vendor == kNvidiaNetworking && port.link_layer == LinkLayer::infiniband &&
         nic->link.max_width && *nic->link.max_width <= kMostLanesOfManagement && is_of_the_board(view, port);
}

// " (PSM2 looks for hfi1_N ...)" for an Omni-Path device that udev has renamed: PSM2 has no other way to find it.
std::string name_for_libraries(const Port& port) {
  const std::string_view prefix = verbs_provider_of(port.kernel_driver).psm_prefix;
  if (port.rdma.starts_with(prefix)) return {};
  return " (udev has renamed it: PSM2 looks for " + std::string(prefix) +
         "N, the kernel's name, and says that no device is active. Keep the name: NAME_KERNEL in "
         "/etc/udev/rules.d/60-rdma-persistent-naming.rules)";
}

// nullopt: the port is not ACTIVE.
std::optional<Finding> unknown_or_active(const Port& port) {
  if (!port.state)
    return bad(Status::unknown, port.id(), "-", kUpState,
               "The state of the port could not be read: " + why_unread(port, PortPart::state) + ".",
               "rdma link show " + port.id() + "; journalctl -k -g " + port.rdma);
  if (is_active(port)) return good(port.id(), link_state_text(port) + name_for_libraries(port), kUpState);
  return std::nullopt;
}

// No sign of an earlier link: no counter of lost links, and the port was not up before.
bool never_had_link(const View& view, const Port& port) {
  return port.state == kPortDown && !was_up(view, port) && !has_trace_of_link(view, port) &&
         std::ranges::none_of(port.gids, is_routable_v2);
}

// " It never had a link ...": several equal ports never had one, and the others are up. Then the machine may be cabled
// so by design, which only its builders know. Empty: otherwise.
std::string perhaps_not_cabled(const View& view, const Port& port) {
  if (!never_had_link(view, port)) return {};
  size_t down = 0, up = 0;
  for (const Port& other : view.now.ports) {
    if (&other == &port || !are_twins(other, port)) continue;
    if (is_active(other)) ++up;
    else if (!never_had_link(view, other)) return {};
    else ++down;
  }
  if (down == 0 || up == 0) return {};
  return " It shows no sign of an earlier link, like " + counted(down, "other port") + " of its model, and " +
         std::to_string(up) + (up == 1 ? " is" : " are") + " up: perhaps these ports are not cabled by design.";
}

Finding port_state_finding(const View& view, const Port& port) {
  if (!is_roce(port) && belongs_elsewhere(view.now, port) && !view.named.contains(port.id()))
    return good(port.id(), link_state_text(port) + " (not given to this container)", kUpState);
  const infiniband::Lids* lids = find_in(view.now.network.lids, port.id());
  if (auto finding = lid_finding(port, lids)) return *finding;
  if (auto finding = unknown_or_active(port)) {
    if (finding->status == Status::ok && is_audit_only(port)) finding->observed += " (a DPU owns its settings)";
    if (are_lids_current(port, lids) && !infiniband::is_lid(lids->subnet_manager))
      finding->observed += lids_text(lids) + " (rdma_cm and IPoIB require a subnet manager for new paths)";
    return *finding;
  }
  const std::string expected = kUpState;
  std::string observed = link_state_text(port) + lids_text(lids) + reason_text(port);
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
  if (is_audit_only(port)) {
    const std::string set_up =
        is_switched_off(port) || !port.carrier ? "ip link set " + port.netdev + " up. " : std::string();
    return bad(Status::critical, port.id(), observed, expected,
               "The port has no link. A DPU owns it: the Arm cores there have its cable, its module and its settings.",
               set_up +
                   "On the Arm cores of the DPU: ip link show (the representor of this port, pf0hpf, and its bridge); "
                   "ethtool p0; ethtool -m p0; devlink port show");
  }
  const Advice advice = advice_for(port, lids);
  // By its position the port may be unused, though something is plugged into it.
  const bool may_be_unused =
      port.state == kPortDown && (why_unused(view, port) || is_spare(view, port) || is_of_the_board(view, port));
  const bool is_mild = may_be_unused || port.state == kPortActiveDefer;
  Fix fix = fix_of(advice.fix, &port, port.id());
  if (may_manage_nvlink(view, port))
    fix.steps.insert(fix.steps.begin(),
                     "Read its VPD as root: lspci -vv -s " + port.pci +
                         ". With SW_MNG it manages the NVLink switches inside this machine and has no cable. Else: ");
  std::string meaning(advice.meaning);
  if (port.link_layer == LinkLayer::infiniband && port.phys_state == kPhysDisabled && never_had_link(view, port)) {
    meaning =
        "This host disabled the port, or no cable was ever plugged in: the port shows no sign of an earlier link.";
    fix.steps.insert(fix.steps.begin(), {Work::at_link, "Look for a cable in this port. With one: "});
  }
  const std::string by_design = perhaps_not_cabled(view, port);
  if (!by_design.empty())
    fix.steps.push_back(std::string(fix.steps.back().text.ends_with('.') ? "" : ".") +
                        " If it is not to be cabled, record that: fabric-agentctl ack port-state " + port.id());
  return bad(is_mild ? Status::warning : Status::critical, port.id(), observed, expected, meaning + by_design,
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

// A member with a link that LACP has left out of the aggregate. nullopt: it is no such member, or its link has another
// speed than that of another member, which `rate` reports.
std::optional<Finding> left_out_finding(const Node& node, const Port& port) {
  if (!port.is_member() || port.carrier != true || !port.aggregator || port.aggregator->of_bond == 0 ||
      port.aggregator->own == port.aggregator->of_bond)
    return std::nullopt;
  const auto has_other_speed = [&](const Port& other) {
    return other.is_member() && other.bond == port.bond && other.carrier == true && other.speed && port.speed &&
           *other.speed != *port.speed;
  };
  if (std::ranges::any_of(node.ports, has_other_speed)) return std::nullopt;
  return bad(Status::warning, port.id(),
             "carrier; LACP aggregator " + std::to_string(port.aggregator->own) + ", " + port.bond + " uses " +
                 std::to_string(port.aggregator->of_bond),
             "carrier, in the aggregator of " + port.bond,
             "The link of " + port.netdev + " is up, and LACP has left it out of " + port.bond +
                 ": it carries nothing, so that the bond has lost bandwidth and redundancy. Its switch port does not "
                 "speak LACP, belongs to another port channel, or is of another switch, with which the first shares no "
                 "port channel (MLAG).",
             {"Compare the partners of the members (system MAC address, key; zeros: no LACP arrives): cat "
              "/proc/net/bonding/" +
              port.bond + ". Then put the switch port of " + port.netdev +
              " in the port channel of the other members, with LACP."});
}

// A bond that is up, and would not notice a link that is lost. The kernel's default of miimon is 0; the modes 802.3ad,
// balance-tlb and balance-alb set another one. nullopt: it watches its links, or that is not known.
std::optional<Finding> unwatched_bond_finding(const Port& port) {
  if (!port.bonding || !port.bonding->is_unwatched) return std::nullopt;
  return bad(Status::warning, port.id(),
             link_state_text(port) + "; " + port.bond + " (" + port.bonding->mode + ") has miimon 0 and arp_interval 0",
             "a bond that monitors its links",
             port.bond +
                 " does not notice that a member has lost its link: it goes on sending there, and that traffic is "
                 "lost; in the mode active-backup it does not fail over.",
             "ip link set " + port.bond +
                 " type bond miimon 100. Then write it where the bond is configured: mii-monitor-interval: 100 "
                 "(netplan), MIIMonitorSec=100ms (systemd-networkd), miimon=100 (NetworkManager, ifcfg)");
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
  const Nic* nic = nic_at(view.now.topology, port.owner);
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
  const std::string place = place_of_physical(view, port);
  // Port::pci of a subfunction is the PCI function of the NIC: to unbind that would remove all devices of the NIC.
  if (is_subfunction(port)) {
    const std::string set = "devlink port function set DEV/PORT_INDEX ";
    return finding(
        {place.empty() ? "devlink port show. " : place + ": devlink port show. ",
         {Work::ends_jobs, "Then " + set + "state inactive; " + set + "hw_addr ADDRESS; " + set + "state active"}});
  }
  std::string where = "N is the number of this function: ", netdev = physical_netdev(view, port);
  if (netdev.empty()) {
    where = (place.empty() ? "On the host" : place) +
            " (PF: netdev of the physical function, N: number of this function): ";
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
  const bool infiniband = port.link_layer == LinkLayer::infiniband,
             host_is_here = port.role != PortRole::guest_function;
  const Status status =
      host_is_here && !was_up(view, port) && !serves_jobs(view.now, port) ? Status::warning : Status::critical;
  const bool is_off = !port.netdev.empty() && !infiniband && is_switched_off(port);
  const std::string set_up = is_off ? "ip link set " + port.netdev + " up; " : "";
  std::string host = place_of_physical(view, port);
  if (is_off) host = lower(host);  // after set_up
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
               set_up + "devlink port show; devlink port function set DEV/PORT_INDEX state active");
  if (!host_is_here && capabilities_of(port.kernel_driver).only_in_clouds)
    return bad(
        status, port.id(), observed, expected,
        "The function has no link. The operator of the cloud has its hardware and its network.",
        "journalctl -k -g " + port.pci + ". Restart the instance on another host, or report it to the operator.");
  if (!host_is_here && is_subfunction(port))
    return bad(status, port.id(), observed, expected,
               "The subfunction has no link. Its function is on the host of this pod: the port function there is not "
               "active, or the netdev here is down.",
               set_up + host + ": devlink port show; devlink port function set DEV/PORT_INDEX state active");
  // Without a GUID, or with the policy "disable", the physical state of a function is Disabled.
  if (!host_is_here && infiniband &&
      (port.phys_state == kPhysPolling || port.phys_state == kPhysTraining || port.phys_state == kPhysRecovery))
    return bad(
        status, port.id(), observed, expected,
        "The physical link of this function's port is down on the host, at the port or at its far end. Link state "
        "policy and GUID of the function do not cause this state (it would be Disabled), and nothing in this virtual "
        "machine or pod changes it.",
        "Report it to the operator of the host, with the address " + port.pci +
            ", and move the job to another machine, or leave the NIC out of it on all machines (NCCL_IB_HCA).");
  if (!host_is_here) {
    std::string meaning =
        "The virtual function has no link. Its physical function is on the host of this guest or pod: the link state "
        "policy there decides";
    if (infiniband) meaning += ", and the GUID that the host gives it";
    if (waits_for_subnet_manager(port))
      meaning =
          "The link is up, and the subnet manager has not configured this virtual function: it has no GUID from "
          "its host, or the subnet has no virtualization for it";
    return bad(status, port.id(), observed, expected, meaning + ".",
               set_up + host + ", where PF is its physical function and N its number: ip link show PF; " +
                   link_commands(port, "PF", "N"));
  }
  std::string netdev = physical_netdev(view, port), number = "N";  // of the physical function; its number
  if (netdev.empty()) netdev = "PF";
  if (port.vf) number = std::to_string(*port.vf);
  std::string remedy = set_up + link_commands(port, netdev, number);
  if (infiniband) remedy += ". The subnet manager needs virtualization: virt_enabled 2 in opensm.conf.";
  std::string meaning = "The virtual function has no link: ";
  meaning += infiniband ? "it has no GUID, or its link state policy is disable."
                        : "its netdev is down, or its link state policy is disable.";
  const VirtualFunction* known = find_function(view.now.network.physical_functions, port.pci);
  if (known != nullptr && known->limits.link_state == VfLinkState::disable)
    meaning = "The virtual function has no link: its host has set its link state to \"disable\".";
  // With the policy "disable" it would be DOWN.
  if (waits_for_subnet_manager(port))
    meaning =
        "The link is up, and the subnet manager has not configured the virtual function: it has no GUID, or the "
        "subnet has no virtualization for it.";
  return bad(status, port.id(), observed, expected, std::move(meaning), std::move(remedy));
}

// NICs whose firmware did not start. They have neither a netdev nor an RDMA device, nor the ids of their model.
void add_nics_in_recovery(const Topology& topology, Findings& findings) {
  for (const PciDevice& nic : topology.in_recovery)
    findings.push_back(
        bad(Status::critical, nic.pci, "in flash recovery", "a NIC with its firmware",
            "A ConnectX or BlueField is at this address, and did not start its firmware: an update was "
            "interrupted, its flash is damaged, or a jumper keeps it from the flash. Its ports are gone.",
            fix_of_flash_recovery(nic.pci)));
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
  if (view.named.contains(port.id())) return true;
  if (belongs_elsewhere(view.now, port)) return false;  // another pod has got it
  if (port.role == PortRole::guest_function || was_up(view, port)) return true;
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
  const Nic* nic = nic_at(view.now.topology, old.pci);
  return nic != nullptr && nic->rdma_elsewhere;
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
      if (!device.is_gone() || device.pci.empty() || id.find('@') != std::string::npos) continue;
      if (contains(view.now.ports, id, &Port::id) || nics.empty() || nic_at(view.now.topology, device.pci) != nullptr)
        continue;
      gone.emplace(id, device.pci);
    }

  for (const auto& [id, device] : gone) {
    findings.push_back(bad(Status::critical, id, "gone", kUpState,
                           "The device disappeared: its driver was unloaded or it left the PCI bus.",
                           {Work::ends_jobs, "journalctl -k -g " + device + ", then reload the driver."}));
    if (view.health == nullptr) continue;
    if (const auto* known = find_in(view.health->devices, id); known != nullptr && known->is_gone())
      findings.back().since = time_text(wall_of(*view.health, known->since));
  }
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
      if (auto unwatched = unwatched_bond_finding(port); unwatched && finding.status == Status::ok)
        finding = std::move(*unwatched);
      findings.push_back(std::move(finding));
      continue;
    }
    if (is_virtual(port)) {
      if (is_lost_plane(planes, port) && !view.named.contains(port.id()))
        findings.push_back(good(port.id(), link_state_text(port) + " (see planes)", kUpState));
      else if (is_function_expected_up(view, port, counts)) findings.push_back(function_state_finding(view, port));
      else if (is_endpoint(port) && port.state == kPortDown) waiting.push_back(port.id());
      if (is_endpoint(port) && is_active(port) && is_roce(port) && !serves_jobs(view.now, port))
        unjudged.push_back(port.id());
      continue;
    }
    if (auto left_out = left_out_finding(view.now, port)) findings.push_back(std::move(*left_out));
    else if (port.carrier) findings.push_back(member_state_finding(port));
  }
  const auto add_list = [&](std::vector<std::string> functions, const char* state) {
    if (functions.empty()) return;
    std::string count = std::to_string(functions.size()) + " VFs or subfunctions are ";
    if (functions.size() == 1) count = "1 VF or subfunction is ";
    if (functions.size() > kShown) {
      functions.resize(kShown);
      functions.emplace_back("...");
    }
    findings.push_back(good(kHostSubject, count + state + joined(functions), "any state"));
  };
  add_list(std::move(waiting), "DOWN, unused or waiting for a guest or pod: ");
  add_list(std::move(unjudged), "ACTIVE, for a guest or pod: GIDs and MTU are not judged here: ");
  if (!view.now.rdma_unread.empty()) {
    findings.push_back(bad(Status::unknown, kHostSubject, "-", "at least one RDMA device",
                           "RDMA devices could not be listed: " + view.now.rdma_unread + ".",
                           {"ls -l /sys/class/infiniband",
                            {Work::as_root, "; run the check as root"},
                            ". For an I/O error: journalctl -k"}));
    return;
  }
  add_gone_ports(view, findings);
  add_nics_in_recovery(view.now.topology, findings);
  if (auto finding = no_fabric_manager(view.now)) findings.push_back(std::move(*finding));
  add_nics_without_rdma(view, findings);
}

}  // namespace

// The parameter of mlxconfig, for which the second function is the second port.
static std::string link_type_setting(const std::string& pci) {
  return pci.ends_with(".1") ? "LINK_TYPE_P2" : "LINK_TYPE_P1";
}

Fix fix_of_link_layer(const std::string& pci, LinkLayer layer) {
  const std::string setting = link_type_setting(pci);
  const std::string value = layer == LinkLayer::infiniband ? "1" : "2", tool = "mlxconfig -d " + pci;
  return {tool + " query " + setting + "; " + tool + " set " + setting + "=" + value + "; ",
          {Work::ends_jobs, "then mlxfwreset -d " + pci + " reset"}};
}

Fix fix_of_far_link() {
  return "The link is that of its physical function, on the host of this guest or pod: run fabric-agentctl diagnose "
         "there, or report it to the operator of the host.";
}

std::string place_of_physical(const View& view, const Port& function) {
  if (function.role != PortRole::guest_function) return {};
  const bool is_of_others = view.now.topology.is_guest() || is_in_cloud(view.now);
  return is_of_others ? "Ask the operator of the host" : "On the host";
}

std::optional<Finding> port_state_fault(const View& view, const Port& port) {
  const bool is_member = port.is_member() && port.carrier.has_value();
  if (!is_judged(port) && !is_member) return std::nullopt;
  Finding finding = is_member ? member_state_finding(port) : port_state_finding(view, port);
  if (finding.status == Status::ok || finding.status == Status::unknown) return std::nullopt;
  return finding;
}

Fix fix_of_state(const View& view, const Port& port) {
  std::optional<Finding> fault = port_state_fault(view, port);
  if (is_virtual(port)) fault = function_state_finding(view, port);
  if (!fault || fault->fix.empty()) return {};
  return fault->fix.front();
}

namespace {

// A NIC for both link layers gets no link with a switch for the other one. A port that had a link, or has an equal one
// with a link, has the right one.
bool may_meet_other_link_layer(const View& view, const Port& port) {
  const std::string vendor = port.pci_id.substr(0, port.pci_id.find(':') + 1);
  return has_both_link_layers(port.pci_id) && port.role == PortRole::physical && never_had_link(view, port) &&
         std::ranges::none_of(view.now.ports, [&](const Port& other) {
           return is_judged(other) && is_active(other) && other.link_layer == port.link_layer &&
                  other.pci_id.starts_with(vendor);
         });
}

// The port is down now, and no reading says more than that it has no partner or no signal. The rules that know more
// come first (kOrder in cause.cpp). The check reports the port in any case: it is the cause also if the culprit is
// unknown, so that the port has one finding.
MaybeCause link_is_down(const PortContext& ctx) {
  const auto fault = port_state_fault(ctx.view, ctx.port);
  const bool waits = waits_for_subnet_manager(ctx.port);
  const bool has_other_layer = is_down(ctx.port) && usual_link_layer(ctx.view, ctx.port);
  if (!fault || (!is_down(ctx.port) && !waits) || (is_switched_off(ctx.port) && !has_other_layer)) return std::nullopt;
  Cause out{.evidence = {fault->observed + "; expected " + fault->expected}, .meaning = fault->meaning};
  if (fault->status == Status::critical) out.status = fault->status;  // not of a member: the bond has another
  if (waits) {
    // A virtual function waits also if its host gave it no GUID.
    out.culprit = is_virtual(ctx.port) ? Culprit::unknown : Culprit::network;
    out.next = fault->fix;
    return out;
  }
  out.add(error_lines(ctx));
  // A port that is logically down has a link: cable and module carry it.
  if (is_audit_only(ctx.port) || may_manage_nvlink(ctx.view, ctx.port) || is_logically_down(ctx.port)) {
    out.culprit = Culprit::unknown;
    out.next = fault->fix;
    return out;
  }
  if (ctx.port.phys_state == kPhysSleep || by_reason(ctx, {"BMC request down", "OTP speed violation"}) ||
      has_other_layer) {
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
  if (may_meet_other_link_layer(ctx.view, ctx.port)) {
    const bool is_ethernet = ctx.port.link_layer == LinkLayer::ethernet;
    std::string own = "InfiniBand", other = "Ethernet";
    if (is_ethernet) std::swap(own, other);
    out.add_ambiguous(
        "this port is in " + own + " mode, and never had a link: one with a far end for " + other + " looks the same",
        "Ask what " + ctx.peer_label() + " is. If it is for " + other +
            ", the port needs that link layer: mlxconfig -d " + ctx.port.pci + " query " +
            link_type_setting(ctx.port.pci) + ". A firmware without this setting knows one link layer only.");
  }
  // A step that reads comes before one that moves a part.
  if (!ctx.port.module)
    out.next.emplace_back(fill_names("Read the module as root: ethtool -m {netdev}", &ctx.port, {}));
  out.next.insert(out.next.end(), fault->fix.begin(), fault->fix.end());
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
        "disabled the port, or that it never had a cable. RoCE drivers report Disabled for every port without a link. "
        "INIT on InfiniBand means that "
        "no subnet manager configured the port; a LID in this state shows that one did so before the link was lost. "
        "ARMED means that the subnet manager has not finished. A port that is ACTIVE without a LID has no address. A "
        "bond stays ACTIVE with one link, so each member is reported separately, also one with a link that LACP has "
        "left out of the bond. A bond without link monitoring (miimon 0) is reported. A virtual function has no cable: "
        "its "
        "link state policy and, on InfiniBand, its GUID decide; in a "
        "guest, an InfiniBand function that is Polling or in training waits for the link of its host. On a "
        "host, functions that are DOWN are listed, and reported if named or if they were up; a port that is off, while "
        "one of its functions is ACTIVE with a routable GID, is unused. A function in use without "
        "a node GUID is reported, because the connection manager cannot use it. A device that left the PCI bus while "
        "fabric-exporter ran is reported for 12 hours. If no NIC has an RDMA device, or none of those next to the "
        "GPUs, the finding names the NICs, their driver and the modules to load; NICs beside the GPUs that can have "
        "none are no fault, nor is a workstation whose policy and inventory have none. Gaudi accelerators have ports "
        "of their own: without their netdevs and RDMA devices they are reported, whatever NICs the host has, "
        "except the first Gaudi, which may use these NICs. A ConnectX or BlueField in flash recovery is named, and a "
        "virtual function without a driver, while equal ones have theirs. In the "
        "exclusive mode of RDMA (rdma system) a function "
        "whose netdev is here without its "
        "RDMA device, unlike equal functions, was not given back as a whole. A link layer that neither the other ports "
        "of its card nor equal cards have is a lost "
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
  // Nothing configures the netdev of a port that should be InfiniBand, and it would get no link.
  if (usual_link_layer(ctx.view, ctx.port)) return std::nullopt;
  if (ctx.port.link_status && ctx.port.link_status->reason == kSwitchedOff)
    return Cause{.evidence = {"the netdev is administratively down"}};
  if (ctx.port.link_layer != LinkLayer::infiniband || ctx.port.phys_state != kPhysDisabled) return std::nullopt;
  if (!never_had_link(ctx.view, ctx.port))
    return Cause{.evidence = {"the physical state is Disabled: the port was disabled on this host"}};
  Cause out{.evidence = {"the physical state is Disabled, and no sign of an earlier link"}};
  out.add_ambiguous("a port that never had a cable looks the same from here",
                    "Look for a cable in this port: without one, nothing on this host brings it up.");
  return out;
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
  if (auto out = by_reason(ctx, {"Remote side is not ready yet"})) {
    out->add_ambiguous("a fiber or a transmitter of this port that fails in this direction looks the same from here",
                       "Read the rx power of the module at " + ctx.peer_label() +
                           ": without light there, it is the fiber or this port's module");
    return out;
  }
  return by_reason(
      ctx, {"No partner detected", "Ack not received", "Link partner did not set receiver ready", "Serdes ALOS"});
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

constexpr Rule kTable[]{kPortState, kAdminDown, kDeviceReset, kNoPartner};
const std::span<const Rule> kPortStateRules = kTable;

}  // namespace fabric
