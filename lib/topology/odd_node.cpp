// SPDX-License-Identifier: Apache-2.0
#include "topology/odd_node.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "topology/symmetry.h"

namespace fabric {
namespace {

using Buses = std::map<std::string, std::vector<const Unit*>>;
using Spread = std::map<int, size_t>;  // devices of one model by NUMA node

// The NUMA node of the bridge above the device if known, else the device's own.
int node_of(const Unit& unit) { return unit.device.numa_above.value_or(*unit.device.numa); }

bool is_even(Spread spread) {
  std::erase_if(spread, [](const auto& each) { return each.second == 0; });
  return std::ranges::all_of(spread, [&](const auto& each) { return each.second == spread.begin()->second; });
}

// Whether the unit's model is evenly spread over the nodes only if the unit is moved to `node`.
bool evens_out(const Units& units, const Unit& unit, int node) {
  Spread spread;
  for (const Unit& other : units) spread[node_of(other)] += static_cast<size_t>(other.model == unit.model);
  if (is_even(spread)) return false;
  --spread[node_of(unit)];
  ++spread[node];
  return is_even(spread);
}

// The node of most devices of a bus. If two nodes have equally many: the one to which a device must be moved to spread
// its model evenly, else that of the first device.
std::optional<int> node_of(const Units& units, const std::vector<const Unit*>& bus) {
  Spread nodes;
  for (const Unit* unit : bus) ++nodes[node_of(*unit)];
  if (nodes.size() == 1) return nodes.begin()->first;
  if (nodes.size() != 2) return std::nullopt;
  const auto [a, of_a] = *nodes.begin();
  const auto [b, of_b] = *nodes.rbegin();
  if (of_a > of_b) return a;
  if (of_a < of_b) return b;
  for (const Unit* unit : bus) {
    int other = a;
    if (node_of(*unit) == a) other = b;
    if (evens_out(units, *unit, other)) return other;
  }
  return node_of(*bus.front());
}

// The node of the buses before and after, if both have the same.
std::optional<int> node_around(const Units& units, const Buses& buses, Buses::const_iterator bus) {
  if (bus == buses.begin() || std::next(bus) == buses.end()) return std::nullopt;
  const auto before = node_of(units, std::prev(bus)->second), after = node_of(units, std::next(bus)->second);
  if (before != after) return std::nullopt;
  return before;
}

}  // namespace

std::vector<OddNode> odd_numa_nodes(const Topology& topology) {
  Units units = units_of(topology, {});
  std::erase_if(units, [](const Unit& unit) {
    return !unit.rdma || !unit.device.numa || unit.device.numa_assumed || unit.device.root.empty();
  });
  Buses buses;
  for (const Unit& unit : units) buses[unit.device.root].push_back(&unit);
  std::vector<OddNode> out;
  for (auto bus = buses.cbegin(); bus != buses.cend(); ++bus) {
    const auto usual = node_of(units, bus->second), around = node_around(units, buses, bus);
    for (const Unit* unit : bus->second) {
      const int node = node_of(*unit);
      if (node != unit->device.numa)
        out.push_back({unit->device, unit->name, node, "the bridge above it, " + unit->device.bridges.front()});
      else if (usual && node != *usual)
        out.push_back({unit->device, unit->name, *usual, "the other devices of " + bus->first});
      else if (around && node != *around && bus->second.size() == 1 && evens_out(units, *unit, *around))
        out.push_back({unit->device, unit->name, *around, "the buses before and after " + bus->first});
    }
  }
  return out;
}

}  // namespace fabric
