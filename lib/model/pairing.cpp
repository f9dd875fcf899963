// SPDX-License-Identifier: Apache-2.0
#include "model/pairing.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/pci_kind.h"

namespace fabric {
namespace {

constexpr unsigned kActive = 4;              // enum ib_port_state (rdma/ib_verbs.h)
constexpr size_t kManyPaths = size_t{1} << 13, kManyEdges = 256;

bool is_of(const Port& port, const Nic& nic) {
  return std::find(nic.rdma.begin(), nic.rdma.end(), port.rdma) != nic.rdma.end();
}

struct Kind {
  uint16_t vendor = 0, device = 0;
  LinkLayer layer = LinkLayer::unknown;
  auto operator<=>(const Kind&) const = default;
};

Kind kind_of(const Nic& nic, std::span<const Port> ports) {
  Kind kind{nic.vendor, nic.device, LinkLayer::unknown};
  for (const Port& port : ports)
    if (is_of(port, nic) && port.link_layer != LinkLayer::unknown) kind.layer = port.link_layer;
  return kind;
}

// A NIC whose ports are gone counts with those of its model.
std::map<size_t, Kind> kinds_of(const Topology& topology, const std::vector<size_t>& nics, std::span<const Port> ports) {
  std::map<size_t, Kind> out;
  for (const size_t nic : nics) out[nic] = kind_of(topology.nics[nic], ports);
  for (auto& [nic, kind] : out)
    for (const auto& [other, known] : out)
      if (kind.layer == LinkLayer::unknown && kind.vendor == known.vendor && kind.device == known.device) kind.layer = known.layer;
  return out;
}

double rate_of(const Nic& nic, std::span<const Port> ports) {
  double rate = 0;
  for (const Port& port : ports)
    if (is_of(port, nic)) rate = std::max(rate, port.rate.value_or(0));
  return rate;
}

std::vector<size_t> rdma_nics(const Topology& topology) {
  std::vector<size_t> physical, all;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    if (!carries_rdma(topology.nics[i])) continue;
    all.push_back(i);
    if (!topology.nics[i].virtual_function) physical.push_back(i);
  }
  return physical.empty() ? all : physical;
}

// How well a kind suits: GPUs that it is nearest to, cards, rate.
struct Suits {
  size_t gpus = 0;
  std::set<std::string> cards;
  double rate = 0;
};

// The nearest class from the GPU to any of the NICs.
std::optional<PathClass> nearest_class(const Topology& topology, const Gpu& gpu, const std::vector<size_t>& nics) {
  std::optional<PathClass> best;
  for (const size_t nic : nics)
    if (const auto path = path_class(gpu, topology.nics[nic]); path && (!best || *path < *best)) best = path;
  return best;
}

// Where the fastest ports suffice for all GPUs, at the same classes, several slower ones were built in for something else.
std::vector<size_t> without_slower(const Topology& topology, std::span<const Port> ports, const std::vector<size_t>& nics) {
  double best = 0;
  for (const size_t nic : nics) best = std::max(best, rate_of(topology.nics[nic], ports));
  std::vector<size_t> fast;
  for (const size_t nic : nics)
    if (rate_of(topology.nics[nic], ports) >= best) fast.push_back(nic);
  const bool suffices = fast.size() >= topology.gpus.size() && fast.size() + 2 <= nics.size() &&
                        std::all_of(topology.gpus.begin(), topology.gpus.end(), [&](const Gpu& gpu) {
                          return nearest_class(topology, gpu, fast) == nearest_class(topology, gpu, nics);
                        });
  return suffices && !topology.gpus.empty() ? fast : nics;
}

// `own` and those of `others` that are as near to some GPU as its nearest of `own`, or nearer; in PCI order.
std::vector<size_t> with_as_near(const Topology& topology, const std::vector<size_t>& own, const std::vector<size_t>& others) {
  std::vector<size_t> out = own;
  std::copy_if(others.begin(), others.end(), std::back_inserter(out), [&](size_t nic) {
    return std::any_of(topology.gpus.begin(), topology.gpus.end(), [&](const Gpu& gpu) {
      const auto path = path_class(gpu, topology.nics[nic]), best = nearest_class(topology, gpu, own);
      return path && (!best || *path <= *best);
    });
  });
  std::sort(out.begin(), out.end());
  return out;
}

// What a pairing costs, worst first. `load` is the sum of squares of what each NIC serves: least when loads are equal.
struct Cost {
  long load = 0, bridges = 0, order = 0;
  auto operator<=>(const Cost&) const = default;
  Cost operator+(const Cost& other) const { return {load + other.load, bridges + other.bridges, order + other.order}; }
  Cost operator-(const Cost& other) const { return {load - other.load, bridges - other.bridges, order - other.order}; }
};

long bridges_between(const PciDevice& a, const PciDevice& b) {
  for (size_t i = 0; i < a.bridges.size(); ++i)
    if (const auto shared = std::find(b.bridges.begin(), b.bridges.end(), a.bridges[i]); shared != b.bridges.end())
      return static_cast<long>(i) + (shared - b.bridges.begin());
  return static_cast<long>(a.bridges.size() + b.bridges.size());
}

// Assigns units (a GPU's wish for one NIC) one after the other, each along the cheapest path that may move others to
// another NIC (successive shortest paths, Bellman-Ford): the result is of least cost.
class Assignment {
 public:
  Assignment(const Topology& topology, const std::vector<size_t>& nics) : nics_(nics), load_(nics.size(), 0) {
    for (size_t g = 0; g < topology.gpus.size(); ++g) edges_.push_back(edges_of(topology, g));
    rounds_ = topology.gpus.size() * nics.size() > kManyPaths ? 1 : nics.size() + 1;
  }

