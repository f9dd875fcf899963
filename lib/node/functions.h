// SPDX-License-Identifier: Apache-2.0
// The virtual functions of this host's NICs: the user of each, and the limits that the host sets for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernel/netlink/vf_limits.h"

namespace fabric {

struct Port;

struct VirtualFunction {
  VfLimits limits;
  std::string pci{};        // its address; empty: unknown
  bool has_rdma = false;    // it has an RDMA device here
  bool elsewhere = false;   // its RDMA device or its netdev is in another network namespace: a pod has it
  bool given_away = false;  // it is bound to a driver for virtual machines or user's programs
  bool operator==(const VirtualFunction&) const = default;
};

// A physical function with virtual ones. Limits are read through its netdev, which belongs to this namespace.
struct PhysicalFunction {
  std::string netdev;
  std::vector<VirtualFunction> functions{};
  bool operator==(const PhysicalFunction&) const = default;
};
using PhysicalFunctions = std::map<std::string, PhysicalFunction>;  // by PCI address

// The virtual function with this address; nullptr: none, or its physical function is not here.
const VirtualFunction* find_function(const PhysicalFunctions& physical, const std::string& pci);

namespace scanning {

struct Context;

// Reads the functions of each physical function that has an RDMA port here. A function without virtual ones costs one
// file. If a read fails, Port::unread of the port says so.
void read_functions(const Context& context, std::vector<Port>& ports, PhysicalFunctions& out);

}  // namespace scanning
}  // namespace fabric
