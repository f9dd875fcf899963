// SPDX-License-Identifier: Apache-2.0
#include "topology/pairing.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/find.h"
#include "topology/compute_nics.h"
#include "topology/symmetry.h"

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

// Assigns units (one NIC for one GPU) one by one, each along the cheapest path, which may move other units to another
// NIC (successive shortest paths, Bellman-Ford): the result has the least cost.
class NicAssignment {
 public:
  // Changes a pair of `existing` only in favor of a NIC that serves no GPU.
  NicAssignment(const Topology& topology, const std::vector<size_t>& nics, const Pairing& existing = {})
      : nics_(nics), load_(nics.size(), 0) {
    for (size_t g = 0; g < topology.gpus.size(); ++g) edges_.push_back(edges_of(topology, g));
    for (size_t g = 0; g < existing.pairs.size(); ++g)
      for (const size_t nic : existing.pairs[g].nics) {
        units_.push_back({g, static_cast<size_t>(std::ranges::find(nics_, nic) - nics_.begin())});
        ++load_[units_.back().nic];
      }
    existing_ = units_.size();
    rounds_ = topology.gpus.size() * nics.size() > kManyPaths ? 1 : nics.size() + 1;
  }

  void add(size_t gpu) {
    if (edges_[gpu].empty()) return;
    std::vector<std::optional<Cost>> cost(nics_.size());
    std::vector<std::optional<size_t>> moved(nics_.size());  // the unit that moves from another NIC to this one
    for (const auto& [nic, price] : edges_[gpu]) cost[nic] = price;
    for (size_t round = 1; round < rounds_ && relax(cost, moved); ++round) {
    }
    size_t end = nics_.size();
    const auto total = [&](size_t nic) { return *cost[nic] + Cost{2 * load_[nic] + 1, 0, 0, 0}; };
    for (size_t nic = 0; nic < nics_.size(); ++nic)
      if (cost[nic] && (end == nics_.size() || total(nic) < total(end))) end = nic;
    ++load_[end];
    while (moved[end]) {
      const size_t unit = *moved[end];
      end = std::exchange(units_[unit].nic, end);
    }
    units_.push_back({gpu, end});
  }

