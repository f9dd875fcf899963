// SPDX-License-Identifier: Apache-2.0
#include "topology/built.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/find.h"
#include "node/inventory.h"
#include "node/port.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

const std::string& address_of(const PciDevice& device) { return device.pci; }

// A port without its counters, settings and addresses.
Port outline_of(const Port& port) {
  Port out;
  out.rdma = port.rdma;
  out.number = port.number;
  out.pci = port.pci;
  out.board_id = port.board_id;
  out.link_layer = port.link_layer;
  out.state = port.state;
  out.rate = port.rate;
  if (port.role == PortRole::virtual_function) {  // whether this host uses it
    out.role = port.role;
    out.owner = port.owner;
    out.netdev = port.netdev;
    out.gids = port.gids;
  }
  return out;
}

// Gives the NIC an RDMA device and a port, like those of `twin`. No name of a present device: those are renamed when
// one is gone.
void give_rdma(Built& built, size_t nic, std::optional<size_t> twin, const InventoryPart* was = nullptr) {
  Nic& own = built.topology.nics[nic];
  Port port;
  if (twin)
    for (const Port& other : built.ports)
      if (contains(built.topology.nics[*twin].rdma, other.rdma)) port = other;
  own.rdma = {"lost:" + own.pci + "#" + std::to_string(nic)};
  port.rdma = own.rdma.front();
  port.pci = own.pci;
  if (was != nullptr && !was->rates.empty()) {
    port.rate = was->rates.begin()->second;
    port.state = kPortActive;
  }
  built.ports.push_back(std::move(port));
  built.lost.insert(nic);
}

// A present NIC of the model with an RDMA device.
std::optional<size_t> twin_of(const Topology& topology, const PciDevice& model) {
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (are_of_one_model(nic, model) && carries_rdma(nic) && !nic.is_virtual_function() && !has_no_network(nic))
      return i;
  }
  return std::nullopt;
}

// The present addresses of bridges and root buses that were renumbered, by their recorded ones.
using Bridges = std::map<std::string, std::string>;

void add_bridges(const InventoryPart& was, const PciDevice& is, Bridges& out) {
  out.emplace(was.root, is.root);
  for (size_t i = 1; i <= std::min(was.bridges.size(), is.bridges.size()); ++i)
    out.emplace(was.bridges[was.bridges.size() - i], is.bridges[is.bridges.size() - i]);
}

PciDevice place_of(const InventoryPart& was, const Bridges& bridges) {
  PciDevice out{.pci = was.pci,
                .vendor = was.vendor,
                .device = was.device,
                .numa = was.numa,
                .bridges = was.bridges,
                .root = was.root,
                .link = {}};
  out.link.max_width = was.width;
  for (std::string& bridge : out.bridges)
    if (const std::string* now = find_in(bridges, bridge)) bridge = *now;
  if (const std::string* now = find_in(bridges, was.root)) out.root = *now;
  return out;
}

