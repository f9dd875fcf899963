// SPDX-License-Identifier: Apache-2.0
// Parts that a machine lacks by its own symmetry: what equal places of it have, and one place has not.
#pragma once

#include <span>

#include "model/node.h"

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
// (a device is in the wrong slot), or if the number of GPUs would not become even. What fewer places show
// (few_places.h) is added. `ports` tell boards apart.
std::vector<MissingPart> missing_parts(const Topology& topology, std::span<const Port> ports);

// "at 0000:2a:00.1, beside mlx5_3", "below 0000:26:00.0, beside GPU0 and mlx5_3"
std::string place_text(const MissingPart& part);

}  // namespace fabric
