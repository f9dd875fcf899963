// SPDX-License-Identifier: Apache-2.0
#include "node/inventory.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "base/files.h"
#include "base/json.h"
#include "base/parse.h"
#include "node/port.h"

namespace fabric {
namespace {

std::string link_text(const std::optional<unsigned>& width, const std::optional<double>& speed) {
  std::string out = "x" + (width ? std::to_string(*width) : "?");
  if (speed) out += " at " + number_text(*speed) + " GT/s";
  return out;
}

using PartModel = std::pair<bool, PciModel>;
PartModel model_of(const InventoryPart& part) { return {part.gpu, {part.vendor, part.device}}; }

// The present root buses of those that were renumbered, by their recorded names: the cards of the bus are below another
// one, in the same places. A card in a slot of another root is no proof for a bus that exists as before, unless most
// cards are below other ones.
std::map<std::string, std::string> renumbered_roots(const std::vector<InventoryPart>& before,
                                                    const std::vector<InventoryPart>& now) {
  std::map<std::string, std::set<std::string>> roots;
  size_t stayed = 0, moved = 0;
  for (const InventoryPart& was : before) {
    if (was.guid.empty()) continue;
    const auto is = std::ranges::find_if(now, [&](const InventoryPart& part) {
      return part.guid == was.guid && model_of(part) == model_of(was) && way_to(part) == way_to(was);
    });
    if (is == now.end()) continue;
    roots[was.root].insert(is->root);
    ++(is->root == was.root ? stayed : moved);
  }
  std::map<std::string, std::string> out;
  for (const auto& [was, present] : roots) {
    const std::string& is = *present.begin();
    if (present.size() > 1 || is == was) continue;
    if (moved > stayed || !contains(before, is, &InventoryPart::root)) out.emplace(was, is);
  }
  return out;
}

constexpr size_t kManyPairs = size_t{1} << 16;  // more than the GPUs and NICs of any machine make

// Pairs elements of two lists in their order, so that the sum of their scores is greatest; those with a score of 0 are
// not paired.
template <class Score>
std::vector<std::pair<size_t, size_t>> align(size_t left, size_t right, Score&& score) {
  std::vector<std::pair<size_t, size_t>> out;
  if (left * right > kManyPairs) {
    for (size_t i = 0; i < std::min(left, right); ++i) out.emplace_back(i, i);
    return out;
  }
  // best[i][j]: of the elements from i and from j on.
  std::vector<std::vector<int>> best(left + 1, std::vector<int>(right + 1)), own(left, std::vector<int>(right));
  for (size_t i = left; i-- > 0;)
    for (size_t j = right; j-- > 0;) {
      own[i][j] = score(i, j);
      best[i][j] = std::max({best[i + 1][j + 1] + own[i][j], best[i + 1][j], best[i][j + 1]});
    }
  for (size_t i = 0, j = 0; i < left && j < right;) {
    if (own[i][j] > 0 && best[i][j] == best[i + 1][j + 1] + own[i][j]) out.emplace_back(i++, j++);
    else if (best[i][j] == best[i + 1][j]) ++i;
    else ++j;
  }
  return out;
}

constexpr size_t kMostParts = 4096;  // more than any node has

}  // namespace

std::string way_to(const InventoryPart& part) {
  const auto below_bus = [](std::string_view pci) { return pci.substr(pci.rfind(':') + 1); };  // "17:00.0" -> "00.0"
  std::string out;
  for (size_t i = part.bridges.size(); i-- > 0;) out.append(below_bus(part.bridges[i])).append("/");
  return out.append(below_bus(part.pci));
}

std::vector<InventoryPart> inventory_parts(const Topology& topology) {
  std::vector<InventoryPart> out;
  const auto add = [&out](const PciDevice& device) -> InventoryPart& {
    return out.emplace_back(InventoryPart{.pci = device.pci,
                                          .vendor = device.vendor,
                                          .device = device.device,
                                          .numa = device.numa_assumed ? std::nullopt : device.numa,
                                          .root = device.root,
                                          .bridges = device.bridges,
                                          .width = device.link.width,
                                          .speed = device.link.speed});
  };
  for (const Gpu& gpu : topology.gpus) {
    InventoryPart& part = add(gpu);
    part.gpu = true;
    part.name = gpu.name;
    part.guid = gpu.uuid;
    if (lanes_sleep(gpu.link)) part.width = gpu.link.max_width;
    part.speed.reset();
  }
  for (const Nic& nic : topology.nics) {
    if (nic.is_virtual_function() || nic.pci.empty()) continue;
    InventoryPart& part = add(nic);
    part.name = nic.name;
    part.rdma = nic.rdma;
    if (nic.card != card_of(nic.pci)) part.guid = nic.card;
    if (nic.direct) part.direct = nic.direct->pci;
  }
  return out;
}

std::map<size_t, size_t> match_parts(const Inventory& inventory, const std::vector<InventoryPart>& now) {
  std::map<size_t, size_t> out;
  std::set<size_t> taken;
  const auto join = [&](size_t was, size_t is) {
    out.emplace(was, is);
    taken.insert(is);
  };
  // Takes the first part that is not taken yet and has the same key; parts without a key are not matched.
  const auto match_by = [&](const auto& key_of) {
    std::map<std::tuple<PartModel, std::string, std::string>, size_t> keys;
    for (size_t i = now.size(); i-- > 0;)
      if (const auto key = key_of(now[i]); !std::get<1>(key).empty() && !taken.contains(i))
        keys[std::tuple(model_of(now[i]), std::get<0>(key), std::get<1>(key))] = i;
    for (size_t i = 0; i < inventory.parts.size(); ++i) {
      const auto key = key_of(inventory.parts[i]);
      if (out.contains(i) || std::get<1>(key).empty()) continue;
      const auto* found = find_in(keys, std::tuple(model_of(inventory.parts[i]), std::get<0>(key), std::get<1>(key)));
      if (found != nullptr && !taken.contains(*found)) join(i, *found);
    }
  };
  // Equal root buses cannot be told apart without their cards, and the number of one may now belong to another.
  const auto roots = renumbered_roots(inventory.parts, now);
  for (size_t i = 0; i < inventory.parts.size(); ++i) {
    const InventoryPart& was = inventory.parts[i];
    const std::string* root = find_in(roots, was.root);
    if (root == nullptr) continue;
    for (size_t j = 0; j < now.size() && !out.contains(i); ++j)
      if (!taken.contains(j) && now[j].root == *root && model_of(now[j]) == model_of(was) &&
          way_to(now[j]) == way_to(was) && (was.guid.empty() || now[j].guid.empty() || now[j].guid == was.guid))
        join(i, j);
  }
  // If the bridges are unknown, all devices of a root bus have the same way: the address decides.
  match_by([](const InventoryPart& part) { return std::pair(part.root + " " + way_to(part), part.pci); });
  match_by([](const InventoryPart& part) { return std::pair(part.root, way_to(part)); });
  // Functions of one card have one GUID.
  match_by([](const InventoryPart& part) {
    return std::pair(std::string(part.pci.substr(part.pci.rfind('.') + 1)), part.guid);
  });
  // Root buses that were renumbered: in their order, those with the most parts of one model in one place.
  using ModelPlace = std::pair<PartModel, std::string>;
  struct RootBus {
    std::map<ModelPlace, size_t> parts;
    std::optional<int> numa;
  };
  std::map<std::string, RootBus> was_on, is_on;
  for (size_t i = 0; i < inventory.parts.size(); ++i)
    if (const InventoryPart& part = inventory.parts[i]; !out.contains(i)) {
      was_on[part.root].parts.emplace(ModelPlace(model_of(part), way_to(part)), i);
      was_on[part.root].numa = part.numa;
    }
  for (size_t i = 0; i < now.size(); ++i)
    if (!taken.contains(i)) {
      is_on[now[i].root].parts.emplace(ModelPlace(model_of(now[i]), way_to(now[i])), i);
      is_on[now[i].root].numa = now[i].numa;
    }
  std::vector<const RootBus*> was_roots, is_roots;
  for (const auto& [root, parts] : was_on) was_roots.push_back(&parts);
  for (const auto& [root, parts] : is_on) is_roots.push_back(&parts);
  const auto common = [&](size_t i, size_t j) {
    int parts = 0;
    for (const auto& [place, part] : was_roots[i]->parts) parts += is_roots[j]->parts.contains(place) ? 2 : 0;
    return parts > 0 && was_roots[i]->numa == is_roots[j]->numa ? parts + 1 : parts;
  };
  for (const auto& [i, j] : align(was_roots.size(), is_roots.size(), common))
    for (const auto& [place, part] : was_roots[i]->parts)
      if (const size_t* found = find_in(is_roots[j]->parts, place)) join(part, *found);

  // Parts that were moved to another slot: in PCI order.
  std::map<PartModel, std::pair<std::vector<size_t>, std::vector<size_t>>> left;
  for (size_t i = 0; i < inventory.parts.size(); ++i)
    if (!out.contains(i)) left[model_of(inventory.parts[i])].first.push_back(i);
  for (size_t i = 0; i < now.size(); ++i)
    if (!taken.contains(i)) left[model_of(now[i])].second.push_back(i);
  for (const auto& [model, lists] : left) {
    const auto& [was, is] = lists;
    const auto likeness = [&, &was = was, &is = is](size_t i, size_t j) {
      const InventoryPart &before = inventory.parts[was[i]], &after = now[is[j]];
      int points = 8;
      if (way_to(before) == way_to(after)) points += 4;
      if (before.numa == after.numa) points += 2;
      return points;
    };
    for (const auto& [i, j] : align(was.size(), is.size(), likeness)) join(was[i], is[j]);
  }
  return out;
}

std::string ids_text(uint16_t vendor, uint16_t device) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x:%04x", vendor, device);
  return text;
}

