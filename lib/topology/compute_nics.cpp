// SPDX-License-Identifier: Apache-2.0
#include "topology/compute_nics.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/find.h"
#include "node/endpoints.h"

namespace fabric {
namespace {

bool is_of(const Port& port, const Nic& nic) { return contains(nic.rdma, port.rdma); }

struct NicKind {
  PciModel model{};
  unsigned lanes = 0;  // the most that the device can have: chips of the same model manage NVLink switches by two lanes
  LinkLayer layer = LinkLayer::unknown;
  auto operator<=>(const NicKind&) const = default;
};

// A NIC without ports has the link layer of the other NICs of its model; one without a readable link has their lanes.
std::map<size_t, NicKind> kinds_of(const Topology& topology, const std::vector<size_t>& nics,
                                   std::span<const Port> ports) {
  std::map<size_t, NicKind> out;
  for (const size_t nic : nics) {
    const Nic& each = topology.nics[nic];
    out[nic] = {.model = model_of(each), .lanes = each.link.max_width.value_or(0)};
    for (const Port& port : ports)
      if (is_of(port, topology.nics[nic]) && port.link_layer != LinkLayer::unknown) out[nic].layer = port.link_layer;
  }
  for (auto& [nic, kind] : out)
    for (const auto& [other, known] : out) {
      if (kind.model != known.model) continue;
      if (kind.layer == LinkLayer::unknown) kind.layer = known.layer;
      if (kind.lanes == 0) kind.lanes = known.lanes;
    }
  return out;
}

// nullopt for a NIC whose ports have no link: drivers still report a rate then, but it means nothing.
std::optional<double> rate_of(const Nic& nic, std::span<const Port> ports) {
  std::optional<double> rate;
  for (const Port& port : ports)
    if (is_of(port, nic) && may_be_active(port)) rate = std::max(rate, port.rate);
  return rate;
}

std::optional<double> rate_beside(const Topology& topology, const Nic& nic, std::span<const Port> ports) {
  std::optional<double> rate;
  for (const Nic& other : topology.nics)
    if (&other != &nic && !nic.card.empty() && other.card == nic.card) rate = std::max(rate, rate_of(other, ports));
  return rate;
}

// The same port of all cards of the board, if it has a link.
std::vector<const Nic*> twins_with_link(const Topology& topology, const Nic& nic, std::span<const Port> ports) {
  const NicBoard board = board_of(nic, ports);
  std::vector<const Nic*> out;
  for (const Nic& other : topology.nics)
    if (place_on_card(other.pci) == place_on_card(nic.pci) && rate_of(other, ports) && board_of(other, ports) == board)
      out.push_back(&other);
  return out;
}

// The most that the NIC's PCIe link can carry, in bytes per second; 0: unknown.
double slot_of(const Nic& nic) { return nic.link.max_speed.value_or(0) * nic.link.max_width.value_or(0) * 1e9 / 8; }

// The virtual functions by which this host uses the NIC: its own ports have no link, and those of the functions are
// ACTIVE, with a routable GID of their own netdev.
std::vector<size_t> functions_in_use(const Topology& topology, const Nic& nic, std::span<const Port> ports) {
  std::vector<size_t> out;
  const auto is_own = [&](const Port& port) { return is_of(port, nic); };
  const auto has_link = [&](const Port& port) { return is_own(port) && may_be_active(port); };
  if (std::ranges::none_of(ports, is_own) || std::ranges::any_of(ports, has_link)) return out;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& function = topology.nics[i];
    if (!function.is_virtual_function() || function.rdma_elsewhere || function.netdev_elsewhere) continue;
    if (std::ranges::any_of(ports, [&](const Port& port) {
          return is_of(port, function) && port.owner == nic.pci && is_used_function(port);
        }))
      out.push_back(i);
  }
  return out;
}

// Physical functions, or the virtual ones that are used in place of one, or those in a container that has only these.
std::vector<size_t> rdma_nics(const Topology& topology, std::span<const Port> ports) {
  std::vector<size_t> physical, own_virtual;
  bool own_physical = false;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (!carries_rdma(nic) || has_no_network(nic)) continue;
    own_physical = own_physical || (!nic.is_virtual_function() && !nic.rdma_elsewhere);
    if (!nic.is_virtual_function()) {
      const std::vector<size_t> functions = functions_in_use(topology, nic, ports);
      physical.insert(physical.end(), functions.begin(), functions.end());
      if (functions.empty()) physical.push_back(i);
    } else if (!nic.rdma_elsewhere) own_virtual.push_back(i);
  }
  std::ranges::sort(physical);
  if (own_physical || own_virtual.empty()) return physical;
  return own_virtual;
}

