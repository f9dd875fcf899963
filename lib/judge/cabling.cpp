// SPDX-License-Identifier: Apache-2.0
// The other end of the cable: the plan, and the PFC, ETS and APP table that the switch announces.
#include "judge/cabling.h"

#include <bit>
#include <cmath>

#include "judge/rule.h"
#include "judge/topology.h"
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

namespace {

using Cables = std::vector<const Cable*>;
using NamedNeighbors = std::vector<const Neighbor*>;

bool is_planned_device(const Cables& cables, const Neighbor& neighbor) {
  return std::ranges::any_of(cables, [&](const Cable* each) { return is_device(neighbor, each->peer); });
}

}  // namespace

const Neighbor* switch_of(const Node& node, const Policy* policy, const Port& port) {
  const auto named = named_neighbors(node, port);
  if (named.empty()) return nullptr;
  const auto cables = planned_cables(policy, port);
  return *std::ranges::min_element(named, {}, [&](const Neighbor* each) {
    return std::tuple(!is_planned_device(cables, *each), each->system_name.empty(), each->system(), each->port());
  });
}

// Whether the cable plan may call the port so.
static bool has_name(const Port& port, const std::string& name) {
  return same_port(name, port.netdev) || same_port(name, port.rdma) || name == port.id() || name == port.pci ||
         std::ranges::any_of(port.altnames, [&](const std::string& altname) { return same_port(name, altname); });
}

std::vector<const Cable*> planned_cables(const Policy* policy, const Port& port) {
  std::vector<const Cable*> out;
  if (policy == nullptr) return out;
  for (const Cable& cable : policy->cabling.cables) {
    const std::string* renamed = find_in(policy->cabling.ports, cable.port);
    const std::string& name = renamed != nullptr ? *renamed : cable.port;
    if (has_name(port, name)) out.push_back(&cable);
  }
  return out;
}

std::optional<CableEnd> peer_of(const Node& node, const Policy* policy, const Port& port) {
  if (!has_cable(port)) return std::nullopt;
  const auto cables = planned_cables(policy, port);
  const Neighbor* neighbor = switch_of(node, policy, port);
  if (neighbor == nullptr && cables.empty()) return std::nullopt;
  if (neighbor == nullptr) return cables.front()->peer;
  // The plan's name of the switch wins over that of LLDP, so that it does not change when LLDP falls silent.
  CableEnd end{neighbor->system(), neighbor->port()};
  for (const Cable* cable : cables) {
    if (!is_device(*neighbor, cable->peer)) continue;
    end.device = cable->peer.device;
    break;
  }
  return end;
}

namespace {

// The value of the longest glob that matches the switch or a name of the port; nullptr if none does.
const std::string* longest_match(const std::map<std::string, std::string>& globs, const Port& port,
                                 const std::string& leaf) {
  std::vector<std::string> names{port.id(), port.rdma, port.netdev, port.pci, leaf};
  names.insert(names.end(), port.altnames.begin(), port.altnames.end());
  const std::pair<const std::string, std::string>* longest = nullptr;
  for (const auto& each : globs) {
    if (longest != nullptr && each.first.size() <= longest->first.size()) continue;
    if (std::ranges::any_of(names, [&](const std::string& name) { return glob_match(each.first, name); }))
      longest = &each;
  }
  if (longest == nullptr) return nullptr;
  return &longest->second;
}

}  // namespace

RailPlace rail_place(const Node& node, const Policy* policy, const Port& port,
                     const std::map<std::string, Rail>& rails) {
  RailPlace out;
  if (const auto peer = peer_of(node, policy, port)) out.leaf = peer->device;
  if (const Rail* found = find_in(rails, port.pci); found != nullptr && (!is_virtual(port) || is_own_device(port))) {
    out.rail = std::to_string(found->rail);
    if (found->plane) out.plane = std::to_string(*found->plane);
  }
  if (policy == nullptr) return out;
  if (const std::string* given = longest_match(policy->cabling.rails, port, out.leaf)) out.rail = *given;
  if (const std::string* given = longest_match(policy->cabling.planes, port, out.leaf)) out.plane = *given;
  return out;
}

