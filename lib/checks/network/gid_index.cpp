// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "checks/checks.h"
#include "checks/network/network.h"
#include "model/finding.h"

namespace fabric {
namespace {

using Indices = std::set<unsigned>;

Indices indices(const Port& port, bool ipv4) {
  Indices out;
  for (const Gid& gid : port.gids)
    if (is_routable_v2(gid) && is_ipv4(gid) == ipv4) out.insert(gid.index);
  return out;
}

std::string text(const Indices& values) {
  std::string out;
  for (const unsigned value : values) out += (out.empty() ? "" : ", ") + to_text(value);
  return out;
}

// The index that most ports have; of those that are as frequent, the lowest.
unsigned commonest(const std::vector<const Port*>& ports, bool ipv4) {
  std::map<unsigned, size_t> count;
  for (const Port* port : ports)
    for (const unsigned index : indices(*port, ipv4)) ++count[index];
  return std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// A GID that another netdev's port has, too; that the address itself is there twice is `address`'s to say.
std::string twin_of(const View& view, const Port& port) {
  std::set<std::string> own_addresses;
  for (const PortAddress& each : addresses_of(view.now, port).value_or(std::vector<PortAddress>{}))
    own_addresses.insert(gid_text(each.address.ip));
  for (const Port& other : view.now.ports) {
    if (&other == &port) break;  // told of the later one
    if (!is_judged(other) || !is_roce(other) || other.netdev == port.netdev) continue;
    for (const Gid& theirs : other.gids)
      for (const Gid& mine : port.gids)
        if (is_routable_v2(mine) && mine.gid == theirs.gid && is_routable_v2(theirs) && mine.netdev != theirs.netdev &&
            own_addresses.count(mine.gid) == 0)
          return other.id() + " has " + mine.gid + ", too";
  }
  return {};
}

// What shifts a port's table against those of its twins.
std::string likely_cause(const View& view, const Port& port) {
  const auto disabled = [&](const Port& each) {
    const auto found = view.now.network.interfaces.find(each.netdev);
    return found == view.now.network.interfaces.end() ? std::nullopt : found->second.ipv6_disabled;
  };
  const auto mine = disabled(port);
  for (const Port* other : rails(view))
    if (const auto theirs = disabled(*other); mine && theirs && *mine != *theirs)
      return " IPv6 is " + std::string(*mine ? "off" : "on") + " on " + port.netdev + " and not on " + other->netdev +
             ", which shifts the table.";
  return {};
}

Finding judge(const View& view, const Port& port, bool ipv4, unsigned wanted, bool pinned) {
  const Indices mine = indices(port, ipv4);
  const std::string family = ipv4 ? "IPv4" : "IPv6",
                    expected = family + " at index " + to_text(wanted) +
                               (pinned ? ", as [expect] gid_index" : ", as the ports beside it");
  if (const std::string twin = twin_of(view, port); !twin.empty())
    return bad(Status::critical, port.id(), twin, "a GID of its own",
               "Two RDMA ports with one GID: peers reach whichever answers, and connections meant for the other fail.",
               "Give the netdevs addresses of their own; rdma link show and ip address show which they are.");
  if (mine.count(wanted) != 0) return good(port.id(), family + " at index " + text(mine), expected);
  return bad(Status::warning, port.id(),
             mine.empty() ? "no " + family + " GID of RoCE v2" : family + " at index " + text(mine), expected,
             "A job that is given one GID index for all ports (NCCL_IB_GID_INDEX, ib_write_bw -x) uses the wrong GID "
             "on this one, or none." +
                 likely_cause(view, port),
             "The table follows the order in which the addresses were given: set the link of " + port.netdev +
                 " down and up so that it is filled anew, with the same addresses in the same order as its neighbours; "
                 "or let NCCL 2.21 and later choose "
                 "(leave NCCL_IB_GID_INDEX out). See /sys/class/infiniband/" +
                 port.rdma + "/ports/" + to_text(port.number) + "/gids.");
}

}  // namespace

// Ports without any routable RoCE v2 GID are `gid`'s to tell of.
void ask_gid_index(const View& view, Findings& findings) {
  std::vector<const Port*> ports;
  bool ipv4 = false;
  for (const Port* port : rails(view)) {
    const bool has4 = !indices(*port, true).empty();
    if (!has4 && indices(*port, false).empty()) continue;
    ports.push_back(port);
    ipv4 = ipv4 || has4;
  }
  const bool pinned = view.policy != nullptr && view.policy->expect.gid_index;
  if (ports.empty() || (ports.size() == 1 && !pinned)) return;
  const unsigned wanted = pinned ? *view.policy->expect.gid_index : commonest(ports, ipv4);
  for (const Port* port : ports) findings.push_back(judge(view, *port, ipv4, wanted, pinned));
}

}  // namespace fabric
