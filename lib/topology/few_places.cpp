// SPDX-License-Identifier: Apache-2.0
#include "topology/few_places.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/find.h"
#include "base/parse.h"
#include "node/port.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

bool is_in_bond(const Topology& topology, const Nic& nic) {
  return std::ranges::any_of(topology.nics, [&](const Nic& other) {
    return (card_of(other.pci) == card_of(nic.pci) || (!nic.card.empty() && other.card == nic.card)) &&
           (!other.bond.empty() || std::ranges::any_of(other.rdma, [](const std::string& name) {
             return name.find("bond") != std::string::npos;  // mlx5_bond_0
           }));
  });
}

using Card = std::map<std::string, const Unit*>;  // by function: "0"
using Cards = std::map<std::string, Card>;        // by address: "0000:17:00"

std::map<Model, Cards> cards_of(const Units& units) {
  std::map<Model, Cards> out;
  for (const Unit& unit : units)
    if (const size_t dot = unit.device.pci.rfind('.'); !unit.model.gpu && dot != std::string::npos)
      out[unit.model][unit.device.pci.substr(0, dot)].emplace(unit.device.pci.substr(dot + 1), &unit);
  return out;
}

bool has_all(const Card& card, const Card& whole) {
  return std::ranges::all_of(whole, [&](const auto& function) { return card.contains(function.first); });
}

// Adds the functions of `whole`, which the other cards have and `card` lacks.
void add_lacking(const Model& model, const std::string& address, const Card& card, const Card& whole,
                 std::vector<MissingPart>& out) {
  if (!has_all(whole, card) || (model.board.empty() && card.contains("0"))) return;
  for (const auto& [function, twin] : whole) {
    if (card.contains(function)) continue;
    MissingPart part;
    part.place = card.begin()->second->device;
    part.place.pci = address + "." + function;
    part.below = part.place.bridges.empty() ? part.place.root : part.place.bridges.front();
    for (const auto& [number, unit] : card) part.beside.push_back(unit->name);
    out.push_back(std::move(part));
  }
}

using Sockets = std::map<std::string, std::vector<const Gpu*>>;

// "socket 1"; the NUMA node if sockets are unknown.
std::string socket_text(const Topology& topology, const PciDevice& device) {
  const auto socket = socket_of(topology, device);
  if (socket) return "socket " + std::to_string(*socket);
  return "NUMA node " + std::to_string(*device.numa);
}

// Empty if the NUMA node of a GPU is unknown.
Sockets gpus_by_socket(const Topology& topology) {
  Sockets out;
  for (const Gpu& gpu : topology.gpus) {
    if (!gpu.numa) return {};
    out[socket_text(topology, gpu)].push_back(&gpu);
  }
  return out;
}

// Whether every socket has as many cards of compute NICs as GPUs, except for one missing GPU. Requires two GPUs: of two
// cards, one may be a spare.
bool is_one_fewer_than_cards(const Topology& topology, std::span<const Port> ports, const Sockets& sockets) {
  std::map<std::string, std::set<std::string>> cards;
  for (const size_t index : compute_nics(topology, ports)) {
    const Nic& nic = topology.nics[index];
    if (!nic.numa) return false;
    cards[socket_text(topology, nic)].insert(nic.card.empty() ? card_of(nic.pci) : nic.card);
  }
  const size_t gpus = topology.gpus.size(), each = cards.empty() ? 0 : cards.begin()->second.size();
  return !sockets.empty() && cards.size() > 1 && gpus > 1 && gpus + 1 == each * cards.size() &&
         std::ranges::all_of(cards, [&](const auto& of) { return of.second.size() == each; }) &&
         std::ranges::all_of(sockets, [&](const auto& of) { return of.second.size() <= each; });
}

// "on socket 1, beside GPU4, GPU5, GPU6", if this socket has one GPU fewer than the other.
std::string lesser_half(const Sockets& sockets) {
  if (sockets.size() != 2) return "in this machine";
  const auto [less, more] =
      std::ranges::minmax_element(sockets, {}, [](const auto& each) { return each.second.size(); });
  if (less->second.size() + 1 != more->second.size()) return "in this machine";
  return "on " + less->first + ", beside " + joined(less->second, ", ", [](const Gpu* gpu) { return gpu->name; });
}

}  // namespace

std::optional<size_t> only_without_rdma(const Topology& topology, const PciDevice& model) {
  std::optional<size_t> found;
  std::vector<std::string_view> others;  // cards of the functions with an RDMA device
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (!are_alike(nic, model) || nic.virtual_function) continue;
    if (carries_rdma(nic)) others.emplace_back(nic.card);
    else if (is_in_bond(topology, nic)) continue;
    else if (found) return std::nullopt;
    else found = i;
  }
  if (!found || others.empty()) return std::nullopt;
  const Nic& nic = topology.nics[*found];
  if (nic.netdevs.empty() && (others.size() < 2 || contains(others, nic.card))) return std::nullopt;
  return found;
}

std::vector<MissingPart> missing_functions(const Topology& topology, std::span<const Port> ports) {
  std::vector<MissingPart> out;
  const Units units = units_of(topology, ports);
  for (const auto& [model, cards] : cards_of(units)) {
    const auto whole = std::ranges::max_element(cards, {}, [](const auto& card) { return card.second.size(); })->second;
    const auto lacking = std::ranges::find_if(cards, [&](const auto& card) { return !has_all(card.second, whole); });
    const auto others = std::ranges::count_if(cards, [&](const auto& card) { return has_all(card.second, whole); });
    if (static_cast<size_t>(others) + 1 == cards.size())
      add_lacking(model, lacking->first, lacking->second, whole, out);
  }
  return out;
}

std::optional<OddGpus> odd_gpus(const Topology& topology, std::span<const Port> ports) {
  const auto& gpus = topology.gpus;
  const bool alike = std::ranges::all_of(gpus, [&](const Gpu& gpu) { return are_alike(gpu, gpus.front()); });
  const Sockets sockets = gpus_by_socket(topology);
  const bool by_number = gpus.size() == 7 || gpus.size() == 15;
  if (!alike || (!by_number && !is_one_fewer_than_cards(topology, ports, sockets))) return std::nullopt;
  std::string counts;
  for (const auto& [socket, there] : sockets) append_item(counts, std::to_string(there.size()) + " on " + socket);
  if (!counts.empty()) counts.insert(0, ": ");
  return OddGpus{gpus.size() + 1, std::to_string(gpus.size()) + " GPUs" + counts, lesser_half(sockets)};
}

}  // namespace fabric
