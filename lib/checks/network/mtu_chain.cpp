// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "checks/checks.h"
#include "checks/network/network.h"
#include "model/finding.h"

namespace fabric {
namespace {

constexpr uint32_t kRoceHeaders = 96;  // iboe_get_mtu(), include/rdma/ib_addr.h of Linux 6.12
// IEEE 802.3 Maximum Frame Size (802.3bc clause 79.3.4) counts the Ethernet header and the FCS.
constexpr uint32_t kFrameHeaders = 14 + 4;
constexpr uint32_t kFullRoce = 4096 + kRoceHeaders;

std::optional<uint32_t> peer_max_frame(const Node& node, const Port& port) {
  const auto found = node.network.interfaces.find(port.netdev);
  return found == node.network.interfaces.end() ? std::nullopt : found->second.peer_max_frame;
}

bool is_policys(const View& view, const Port& port) {
  const PortPolicy* entry = view.policy == nullptr ? nullptr : policy_for(*view.policy, port);
  return entry != nullptr && entry->want.mtu;
}

// The MTU of more than half of the rails like it, where its own is another one. Below what RoCE's 4096 takes `roce-mtu`
// tells; an MTU that the policy asks for is judged against the policy.
std::optional<uint32_t> others_mtu(const View& view, const std::vector<const Port*>& all, const Port& port) {
  std::map<uint32_t, size_t> count;
  size_t twins = 0;
  for (const Port* each : all) {
    if (!each->qos.mtu || !are_twins(port, *each)) continue;
    ++count[*each->qos.mtu];
    ++twins;
  }
  for (const auto& [mtu, ports] : count)
    if (ports * 2 > twins && mtu != *port.qos.mtu && count.contains(*port.qos.mtu) && *port.qos.mtu >= kFullRoce &&
        !is_policys(view, port))
      return mtu;
  return std::nullopt;
}

Finding judge(const View& view, const std::vector<const Port*>& all, const Port& port) {
  const uint32_t mtu = *port.qos.mtu;
  const std::string netdev = "netdev " + to_text(mtu);
  if (port.active_mtu && mtu < *port.active_mtu + kRoceHeaders)
    return bad(
        Status::critical, port.id(), netdev + ", RoCE " + to_text(*port.active_mtu),
        "netdev " + to_text(*port.active_mtu + kRoceHeaders) + " or more",
        "The RDMA device sends larger packets than the netdev's MTU lets through (96 bytes of headers come on top): "
        "they are dropped, and connections hang after their first small messages.",
        "Set the MTU again: ip link set " + port.netdev +
            " mtu 9000; queue pairs that stand keep their size, so restart the job.");
  if (const auto frame = peer_max_frame(view.now, port); frame && *frame < mtu + kFrameHeaders)
    return bad(
        Status::critical, port.id(), netdev + ", switch port takes frames of " + to_text(*frame),
        "frames of " + to_text(mtu + kFrameHeaders) + " on the switch",
        "The switch port drops what this port may send: the largest frame that it announced by LLDP is smaller than "
        "the MTU with "
        "its Ethernet header.",
        "Raise the MTU of the switch port (9216 is common), or lower that of " + port.netdev + " on all hosts alike.");
  if (const auto others = others_mtu(view, all, port))
    return bad(
        Status::warning, port.id(), netdev, "netdev " + to_text(*others) + ", as the ports beside it",
        "This rail's MTU is another than that of its twins: what works over one rail is cut or dropped over the other.",
        "Set it alike: ip link set " + port.netdev + " mtu " + to_text(*others) +
            ", and in the network configuration.");
  return good(port.id(), netdev + (port.active_mtu ? ", RoCE " + to_text(*port.active_mtu) : ""),
              "one that fits from RoCE to the switch");
}

}  // namespace

void ask_mtu_chain(const View& view, Findings& findings) {
  const std::vector<const Port*> all = rails(view);
  for (const Port& port : view.now.ports)
    if (is_judged(port) && is_active(port) && is_roce(port) && !port.netdev.empty() && port.qos.mtu)
      findings.push_back(judge(view, all, port));
}

}  // namespace fabric
