// SPDX-License-Identifier: Apache-2.0
#include "topology/symmetry.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/find.h"
#include "base/parse.h"
#include "node/port.h"
#include "node/topology.h"
#include "topology/few_places.h"

namespace fabric {
namespace {

std::string_view board_id_of(const Nic& nic, std::span<const Port> ports) {
  for (const Port& port : ports)
    if (!port.pci.empty() && card_of(port.pci) == card_of(nic.pci) && !port.board_id.empty()) return port.board_id;
  return {};
}

// Gives a card without ports the board of its model, if the model has only one.
void complete_boards(Units& units) {
  std::map<Model, std::set<std::string_view>> boards;
  for (const Unit& unit : units)
    if (const Model& model = unit.model; !model.board.empty())
      boards[{model.gpu, model.vendor, model.device}].insert(model.board);
  for (Unit& unit : units)
    if (unit.model.board.empty() && boards[unit.model].size() == 1) unit.model.board = *boards[unit.model].begin();
}

using Composition = std::map<Model, size_t>;
using Groups = std::map<std::string, std::vector<const Unit*>>;

// The way to group devices: by card, by the bridge at this depth below the root port, by root bus.
struct Level {
  enum class Kind : uint8_t { card, bridge, bus } kind;
  size_t depth = 0;
};

std::string key_of(const Unit& unit, const Level& level) {
  const auto& bridges = unit.device.bridges;
  if (level.kind == Level::Kind::card && unit.model.gpu) return {};
  if (level.kind == Level::Kind::card) return card_of(unit.device.pci);
  if (level.kind == Level::Kind::bus) return unit.device.root;
  if (bridges.size() <= level.depth) return {};
  return bridges[bridges.size() - 1 - level.depth];
}

std::vector<Level> levels_of(const Units& units) {
  size_t depth = 0;
  for (const Unit& unit : units) depth = std::max(depth, unit.device.bridges.size());
  std::vector<Level> out{{Level::Kind::card}};
  while (depth-- > 0) out.push_back({Level::Kind::bridge, depth});
  out.push_back({Level::Kind::bus});
  return out;
}

Groups groups_of(const Units& units, const Level& level, bool rdma) {
  Groups out;
  for (const Unit& unit : units)
    if (std::string key = key_of(unit, level); !key.empty() && (unit.rdma || !rdma)) out[key].push_back(&unit);
  return out;
}

// The models that `part` lacks of `whole`. nullopt: `part` lacks nothing, has something that `whole` does not have, or
// is empty.
std::optional<Composition> lack_of(const Composition& part, const Composition& whole) {
  Composition out = whole;
  for (const auto& [model, count] : part) {
    const auto found = out.find(model);
    if (found == out.end() || found->second < count) return std::nullopt;
    if ((found->second -= count) == 0) out.erase(found);
  }
  if (part.empty() || out.empty()) return std::nullopt;
  return out;
}

struct Lack {
  std::string key;
  Composition models;
};

bool complete_each_other(const std::vector<Lack>& lacks, const std::map<std::string, Composition>& groups,
                         const Composition& whole) {
  for (const Lack& a : lacks)
    for (const Lack& b : lacks) {
      Composition sum = groups.at(a.key);
      for (const auto& [model, count] : groups.at(b.key)) sum[model] += count;
      if (&a != &b && sum == whole) return true;
    }
  return false;
}

// Whether the machine has two, four, eight, ... GPUs with `more`, and equally many on each socket.
bool are_plausible(const Topology& topology, const std::vector<const PciDevice*>& more) {
  std::map<int, size_t> by_socket;
  const auto count = [&](const PciDevice& gpu) {
    ++by_socket[socket_of(topology, gpu).value_or(gpu.numa.value_or(-1))];
  };
  for (const Gpu& gpu : topology.gpus) count(gpu);
  for (const PciDevice* gpu : more) count(*gpu);
  return std::has_single_bit(topology.gpus.size() + more.size()) &&
         std::ranges::all_of(by_socket, [&](const auto& each) { return each.second == by_socket.begin()->second; });
}

// The groups that lack a part of what most groups of their kind have.
std::vector<Lack> lacks_of(const Groups& all) {
  std::map<std::string, Composition> groups;
  for (const auto& [key, group] : all)
    for (const Unit* unit : group) ++groups[key][unit->model];
  std::map<Composition, size_t> counts;
  for (const auto& [key, composition] : groups) ++counts[composition];
  for (const auto& [whole, count] : counts) {
    size_t parts = 0;
    for (const auto& [model, number] : whole) parts += number;
    if (parts < 2 || count < 3) continue;
    std::vector<Lack> out;
    for (const auto& [key, composition] : groups)
      if (auto lack = lack_of(composition, whole)) out.push_back({key, std::move(*lack)});
    if (!out.empty() && out.size() * 3 <= count && !complete_each_other(out, groups, whole)) return out;
  }
  return {};
}

int bus_of(const std::string& pci) {
  const size_t colon = pci.find(':');
  if (colon == std::string::npos) return 0;
  return parse_number<int>(pci.substr(colon + 1, 2), 16).value_or(0);
}

// The place of a device in its group: its bus number relative to the group's, and "00.1".
using Offset = std::pair<int, std::string>;
std::set<Offset> offsets_of(const std::vector<const Unit*>& group, const std::string& key, const Model& model) {
  std::set<Offset> out;
  for (const Unit* unit : group)
    if (unit->model == model)
      out.emplace(bus_of(unit->device.pci) - bus_of(key),
                  unit->device.pci.substr(std::min(unit->device.pci.size(), unit->device.pci.rfind(':') + 1)));
  return out;
}

// The addresses at which the other groups have the model and this one does not. Empty if the others differ, or if
// another device has such an address.
std::vector<std::string> addresses_of(const Groups& groups, const std::string& key, const Model& model, size_t count) {
  const auto here = offsets_of(groups.at(key), key, model);
  std::set<Offset> others;
  for (const auto& [other, group] : groups) {
    const auto offsets = offsets_of(group, other, model);
    if (offsets.size() != here.size() + count) continue;
    if (!others.empty() && others != offsets) return {};
    others = offsets;
  }
  std::vector<std::string> out;
  const PciDevice& first = groups.at(key).front()->device;
  const auto pci_of = [](const Unit* unit) { return unit->device.pci; };
  for (const auto& [buses, rest] : others) {
    if (here.contains({buses, rest})) continue;
    const char bus = static_cast<char>(bus_of(key) + buses);
    out.push_back(first.pci.substr(0, first.pci.find(':') + 1) + hex_digits({&bus, 1}) + ":" + rest);
    if (contains(groups.at(key), out.back(), pci_of)) return {};  // this group has another order of buses
  }
  if (out.size() != count) return {};
  return out;
}

// A device of the model at the group's bridge.
MissingPart part_at(const Groups& groups, const std::string& key, const Model& model) {
  const auto& group = groups.at(key);
  MissingPart out;
  out.kind = model.gpu ? MissingPart::Kind::gpu : MissingPart::Kind::nic;
  out.below = key;
  const auto twin = std::ranges::find_if(group, [&](const Unit* unit) { return unit->model == model; });
  out.place = (twin == group.end() ? group.front() : *twin)->device;
  out.place.pci.clear();
  out.place.vendor = model.vendor;
  out.place.device = model.device;
  const auto from = std::ranges::find(out.place.bridges, key);
  if (from != out.place.bridges.end()) out.place.bridges.erase(out.place.bridges.begin(), from);
  for (const Unit* unit : group) {
    if (!unit->there) continue;
    out.beside.push_back(unit->name);
    if (unit->model.gpu) out.gpus.push_back(unit->index);
  }
  return out;
}

// Leaves a model to a coarser level if a device of it is in no group: it may be in the wrong slot.
std::vector<std::pair<MissingPart, Model>> missing_at(const Topology& topology, const Units& units, const Level& level,
                                                      const Groups& groups) {
  std::vector<std::pair<MissingPart, Model>> out;
  const auto is_outside = [&](const Model& model) {
    return level.kind != Level::Kind::card && std::ranges::any_of(units, [&](const Unit& unit) {
             return unit.model == model && key_of(unit, level).empty();
           });
  };
  for (const Lack& lack : lacks_of(groups))
    for (const auto& [model, count] : lack.models) {
      if (is_outside(model)) continue;
      const auto addresses = addresses_of(groups, lack.key, model, count);
      for (size_t i = 0; i < count; ++i) {
        out.emplace_back(part_at(groups, lack.key, model), model);
        if (!addresses.empty()) out.back().first.place.pci = addresses[i];
      }
    }
  std::vector<const PciDevice*> gpus;
  // Places that lack a GPU. If that is by design, their NICs may be different by design, too (storage).
  std::set<std::string> without_gpu;
  for (const auto& [part, model] : out)
    if (model.gpu) gpus.push_back(&part.place), without_gpu.insert(part.below);
  if (!gpus.empty() && !are_plausible(topology, gpus))
    std::erase_if(out, [&](const auto& each) { return without_gpu.contains(each.first.below); });
  return out;
}

// Without the board (bnxt_re, irdma), a card with one port looks like one with two that has lost a function.
bool may_be_of_another_board(const Groups& cards, const MissingPart& part, const Model& model) {
  return model.board.empty() && std::ranges::any_of(cards.at(part.below), [&](const Unit* unit) {
           return unit->there && unit->device.pci == part.below + ".0";
         });
}

void find_functions(const Topology& topology, Units& units, std::vector<MissingPart>& out) {
  for (const Level& level : levels_of(units)) {
    const Groups groups = groups_of(units, level, false);
    auto found = missing_at(topology, units, level, groups);
    for (auto& [part, model] : found) {
      if (level.kind == Level::Kind::card && may_be_of_another_board(groups, part, model)) continue;
      units.push_back({part.place, {}, model, 0, true, false});
      out.push_back(std::move(part));
    }
  }
}

// Finds existing functions that have no RDMA device although the others have one.
void find_rdma(const Topology& topology, const Units& units, std::vector<MissingPart>& out) {
  if (std::ranges::all_of(units, &Unit::rdma)) return;
  std::set<size_t> found;
  for (const Level& level : levels_of(units)) {
    const Groups with = groups_of(units, level, true), all = groups_of(units, level, false);
    for (auto& [part, model] : missing_at(topology, units, level, with)) {
      const auto& group = all.at(part.below);
      const auto nic = std::ranges::find_if(
          group, [&, &of = model](const Unit* unit) { return unit->there && !unit->rdma && unit->model == of; });
      if (nic == group.end() || !topology.nics[(*nic)->index].bond.empty() || !found.insert((*nic)->index).second)
        continue;
      part.kind = MissingPart::Kind::rdma;
      part.nic = (*nic)->index;
      part.place = (*nic)->device;
      out.push_back(std::move(part));
    }
  }
  for (const Unit& unit : units)
    if (unit.there && !unit.rdma && only_without_rdma(topology, unit.device) == unit.index &&
        found.insert(unit.index).second)
      out.push_back(
          {.kind = MissingPart::Kind::rdma, .place = unit.device, .below = unit.device.root, .nic = unit.index});
}

}  // namespace

Units units_of(const Topology& topology, std::span<const Port> ports) {
  Units out;
  std::set<std::pair<uint16_t, uint16_t>> rdma;
  for (const Nic& nic : topology.nics)
    if (carries_rdma(nic) && !nic.virtual_function) rdma.emplace(nic.vendor, nic.device);
  for (size_t i = 0; i < topology.gpus.size(); ++i) {
    const Gpu& gpu = topology.gpus[i];
    out.push_back({gpu, gpu.name, {true, gpu.vendor, gpu.device}, i, true});
  }
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (nic.virtual_function || !rdma.contains({nic.vendor, nic.device})) continue;
    out.push_back({nic, nic.name, {false, nic.vendor, nic.device, board_id_of(nic, ports)}, i, carries_rdma(nic)});
  }
  complete_boards(out);
  return out;
}