// DCBX in the firmware is a part of its LLDP agent.
std::string lldp_agent_off(const Port& port) {
  const bool has_agent = port.qos.fw_lldp.value_or(port.qos.dcbx == Dcbx::firmware);
  if (!has_agent) return {};
  std::string text(capabilities_of(port.kernel_driver).lldp_agent_off);
  replace_all(text, "NETDEV", port.netdev);
  replace_all(text, "ADDRESS", port.pci);
  return text;
}

std::string peer_text(const Neighbor& neighbor) { return neighbor.system() + " " + neighbor.port(); }
std::string peer_text(const CableEnd& end) { return end.device + " " + end.port; }
std::string peer_name(const Neighbor& neighbor) {
  if (neighbor.chassis_id.empty()) return "the other end";
  return peer_text(neighbor);
}

constexpr Limit kLldpWait{
    "cabling", "lldp_wait", 60, "seconds without LLDP", "two intervals (IEEE 802.1AB 9.2.5.7: msgTxInterval 30 s)",
    1,         3600};

namespace {

bool is_planned_end(const Cables& cables, const Neighbor& neighbor) {
  return std::ranges::any_of(cables, [&](const Cable* each) { return is_end(neighbor, each->peer); });
}

// is_planned_end(), or the port cannot be compared because its names in the plan and on the switch differ.
bool may_be_planned_end(const Cables& cables, const Neighbor& neighbor) {
  return is_planned_end(cables, neighbor) ||
         std::ranges::any_of(cables, [&](const Cable* each) { return names_ports_otherwise(neighbor, each->peer); });
}

std::string planned_text(const Cables& cables) {
  return joined(cables, " or ", [](const Cable* cable) { return peer_text(cable->peer); }) + " (" +
         cables.front()->where + ")";
}

std::string heard_text(const NamedNeighbors& heard) {
  return joined(heard, " and ", [](const Neighbor* each) { return peer_text(*each); });
}

// The link is up without an LLDP neighbor.
std::optional<Finding> no_lldp_finding(const View& view, const Port& port, const Cables& cables) {
  const auto* seconds = find_in(view.now.neighbors.listening, port.netdev);
  if (seconds == nullptr || *seconds < limit_of(view, kLldpWait)) return std::nullopt;
  const std::string off = lldp_agent_off(port);
  std::string observed = "no LLDP for " + number_text(std::floor(*seconds)) + " s";
  Fix fix = "Enable LLDP on the switch port (show lldp neighbors).";
  if (!off.empty()) {
    observed += ": the NIC firmware consumes it";
    fix = Fix(Work::ends_jobs, "Disable the LLDP agent in the NIC firmware: " + off + ".");
  }
  if (!cables.empty())
    return bad(Status::warning, port.id(), observed, planned_text(cables),
               "The link is up and no LLDP arrives: this cable cannot be compared with the plan.", fix);
  bool equal_port_has_neighbor = false;
  for (const Port& other : view.now.ports)
    if (other.netdev != port.netdev && are_twins(port, other) && !named_neighbors(view.now, other).empty())
      equal_port_has_neighbor = true;
  if (equal_port_has_neighbor)
    return bad(Status::warning, port.id(), observed, "a neighbor, like equal ports",
               "Equal ports have an LLDP neighbor: this port is connected to something else, or LLDP is off on its "
               "switch port.",
               fix);
  if (off.empty()) return std::nullopt;  // a network without LLDP is no fault
  return good(port.id(), observed, "the neighbor, after: " + off);
}

Finding wrong_end_finding(const View& view, const Port& port, const NamedNeighbors& heard, const Cables& cables) {
  const Neighbor& neighbor = *switch_of(view.now, view.policy, port);
  const bool right_switch = is_planned_device(cables, neighbor);
  const std::string plan = "or correct the plan (" + cables.front()->where + ").",
                    move = "Move the cable to the planned port, " + plan;
  const Port* owner = find_where(view.now.ports, [&](const Port& other) {  // of that end, by the plan
    return has_cable(other) && may_be_planned_end(planned_cables(view.policy, other), neighbor);
  });
  std::string belongs_to;
  bool is_swapped = false;
  if (owner != nullptr) {
    belongs_to = ", which belongs to " + owner->id();
    for (const Neighbor* each : named_neighbors(view.now, *owner))
      is_swapped = is_swapped || may_be_planned_end(cables, *each);
  }
  if (is_swapped) {
    Status status = Status::critical;
    std::string effect = "rails are mixed and traffic takes an extra hop.";
    if (right_switch) {
      status = Status::warning;
      effect = "each link has the configuration of the other switch port.";
    }
    return bad(status, port.id(), peer_text(neighbor) + belongs_to, planned_text(cables),
               "The cables of " + port.id() + " (" + port.netdev + ") and " + owner->id() + " (" + owner->netdev +
                   ") are swapped: " + effect,
               {Work::at_link, "Swap the two cables at this end, " + plan});
  }
  if (right_switch)
    return bad(Status::warning, port.id(), peer_text(neighbor) + belongs_to, planned_text(cables),
               "The cable ends at another port of the right switch: the configuration of the planned port does not "
               "apply to this link.",
               {Work::at_link, move});
  return bad(Status::critical, port.id(), heard_text(heard) + belongs_to, planned_text(cables),
             "The cable ends at another switch than planned: the port is on the wrong rail or in the wrong network.",
             {Work::at_link, move});
}

// The first few names: "eth0, eth1, eth2, eth3, ...".
std::string first_names(const std::set<std::string, NaturalLess>& names) {
  constexpr size_t kShown = 4;
  std::string out;
  size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kShown) return out + ", ...";
    append_item(out, name);
  }
  return out;
}

