// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "health/health.h"
#include "judge/platform_view.h"

namespace fabric {
namespace {

// enum ib_port_state and ib_port_phys_state (rdma/ib_verbs.h of Linux 6.12).
enum : unsigned { kPortDown = 1, kInit = 2, kArmed = 3, kActiveDefer = 5 };
enum : unsigned { kSleep = 1, kPolling = 2, kTraining = 4, kRecovery = 6 };

// What a physical state means, 0: any other one. fill_names() completes the remedy; InfiniBand has no netdev, and gets
// ibportstate by a directed route, which needs no subnet manager, in place of ethtool and ip.
struct Advice {
  unsigned phys_state = 0;
  std::string_view meaning, remedy;
};
constexpr std::string_view kNoSignal = "The port receives no signal: cable, transceiver, or disabled switch port.",
                           kFlaps = "The link goes up and down: bad cable, transceiver or connector.",
                           kIsDown = "The port is down.";
constexpr Advice kMismatch{
    kTraining, "Link training fails: speed, FEC or auto-negotiation differ between the ends, or the cable is bad.",
    "Configure the same speed and FEC on {netdev} and on the switch port (ethtool {netdev}), else replace the cable."};
constexpr Advice kEthernet[]{
    {kPolling, kNoSignal, "Enable the switch port. Reseat or replace the cable and the transceiver of {netdev}."},
    kMismatch,
    {kRecovery, kFlaps, "Clean, reseat or replace the cable and the transceiver of {netdev}."},
    {kSleep, "The port sleeps to save power.", "Disable power saving of the port, then ip link set {netdev} up"},
    {0, kIsDown,
     "Find out whether {netdev} has carrier (ip link show dev {netdev}), then check cable and switch port."}};
constexpr Advice kInfiniband[]{
    {kPolling, kNoSignal,
     "Enable the switch's port. Reseat or replace the cable and the transceiver of {rdma}, then: ethtool {netdev}"},
    {kTraining, "Link training fails: speed or width differ between the ends, or the cable is bad.",
     "Replace the cable, then compare enabled speed and width of both ends: ethtool {netdev}"},
    {kRecovery, kFlaps, "Clean, reseat or replace the cable and the transceiver of {rdma}, then: ethtool {netdev}"},
    {0, kIsDown, "Read its state, then check cable and switch port: ethtool {netdev}"}};

// Reasons of the NIC that say more than the physical state, which RoCE drivers call Disabled whatever the cause.
constexpr std::pair<std::string_view, Advice> kByReason[]{
    {"Link training failure", kMismatch},
    {"Logical mismatch", kMismatch},
    {"BMC request down",
     {0, "The BMC of this host took the link down.",
      "Enable the port in the settings of the BMC (NC-SI, shared network port), and read its log: ipmitool sel elist"}},
    {"OTP speed violation",
     {0, "The NIC refuses the speed: it is above the limit that is fused into this NIC.",
      "Choose a lower speed on the switch port: ethtool {netdev}. Else replace the NIC by a model for this speed."}}};

Advice advice(const Port& port) {
  if (port.link_status)
    if (const auto* row =
            find_where(kByReason, [&](const auto& each) { return each.first == port.link_status->reason; }))
      return row->second;
  const bool infiniband = port.link_layer == LinkLayer::infiniband;
  if (port.state == kInit || port.state == kArmed)
    return infiniband ? Advice{0, "The link is up, but no subnet manager configured the port.",
                               "Start the subnet manager (opensm) or restore its path to this port: sminfo; ibstat "
                               "{device}"}
                      : Advice{0, "The port is not ready for RDMA yet.",
                               "Run the check again. If nothing changes, reload the driver."};
  if (port.state == kActiveDefer)
    return {0, "The port has just lost its link.", "Run the check again. If nothing changes, reseat the cable."};
  if (is_switched_off(port)) return {0, "This host disabled the port.", "ip link set {netdev} up"};
  const std::span<const Advice> rows = infiniband ? std::span<const Advice>(kInfiniband) : kEthernet;
  return *find_where(rows,
                     [&](const Advice& each) { return each.phys_state == 0 || each.phys_state == port.phys_state; });
}

// "; the NIC says: Autoneg, No partner detected"
std::string reason_text(const Port& port) {
  if (!port.link_status || port.link_status->reason.empty()) return {};
  const LinkStatus& link = *port.link_status;
  if (link.reason == kSwitchedOff) return "; the netdev is administratively down";
  return "; the NIC says: " + link.reason + (link.detail.empty() ? "" : ", " + link.detail);
}

std::string state_text(const Port& port) {
  std::string text(port_state_text(*port.state));
  if (port.phys_state) text.append(", ").append(phys_state_text(*port.phys_state));
  return is_active(port) ? text : text + reason_text(port);
}

Finding finding_for(const View& view, const Port& port) {
  const std::string expected = "ACTIVE, LinkUp";
  if (!port.state)
    return bad(Status::unknown, port.id(), "-", expected,
               "The state of the port could not be read: " + why_unread(port, "state") + ".",
               "rdma link show " + port.id() + "; journalctl -k -g " + port.rdma);
  const std::string observed = state_text(port);
  if (is_active(port)) return good(port.id(), observed, expected);
  if (const auto why = why_unused(view, port)) return good(port.id(), observed + " (" + *why + ": unused)", expected);
  const Advice text = advice(port);
  const bool mild = (port.state == kPortDown && may_be_spare(view, port)) || port.state == kActiveDefer;
  return bad(mild ? Status::warning : Status::critical, port.id(), observed, expected, std::string(text.meaning),
             fill_names(text.remedy, &port, port.id()));
}

// The RDMA port of a bond stays ACTIVE while one member has a link.
Finding member_finding(const Port& member) {
  if (*member.carrier) return good(member.id(), "carrier", "carrier");
  return bad(Status::warning, member.id(), "no carrier" + reason_text(member), "carrier",
             "A member of " + member.bond + " has no link: the bond has lost bandwidth and redundancy.",
             is_switched_off(member)
                 ? "ip link set " + member.netdev + " up"
                 : "Enable the switch port. Reseat or replace the cable and the transceiver of " + member.netdev + ".");
}

// Renamed, or now a member of a bond, or in a container or a virtual machine.
bool is_still_there(const View& view, const Port& old) {
  const auto is_it = [&](const Port& port) {
    return port.pci == old.pci && port.number == old.number && !port.virtual_function;
  };
  const auto is_elsewhere = [&](const Nic& nic) { return nic.pci == old.pci && nic.rdma_elsewhere; };
  return !old.pci.empty() && (is_given_away(view.now, old.pci) || std::ranges::any_of(view.now.ports, is_it) ||
                              std::ranges::any_of(view.now.topology.nics, is_elsewhere));
}

// Port id -> device. Health remembers devices that went long ago: only those whose PCI function is gone too are
// reported, because a driver may be unloaded on purpose or the device may be in a container.
std::map<std::string, std::string> gone_ports(const View& view) {
  std::map<std::string, std::string> gone;
  const auto& nics = view.now.topology.nics;
  const auto is_there = [&](const std::string& id) { return contains(view.now.ports, id, &Port::id); };
  if (view.before != nullptr)
    for (const Port& old : view.before->ports)
      if (is_judged(old) && !is_there(old.id()) && !is_still_there(view, old))
        gone.emplace(old.id(), old.pci.empty() ? old.rdma : old.pci);
  if (view.health != nullptr)
    for (const auto& [id, device] : view.health->devices) {
      const auto pci = place_of_gone(device);
      if (pci && !pci->empty() && id.find('@') == std::string::npos && !is_there(id) && !nics.empty() &&
          !contains(nics, *pci, &Nic::pci))
        gone.emplace(id, *pci);
    }
  return gone;
}

void add_vanished(const View& view, Findings& findings) {
  for (const auto& [id, device] : gone_ports(view)) {
    findings.push_back(bad(Status::critical, id, "gone", "ACTIVE, LinkUp",
                           "The device disappeared: its driver was unloaded or it left the PCI bus.",
                           "journalctl -k -g " + device + ", then reload the driver."));
    if (view.health == nullptr) continue;
    if (const auto* known = find_in(view.health->devices, id); known != nullptr && place_of_gone(*known))
      findings.back().since = time_text(wall_of(*view.health, known->since));
  }
}

void ask(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    if (is_judged(port)) findings.push_back(finding_for(view, port));
    else if (!port.virtual_function && port.carrier) findings.push_back(member_finding(port));
  }
  add_vanished(view, findings);
  if (!view.now.ports.empty() || !findings.empty()) return;
  std::string devices;
  for (const Nic& nic : view.now.topology.nics)
    for (const std::string& device : nic.rdma) append_item(devices, device);
  if (!devices.empty())
    findings.push_back(
        bad(Status::unknown, "host", "no port of " + devices, "ACTIVE, LinkUp",
            "The kernel has RDMA devices, but their ports could not be read or are excluded by the configuration.",
            "rdma link show; fabric-agentctl config show (exclude)"));
  else if (contains(view.now.topology.nics, true, &Nic::rdma_elsewhere))
    findings.push_back(bad(Status::unknown, "host", "no RDMA device here", "at least one",
                           "All RDMA devices are in other network namespaces: containers have them.",
                           "Run the check in the container. Namespaces: ip netns list; rdma system show"));
  else if (std::ranges::any_of(view.now.topology.nics, carries_rdma))
    findings.push_back(good("host", "no RDMA device: Slingshot NICs, which libfabric uses without one", "none"));
  else
    findings.push_back(bad(Status::unknown, "host", "no RDMA device", "at least one", "The kernel has no RDMA device.",
                           "Load the RDMA driver of the NIC (mlx5_ib, bnxt_re, irdma, ionic_rdma, ...). Find the NIC "
                           "on the PCI bus: lspci -nn"));
}

}  // namespace

