// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "checks/cabling/peer.h"
#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

// "priority 3", "priorities 3, 4"; of the set that is not empty.
std::string priorities(uint8_t bits) {
  std::string text;
  int count = 0;
  for (int prio = 0; prio < kPriorities; ++prio)
    if ((bits >> prio & 1) != 0) {
      text += (text.empty() ? "" : ", ") + std::to_string(prio);
      ++count;
    }
  return (count == 1 ? "priority " : "priorities ") + text;
}

Finding judge(const Port& port, const Neighbor& peer) {
  const PrioSet here = *port.qos.pfc, there = peer.pfc->enabled;
  const std::string observed = "PFC " + to_text(here) + " here, " + to_text(there) + " at " + peer_name(peer);
  if (here == there) return good(port.id(), observed, "the same at both ends");
  const auto only_here = static_cast<uint8_t>(here.bits & ~there.bits),
             only_there = static_cast<uint8_t>(there.bits & ~here.bits);
  std::string meaning;
  if (only_here != 0)
    meaning += "On " + priorities(only_here) +
               " the switch neither pauses nor heeds this port's pauses, so RoCE packets are lost in bursts";
  if (only_there != 0)
    meaning += std::string(meaning.empty() ? "On " : "; on ") + priorities(only_there) +
               " the switch pauses and this port does not heed it";
  return bad(only_here != 0 ? Status::critical : Status::warning, port.id(), observed, "the same at both ends",
             meaning + ".",
             "Set PFC alike: on the switch port for " + (here.bits != 0 ? priorities(here.bits) : std::string("none")) +
                 ", or here with pfc in the policy.");
}

}  // namespace

void ask_peer_pfc(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    if (!has_cable(port) || !port.qos.pfc) continue;
    if (const Neighbor* peer = who_told(view.now, port, &Neighbor::pfc)) findings.push_back(judge(port, *peer));
  }
}

}  // namespace fabric
