// SPDX-License-Identifier: Apache-2.0
// Which switch port each port is connected to: rules group ports by it.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "checks/cabling/peer.h"
#include "metrics/families.h"

namespace fabric {
namespace {

constexpr Metric kNeighbor{"fabric_neighbor_info",
                           "The switch and its port at the other end of the cable, by LLDP, else by the cable plan; "
                           "always 1.",
                           MetricKind::gauge};
constexpr Metric kRail{
    "fabric_rail_info",
    "The rail, plane and leaf switch of the port, by [cabling], else by its GPU and by LLDP; always 1.",
    MetricKind::gauge};

// The name that the plan has for the switch wins, so that it does not change when LLDP is silent. Of several neighbors
// the first by name, whatever the order in which they were heard.
std::optional<CableEnd> peer_of(const Node& node, const Policy* policy, const Port& port) {
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

// The value of the longest glob that matches the switch or a name of the port, else `otherwise`.
std::string chosen(const std::map<std::string, std::string>& globs, const Port& port, const std::string& leaf,
                   const std::optional<size_t>& otherwise) {
  const std::pair<const std::string, std::string>* best = nullptr;
  std::vector<std::string> names{port.id(), port.rdma, port.netdev, port.pci, leaf};
  names.insert(names.end(), port.altnames.begin(), port.altnames.end());
  for (const auto& each : globs)
    if ((best == nullptr || each.first.size() > best->first.size()) &&
        std::ranges::any_of(names, [&](const std::string& name) { return glob_match(each.first, name); }))
      best = &each;
  return best != nullptr ? best->second : otherwise ? std::to_string(*otherwise) : std::string();
}

}  // namespace

void add_neighbors(FamilySet& families, const Node& node, const Policy* policy,
                   const std::map<std::string, Rail>& rails) {
  static const Cabling kNone;
  const Cabling& cabling = policy != nullptr ? policy->cabling : kNone;
  for (const Port& port : node.ports) {
    const auto peer = has_cable(port) ? peer_of(node, policy, port) : std::nullopt;
    if (peer) families.add(kNeighbor, port_labels(port), {{"switch", peer->device}, {"switch_port", peer->port}}, 1);
    const auto found = rails.find(port.pci);
    const std::string leaf = peer ? peer->device : std::string();
    const auto by_place = found != rails.end() && !port.virtual_function ? std::optional(found->second) : std::nullopt;
    const std::string rail = chosen(cabling.rails, port, leaf, by_place ? std::optional(by_place->rail) : std::nullopt);
    const std::string plane = chosen(cabling.planes, port, leaf, by_place ? by_place->plane : std::nullopt);
    if (!rail.empty() || !leaf.empty())
      families.add(kRail, port_labels(port), {{"rail", rail}, {"plane", plane}, {"leaf", leaf}}, 1);
  }
}

}  // namespace fabric