// Whether the libraries of GPU jobs cannot use any of the NIC's ports: iWARP, usNIC.
bool has_other_transport(const Nic& nic, std::span<const Port> ports) {
  bool any = false;
  for (const Port& port : ports) {
    if (!is_of(port, nic)) continue;
    if (why_not_by_verbs(port).empty()) return false;
    any = true;
  }
  return any;
}

// How well a kind suits: the GPUs that it is nearest to, those of them that share a switch with it, cards, rate, slot.
struct Suits {
  size_t gpus = 0, on_switch = 0;
  std::set<std::string> cards;
  double rate = 0, slot = 0;
  bool elsewhere = false;  // some NICs are in containers, so that their rates are not visible here

  // A NIC on a switch with GPUs was built in for them. A place below a root complex does not show that, so the rate of
  // all cards together comes next.
  [[nodiscard]] auto key() const {
    double each = rate;
    if (rate <= 0 && elsewhere) each = slot;
    return std::tuple(each > 0, on_switch, each * static_cast<double>(cards.size()), gpus, cards.size());
  }
};

// Compares kinds without any link, or in containers, by their PCIe slots.
bool is_as_fast(const Suits& other, const Suits& chosen) {
  if (other.rate > 0 && chosen.rate > 0) return other.rate >= chosen.rate;
  return other.slot > 0 && other.slot >= chosen.slot;
}

// Whether `some` are enough NICs for all GPUs, and each GPU is as near to one of them as to one of `nics`.
bool suffices(const Topology& topology, const std::vector<size_t>& some, const std::vector<size_t>& nics) {
  if (topology.gpus.empty() || some.size() + 2 > nics.size()) return false;
  return some.size() >= topology.gpus.size() && std::ranges::all_of(topology.gpus, [&](const Gpu& gpu) {
           return nearest_class(topology, gpu, some) == nearest_class(topology, gpu, nics);
         });
}

// If the fastest ports suffice for all GPUs, slower or unused ones were built in for something else. A port without a
// link, or the only one of its board with a slower link, counts as fast as its board; a port in a container counts as
// fast.
std::vector<size_t> without_slower(const Topology& topology, std::span<const Port> ports,
                                   const std::vector<size_t>& nics, bool unused) {
  std::optional<double> best;
  for (const size_t nic : nics) best = std::max(best, rate_of(topology.nics[nic], ports));
  std::set<NicBoard> boards;
  for (const size_t nic : nics)
    if (best && rate_of(topology.nics[nic], ports) == best) boards.insert(board_of(topology.nics[nic], ports));
  std::map<NicBoard, size_t> slow;
  for (const size_t nic : nics)
    if (const auto rate = likely_rate(topology, topology.nics[nic], ports); rate && rate != best)
      ++slow[board_of(topology.nics[nic], ports)];
  std::vector<size_t> fast, on_fast_boards;
  for (const size_t nic : nics) {
    const Nic& each = topology.nics[nic];
    const auto rate = likely_rate(topology, each, ports);
    const NicBoard its_board = board_of(each, ports);
    const bool board = each.rdma_elsewhere || boards.contains(its_board);
    if (board) on_fast_boards.push_back(nic);
    const bool used = each.rdma_elsewhere || is_in_use(topology, each, ports);
    const bool by_board = !rate || slow[its_board] == 1;
    if (((rate && rate == best) || (by_board && board)) && (unused || used)) fast.push_back(nic);
  }
  if (suffices(topology, fast, nics)) return fast;
  if (suffices(topology, on_fast_boards, nics)) return on_fast_boards;
  return nics;
}

