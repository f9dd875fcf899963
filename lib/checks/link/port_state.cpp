// SPDX-License-Identifier: Apache-2.0

#include "checks/check.h"
#include "health/health.h"
#include "model/transceiver.h"

namespace fabric {
namespace {

// enum ib_port_state and ib_port_phys_state (rdma/ib_verbs.h of Linux 6.12).
enum : unsigned { kDown = 1, kInit = 2, kArmed = 3, kActiveDefer = 5 };
enum : unsigned { kSleep = 1, kPolling = 2, kDisabled = 3, kTraining = 4, kRecovery = 6 };

struct Advice {
  std::string meaning, remedy;
};

Advice ethernet_advice(const Port& port, const std::string& dev) {
  switch (port.phys_state.value_or(0)) {
    case kPolling:
      return {"The port receives no signal: cable, transceiver, or disabled switch port.",
              "Enable the switch port. Reseat or replace the cable and the transceiver of " + dev + "."};
    case kTraining:
      return {"Link training fails: speed, FEC or auto-negotiation differ between the ends, or the cable is bad.",
              "Configure the same speed and FEC on " + dev + " and on the switch port (ethtool " + dev +
                  "), else replace the cable."};
    case kRecovery:
      return {"The link goes up and down: bad cable, transceiver or connector.",
              "Clean, reseat or replace the cable and the transceiver of " + dev + "."};
    case kSleep:
      return {"The port sleeps to save power.", "Disable power saving of the port, then ip link set " + dev + " up"};
    default:
      return {"The port is down.", "Find out whether " + dev + " has carrier (ip link show dev " + dev +
                                       "), then check cable and switch port."};
  }
}

// InfiniBand has no netdev below the port; IPoIB's says nothing of the link.
Advice infiniband_advice(const Port& port, const std::string& query) {
  switch (port.phys_state.value_or(0)) {
    case kPolling:
      return {"The port receives no signal: cable, transceiver, or disabled switch port.",
              "Enable the switch's port. Reseat or replace the cable and the transceiver of " + port.id() +
                  ", then: " + query};
    case kTraining:
      return {"Link training fails: speed or width differ between the ends, or the cable is bad.",
              "Replace the cable, then compare enabled speed and width of both ends: " + query};
    case kRecovery:
      return {"The link goes up and down: bad cable, transceiver or connector.",
              "Clean, reseat or replace the cable and the transceiver of " + port.id() + ", then: " + query};
    default: return {"The port is down.", "Read its state, then check cable and switch port: " + query};
  }
}

Advice advice(const Port& port) {
  const bool infiniband = port.link_layer == LinkLayer::infiniband;
  if (port.state == kInit || port.state == kArmed)
    return infiniband ? Advice{"The link is up, but no subnet manager configured the port.",
                               "Start the subnet manager (opensm) or restore its path to this port: sminfo; ibstat " +
                                   port.rdma}
                      : Advice{"The port is not ready for RDMA yet.",
                               "Run the check again. If nothing changes, reload the driver."};
  if (port.state == kActiveDefer)
    return {"The port has just lost its link.", "Run the check again. If nothing changes, reseat the cable."};
  const std::string dev = port.netdev.empty() ? port.rdma : port.netdev;
  // The local port by a directed route, which needs no subnet manager.
  const std::string number = to_text(port.number);
  const std::string ibportstate = "ibportstate -C " + port.rdma + " -P " + number + " -D 0 " + number;
  if (is_switched_off(port))
    return {"This host disabled the port.", infiniband ? ibportstate + " enable" : "ip link set " + dev + " up"};
  return infiniband ? infiniband_advice(port, ibportstate + " query") : ethernet_advice(port, dev);
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
  const bool mild = (port.state == kDown && may_be_spare(view, port)) || port.state == kActiveDefer;
  return bad(mild ? Status::warning : Status::critical, port.id(), observed, expected, text.meaning, text.remedy);
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

// Renamed, or now a member of a bond.
bool is_renamed(const View& view, const Port& old) {
  return !old.pci.empty() && std::ranges::any_of(view.now.ports, [&](const Port& port) {
    return port.pci == old.pci && port.number == old.number && !port.virtual_function;
  });
}

// Port id -> device. Health remembers devices that went long ago: only those whose PCI function is gone too are
// reported, because a driver may be unloaded on purpose or the device may be in a container.
std::map<std::string, std::string> gone_ports(const View& view) {
  std::map<std::string, std::string> gone;
  const auto& nics = view.now.topology.nics;
  const auto is_there = [&](const std::string& id) { return contains(view.now.ports, id, &Port::id); };
  if (view.before != nullptr)
    for (const Port& old : view.before->ports)
      if (is_judged(old) && !is_there(old.id()) && !is_renamed(view, old))
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
      findings.back().since =
          time_text(view.health->wall - static_cast<int64_t>(std::max(0.0, view.health->now - known->since)));
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
  else
    findings.push_back(
        bad(Status::unknown, "host", "no RDMA device", "at least one", "The kernel has no RDMA device.",
            "Load the RDMA driver of the NIC (mlx5_ib, bnxt_re, irdma, ...). Find the NIC on the PCI bus: lspci -nn"));
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
