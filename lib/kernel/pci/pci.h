// SPDX-License-Identifier: Apache-2.0
// PCI functions as sysfs shows them (Documentation/ABI/testing/sysfs-bus-pci; drivers/pci/pci-sysfs.c of Linux 6.12).
// Everything here is world-readable.
#pragma once

#include "kernel/capture/root.h"
#include "kernel/pci/pci_device.h"

namespace fabric::pci {

// "0000:17:00.0". Hyper-V and VMD number domains with more than four digits.
struct FunctionAddress {
  uint32_t domain = 0;
  uint8_t bus = 0, device = 0, function = 0;
  auto operator<=>(const FunctionAddress&) const = default;
};
std::optional<FunctionAddress> parse_address(std::string_view text);
std::string address_text(const FunctionAddress& address);  // in the format of sysfs
// Orders PCI addresses by number; other texts come last.
bool address_less(std::string_view a, std::string_view b);

// The place of a function in the tree, from a resolved path below the root such as
// "sys/devices/pci0000:20/0000:20:01.0/0000:21:00.0/net/eth0": the last PCI function on the path, the bridges above it
// up to the last root bus (VMD nests a second one). nullopt: the path has no root bus or no function.
struct Location {
  std::string folder;  // of the function, below the root
  std::string pci, root;
  std::vector<std::string> bridges;  // nearest first
  size_t below = 0;                  // components of the path below the function
};
std::optional<Location> parse_location(std::string_view resolved);
// The place to which the link leads. nullopt also: there is no such link.
std::optional<Location> location_at(const Root& root, const std::string& link);

// Fills ids, class and place of the function, but not numa and link. Unreadable ids stay 0.
PciDevice read_function(const Root& root, const Location& location);

// Reads the link's files. nullopt: "Unknown", no lanes, or more than 32 (63, 255: a function that has no link, or is
// gone and reads all ones).
PcieLink read_link(const Root& root, const std::string& folder);
std::optional<double> parse_link_speed(std::string_view text);  // "32.0 GT/s PCIe" -> 32
std::optional<unsigned> parse_link_width(std::string_view text);

// NUMA nodes with CPUs -> their CPUs, "0-15,32-47". Empty on a kernel without NUMA.
using CpuNodes = std::map<int, std::string>;
CpuNodes cpu_nodes(const Root& root);
// The function's NUMA node by its numa_node file; if that is -1, the machine's only node. nullopt: the machine has
// several nodes, or the node has no CPUs (a GPU's memory).
std::optional<int> numa_node(const Root& root, const std::string& folder, const CpuNodes& nodes);

}  // namespace fabric::pci