// About the plan as a whole: at most one finding.
std::optional<Finding> plan_finding(const View& view) {
  if (view.policy == nullptr || view.policy->cabling.file.empty()) return std::nullopt;
  const Cabling& plan = view.policy->cabling;
  if (!plan.problem.empty())
    return bad(
        Status::unknown, kHostSubject, "-", "the cables of " + plan.host,
        "The cable plan could not be read: " + plan.problem + ".",
        "Correct " + plan.file + ", or set another file in [cabling] file. Verify: fabric-agentctl config check");
  if (plan.cables.empty())
    return bad(
        Status::warning, kHostSubject, "not in " + plan.file, "the cables of " + plan.host,
        "The cable plan has no cable between this host and a switch port; cables to patch panels are not followed.",
        "Export the plan again, or set the name of this host in the plan: [cabling] host = \"NAME\"");
  if (view.now.neighbors.source.empty())
    return bad(Status::unknown, kHostSubject, "-", "the neighbor of each port",
               "A cable plan is configured, but no LLDP source: " + view.now.neighbors.why_none + ".",
               {Work::service, "systemctl enable --now fabric-lldp"});
  // The plan may call the ports of this host by other names than the kernel.
  std::set<std::string, NaturalLess> netdevs, planned;
  bool any_planned = false;
  for (const Port& port : view.now.ports) {
    any_planned = any_planned || !planned_cables(view.policy, port).empty();
    if (has_cable(port)) netdevs.insert(port.netdev);
  }
  for (const Cable& cable : plan.cables) {
    const std::string* here = find_in(plan.ports, cable.port);
    if (here == nullptr || netdevs.empty() ||
        std::ranges::any_of(view.now.ports, [&](const Port& port) { return has_name(port, *here); }))
      continue;
    return bad(Status::warning, kHostSubject, "[cabling] ports: " + cable.port + " = " + *here,
               "RDMA ports: " + first_names(netdevs),
               "The cable plan's port " + cable.port + " is given the name " + *here +
                   ", which no RDMA port of this machine has: its cable is compared with nothing.",
               "Correct [cabling] ports, if the NIC is present: rdma link show. Verify: fabric-agentctl neighbors");
  }
  if (any_planned) return std::nullopt;
  for (const Cable& cable : plan.cables) planned.insert(cable.port);
  if (netdevs.empty()) return std::nullopt;
  return bad(Status::warning, kHostSubject, "ports in the plan: " + first_names(planned),
             "RDMA ports: " + first_names(netdevs),
             "The cable plan has cables of this host, but none of an RDMA port: no cable is compared.",
             "Export the cables of the RDMA ports, or give their names in the plan: [cabling] ports = { \"" +
                 *planned.begin() + "\" = \"" + *netdevs.begin() + "\" }");
}

