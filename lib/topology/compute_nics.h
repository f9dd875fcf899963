// SPDX-License-Identifier: Apache-2.0
// The NICs that a machine was built with for its GPUs, and those of them that are up.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "node/node.h"
#include "node/topology.h"

namespace fabric {

// The NICs that collectives of GPUs should use, as indices into topology.nics, in PCI order. They carry RDMA, are
// physical functions (or the virtual ones by which this host uses a NIC whose own ports have no link), and are of the
// kind (model, lanes and link layer) that was built into the machine for its GPUs. The choice is among the kinds that
// have a link, or all if none has: the kind nearest to the most GPUs, then the one with most cards, then the fastest.
// If this kind has fewer NICs than there are GPUs, NICs of other kinds are added that have the same link layer, are as
// fast, and are as near to a GPU; and one slower NIC in the place where all GPUs but one have one of the kind. If it
// has enough, those of other kinds are added that are on the switch of a GPU where most GPUs have one of the kind.
// `topology` has all parts that were built (built.h). Two or more slower ports are omitted if the faster ones suffice
// for all GPUs. A port without a link, or the only slower one of its board, counts as fast as its board; a port that no
// card of its board uses (a second port) counts as slow, unless `unused`. NICs with iWARP or usNIC are left out if
// there are others. Empty if no NIC carries RDMA. `ports` give link layer, rate and state; without ports, every NIC
// counts as usable.
std::vector<size_t> compute_nics(const Topology& topology, std::span<const Port> ports, bool unused = false);
// The rate of the NIC's ports. Without a link, the rate of the other ports of its card, or of the same port on cards
// whose other ports are as fast. nullopt: the card has no link.
std::optional<double> likely_rate(const Topology& topology, const Nic& nic, std::span<const Port> ports);
// Whether the NIC, or the same port of another card of its board, has a link. If none has, these ports are unused, or
// their switch is off.
bool is_in_use(const Topology& topology, const Nic& nic, std::span<const Port> ports);

// The NICs in `nics` that have a port that is up; all of `nics` if none has one, or no port is known.
std::vector<size_t> usable_nics(const Topology& topology, std::span<const Port> ports, const std::vector<size_t>& nics);

// The nearest class from the GPU to any of `nics`.
std::optional<PathClass> nearest_class(const Topology& topology, const Gpu& gpu, const std::vector<size_t>& nics);

}  // namespace fabric
