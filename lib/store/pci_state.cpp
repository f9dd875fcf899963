// SPDX-License-Identifier: Apache-2.0
#include "store/pci_state.h"

#include <limits>

#include "store/files.h"
#include "store/toml_value.h"

namespace fabric::state {
namespace {

template <class Number>
void read_number(const toml::table& table, std::string_view key, std::optional<Number>& out) {
  int64_t value = 0;
  if (const auto* node = table.get(key);
      node != nullptr && !read_integer(*node, 0, std::numeric_limits<Number>::max(), value))
    out = static_cast<Number>(value);
}

void read_flag(const toml::table& table, std::string_view key, std::optional<bool>& out) {
  if (const auto* node = table.get(key))
    if (const auto* value = node->as_boolean()) out = value->get();
}

std::string flag_toml(std::string_view key, const std::optional<bool>& value) {
  return value ? std::string(key) + (*value ? " = true\n" : " = false\n") : std::string{};
}

PciSettings read_function(const toml::table& table) {
  PciSettings out;
  read_number(table, "mrrs", out.mrrs);
  read_number(table, "max_payload", out.max_payload);
  read_number(table, "acs", out.acs);
  read_flag(table, "relaxed_ordering", out.relaxed_ordering);
  read_flag(table, "ten_bit_tags", out.ten_bit_tags);
  if (const auto* node = table.get("unread"))
    if (const auto* value = node->as_string()) out.unread = value->get();
  return out;
}

}  // namespace

std::string pci_state_toml(const PciState& state) {
  std::string out = "# Written by fabric-agent-pci.service; see fabric-agentd(8). Do not edit.\n";
  out += "updated = " + toml_string(state.updated) + "\n";
  for (const auto& [address, function] : state.functions) {
    out += "\n[function." + toml_string(address) + "]\n";
    if (function.mrrs) out += "mrrs = " + std::to_string(*function.mrrs) + "\n";
    if (function.max_payload) out += "max_payload = " + std::to_string(*function.max_payload) + "\n";
    out += flag_toml("relaxed_ordering", function.relaxed_ordering) + flag_toml("ten_bit_tags", function.ten_bit_tags);
    if (function.acs) out += "acs = " + std::to_string(*function.acs) + "\n";
    if (!function.unread.empty()) out += "unread = " + toml_string(function.unread) + "\n";
  }
  return out;
}

Result<PciState> parse_pci_state(std::string_view text, const std::string& name) {
  const auto read_table = parse_state(text, name);
  if (!read_table) return read_table.error();
  const toml::table& table = *read_table;
  PciState out;
  if (const auto* node = table.get("updated"))
    if (const auto* value = node->as_string()) out.updated = value->get();
  const auto* node = table.get("function");
  const auto* functions = node != nullptr ? node->as_table() : nullptr;
  if (functions == nullptr) return out;
  for (auto&& [key, entry] : *functions) {
    const std::string_view address = key;
    if (const auto* values = entry.as_table()) out.functions.emplace(address, read_function(*values));
  }
  return out;
}

Result<std::optional<PciState>> load_pci_state(const Root& root) {
  auto text = root.read_foreign(kPciFile);
  if (!text && text.error().code == ENOENT) return std::optional<PciState>{};
  if (!text) return text.error();
  auto state = parse_pci_state(*text, std::string("/") + kPciFile);
  if (!state) return state.error();
  return std::optional(std::move(*state));
}

Result<void> save_pci_state(const std::string& directory, const PciState& state) {
  return replace_file(directory, kPciFile, pci_state_toml(state));
}

}  // namespace fabric::state