// Adds the parts that the inventory has and the machine lacks now. Returns where each recorded part is in the topology,
// by its index in the inventory.
std::vector<size_t> add_recorded(const Inventory& recorded, Built& built) {
  Topology& whole = built.topology;
  const auto parts = inventory_parts(whole);
  const auto matches = match_parts(recorded, parts);
  std::map<std::pair<bool, std::string>, size_t> at;
  for (size_t i = 0; i < whole.gpus.size(); ++i) at[{true, whole.gpus[i].pci}] = i;
  for (size_t i = 0; i < whole.nics.size(); ++i) at[{false, whole.nics[i].pci}] = i;
  std::vector<size_t> out(recorded.parts.size());
  Bridges bridges;
  for (const auto& [i, match] : matches) {
    const InventoryPart& was = recorded.parts[i];
    out[i] = at.at({was.gpu, parts[match].pci});
    PciDevice& device = was.gpu ? static_cast<PciDevice&>(whole.gpus[out[i]]) : whole.nics[out[i]];
    if (was.root == device.root && way_to(was) == way_to(parts[match])) add_bridges(was, device, bridges);
    built.recorded_at[device.pci] = was.pci;
    if (was.numa && !device.numa_assumed) device.numa = device.numa_above = was.numa;
    if (was.gpu) continue;
    Nic& nic = whole.nics[out[i]];
    if (!nic.direct && !was.direct.empty())
      if (const size_t* direct = find_in(at, std::pair(false, was.direct))) nic.direct = whole.nics[*direct];
    if (nic.rdma.empty() && !was.rdma.empty() && !carries_rdma(nic)) {
      give_rdma(built, out[i], twin_of(whole, nic), &was);
      built.lost_since.insert(out[i]);
    }
  }
  const auto device_of = [&](size_t i) -> const PciDevice& {
    return recorded.parts[i].gpu ? static_cast<const PciDevice&>(whole.gpus[out[i]]) : whole.nics[out[i]];
  };
  // After the parts that are in their places: one that was moved has other bridges above it.
  for (const auto& [i, match] : matches) add_bridges(recorded.parts[i], device_of(i), bridges);
  for (const auto& [i, match] : matches) {
    const InventoryPart& was = recorded.parts[i];
    const PciDevice& device = device_of(i);
    if (was.bridges.empty() || device.bridges.empty()) continue;  // unknown
    PciDevice place = place_of(was, bridges);
    if (place.root != device.root || place.bridges != device.bridges) built.moved[device.pci] = std::move(place);
  }
  for (size_t i = 0; i < recorded.parts.size(); ++i) {
    if (matches.contains(i)) continue;
    const InventoryPart& was = recorded.parts[i];
    if (was.gpu) {
      out[i] = whole.gpus.size();
      whole.gpus.push_back(Gpu{place_of(was, bridges), was.name, {}});
      continue;
    }
    out[i] = whole.nics.size();
    const auto twin = twin_of(whole, {.vendor = was.vendor, .device = was.device, .link = {}});
    Nic& nic = whole.nics.emplace_back(Nic{place_of(was, bridges), {}, {}, was.name});
    if (twin) nic.link.max_width = whole.nics[*twin].link.max_width;
    if (const size_t* direct = find_in(at, std::pair(false, was.direct))) nic.direct = whole.nics[*direct];
    built.lost.insert(out[i]);
    built.lost_since.insert(out[i]);
    if (!was.rdma.empty()) give_rdma(built, out[i], twin, &was);
  }
  return out;
}

// All functions of a card reach the GPU through its Data Direct function.
std::optional<PciDevice> direct_of_card(const Topology& topology, const std::string& pci) {
  for (const Nic& nic : topology.nics)
    if (nic.direct && card_of(nic.pci) == card_of(pci)) return nic.direct;
  return std::nullopt;
}

// Adds what symmetry proves to be missing.
void add_missing(Built& built) {
  Topology& whole = built.topology;
  built.odd_nodes = odd_numa_nodes(whole);
  for (const OddNode& odd : built.odd_nodes) {
    for (Gpu& gpu : whole.gpus)
      if (gpu.pci == odd.device.pci && odd.expected) gpu.numa = odd.expected;
    for (Nic& nic : whole.nics)
      if (nic.pci == odd.device.pci && odd.expected) nic.numa = odd.expected;
  }
  built.missing = missing_parts(whole, built.ports);
  for (const MissingPart& part : built.missing) {
    PciDevice place = part.place;
    if (place.pci.empty()) place.pci = part.below + std::string(kUnknownAddress);
    switch (part.kind) {
      case MissingPart::Kind::gpu: whole.gpus.push_back(Gpu{std::move(place), {}, {}}); break;
      case MissingPart::Kind::rdma: give_rdma(built, *part.nic, twin_of(whole, place)); break;
      case MissingPart::Kind::nic: {
        Nic& nic = whole.nics.emplace_back(Nic{std::move(place), {}, {}, {}});
        nic.direct = part.direct ? part.direct : direct_of_card(whole, nic.pci);
        if (part.twin) nic.link.max_width = whole.nics[*part.twin].link.max_width;
        give_rdma(built, whole.nics.size() - 1, part.twin);
      }
    }
  }
}