bool lanes_sleep(const PcieLink& link) { return link.speed.value_or(0) >= 64 && link.width.value_or(16) <= 2; }

std::vector<InventoryChange> changes_since(const Inventory& inventory, const Node& now) {
  using Kind = InventoryChange::Kind;
  std::vector<InventoryChange> out;
  const auto parts = inventory_parts(now.topology);
  const auto matches = match_parts(inventory, parts);
  std::set<size_t> known;
  for (const auto& [was, is] : matches) known.insert(is);
  for (size_t i = 0; i < inventory.parts.size(); ++i) {
    const InventoryPart& was = inventory.parts[i];
    const size_t* match = find_in(matches, i);
    const auto add = [&](Kind kind, std::string before, std::string after) -> InventoryChange& {
      return out.emplace_back(InventoryChange{.kind = kind,
                                              .pci = was.pci,
                                              .name = was.name,
                                              .was = std::move(before),
                                              .is = std::move(after),
                                              .gpu = was.gpu,
                                              .present = match != nullptr ? parts[*match].pci : "",
                                              .root = was.root});
    };
    if (match == nullptr) {
      // Another model in this place.
      const auto other = std::ranges::find_if(parts, [&](const InventoryPart& part) {
        return part.gpu == was.gpu && part.root == was.root && way_to(part) == way_to(was);
      });
      const bool is_new = other != parts.end() && known.insert(static_cast<size_t>(other - parts.begin())).second;
      if (is_new) add(Kind::replaced, ids_text(was.vendor, was.device), ids_text(other->vendor, other->device));
      else add(Kind::gone, ids_text(was.vendor, was.device), "");
      if (is_new) out.back().present = other->pci;
      continue;
    }
    const InventoryPart& is = parts[*match];
    if (was.pci != is.pci) add(Kind::moved, was.pci, is.pci);
    const auto* function = find_in(now.platform.functions, is.pci);
    if (runs_jobs(was.driver) && function != nullptr && !runs_jobs(function->kernel_driver))
      add(Kind::driver, was.driver, function->kernel_driver.empty() ? "none" : function->kernel_driver);
    // RDMA devices are renamed, so only their number counts: one of several that is gone is a loss.
    const bool in_container = !was.gpu && nic_at(now.topology, is.pci)->rdma_elsewhere;
    if (is.rdma.size() < was.rdma.size() && !in_container)
      add(Kind::rdma, joined(was.rdma), is.rdma.empty() ? "none" : joined(is.rdma));
    for (const Port& port : now.ports)
      if (const double* rate = find_in(was.rates, std::to_string(port.number));
          rate != nullptr && port.pci == is.pci && is_active(port) && is_judged(port) && port.rate < *rate && port.rate)
        add(Kind::rate, rate_text(*rate), rate_text(*port.rate)).port = port.number;
    // A part without a node on a machine of several is on none that the kernel knows.
    const bool is_assumed = !is.numa && now.topology.numa_cpus.size() < 2;
    if (was.numa && was.numa != is.numa && !is_assumed)
      add(Kind::numa, std::to_string(*was.numa), is.numa ? std::to_string(*is.numa) : "-1");
    const bool narrow = is.width && was.width && *is.width < *was.width;
    const bool slow = is.speed && was.speed && *is.speed < *was.speed;
    if (narrow || slow) add(Kind::link, link_text(was.width, was.speed), link_text(is.width, is.speed));
  }
  for (size_t i = 0; i < parts.size(); ++i)
    if (!known.contains(i))
      out.push_back({.kind = Kind::added,
                     .pci = parts[i].pci,
                     .name = parts[i].name,
                     .is = ids_text(parts[i].vendor, parts[i].device),
                     .gpu = parts[i].gpu,
                     .present = parts[i].pci});
  return out;
}

