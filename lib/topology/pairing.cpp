// SPDX-License-Identifier: Apache-2.0
#include "topology/pairing.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/find.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

constexpr size_t kManyPaths = size_t{1} << 13, kManyEdges = 256;

// The cost of a pairing, most important first. `load` is the sum of the squares of the NICs' loads, which is least if
// the loads are equal.
struct Cost {
  long load = 0, sockets = 0, bridges = 0, order = 0;
  auto operator<=>(const Cost&) const = default;
  Cost operator+(const Cost& other) const {
    return {load + other.load, sockets + other.sockets, bridges + other.bridges, order + other.order};
  }
  Cost operator-(const Cost& other) const {
    return {load - other.load, sockets - other.sockets, bridges - other.bridges, order - other.order};
  }
};

// Assigns NICs to GPUs one by one, each along the cheapest path, which may move earlier assignments to another NIC
// (successive shortest paths, Bellman-Ford): the result has the least cost.
class NicAssignment {
 public:
  NicAssignment(const Topology& topology, const std::vector<size_t>& nics) : nics_(nics), load_(nics.size(), 0) {
    // GPUs with the same nearest NICs take them in the order of their addresses.
    std::vector<std::vector<size_t>> near;
    std::map<std::vector<size_t>, std::vector<size_t>> rivals;
    for (size_t g = 0; g < topology.gpus.size(); ++g) rivals[near.emplace_back(near_nics(topology, g))].push_back(g);
    if (offer_spare_nics(topology, near)) {
      rivals.clear();
      for (size_t g = 0; g < topology.gpus.size(); ++g) rivals[near[g]].push_back(g);
    }
    for (size_t g = 0; g < topology.gpus.size(); ++g) {
      const auto& others = rivals[near[g]];
      const auto rank = static_cast<size_t>(
          std::ranges::count_if(others, [&](size_t other) { return topology.gpus[other].pci < topology.gpus[g].pci; }));
      edges_.push_back(edges_of(topology, g, near[g], rank, others.size()));
    }
    rounds_ = topology.gpus.size() * nics.size() > kManyPaths ? 1 : nics.size() + 1;
  }

  // A pair that add() does not change.
  void fix(size_t gpu, size_t nic) {
    const auto at = static_cast<size_t>(std::ranges::find(nics_, nic) - nics_.begin());
    fixed_.push_back({gpu, at});
    ++load_[at];
  }

  void add(size_t gpu) {
    if (edges_[gpu].empty()) return;
    std::vector<std::optional<Cost>> cost(nics_.size());
    std::vector<std::optional<size_t>> moved(nics_.size());  // the assignment that moves from another NIC to this one
    for (const auto& [nic, price] : edges_[gpu]) cost[nic] = price;
    for (size_t round = 1; round < rounds_ && relax(cost, moved); ++round) {
    }
    size_t end = nics_.size();
    const auto total = [&](size_t nic) { return *cost[nic] + Cost{2 * load_[nic] + 1, 0, 0, 0}; };
    for (size_t nic = 0; nic < nics_.size(); ++nic)
      if (cost[nic] && (end == nics_.size() || total(nic) < total(end))) end = nic;
    ++load_[end];
    while (moved[end]) {
      const size_t earlier = *moved[end];
      end = std::exchange(assigned_[earlier].nic, end);
    }
    assigned_.push_back({gpu, end});
  }

