// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "checks/cabling/peer.h"
#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

// One end's groups. Classes are numbered by each end as it likes; what counts is who shares one, and what it is given.
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
};

Groups groups_of(const Ets& ets) {
  Groups out{ets.prio_tc, ets.bw, {}};
  for (size_t tc = 0; tc < ets.tsa.size(); ++tc) out.tsa[tc] = static_cast<uint8_t>(ets.tsa[tc]);
  return out;
}
Groups groups_of(const DcbxEts& ets) { return {ets.prio_tc, ets.bw, ets.tsa}; }

std::string describe(const Groups& groups, int prio) {
  return to_text(groups.group(prio)) + " at " + groups.share(prio);
}

// Of the priorities that RoCE uses, which are the lossless ones, else of all: one line, or nothing where both ends
// agree.
std::string differences(const Groups& here, const Groups& there, PrioSet lossless) {
  std::string text;
  uint8_t told = 0;  // whose group has been told already
  for (int prio = 0; prio < kPriorities; ++prio) {
    if ((lossless.bits != 0 && !lossless.has(prio)) || (told >> prio & 1) != 0) continue;
    if (here.group(prio) == there.group(prio) && here.share(prio) == there.share(prio)) continue;
    told = static_cast<uint8_t>(told | here.group(prio).bits);
    text += (text.empty() ? "" : "; ") + ("priority " + std::to_string(prio)) + " in group " + describe(here, prio) +
            " here, " + describe(there, prio) + " there";
  }
  return text;
}

Finding judge(const Port& port, const Neighbor& peer) {
  const Groups here = groups_of(*port.qos.ets),
               there = groups_of(peer.ets_recommended ? *peer.ets_recommended : *peer.ets);
  const std::string text = differences(here, there, port.qos.pfc.value_or(PrioSet{}));
  const std::string expected = "the same groups and bandwidth at both ends";
  if (text.empty()) return good(port.id(), "as " + peer_name(peer), expected);
  return bad(Status::warning, port.id(), text, expected,
             "Both ends share out the wire between priorities in different ways: under load RoCE gets another part of "
             "it in each direction, or "
             "waits behind traffic that it is to be kept apart from.",
             "Set ETS alike: ets in the policy here, or the scheduler of " + peer_name(peer) + ".");
}

}  // namespace

// What the other end recommends stands before what it does itself (802.1Q D.2.9).
void ask_peer_ets(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    if (!has_cable(port) || !port.qos.ets) continue;
    const Neighbor* peer = who_told(view.now, port, &Neighbor::ets_recommended);
    if (peer == nullptr) peer = who_told(view.now, port, &Neighbor::ets);
    if (peer != nullptr) findings.push_back(judge(port, *peer));
  }
}

}  // namespace fabric
