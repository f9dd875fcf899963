// SPDX-License-Identifier: Apache-2.0
#include "topology/boxes.h"

namespace fabric {
namespace {

constexpr size_t kMostNics = 256;

// A function, and the bridges above it that have no box yet, the next one last.
struct Item {
  const PciDevice* function;
  bool gpu;
  size_t index, depth;  // depth: number of bridges without a box

  [[nodiscard]] const std::string& bridge() const { return function->bridges[depth - 1]; }
};

void place(const std::vector<Item>& items, TopologyBox& box);

// Descends from the bridge as long as a single bridge follows.
void place_below_bridge(std::vector<Item> items, TopologyBox& box) {
  const std::string bridge = items.front().bridge();
  for (Item& item : items) --item.depth;
  const auto goes_on = [&](const Item& item) { return item.depth > 0 && item.bridge() == items.front().bridge(); };
  if (items.size() == 1 || (items.front().depth > 0 && std::ranges::all_of(items, goes_on))) {
    if (items.size() == 1) items.front().depth = 0;
    return place(items, box);
  }
  TopologyBox below{TopologyBox::Kind::bridge, "switch " + bridge, {}, {}, {}};
  place(items, below);
  // The functions of one NIC need no box.
  const std::string& first = items.front().function->pci;
  const bool one_card = std::ranges::all_of(items, [&](const Item& item) {
    return item.function->pci.substr(0, item.function->pci.rfind('.')) == first.substr(0, first.rfind('.'));
  });
  if (!one_card) return box.boxes.push_back(std::move(below));
  box.gpus.insert(box.gpus.end(), below.gpus.begin(), below.gpus.end());
  box.nics.insert(box.nics.end(), below.nics.begin(), below.nics.end());
}

void place(const std::vector<Item>& items, TopologyBox& box) {
  std::map<std::string, std::vector<Item>> by_bridge;
  for (const Item& item : items) {
    if (item.depth > 0) by_bridge[item.bridge()].push_back(item);
    else (item.gpu ? box.gpus : box.nics).push_back(item.index);
  }
  for (auto& [bridge, group] : by_bridge) place_below_bridge(std::move(group), box);
  std::ranges::sort(box.gpus);
  std::ranges::sort(box.nics);
}

TopologyBox numa_box(const Topology& topology, std::optional<int> node, const std::vector<Item>& items) {
  TopologyBox box{
      TopologyBox::Kind::numa, node ? "NUMA node " + std::to_string(*node) : "NUMA node unknown", {}, {}, {}};
  if (const auto* cpus = node ? find_in(topology.numa_cpus, *node) : nullptr) box.title += "  CPUs " + *cpus;
  std::map<std::string, std::vector<Item>> by_root;
  for (const Item& item : items) by_root[item.function->root].push_back(item);
  for (const auto& [root, group] : by_root) {
    TopologyBox below{TopologyBox::Kind::root, root, {}, {}, {}};
    place(group, below);
    box.boxes.push_back(std::move(below));
  }
  return box;
}

}  // namespace

std::vector<size_t> shown_nics(const Topology& topology) {
  const bool rdma = std::ranges::any_of(topology.nics, carries_rdma);
  std::vector<size_t> shown;
  for (size_t i = 0; i < topology.nics.size(); ++i)
    if (!rdma || carries_rdma(topology.nics[i])) shown.push_back(i);
  // Virtual functions belong to guests, and thousands of them make no readable table.
  const auto is_virtual = [&](size_t nic) { return topology.nics[nic].is_virtual_function(); };
  if (shown.size() > kMostNics && !std::ranges::all_of(shown, is_virtual)) std::erase_if(shown, is_virtual);
  if (shown.size() > kMostNics) shown.erase(shown.begin() + kMostNics, shown.end());
  return shown;
}

TopologyBox topology_boxes(const Topology& topology, const std::vector<size_t>& nics) {
  std::map<std::optional<int>, std::vector<Item>> by_node;
  for (const auto& [node, cpus] : topology.numa_cpus) by_node[node];
  for (size_t i = 0; i < topology.gpus.size(); ++i)
    by_node[topology.gpus[i].numa].push_back({&topology.gpus[i], true, i, topology.gpus[i].bridges.size()});
  for (const size_t i : nics)
    by_node[topology.nics[i].numa].push_back({&topology.nics[i], false, i, topology.nics[i].bridges.size()});

  TopologyBox machine;
  std::map<std::optional<int>, TopologyBox> sockets;
  for (const auto& [node, items] : by_node) {
    const int* known = node ? find_in(topology.numa_socket, *node) : nullptr;
    TopologyBox& socket = sockets[known != nullptr ? std::optional(*known) : std::nullopt];
    socket.kind = TopologyBox::Kind::socket;
    socket.title = "socket " + (known != nullptr ? std::to_string(*known) : "unknown");
    socket.boxes.push_back(numa_box(topology, node, items));
  }
  for (auto& [number, socket] : sockets) machine.boxes.push_back(std::move(socket));
  // Devices without a socket come last.
  if (!machine.boxes.empty() && !sockets.begin()->first)
    std::rotate(machine.boxes.begin(), machine.boxes.begin() + 1, machine.boxes.end());
  return machine;
}

}  // namespace fabric
