// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/network/network.h"

namespace fabric {
namespace {

// The index of most ports; on a tie the lowest.
unsigned most_common(const std::vector<const Port*>& ports, bool ipv4) {
  std::map<unsigned, size_t> count;
  for (const Port* port : ports)
    for (const unsigned index : gid_indices(*port, ipv4)) ++count[index];
  return std::ranges::max_element(count, {}, [](const auto& each) { return each.second; })->first;
}

// Another netdev has the same GID. `address` reports an address that is configured twice.
std::string twin_of(const View& view, const Port& port) {
  std::set<std::string> own_addresses;
  for (const PortAddress& each : addresses_of(view.now, port).value_or(std::vector<PortAddress>{}))
    own_addresses.insert(gid_text(each.address.ip));
  for (const Port& other : view.now.ports) {
    if (&other == &port) break;  // reported for the later port
    if (!is_judged(other) || !is_roce(other) || other.netdev == port.netdev) continue;
    for (const Gid& theirs : other.gids)
      for (const Gid& mine : port.gids)
        if (is_routable_v2(mine) && mine.gid == theirs.gid && is_routable_v2(theirs) && mine.netdev != theirs.netdev &&
            !own_addresses.contains(mine.gid))
          return other.id() + " has " + mine.gid + ", too";
  }
  return {};
}

// A difference that shifts the GID table of a port.
std::string likely_cause(const View& view, const Port& port) {
  const auto disabled = [&](const Port& each) {
    const Interface* interface = find_in(view.now.network.interfaces, each.netdev);
    return interface == nullptr ? std::nullopt : interface->ipv6_disabled;
  };
  const auto mine = disabled(port);
  for (const Port* other : rails(view))
    if (const auto theirs = disabled(*other); mine && theirs && *mine != *theirs)
      return " IPv6 is " + std::string(*mine ? "off" : "on") + " on " + port.netdev + " and not on " + other->netdev +
             ", which shifts the table.";
  return {};
}

Finding finding_for(const View& view, const Port& port, bool ipv4, unsigned wanted, bool pinned) {
  const std::set<unsigned> mine = gid_indices(port, ipv4);
  const std::string family = ipv4 ? "IPv4" : "IPv6",
                    expected = family + " at index " + to_text(wanted) +
                               (pinned ? ", [expect] gid_index" : ", like equal ports");
  if (const std::string twin = twin_of(view, port); !twin.empty())
    return bad(Status::critical, port.id(), twin, "a GID of its own",
               "Two RDMA ports have the same GID: peers reach the one that answers, and connections to the other fail.",
               "Configure different addresses on the two netdevs: rdma link show; ip address show");
  std::string observed = family + " at index " + joined(mine, ", ", [](unsigned index) { return to_text(index); });
  if (mine.contains(wanted)) return good(port.id(), observed, expected);
  if (mine.empty()) observed = "no " + family + " GID of RoCE v2";
  return bad(Status::warning, port.id(), observed, expected,
             "A job with one GID index for all ports (NCCL_IB_GID_INDEX, ib_write_bw -x) uses the wrong GID on this "
             "port, or none." +
                 likely_cause(view, port),
             "While no job runs: ip link set " + port.netdev + " down && ip link set " + port.netdev +
                 " up fills the table again in the order of the addresses; networkctl reconfigure " + port.netdev +
                 " (or ifup) then brings back the routes and IPv6 addresses that this removes. With NCCL 2.21 and "
                 "later, unset NCCL_IB_GID_INDEX instead. Table: /sys/class/infiniband/" +
                 port.rdma + "/ports/" + to_text(port.number) + "/gids");
}

// `gid` reports ports without a routable RoCE v2 GID.
void ask(const View& view, Findings& findings) {
  std::vector<const Port*> ports;
  bool ipv4 = false;
  for (const Port* port : rails(view)) {
    const bool has4 = !gid_indices(*port, true).empty();
    if (!has4 && gid_indices(*port, false).empty()) continue;
    ports.push_back(port);
    ipv4 = ipv4 || has4;
  }
  const bool pinned = view.policy != nullptr && view.policy->expect.gid_index;
  if (ports.empty() || (ports.size() == 1 && !pinned)) return;
  const unsigned wanted = pinned ? *view.policy->expect.gid_index : most_common(ports, ipv4);
  for (const Port* port : ports) findings.push_back(finding_for(view, *port, ipv4, wanted, pinned));
}

}  // namespace

extern const Check kGidIndexCheck{
    .id = "gid-index",
    .group = group::network,
    .title = "The index of the RoCE v2 GID differs between compute ports",
    .meaning =
        "NCCL before 2.21, perftest and other programs use one GID index for all ports. On a port with another address "
        "at that index, connections fail or use RoCE v1. The kernel fills the table in the order of the addresses, "
        "link-local addresses included. [expect] gid_index pins the index. Two ports with the same GID are critical.",
    .inspect = "show_gids; grep . /sys/class/infiniband/RDMADEV/ports/1/gid_attrs/types/*",
    .fix =
        "While no job runs: ip link set NETDEV down; ip link set NETDEV up (fills the table again); networkctl "
        "reconfigure NETDEV, or ifup (brings back lost routes and IPv6 addresses); configure addresses in the same "
        "order on all rails; or unset NCCL_IB_GID_INDEX with NCCL 2.21 and later.",
    .ask = ask,
};

}  // namespace fabric
