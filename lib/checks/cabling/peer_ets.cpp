// SPDX-License-Identifier: Apache-2.0
#include "checks/cabling/peer.h"
#include "checks/check.h"

namespace fabric {
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
std::optional<Finding> ask_port(const View& view, const Port& port) {
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

extern const Check kPeerEtsCheck{
    .id = "peer-ets",
    .group = group::cabling,
    .title = "The switch port has another ETS configuration",
    .meaning =
        "ETS gives each group of priorities a share of the link. Compares the groups of the lossless priorities and "
        "their bandwidth with the recommendation of the switch, else with its configuration (DCBX ETS TLVs). The "
        "numbering of traffic classes may differ.",
    .inspect = "dcb ets show dev NETDEV; the scheduler or QoS profile of the switch",
    .fix = "Set ets in the policy to the scheduler of the switch, or the other way round.",
    .ask_port = ask_port,
};

}  // namespace fabric
