// SPDX-License-Identifier: Apache-2.0
#include "kernel/pci/pci.h"

#include <algorithm>
#include <cstdio>

#include "base/parse.h"

namespace fabric::pci {
namespace {

// Takes a hexadecimal field of `min` to `max` digits up to `end`, or up to the end of the text if `end` is 0.
template <class Number>
bool take_hex(std::string_view& text, char end, size_t min, size_t max, Number& out) {
  size_t size = text.size();
  if (end != '\0') size = text.find(end);
  if (size == std::string_view::npos || size < min || size > max) return false;
  const auto value = parse_number<Number>(text.substr(0, size), 16);
  if (!value || text.find_first_not_of("0123456789abcdefABCDEF") < size) return false;
  out = *value;
  text.remove_prefix(std::min(text.size(), size + 1));
  return true;
}

}  // namespace

std::optional<FunctionAddress> parse_address(std::string_view text) {
  FunctionAddress address;
  if (take_hex(text, ':', 4, 8, address.domain) && take_hex(text, ':', 2, 2, address.bus) &&
      take_hex(text, '.', 2, 2, address.device) && take_hex(text, '\0', 1, 1, address.function))
    return address;
  return std::nullopt;
}

std::string address_text(const FunctionAddress& address) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", address.domain, address.bus, address.device, address.function);
  return text;
}

bool address_less(std::string_view a, std::string_view b) {
  const auto left = parse_address(a), right = parse_address(b);
  if (left && right && *left != *right) return *left < *right;
  if (left.has_value() != right.has_value()) return left.has_value();
  return a < b;
}

std::optional<Location> parse_location(std::string_view resolved) {
  Location location;
  std::string path;
  std::vector<std::string> functions;
  for (const std::string_view name : split(resolved, '/')) {
    append_item(path, name, "/");
    ++location.below;
    // "pci0000:20"
    bool is_root_bus = false;
    if (name.starts_with("pci")) {
      std::string_view rest = name.substr(3);
      uint32_t domain = 0;
      uint8_t bus = 0;
      is_root_bus = take_hex(rest, ':', 4, 8, domain) && take_hex(rest, '\0', 2, 2, bus);
    }
    if (is_root_bus) {
      location.root = name;
      functions.clear();
    } else if (!location.root.empty() && parse_address(name)) {
      functions.emplace_back(name);
      location.folder = path;
      location.below = 0;
    }
  }
  if (functions.empty()) return std::nullopt;
  location.pci = functions.back();
  location.bridges.assign(functions.rbegin() + 1, functions.rend());
  return location;
}

std::optional<Location> location_at(const Root& root, const std::string& link) {
  const auto resolved = root.resolve(link);
  if (!resolved) return std::nullopt;
  return parse_location(*resolved);
}

PciDevice read_function(const Root& root, const Location& location) {
  PciDevice function;
  function.pci = location.pci;
  function.root = location.root;
  function.bridges = location.bridges;
  function.vendor = root.number_in<uint16_t>(location.folder + "/vendor", 16).value_or(0);
  function.device = root.number_in<uint16_t>(location.folder + "/device", 16).value_or(0);
  function.class_code = root.number_in<uint32_t>(location.folder + "/class", 16).value_or(0);
  return function;
}

std::optional<double> parse_link_speed(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() < 2 || parts[1] != "GT/s") return std::nullopt;
  const auto speed = parse_double(parts[0]);
  if (!speed || !(*speed > 0)) return std::nullopt;
  return speed;
}

std::optional<unsigned> parse_link_width(std::string_view text) {
  const auto width = parse_number<unsigned>(text);
  if (!width || *width == 0 || *width > 32) return std::nullopt;
  return width;
}

PcieLink read_link(const Root& root, const std::string& folder) {
  const auto text = [&](const char* file) { return root.line_of(folder + "/" + file); };
  PcieLink link;
  link.speed = parse_link_speed(text("current_link_speed"));
  link.width = parse_link_width(text("current_link_width"));
  link.max_speed = parse_link_speed(text("max_link_speed"));
  link.max_width = parse_link_width(text("max_link_width"));
  link.all_ones = text("current_link_width") == "63";  // all six bits of PCI_EXP_LNKSTA_NLW
  return link;
}

CpuNodes cpu_nodes(const Root& root) {
  const std::string folder = "sys/devices/system/node";
  CpuNodes nodes;
  for (const std::string& name : root.names_in(folder)) {
    if (!name.starts_with("node")) continue;
    const auto number = parse_number<int>(name.substr(4));
    if (!number) continue;
    std::string cpus = root.line_of(folder + "/" + name + "/cpulist");
    if (!cpus.empty()) nodes.emplace(*number, std::move(cpus));
  }
  return nodes;
}

std::optional<int> numa_node(const Root& root, const std::string& folder, const CpuNodes& nodes) {
  const auto node = root.number_in<int>(folder + "/numa_node");
  if (node && *node >= 0) {
    if (nodes.empty() || nodes.contains(*node)) return node;
    return std::nullopt;
  }
  if (nodes.size() > 1) return std::nullopt;
  if (nodes.empty()) return 0;
  return nodes.begin()->first;
}

}  // namespace fabric::pci
