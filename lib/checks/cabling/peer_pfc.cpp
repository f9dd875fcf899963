// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "checks/cabling/peer.h"
#include "checks/check.h"

namespace fabric {
namespace {

// "priority 3", "priorities 3, 4" of a set that is not empty.
std::string priorities(uint8_t bits) {
  std::string text;
  for (int prio = 0; prio < kPriorities; ++prio)
    if ((bits >> prio & 1) != 0) append_item(text, std::to_string(prio));
  return (std::has_single_bit(bits) ? "priority " : "priorities ") + text;
}

std::optional<Finding> ask_port(const View& view, const Port& port) {
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

extern const Check kPeerPfcCheck{
    .id = "peer-pfc",
    .group = group::cabling,
    .title = "The switch port has PFC on other priorities",
    .meaning =
        "PFC requires both ends. A priority that is lossless here and not at the switch drops bursts there: RoCE "
        "retransmits, throughput collapses under incast, and every link tests well alone. The switch announces its PFC "
        "in the DCBX PFC TLV. If the driver does not show its PFC, the policy's pfc is compared.",
    .inspect = "fabric-agentctl neighbors; dcb pfc show dev NETDEV; on the switch: show priority-flow-control",
    .fix = "Enable PFC for the RoCE priority (usually 3) at both ends.",
    .ask_port = ask_port,
};

}  // namespace fabric
