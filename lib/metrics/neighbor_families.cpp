// SPDX-License-Identifier: Apache-2.0
// Which switch port each port is connected to: rules group ports by it.
#include <algorithm>
#include <optional>
#include <utility>

#include "checks/cabling/peer.h"
#include "metrics/families.h"

namespace fabric {
namespace {

constexpr Metric kNeighbor{"fabric_neighbor_info",
                           "The switch and its port at the other end of the cable, by LLDP, else by the cable plan; "
                           "always 1.",
                           MetricKind::gauge};

}  // namespace

// The name that the plan has for the switch wins, so that it does not change when LLDP is silent. Of several neighbors
// the first by name, whatever the order in which they were heard.
std::optional<CableEnd> peer_of(const Node& node, const Policy* policy, const Port& port) {
  if (!has_cable(port)) return std::nullopt;
  const auto cables = planned_cables(policy, port);
  const auto heard = named_neighbors(node, port);
  if (heard.empty()) return cables.empty() ? std::nullopt : std::optional(cables.front()->peer);
  const Neighbor& neighbor = **std::min_element(heard.begin(), heard.end(), [](const Neighbor* a, const Neighbor* b) {
    return std::pair(a->system(), a->port()) < std::pair(b->system(), b->port());
  });
  const auto planned =
      std::find_if(cables.begin(), cables.end(), [&](const Cable* cable) { return is_device(neighbor, cable->peer); });
  return CableEnd{planned == cables.end() ? neighbor.system() : (*planned)->peer.device, neighbor.port()};
}

void add_neighbors(FamilySet& families, const Node& node, const Policy* policy) {
  for (const Port& port : node.ports)
    if (const auto peer = peer_of(node, policy, port))
      families.add(kNeighbor, port_labels(port), {{"switch", peer->device}, {"switch_port", peer->port}}, 1);
}

}  // namespace fabric
