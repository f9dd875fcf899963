// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "checks/cabling/peer.h"
#include "checks/check.h"

namespace fabric {

extern const Threshold kLldpWait("lldp_wait", 60, "seconds without LLDP",
                                 "two intervals (IEEE 802.1AB 9.2.5.7: msgTxInterval 30 s)", 1, 3600);

namespace {

using Cables = std::vector<const Cable*>;
using Heard = std::vector<const Neighbor*>;

bool has_end(const Cables& cables, const Neighbor& neighbor) {
  return std::ranges::any_of(cables, [&](const Cable* each) { return is_end(neighbor, each->peer); });
}

bool has_device(const Cables& cables, const Neighbor& neighbor) {
  return std::ranges::any_of(cables, [&](const Cable* each) { return is_device(neighbor, each->peer); });
}

// The planned port, as far as the names of ports can be compared.
bool leads_to(const Cables& cables, const Neighbor& neighbor) {
  return has_end(cables, neighbor) ||
         std::ranges::any_of(cables, [&](const Cable* each) { return names_ports_otherwise(neighbor, each->peer); });
}

std::string planned_text(const Cables& cables) {
  return joined(cables, " or ", [](const Cable* cable) { return peer_text(cable->peer); }) + " (" +
         cables.front()->where + ")";
}

std::string heard_text(const Heard& heard) {
  return joined(heard, " and ", [](const Neighbor* each) { return peer_text(*each); });
}

bool equal_port_has_neighbor(const Node& node, const Port& port) {
  return std::ranges::any_of(node.ports, [&](const Port& other) {
    return other.netdev != port.netdev && are_twins(port, other) && !named_neighbors(node, other).empty();
  });
}

// The link is up without an LLDP neighbor.
std::optional<Finding> silent(const View& view, const Port& port, const Cables& cables) {
  const auto* seconds = find_in(view.now.neighbors.listening, port.netdev);
  if (seconds == nullptr || *seconds < limit_of(view, kLldpWait)) return std::nullopt;
  const std::string off = lldp_agent_off(port);
  const std::string observed =
      "no LLDP for " + number_text(std::floor(*seconds)) + " s" + (off.empty() ? "" : ": the NIC firmware consumes it");
  const std::string remedy = off.empty() ? "Enable LLDP on the switch port (show lldp neighbors)."
                                         : "Disable the LLDP agent in the NIC firmware: " + off + ".";
  if (!cables.empty())
    return bad(Status::warning, port.id(), observed, planned_text(cables),
               "The link is up and no LLDP arrives: this cable cannot be compared with the plan.", remedy);
  if (equal_port_has_neighbor(view.now, port))
    return bad(Status::warning, port.id(), observed, "a neighbor, like equal ports",
               "Equal ports have an LLDP neighbor: this port is connected to something else, or LLDP is off on its "
               "switch port.",
               remedy);
  // A network without LLDP is no fault.
  return off.empty() ? std::nullopt : std::optional(good(port.id(), observed, "the neighbor, after: " + off));
}

Finding right(const Port& port, const Neighbor& neighbor, const Cables& cables) {
  return good(
      port.id(),
      peer_text(neighbor) + (has_end(cables, neighbor) ? "" : " (the plan names the ports of the switch otherwise)"),
      planned_text(cables));
}

Finding wrong(const View& view, const Port& port, const Heard& heard, const Cables& cables) {
  const Neighbor& neighbor = *switch_of(view.now, view.policy, port);
  const bool right_switch = has_device(cables, neighbor);
  const std::string plan = "or correct the plan (" + cables.front()->where + ").",
                    move = "Move the cable to the planned port, ";
  const Port* owner = find_where(view.now.ports, [&](const Port& other) {  // by the plan
    return has_cable(other) && leads_to(planned_cables(view.policy, other), neighbor);
  });
  const std::string whose = owner != nullptr ? ", which belongs to " + owner->id() : "";
  const Heard theirs = owner != nullptr ? named_neighbors(view.now, *owner) : Heard{};
  if (std::ranges::any_of(theirs, [&](const Neighbor* each) { return leads_to(cables, *each); }))
    return bad(right_switch ? Status::warning : Status::critical, port.id(), peer_text(neighbor) + whose,
               planned_text(cables),
               "The cables of " + port.id() + " (" + port.netdev + ") and " + owner->id() + " (" + owner->netdev +
                   ") are swapped: " +
                   (right_switch ? "each link has the configuration of the other switch port."
                                 : "rails are mixed and traffic takes an extra hop."),
               "Swap the two cables at this end, " + plan);
  if (right_switch)
    return bad(Status::warning, port.id(), peer_text(neighbor) + whose, planned_text(cables),
               "The cable ends at another port of the right switch: the configuration of the planned port does not "
               "apply to this link.",
               move + plan);
  return bad(Status::critical, port.id(), heard_text(heard) + whose, planned_text(cables),
             "The cable ends at another switch than planned: the port is on the wrong rail or in the wrong network.",
             move + plan);
}

// The first few names.
std::string some(const std::set<std::string>& names) {
  constexpr size_t kShown = 4;
  const std::vector<std::string> shown(names.begin(), std::next(names.begin(), std::min(names.size(), kShown)));
  return joined(shown, ", ", [](const std::string& each) { return each; }) + (names.size() > kShown ? ", ..." : "");
}

// The plan calls the ports of this host by other names than the kernel.
std::optional<Finding> unnamed(const View& view) {
  std::set<std::string> ours, planned;
  for (const Port& port : view.now.ports) {
    if (!planned_cables(view.policy, port).empty()) return std::nullopt;
    if (has_cable(port)) ours.insert(port.netdev);
  }
  for (const Cable& cable : view.policy->cabling.cables) planned.insert(cable.port);
  if (ours.empty()) return std::nullopt;
  return bad(Status::warning, "host", "ports in the plan: " + some(planned), "RDMA ports: " + some(ours),
             "The cable plan has cables of this host, but none of an RDMA port: no cable is compared.",
             "Export the cables of the RDMA ports, or give their names in the plan: [cabling] ports = { \"" +
                 *planned.begin() + "\" = \"" + *ours.begin() + "\" }");
}

// About the host as a whole: at most one.
std::optional<Finding> host_finding(const View& view) {
  if (view.policy == nullptr || view.policy->cabling.file.empty()) return std::nullopt;
  const Cabling& plan = view.policy->cabling;
  if (!plan.problem.empty())
    return bad(
        Status::unknown, "host", "-", "the cables of " + plan.host,
        "The cable plan could not be read: " + plan.problem + ".",
        "Correct " + plan.file + ", or set another file in [cabling] file. Verify: fabric-agentctl config check");
  if (plan.cables.empty())
    return bad(
        Status::warning, "host", "not in " + plan.file, "the cables of " + plan.host,
        "The cable plan has no cable between this host and a switch port; cables to patch panels are not followed.",
        "Export the plan again, or set the name of this host in the plan: [cabling] host = \"NAME\"");
  if (!view.now.neighbors.source.empty()) return unnamed(view);
  return bad(Status::unknown, "host", "-", "the neighbor of each port",
             "A cable plan is configured, but no LLDP source: " + view.now.neighbors.why_none + ".",
             "systemctl enable --now fabric-lldp");
}

void ask(const View& view, Findings& findings) {
  if (auto finding = host_finding(view)) findings.push_back(std::move(*finding));
  if (view.now.neighbors.source.empty()) return;
  for (const Port& port : view.now.ports) {
    if (!has_cable(port) || port.carrier == false) continue;  // port-state reports a missing link
    const Heard heard = named_neighbors(view.now, port);
    const Cables cables = planned_cables(view.policy, port);
    const auto as_planned = find_where(heard, [&](const Neighbor* each) { return leads_to(cables, *each); });
    if (heard.empty()) {
      if (auto finding = silent(view, port, cables)) findings.push_back(std::move(*finding));
    } else if (cables.empty()) {
      findings.push_back(good(port.id(), heard_text(heard), "any: not in the cable plan"));
    } else if (as_planned != nullptr) {
      findings.push_back(right(port, **as_planned, cables));
    } else {
      findings.push_back(wrong(view, port, heard, cables));
    }
  }
}

}  // namespace

extern const Check kCablingCheck{
    .id = "cabling",
    .group = group::cabling,
    .title = "A cable ends at the wrong switch port",
    .meaning =
        "Compares the LLDP neighbor of each port with the cable plan of the site ([cabling] in fabric-agent.toml(5), a "
        "NetBox export), or without a plan with the neighbors of equal ports. A swapped pair or a wrong switch mixes "
        "rails: collectives cross the spine, and no counter shows it. Neighbors come from fabric-lldp. NIC firmware "
        "with an LLDP agent of its own consumes the frames.",
    .inspect = "fabric-agentctl neighbors; on the switch: show lldp neighbors",
    .fix =
        "Move the cable to the planned port. If no neighbor is known: systemctl enable --now fabric-lldp, enable LLDP "
        "on the switch, and disable the LLDP agent in the NIC firmware (ice: ethtool --set-priv-flags NETDEV "
        "fw-lldp-agent off; i40e: disable-fw-lldp on; ConnectX: mlxconfig LLDP_NB_RX_MODE_P1=0).",
    .ask = ask,
    .thresholds = {&kLldpWait},
};

}  // namespace fabric
