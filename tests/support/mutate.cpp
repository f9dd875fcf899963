// SPDX-License-Identifier: Apache-2.0
#include "support/mutate.h"

#include <algorithm>
#include <set>

#include "judge/finding.h"
#include "node/node.h"

namespace fabric::test {
namespace {

using Indices = std::vector<size_t>;

template <class List, class Can>
Indices those(const List& list, Can&& can) {
  Indices out;
  for (size_t i = 0; i < list.size(); ++i)
    if (can(list[i])) out.push_back(i);
  return out;
}

std::optional<size_t> chosen(const Indices& from, double at) {
  if (from.empty()) return std::nullopt;
  return from[std::min(from.size() - 1, static_cast<size_t>(at * static_cast<double>(from.size())))];
}

bool is_fabric(const Nic& nic) { return carries_rdma(nic) && !nic.is_virtual_function(); }

void drop_ports(Node& node, const std::set<std::string>& functions) {
  std::erase_if(node.ports, [&](const Port& port) { return functions.contains(port.pci); });
}

void drop_functions(Node& node, const std::set<std::string>& functions) {
  std::erase_if(node.topology.nics, [&](const Nic& nic) { return functions.contains(nic.pci); });
  drop_ports(node, functions);
}

bool drop_gpu(Mutated& machine, double at) {
  auto& gpus = machine.now.topology.gpus;
  const auto gpu = chosen(those(gpus, [](const Gpu&) { return true; }), at);
  if (!gpu) return false;
  machine.names.push_back({gpus[*gpu].pci});
  for (Node* node : {&machine.before, &machine.now}) {
    auto& list = node->topology.gpus;
    list.erase(list.begin() + static_cast<long>(*gpu));
    for (size_t i = 0; i < list.size(); ++i) list[i].name = "GPU" + std::to_string(i);
  }
  return true;
}

// A card, or one function of a card that has several.
bool drop_nic(Mutated& machine, double at, bool whole) {
  const auto& nics = machine.now.topology.nics;
  const auto functions_of = [&](const Nic& nic) {
    std::set<std::string> out;
    for (const Nic& other : nics)
      if (card_of(other.pci) == card_of(nic.pci)) out.insert(other.pci);
    return out;
  };
  const auto nic = chosen(
      those(nics, [&](const Nic& each) { return is_fabric(each) && (whole || functions_of(each).size() > 1); }), at);
  if (!nic) return false;
  const auto gone = whole ? functions_of(nics[*nic]) : std::set<std::string>{nics[*nic].pci};
  machine.names.emplace_back(gone.begin(), gone.end());
  for (Node* node : {&machine.before, &machine.now}) drop_functions(*node, gone);
  return true;
}

bool drop_rdma(Mutated& machine, double at) {
  const auto nic = chosen(
      those(machine.now.topology.nics, [](const Nic& each) { return is_fabric(each) && !each.rdma.empty(); }), at);
  if (!nic) return false;
  const std::string pci = machine.now.topology.nics[*nic].pci;
  machine.names.push_back({pci});
  for (Node* node : {&machine.before, &machine.now}) {
    Nic& each = node->topology.nics[*nic];
    each.rdma.clear();
    each.name = each.netdevs.empty() ? each.pci : each.netdevs.front();
    drop_ports(*node, {pci});
  }
  return true;
}

// GPUs and RDMA NICs, in one list.
std::vector<PciDevice*> devices_of(Topology& topology) {
  std::vector<PciDevice*> out;
  for (Gpu& gpu : topology.gpus) out.push_back(&gpu);
  for (Nic& nic : topology.nics)
    if (is_fabric(nic)) out.push_back(&nic);
  return out;
}

std::string name_of(const Topology& topology, const std::string& pci) {
  for (const Gpu& gpu : topology.gpus)
    if (gpu.pci == pci) return gpu.name;
  for (const Nic& nic : topology.nics)
    if (nic.pci == pci) return nic.name;
  return pci;
}

template <class Can, class Change>
bool change_device(Mutated& machine, double at, Can&& can, Change&& change) {
  Topology& topology = machine.now.topology;
  const auto devices = devices_of(topology);
  const auto device = chosen(those(devices, [&](const PciDevice* each) { return can(*each); }), at);
  if (!device) return false;
  machine.names.push_back({devices[*device]->pci, name_of(topology, devices[*device]->pci)});
  for (Node* node : {&machine.before, &machine.now}) change(*devices_of(node->topology)[*device]);
  return true;
}

bool move_node(Mutated& machine, double at) {
  const auto& nodes = machine.now.topology.numa_cpus;
  if (nodes.size() < 2) return false;
  return change_device(
      machine, at, [](const PciDevice& each) { return each.numa && !each.numa_assumed; },
      [&](PciDevice& each) {
        auto next = nodes.upper_bound(*each.numa);
        each.numa = (next == nodes.end() ? nodes.begin() : next)->first;
      });
}

bool narrow_link(Mutated& machine, double at) {
  return change_device(
      machine, at, [](const PciDevice& each) { return each.link.width.value_or(0) >= 4; },
      [](PciDevice& each) { each.link.width = *each.link.width / 2; });
}

std::optional<size_t> active_port(const Node& node, double at) {
  return chosen(those(node.ports, [](const Port& port) { return is_judged(port) && is_active(port); }), at);
}

bool take_down(Mutated& machine, double at) {
  const auto port = active_port(machine.now, at);
  if (!port) return false;
  Port& down = machine.now.ports[*port];
  machine.names.push_back({down.id()});
  down.state = 1;
  down.phys_state = 2;
  if (down.carrier) down.carrier = false;
  machine.before.ports[*port] = down;
  return true;
}

bool damage_lane(Mutated& machine, double at) {
  const auto port = active_port(machine.now, at);
  if (!port) return false;
  for (Node* node : {&machine.before, &machine.now}) {
    FecStatus fec;
    const bool now = node == &machine.now;
    fec.corrected_bits.lanes = {100, 100, now ? 90'000'000u : 100, 100};
    fec.uncorrectable_blocks.lanes = {0, 0, now ? 5'000u : 0, 0};
    fec.corrected_bits.total = now ? 90'000'300 : 400;
    fec.uncorrectable_blocks.total = now ? 5'000 : 0;
    node->ports[*port].fec = fec;
  }
  machine.names.push_back({"lane 2"});
  return true;
}

}  // namespace

std::string_view to_text(Part part) {
  constexpr std::string_view kNames[] = {"gpu", "nic", "function", "rdma", "numa", "link", "port", "lane"};
  return kNames[static_cast<size_t>(part)];
}

bool mutate(Mutated& machine, Part part, double at) {
  switch (part) {
    case Part::gpu: return drop_gpu(machine, at);
    case Part::nic: return drop_nic(machine, at, true);
    case Part::function: return drop_nic(machine, at, false);
    case Part::rdma: return drop_rdma(machine, at);
    case Part::numa: return move_node(machine, at);
    case Part::link: return narrow_link(machine, at);
    case Part::port: return take_down(machine, at);
    case Part::lane: return damage_lane(machine, at);
  }
  return false;
}

}  // namespace fabric::test