  [[nodiscard]] long greatest_load() const { return load_.empty() ? 0 : *std::ranges::max_element(load_); }
  [[nodiscard]] Pairing pairing(const Topology& topology) const {
    Pairing out;
    out.pairs.resize(edges_.size());
    for (const auto& list : {fixed_, assigned_})
      for (const auto& [gpu, nic] : list) {
        Pair& pair = out.pairs[gpu];
        pair.nics.push_back(nics_[nic]);
        pair.shared_by = std::max(pair.shared_by, static_cast<unsigned>(load_[nic]));
        pair.path = std::max(pair.path, path_class(topology.gpus[gpu], topology.nics[nics_[nic]]));
      }
    for (Pair& pair : out.pairs) std::ranges::sort(pair.nics);
    for (size_t nic = 0; nic < nics_.size(); ++nic)
      if (load_[nic] == 0) out.idle.push_back(nics_[nic]);
    return out;
  }
  // The most NICs of its own that each GPU can have: GPUs with the same nearest NICs divide them.
  [[nodiscard]] size_t most_each() const {
    std::map<std::vector<size_t>, size_t> gpus;
    for (const Edges& edges : edges_) {
      std::vector<size_t> near;
      for (const auto& [nic, price] : edges) near.push_back(nic);
      if (!near.empty()) ++gpus[near];
    }
    size_t most = nics_.size();
    for (const auto& [near, count] : gpus) most = std::min(most, near.size() / count);
    return most;
  }

 private:
  struct Assigned {
    size_t gpu, nic;
  };
  using Edges = std::map<size_t, Cost>;  // only to NICs of the nearest class and spare ones, by index into nics_

  // The NICs of the nearest class, by index into nics_.
  [[nodiscard]] std::vector<size_t> near_nics(const Topology& topology, size_t g) const {
    const auto best = nearest_class(topology, topology.gpus[g], nics_);
    std::vector<size_t> out;
    for (size_t n = 0; best && n < nics_.size() && out.size() < kManyEdges; ++n)
      if (path_class(topology.gpus[g], topology.nics[nics_[n]]) == best) out.push_back(n);
    return out;
  }

  // A switch may show itself as two levels although each port reaches every other one at full speed (Broadcom PEX88000
  // and PEX89000 in base mode; NCCL flattens them, ncclTopoFlattenBcmSwitches() in src/graph/topo.cc): a NIC behind the
  // second level is nearest to no GPU, and its GPU seems to share its neighbor's. So GPUs that would have to share
  // their nearest NICs may also take one that is nearest to none and below a bridge of theirs. True if any may.
  [[nodiscard]] bool offer_spare_nics(const Topology& topology, std::vector<std::vector<size_t>>& near) const {
    std::map<std::vector<size_t>, size_t> users;
    std::set<size_t> taken;
    for (const auto& nics : near) {
      ++users[nics];
      taken.insert(nics.begin(), nics.end());
    }
    bool offered = false;
    if (taken.size() == nics_.size()) return offered;
    for (size_t g = 0; g < near.size(); ++g) {
      if (near[g].empty() || users[near[g]] <= near[g].size()) continue;
      const size_t own = near[g].size();
      for (size_t n = 0; n < nics_.size() && near[g].size() < kManyEdges; ++n)
        if (!taken.contains(n) && is_on_switch(path_class(topology.gpus[g], topology.nics[nics_[n]])))
          near[g].push_back(n);
      offered = offered || near[g].size() > own;
      std::ranges::sort(near[g]);
    }
    return offered;
  }

  // `rank`: the place of the GPU among the `rivals` GPUs that have these nearest NICs.
  [[nodiscard]] Edges edges_of(const Topology& topology, size_t g, const std::vector<size_t>& near, size_t rank,
                               size_t rivals) const {
    const Gpu& gpu = topology.gpus[g];
    Edges out;
    for (size_t i = 0; i < near.size(); ++i) {
      const Nic& nic = topology.nics[nics_[near[i]]];
      // The sum of the squares is least if GPUs and NICs have the same order.
      const long apart = static_cast<long>(rank * near.size()) - static_cast<long>(i * rivals);
      // If a socket has several NUMA nodes (SNC, NPS), SYS is the class both of a path within the socket and of one to
      // the other socket.
      const auto mine = socket_of(topology, gpu), theirs = socket_of(topology, nic);
      const PciDevice& end = nearer_function(gpu, nic);
      const auto [a, b] = below_shared(gpu, end).value_or(std::pair(gpu.bridges.size(), end.bridges.size()));
      out[near[i]] = {0, mine && theirs && mine != theirs ? 1 : 0, static_cast<long>(a + b), apart * apart};
    }
    return out;
  }