// `own`, and those of `others` that are at least as near to a GPU as the nearest of `own`; in PCI order.
std::vector<size_t> with_as_near(const Topology& topology, const std::vector<size_t>& own,
                                 const std::vector<size_t>& others) {
  std::vector<size_t> out = own;
  std::ranges::copy_if(others, std::back_inserter(out), [&](size_t nic) {
    return std::ranges::any_of(topology.gpus, [&](const Gpu& gpu) {
      const auto path = path_class(gpu, topology.nics[nic]), best = nearest_class(topology, gpu, own);
      return path && (!best || *path <= *best);
    });
  });
  std::ranges::sort(out);
  return out;
}

// Whether every GPU has equally many nearest NICs, at the same class.
bool are_even(const Topology& topology, const std::vector<size_t>& nics) {
  std::set<std::pair<std::optional<PathClass>, size_t>> near;
  for (const Gpu& gpu : topology.gpus) {
    const auto best = nearest_class(topology, gpu, nics);
    const auto is_near = [&](size_t nic) { return path_class(gpu, topology.nics[nic]) == best; };
    near.emplace(best, std::ranges::count_if(nics, is_near));
  }
  return near.size() < 2;
}

bool has_on_switch(const Topology& topology, const Gpu& gpu, const std::vector<size_t>& nics) {
  return is_on_switch(nearest_class(topology, gpu, nics));
}

// `own`, and those of `others` on the switches of GPUs that have none of `own` there, if the other GPUs have. GPUs may
// be missing, so that `own` suffices by number.
std::vector<size_t> with_others_on_switches(const Topology& topology, const std::vector<size_t>& own,
                                            const std::vector<size_t>& others) {
  std::vector<const Gpu*> without;
  for (const Gpu& gpu : topology.gpus)
    if (!has_on_switch(topology, gpu, own)) without.push_back(&gpu);
  if (without.empty() || without.size() * 3 > topology.gpus.size()) return own;
  std::vector<size_t> out = own;
  for (const size_t nic : others)
    if (std::ranges::any_of(without, [&](const Gpu* gpu) { return has_on_switch(topology, *gpu, {nic}); }))
      out.push_back(nic);
  std::ranges::sort(out);
  return out;
}

// Returns `own` if there is one for each GPU. Otherwise adds NICs of other makes that are as fast, if that makes one
// for each GPU (those without a link last), or if the result is more even than `own` alone. NICs that fit neither case
// serve another purpose.
std::vector<size_t> with_other_makes(const Topology& topology, const std::vector<size_t>& own,
                                     const std::vector<size_t>& others, const std::vector<size_t>& dark) {
  if (own.size() >= topology.gpus.size()) return with_others_on_switches(topology, own, others);
  std::vector<size_t> more = others;
  more.insert(more.end(), dark.begin(), dark.end());
  const auto lit = with_as_near(topology, own, others), all = with_as_near(topology, own, more);
  if (lit.size() >= topology.gpus.size()) return lit;
  if (all.size() >= topology.gpus.size()) return all;
  if (are_even(topology, own) && !are_even(topology, lit)) return own;
  return lit;
}

// The slower NIC that is in the place of one of `own`: all GPUs but one have one of these on a switch, and that one has
// the slower NIC there. A card of another make replaced the one that was built in.
std::optional<size_t> slower_replacement(const Topology& topology, const std::vector<size_t>& own,
                                         const std::vector<size_t>& slower) {
  if (own.size() < 3 || own.size() + 1 != topology.gpus.size()) return std::nullopt;
  const Gpu* without = nullptr;
  for (const Gpu& gpu : topology.gpus) {
    if (has_on_switch(topology, gpu, own)) continue;
    if (without != nullptr) return std::nullopt;
    without = &gpu;
  }
  std::optional<size_t> out;
  for (const size_t nic : slower) {
    if (without == nullptr || !has_on_switch(topology, *without, {nic})) continue;
    if (out) return std::nullopt;
    out = nic;
  }
  return out;
}

}  // namespace