std::optional<Finding> port_state_fault(const View& view, const Port& port) {
  if (!is_judged(port)) return std::nullopt;
  Finding finding = finding_for(view, port);
  return finding.status == Status::ok || finding.status == Status::unknown ? std::nullopt
                                                                           : std::optional(std::move(finding));
}

extern const Check kPortStateCheck{
    .id = "port-state",
    .group = group::link,
    .title = "An RDMA port is not ACTIVE or its link is down",
    .meaning =
        "A port that is not ACTIVE carries no RDMA. The finding shows the reason that the NIC reports, else the "
        "physical state: Polling means no signal (cable, transceiver, switch port); training or recovery means a bad "
        "cable, or speed and FEC that differ between the two ends. Disabled on InfiniBand means that this host "
        "disabled the port. RoCE drivers report Disabled for every port without a link. INIT on InfiniBand means that "
        "no subnet manager configured the port. A bond stays ACTIVE with one link, so each member is reported "
        "separately. A device that left the PCI bus while fabric-exporter ran is reported for 12 hours.",
    .inspect = "rdma link show; ip link show dev NETDEV; ethtool NETDEV; journalctl -k -g RDMADEV",
    .fix =
        "ip link set NETDEV up, if the netdev is down. Otherwise reseat or replace the cable and the transceivers, and "
        "enable the switch port.",
    .ask = ask,
};

}  // namespace fabric
