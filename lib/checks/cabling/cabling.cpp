// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/parse.h"
#include "checks/cabling/peer.h"
#include "checks/check.h"
#include "model/finding.h"
#include "model/view.h"

namespace fabric {

extern const Threshold kLldpWait{
    "lldp_wait", 60, "seconds without LLDP", "two intervals (IEEE 802.1AB 9.2.5.7: msgTxInterval 30 s)", 1, 3600};

namespace {

using Cables = std::vector<const Cable*>;
using Heard = std::vector<const Neighbor*>;

const Cable* cable_to(const Cables& cables, const Neighbor& neighbor) {
  const auto found = std::ranges::find_if(cables, [&](const Cable* each) { return is_end(neighbor, each->peer); });
  return found != cables.end() ? *found : nullptr;
}

std::string planned_text(const Cables& cables) {
  std::string text;
  for (const Cable* cable : cables) append_item(text, peer_text(cable->peer), " or ");
  return text + " (" + cables.front()->where + ")";
}

std::string heard_text(const Heard& heard) {
  return joined(heard, " and ", [](const Neighbor* each) { return peer_text(*each); });
}

class PortCabling {
 public:
  explicit PortCabling(const View& view) : view_(view), node_(view.now) {}

  std::optional<Finding> finding(const Port& port) const {
    if (!has_cable(port) || port.carrier == false) return std::nullopt;  // port-state reports a missing link
    const Heard heard = named_neighbors(node_, port);
    const Cables cables = planned_cables(view_.policy, port);
    if (heard.empty()) return silent(port, cables);
    if (cables.empty()) return good(port.id(), heard_text(heard), "any: not in the cable plan");
    for (const Neighbor* each : heard)
      if (cable_to(cables, *each) != nullptr) return good(port.id(), peer_text(*each), planned_text(cables));
    return wrong(port, *heard.front(), cables);
  }

 private:
  // The link is up without an LLDP neighbor.
  std::optional<Finding> silent(const Port& port, const Cables& cables) const {
    const auto listening = node_.neighbors.listening.find(port.netdev);
    if (listening == node_.neighbors.listening.end() || listening->second < limit_of(view_, kLldpWait))
      return std::nullopt;
    const std::string off = lldp_agent_off(port), observed = "no LLDP for " +
                                                             number_text(std::floor(listening->second)) + " s" +
                                                             (off.empty() ? "" : ": the NIC firmware consumes it");
    const std::string remedy = off.empty() ? "Enable LLDP on the switch port (show lldp neighbors)."
                                           : "Disable the LLDP agent in the NIC firmware: " + off + ".";
    if (!cables.empty())
      return bad(Status::warning, port.id(), observed, planned_text(cables),
                 "The link is up and no LLDP arrives: this cable cannot be compared with the plan.", remedy);
    if (equal_port_has_neighbor(port))
      return bad(Status::warning, port.id(), observed, "a neighbor, like equal ports",
                 "Equal ports have an LLDP neighbor: this port is connected to something else, or LLDP is off on its "
                 "switch port.",
                 remedy);
    // A network without LLDP is no fault.
    return off.empty() ? std::nullopt : std::optional(good(port.id(), observed, "the neighbor, after: " + off));
  }

  bool equal_port_has_neighbor(const Port& port) const {
    return std::ranges::any_of(node_.ports, [&](const Port& other) {
      return other.netdev != port.netdev && are_twins(port, other) && !named_neighbors(node_, other).empty();
    });
  }

  // The port that should be connected to this neighbor by the plan.
  const Port* owner_of(const Neighbor& neighbor) const {
    for (const Port& other : node_.ports)
      if (has_cable(other) && cable_to(planned_cables(view_.policy, other), neighbor) != nullptr) return &other;
    return nullptr;
  }

  Finding wrong(const Port& port, const Neighbor& neighbor, const Cables& cables) const {
    const std::string where = cables.front()->where;
    const Port* owner = owner_of(neighbor);
    if (owner != nullptr) {
      const Heard theirs = named_neighbors(node_, *owner);
      if (std::ranges::any_of(theirs, [&](const Neighbor* each) { return cable_to(cables, *each) != nullptr; }))
        return bad(Status::critical, port.id(), peer_text(neighbor) + ", which belongs to " + owner->id(),
                   planned_text(cables),
                   "The cables of " + port.id() + " (" + port.netdev + ") and " + owner->id() + " (" + owner->netdev +
                       ") are swapped: rails are mixed and traffic takes an extra hop.",
                   "Swap the two cables at this end, or correct the plan (" + where + ").");
    }
    const std::string whose = owner != nullptr ? ", which belongs to " + owner->id() : "";
    const bool same_switch =
        std::ranges::any_of(cables, [&](const Cable* each) { return is_device(neighbor, each->peer); });
    if (same_switch)
      return bad(Status::warning, port.id(), peer_text(neighbor) + whose, planned_text(cables),
                 "The cable ends at another port of the right switch: the configuration of the planned port does not "
                 "apply to this link.",
                 "Move the cable to the planned port, or correct the plan (" + where + ").");
    return bad(Status::critical, port.id(), heard_text(named_neighbors(node_, port)) + whose, planned_text(cables),
               "The cable ends at another switch than planned: the port is on the wrong rail or in the wrong network.",
               "Move the cable to the planned port, or correct the plan (" + where + ").");
  }

  const View& view_;
  const Node& node_;
};

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
    return bad(Status::warning, "host", "not in " + plan.file, "the cables of " + plan.host,
               "The cable plan has no cable of this host.",
               "Export the plan again, or set the name of this host in the plan: [cabling] host = \"NAME\"");
  if (!view.now.neighbors.source.empty()) return std::nullopt;
  return bad(Status::unknown, "host", "-", "the neighbor of each port",
             "A cable plan is configured, but no LLDP source: " + view.now.neighbors.why_none + ".",
             "systemctl enable --now fabric-lldp");
}

void ask(const View& view, Findings& findings) {
  if (auto finding = host_finding(view)) findings.push_back(std::move(*finding));
  if (view.now.neighbors.source.empty()) return;
  const PortCabling cabling(view);
  for (const Port& port : view.now.ports)
    if (auto finding = cabling.finding(port)) findings.push_back(std::move(*finding));
}

}  // namespace

extern const Check kCablingCheck{
    .id = "cabling",
    .group = group::cabling,
    .title = "A cable ends at the wrong switch port",
    .meaning =
        "Compares the LLDP neighbor of each port with the cable plan of the site ([cabling] in fabric-agent.toml(5), a "
        "NetBox export), or without a plan with the neighbors of equal ports. A swapped pair or a wrong switch mixes "
        "rails: collectives cross the spine, and no counter shows it. Neighbors come from fabric-lldp. "
        "NIC firmware with an LLDP agent of its own consumes the frames.",
    .inspect = "fabric-agentctl neighbors; on the switch: show lldp neighbors",
    .fix =
        "Move the cable to the planned port. If no neighbor is known: systemctl enable --now fabric-lldp, enable LLDP "
        "on the switch, and disable the LLDP agent in the NIC firmware (ice: ethtool --set-priv-flags NETDEV "
        "fw-lldp-agent off; i40e: disable-fw-lldp on; ConnectX: mlxconfig LLDP_NB_RX_MODE_P1=0).",
    .ask = ask,
    .thresholds = {&kLldpWait},
};

}  // namespace fabric
