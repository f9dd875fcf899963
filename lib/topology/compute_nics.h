// SPDX-License-Identifier: Apache-2.0
// Which NICs a machine was built with for its GPUs, and which of them are up.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "node/node.h"
#include "node/topology.h"

namespace fabric {

// The NICs that collectives of GPUs should run over, as indices into topology.nics, in PCI order: those that carry
// RDMA, are not virtual functions, and are of the kind (model and link layer) built into the machine for its GPUs: of
// the kinds with a link, if any has one, that which is nearest to the most GPUs, then that of most cards, then the
// fastest. If that kind has fewer NICs than there are GPUs, NICs of other kinds are added that have the same link
// layer, are as fast, and are as near to a GPU. Two or more slower ports are left out if the faster ones suffice for
// all GPUs; a port counts as fast as its board, and a port that no card of its board uses (second ports) as slow,
// unless `unused`. Empty: no NIC carries RDMA. `ports` give link layer, rate and state; without ports every NIC counts
// as good.
std::vector<size_t> compute_nics(const Topology& topology, std::span<const Port> ports, bool unused = false);
// The rate of the NIC's ports; without a link, that of its card's other ports, or of the same port on cards whose other
// ports are as fast as those. nullopt: its card has no link.
std::optional<double> likely_rate(const Topology& topology, const Nic& nic, std::span<const Port> ports);
// Whether the NIC, or the same port of another such card, has a link. If none has, they are unused, or their switch is
// off.
bool is_in_use(const Topology& topology, const Nic& nic, std::span<const Port> ports);

// Those of `nics` that have a port that is up; all of `nics` if none has, or no port is known.
std::vector<size_t> usable_nics(const Topology& topology, std::span<const Port> ports, const std::vector<size_t>& nics);

// The nearest class from the GPU to any of `nics`.
std::optional<PathClass> nearest_class(const Topology& topology, const Gpu& gpu, const std::vector<size_t>& nics);

}  // namespace fabric
