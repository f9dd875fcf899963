// SPDX-License-Identifier: Apache-2.0
// The other end of the cable: the plan, and what the switch announces of PFC, ETS and its APP table.
#include "judge/cabling.h"

#include <bit>
#include <cmath>

#include "judge/engine.h"
#include "nic/capabilities.h"

namespace fabric {

bool has_cable(const Port& port) {
  return !is_virtual(port) && port.link_layer != LinkLayer::infiniband && !port.netdev.empty() &&
         port.bond != port.netdev;
}

std::vector<const Neighbor*> named_neighbors(const Node& node, const Port& port) {
  std::vector<const Neighbor*> out;
  for (const Neighbor& each : node.neighbors.heard)
    if (each.netdev == port.netdev && !each.chassis_id.empty()) out.push_back(&each);
  return out;
}

const Neighbor* switch_of(const Node& node, const Policy* policy, const Port& port) {
  const auto named = named_neighbors(node, port);
  const auto cables = planned_cables(policy, port);
  const auto rank = [&](const Neighbor* each) {
    const bool planned = std::ranges::any_of(cables, [&](const Cable* cable) { return is_device(*each, cable->peer); });
    return std::tuple(!planned, each->system_name.empty(), each->system(), each->port());
  };
  return named.empty() ? nullptr : *std::ranges::min_element(named, {}, rank);
}

std::vector<const Cable*> planned_cables(const Policy* policy, const Port& port) {
  std::vector<const Cable*> out;
  if (policy == nullptr) return out;
  for (const Cable& cable : policy->cabling.cables) {
    const std::string* renamed = find_in(policy->cabling.ports, cable.port);
    const std::string& name = renamed != nullptr ? *renamed : cable.port;
    const auto is_it = [&](const std::string& other) { return same_port(name, other); };
    if (is_it(port.netdev) || is_it(port.rdma) || name == port.id() || name == port.pci ||
        std::ranges::any_of(port.altnames, is_it))
      out.push_back(&cable);
  }
  return out;
}

// DCBX in the firmware is a part of its LLDP agent.
std::string lldp_agent_off(const Port& port) {
  if (port.qos.fw_lldp.value_or(port.qos.dcbx == Dcbx::firmware) == false) return {};
  std::string text(capabilities_of(port.kernel_driver).lldp_agent_off);
  for (const auto& [word, name] : {std::pair("NETDEV", &port.netdev), std::pair("ADDRESS", &port.pci)})
    for (size_t at = 0; (at = text.find(word)) != std::string::npos;)
      text.replace(at, std::string_view(word).size(), *name);
  return text;
}

std::string peer_text(const Neighbor& neighbor) { return neighbor.system() + " " + neighbor.port(); }
std::string peer_text(const CableEnd& end) { return end.device + " " + end.port; }
std::string peer_name(const Neighbor& neighbor) {
  return neighbor.chassis_id.empty() ? "the other end" : peer_text(neighbor);
}

constexpr Limit kLldpWait{
    "cabling", "lldp_wait", 60, "seconds without LLDP", "two intervals (IEEE 802.1AB 9.2.5.7: msgTxInterval 30 s)",
    1,         3600};

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

void ask_cabling(const View& view, Findings& findings) {
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

constexpr Rule kCabling{
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
    .limits = {&kLldpWait},
    .ask = ask_cabling,
};

namespace {

// "priority 3", "priorities 3, 4" of a set that is not empty.
std::string priorities(uint8_t bits) {
  std::string text;
  for (int prio = 0; prio < kPriorities; ++prio)
    if ((bits >> prio & 1) != 0) append_item(text, std::to_string(prio));
  return (std::has_single_bit(bits) ? "priority " : "priorities ") + text;
}

std::optional<Finding> ask_peer_pfc(const View& view, const Port& port) {
  const Neighbor* peer = first_with(view.now, port, &Neighbor::pfc);
  if (!has_cable(port) || peer == nullptr) return std::nullopt;
  // A driver without DCB netlink does not show its PFC: it is what the policy wants.
  const PortPolicy* policy = view.policy == nullptr ? nullptr : policy_for(*view.policy, port);
  const auto own = port.qos.pfc || policy == nullptr ? port.qos.pfc : policy->want.pfc;
  if (!own) return std::nullopt;
  const PrioSet here = *own, there = peer->pfc->enabled;
  const std::string observed = "PFC " + to_text(here) + (port.qos.pfc ? " here, " : " in the policy, ") +
                               to_text(there) + " at " + peer_name(*peer);
  if (here == there) return good(port.id(), observed, "the same at both ends");
  const auto only_here = static_cast<uint8_t>(here.bits & ~there.bits),
             only_there = static_cast<uint8_t>(there.bits & ~here.bits);
  if (only_here == 0 && !port.qos.pfc) return std::nullopt;  // the port may well have it
  std::string meaning;
  if (only_here != 0)
    meaning += "On " + priorities(only_here) +
               " the switch neither sends nor obeys PFC pause, so RoCE packets are lost in bursts";
  if (only_there != 0)
    meaning += std::string(meaning.empty() ? "On " : "; on ") + priorities(only_there) +
               " the switch pauses and this port ignores it";
  return bad(
      only_here != 0 ? Status::critical : Status::warning, port.id(), observed, "the same at both ends", meaning + ".",
      "Enable PFC on the switch port for " + (here.bits != 0 ? priorities(here.bits) : std::string("no priority")) +
          " only, or change pfc in the policy.");
}

}  // namespace

constexpr Rule kPeerPfc{
    .id = "peer-pfc",
    .group = group::cabling,
    .title = "The switch port has PFC on other priorities",
    .meaning =
        "PFC requires both ends. A priority that is lossless here and not at the switch drops bursts there: RoCE "
        "retransmits, throughput collapses under incast, and every link tests well alone. The switch announces its PFC "
        "in the DCBX PFC TLV. If the driver does not show its PFC, the policy's pfc is compared.",
    .inspect = "fabric-agentctl neighbors; dcb pfc show dev NETDEV; on the switch: show priority-flow-control",
    .fix = "Enable PFC for the RoCE priority (usually 3) at both ends.",
    .ask_port = ask_peer_pfc,
};

namespace {

// Groups of one end. Each end may number classes differently: priorities that share a class, and its bandwidth, count.
struct Groups {
  Eight prio_tc{}, bw{}, tsa{};

  [[nodiscard]] PrioSet group(int prio) const {
    PrioSet out;
    for (int other = 0; other < kPriorities; ++other)
      if (prio_tc[other] == prio_tc[prio]) out.bits = static_cast<uint8_t>(out.bits | 1 << other);
    return out;
  }
  // Classes beyond 7 are "strict" in CEE.
  [[nodiscard]] std::string share(int prio) const {
    const uint8_t tc = prio_tc[prio];
    const auto algorithm = tc < kPriorities ? static_cast<Tsa>(tsa[tc]) : Tsa::strict;
    if (algorithm == Tsa::ets) return std::to_string(bw[tc]) + " %";
    return algorithm == Tsa::strict      ? "strict"
           : algorithm == Tsa::cb_shaper ? "credit-based shaper"
                                         : "vendor's algorithm";
  }
  [[nodiscard]] std::string text(int prio) const { return to_text(group(prio)) + " at " + share(prio); }
};

// Of the lossless priorities, else of all: one line, empty if both ends agree.
std::string differences(const Groups& here, const Groups& there, PrioSet lossless) {
  std::string text;
  uint8_t seen = 0;  // priorities of groups already listed
  for (int prio = 0; prio < kPriorities; ++prio) {
    if ((lossless.bits != 0 && !lossless.has(prio)) || (seen >> prio & 1) != 0) continue;
    if (here.group(prio) == there.group(prio) && here.share(prio) == there.share(prio)) continue;
    seen = static_cast<uint8_t>(seen | here.group(prio).bits);
    append_item(
        text,
        "priority " + std::to_string(prio) + " in group " + here.text(prio) + " here, " + there.text(prio) + " there",
        "; ");
  }
  return text;
}

// The recommendation of the peer has precedence over its configuration (802.1Q D.2.10).
std::optional<Finding> ask_peer_ets(const View& view, const Port& port) {
  const Neighbor* peer = first_with(view.now, port, &Neighbor::ets_recommended);
  if (peer == nullptr) peer = first_with(view.now, port, &Neighbor::ets);
  if (!has_cable(port) || !port.qos.ets || peer == nullptr) return std::nullopt;
  Groups here{port.qos.ets->prio_tc, port.qos.ets->bw, {}};
  for (size_t tc = 0; tc < here.tsa.size(); ++tc) here.tsa[tc] = static_cast<uint8_t>(port.qos.ets->tsa[tc]);
  const DcbxEts& theirs = peer->ets_recommended ? *peer->ets_recommended : *peer->ets;
  const Groups there{theirs.prio_tc, theirs.bw, theirs.tsa};
  const std::string text = differences(here, there, port.qos.pfc.value_or(PrioSet{}));
  const std::string expected = "the same groups and bandwidth at both ends";
  if (text.empty()) return good(port.id(), "same as " + peer_name(*peer), expected);
  return bad(Status::warning, port.id(), text, expected,
             "Both ends divide the link differently: under load RoCE gets a different share in each direction, or "
             "waits behind other traffic.",
             "Change ets in the policy, or the scheduler of " + peer_name(*peer) + ".");
}

}  // namespace

constexpr Rule kPeerEts{
    .id = "peer-ets",
    .group = group::cabling,
    .title = "The switch port has another ETS configuration",
    .meaning =
        "ETS gives each group of priorities a share of the link. Compares the groups of the lossless priorities and "
        "their bandwidth with the recommendation of the switch, else with its configuration (DCBX ETS TLVs). The "
        "numbering of traffic classes may differ.",
    .inspect = "dcb ets show dev NETDEV; the scheduler or QoS profile of the switch",
    .fix = "Set ets in the policy to the scheduler of the switch, or the other way round.",
    .ask_port = ask_peer_ets,
};

namespace {

constexpr uint16_t kRocePort = 4791;  // RoCE v2's UDP port (IBTA annex A17)

// DSCPs that both ends map to different priorities, and lossless DSCPs of the switch without an entry here.
void compare_dscp(const Port& port, const DcbxApp& app, std::string& text) {
  if (!port.qos.dscp_map || app.protocol > 63) return;
  const auto* here = find_in(*port.qos.dscp_map, static_cast<uint8_t>(app.protocol));
  const bool differs = here != nullptr ? *here != app.priority
                                       : port.qos.pfc && port.qos.pfc->has(app.priority) && !port.qos.dscp_map->empty();
  if (differs)
    append_item(text,
                "DSCP " + std::to_string(app.protocol) + ": priority " +
                    (here != nullptr ? std::to_string(*here) : "none") + " here, " + std::to_string(app.priority) +
                    " there",
                "; ");
}

std::optional<Finding> ask_peer_app(const View& view, const Port& port) {
  const Neighbor* peer = first_with(view.now, port, &Neighbor::app);
  const bool lossless = port.qos.pfc && port.qos.pfc->bits != 0;
  if (!has_cable(port) || (!port.qos.dscp_map && !lossless) || peer == nullptr) return std::nullopt;
  std::string text;
  for (const DcbxApp& app : *peer->app) {
    const bool is_roce =
        app.protocol == kRocePort && (app.selector == DcbxApp::udp || app.selector == DcbxApp::tcp_or_udp);
    if (app.selector == DcbxApp::dscp) compare_dscp(port, app, text);
    else if (is_roce && lossless && !port.qos.pfc->has(app.priority))
      append_item(text,
                  "RoCE (UDP 4791): lossless priority " + to_text(*port.qos.pfc) + " here, priority " +
                      std::to_string(app.priority) + " there",
                  "; ");
  }
  const std::string expected = "one priority for each kind of packet at both ends";
  if (text.empty()) return good(port.id(), "same as " + peer_name(*peer), expected);
  return bad(Status::warning, port.id(), text, expected,
             "The two ends map the same packets to different priorities: PFC and ECN protect them at one end only.",
             "Change dscp_map in the policy, or the QoS map of " + peer_name(*peer) + ".");
}

}  // namespace

constexpr Rule kPeerApp{
    .id = "peer-app",
    .group = group::cabling,
    .title = "The switch port maps RoCE to another priority",
    .meaning =
        "The DCBX application table of the switch maps DSCP values and UDP port 4791 (RoCE v2) to priorities. If the "
        "DSCP map of this port differs, packets are lossless at one end only.",
    .inspect = "dcb app show dev NETDEV; fabric-agentctl neighbors --json",
    .fix = "Set dscp_map in the policy to the map of the switch, or the other way round.",
    .ask_port = ask_peer_app,
};

std::span<const Rule> cabling_rules() {
  static constexpr Rule kAll[]{kCabling, kPeerPfc, kPeerEts, kPeerApp};
  return kAll;
}

}  // namespace fabric