// Ports of GPUs, by the name of their switch.
using PortsOfSwitch = std::map<std::string, std::vector<const Port*>>;

// Without a plan: the ports for GPUs that share a switch, while each of the others, six or more, has one of its own.
// With fewer switches the machine may be cabled so by design. Empty: no such ports, or the switch of one is unknown.
std::vector<const Port*> crowded_ports(const View& view) {
  constexpr size_t kLeast = 6;
  if (view.policy != nullptr && !view.policy->cabling.file.empty()) return {};
  PortsOfSwitch all;
  for (const Port& port : view.now.ports) {
    if (!has_cable(port) || !serves_gpu(view, port)) continue;
    const Neighbor* peer = is_down(port) ? nullptr : switch_of(view.now, view.policy, port);
    if (peer == nullptr) return {};
    all[peer->system()].push_back(&port);
  }
  const std::vector<const Port*>* crowded = nullptr;
  for (const auto& [name, ports] : all) {
    if (ports.size() == 1) continue;
    if (ports.size() > 2 || crowded != nullptr) return {};
    crowded = &ports;
  }
  if (crowded == nullptr || all.size() <= kLeast) return {};
  return *crowded;
}

Finding crowded_finding(const Port& port, const std::vector<const Port*>& crowded, std::string observed) {
  const Port& other = *(crowded.front() == &port ? crowded.back() : crowded.front());
  observed += ", like " + other.id();
  return bad(Status::warning, port.id(), std::move(observed), "a switch of its own, like the other ports for GPUs",
             "This port and " + other.id() +
                 " are at one switch, and each other port for a GPU has a switch of its own: one of the two cables "
                 "seems to be on the wrong rail, so that its collectives cross the spine.",
             {"Compare with an equal node, or with the cable list of the site: fabric-agentctl neighbors. ",
              {Work::at_link, "Move the cable that is on the wrong rail. "},
              "If it is cabled so by design: fabric-agentctl ack cabling " + port.id()});
}

// A table of patterns of which none matches a port or a switch of this machine, if it has GPUs: other machines of the
// site may have other ports, and not other names for the same.
std::optional<Finding> table_finding(const View& view) {
  if (view.policy == nullptr || view.now.topology.gpus.empty()) return std::nullopt;
  const Cabling& cabling = view.policy->cabling;
  for (const auto& [key, table] : {std::pair("rails", &cabling.rails), std::pair("planes", &cabling.planes)}) {
    if (table->empty()) continue;
    std::set<std::string, NaturalLess> ports;
    bool may_match = false;
    for (const Port& port : view.now.ports) {
      if (!has_cable(port)) continue;
      const auto peer = peer_of(view.now, view.policy, port);
      ports.insert(port.netdev);
      may_match = may_match || !peer || longest_match(*table, port, peer->device) != nullptr;
    }
    if (may_match || ports.empty()) continue;
    std::set<std::string, NaturalLess> patterns;
    for (const auto& each : *table) patterns.insert(each.first);
    return bad(Status::warning, kHostSubject, std::string("[cabling] ") + key + ": " + first_names(patterns),
               "a pattern of " + first_names(ports) + ", or of their switches",
               std::string("No pattern of [cabling] ") + key +
                   " matches a port of this machine or its switch: the table has no effect here.",
               "Correct the patterns: fabric-agentctl neighbors has the ports and switches");
  }
  return std::nullopt;
}

