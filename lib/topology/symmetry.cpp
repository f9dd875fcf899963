// SPDX-License-Identifier: Apache-2.0
#include "topology/symmetry.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>

#include "base/find.h"
#include "base/parse.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "node/port.h"
#include "node/topology.h"

namespace fabric {
namespace {

// The model of a GPU or NIC, by which devices are counted and compared: the PCI ids, and for NICs also the board and
// the lanes, because the same chip is sold with one port and with two, and manages NVLink switches by two lanes.
struct Model {
  bool gpu = false;
  PciModel ids{};
  unsigned lanes = 0;        // the most that the device can have; 0: unknown
  std::string_view board{};  // board id of a port
  auto operator<=>(const Model&) const = default;
};

struct ComparedDevice {
  PciDevice device;
  std::string name;
  Model model;
  size_t index = 0;   // into topology.gpus or topology.nics
  bool rdma = false;  // carries RDMA; true for a GPU, which takes part in every comparison
  bool there = true;  // false: a missing device that was found already
};
using ComparedDevices = std::vector<ComparedDevice>;

// Gives a card without ports the board of its model, and one without a readable link its lanes, if the model has only
// one.
void complete_models(ComparedDevices& units) {
  std::map<std::pair<bool, PciModel>, std::pair<std::set<std::string_view>, std::set<unsigned>>> known;
  const auto ids = [](const Model& model) { return std::pair(model.gpu, model.ids); };
  for (const ComparedDevice& unit : units) {
    if (!unit.model.board.empty()) known[ids(unit.model)].first.insert(unit.model.board);
    if (unit.model.lanes > 0) known[ids(unit.model)].second.insert(unit.model.lanes);
  }
  for (ComparedDevice& unit : units) {
    const auto& [boards, lanes] = known[ids(unit.model)];
    if (unit.model.board.empty() && boards.size() == 1) unit.model.board = *boards.begin();
    if (unit.model.lanes == 0 && lanes.size() == 1) unit.model.lanes = *lanes.begin();
  }
}

// GPUs, and physical NICs of models that carry RDMA. `ports` distinguish boards, and must outlive the result.
ComparedDevices compared_devices_of(const Topology& topology, std::span<const Port> ports) {
  ComparedDevices out;
  std::set<PciModel> rdma;
  for (const Nic& nic : topology.nics)
    if (carries_rdma(nic) && !nic.is_virtual_function()) rdma.insert(model_of(nic));
  for (size_t i = 0; i < topology.gpus.size(); ++i) {
    const Gpu& gpu = topology.gpus[i];
    out.push_back({gpu, gpu.name, {.gpu = true, .ids = model_of(gpu)}, i, true});
  }
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (nic.is_virtual_function() || !rdma.contains(model_of(nic))) continue;
    const Model model{.ids = model_of(nic), .lanes = nic.link.max_width.value_or(0), .board = board_of(nic, ports).id};
    out.push_back({nic, nic.name, model, i, carries_rdma(nic)});
  }
  complete_models(out);
  return out;
}

// -- Groups of devices

using Composition = std::map<Model, size_t>;
using DeviceGroups = std::map<std::string, std::vector<const ComparedDevice*>>;

// The way to group devices: by card, by the bridge at this depth below the root port, by root bus.
struct Level {
  enum class Kind : uint8_t { card, bridge, bus } kind;
  size_t depth = 0;
};

std::string key_of(const ComparedDevice& unit, const Level& level) {
  const auto& bridges = unit.device.bridges;
  if (level.kind == Level::Kind::card && unit.model.gpu) return {};
  if (level.kind == Level::Kind::card) return card_of(unit.device.pci);
  if (level.kind == Level::Kind::bus) return unit.device.root;
  if (bridges.size() <= level.depth) return {};
  return bridges[bridges.size() - 1 - level.depth];
}

std::vector<Level> levels_of(const ComparedDevices& units) {
  size_t depth = 0;
  for (const ComparedDevice& unit : units) depth = std::max(depth, unit.device.bridges.size());
  std::vector<Level> out{{Level::Kind::card}};
  while (depth-- > 0) out.push_back({Level::Kind::bridge, depth});
  out.push_back({Level::Kind::bus});
  return out;
}

DeviceGroups groups_of(const ComparedDevices& units, const Level& level, bool rdma) {
  DeviceGroups out;
  for (const ComparedDevice& unit : units)
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

bool lacks_gpu(const Lack& lack) {
  return std::ranges::any_of(lack.models, [](const auto& each) { return each.first.gpu; });
}

// `gpus`: whether a GPU can be in another slot: not if the machine lacks one.
bool complete_each_other(const std::vector<Lack>& lacks, const std::map<std::string, Composition>& groups,
                         const Composition& whole, bool gpus) {
  for (const Lack& a : lacks)
    for (const Lack& b : lacks) {
      if (!gpus && (lacks_gpu(a) || lacks_gpu(b))) continue;
      Composition sum = groups.at(a.key);
      for (const auto& [model, count] : groups.at(b.key)) sum[model] += count;
      if (&a != &b && sum == whole) return true;
    }
  return false;
}

// The parts that can be in each other's slots.
enum class Movable : uint8_t { none, nics, all };

// The groups that lack a part of what most groups of their kind have: at least three groups lack nothing, and few
// others do; or no group has anything else, and few lack each of the models.
std::vector<Lack> lacks_of(const DeviceGroups& all, Movable movable) {
  std::map<std::string, Composition> groups;
  for (const auto& [key, group] : all)
    for (const ComparedDevice* unit : group) ++groups[key][unit->model];
  std::map<Composition, size_t> counts;
  for (const auto& [key, composition] : groups) ++counts[composition];
  for (const auto& [whole, count] : counts) {
    size_t parts = 0;
    for (const auto& [model, number] : whole) parts += number;
    if (parts < 2 || count < 2) continue;
    std::vector<Lack> out;
    bool has_others = false;
    for (const auto& [key, composition] : groups) {
      if (auto lack = lack_of(composition, whole)) out.push_back({key, std::move(*lack)});
      else if (composition != whole)
        has_others = has_others || std::ranges::any_of(composition, [&, &of = whole](const auto& each) {
                       return of.contains(each.first);
                     });
    }
    const auto is_rarely_lacking = [&, number = count](const auto& each) {
      const auto lacking = static_cast<size_t>(
          std::ranges::count_if(out, [&](const Lack& lack) { return lack.models.contains(each.first); }));
      return lacking * 3 <= number + out.size() - lacking;
    };
    const bool are_few =
        (count >= 3 && out.size() * 3 <= count) || (!has_others && std::ranges::all_of(whole, is_rarely_lacking));
    const bool misplaced = movable != Movable::none && complete_each_other(out, groups, whole, movable == Movable::all);
    if (!out.empty() && are_few && !misplaced) return out;
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
std::set<Offset> offsets_of(const std::vector<const ComparedDevice*>& group, const std::string& key,
                            const Model& model) {
  std::set<Offset> out;
  for (const ComparedDevice* unit : group)
    if (unit->model == model)
      out.emplace(bus_of(unit->device.pci) - bus_of(key),
                  unit->device.pci.substr(std::min(unit->device.pci.size(), unit->device.pci.rfind(':') + 1)));
  return out;
}

// The addresses at which the other groups have the model and this one does not. Empty if the others differ, or if
// another device has such an address.
std::vector<std::string> addresses_of(const DeviceGroups& groups, const std::string& key, const Model& model,
                                      size_t count) {
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
  const auto pci_of = [](const ComparedDevice* unit) { return unit->device.pci; };
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
MissingPart part_at(const DeviceGroups& groups, const std::string& key, const Model& model) {
  const auto& group = groups.at(key);
  MissingPart out;
  out.kind = model.gpu ? MissingPart::Kind::gpu : MissingPart::Kind::nic;
  out.below = key;
  const auto twin = std::ranges::find_if(group, [&](const ComparedDevice* unit) { return unit->model == model; });
  out.place = (twin == group.end() ? group.front() : *twin)->device;
  out.place.pci.clear();
  out.place.vendor = model.ids.vendor;
  out.place.device = model.ids.device;
  const auto from = std::ranges::find(out.place.bridges, key);
  if (from != out.place.bridges.end()) out.place.bridges.erase(out.place.bridges.begin(), from);
  for (const ComparedDevice* unit : group) {
    if (!unit->there) continue;
    out.beside.push_back(unit->name);
    if (unit->model.gpu) out.gpus.push_back(unit->index);
  }
  return out;
}

// Whether the devices are a set of their own, as NICs for storage: equally many on each of several NUMA nodes.
bool is_set(const std::vector<const ComparedDevice*>& devices) {
  std::map<int, size_t> nodes;
  for (const ComparedDevice* unit : devices) {
    if (unit->model.gpu || !unit->device.numa) return false;
    ++nodes[*unit->device.numa];
  }
  return nodes.size() > 1 &&
         std::ranges::all_of(nodes, [&](const auto& each) { return each.second == nodes.begin()->second; });
}

// Leaves a model to a coarser level if a device of it is in no group: it may be in the wrong slot. Devices of a set are
// not, if they are more than those that lack: then they cannot all come from there.
std::vector<std::pair<MissingPart, Model>> missing_at(const Topology& topology, const ComparedDevices& units,
                                                      const Level& level, const DeviceGroups& groups, Movable movable) {
  std::vector<std::pair<MissingPart, Model>> out;
  const auto lacks = lacks_of(groups, movable);
  const auto is_outside = [&](const Model& model) {
    if (level.kind == Level::Kind::card) return false;
    std::vector<const ComparedDevice*> outside;
    for (const ComparedDevice& unit : units)
      if (unit.model == model && key_of(unit, level).empty()) outside.push_back(&unit);
    size_t lacking = 0;
    for (const Lack& lack : lacks)
      if (const size_t* count = find_in(lack.models, model)) lacking += *count;
    return !outside.empty() && !(is_set(outside) && outside.size() > lacking);
  };
  for (const Lack& lack : lacks)
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
bool may_be_of_another_board(const DeviceGroups& cards, const MissingPart& part, const Model& model) {
  return model.board.empty() && std::ranges::any_of(cards.at(part.below), [&](const ComparedDevice* unit) {
           return unit->there && unit->device.pci == part.below + ".0";
         });
}

// Whether GPUs can be in the wrong slots: 2, 4, 8, ... are all there.
Movable movable_at(const ComparedDevices& units, const Level& level) {
  if (level.kind == Level::Kind::card) return Movable::none;
  const auto gpus =
      static_cast<size_t>(std::ranges::count_if(units, [](const ComparedDevice& unit) { return unit.model.gpu; }));
  return std::has_single_bit(gpus) ? Movable::all : Movable::nics;
}

void add_found(MissingPart part, const Model& model, ComparedDevices& units, std::vector<MissingPart>& out) {
  const auto twin =
      std::ranges::find_if(units, [&](const ComparedDevice& unit) { return unit.there && unit.model == model; });
  if (twin != units.end()) part.twin = twin->index;
  units.push_back({part.place, {}, model, 0, true, false});
  out.push_back(std::move(part));
}

void find_functions(const Topology& topology, ComparedDevices& units, std::vector<MissingPart>& out) {
  for (const Level& level : levels_of(units)) {
    const DeviceGroups groups = groups_of(units, level, false);
    for (auto& [part, model] : missing_at(topology, units, level, groups, movable_at(units, level))) {
      if (level.kind == Level::Kind::card && may_be_of_another_board(groups, part, model)) continue;
      add_found(std::move(part), model, units, out);
    }
  }
}

// -- GPUs beside NICs of several models

// `units` with one model for all NICs of those models that some group has beside a GPU. They manage no NVLink switches.
ComparedDevices with_equal_nics(const Topology& topology, const ComparedDevices& units, const Level& level) {
  std::set<Model> beside;
  for (const auto& [key, group] : groups_of(units, level, false)) {
    if (std::ranges::none_of(group, [](const ComparedDevice* unit) { return unit->model.gpu; })) continue;
    for (const ComparedDevice* unit : group)
      if (!unit->model.gpu && (!unit->there || topology.nics[unit->index].role != FunctionRole::nvlink_management))
        beside.insert(unit->model);
  }
  ComparedDevices out = units;
  for (ComparedDevice& unit : out)
    if (beside.contains(unit.model)) unit.model = {};
  return out;
}

void find_gpus(const Topology& topology, ComparedDevices& units, std::vector<MissingPart>& out) {
  for (const Level& level : levels_of(units)) {
    if (level.kind == Level::Kind::card) continue;
    const ComparedDevices equal = with_equal_nics(topology, units, level);
    const DeviceGroups groups = groups_of(equal, level, false);
    for (auto& [part, model] : missing_at(topology, equal, level, groups, movable_at(units, level)))
      if (model.gpu) add_found(std::move(part), model, units, out);
  }
}

// -- GPUs of several places

// The NICs of a place, each with the number of bridges between it and the place.
using NicsOfPlace = std::map<std::pair<Model, size_t>, size_t>;

NicsOfPlace nics_of(const std::vector<const ComparedDevice*>& group, const Level& level) {
  NicsOfPlace out;
  for (const ComparedDevice* unit : group)
    if (!unit->model.gpu) ++out[{unit->model, unit->device.bridges.size() - level.depth}];
  return out;
}

size_t gpus_of(const std::vector<const ComparedDevice*>& group) {
  return static_cast<size_t>(std::ranges::count_if(group, [](const ComparedDevice* unit) { return unit->model.gpu; }));
}

// 2, 4, 8, ... GPUs, equally many on each socket.
bool is_plausible(const std::map<int, size_t>& by_socket) {
  size_t sum = 0;
  for (const auto& [socket, count] : by_socket) sum += count;
  return std::has_single_bit(sum) &&
         std::ranges::all_of(by_socket, [&](const auto& each) { return each.second == by_socket.begin()->second; });
}

// The groups that have the NICs of groups with GPUs and fewer GPUs than these, with the number of GPUs that they lack:
// if all GPUs are in groups with such NICs, and the machine is plausible only with the GPUs that are lacking.
std::map<std::string, size_t> places_without_gpus(const Topology& topology, const DeviceGroups& groups,
                                                  const Level& level, size_t gpus) {
  std::set<NicsOfPlace> kinds;
  for (const auto& [key, group] : groups)
    if (gpus_of(group) > 0) kinds.insert(nics_of(group, level));
  for (const NicsOfPlace& nics : kinds) {
    if (nics.empty()) continue;
    size_t most = 0, sum = 0, full = 0;
    std::map<std::string, size_t> counts;
    for (const auto& [key, group] : groups)
      if (nics_of(group, level) == nics) counts[key] = gpus_of(group);
    for (const auto& [key, count] : counts) most = std::max(most, count), sum += count;
    std::map<int, size_t> now, whole;
    for (const auto& [key, count] : counts) {
      const PciDevice& device = groups.at(key).front()->device;
      const int socket = socket_of(topology, device).value_or(device.numa.value_or(-1));
      now[socket] += count;
      whole[socket] += most;
      full += count == most ? 1 : 0;
    }
    if (sum != gpus || full < 2 || counts.size() * most < 4 || is_plausible(now) || !is_plausible(whole)) continue;
    std::map<std::string, size_t> out;
    for (const auto& [key, count] : counts)
      if (count < most) out[key] = most - count;
    return out;
  }
  return {};
}

// The GPUs of Data Direct functions: each of these functions is on the root bus of a GPU, which it serves.
void find_gpus_by_direct(const Topology& topology, ComparedDevices& units, std::vector<MissingPart>& out) {
  std::map<std::string, const ComparedDevice*> gpus;  // by root bus
  for (const ComparedDevice& unit : units)
    if (unit.model.gpu && !gpus.emplace(unit.device.root, &unit).second) return;  // several on one
  std::map<std::string, const Nic*> nics;
  for (const Nic& nic : topology.nics)
    if (nic.direct && !nic.is_virtual_function()) nics.emplace(nic.direct->root, &nic);
  if (gpus.empty() || std::ranges::any_of(gpus, [&](const auto& each) { return !nics.contains(each.first); })) return;
  const ComparedDevice model = *gpus.begin()->second;
  for (const auto& [root, nic] : nics) {
    if (gpus.contains(root)) continue;
    MissingPart part;
    part.kind = MissingPart::Kind::gpu;
    part.certain = false;
    part.place = model.device;
    part.place.pci.clear();
    part.place.bridges.clear();
    part.place.root = root;
    part.place.numa = nic->direct->numa;
    part.below = root;
    part.beside = {nic->name};
    add_found(std::move(part), model.model, units, out);
  }
}

// Requires a switch that GPU and NIC share: GPUs in slots next to NICs are sold in any number.
void find_several_gpus(const Topology& topology, ComparedDevices& units, std::vector<MissingPart>& out) {
  std::set<Model> models;
  size_t gpus = 0;
  for (const ComparedDevice& unit : units)
    if (unit.model.gpu) models.insert(unit.model), ++gpus;
  if (models.size() != 1) return;
  const Model& model = *models.begin();
  for (const Level& level : levels_of(units)) {
    if (level.kind != Level::Kind::bridge) continue;
    const ComparedDevices equal = with_equal_nics(topology, units, level);
    const DeviceGroups groups = groups_of(equal, level, false);
    const auto places = places_without_gpus(topology, groups, level, gpus);
    for (const auto& [key, count] : places) {
      const auto addresses = addresses_of(groups, key, model, count);
      for (size_t i = 0; i < count; ++i) {
        MissingPart part = part_at(groups, key, model);
        part.certain = false;
        if (!addresses.empty()) part.place.pci = addresses[i];
        add_found(std::move(part), model, units, out);
      }
    }
    if (!places.empty()) return;
  }
}

// -- Cards

// The cards with a function in a bond, which has one RDMA device for its members.
std::set<std::string> bonded_cards(const Topology& topology) {
  std::set<std::string> out;
  for (const Nic& nic : topology.nics) {
    const auto is_bond = [](const std::string& name) { return name.find("bond") != std::string::npos; };  // mlx5_bond_0
    if (nic.bond.empty() && std::ranges::none_of(nic.rdma, is_bond)) continue;
    out.insert(card_of(nic.pci));
    if (!nic.card.empty()) out.insert(nic.card);
  }
  return out;
}

bool is_in_bond(const std::set<std::string>& bonded, const Nic& nic) {
  return bonded.contains(card_of(nic.pci)) || bonded.contains(nic.card);
}

using Card = std::map<std::string, const ComparedDevice*>;  // by function: "0"
using Cards = std::map<std::string, Card>;                  // by address: "0000:17:00"

std::map<Model, Cards> cards_of(const ComparedDevices& units) {
  std::map<Model, Cards> out;
  for (const ComparedDevice& unit : units)
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
    part.twin = twin->index;
    part.place.pci = address + "." + function;
    part.below = part.place.bridges.empty() ? part.place.root : part.place.bridges.front();
    for (const auto& [number, unit] : card) part.beside.push_back(unit->name);
    out.push_back(std::move(part));
  }
}

// The functions that one card lacks and the others of its model have.
std::vector<MissingPart> missing_functions(const ComparedDevices& units) {
  std::vector<MissingPart> out;
  for (const auto& [model, cards] : cards_of(units)) {
    const auto whole = std::ranges::max_element(cards, {}, [](const auto& card) { return card.second.size(); })->second;
    const auto lacking = std::ranges::find_if(cards, [&](const auto& card) { return !has_all(card.second, whole); });
    const auto others = std::ranges::count_if(cards, [&](const auto& card) { return has_all(card.second, whole); });
    if (static_cast<size_t>(others) + 1 == cards.size())
      add_lacking(model, lacking->first, lacking->second, whole, out);
  }
  return out;
}

// The NICs of which only the Data Direct function is left: each function proves a card. If some cards may have any of
// the functions left, only the number of missing cards is known.
void find_by_direct(const Topology& topology, const ComparedDevices& units, std::vector<MissingPart>& out) {
  std::vector<const Nic*> without;                    // cards whose function is unknown
  std::map<std::string, const PciDevice*> functions;  // of no known card
  std::optional<size_t> twin;
  for (const Nic& nic : topology.nics)
    if (is_data_direct(nic)) functions.emplace(nic.pci, &nic);
  if (functions.empty()) return;
  std::map<std::string, size_t> cards;  // number of functions of a card
  for (const ComparedDevice& unit : units) {
    if (unit.model.gpu || !unit.there || !can_have_data_direct(topology.nics[unit.index])) continue;
    const Nic& nic = topology.nics[unit.index];
    if (++cards[card_of(nic.pci)] == 1 && !nic.direct) without.push_back(&nic);
    if (nic.direct) functions.erase(nic.direct->pci);
    if (!twin) twin = unit.index;
  }
  // A card that was found missing already may be the one.
  const auto known = static_cast<size_t>(std::ranges::count_if(out, [&](const MissingPart& part) {
    return twin && part.kind == MissingPart::Kind::nic && are_of_one_model(part.place, topology.nics[*twin]) &&
           !cards.contains(card_of(part.place.pci));
  }));
  if (!twin || functions.size() <= without.size() + known) return;
  size_t missing = functions.size() - without.size() - known;
  const size_t each = std::ranges::max_element(cards, {}, [](const auto& card) { return card.second; })->second;
  for (const auto& [pci, function] : functions) {
    if (missing-- == 0) break;
    for (size_t i = 0; i < each; ++i) {
      MissingPart part;
      part.twin = twin;
      part.place = *function;
      part.place.pci.clear();
      part.place.vendor = topology.nics[*twin].vendor;
      part.place.device = topology.nics[*twin].device;
      part.place.bridges.clear();
      part.place.root.clear();
      if (without.empty() && known == 0) part.direct = *function;
      part.below = pci;
      out.push_back(std::move(part));
    }
  }
}

// Whether every GPU has equally many functions of the model on its switch.
bool is_beside_each_gpu(const Topology& topology, const ComparedDevices& units, const Model& model) {
  std::set<std::ptrdiff_t> counts;
  for (const Gpu& gpu : topology.gpus)
    counts.insert(std::ranges::count_if(units, [&](const ComparedDevice& unit) {
      return unit.model == model && is_on_switch(path_class(gpu, unit.device));
    }));
  return counts.size() == 1 && !counts.contains(0);
}

// Whether each NUMA node has as many cards of the model as GPUs.
bool is_one_for_each_gpu(const Topology& topology, const ComparedDevices& units, const Model& model) {
  std::map<int, std::pair<size_t, std::set<std::string>>> nodes;  // GPUs; cards
  for (const Gpu& gpu : topology.gpus) {
    if (!gpu.numa) return false;
    ++nodes[*gpu.numa].first;
  }
  for (const ComparedDevice& unit : units) {
    if (unit.model != model) continue;
    if (!unit.device.numa) return false;
    nodes[*unit.device.numa].second.insert(card_of(unit.device.pci));
  }
  return std::ranges::all_of(nodes, [](const auto& each) { return each.second.first == each.second.second.size(); });
}

// Finds existing functions that have no RDMA device although the others have one.
void find_rdma(const Topology& topology, const ComparedDevices& units, std::vector<MissingPart>& out) {
  if (std::ranges::all_of(units, &ComparedDevice::rdma)) return;
  std::set<size_t> found;
  for (const Level& level : levels_of(units)) {
    const DeviceGroups with = groups_of(units, level, true), all = groups_of(units, level, false);
    for (auto& [part, model] : missing_at(topology, units, level, with, Movable::none)) {
      const auto& group = all.at(part.below);
      const auto nic = std::ranges::find_if(group, [&, &of = model](const ComparedDevice* unit) {
        return unit->there && !unit->rdma && unit->model == of;
      });
      if (nic == group.end() || !topology.nics[(*nic)->index].bond.empty() || !found.insert((*nic)->index).second)
        continue;
      part.kind = MissingPart::Kind::rdma;
      part.nic = (*nic)->index;
      part.place = (*nic)->device;
      out.push_back(std::move(part));
    }
  }
  const auto add = [&](const ComparedDevice& unit) {
    if (!found.insert(unit.index).second) return;
    MissingPart part{
        .kind = MissingPart::Kind::rdma, .place = unit.device, .below = unit.device.root, .nic = unit.index};
    for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
      if (is_on_switch(path_class(topology.gpus[gpu], unit.device))) part.gpus.push_back(gpu);
    out.push_back(std::move(part));
  };
  std::map<PciModel, std::optional<size_t>> only;
  for (const ComparedDevice& unit : units) {
    if (!unit.there || unit.rdma) continue;
    const auto [entry, is_new] = only.try_emplace(model_of(unit.device));
    if (is_new) entry->second = only_without_rdma(topology, unit.device);
    if (entry->second == unit.index) add(unit);
  }
  // A model of which every GPU has equally many cards only with those without an RDMA device.
  std::map<Model, std::pair<std::set<std::string>, std::vector<const ComparedDevice*>>>
      models;  // cards with; functions without
  const std::set<std::string> bonded = bonded_cards(topology);
  for (const ComparedDevice& unit : units) {
    if (unit.model.gpu || !unit.there) continue;
    auto& [with, without] = models[unit.model];
    if (unit.rdma) with.insert(card_of(unit.device.pci));
    else if (!is_in_bond(bonded, topology.nics[unit.index])) without.push_back(&unit);
  }
  const size_t gpus = topology.gpus.size();
  ComparedDevices with_rdma = units;
  std::erase_if(with_rdma, [](const ComparedDevice& unit) { return !unit.rdma; });
  for (const auto& [model, each] : models) {
    std::set<std::string> lost;
    for (const ComparedDevice* unit : each.second)
      if (!each.first.contains(card_of(unit->device.pci))) lost.insert(card_of(unit->device.pci));
    const size_t with = each.first.size();
    if (gpus < 2 || lost.empty() || with == 0) continue;
    const bool is_beside = is_beside_each_gpu(topology, units, model);
    // Equally many with an RDMA device beside each GPU are a design.
    const bool is_uneven = is_beside && !is_beside_each_gpu(topology, with_rdma, model);
    for (const ComparedDevice* unit : each.second)
      if (is_uneven && lost.contains(card_of(unit->device.pci)) &&
          std::ranges::any_of(topology.gpus,
                              [&](const Gpu& gpu) { return is_on_switch(path_class(gpu, unit->device)); }))
        add(*unit);
    if (with % gpus == 0 || (with + lost.size()) % gpus != 0) continue;
    const bool is_likely = is_beside || (lost.size() <= with && is_one_for_each_gpu(topology, units, model));
    if (lost.size() * 3 > with && !is_likely) continue;
    for (const ComparedDevice* unit : each.second)
      if (lost.contains(card_of(unit->device.pci))) add(*unit);
  }
}

// -- GPUs

using Sockets = std::map<std::string, std::vector<const Gpu*>, NaturalLess>;

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

// Counts the cards on the switch of each GPU.
class CardsOnSwitches {
 public:
  explicit CardsOnSwitches(const Topology& topology) : topology_(topology) {
    for (const Gpu& gpu : topology.gpus)
      most_ = std::max<size_t>(most_, std::ranges::count_if(topology.gpus, [&](const Gpu& other) {
                                 return &other == &gpu || is_on_switch(path_class(gpu, other));
                               }));
  }

  // Whether the switch has a GPU, and as many other cards as the most GPUs that a switch has.
  bool is_spare(const Nic& nic, const std::string& card) {
    const Gpu* gpu = find_where(topology_.gpus, [&](const Gpu& each) { return is_on_switch(path_class(each, nic)); });
    if (gpu == nullptr) return false;
    auto& cards = cards_[gpu];
    if (cards.size() >= most_ && !cards.contains(card)) return true;
    cards.insert(card);
    return false;
  }

 private:
  const Topology& topology_;
  size_t most_ = 0;
  std::map<const Gpu*, std::set<std::string>> cards_{};
};

// The number of cards of compute NICs, if every socket has the same number of them, and at most one GPU fewer, or one
// socket has a GPU for each card. Requires two GPUs: of two cards, one may be a spare. Several cards for each GPU are a
// design, and more cards on the switch of a GPU than a switch has GPUs are for something else (storage). So are cards
// in slots of the CPU, if each GPU has one on its switch.
std::optional<size_t> cards_with_fewer_gpus(const Topology& topology, const std::vector<size_t>& compute,
                                            const Sockets& sockets) {
  std::map<std::string, std::set<std::string>> cards;
  CardsOnSwitches on_switches(topology);
  std::set<size_t> depths;  // below the root, of the NICs on switches of GPUs
  bool has_each_one = true;
  for (const Gpu& gpu : topology.gpus) {
    bool has_one = false;
    for (const size_t index : compute)
      if (is_on_switch(path_class(gpu, topology.nics[index]))) {
        depths.insert(topology.nics[index].bridges.size());
        has_one = true;
      }
    has_each_one = has_each_one && has_one;
  }
  for (const size_t index : compute) {
    const Nic& nic = topology.nics[index];
    if (has_each_one && !depths.contains(nic.bridges.size())) continue;
    const std::string card = card_of(nic);
    if (!nic.numa) return std::nullopt;
    if (!on_switches.is_spare(nic, card)) cards[socket_text(topology, nic)].insert(card);
  }
  if (cards.size() < 2 || sockets.empty()) return std::nullopt;
  const size_t gpus = topology.gpus.size(), each = cards.begin()->second.size(), all = each * cards.size();
  if (gpus < 2 || gpus >= all || all % gpus == 0) return std::nullopt;
  size_t least = each, most = 0;
  for (const auto& [socket, own] : cards) {
    const auto* there = find_in(sockets, socket);
    const size_t count = there == nullptr ? 0 : there->size();
    if (own.size() != each || count > each) return std::nullopt;
    least = std::min(least, count), most = std::max(most, count);
  }
  if (least + 1 < each && (most < each || !std::has_single_bit(all))) return std::nullopt;
  return all;
}

// Twice the GPUs of one socket, if it has four or eight and the other has fewer, each on a switch with a NIC.
std::optional<size_t> uneven_sockets(const Topology& topology, const std::vector<size_t>& compute,
                                     const Sockets& sockets) {
  if (sockets.size() != 2) return std::nullopt;
  const auto [less, more] =
      std::ranges::minmax_element(sockets, {}, [](const auto& each) { return each.second.size(); });
  const size_t most = more->second.size();
  if (most < 4 || !std::has_single_bit(most) || less->second.size() == most) return std::nullopt;
  const bool on_switches = std::ranges::all_of(topology.gpus, [&](const Gpu& gpu) {
    return std::ranges::any_of(compute, [&](size_t nic) { return is_on_switch(path_class(gpu, topology.nics[nic])); });
  });
  if (!on_switches) return std::nullopt;
  return 2 * most;
}

// "on socket 1, beside GPU4, GPU5, GPU6", if this socket has so many GPUs fewer than the other.
std::string lesser_half(const Sockets& sockets, size_t fewer) {
  if (sockets.size() != 2) return "in this machine";
  const auto [less, more] =
      std::ranges::minmax_element(sockets, {}, [](const auto& each) { return each.second.size(); });
  if (less->second.size() + fewer != more->second.size()) return "in this machine";
  return "on " + less->first + ", beside " + joined(less->second, ", ", [](const Gpu* gpu) { return gpu->name; });
}

// -- NUMA nodes

using Buses = std::map<std::string, std::vector<const ComparedDevice*>>;
using Spread = std::map<int, size_t>;  // devices of one model by NUMA node

// The NUMA node of the bridge above the device if known, else the device's own.
int node_of(const ComparedDevice& unit) { return unit.device.numa_above.value_or(*unit.device.numa); }

bool is_even(const Spread& spread) {
  return std::ranges::all_of(spread, [&](const auto& each) { return each.second == spread.begin()->second; });
}

// Whether the models of these devices are evenly spread over the nodes that have them only if these are moved to
// `node`. Six GPUs, four on one node, can be a machine of eight that has lost two.
bool evens_out(const ComparedDevices& units, const std::vector<const ComparedDevice*>& moved, int node) {
  for (const ComparedDevice* unit : moved) {
    Spread before, after;
    for (const ComparedDevice& other : units) {
      if (other.model != unit->model) continue;
      ++before[node_of(other)];
      ++after[contains(moved, &other) ? node : node_of(other)];
    }
    std::erase_if(after, [](const auto& each) { return each.second == 0; });
    const auto is_like = [&](const ComparedDevice& other) { return other.model == unit->model; };
    if (unit->model.gpu && !std::has_single_bit(static_cast<size_t>(std::ranges::count_if(units, is_like))))
      return false;
    if (is_even(before) || !is_even(after) || after.size() < before.size()) return false;
  }
  return true;
}

// The node of most devices of a bus. If two nodes have equally many: the one to which a device must be moved to spread
// its model evenly, else that of the first device.
std::optional<int> node_of(const ComparedDevices& units, const std::vector<const ComparedDevice*>& bus) {
  Spread nodes;
  for (const ComparedDevice* unit : bus) ++nodes[node_of(*unit)];
  if (nodes.size() == 1) return nodes.begin()->first;
  if (nodes.size() != 2) return std::nullopt;
  const auto [a, of_a] = *nodes.begin();
  const auto [b, of_b] = *nodes.rbegin();
  if (of_a > of_b) return a;
  if (of_a < of_b) return b;
  for (const ComparedDevice* unit : bus) {
    int other = a;
    if (node_of(*unit) == a) other = b;
    if (evens_out(units, {unit}, other)) return other;
  }
  return node_of(*bus.front());
}

// The node that the firmware should report for a bus that it puts on another: the only one with which the models of its
// devices are evenly spread and the buses of a node follow each other. A single device of which the buses before and
// after are on another node.
std::optional<int> node_for(const ComparedDevices& units, const Buses& buses, Buses::const_iterator bus) {
  const auto own = node_of(units, bus->second);
  std::set<int> nodes;
  for (const auto& [root, devices] : buses)
    if (const auto node = node_of(units, devices)) nodes.insert(*node);
  const auto runs_with = [&](int node) {
    size_t runs = 0;
    std::optional<int> last;
    for (auto each = buses.begin(); each != buses.end(); ++each) {
      const auto here = each == bus ? node : node_of(units, each->second);
      if (here != last) ++runs;
      last = here;
    }
    return runs;
  };
  std::optional<int> out;
  for (const int node : nodes) {
    if (!own || node == *own || !evens_out(units, bus->second, node)) continue;
    bool fits = false;
    if (bus->second.size() > 1) {
      // If there are few buses, three on one node and one on the other can be a design.
      fits = runs_with(node) == nodes.size() && (buses.size() >= 6 || runs_with(*own) > nodes.size());
    } else if (bus != buses.begin() && std::next(bus) != buses.end()) {
      fits = node_of(units, std::prev(bus)->second) == node && node_of(units, std::next(bus)->second) == node;
    }
    if (fits && out) return std::nullopt;
    if (fits) out = node;
  }
  return out;
}

}  // namespace

std::vector<MissingPart> missing_parts(const Topology& topology, std::span<const Port> ports) {
  std::vector<MissingPart> out;
  ComparedDevices units = compared_devices_of(topology, ports);
  find_functions(topology, units, out);
  find_gpus(topology, units, out);
  if (!contains(out, MissingPart::Kind::gpu, &MissingPart::kind)) find_gpus_by_direct(topology, units, out);
  find_several_gpus(topology, units, out);
  // Adds nothing for cards that were compared with two others already.
  const auto pci_of = [](const MissingPart& part) -> const std::string& { return part.place.pci; };
  for (MissingPart& part : missing_functions(compared_devices_of(topology, ports)))
    if (!contains(out, part.place.pci, pci_of)) out.push_back(std::move(part));
  find_by_direct(topology, units, out);
  find_rdma(topology, units, out);
  return out;
}

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

std::optional<size_t> only_without_rdma(const Topology& topology, const PciDevice& model) {
  std::optional<size_t> found;
  std::vector<std::string_view> others;  // cards of the functions with an RDMA device
  const std::set<std::string> bonded = bonded_cards(topology);
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (!are_of_one_model(nic, model) || nic.is_virtual_function()) continue;
    if (carries_rdma(nic)) others.emplace_back(nic.card);
    else if (is_in_bond(bonded, nic)) continue;
    else if (found) return std::nullopt;
    else found = i;
  }
  if (!found || others.empty()) return std::nullopt;
  const Nic& nic = topology.nics[*found];
  if (nic.netdevs.empty() && (others.size() < 2 || contains(others, nic.card))) return std::nullopt;
  return found;
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

std::optional<OddGpus> odd_gpus(const Topology& topology, const std::vector<size_t>& compute) {
  const auto& gpus = topology.gpus;
  if (gpus.empty() || !std::ranges::all_of(gpus, [&](const Gpu& gpu) { return are_of_one_model(gpu, gpus.front()); }))
    return std::nullopt;
  const Sockets sockets = gpus_by_socket(topology);
  std::optional<size_t> whole = cards_with_fewer_gpus(topology, compute, sockets);
  if (gpus.size() == 7 || gpus.size() == 15) whole = gpus.size() + 1;
  if (!whole) whole = uneven_sockets(topology, compute, sockets);
  if (!whole) return std::nullopt;
  std::string counts;
  for (const auto& [socket, there] : sockets) append_item(counts, std::to_string(there.size()) + " on " + socket);
  if (!counts.empty()) counts.insert(0, ": ");
  return OddGpus{*whole, counted(gpus.size(), "GPU") + counts, lesser_half(sockets, *whole - gpus.size())};
}

std::vector<OddNode> odd_numa_nodes(const Topology& topology) {
  ComparedDevices units = compared_devices_of(topology, {});
  std::erase_if(units, [](const ComparedDevice& unit) {
    return !unit.rdma || unit.device.numa_assumed || unit.device.root.empty();
  });
  ComparedDevices on_no_node;
  for (const ComparedDevice& unit : units)
    if (!unit.device.numa) on_no_node.push_back(unit);
  std::erase_if(units, [](const ComparedDevice& unit) { return !unit.device.numa; });
  Buses buses;
  for (const ComparedDevice& unit : units) buses[unit.device.root].push_back(&unit);
  const bool is_flat_guest = topology.is_guest() && is_flattened(topology);
  std::vector<OddNode> out;
  for (auto bus = buses.cbegin(); bus != buses.cend(); ++bus) {
    const auto usual = node_of(units, bus->second), other = node_for(units, buses, bus);
    for (const ComparedDevice* unit : bus->second) {
      const int node = node_of(*unit);
      if (node != unit->device.numa)
        out.push_back({unit->device, unit->name, node, "the bridge above it, " + unit->device.bridges.front()});
      else if (is_flat_guest) continue;
      else if (usual && node != *usual)
        out.push_back({unit->device, unit->name, *usual, "the other devices of " + bus->first});
      else if (other)
        out.push_back(
            {unit->device, unit->name, *other, "the buses before and after " + bus->first, bus->second.size() > 1});
    }
  }
  if (is_flat_guest) return out;
  // A bus on no node: all its devices are of models of which most others are on one. The check `locality` names a GPU
  // that is alone there.
  std::map<std::string, std::vector<const ComparedDevice*>> lost;
  for (const ComparedDevice& unit : on_no_node) lost[unit.device.root].push_back(&unit);
  for (const auto& [root, bus] : lost)
    for (const ComparedDevice* unit : bus) {
      const auto is_like = [&](const ComparedDevice& other) { return other.model == unit->model; };
      const auto with = std::ranges::count_if(units, is_like), without = std::ranges::count_if(on_no_node, is_like);
      if (bus.size() == 1 && unit->model.gpu) continue;
      if (!buses.contains(root) && with >= 3 * without)
        out.push_back(
            {unit->device, unit->name, std::nullopt, "devices of its model on other root buses", bus.size() > 1});
    }
  return out;
}

}  // namespace fabric
