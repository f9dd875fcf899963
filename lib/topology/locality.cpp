// SPDX-License-Identifier: Apache-2.0
#include "topology/locality.h"

#include <algorithm>

#include "model/node.h"

namespace fabric {
namespace {

// PIX or PXB when the functions share a bridge. `a` and `b` count the bridges between each and the first shared one:
// a switch is an upstream port with one downstream port on each side, so one on each side is still one switch.
std::optional<PathClass> below_one_bridge(const PciDevice& first, const PciDevice& second) {
  for (size_t a = 0; a < first.bridges.size(); ++a) {
    const auto shared = std::ranges::find(second.bridges, first.bridges[a]);
    if (shared == second.bridges.end()) continue;
    const auto b = static_cast<size_t>(shared - second.bridges.begin());
    return std::max(a, b) <= 1 ? PathClass::PIX : PathClass::PXB;
  }
  return std::nullopt;
}

std::vector<size_t> nearest_of(const Topology& topology, const Gpu& gpu, bool rdma_only) {
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

}  // namespace

std::optional<PathClass> path_class(const PciDevice& a, const PciDevice& b) {
  if (const auto near = below_one_bridge(a, b)) return near;
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
  const bool rdma = std::ranges::any_of(topology.nics, carries_rdma);
  return nearest_of(topology, gpu, rdma);
}

bool is_flattened(const Topology& topology) {
  const auto on_root_bus = [](const Gpu& gpu) { return gpu.bridges.empty() && !gpu.root.empty(); };
  if (topology.gpus.empty()) return false;
  if (topology.hypervisor.empty() && std::ranges::none_of(topology.gpus, on_root_bus)) return false;
  std::set<std::string> bridges;
  const auto shares = [&](const PciDevice& device) {
    return std::ranges::any_of(device.bridges, [&](const std::string& bridge) { return bridges.count(bridge) != 0; });
  };
  for (const Gpu& gpu : topology.gpus) {
    if (shares(gpu)) return false;
    bridges.insert(gpu.bridges.begin(), gpu.bridges.end());
  }
  return std::ranges::none_of(topology.nics, shares);
}

}  // namespace fabric
