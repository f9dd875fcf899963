// SPDX-License-Identifier: Apache-2.0
// The parts that a machine was built with, as its own symmetry proves: equal places have a part, and one place does
// not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "node/node.h"

namespace fabric {

struct MissingPart {
  enum class Kind : uint8_t { gpu, nic, rdma };
  Kind kind = Kind::nic;
  bool certain = true;                // false: see missing_parts()
  PciDevice place;                    // a device of the missing model; without `pci` if its address is unknown
  std::string below;                  // the bridge or root bus above the missing part: "0000:26:00.0"
  std::vector<std::string> beside{};  // names of the other devices below it
  std::vector<size_t> gpus{};         // the GPUs among these, as indices into topology.gpus
  std::optional<size_t> nic{};        // for Kind::rdma: the function without an RDMA device, into topology.nics
  std::optional<size_t> twin{};       // a device like the missing one, into topology.gpus or topology.nics
  std::optional<PciDevice> direct{};  // the Data Direct function that is left of a NIC
};

// Compares groups of devices: cards, then devices below each bridge, then devices of each root bus. If at least three
// groups are equal and few others lack a part of these, that part is missing. Concludes nothing if the incomplete
// groups complete each other (a device is in the wrong slot) and the number of GPUs is plausible, or if the number of
// GPUs would still be implausible with the part. Where a NIC of another model replaced one beside a GPU, NICs of both
// models count as equal. If too many groups lack a GPU for that, or if few are equal, GPUs are missing, but this is not
// certain, if the machine is implausible without them and plausible with one in each place beside an equal NIC.
// Machines with too few equal places for that:
// - a function that one card lacks and the others of its model have: function 0, which every PCI device has, or any
//   function if the cards have the same board id
// - the only function of a model without an RDMA device (only_without_rdma()), or few of a model that has as many cards
//   as GPUs, or a multiple, only with them
// - a Data Direct function without a NIC
// `ports` distinguish boards.
std::vector<MissingPart> missing_parts(const Topology& topology, std::span<const Port> ports);

// Whether the machine has 2, 4, 8, ... GPUs with `more`, and equally many on each socket that has one.
bool are_plausible(const Topology& topology, const std::vector<const PciDevice*>& more);

// The only physical function of the model without an RDMA device, as an index into topology.nics. Several such
// functions are intended (RDMA disabled on storage ports), and so are members of a bond, which has one RDMA device for
// them. A function that has no netdev either may be the other half of its card (multi-PF) or in a container: it counts
// only if there are three cards.
std::optional<size_t> only_without_rdma(const Topology& topology, const PciDevice& model);

// "at 0000:2a:00.1, beside mlx5_3", "below 0000:26:00.0, beside GPU0 and mlx5_3"
std::string place_text(const MissingPart& part);

// Fewer GPUs of a model than were built in: one fewer than 8 or 16; or fewer than cards of compute NICs, which every
// socket has in the same number, by at most one on each socket, or by more if another socket has a GPU for each; or
// four or eight on one socket and fewer on the other, each on a switch with a NIC. Other numbers prove nothing: servers
// with three GPUs are sold, GPUs with two cards each, and cards for something else on the switch of a GPU.
struct OddGpus {
  size_t whole = 8;
  std::string observed;  // "7 GPUs: 4 on socket 0, 3 on socket 1"
  std::string where;     // "on socket 1, beside GPU4, GPU5, GPU6"; "in this machine"
};
std::optional<OddGpus> odd_gpus(const Topology& topology, const std::vector<size_t>& compute);

// A device with another NUMA node than the devices in the same place.
struct OddNode {
  PciDevice device;
  std::string name;
  std::optional<int> expected{};  // absent: any
  std::string like;               // the devices with the expected node: "the other devices of pci0000:20"
  bool whole_root = false;        // the node of the root bus is odd, and so that of every device below it
  bool operator==(const OddNode&) const = default;
};
// A device is on the node of the bridge above it, and the devices of one root bus are on one node. The devices of a
// root bus are odd if the buses before and after it are on another node, and their model is evenly spread over the
// nodes only if they are on that node; a bus on no node is odd if equal devices are on one. A virtual machine with
// hidden switches has devices of several nodes on one bus: there only the bridge above a device counts.
std::vector<OddNode> odd_numa_nodes(const Topology& topology);

}  // namespace fabric