void ask_cabling(const View& view, Findings& findings) {
  auto whole = plan_finding(view);
  if (!whole) whole = table_finding(view);
  if (whole) findings.push_back(std::move(*whole));
  if (view.now.neighbors.source.empty()) return;
  const std::vector<const Port*> crowded = crowded_ports(view);
  for (const Port& port : view.now.ports) {
    if (!has_cable(port) || is_down(port)) continue;  // port-state reports a missing link
    const NamedNeighbors heard = named_neighbors(view.now, port);
    const Cables cables = planned_cables(view.policy, port);
    if (heard.empty()) {
      if (auto finding = no_lldp_finding(view, port, cables)) findings.push_back(std::move(*finding));
      continue;
    }
    if (contains(crowded, &port)) {
      findings.push_back(crowded_finding(port, crowded, heard_text(heard)));
      continue;
    }
    if (cables.empty()) {
      findings.push_back(good(port.id(), heard_text(heard), "any: not in the cable plan"));
      continue;
    }
    const auto as_planned = find_where(heard, [&](const Neighbor* each) { return may_be_planned_end(cables, *each); });
    if (as_planned == nullptr) {
      findings.push_back(wrong_end_finding(view, port, heard, cables));
      continue;
    }
    std::string observed = peer_text(**as_planned);
    if (!is_planned_end(cables, **as_planned)) observed += " (the plan names the ports of the switch otherwise)";
    findings.push_back(good(port.id(), std::move(observed), planned_text(cables)));
  }
}

constexpr Rule kCabling{
    .id = "cabling",
    .group = group::cabling,
    .title = "A cable ends at the wrong switch port",
    .meaning =
        "Compares the LLDP neighbor of each port with the cable plan of the site ([cabling] in fabric-agent.toml(5), a "
        "NetBox export), or without a plan with the neighbors of equal ports: two ports for GPUs at one switch are "
        "reported, if each of six "
        "or more others has a switch of its own. A swapped pair or a wrong switch mixes "
        "rails: collectives cross the spine, and no counter shows it. Neighbors come from fabric-lldp. NIC firmware "
        "with an LLDP agent of its own consumes the frames.",
    .inspect = "fabric-agentctl neighbors; on the switch: show lldp neighbors",
    .fix =
        {"Move the cable to the planned port. If no neighbor is known: systemctl enable --now fabric-lldp, enable LLDP "
         "on the switch, and disable the LLDP agent in the NIC firmware (ice: ethtool --set-priv-flags NETDEV "
         "fw-lldp-agent off; i40e: disable-fw-lldp on; ConnectX: mlxconfig -d ADDRESS set LLDP_NB_RX_MODE_P1=0 "
         "LLDP_NB_DCBX_P1=0",
         {Work::ends_jobs | Work::when_idle, ", then, when no job runs, mlxfwreset -d ADDRESS reset"},
         ")."},
    .limits = {&kLldpWait},
    .ask = ask_cabling,
};

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
  if (fabric_of(view, port).is_lossy()) {
    const std::string there = "PFC " + to_text(peer->pfc->enabled) + " at " + peer_name(*peer);
    if (peer->pfc->enabled.bits == 0) return good(port.id(), there, "none: the fabric is lossy");
    return bad(Status::warning, port.id(), there, "none: the fabric is lossy",
               "The fabric is lossy by the policy, and the switch port has PFC on " +
                   priorities(peer->pfc->enabled.bits) + ": it can pause this port, and nothing else is protected.",
               "Switch PFC off on the switch port, or correct the kind of the fabric.");
  }
  auto own = port.qos.pfc;
  // If a driver without DCB netlink does not show its PFC, it is assumed to match the policy.
  if (!own)
    if (const PortPolicy* policy = policy_of(view, port); policy != nullptr) own = policy->want.pfc;
  if (!own) return std::nullopt;
  const PrioSet here = *own, there = peer->pfc->enabled;
  const std::string observed = "PFC " + to_text(here) + (port.qos.pfc ? " here, " : " in the policy, ") +
                               to_text(there) + " at " + peer_name(*peer);
  if (here == there) return good(port.id(), observed, "the same at both ends");
  const auto only_here = static_cast<uint8_t>(here.bits & ~there.bits),
             only_there = static_cast<uint8_t>(there.bits & ~here.bits);
  if (only_here == 0 && !port.qos.pfc) return std::nullopt;  // the port may have PFC on these priorities
  std::string meaning;
  if (only_here != 0)
    meaning = "On " + priorities(only_here) +
              " the switch neither sends nor obeys PFC pause, so RoCE packets are lost in bursts";
  if (only_there != 0) {
    meaning += only_here == 0 ? "On " : "; on ";
    meaning += priorities(only_there) + " the switch pauses and this port ignores it";
  }
  const std::string wanted = here.bits == 0 ? "no priority" : priorities(here.bits);
  return bad(only_here != 0 ? Status::critical : Status::warning, port.id(), observed, "the same at both ends",
             meaning + ".", "Enable PFC on the switch port for " + wanted + " only, or change pfc in the policy.");
}