std::string part_text(const InventoryChange& change) {
  if (change.name == change.pci || change.name.empty()) return change.pci;
  return change.name + " (" + change.pci + ")";
}

FABRIC_JSON_MEMBERS(InventoryPart, pci, name, vendor, device, numa, root, bridges, guid, width, speed, driver, nics,
                    rdma, up, rates, direct, compute)

static void to_json(Json& json, const InventoryPart& part) {
  json["kind"] = part.gpu ? "gpu" : "nic";
  write_members(json, part);
}

static void from_json(const Json& json, InventoryPart& part) {
  std::string kind;
  read_member(json, "kind", kind);
  part.gpu = kind == "gpu";
  read_required(json, "pci", part.pci);
  if (part.pci.empty()) throw std::range_error("pci is empty");
  read_members(json, part);
}

static void from_json(const Json& json, Inventory& inventory) {
  read_member(json, "taken", inventory.taken);
  inventory.accepted =
      true;  // without this member: by a version that recorded only what had no finding, or was accepted
  read_member(json, "accepted", inventory.accepted);
  read_member(json, "odd", inventory.odd);
  read_required(json, "parts", inventory.parts);
  if (inventory.parts.empty() || inventory.parts.size() > kMostParts)
    throw std::range_error("parts: none, or too many");
}

std::string inventory_text(const Inventory& inventory) {
  return state_text({{"taken", inventory.taken},
                     {"accepted", inventory.accepted},
                     {"odd", inventory.odd},
                     {"parts", inventory.parts}});
}

Result<Inventory> parse_inventory(std::string_view text, const std::string& name) {
  return read_state<Inventory>(text, name);
}

Result<std::optional<Inventory>> load_inventory(const Root& root) {
  return parse_file(root.read(kInventoryFile), kInventoryFile, parse_inventory);
}

Result<void> save_inventory(const std::string& directory, const Inventory& inventory) {
  const auto root = Root::open(directory);
  if (!root) return root.error();
  // A damaged file is written over, and its parts are taken from the machine again.
  if (const auto present = load_inventory(*root); !present && present.error().code == kNewerFormat)
    return error(kNewerFormat,
                 present.error().what + "; install that release again, or move the file away: /" + kInventoryFile);
  return replace_file(directory, kInventoryFile, inventory_text(inventory));
}

}  // namespace fabric
