// SPDX-License-Identifier: Apache-2.0
// The rails of a machine: the RoCE ports over which collectives of its GPUs run, and their addresses.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/check.h"

namespace fabric {

// Active RoCE ports with a netdev, of the NICs that serve a GPU; in the node's order.
std::vector<const Port*> rails(const View& view);

// The netdevs that carry a port's addresses: its own, and those that its GIDs name (VLANs); as far as they were read.
struct NamedInterface {
  std::string netdev;
  const Interface* interface = nullptr;
};
std::vector<NamedInterface> interfaces_of(const Node& node, const Port& port);

// Of all its netdevs: those that can be reached from elsewhere. Absent: no netdev's addresses are known.
struct PortAddress {
  std::string netdev;
  Address address;
};
std::optional<std::vector<PortAddress>> addresses_of(const Node& node, const Port& port);

// The only one, or one of a minority, of the rails like it that has no address. `gid` leaves such a port to `address`.
bool lacks_address(const View& view, const Port& port);

// RoCE v2 GIDs of routable addresses: index by GID; of IPv4 or of IPv6.
bool is_ipv4(const Gid& gid);
bool is_routable_v2(const Gid& gid);

// "mlx5_0/1, mlx5_1/1 and mlx5_2/1"
std::string listed(const std::vector<std::string>& names);

}  // namespace fabric
