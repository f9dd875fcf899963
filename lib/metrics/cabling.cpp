// SPDX-License-Identifier: Apache-2.0
#include "metrics/cabling.h"

#include "judge/cabling.h"
#include "metrics/port_labels.h"

namespace fabric {
namespace {

constexpr Metric kNeighbor{
    "fabric_neighbor_info",
    "The switch and its port at the other end of the cable, by LLDP, else by the cable plan; always 1."};
constexpr Metric kRail{
    "fabric_rail_info",
    "The rail, plane and leaf switch of the port, by [cabling], else by its GPU and by LLDP; always 1."};

}  // namespace

void add_neighbors(FamilySet& families, const Node& node, const Policy* policy,
                   const std::map<std::string, Rail>& rails) {
  for (const Port& port : node.ports) {
    if (const auto peer = peer_of(node, policy, port))
      families.add(kNeighbor, port_labels(port), {{"switch", peer->device}, {"switch_port", peer->port}}, 1);
    const auto& [rail, plane, leaf] = rail_place(node, policy, port, rails);
    if (!rail.empty() || !leaf.empty())
      families.add(kRail, port_labels(port), {{"rail", rail}, {"plane", plane}, {"leaf", leaf}}, 1);
  }
}

}  // namespace fabric