  void add(size_t gpu) {
    if (edges_[gpu].empty()) return;
    std::vector<std::optional<Cost>> cost(nics_.size());
    std::vector<std::optional<size_t>> moved(nics_.size());  // the unit that goes on from another NIC to this one
    for (const auto& [nic, price] : edges_[gpu]) cost[nic] = price;
    for (size_t round = 1; round < rounds_ && relax(cost, moved); ++round) {
    }
    size_t end = nics_.size();
    const auto total = [&](size_t nic) { return *cost[nic] + Cost{2 * load_[nic] + 1, 0, 0}; };
    for (size_t nic = 0; nic < nics_.size(); ++nic)
      if (cost[nic] && (end == nics_.size() || total(nic) < total(end))) end = nic;
    ++load_[end];
    while (moved[end]) {
      const size_t unit = *moved[end];
      end = std::exchange(units_[unit].nic, end);
    }
    units_.push_back({gpu, end});
  }

  [[nodiscard]] long greatest_load() const { return load_.empty() ? 0 : *std::max_element(load_.begin(), load_.end()); }
  [[nodiscard]] std::vector<std::vector<size_t>> by_gpu() const {
    std::vector<std::vector<size_t>> out(edges_.size());
    for (const Unit& unit : units_) out[unit.gpu].push_back(unit.nic);
    return out;
  }
  [[nodiscard]] const std::vector<long>& load() const { return load_; }
  // No more of their own than this can each GPU have: those with the same nearest NICs share them out.
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
  using Edges = std::map<size_t, Cost>;  // to NICs of the nearest class alone, by place in nics_

  [[nodiscard]] Edges edges_of(const Topology& topology, size_t g) const {
    const Gpu& gpu = topology.gpus[g];
    const auto best = nearest_class(topology, gpu, nics_);
    Edges out;
    for (size_t n = 0; best && n < nics_.size() && out.size() < kManyEdges; ++n) {
      const Nic& nic = topology.nics[nics_[n]];
      // Squares of distances are least, summed up, when both sides stand in the same order.
      const long apart = static_cast<long>(g * nics_.size()) - static_cast<long>(n * topology.gpus.size());
      if (path_class(gpu, nic) == best) out[n] = {0, bridges_between(gpu, nic), apart * apart};
    }
    return out;
  }

