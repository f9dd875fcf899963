// SPDX-License-Identifier: Apache-2.0
// The MTU of a port: from RoCE to the switch.
#include "judge/mtu.h"

#include "judge/finding.h"
#include "judge/network.h"
#include "judge/port_context.h"
#include "judge/port_state.h"
#include "judge/rails.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"

namespace fabric {

namespace {

// Bytes of a frame beside its payload: the Ethernet header. The Maximum Frame Size of LLDP (802.3bc clause 79.3.4)
// counts it and the FCS, but Junos announces 1514 if its port accepts 1500, and Cumulus Linux and NX-OS announce the
// MTU itself.
constexpr uint32_t kFrameHeader = 14;

// The largest frame that the switch announces by LLDP; of a bond the smallest of its members' switch ports.
std::optional<uint32_t> switch_frame(const Node& node, const Port& port) {
  std::optional<uint32_t> least;
  for (const Port& each : node.ports) {  // the port, or a member
    if (each.rdma != port.rdma || each.number != port.number) continue;
    const Interface* interface = find_in(node.network.interfaces, each.netdev);
    if (interface != nullptr && interface->peer_max_frame)
      least = std::min(least.value_or(UINT32_MAX), *interface->peer_max_frame);
  }
  return least;
}

// The virtual function or subfunction of the port, seen here, that has the largest MTU above that of the port. Null:
// none has.
const Port* function_above_mtu(const Node& node, const Port& port) {
  const Port* out = nullptr;
  if (!is_judged(port) || port.netdev.empty() || !port.qos.mtu || !is_roce(port)) return out;
  for (const Port* function : functions_of(node, port))
    if (is_endpoint(*function) && !function->netdev.empty() && function->qos.mtu > port.qos.mtu &&
        (out == nullptr || function->qos.mtu > out->qos.mtu))
      out = function;
  return out;
}

std::optional<Finding> ask_roce_mtu(const View& view, const Port& port) {
  if (!is_judged_for_addresses(view.now, port)) return std::nullopt;
  if (!is_roce(port) || port.netdev.empty() || !sends_by_its_netdev(view.now, port)) return std::nullopt;
  if (!may_be_active(port)) return std::nullopt;
  const std::string expected = "netdev 4192 or more, RoCE 4096";
  if (!port.qos.mtu && !port.active_mtu)
    return bad(Status::unknown, port.id(), "-", expected,
               "The MTU of the port could not be read: " + why_unread(port, PortPart::mtu) + ".",
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
  if (capabilities_of(port.kernel_driver).is_software && view.now.topology.is_guest())
    return good(port.id(), observed + " (software RDMA over a network of the hypervisor)", expected);
  if (function_above_mtu(view.now, port) != nullptr) return good(port.id(), observed + " (see mtu-chain)", expected);
  // The check of the setting has the fix.
  const Changes* planned = planned_changes(view, port.id());
  if (planned != nullptr && std::ranges::any_of(*planned, [](const Change& change) {
        return change.setting == SettingId::mtu && change.sysctl.empty() && !is_done(change.outcome);
      }))
    return good(port.id(), observed + " (see mtu)", expected);
  std::string first = "Set mtu = 9000 in the policy (4192 at least, on the whole path, the switch included). ",
              then = "Until then, when";
  const Port* physical = is_virtual(port) ? physical_of(view.now, port) : nullptr;
  if (physical != nullptr && physical->qos.mtu && roce_mtu(*physical->qos.mtu) >= kLargestPathMtu) {
    first = "Its physical function has MTU " + to_text(*physical->qos.mtu) + ", which allows it. ";
    then = "When";
  } else if (is_virtual(port)) {
    const std::string place = place_of_physical(view, port);
    first =
        (place.empty() ? "Raise" : place + ": raise") + " the MTU of its physical function first, which limits it. ";
    then = "Then, when";
  }
  if (is_container(view.now))
    first +=
        "Set it where the network of the pod is defined, for the pods to come (mtu of the SriovNetworkNodePolicy, or "
        "of "
        "the plugin macvlan or tuning in the NetworkAttachmentDefinition). ";
  Fix remedy{first,
             {Work::ends_jobs | Work::when_idle, then + " no job runs:\nip link set dev " + port.netdev + " mtu 9000"}};
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
        "reported, nor is the MTU of a port for storage or management beside NICs that serve the GPUs, nor that of a "
        "netdev of another card by which the device may not send.",
    .inspect = "ip link show dev NETDEV; ibv_devinfo -d RDMADEV",
    .fix = "Set mtu = 9000 in the policy and configure the same MTU on the switch.",
    .settings = kOfRoceMtu,
    .ask_port = ask_roce_mtu,
};

namespace {

constexpr uint32_t kFullRoce = kLargestPathMtu + kRoceHeaders, k9000 = 9000;

// The MTU of more than half of the equal rails, if it differs from that of this port. `roce-mtu` reports an MTU that
// is too small for RoCE 4096; the setting mtu reports an MTU that differs from the policy.
std::optional<uint32_t> mtu_of_others(const View& view, const std::vector<const Port*>& all, const Port& port) {
  const PortPolicy* entry = policy_of(view, port);
  if (*port.qos.mtu < kFullRoce || (entry != nullptr && entry->want.mtu)) return std::nullopt;
  std::map<uint32_t, size_t> counts;
  for (const Port* each : all)
    if (each->qos.mtu && are_twins(port, *each)) ++counts[*each->qos.mtu];
  const auto usual = majority(counts);
  if (usual == port.qos.mtu || !counts.contains(*port.qos.mtu)) return std::nullopt;
  return usual;
}

// A line of its own, to be pasted.
std::string mtu_command(const Port& port, uint32_t mtu) {
  return "ip link set dev " + port.netdev + " mtu " + to_text(mtu);
}

Finding mtu_chain_finding(const View& view, const std::vector<const Port*>& all, const Port& port) {
  const uint32_t mtu = *port.qos.mtu;
  const std::string netdev = "netdev " + to_text(mtu);
  if (port.active_mtu && mtu < *port.active_mtu + kRoceHeaders)
    return bad(Status::critical, port.id(), netdev + ", RoCE " + to_text(*port.active_mtu),
               "netdev " + to_text(*port.active_mtu + kRoceHeaders) + " or more",
               "The RDMA device sends packets larger than the MTU of its netdev (payload plus 96 bytes of headers). "
               "They are dropped: connections hang after the first small messages.",
               {Work::ends_jobs | Work::when_idle,
                "Drain the node first: queue pairs that exist keep their MTU. Then:\n" + mtu_command(port, k9000)});
  const auto frame = switch_frame(view.now, port);
  if (frame && *frame < mtu)
    return bad(Status::critical, port.id(), netdev + ", switch port accepts frames of " + to_text(*frame),
               "frames of " + to_text(mtu + kFrameHeader) + " on the switch",
               "The switch port drops large packets of this port: the maximum frame size that it announces by LLDP is "
               "smaller than the MTU.",
               "Raise the MTU of the switch port (9216 is common), or lower that of " + port.netdev + " on all hosts.");
  if (const auto others = mtu_of_others(view, all, port))
    return bad(
        Status::warning, port.id(), netdev, "netdev " + to_text(*others) + ", like equal ports",
        "The MTU of this rail differs from the other rails: packets that pass one rail are dropped on the other.",
        {Work::ends_jobs, "Change the network configuration, then:\n" + mtu_command(port, *others)});
  std::string observed = netdev;
  if (port.active_mtu) observed += ", RoCE " + to_text(*port.active_mtu);
  return good(port.id(), std::move(observed), "fits from RoCE to the switch");
}

// The MTU of a physical function is that of its port: larger packets of its functions do not leave it, and a function
// does not follow when the physical function changes.
Finding function_mtu_finding(const View& view, const Port& port, const Port& function) {
  const uint32_t mtu = *port.qos.mtu, of_function = *function.qos.mtu;
  const std::string kind = is_subfunction(function) ? "subfunction" : "virtual function",
                    name = function.id() + " on " + function.netdev;
  Finding out = bad(
      serves_jobs(view.now, function) ? Status::critical : Status::warning, port.id(),
      "netdev " + to_text(mtu) + "; its " + kind + " " + name + " has " + to_text(of_function),
      "netdev " + to_text(of_function) + " or more",
      "The MTU of the physical function (PF) is smaller than that of its " + kind + " " + name + ": packets of the " +
          kind + " that are larger do not leave the port. Small messages pass and large ones hang.",
      {"Set mtu in the policy for " + port.netdev + ", and the same on the switch port. Until then",
       {Work::ends_jobs | Work::when_idle, ", when no job runs:\n" + mtu_command(port, std::max(of_function, k9000))}});
  out.about = name;
  return out;
}

// The netdev with the addresses of the port, if it is not the port's own: that of a container on a NIC whose netdev is
// elsewhere (macvlan, IPVLAN), or a VLAN on top of the own one, which has no address. The one with the largest MTU, if
// there are several: a job may use any, and their order is that of their addresses. Null: none, its MTU is unknown, or
// it has the default route: the network of the pod is not a rail.
const std::pair<const std::string, Interface>* upper_netdev(const Node& node, const Port& port) {
  if (!is_roce(port) || !is_active(port)) return nullptr;
  const auto is_used = [&](const Gid& gid) {
    return is_routable_v2(gid) && !gid.netdev.empty() && is_here(node, port, gid);
  };
  for (const Gid& gid : port.gids)
    if (is_used(gid) && gid.netdev == port.netdev) return nullptr;
  const std::pair<const std::string, Interface>* out = nullptr;
  for (const Gid& gid : port.gids) {
    if (!is_used(gid)) continue;
    const auto found = node.network.interfaces.find(gid.netdev);
    if (found == node.network.interfaces.end() || !found->second.mtu || is_front_end(found->second)) continue;
    if (out == nullptr || *found->second.mtu > *out->second.mtu) out = &*found;
  }
  return out;
}

// Queue pairs have the MTU of the NIC; rdma_cm, TCP and the bootstrap of a job use the MTU of this netdev
// (cma_resolve_iboe_route() in drivers/infiniband/core/cma.c of Linux 6.12).
void add_upper_netdevs(const View& view, Findings& findings) {
  std::map<const Port*, const std::pair<const std::string, Interface>*> upper;
  for (const Port& port : view.now.ports)
    if (const auto* netdev = upper_netdev(view.now, port)) upper[&port] = netdev;
  for (const auto& [port, netdev] : upper) {
    // VLANs of other ports are for storage, a tenant or management: each has an MTU of its own.
    if (!port->netdev.empty() && has_other_purpose(view, *port)) continue;
    std::map<uint32_t, size_t> counts;
    for (const auto& [other, its] : upper)
      if (are_twins(*port, *other) && serves_gpu(view, *port) == serves_gpu(view, *other)) ++counts[*its->second.mtu];
    const auto usual = majority(counts);
    const uint32_t mtu = *netdev->second.mtu;
    if (!usual || *usual <= mtu) continue;
    if (port->qos.mtu && !port->netdev.empty() && *port->qos.mtu < *usual) continue;  // reported at the own netdev
    const bool is_given = port->netdev.empty();
    const std::string whose = is_given
                                  ? "The netdev of this container on the NIC has a smaller MTU than those on equal NICs"
                                  : "The netdev " + netdev->first +
                                        ", which has the addresses of this port, has a "
                                        "smaller MTU than those of equal ports";
    Fix fix{
        "Set mtu in the network of the container (NetworkAttachmentDefinition, or the pool of the CNI plugin) as in "
        "the others. ",
        {Work::ends_jobs, "It takes effect in new containers."}};
    if (!is_given)
      fix = {"Set the MTU of " + netdev->first + " in the network configuration as on the others. Until then",
             {Work::when_idle, ", when no job runs:\nip link set " + netdev->first + " mtu " + to_text(*usual)}};
    findings.push_back(bad(Status::warning, port->id(), netdev->first + " " + to_text(mtu),
                           to_text(*usual) + ", like those of equal ports",
                           whose + ": connections by rdma_cm get a smaller path MTU, and TCP over this rail is slower. "
                                   "Queue pairs without rdma_cm have the MTU of the NIC.",
                           std::move(fix)));
  }
}

void ask_mtu_chain(const View& view, Findings& findings) {
  const auto all = rails(view);
  const size_t first = findings.size();
  add_upper_netdevs(view, findings);
  const size_t upper = findings.size() - first;
  for (const Port& port : view.now.ports) {
    const auto reported = std::span(findings).subspan(first, upper);
    std::optional<Finding> own;
    if (const Port* function = function_above_mtu(view.now, port)) own = function_mtu_finding(view, port, *function);
    else if (is_judged_for_addresses(view.now, port) && is_active(port) && is_roce(port) && !port.netdev.empty() &&
             port.qos.mtu && sends_by_its_netdev(view.now, port))
      own = mtu_chain_finding(view, *all, port);
    const auto of_upper = std::ranges::find(reported, port.id(), &Finding::subject);
    if (!own) continue;
    if (of_upper == reported.end()) findings.push_back(std::move(*own));
    else if (own->status != Status::ok) *of_upper = std::move(*own);  // a subject has one finding
  }
}

}  // namespace

constexpr SettingId kOfMtuChain[]{SettingId::mtu};

constexpr Rule kMtuChain{
    .id = "mtu-chain",
    .group = group::network,
    .title = "The MTU of the netdev or the switch is too small for RoCE",
    .meaning =
        "The RoCE path MTU plus 96 bytes of headers must fit the MTU of the netdev. The MTU must fit the largest frame "
        "of the switch port, which it announces by LLDP; some switches count the Ethernet header and the FCS, others "
        "do not. The MTU of a physical function must be at least that of its virtual functions and subfunctions. "
        "Larger "
        "packets are dropped silently: small messages pass and large ones hang. Equal ports should have equal MTUs, "
        "and so should the netdevs above them that have their addresses (VLAN, macvlan).",
    .inspect = "ip -d link show dev NETDEV; ibv_devinfo -d RDMADEV; the MTU of the switch port",
    .fix = "While no job runs: ip link set NETDEV mtu 9000 on all hosts, and MTU 9216 on the switch port.",
    .settings = kOfMtuChain,
    .ask = ask_mtu_chain,
};

// If frames are too long, small messages pass; the first packet of a large one is lost each time.
std::string frames_too_long(const PortContext& ctx) {
  constexpr uint32_t kHeaders = kRoceHeaders + kFrameHeader;
  const auto most = switch_frame(ctx.view.now, ctx.port);
  if (!most || !ctx.port.active_mtu || *most >= *ctx.port.active_mtu + kHeaders) return {};
  return ctx.peer_label() + " accepts frames up to " + std::to_string(*most) + " bytes; RoCE frames have up to " +
         std::to_string(*ctx.port.active_mtu + kHeaders);
}

constexpr Rule kTable[]{kRoceMtu, kMtuChain};
const std::span<const Rule> kMtuRules = kTable;

}  // namespace fabric