std::optional<double> likely_rate(const Topology& topology, const Nic& nic, std::span<const Port> ports) {
  const std::optional<double> own = rate_of(nic, ports), beside = own ? own : rate_beside(topology, nic, ports);
  if (own || !beside) return own;
  std::optional<double> rate;
  for (const Nic* twin : twins_with_link(topology, nic, ports))
    if (rate_beside(topology, *twin, ports) == beside) rate = std::max(rate, rate_of(*twin, ports));
  if (!rate) return beside;
  return rate;
}

bool is_in_use(const Topology& topology, const Nic& nic, std::span<const Port> ports) {
  return rate_of(nic, ports) || !twins_with_link(topology, nic, ports).empty();
}

std::optional<PathClass> nearest_class(const Topology& topology, const Gpu& gpu, const std::vector<size_t>& nics) {
  std::optional<PathClass> best;
  for (const size_t nic : nics)
    if (const auto path = path_class(gpu, topology.nics[nic]); path && (!best || *path < *best)) best = path;
  return best;
}

std::vector<size_t> compute_nics(const Topology& topology, std::span<const Port> ports, bool unused) {
  std::vector<size_t> all = rdma_nics(topology, ports);
  const auto is_other = [&](size_t nic) { return has_other_transport(topology.nics[nic], ports); };
  if (!std::ranges::all_of(all, is_other)) std::erase_if(all, is_other);
  const std::map<size_t, NicKind> kind = kinds_of(topology, all, ports);
  std::map<NicKind, Suits> kinds;
  for (const size_t nic : all) {
    Suits& suits = kinds[kind.at(nic)];
    suits.cards.insert(card_of(topology.nics[nic]));
    suits.rate = std::max(suits.rate, rate_of(topology.nics[nic], ports).value_or(0));
    suits.slot = std::max(suits.slot, slot_of(topology.nics[nic]));
    suits.elsewhere = suits.elsewhere || topology.nics[nic].rdma_elsewhere;
  }
  if (kinds.size() < 2) return without_slower(topology, ports, all, unused);
  for (const Gpu& gpu : topology.gpus) {
    const auto best = nearest_class(topology, gpu, all);
    std::set<NicKind> near;
    for (const size_t nic : all)
      if (best && path_class(gpu, topology.nics[nic]) == best) near.insert(kind.at(nic));
    for (const NicKind& each : near) {
      ++kinds[each].gpus;
      kinds[each].on_switch += is_on_switch(best) ? 1 : 0;
    }
  }
  const auto chosen = std::ranges::max_element(kinds, {}, [](const auto& each) { return each.second.key(); });
  std::vector<size_t> own, others, dark, slower;
  for (const size_t nic : all) {
    const auto& [other, suits] = *kinds.find(kind.at(nic));
    const bool as_fast = is_as_fast(suits, chosen->second) && other.layer == chosen->first.layer;
    if (other == chosen->first) own.push_back(nic);
    else if (as_fast) (suits.rate > 0 ? others : dark).push_back(nic);
    else if (other.layer == chosen->first.layer) slower.push_back(nic);
  }
  std::vector<size_t> out = with_other_makes(topology, own, others, dark);
  if (const auto replacement = slower_replacement(topology, out, slower)) {
    out.push_back(*replacement);
    std::ranges::sort(out);
    return out;
  }
  return without_slower(topology, ports, out, unused);
}

std::vector<size_t> usable_nics(const Topology& topology, std::span<const Port> ports,
                                const std::vector<size_t>& nics) {
  std::vector<size_t> up;
  for (const size_t nic : nics)
    if (std::ranges::any_of(ports,
                            [&](const Port& port) { return is_of(port, topology.nics[nic]) && is_active(port); }))
      up.push_back(nic);
  if (up.empty()) return nics;
  return up;
}

}  // namespace fabric