  [[nodiscard]] long greatest_load() const { return load_.empty() ? 0 : *std::ranges::max_element(load_); }
  [[nodiscard]] Pairing pairing(const Topology& topology) const {
    Pairing out;
    out.pairs.resize(edges_.size());
    for (const auto& [gpu, nic] : units_) {
      Pair& pair = out.pairs[gpu];
      pair.nics.push_back(nics_[nic]);
      pair.shared_by = std::max(pair.shared_by, static_cast<unsigned>(load_[nic]));
      pair.path = path_class(topology.gpus[gpu], topology.nics[nics_[nic]]);  // all its NICs have the nearest class
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
  struct Unit {
    size_t gpu, nic;
  };
  using Edges = std::map<size_t, Cost>;  // only to NICs of the nearest class, by index into nics_

  [[nodiscard]] Edges edges_of(const Topology& topology, size_t g) const {
    const Gpu& gpu = topology.gpus[g];
    const auto best = nearest_class(topology, gpu, nics_);
    Edges out;
    for (size_t n = 0; best && n < nics_.size() && out.size() < kManyEdges; ++n) {
      const Nic& nic = topology.nics[nics_[n]];
      // The sum of the squares is least if GPUs and NICs have the same order.
      const long apart = static_cast<long>(g * nics_.size()) - static_cast<long>(n * topology.gpus.size());
      if (path_class(gpu, nic) != best) continue;
      // If a socket has several NUMA nodes (SNC, NPS), SYS is the class both of a path within the socket and of one to
      // the other socket.
      const auto mine = socket_of(topology, gpu), theirs = socket_of(topology, nic);
      const PciDevice& end = nearer_function(gpu, nic);
      const auto [a, b] = below_shared(gpu, end).value_or(std::pair(gpu.bridges.size(), end.bridges.size()));
      out[n] = {0, mine && theirs && mine != theirs ? 1 : 0, static_cast<long>(a + b), apart * apart};
    }
    return out;
  }

  bool relax(std::vector<std::optional<Cost>>& cost, std::vector<std::optional<size_t>>& moved) const {
    bool changed = false;
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      const auto& [gpu, at] = units_[unit];
      const auto now = edges_[gpu].find(at);
      if (!cost[at] || now == edges_[gpu].end()) continue;
      for (const auto& [nic, price] : edges_[gpu]) {
        const Cost through = *cost[at] - now->second + price + Cost{0, unit < existing_ ? 1 : 0, 0, 0};
        if (nic == at || (unit < existing_ && load_[nic] > 0) || (cost[nic] && *cost[nic] <= through)) continue;
        cost[nic] = through;
        moved[nic] = unit;
        changed = true;
      }
    }
    return changed;
  }

  std::vector<size_t> nics_;
  std::vector<Edges> edges_;
  std::vector<Unit> units_;
  std::vector<long> load_;
  size_t rounds_ = 0, existing_ = 0;
};

// Assigns `each` NICs to every GPU that has a path class to a NIC.
NicAssignment assign(const Topology& topology, const std::vector<size_t>& nics, size_t each) {
  NicAssignment out(topology, nics);
  for (size_t time = 0; time < each; ++time)
    for (size_t g = 0; g < topology.gpus.size(); ++g) out.add(g);
  return out;
}

// The pairing without the NICs that are not in `usable`. A GPU keeps its other NICs; a GPU without any shares the
// nearest one.
Pairing without(const Topology& topology, Pairing pairing, const std::vector<size_t>& usable) {
  std::vector<size_t> lost;
  for (size_t g = 0; g < pairing.pairs.size(); ++g) {
    auto& nics = pairing.pairs[g].nics;
    if (std::erase_if(nics, [&](size_t nic) { return !contains(usable, nic); }) > 0 && nics.empty()) lost.push_back(g);
  }
  NicAssignment out(topology, usable, pairing);
  for (const size_t g : lost) out.add(g);
  return out.pairing(topology);
}

// The pairing of the machine as built. Sets `whole` to the topology with the missing NICs after the others.
Pairing whole_pairing(const Topology& topology, std::span<const Port> ports, Topology& whole) {
  std::vector<size_t> all = compute_nics(topology, ports);
  const size_t compute = all.size();
  whole = topology;
  for (Nic& gone : missing_nics(topology, ports)) {
    const auto is_like = [&](size_t nic) { return are_alike(topology.nics[nic], gone); };
    if (std::none_of(all.begin(), all.begin() + static_cast<long>(compute), is_like)) continue;
    all.push_back(whole.nics.size());
    whole.nics.push_back(std::move(gone));
  }
  std::ranges::sort(all, [&](size_t a, size_t b) { return whole.nics[a].pci < whole.nics[b].pci; });
  return best_pairing(whole, all);
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

Pairing built_pairing(const Topology& topology, std::span<const Port> ports) {
  Topology whole;
  return without(topology, whole_pairing(topology, ports, whole), compute_nics(topology, ports));
}

Pairing best_pairing(const Topology& topology, std::span<const Port> ports) {
  return without(topology, built_pairing(topology, ports), usable_nics(topology, ports, compute_nics(topology, ports)));
}

std::map<std::string, Rail> rails_of(const Topology& topology, std::span<const Port> ports) {
  Topology whole;
  const Pairing pairing = whole_pairing(topology, ports, whole);
  std::vector<std::vector<size_t>> rails;  // the NICs of each rail
  const bool shared = std::ranges::any_of(pairing.pairs, [](const Pair& pair) { return pair.shared_by > 1; });
  std::set<size_t> known;
  for (const Pair& pair : pairing.pairs) {
    std::vector<size_t> own;
    std::ranges::copy_if(pair.nics, std::back_inserter(own), [&](size_t nic) { return known.insert(nic).second; });
    if (!own.empty() || !shared) rails.push_back(std::move(own));
  }
  if (topology.gpus.empty()) {
    std::map<std::string, size_t> cards;
    for (const size_t nic : compute_nics(topology, ports)) {
      const Nic& each = topology.nics[nic];
      const auto [card, is_new] = cards.emplace(each.card.empty() ? each.pci : each.card, rails.size());
      if (is_new) rails.emplace_back();
      rails[card->second].push_back(nic);
    }
  }
  std::map<std::string, Rail> out;
  for (size_t rail = 0; rail < rails.size(); ++rail)
    for (size_t plane = 0; plane < rails[rail].size(); ++plane)
      out[whole.nics[rails[rail][plane]].pci] = {rail, rails[rail].size() > 1 ? std::optional(plane) : std::nullopt};
  return out;
}

}  // namespace fabric
