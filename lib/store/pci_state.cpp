// SPDX-License-Identifier: Apache-2.0
#include "store/pci_state.h"

#include "store/files.h"
#include "store/record.h"

namespace fabric {
namespace {

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

template <>
inline constexpr std::tuple kFields<PciSettings>{Field{"mrrs", &PciSettings::mrrs},
                                                 Field{"max_payload", &PciSettings::max_payload},
                                                 Field{"relaxed_ordering", &PciSettings::relaxed_ordering},
                                                 Field{"ten_bit_tags", &PciSettings::ten_bit_tags},
                                                 Field{"acs", &PciSettings::acs},
                                                 Field{"unread", &PciSettings::unread}};
template <>
inline constexpr std::tuple kFields<PciState>{Field{"updated", &PciState::updated},
                                              Field{"function", &PciState::functions}};

namespace state {

std::string pci_state_toml(const PciState& state) {
  return document_toml("# Written by fabric-agent-pci.service; see fabric-agentd(8). Do not edit.\n", state);
}

Result<PciState> parse_pci_state(std::string_view text, const std::string& name) {
  return parse_record<PciState>(text, name);
}

Result<std::optional<PciState>> load_pci_state(const Root& root) {
  return parse_file(root.read_foreign(kPciFile), kPciFile, parse_pci_state);
}

Result<void> save_pci_state(const std::string& directory, const PciState& state) {
  return replace_file(directory, kPciFile, pci_state_toml(state));
}

}  // namespace state
}  // namespace fabric
