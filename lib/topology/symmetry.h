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