  bool relax(std::vector<std::optional<Cost>>& cost, std::vector<std::optional<size_t>>& moved) const {
    bool changed = false;
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      const auto& [gpu, at] = units_[unit];
      if (!cost[at]) continue;
      for (const auto& [nic, price] : edges_[gpu]) {
        const Cost through = *cost[at] - edges_[gpu].at(at) + price;
        if (nic == at || (cost[nic] && *cost[nic] <= through)) continue;
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
  size_t rounds_ = 0;
};

// `each` NICs for every GPU that has a class to any.
Assignment assign(const Topology& topology, const std::vector<size_t>& nics, size_t each) {
  Assignment out(topology, nics);
  for (size_t time = 0; time < each; ++time)
    for (size_t g = 0; g < topology.gpus.size(); ++g) out.add(g);
  return out;
}

Pairing pairing_of(const Topology& topology, const std::vector<size_t>& nics, const Assignment& assignment) {
  Pairing out;
  const auto by_gpu = assignment.by_gpu();
  for (size_t g = 0; g < topology.gpus.size(); ++g) {
    Pair pair;
    for (const size_t place : by_gpu[g]) {
      pair.nics.push_back(nics[place]);
      pair.shared_by = std::max(pair.shared_by, static_cast<unsigned>(assignment.load()[place]));
    }
    std::sort(pair.nics.begin(), pair.nics.end());
    if (!pair.nics.empty()) pair.path = path_class(topology.gpus[g], topology.nics[pair.nics.front()]);
    out.pairs.push_back(std::move(pair));
  }
  for (size_t place = 0; place < nics.size(); ++place)
    if (assignment.load()[place] == 0) out.idle.push_back(nics[place]);
  return out;
}

}  // namespace

std::vector<size_t> compute_nics(const Topology& topology, std::span<const Port> ports) {
  const std::vector<size_t> all = rdma_nics(topology);
  const std::map<size_t, Kind> kind = kinds_of(topology, all, ports);
  std::map<Kind, Suits> kinds;
  for (const size_t nic : all) {
    Suits& suits = kinds[kind.at(nic)];
    suits.cards.insert(topology.nics[nic].card.empty() ? topology.nics[nic].pci : topology.nics[nic].card);
    suits.rate = std::max(suits.rate, rate_of(topology.nics[nic], ports));
  }
  if (kinds.size() < 2) return without_slower(topology, ports, all);
  for (const Gpu& gpu : topology.gpus) {
    const auto best = nearest_class(topology, gpu, all);
    std::set<Kind> near;
    for (const size_t nic : all)
      if (best && path_class(gpu, topology.nics[nic]) == best) near.insert(kind.at(nic));
    for (const Kind& each : near) ++kinds[each].gpus;
  }
  const auto chosen = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    const size_t cards_a = a.second.cards.size(), cards_b = b.second.cards.size();
    return std::tie(a.second.gpus, cards_a, a.second.rate) < std::tie(b.second.gpus, cards_b, b.second.rate);
  });
  std::vector<size_t> own, others;
  for (const size_t nic : all) {
    const auto& [other, suits] = *kinds.find(kind.at(nic));
    const bool as_fast = chosen->second.rate > 0 && suits.rate >= chosen->second.rate && other.layer == chosen->first.layer;
    if (other == chosen->first) own.push_back(nic);
    else if (as_fast) others.push_back(nic);
  }
  return without_slower(topology, ports, own.size() < topology.gpus.size() ? with_as_near(topology, own, others) : own);
}

std::vector<size_t> usable_nics(const Topology& topology, std::span<const Port> ports, const std::vector<size_t>& nics) {
  std::vector<size_t> up;
  for (const size_t nic : nics)
    if (std::any_of(ports.begin(), ports.end(),
                    [&](const Port& port) { return is_of(port, topology.nics[nic]) && port.state == kActive; }))
      up.push_back(nic);
  return up.empty() ? nics : up;
}

Pairing best_pairing(const Topology& topology, const std::vector<size_t>& nics) {
  const size_t gpus = topology.gpus.size();
  size_t each = gpus == 0 || gpus * nics.size() > kManyPaths ? 1 : nics.size() / gpus;
  for (each = std::min(each, Assignment(topology, nics).most_each()); each > 1; --each)
    if (const Assignment several = assign(topology, nics, each); several.greatest_load() == 1)
      return pairing_of(topology, nics, several);
  return pairing_of(topology, nics, assign(topology, nics, 1));
}

Pairing best_pairing(const Topology& topology, std::span<const Port> ports) {
  return best_pairing(topology, usable_nics(topology, ports, compute_nics(topology, ports)));
}

}  // namespace fabric
