// SPDX-License-Identifier: Apache-2.0
#include "node/inventory.h"

#include <algorithm>
#include <cstdio>

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

const InventoryPart* twin_of(const std::vector<InventoryPart>& parts, const InventoryPart& part) {
  return find_where(parts, [&](const InventoryPart& each) { return each.pci == part.pci && each.gpu == part.gpu; });
}

using PartModel = std::tuple<bool, uint16_t, uint16_t>;
PartModel model_of(const InventoryPart& part) { return {part.gpu, part.vendor, part.device}; }

// The addresses of `parts`, by model and in PCI order, at which `others` has no part of that model.
std::map<PartModel, std::vector<std::string>> alone_in(const std::vector<InventoryPart>& parts,
                                                       const std::vector<InventoryPart>& others) {
  std::map<PartModel, std::vector<std::string>> out;
  for (const InventoryPart& part : parts)
    if (const InventoryPart* twin = twin_of(others, part); twin == nullptr || model_of(*twin) != model_of(part))
      out[model_of(part)].push_back(part.pci);
  return out;
}

// Recorded address -> present address.
std::map<std::string, std::string> moves_between(const std::vector<InventoryPart>& was,
                                                 const std::vector<InventoryPart>& is) {
  std::map<std::string, std::string> out;
  const auto now = alone_in(is, was);
  for (const auto& [model, left] : alone_in(was, is)) {
    const auto* found = find_in(now, model);
    if (found == nullptr || found->size() != left.size()) continue;
    for (size_t i = 0; i < left.size(); ++i) out.emplace(left[i], (*found)[i]);
  }
  return out;
}

constexpr size_t kMostParts = 4096;  // more than any node has

}  // namespace

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
    if (lanes_sleep(gpu.link)) part.width = gpu.link.max_width;
    part.speed.reset();
  }
  for (const Nic& nic : topology.nics) {
    if (nic.virtual_function || nic.pci.empty()) continue;
    InventoryPart& part = add(nic);
    part.name = nic.name;
    part.rdma = nic.rdma;
  }
  return out;
}

std::string ids_text(uint16_t vendor, uint16_t device) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x:%04x", vendor, device);
  return text;
}

bool lanes_sleep(const PcieLink& link) { return link.speed.value_or(0) >= 64 && link.width.value_or(16) <= 2; }

std::vector<InventoryChange> changes_since(const Inventory& inventory, const Topology& now) {
  using Kind = InventoryChange::Kind;
  std::vector<InventoryChange> out;
  const auto parts = inventory_parts(now);
  const auto moves = moves_between(inventory.parts, parts);
  for (const InventoryPart& was : inventory.parts) {
    const auto add = [&](Kind kind, std::string before, std::string after) {
      out.push_back({kind, was.pci, was.name, std::move(before), std::move(after), was.gpu});
    };
    const InventoryPart* is = twin_of(parts, was);
    if (const std::string* to = find_in(moves, was.pci)) {
      add(Kind::moved, was.pci, *to);
      continue;
    }
    if (is == nullptr) {
      add(Kind::gone, ids_text(was.vendor, was.device), "");
      continue;
    }
    if (was.vendor != is->vendor || was.device != is->device) {
      add(Kind::replaced, ids_text(was.vendor, was.device), ids_text(is->vendor, is->device));
      continue;
    }
    // RDMA devices are renamed, so only their number counts: one of several that is gone is a loss.
    const bool in_container =
        std::ranges::any_of(now.nics, [&](const Nic& nic) { return nic.pci == was.pci && nic.rdma_elsewhere; });
    if (is->rdma.size() < was.rdma.size() && !in_container)
      add(Kind::rdma, joined(was.rdma), is->rdma.empty() ? "none" : joined(is->rdma));
    if (was.numa && is->numa && was.numa != is->numa)
      add(Kind::numa, std::to_string(*was.numa), std::to_string(*is->numa));
    const bool narrow = is->width && was.width && *is->width < *was.width;
    const bool slow = is->speed && was.speed && *is->speed < *was.speed;
    if (narrow || slow) add(Kind::link, link_text(was.width, was.speed), link_text(is->width, is->speed));
  }
  for (const InventoryPart& is : parts)
    if (twin_of(inventory.parts, is) == nullptr &&
        std::ranges::none_of(moves, [&](const auto& move) { return move.second == is.pci; }))
      out.push_back({Kind::added, is.pci, is.name, "", ids_text(is.vendor, is.device), is.gpu});
  return out;
}

std::vector<Nic> gone_nics(const Inventory& inventory, const Topology& now) {
  std::vector<Nic> out;
  const auto parts = inventory_parts(now);
  const auto moves = moves_between(inventory.parts, parts);
  for (const InventoryPart& part : inventory.parts) {
    if (part.gpu || twin_of(parts, part) != nullptr || moves.contains(part.pci)) continue;
    const PciDevice place{.pci = part.pci,
                          .vendor = part.vendor,
                          .device = part.device,
                          .numa = part.numa,
                          .bridges = part.bridges,
                          .root = part.root,
                          .link = {}};
    out.push_back({place, {}, part.rdma, part.name});
  }
  return out;
}

std::string part_text(const InventoryChange& change) {
  if (change.name == change.pci || change.name.empty()) return change.pci;
  return change.name + " (" + change.pci + ")";
}

static void to_json(Json& json, const InventoryPart& part) {
  json = {{"kind", part.gpu ? "gpu" : "nic"},
          {"pci", part.pci},
          {"name", part.name},
          {"vendor", part.vendor},
          {"device", part.device},
          {"numa", part.numa},
          {"root", part.root},
          {"bridges", part.bridges},
          {"width", part.width},
          {"speed", part.speed},
          {"nics", part.nics},
          {"rdma", part.rdma},
          {"up", part.up}};
}

static void from_json(const Json& json, InventoryPart& part) {
  std::string kind;
  read_member(json, "kind", kind);
  part.gpu = kind == "gpu";
  read_required(json, "pci", part.pci);
  if (part.pci.empty()) throw std::range_error("pci is empty");
  read_member(json, "name", part.name);
  read_member(json, "vendor", part.vendor);
  read_member(json, "device", part.device);
  read_member(json, "numa", part.numa);
  read_member(json, "root", part.root);
  read_member(json, "bridges", part.bridges);
  read_member(json, "width", part.width);
  read_member(json, "speed", part.speed);
  read_member(json, "nics", part.nics);
  read_member(json, "rdma", part.rdma);
  read_member(json, "up", part.up);
}

static void from_json(const Json& json, Inventory& inventory) {
  read_member(json, "taken", inventory.taken);
  read_required(json, "parts", inventory.parts);
  if (inventory.parts.empty() || inventory.parts.size() > kMostParts)
    throw std::range_error("parts: none, or too many");
}

std::string inventory_text(const Inventory& inventory) {
  return state_text({{"taken", inventory.taken}, {"parts", inventory.parts}});
}

Result<Inventory> parse_inventory(std::string_view text, const std::string& name) {
  return read_state<Inventory>(text, name);
}

Result<std::optional<Inventory>> load_inventory(const Root& root) {
  return parse_file(root.read(kInventoryFile), kInventoryFile, parse_inventory);
}

Result<void> save_inventory(const std::string& directory, const Inventory& inventory) {
  return replace_file(directory, kInventoryFile, inventory_text(inventory));
}

}  // namespace fabric