std::vector<MissingPart> missing_parts(const Topology& topology, std::span<const Port> ports) {
  std::vector<MissingPart> out;
  Units units = units_of(topology, ports);
  find_functions(topology, units, out);
  // Adds nothing for cards that were compared with two others already.
  const auto pci_of = [](const MissingPart& part) -> const std::string& { return part.place.pci; };
  for (MissingPart& part : missing_functions(topology, ports))
    if (!contains(out, part.place.pci, pci_of)) out.push_back(std::move(part));
  find_rdma(topology, units, out);
  return out;
}

std::vector<Nic> missing_nics(const Topology& topology, std::span<const Port> ports) {
  if (topology.gone) return *topology.gone;
  std::vector<Nic> out;
  for (const MissingPart& part : missing_parts(topology, ports)) {
    if (part.kind != MissingPart::Kind::nic) continue;
    static_cast<PciDevice&>(out.emplace_back()) = part.place;
    if (part.place.pci.empty()) out.back().pci = part.below + "~";  // for the order
  }
  return out;
}

std::string place_text(const MissingPart& part) {
  std::string out = "below " + part.below;
  if (!part.place.pci.empty()) out = "at " + part.place.pci;
  for (size_t i = 0; i < part.beside.size(); ++i) {
    if (i == 0) out += ", beside ";
    else if (i + 1 == part.beside.size()) out += " and ";
    else out += ", ";
    out += part.beside[i];
  }
  return out;
}

}  // namespace fabric
