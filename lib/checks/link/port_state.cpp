// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "checks/checks.h"
#include "health/health.h"
#include "model/finding.h"
#include "model/switched_off.h"

namespace fabric {
namespace {

// enum ib_port_state and ib_port_phys_state (rdma/ib_verbs.h of Linux 6.12).
enum : unsigned { kDown = 1, kInit = 2, kArmed = 3, kActiveDefer = 5 };
enum : unsigned { kSleep = 1, kPolling = 2, kDisabled = 3, kTraining = 4, kRecovery = 6 };

struct Advice {
  std::string meaning, remedy;
};

bool is_switched_off(const Port& port) {
  if (port.link_status && port.link_status->reason == kSwitchedOff) return true;
  return port.phys_state == kDisabled && port.link_layer == LinkLayer::infiniband;
}

Advice advice_when_down(const Port& port) {
  const std::string dev = port.netdev.empty() ? port.rdma : port.netdev;
  if (is_switched_off(port))
    return {"This host has switched the port off; no RDMA can pass.",
            port.netdev.empty() ? "Enable the port (ibportstate, mlxlink) or load its driver again."
                                : "Switch it on: ip link set " + dev + " up."};
  switch (port.phys_state.value_or(0)) {
    case kPolling:
      return {"The port hears no signal: cable, transceiver, or the switch port at the other end.",
              "Reseat or replace the cable and the transceiver of " + dev +
                  ", and see whether the switch port is enabled."};
    case kTraining:
      return {
          "The two ends hear each other and do not agree: speed, FEC or auto-negotiation differ, or the cable is bad.",
          "Compare speed and FEC of " + dev + " (ethtool " + dev + ") with the switch port, then replace the cable."};
    case kRecovery:
      return {"The link is up and down all the time: a bad cable, transceiver or connector.",
              "Clean, reseat or replace the cable and the transceiver of " + dev + "."};
    case kSleep:
      return {"The port sleeps to save power; no RDMA can pass.",
              "Take power saving off the port and bring it up again."};
    default:
      return {"The port is down; no RDMA can pass.",
              "See whether " + dev + " is up and has carrier (ip link show " + dev + "), then cable and switch port."};
  }
}

Advice advice(const Port& port) {
  const bool infiniband = port.link_layer == LinkLayer::infiniband;
  if (port.state == kInit || port.state == kArmed)
    return infiniband ? Advice{"The cable is good and no subnet manager has configured the port.",
                               "See whether the subnet manager runs and reaches this port (sminfo, ibdiagnet)."}
                      : Advice{"The port is not ready for RDMA yet.", "Wait; if it stays so, load its driver again."};
  if (port.state == kActiveDefer)
    return {"The port has just lost its link and waits for it to return.",
            "Run the check again; if it stays so, see the cable."};
  return advice_when_down(port);
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

// Nobody wants a link of it, so far as the NIC tells; one that had a link was wanted, which two ends of one prove: some
// drivers count one when they first open the netdev (__bnxt_open_nic() of Linux 6.12).
bool is_left_alone(const Port& port) {
  if (port.phys_state != kDisabled || port.counters.carrier_down.value_or(0) > 1) return false;
  const std::string reason = port.link_status ? port.link_status->reason : std::string();
  return reason.empty() || reason == "No cable" || reason == kSwitchedOff;
}

// A second port that nobody uses: its card has an active one, and no twin of it is active on another card.
bool is_spare(const View& view, const Port& port) {
  const auto& ports = view.now.ports;
  const auto is_neighbour = [&](const Port& other) {
    const bool same_card = !port.pci.empty() && card_of(other.pci) == card_of(port.pci);
    return &other != &port && is_judged(other) && is_active(other) && (same_card || other.rdma == port.rdma);
  };
  const auto is_active_twin = [&](const Port& other) {
    return &other != &port && is_active(other) && are_twins(other, port);
  };
  return std::any_of(ports.begin(), ports.end(), is_neighbour) &&
         std::none_of(ports.begin(), ports.end(), is_active_twin);
}

const Nic* nic_of(const View& view, const Port& port) {
  const auto& nics = view.now.topology.nics;
  const auto found = std::find_if(nics.begin(), nics.end(), [&](const Nic& nic) {
    return std::find(nic.rdma.begin(), nic.rdma.end(), port.rdma) != nic.rdma.end();
  });
  return found == nics.end() ? nullptr : &*found;
}

// GT/s of all lanes that it could have.
double slot_of(const Nic& nic) { return nic.link.max_speed.value_or(0) * nic.link.max_width.value_or(0); }

// A port that came with the board: none of its model has a link, and one that has is of a model with more PCIe.
bool is_of_the_board(const View& view, const Port& port) {
  const Nic* nic = nic_of(view, port);
  if (nic == nullptr || slot_of(*nic) <= 0) return false;
  bool wider = false;
  for (const Port& other : view.now.ports) {
    const Nic* used = is_judged(other) && is_active(other) ? nic_of(view, other) : nullptr;
    if (used == nullptr) continue;
    if (used->vendor == nic->vendor && used->device == nic->device) return false;
    wider = wider || slot_of(*used) > slot_of(*nic);
  }
  return wider;
}

Finding judge(const View& view, const Port& port) {
  const std::string expected = "ACTIVE, LinkUp";
  if (!port.state)
    return bad(Status::unknown, port.id(), "-", expected,
               "The port's state could not be read: " + why_unread(port, "state") + ".",
               "See whether the driver answers (rdma link show " + port.id() + ") and the kernel's log.");
  const std::string observed = state_text(port);
  if (is_active(port)) return good(port.id(), observed, expected);
  const bool second = is_spare(view, port), spare = port.state == kDown && (second || is_of_the_board(view, port));
  if (is_unused(view, port))
    return good(
        port.id(),
        observed + (second ? " (second port" : " (no port of its model is in use") + ", switched off: taken as unused)",
        expected);
  const Advice said = advice(port);
  const bool mild = spare || port.state == kActiveDefer;
  return bad(mild ? Status::warning : Status::critical, port.id(), observed, expected, said.meaning, said.remedy);
}

// The RDMA port stays ACTIVE as long as one member of its bond has a link.
Finding judge_member(const Port& member) {
  if (*member.carrier) return good(member.id(), "carrier", "carrier");
  return bad(Status::warning, member.id(), "no carrier" + reason_text(member), "carrier",
             "A member of " + member.bond + " has no link: the bond has less than its rate, and less to fall back on.",
             is_switched_off(member) ? "Switch it on: ip link set " + member.netdev + " up."
                                     : "Reseat or replace the cable and the transceiver of " + member.netdev +
                                           ", and see whether the switch port is enabled.");
}

std::string rdma_devices(const Topology& topology) {
  std::string names;
  for (const Nic& nic : topology.nics)
    for (const std::string& device : nic.rdma) names.append(names.empty() ? "" : ", ").append(device);
  return names;
}

// The same port has another name now, or is a bond's.
bool is_renamed(const View& view, const Port& old) {
  return !old.pci.empty() && std::any_of(view.now.ports.begin(), view.now.ports.end(), [&](const Port& port) {
    return port.pci == old.pci && port.number == old.number && !port.virtual_function;
  });
}

bool is_on_the_bus(const View& view, const std::string& pci) {
  const auto& nics = view.now.topology.nics;
  return nics.empty() || std::any_of(nics.begin(), nics.end(), [&](const Nic& nic) { return nic.pci == pci; });
}

// Port id -> device. Of what whoever watches saw go, long ago perhaps, those whose PCI function went as well: a driver
// may be unloaded on purpose, or the device serve a container.
std::map<std::string, std::string> gone_of(const View& view) {
  std::map<std::string, std::string> gone;
  const auto is_there = [&](const std::string& id) {
    return std::any_of(view.now.ports.begin(), view.now.ports.end(), [&](const Port& port) { return port.id() == id; });
  };
  if (view.before != nullptr)
    for (const Port& old : view.before->ports)
      if (is_judged(old) && !is_there(old.id()) && !is_renamed(view, old))
        gone.emplace(old.id(), old.pci.empty() ? old.rdma : old.pci);
  if (view.health != nullptr)
    for (const auto& [id, device] : view.health->devices) {
      const auto pci = place_of_gone(device);
      if (pci && !pci->empty() && id.find('@') == std::string::npos && !is_there(id) && !is_on_the_bus(view, *pci))
        gone.emplace(id, *pci);
    }
  return gone;
}

void ask_vanished(const View& view, Findings& findings) {
  for (const auto& [id, device] : gone_of(view)) {
    findings.push_back(
        bad(Status::critical, id, "gone", "ACTIVE, LinkUp",
            "The device disappeared while it was being watched: its driver was unloaded or it fell off the PCI bus.",
            "Read the kernel's log for " + device + ", then reload the driver."));
    if (view.health == nullptr) continue;
    if (const auto known = view.health->devices.find(id);
        known != view.health->devices.end() && place_of_gone(known->second))
      findings.back().since =
          time_text(view.health->wall - static_cast<int64_t>(std::max(0.0, view.health->now - known->second.since)));
  }
}

}  // namespace

bool is_unused(const View& view, const Port& port) {
  return port.state == kDown && is_left_alone(port) &&
         (is_spare(view, port) || (is_switched_off(port) && is_of_the_board(view, port)));
}

void ask_port_state(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    if (is_judged(port)) findings.push_back(judge(view, port));
    else if (!port.virtual_function && port.carrier) findings.push_back(judge_member(port));
  }
  ask_vanished(view, findings);
  if (!view.now.ports.empty() || !findings.empty()) return;
  if (const std::string devices = rdma_devices(view.now.topology); !devices.empty())
    findings.push_back(
        bad(Status::unknown, "host", "no port of " + devices, "ACTIVE, LinkUp",
            "The kernel shows RDMA devices; their ports could not be read, or the configuration excludes "
            "them.",
            "See /sys/class/infiniband, and exclude in the configuration."));
  else
    findings.push_back(bad(
        Status::unknown, "host", "no RDMA device", "at least one",
        "The kernel shows no RDMA device, so there is nothing to judge.",
        "Load the NIC's RDMA driver (mlx5_ib, bnxt_re, irdma, ...) and see that the NIC is on the PCI bus (lspci)."));
}

}  // namespace fabric