constexpr SettingId kOfPeerPfc[]{SettingId::pfc};

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
    .settings = kOfPeerPfc,
    .ask_port = ask_peer_pfc,
};

// The traffic classes of one end. Each end may number them differently, so the priorities that share a class and its
// bandwidth are compared.
struct TrafficClasses {
  Eight prio_tc{}, bw{}, tsa{};

  [[nodiscard]] PrioSet group(int prio) const {
    PrioSet out;
    for (int other = 0; other < kPriorities; ++other)
      if (prio_tc[other] == prio_tc[prio]) out.add(other);
    return out;
  }
  // Classes beyond 7 are "strict" in CEE.
  [[nodiscard]] std::string share(int prio) const {
    const uint8_t tc = prio_tc[prio];
    if (tc >= kPriorities) return "strict";
    const auto algorithm = static_cast<Tsa>(tsa[tc]);
    if (algorithm == Tsa::ets) return std::to_string(bw[tc]) + " %";
    if (algorithm == Tsa::strict) return "strict";
    if (algorithm == Tsa::cb_shaper) return "credit-based shaper";
    return "vendor's algorithm";
  }
  [[nodiscard]] std::string text(int prio) const { return to_text(group(prio)) + " at " + share(prio); }
};

// The recommendation of the peer has precedence over its configuration (802.1Q D.2.10).
std::optional<Finding> ask_peer_ets(const View& view, const Port& port) {
  const Neighbor* peer = first_with(view.now, port, &Neighbor::ets_recommended);
  if (peer == nullptr) peer = first_with(view.now, port, &Neighbor::ets);
  if (!has_cable(port) || !port.qos.ets || peer == nullptr) return std::nullopt;
  TrafficClasses here{port.qos.ets->prio_tc, port.qos.ets->bw, {}};
  for (size_t tc = 0; tc < here.tsa.size(); ++tc) here.tsa[tc] = static_cast<uint8_t>(port.qos.ets->tsa[tc]);
  const DcbxEts& theirs = peer->ets_recommended ? *peer->ets_recommended : *peer->ets;
  const TrafficClasses there{theirs.prio_tc, theirs.bw, theirs.tsa};
  // The differences of the lossless priorities, or of all priorities if none is lossless.
  const PrioSet lossless = port.qos.pfc.value_or(PrioSet{});
  std::string text;
  uint8_t listed = 0;  // priorities of groups in `text`
  for (int prio = 0; prio < kPriorities; ++prio) {
    if (lossless.bits != 0 && !lossless.has(prio)) continue;
    if ((listed >> prio & 1) != 0) continue;
    if (here.group(prio) == there.group(prio) && here.share(prio) == there.share(prio)) continue;
    listed = static_cast<uint8_t>(listed | here.group(prio).bits);
    append_item(
        text,
        "priority " + std::to_string(prio) + " in group " + here.text(prio) + " here, " + there.text(prio) + " there",
        "; ");
  }
  const std::string expected = "the same groups and bandwidth at both ends";
  if (text.empty()) return good(port.id(), "same as " + peer_name(*peer), expected);
  return bad(Status::warning, port.id(), text, expected,
             "Both ends divide the link differently: under load RoCE gets a different share in each direction, or "
             "waits behind other traffic.",
             "Change ets in the policy, or the scheduler of " + peer_name(*peer) + ".");
}

