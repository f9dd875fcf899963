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

bool is_elsewhere(const Topology& topology, const std::string& pci) {
  return std::ranges::any_of(topology.nics, [&](const Nic& nic) { return nic.pci == pci && nic.rdma_elsewhere; });
}

std::string link_text(const std::optional<unsigned>& width, const std::optional<double>& speed) {
  std::string out = width ? "x" + std::to_string(*width) : "x?";
  return speed ? out + " at " + number_text(*speed) + " GT/s" : out;
}

void compare(const InventoryPart& was, const InventoryPart& is, std::vector<InventoryChange>& out) {
  using Kind = InventoryChange::Kind;
  const auto add = [&](Kind kind, std::string before, std::string now) {
    out.push_back({kind, was.pci, was.name, std::move(before), std::move(now), was.gpu});
  };
  if (was.vendor != is.vendor || was.device != is.device)
    return add(Kind::replaced, ids_text(was.vendor, was.device), ids_text(is.vendor, is.device));
  // RDMA devices are renamed; one of several that is gone is a loss.
  if (is.rdma.size() < was.rdma.size()) add(Kind::rdma, joined(was.rdma), is.rdma.empty() ? "none" : joined(is.rdma));
  if (was.numa && is.numa && was.numa != is.numa) add(Kind::numa, std::to_string(*was.numa), std::to_string(*is.numa));
  const bool narrow = is.width && was.width && *is.width < *was.width;
  const bool slow = is.speed && was.speed && *is.speed < *was.speed;
  if (narrow || slow) add(Kind::link, link_text(was.width, was.speed), link_text(is.width, is.speed));
}

const InventoryPart* twin_of(const std::vector<InventoryPart>& parts, const InventoryPart& part) {
  return find_where(parts, [&](const InventoryPart& each) { return each.pci == part.pci && each.gpu == part.gpu; });
}

using PartModel = std::tuple<bool, uint16_t, uint16_t>;
PartModel model_of(const InventoryPart& part) { return {part.gpu, part.vendor, part.device}; }

// Of each model, those of `parts` that are not where `others` have one of the model; in PCI order.
std::map<PartModel, std::vector<std::string>> alone_in(const std::vector<InventoryPart>& parts,
                                                       const std::vector<InventoryPart>& others) {
  std::map<PartModel, std::vector<std::string>> out;
  for (const InventoryPart& part : parts)
    if (const InventoryPart* twin = twin_of(others, part); twin == nullptr || model_of(*twin) != model_of(part))
      out[model_of(part)].push_back(part.pci);
  return out;
}

// Recorded address -> present one.
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

constexpr size_t kMostParts = 4096;  // no node has as many

}  // namespace

std::vector<InventoryPart> inventory_parts(const Topology& topology) {
  std::vector<InventoryPart> out;
  const auto add = [&](const PciDevice& device, const std::string& name, bool gpu,
                       const std::vector<std::string>& rdma) {
    out.push_back({.gpu = gpu,
                   .pci = device.pci,
                   .name = name,
                   .vendor = device.vendor,
                   .device = device.device,
                   .numa = device.numa_assumed ? std::nullopt : device.numa,
                   .root = device.root,
                   .bridges = device.bridges,
                   .width = gpu && lanes_sleep(device.link) ? device.link.max_width : device.link.width,
                   .speed = gpu ? std::nullopt : device.link.speed,
                   .rdma = rdma});
  };
  for (const Gpu& gpu : topology.gpus) add(gpu, gpu.name, true, {});
  for (const Nic& nic : topology.nics)
    if (!nic.virtual_function && !nic.pci.empty()) add(nic, nic.name, false, nic.rdma);
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
    const InventoryPart* is = twin_of(parts, was);
    if (const std::string* to = find_in(moves, was.pci))
      out.push_back({Kind::moved, was.pci, was.name, was.pci, *to, was.gpu});
    else if (is == nullptr)
      out.push_back({Kind::gone, was.pci, was.name, ids_text(was.vendor, was.device), "", was.gpu});
    else compare(was, *is, out);
  }
  for (const InventoryPart& is : parts)
    if (twin_of(inventory.parts, is) == nullptr &&
        std::ranges::none_of(moves, [&](const auto& move) { return move.second == is.pci; }))
      out.push_back({Kind::added, is.pci, is.name, "", ids_text(is.vendor, is.device), is.gpu});
  std::erase_if(
      out, [&](const InventoryChange& change) { return change.kind == Kind::rdma && is_elsewhere(now, change.pci); });
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
  return change.name == change.pci || change.name.empty() ? change.pci : change.name + " (" + change.pci + ")";
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
