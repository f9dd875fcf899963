// SPDX-License-Identifier: Apache-2.0
// Shared by the checks of the platform group.
#pragma once

#include "judge/view.h"
#include "topology/built.h"

namespace fabric {

// Null if nothing is known about the function.
const PlatformFunction* function_of(const Node& node, const std::string& pci);

// The function's kernel driver. Empty: it has none, or nothing is known about it.
std::string kernel_driver_of(const Node& node, const std::string& pci);

// Whether the drivers of PCI functions are known: a captured tree may lack these links, and then shows none at all.
bool records_drivers(const Node& node);

// Whether this container was not given the GPU, while it has others of the vendor: /sys shows those of the whole host,
// and the vendor's runtime lists those of the container.
bool is_not_given(const Node& node, const Gpu& gpu);

// Whether the function at this address is handed to a virtual machine or a user's program (vfio), or is a GPU that this
// container was not given. False if nothing is known about it.
bool is_given_away(const Node& node, const std::string& pci);

// Whether the machine is rented: a NIC is of a kind that only clouds have (EFA, MANA, eRDMA). A captured tree may lack
// the DMI, by which Topology::hypervisor is known.
bool is_in_cloud(const Node& node);

// View::built, or computed if it is absent.
std::shared_ptr<const Built> built_of(const View& view);

// A GPU and a NIC that the best pairing gives it.
struct GpuNic {
  const Gpu* gpu = nullptr;
  const Nic* nic = nullptr;
};
std::vector<GpuNic> gpu_nic_pairs(const View& view);

}  // namespace fabric
