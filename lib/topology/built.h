// SPDX-License-Identifier: Apache-2.0
// The design of the machine: the recorded inventory if there is one, and the parts that symmetry proves. Everything
// that depends on the machine's design (pairing, NCCL's list, rails, distances) is decided with all parts that were
// built; then the missing ones are removed. So a fault never changes the NICs of GPUs that it does not concern.
#pragma once

#include <set>
#include <span>

#include "node/node.h"
#include "node/topology.h"
#include "topology/pairing.h"
#include "topology/symmetry.h"

namespace fabric {

// Ends the address of a missing part of which only the bridge above it is known: it is in PCI order with it.
inline constexpr std::string_view kUnknownAddress = "~";

struct Built {
  // The present parts in their order, then the missing ones. A NUMA node or RDMA device that was lost is in it.
  Topology topology{};
  size_t gpus = 0, nics = 0;      // number of present ones
  std::vector<Port> ports{};      // by which NICs for GPUs are chosen: link layer, rate, state and board of each port
  std::vector<size_t> compute{};  // the NICs for GPUs, missing ones too, in PCI order
  Pairing pairing{};              // of all GPUs, with these
  Pairing present_pairing{};      // of the present GPUs, with present_compute(): `pairing` without lost NICs
  std::set<size_t> lost{};        // NICs that are missing, or have no RDMA device any more
  std::set<size_t> lost_since{};  // those of them that the inventory has
  std::vector<MissingPart> missing{};  // by symmetry, beside the inventory; nothing if the inventory was accepted
  std::vector<OddNode> odd_nodes{};    // likewise
  std::optional<OddGpus> odd_gpus{};
  std::map<std::string, std::string> recorded_at{};  // present address of a part -> its address in the inventory
  // Present address of a part in another slot -> its place in the inventory, with the present names of the bridges.
  std::map<std::string, PciDevice> moved{};

  // The record of the part that is at this address now. Null: there is none.
  [[nodiscard]] const InventoryPart* record_of(const Inventory& inventory, const std::string& pci) const;
  // Whether the NIC serves a GPU: the best pairing gives it to one, which may be missing now. NICs that serve none have
  // another purpose (storage, management), or are spare. Port::place is another fact.
  [[nodiscard]] bool serves_gpu(size_t nic) const;
  // The compute NICs that are present and carry RDMA.
  [[nodiscard]] std::vector<size_t> present_compute() const;
  // Whether a NIC of the GPU's is gone since the inventory was recorded, or has lost its RDMA device.
  [[nodiscard]] bool has_lost_nic(size_t gpu) const;
};

// `recorded`: the inventory; null: there is none.
Built built_of(const Topology& now, std::span<const Port> ports, const Inventory* recorded = nullptr);
Built built_of(const Node& node);
// The node's inventory; null: there is none.
inline const Inventory* recorded_in(const Node& node) { return node.inventory ? &*node.inventory : nullptr; }

// Built::present_pairing with usable_nics() only: a NIC whose port is down counts as missing.
Pairing best_pairing(const Topology& now, std::span<const Port> ports, const Inventory* recorded = nullptr);

struct Rail {
  size_t rail = 0;
  std::optional<size_t> plane{};  // number among the NICs of the rail, in PCI order; nullopt: it is the only one
};

// The rails of the compute NICs in use, by PCI address. The rail is the number of the GPU that the NIC serves. If GPUs
// share NICs, or there are no GPUs, rails are counted in PCI order; without GPUs, each card is a rail. Parts that are
// known to be missing keep their place.
std::map<std::string, Rail> rails_of(const Topology& now, std::span<const Port> ports,
                                     const Inventory* recorded = nullptr);

}  // namespace fabric