constexpr SettingId kOfPeerEts[]{SettingId::ets, SettingId::pfc};

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
    .settings = kOfPeerEts,
    .ask_port = ask_peer_ets,
};

constexpr uint16_t kRocePort = 4791;  // RoCE v2's UDP port (IBTA annex A17)

std::optional<Finding> ask_peer_app(const View& view, const Port& port) {
  const Neighbor* peer = first_with(view.now, port, &Neighbor::app);
  const bool lossless = port.qos.pfc && port.qos.pfc->bits != 0;
  if (!has_cable(port) || (!port.qos.dscp_map && !lossless) || peer == nullptr) return std::nullopt;
  std::string text;
  for (const DcbxApp& app : *peer->app) {
    const std::string there = std::to_string(app.priority) + " there";
    if (app.selector == DcbxApp::dscp) {
      if (!port.qos.dscp_map || app.protocol > 63) continue;
      const auto* priority = find_in(*port.qos.dscp_map, static_cast<uint8_t>(app.protocol));
      const std::string dscp = "DSCP " + std::to_string(app.protocol) + ": priority ";
      if (priority != nullptr && *priority != app.priority)
        append_item(text, dscp + std::to_string(*priority) + " here, " + there, "; ");
      // A lossless DSCP of the switch without an entry here.
      if (priority == nullptr && lossless && port.qos.pfc->has(app.priority) && !port.qos.dscp_map->empty())
        append_item(text, dscp + "none here, " + there, "; ");
      continue;
    }
    const bool is_roce =
        app.protocol == kRocePort && (app.selector == DcbxApp::udp || app.selector == DcbxApp::tcp_or_udp);
    if (is_roce && lossless && !port.qos.pfc->has(app.priority))
      append_item(text, "RoCE (UDP 4791): lossless priority " + to_text(*port.qos.pfc) + " here, priority " + there,
                  "; ");
  }
  const std::string expected = "one priority for each kind of packet at both ends";
  if (text.empty()) return good(port.id(), "same as " + peer_name(*peer), expected);
  return bad(Status::warning, port.id(), text, expected,
             "The two ends map the same packets to different priorities: PFC and ECN protect them at one end only.",
             "Change dscp_map in the policy, or the QoS map of " + peer_name(*peer) + ".");
}

}  // namespace

constexpr SettingId kOfPeerApp[]{SettingId::dscp_map, SettingId::trust, SettingId::pfc};

constexpr Rule kPeerApp{
    .id = "peer-app",
    .group = group::cabling,
    .title = "The switch port maps RoCE to another priority",
    .meaning =
        "The DCBX application table of the switch maps DSCP values and UDP port 4791 (RoCE v2) to priorities. If the "
        "DSCP map of this port differs, packets are lossless at one end only.",
    .inspect = "dcb app show dev NETDEV; fabric-agentctl neighbors --json",
    .fix = "Set dscp_map in the policy to the map of the switch, or the other way round.",
    .settings = kOfPeerApp,
    .ask_port = ask_peer_app,
};

constexpr Rule kTable[]{kCabling, kPeerPfc, kPeerEts, kPeerApp};
const std::span<const Rule> kCablingRules = kTable;

}  // namespace fabric
