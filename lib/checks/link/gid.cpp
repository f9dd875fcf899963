// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/network/network.h"
#include "checks/topology/pairing.h"

namespace fabric {
namespace {

std::string describe(const Gid& gid) {
  return "index " + to_text(gid.index) + " " + gid.gid + (gid.netdev.empty() ? "" : " on " + gid.netdev);
}

// A port that is down loses its addresses: `port-state` reports it. `address` reports a missing address.
// The kernel keeps the GIDs of an active-backup bond at its active member (bonding_default_del_cmd in
// drivers/infiniband/core/roce_gid_mgmt.c, Linux 6.12).
const Port* active_member(const Node& node, const Port& port) {
  const auto bond_of = [&](const Port& each) {
    const Nic* nic = find_where(node.topology.nics, [&](const Nic& other) { return other.pci == each.pci; });
    return nic == nullptr ? std::string() : nic->bond;
  };
  const std::string bond = bond_of(port);
  if (bond.empty()) return nullptr;
  return find_where(node.ports, [&](const Port& other) {
    return other.id() != port.id() && !other.gids.empty() && bond_of(other) == bond;
  });
}

std::optional<Finding> ask_port(const View& view, const Port& port) {
  if (!is_judged(port) || !is_active(port) || !is_roce(port) || lacks_address(view, port)) return std::nullopt;
  const std::string expected = "a RoCE v2 GID of a routable address";
  const std::string files =
      "Run the check as root. Files: /sys/class/infiniband/" + port.rdma + "/ports/" + to_text(port.number);
  const std::string netdev = port.netdev.empty() ? "the port's netdev" : port.netdev;
  if (port.gids.empty() && is_unread(port, "gid"))
    return bad(Status::unknown, port.id(), "-", expected,
               "The GID table could not be read: " + why_unread(port, "gid") + ".", files + "/gids");
  std::vector<Gid> v2;
  std::ranges::copy_if(port.gids, std::back_inserter(v2), [](const Gid& gid) { return gid.type == "RoCE v2"; });
  auto best = std::ranges::find_if(v2, is_ipv4);
  if (best == v2.end()) best = std::ranges::find_if(v2, is_routable_v2);
  if (best != v2.end()) return good(port.id(), describe(*best), expected);
  if (std::ranges::any_of(port.gids, [](const Gid& gid) { return gid.type.empty(); }))
    return bad(Status::unknown, port.id(), "GIDs of unknown type", expected, "The types of the GIDs could not be read.",
               files + "/gid_attrs/types");
  if (const Port* active = port.gids.empty() ? active_member(view.now, port) : nullptr)
    return good(port.id(), "none: " + active->id() + " is the active member of the bond and has them", expected);
  if (v2.empty())
    return bad(
        Status::critical, port.id(), "no RoCE v2 GID", expected,
        "Without a RoCE v2 GID no RoCE v2 connection can be made over this port.",
        "ip link set " + netdev + " up, and configure an IP address: ip address add ADDRESS/PREFIX dev " + netdev);
  const std::string observed = "only link-local: " + describe(v2.front());
  if (has_other_purpose(view, port)) return good(port.id(), observed + " (serves no GPU)", expected);
  return bad(Status::warning, port.id(), observed, expected,
             "A link-local GID does not cross routers, and most fabrics route between racks.",
             "Configure an IPv4 address or a global IPv6 address: ip address add ADDRESS/PREFIX dev " + netdev);
}

}  // namespace

extern const Check kGidCheck{
    .id = "gid",
    .group = group::link,
    .title = "A RoCE port has no RoCE v2 GID with a routable address",
    .meaning =
        "The GID table follows the IP addresses of the netdev. Without a RoCE v2 GID no connection can be made. A "
        "link-local GID does not cross routers; it is reported of ports that serve the GPUs, if any do.",
    .inspect = "ip address show dev NETDEV; grep . /sys/class/infiniband/RDMADEV/ports/1/gids/*",
    .fix = "Configure an IPv4 address or a global IPv6 address on the netdev.",
    .ask_port = ask_port,
};

}  // namespace fabric
