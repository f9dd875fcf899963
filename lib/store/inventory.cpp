// SPDX-License-Identifier: Apache-2.0
#include "store/inventory.h"

#include <limits>

#include "base/parse.h"
#include "store/files.h"
#include "store/toml_value.h"

namespace fabric {
namespace {

constexpr size_t kMostParts = 4096;  // no node has as many

std::string list_toml(const std::vector<std::string>& list) {
  std::string out = "[";
  for (const std::string& each : list) out += (out.size() == 1 ? "" : ", ") + toml_string(each);
  return out + "]\n";
}

std::string part_toml(const InventoryPart& part) {
  std::string out = "\n[[part]]\nkind = " + toml_string(part.gpu ? "gpu" : "nic") + "\npci = " + toml_string(part.pci) +
                    "\nname = " + toml_string(part.name) + "\nvendor = " + std::to_string(part.vendor) +
                    "\ndevice = " + std::to_string(part.device) + "\n";
  if (part.numa) out += "numa = " + std::to_string(*part.numa) + "\n";
  out += "root = " + toml_string(part.root) + "\nbridges = " + list_toml(part.bridges);
  if (part.width) out += "width = " + std::to_string(*part.width) + "\n";
  // Tenths: 2.5 GT/s is the only speed with a fraction.
  if (part.speed) out += "speed = " + std::to_string(static_cast<long>(*part.speed * 10)) + "  # in 0.1 GT/s\n";
  if (part.gpu) return out + "nics = " + list_toml(part.nics);
  return out + "rdma = " + list_toml(part.rdma) + "up = " + list_toml(part.up);
}

template <class Number>
std::optional<Number> number_at(const toml::table& table, std::string_view key) {
  const auto* node = table.get(key);
  int64_t value = 0;
  if (node == nullptr || read_integer(*node, 0, std::numeric_limits<Number>::max(), value)) return std::nullopt;
  return static_cast<Number>(value);
}

std::vector<std::string> list_at(const toml::table& table, std::string_view key) {
  std::vector<std::string> out;
  each_of(table, key, [&](const toml::node& node) {
    if (const auto* text = node.as_string(); text != nullptr && out.size() < kMostParts)
      out.push_back(clean_text(text->get()));
  });
  return out;
}

InventoryPart part_of(const toml::table& table) {
  InventoryPart out;
  out.gpu = text_at(table, "kind") == "gpu";
  out.pci = clean_text_at(table, "pci");
  out.name = clean_text_at(table, "name");
  out.vendor = number_at<uint16_t>(table, "vendor").value_or(0);
  out.device = number_at<uint16_t>(table, "device").value_or(0);
  out.numa = number_at<int>(table, "numa");
  out.root = clean_text_at(table, "root");
  out.bridges = list_at(table, "bridges");
  out.width = number_at<unsigned>(table, "width");
  if (const auto tenths = number_at<unsigned>(table, "speed")) out.speed = *tenths / 10.0;
  out.rdma = list_at(table, "rdma");
  out.up = list_at(table, "up");
  out.nics = list_at(table, "nics");
  return out;
}

}  // namespace

std::string inventory_toml(const Inventory& inventory) {
  std::string out =
      "# The last good state of this node, by fabric-agentd; see fabric-agentctl(1), inventory. Do not edit.\ntaken "
      "= " +
      toml_string(inventory.taken) + "\n";
  for (const InventoryPart& part : inventory.parts) out += part_toml(part);
  return out;
}

Result<Inventory> parse_inventory(std::string_view text, const std::string& name) {
  const auto table = parse_state(text, name);
  if (!table) return table.error();
  Inventory out;
  out.taken = clean_text_at(*table, "taken");
  bool whole = true;
  each_of(*table, "part", [&](const toml::node& node) {
    const auto* entry = node.as_table();
    whole = whole && entry != nullptr && !text_at(*entry, "pci").empty() && out.parts.size() < kMostParts;
    if (whole) out.parts.push_back(part_of(*entry));
  });
  if (!whole || out.parts.empty()) return error(EBADMSG, name + ": no [[part]] with a PCI address, or one without");
  return out;
}

Result<std::optional<Inventory>> load_inventory(const Root& root) {
  auto text = root.read(kInventoryFile);
  if (!text && text.error().code == ENOENT) return std::optional<Inventory>{};
  if (!text) return text.error();
  auto inventory = parse_inventory(*text, std::string("/") + kInventoryFile);
  if (!inventory) return inventory.error();
  return std::optional(std::move(*inventory));
}

Result<void> save_inventory(const std::string& directory, const Inventory& inventory) {
  return replace_file(directory, kInventoryFile, inventory_toml(inventory));
}

}  // namespace fabric
