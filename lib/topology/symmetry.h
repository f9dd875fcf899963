// SPDX-License-Identifier: Apache-2.0
// Parts that a machine lacks by its own symmetry: equal places have them, and one place does not.
#pragma once

#include <span>

#include "node/node.h"

namespace fabric {

struct MissingPart {
  enum class Kind : uint8_t { gpu, nic, rdma };
  Kind kind = Kind::nic;
  PciDevice place;                    // a device of the missing model; without `pci` if its address is unknown
  std::string below;                  // the bridge or root bus above the missing part: "0000:26:00.0"
  std::vector<std::string> beside{};  // names of the other devices below it
  std::vector<size_t> gpus{};         // the GPUs among these, as indices into topology.gpus
  std::optional<size_t> nic{};        // for Kind::rdma: the function without an RDMA device, into topology.nics
};

// Compares groups of devices: cards, then devices below each bridge, then devices of each root bus. If at least three
// groups are equal and few others lack a part of these, that part is missing. Concludes nothing if the incomplete
// groups complete each other (a device is in the wrong slot), or if the number of GPUs would still be implausible. Adds
// the findings of few_places.h. `ports` distinguish boards.
std::vector<MissingPart> missing_parts(const Topology& topology, std::span<const Port> ports);

// NICs that are not on the bus: those of the inventory, else by symmetry.
std::vector<Nic> missing_nics(const Topology& topology, std::span<const Port> ports);

// "at 0000:2a:00.1, beside mlx5_3", "below 0000:26:00.0, beside GPU0 and mlx5_3"
std::string place_text(const MissingPart& part);

// The model of a GPU or NIC, by which devices are counted and compared: the PCI ids, and for NICs also the board,
// because the same chip is sold with one port and with two.
struct Model {
  bool gpu = false;
  uint16_t vendor = 0, device = 0;
  std::string_view board{};  // board id of a port
  auto operator<=>(const Model&) const = default;
};

struct Unit {
  PciDevice device;
  std::string name;
  Model model;
  size_t index = 0;   // into topology.gpus or topology.nics
  bool rdma = false;  // carries RDMA; true for a GPU, which takes part in every comparison
  bool there = true;  // false: a missing device that was found already
};
using Units = std::vector<Unit>;

// GPUs, and physical NICs of models that carry RDMA. `ports` distinguish boards, and must outlive the result.
Units units_of(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
