// SPDX-License-Identifier: Apache-2.0
#include "node/inventory.h"

#include <algorithm>
#include <cstdio>

#include "base/files.h"
#include "base/parse.h"
#include "node/port_kind.h"
#include "setting/record.h"

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

struct StoredPart : InventoryPart {
  std::string kind;                // "gpu" or "nic"
  std::optional<unsigned> tenths;  // of a GT/s: 2.5 GT/s is the only speed with a fraction
};

struct InventoryFile {
  std::string taken;
  std::vector<StoredPart> parts;
};

StoredPart stored(const InventoryPart& part) {
  StoredPart out{part, part.gpu ? "gpu" : "nic", {}};
  if (part.speed) out.tenths = static_cast<unsigned>(*part.speed * 10);
  return out;
}

InventoryPart restored(StoredPart part) {
  part.gpu = part.kind == "gpu";
  if (part.tenths) part.speed = *part.tenths / 10.0;
  return part;
}

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

template <>
inline constexpr std::tuple kFields<StoredPart>{
    Field{"kind", &StoredPart::kind},        Field{"pci", &InventoryPart::pci, {.required = true}},
    Field{"name", &InventoryPart::name},     Field{"vendor", &InventoryPart::vendor},
    Field{"device", &InventoryPart::device}, Field{"numa", &InventoryPart::numa, {.min = 0}},
    Field{"root", &InventoryPart::root},     Field{"bridges", &InventoryPart::bridges},
    Field{"width", &InventoryPart::width},   Field{"speed", &StoredPart::tenths},
    Field{"nics", &InventoryPart::nics},     Field{"rdma", &InventoryPart::rdma},
    Field{"up", &InventoryPart::up}};
template <>
inline constexpr std::tuple kFields<InventoryFile>{
    Field{"taken", &InventoryFile::taken}, Field{"part", &InventoryFile::parts, {.required = true, .strict = true}}};

std::string inventory_toml(const Inventory& inventory) {
  InventoryFile file{inventory.taken, {}};
  for (const InventoryPart& part : inventory.parts) file.parts.push_back(stored(part));
  return document_toml(
      "# The last good state of this node, by fabric-agentd; see fabric-agentctl(1), inventory. Do not edit.\n"
      "# Speeds are in 0.1 GT/s.\n",
      file);
}

Result<Inventory> parse_inventory(std::string_view text, const std::string& name) {
  auto file = parse_record<InventoryFile>(text, name);
  if (!file) return file.error();
  if (file->parts.empty() || file->parts.size() > kMostParts)
    return error(EBADMSG, name + ": no [[part]], or too many");
  Inventory out{std::move(file->taken), {}};
  for (StoredPart& part : file->parts) out.parts.push_back(restored(std::move(part)));
  return out;
}

Result<std::optional<Inventory>> load_inventory(const Root& root) {
  return parse_file(root.read(kInventoryFile), kInventoryFile, parse_inventory);
}

Result<void> save_inventory(const std::string& directory, const Inventory& inventory) {
  return replace_file(directory, kInventoryFile, inventory_toml(inventory));
}

}  // namespace fabric
