// SPDX-License-Identifier: Apache-2.0
#include "model/node.h"
#include "topology/symmetry.h"

namespace fabric {
namespace {

struct Unit {
  const PciDevice* device = nullptr;
  std::string name;
  int node = 0;  // of its place: of the bridge above it, if that has one
};
using Units = std::vector<Unit>;
using Buses = std::map<std::string, std::vector<const Unit*>>;
using Spread = std::map<int, size_t>;  // devices of one model by NUMA node

// GPUs and NICs that carry RDMA, whose node the kernel tells.
Units units_of(const Topology& topology) {
  Units out;
  const auto add = [&](const PciDevice& device, const std::string& name) {
    if (device.numa && !device.numa_assumed && !device.root.empty())
      out.push_back({&device, name, device.numa_above.value_or(*device.numa)});
  };
  for (const Gpu& gpu : topology.gpus) add(gpu, gpu.name);
  for (const Nic& nic : topology.nics)
    if (carries_rdma(nic) && !nic.virtual_function) add(nic, nic.name);
  return out;
}

Spread spread_of(const Units& units, const Unit& model) {
  Spread out;
  for (const Unit& unit : units) out[unit.node] += are_alike(*unit.device, *model.device) ? 1 : 0;
  return out;
}

bool is_even(Spread spread) {
  std::erase_if(spread, [](const auto& each) { return each.second == 0; });
  return std::ranges::all_of(spread, [&](const auto& each) { return each.second == spread.begin()->second; });
}

// Its model is on all nodes alike, once it is moved to `node`.
bool evens_out(const Units& units, const Unit& unit, int node) {
  Spread spread = spread_of(units, unit);
  if (is_even(spread)) return false;
  --spread[unit.node];
  ++spread[node];
  return is_even(spread);
}

// The node of most devices of a bus; of as many on each of two, that which evens out the odd one's model, else the
// first's.
std::optional<int> node_of(const Units& units, const std::vector<const Unit*>& bus) {
  Spread nodes;
  for (const Unit* unit : bus) ++nodes[unit->node];
  if (nodes.size() != 2) return nodes.size() == 1 ? std::optional(nodes.begin()->first) : std::nullopt;
  const auto [a, of_a] = *nodes.begin();
  const auto [b, of_b] = *nodes.rbegin();
  if (of_a != of_b) return of_a > of_b ? a : b;
  for (const Unit* unit : bus)
    if (const int other = unit->node == a ? b : a; evens_out(units, *unit, other)) return other;
  return bus.front()->node;
}

// The node of the buses before and after, if it is one.
std::optional<int> node_around(const Units& units, const Buses& buses, Buses::const_iterator bus) {
  if (bus == buses.begin() || std::next(bus) == buses.end()) return std::nullopt;
  const auto before = node_of(units, std::prev(bus)->second), after = node_of(units, std::next(bus)->second);
  return before == after ? before : std::nullopt;
}

}  // namespace

std::vector<OddNode> odd_numa_nodes(const Topology& topology) {
  const Units units = units_of(topology);
  Buses buses;
  for (const Unit& unit : units) buses[unit.device->root].push_back(&unit);
  std::vector<OddNode> out;
  for (auto bus = buses.cbegin(); bus != buses.cend(); ++bus) {
    const auto node = node_of(units, bus->second), around = node_around(units, buses, bus);
    for (const Unit* unit : bus->second)
      if (unit->node != unit->device->numa)
        out.push_back({unit->device, unit->name, unit->node, "the bridge above it, " + unit->device->bridges.front()});
      else if (node && unit->node != *node)
        out.push_back({unit->device, unit->name, *node, "the other devices of " + bus->first});
      else if (around && unit->node != *around && bus->second.size() == 1 && evens_out(units, *unit, *around))
        out.push_back({unit->device, unit->name, *around, "the buses before and after " + bus->first});
  }
  return out;
}

}  // namespace fabric
