// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/network/network.h"

namespace fabric {
namespace {

constexpr uint32_t kRoceHeaders = 96;  // iboe_get_mtu(), include/rdma/ib_addr.h of Linux 6.12
constexpr uint32_t kFullRoce = 4096 + kRoceHeaders;

// The MTU of more than half of the equal rails, if it differs from that of this port. `roce-mtu` reports an MTU below
// the one for RoCE 4096, and the setting mtu one that the policy wants.
std::optional<uint32_t> others_mtu(const View& view, const std::vector<const Port*>& all, const Port& port) {
  const PortPolicy* entry = view.policy == nullptr ? nullptr : policy_for(*view.policy, port);
  if (*port.qos.mtu < kFullRoce || (entry != nullptr && entry->want.mtu)) return std::nullopt;
  std::map<uint32_t, size_t> counts;
  for (const Port* each : all)
    if (each->qos.mtu && are_twins(port, *each)) ++counts[*each->qos.mtu];
  const auto usual = majority(counts);
  return usual != port.qos.mtu && counts.contains(*port.qos.mtu) ? usual : std::nullopt;
}

Finding finding_for(const View& view, const std::vector<const Port*>& all, const Port& port) {
  const uint32_t mtu = *port.qos.mtu;
  const std::string netdev = "netdev " + to_text(mtu);
  if (port.active_mtu && mtu < *port.active_mtu + kRoceHeaders)
    return bad(Status::critical, port.id(), netdev + ", RoCE " + to_text(*port.active_mtu),
               "netdev " + to_text(*port.active_mtu + kRoceHeaders) + " or more",
               "The RDMA device sends packets larger than the MTU of its netdev (payload plus 96 bytes of headers). "
               "They are dropped: connections hang after the first small messages.",
               "ip link set " + port.netdev + " mtu 9000, then restart the job: existing queue pairs keep their MTU.");
  const auto frame = switch_frame(view.now, port);
  if (frame && *frame < mtu)
    return bad(Status::critical, port.id(), netdev + ", switch port accepts frames of " + to_text(*frame),
               "frames of " + to_text(mtu + kFrameHeader) + " on the switch",
               "The switch port drops large packets of this port: the maximum frame size that it announces by LLDP is "
               "smaller than the MTU.",
               "Raise the MTU of the switch port (9216 is common), or lower that of " + port.netdev + " on all hosts.");
  if (const auto others = others_mtu(view, all, port))
    return bad(
        Status::warning, port.id(), netdev, "netdev " + to_text(*others) + ", like equal ports",
        "The MTU of this rail differs from the other rails: packets that pass one rail are dropped on the other.",
        "ip link set " + port.netdev + " mtu " + to_text(*others) + ", and change the network configuration.");
  return good(port.id(), netdev + (port.active_mtu ? ", RoCE " + to_text(*port.active_mtu) : ""),
              "fits from RoCE to the switch");
}

void ask(const View& view, Findings& findings) {
  const std::vector<const Port*> all = rails(view);
  for (const Port& port : view.now.ports)
    if (is_judged(port) && is_active(port) && is_roce(port) && !port.netdev.empty() && port.qos.mtu)
      findings.push_back(finding_for(view, all, port));
}

}  // namespace

extern const Check kMtuChainCheck{
    .id = "mtu-chain",
    .group = group::network,
    .title = "The MTU of the netdev or the switch is too small for RoCE",
    .meaning =
        "The RoCE path MTU plus 96 bytes of headers must fit the MTU of the netdev. The MTU must fit the largest frame "
        "of the switch port, which it announces by LLDP; some switches count the Ethernet header and the FCS, others "
        "do not. Larger packets are dropped silently: small messages pass and large ones hang. Equal ports should have "
        "equal MTUs.",
    .inspect = "ip -d link show dev NETDEV; ibv_devinfo -d RDMADEV; the MTU of the switch port",
    .fix = "ip link set NETDEV mtu 9000 on all hosts, and MTU 9216 on the switch port.",
    .ask = ask,
};

}  // namespace fabric