  bool relax(std::vector<std::optional<Cost>>& cost, std::vector<std::optional<size_t>>& moved) const {
    bool changed = false;
    for (size_t i = 0; i < assigned_.size(); ++i) {
      const auto& [gpu, at] = assigned_[i];
      const auto now = edges_[gpu].find(at);
      if (!cost[at] || now == edges_[gpu].end()) continue;
      for (const auto& [nic, price] : edges_[gpu]) {
        const Cost through = *cost[at] - now->second + price;
        if (nic == at || (cost[nic] && *cost[nic] <= through)) continue;
        cost[nic] = through;
        moved[nic] = i;
        changed = true;
      }
    }
    return changed;
  }

  std::vector<size_t> nics_;
  std::vector<Edges> edges_;
  std::vector<Assigned> fixed_, assigned_;
  std::vector<long> load_;
  size_t rounds_ = 0;
};

// Assigns `each` NICs to every GPU that has a path class to a NIC.
NicAssignment assign(const Topology& topology, const std::vector<size_t>& nics, size_t each) {
  NicAssignment out(topology, nics);
  for (size_t time = 0; time < each; ++time)
    for (size_t g = 0; g < topology.gpus.size(); ++g) out.add(g);
  return out;
}

}  // namespace

Pairing best_pairing(const Topology& topology, const std::vector<size_t>& nics) {
  const size_t gpus = topology.gpus.size();
  size_t each = gpus == 0 || gpus * nics.size() > kManyPaths ? 1 : nics.size() / gpus;
  for (each = std::min(each, NicAssignment(topology, nics).most_each()); each > 1; --each)
    if (const NicAssignment several = assign(topology, nics, each); several.greatest_load() == 1)
      return several.pairing(topology);
  return assign(topology, nics, 1).pairing(topology);
}

std::vector<size_t> doubtful_nics(const Topology& topology, const Pairing& pairing) {
  std::vector<size_t> out;
  const auto far = static_cast<size_t>(
      std::ranges::count_if(pairing.pairs, [](const Pair& pair) { return !is_on_switch(pair.path); }));
  if (far * 3 > pairing.pairs.size()) return out;
  for (const Pair& pair : pairing.pairs) {
    if (is_on_switch(pair.path)) continue;
    for (const size_t nic : pair.nics)
      if (!contains(out, nic) && std::ranges::none_of(topology.gpus, [&](const Gpu& gpu) {
            return is_on_switch(path_class(gpu, topology.nics[nic]));
          }))
        out.push_back(nic);
  }
  std::ranges::sort(out);
  return out;
}

Pairing without_lost(const Topology& topology, const Pairing& pairing, const std::vector<size_t>& usable,
                     const Pairing& built) {
  std::set<size_t> serving;
  for (const Pair& pair : built.pairs) serving.insert(pair.nics.begin(), pair.nics.end());
  std::vector<size_t> candidates, others;
  for (const size_t nic : usable) (serving.contains(nic) ? candidates : others).push_back(nic);
  NicAssignment out(topology, candidates);
  std::vector<size_t> lost;
  for (size_t g = 0; g < pairing.pairs.size(); ++g) {
    bool has_any = false;
    for (const size_t nic : pairing.pairs[g].nics) {
      if (!contains(candidates, nic)) continue;
      out.fix(g, nic);
      has_any = true;
    }
    if (!has_any && !pairing.pairs[g].nics.empty()) lost.push_back(g);
  }
  for (const size_t g : lost) out.add(g);
  Pairing left = out.pairing(topology);
  left.idle.insert(left.idle.end(), others.begin(), others.end());
  std::ranges::sort(left.idle);
  return left;
}

}  // namespace fabric