// Whether a NIC that the inventory lacks is of a model of its NICs for GPUs, and nearer to a GPU than the recorded ones
// of that GPU. `now`: the parts of the topology; `matches`: those that are recorded, by match_parts().
bool has_new_near_nic(const Inventory& recorded, const std::vector<size_t>& at, const std::vector<InventoryPart>& now,
                      const std::map<size_t, size_t>& matches, const Topology& topology) {
  std::set<size_t> known;
  for (const auto& [was, is] : matches) known.insert(is);
  std::map<std::string, size_t> nics;
  for (size_t i = 0; i < at.size(); ++i)
    if (!recorded.parts[i].gpu) nics.emplace(recorded.parts[i].pci, at[i]);
  for (size_t part = 0; part < now.size(); ++part) {
    const bool is_for_gpus = std::ranges::any_of(recorded.parts, [&](const InventoryPart& each) {
      return each.compute && each.vendor == now[part].vendor && each.device == now[part].device;
    });
    const Nic* added = known.contains(part) || now[part].gpu ? nullptr : nic_at(topology, now[part].pci);
    if (!is_for_gpus || added == nullptr || !carries_rdma(*added)) continue;
    for (size_t i = 0; i < at.size(); ++i) {
      if (!recorded.parts[i].gpu) continue;
      const auto path = path_class(topology.gpus[at[i]], *added);
      const bool is_nearest = std::ranges::all_of(recorded.parts[i].nics, [&](const std::string& pci) {
        const size_t* nic = find_in(nics, pci);
        const auto was = nic == nullptr ? std::nullopt : path_class(topology.gpus[at[i]], topology.nics[*nic]);
        return !was || (path && *path < *was);
      });
      if (path && is_nearest) return true;
    }
  }
  return false;
}

// The recorded pairing, and the recorded NICs for GPUs. nullopt: none was recorded, or a part is in another slot, or a
// GPU or a NIC for one was added, so that another pairing may be the best now.
std::optional<Pairing> recorded_pairing(const Inventory& recorded, const std::vector<size_t>& at, Built& built) {
  const auto now = inventory_parts(built.topology);
  const auto matches = match_parts(recorded, now);
  for (const auto& [was, is] : matches)
    if (way_to(recorded.parts[was]) != way_to(now[is])) return std::nullopt;
  const auto known = std::ranges::count_if(matches, [&](const auto& match) { return now[match.second].gpu; });
  if (static_cast<size_t>(known) < built.topology.gpus.size()) return std::nullopt;
  if (has_new_near_nic(recorded, at, now, matches, built.topology)) return std::nullopt;
  std::map<std::string, size_t> nics;
  for (size_t i = 0; i < at.size(); ++i) {
    const InventoryPart& part = recorded.parts[i];
    if (part.gpu) continue;
    nics.emplace(part.pci, at[i]);
    if (part.compute) built.compute.push_back(at[i]);
  }
  Pairing out;
  out.pairs.resize(built.topology.gpus.size());
  bool any = false;
  for (size_t i = 0; i < at.size(); ++i)
    for (const std::string& pci : recorded.parts[i].nics)
      if (const size_t* nic = find_in(nics, pci)) {
        out.pairs[at[i]].nics.push_back(*nic);
        any = true;
        if (!contains(built.compute, *nic)) built.compute.push_back(*nic);
      }
  if (!any) {
    built.compute.clear();
    return std::nullopt;
  }
  // An inventory of a version that did not record which NICs are for GPUs.
  if (!contains(recorded.parts, true, &InventoryPart::compute))
    for (const size_t nic : compute_nics(built.topology, built.ports))
      if (!contains(built.compute, nic)) built.compute.push_back(nic);
  return out;
}

}  // namespace

const InventoryPart* Built::record_of(const Inventory& inventory, const std::string& pci) const {
  const std::string* recorded = find_in(recorded_at, pci);
  return recorded == nullptr ? nullptr : inventory.find(*recorded);
}

bool Built::serves_gpu(size_t nic) const {
  return std::ranges::any_of(std::array{&pairing, &present_pairing}, [&](const Pairing* each) {
    return std::ranges::any_of(each->pairs, [&](const Pair& pair) { return contains(pair.nics, nic); });
  });
}

std::vector<size_t> Built::present_compute() const {
  std::vector<size_t> out;
  for (const size_t nic : compute)
    if (nic < nics && !lost.contains(nic)) out.push_back(nic);
  return out;
}

bool Built::has_lost_nic(size_t gpu) const {
  return std::ranges::any_of(pairing.pairs[gpu].nics, [&](size_t nic) { return lost_since.contains(nic); });
}

