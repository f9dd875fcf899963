// SPDX-License-Identifier: Apache-2.0
// Parts that a machine lacks by its own symmetry: what equal places of it have, and one place has not.
#pragma once

#include <span>

#include "node/node.h"

namespace fabric {

struct MissingPart {
  enum class Kind : uint8_t { gpu, nic, rdma };
  Kind kind = Kind::nic;
  PciDevice place;                    // of the model that is missing; without `pci` where its address cannot be told
  std::string below;                  // the bridge or root bus that has all the others: "0000:26:00.0"
  std::vector<std::string> beside{};  // names of the devices there
  std::vector<size_t> gpus{};         // those of them that are GPUs, as indices into topology.gpus
  std::optional<size_t> nic{};        // of Kind::rdma: the function without an RDMA device, into topology.nics
};

// Groups are compared card by card, then below each bridge, then by root bus. What at least three groups have in
// common and few others lack a part of is missing there. Nothing is concluded if the lacking groups complete each other
// (a device is in the wrong slot), or if the number of GPUs would not become even. What fewer places show is
// added. `ports` tell boards apart.
std::vector<MissingPart> missing_parts(const Topology& topology, std::span<const Port> ports);

// NICs that are not on the bus: those of the inventory, else by symmetry.
std::vector<Nic> missing_nics(const Topology& topology, std::span<const Port> ports);

// "at 0000:2a:00.1, beside mlx5_3", "below 0000:26:00.0, beside GPU0 and mlx5_3"
std::string place_text(const MissingPart& part);

// The only physical function of the model that has no RDMA device, into topology.nics. Several are by design (RDMA
// disabled on storage ports), and so is a bond, which has one RDMA device for its members. One without a netdev either
// may be the other half of its card (multi-PF) or in a container: it must be one of three cards.
std::optional<size_t> only_without_rdma(const Topology& topology, const PciDevice& model);

// Functions that one card lacks and the others of its model have: function 0, which every PCI device has, or any of
// cards with one board id.
std::vector<MissingPart> missing_functions(const Topology& topology, std::span<const Port> ports);

// One GPU fewer than 8 or 16 of a model, or than the cards of compute NICs, of which each socket has as many. Other
// numbers prove nothing: servers with three GPUs are sold.
struct OddGpus {
  size_t whole = 8;
  std::string observed;  // "7 GPUs: 4 on socket 0, 3 on socket 1"
  std::string where;     // "on socket 1, beside GPU4, GPU5, GPU6"; "in this machine"
};
std::optional<OddGpus> odd_gpus(const Topology& topology, std::span<const Port> ports);

// A device whose NUMA node differs from that of its equals in the same place.
struct OddNode {
  PciDevice device;
  std::string name;
  int expected = 0;
  std::string like;  // whose node is expected: "the devices of pci0000:20"
};
// A device is on the node of the bridge above it, and devices of one root bus are on one node. A device alone on its
// root bus is odd if the buses before and after it are on another node, and its model is spread evenly over the nodes
// only with it on that one.
std::vector<OddNode> odd_numa_nodes(const Topology& topology);

// GPUs and NICs as what a machine has several of: devices of a model, which can be counted and compared. GPUs by their
// ids; NICs also by their board, since one chip is sold with one port and with two.
struct Model {
  bool gpu = false;
  uint16_t vendor = 0, device = 0;
  std::string_view board{};  // of a port
  auto operator<=>(const Model&) const = default;
};

struct Unit {
  PciDevice device;
  std::string name;
  Model model;
  size_t index = 0;   // into topology.gpus or topology.nics
  bool rdma = false;  // carries RDMA; a GPU counts in every comparison
  bool there = true;  // false: missing, and already found
};
using Units = std::vector<Unit>;

// GPUs, and physical NICs of models that carry RDMA. `ports` tell boards apart, and must outlive the result.
Units units_of(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
