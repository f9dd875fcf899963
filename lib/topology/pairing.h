// SPDX-License-Identifier: Apache-2.0
// Which NIC each GPU should use: the best assignment that the machine's structure allows.
#pragma once

#include <span>

#include "node/locality.h"
#include "node/node.h"

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
// The rate of its ports; without a link, that of its card's other ports, or of the same port on cards whose other ports
// are as fast as those. nullopt: its card has no link.
std::optional<double> likely_rate(const Topology& topology, const Nic& nic, std::span<const Port> ports);
// Whether it, or the same port of another such card, has a link. If none has, they are unused, or their switch is off.
bool is_in_use(const Topology& topology, const Nic& nic, std::span<const Port> ports);

// Those of `nics` that have a port that is up; all of `nics` if none has, or no port is known.
std::vector<size_t> usable_nics(const Topology& topology, std::span<const Port> ports, const std::vector<size_t>& nics);

// The nearest class from the GPU to any of `nics`.
std::optional<PathClass> nearest_class(const Topology& topology, const Gpu& gpu, const std::vector<size_t>& nics);

struct Pair {
  std::vector<size_t> nics;       // indices into topology.nics, in PCI order; empty: no class is known
  std::optional<PathClass> path;  // to each of them
  unsigned shared_by = 0;         // GPUs that use the NIC, or the fullest of the NICs: 1: not shared
  bool operator==(const Pair&) const = default;
};

struct Pairing {
  std::vector<Pair> pairs;   // one for each GPU, in its order
  std::vector<size_t> idle;  // of the NICs that were offered
  bool operator==(const Pairing&) const = default;
};

// Gives each GPU NICs of its nearest class among `nics`, as many as leave every GPU with equally many of its own. Fair:
// no NIC serves two GPUs while one of the same class to one of them serves none; loads are as equal as can be. Among
// the fair ones that with the fewest ways between sockets, then the fewest bridges, then that which keeps the order of
// PCI addresses (rails). The same input gives the same answer. More than 64 x 128 are paired greedily, in bounded time.
Pairing best_pairing(const Topology& topology, const std::vector<size_t>& nics);

// compute_nics() and best_pairing() in one, with the NICs that are missing (of the inventory, else by symmetry): the
// other NICs stay with their GPUs. A GPU that would have none shares the nearest of them.
Pairing built_pairing(const Topology& topology, std::span<const Port> ports);
// As built_pairing(), over usable_nics(): a NIC whose port is down counts as missing.
Pairing best_pairing(const Topology& topology, std::span<const Port> ports);

struct Rail {
  size_t rail = 0;
  std::optional<size_t> plane{};  // among the NICs of the rail, in PCI order; nullopt: it is the only one
};

// By PCI address, of the compute NICs in use. The rail is the number of the GPU that the NIC serves. If GPUs share
// NICs, or there are none, the rails are counted in PCI order: without GPUs by card. NICs that are known to be missing
// keep their place.
std::map<std::string, Rail> rails_of(const Topology& topology, std::span<const Port> ports);

}  // namespace fabric