Built built_of(const Topology& now, std::span<const Port> ports, const Inventory* recorded) {
  Built out{.topology = now, .gpus = now.gpus.size(), .nics = now.nics.size()};
  for (const Port& port : ports)
    if (!port.rdma.empty()) out.ports.push_back(outline_of(port));
  std::vector<size_t> at;
  if (recorded != nullptr) at = add_recorded(*recorded, out);
  if (recorded == nullptr || !recorded->accepted) add_missing(out);

  std::optional<Pairing> pairing;
  if (recorded != nullptr) pairing = recorded_pairing(*recorded, at, out);
  if (out.compute.empty()) out.compute = compute_nics(out.topology, out.ports);
  const auto pci_of = [&](size_t nic) -> const std::string& { return address_of(out.topology.nics[nic]); };
  std::ranges::sort(out.compute, {}, pci_of);
  if (pairing) out.pairing = without_lost(out.topology, *pairing, out.compute, *pairing);
  else out.pairing = best_pairing(out.topology, out.compute);
  Pairing kept = out.pairing;
  kept.pairs.resize(out.gpus);
  out.present_pairing = without_lost(out.topology, kept, out.present_compute(), out.pairing);
  out.present_pairing.pairs.resize(out.gpus);
  if (recorded == nullptr || !recorded->accepted) out.odd_gpus = odd_gpus(out.topology, out.compute);
  return out;
}

Built built_of(const Node& node) { return built_of(node.topology, node.ports, recorded_in(node)); }

Pairing best_pairing(const Topology& now, std::span<const Port> ports, const Inventory* recorded) {
  const Built built = built_of(now, ports, recorded);
  const Pairing& present = built.present_pairing;
  // If no NIC for a GPU is up, the pairing is that of all of them.
  std::vector<size_t> serving = built.present_compute();
  std::erase_if(serving, [&](size_t nic) { return contains(present.idle, nic); });
  std::vector<size_t> usable = usable_nics(now, ports, serving);
  for (const size_t nic : usable_nics(now, ports, present.idle)) usable.push_back(nic);
  const auto pci_of = [&](size_t nic) -> const std::string& { return address_of(now.nics[nic]); };
  std::ranges::sort(usable, {}, pci_of);
  Pairing out = without_lost(built.topology, present, usable, built.pairing);
  out.pairs.resize(now.gpus.size());
  return out;
}

std::map<std::string, Rail> rails_of(const Topology& now, std::span<const Port> ports, const Inventory* recorded) {
  const Built built = built_of(now, ports, recorded);
  std::vector<size_t> gpus;  // in PCI order, missing ones too
  for (size_t gpu = 0; gpu < built.topology.gpus.size(); ++gpu) gpus.push_back(gpu);
  std::ranges::sort(gpus, {}, [&](size_t gpu) -> const std::string& { return address_of(built.topology.gpus[gpu]); });
  std::vector<std::vector<size_t>> rails;  // the NICs of each rail
  const auto& pairs = built.pairing.pairs;
  const bool shared = std::ranges::any_of(pairs, [](const Pair& pair) { return pair.shared_by > 1; });
  std::set<size_t> known;
  for (const size_t gpu : gpus) {
    std::vector<size_t> own;
    std::ranges::copy_if(pairs[gpu].nics, std::back_inserter(own),
                         [&](size_t nic) { return known.insert(nic).second; });
    if (!own.empty() || !shared) rails.push_back(std::move(own));
  }
  if (gpus.empty()) {
    std::map<std::string, size_t> cards;
    for (const size_t nic : built.compute) {
      const auto [card, is_new] = cards.emplace(card_of(built.topology.nics[nic]), rails.size());
      if (is_new) rails.emplace_back();
      rails[card->second].push_back(nic);
    }
  }
  std::map<std::string, Rail> out;
  for (size_t rail = 0; rail < rails.size(); ++rail)
    for (size_t plane = 0; plane < rails[rail].size(); ++plane)
      if (const size_t nic = rails[rail][plane]; nic < built.nics)
        out[built.topology.nics[nic].pci] = {rail, rails[rail].size() > 1 ? std::optional(plane) : std::nullopt};
  return out;
}

}  // namespace fabric
