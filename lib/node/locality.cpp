// SPDX-License-Identifier: Apache-2.0
#include "node/locality.h"

namespace fabric {
std::optional<PathClass> path_class(const PciDevice& a, const PciDevice& b) {
  // A switch is an upstream port with one downstream port on each side, so one on each side is still one switch.
  if (const auto below = below_shared(a, b))
    return std::max(below->first, below->second) <= 1 ? PathClass::PIX : PathClass::PXB;
  if (!a.root.empty() && a.root == b.root) return PathClass::PHB;
  if (!a.numa || !b.numa) return std::nullopt;
  return *a.numa == *b.numa ? PathClass::NODE : PathClass::SYS;
}

const PciDevice& nearer_function(const Gpu& gpu, const Nic& nic) {
  const PciDevice& own = nic;
  if (!nic.direct) return own;
  const auto mine = path_class(static_cast<const PciDevice&>(gpu), own), direct = path_class(gpu, *nic.direct);
  return direct && (!mine || *direct < *mine) ? *nic.direct : own;
}

std::optional<PathClass> path_class(const Gpu& gpu, const Nic& nic) {
  return path_class(static_cast<const PciDevice&>(gpu), nearer_function(gpu, nic));
}

std::vector<size_t> nearest_nics(const Topology& topology, const Gpu& gpu) {
  const bool rdma_only = std::ranges::any_of(topology.nics, carries_rdma);
  std::vector<size_t> nearest;
  std::optional<PathClass> best;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    if (rdma_only && !carries_rdma(topology.nics[i])) continue;
    const auto path = path_class(gpu, topology.nics[i]);
    if (!path || (best && *best < *path)) continue;
    if (best != path) nearest.clear();
    best = path;
    nearest.push_back(i);
  }
  return nearest;
}

std::optional<int> socket_of(const Topology& topology, const PciDevice& device) {
  const int* socket = device.numa ? find_in(topology.numa_socket, *device.numa) : nullptr;
  return socket == nullptr ? std::nullopt : std::optional(*socket);
}

std::optional<std::pair<size_t, size_t>> below_shared(const PciDevice& a, const PciDevice& b) {
  const auto shared = std::ranges::find_first_of(a.bridges, b.bridges);
  if (shared == a.bridges.end()) return std::nullopt;
  return std::pair(shared - a.bridges.begin(), std::ranges::find(b.bridges, *shared) - b.bridges.begin());
}

bool is_flattened(const Topology& topology) {
  const auto on_root_bus = [](const Gpu& gpu) { return gpu.bridges.empty() && !gpu.root.empty(); };
  if (topology.gpus.empty()) return false;
  if (topology.hypervisor.empty() && std::ranges::none_of(topology.gpus, on_root_bus)) return false;
  std::set<std::string> bridges;
  const auto shares = [&](const PciDevice& device) {
    return std::ranges::any_of(device.bridges, [&](const std::string& bridge) { return bridges.contains(bridge); });
  };
  for (const Gpu& gpu : topology.gpus) {
    if (shares(gpu)) return false;
    bridges.insert(gpu.bridges.begin(), gpu.bridges.end());
  }
  return std::ranges::none_of(topology.nics, shares);
}

std::vector<PcieHop> hops_above(const PciDevice& function) {
  std::vector<PcieHop> hops;
  std::string lower = function.pci;
  for (size_t i = 0; i < function.bridges.size(); i += 2) {
    hops.push_back({lower, function.bridges[i]});
    if (i + 1 < function.bridges.size()) lower = function.bridges[i + 1];
  }
  return hops;
}

std::vector<std::string> turning_ports(const PciDevice& a, const PciDevice& b) {
  const auto below = below_shared(a, b);
  std::vector<std::string> out;
  if (below && below->first > 0) out.push_back(a.bridges[below->first - 1]);
  if (below && below->second > 0) out.push_back(b.bridges[below->second - 1]);
  return out;
}

}  // namespace fabric
