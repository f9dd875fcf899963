// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include "checks/checks.h"
#include "checks/network/network.h"
#include "model/finding.h"

namespace fabric {
namespace {

// An address and the netdevs of RoCE ports that have it.
using Holders = std::map<Ip, std::map<std::string, const Port*>>;

Holders holders(const View& view) {
  Holders out;
  for (const Port& port : view.now.ports) {
    if (!is_judged(port) || !is_roce(port)) continue;
    for (const PortAddress& each : addresses_of(view.now, port).value_or(std::vector<PortAddress>{}))
      out[each.address.ip].emplace(each.netdev, &port);
  }
  return out;
}

std::string failed_detection(const Node& node, const Port& port) {
  for (const NamedInterface& each : interfaces_of(node, port))
    for (const Address& address : each.interface->addresses.value_or(std::vector<Address>{}))
      if (address.dad_failed) return to_text(address.ip) + "/" + to_text(address.prefix) + " on " + each.netdev;
  return {};
}

Finding twice(const Ip& ip, const std::map<std::string, const Port*>& netdevs, const Port& port) {
  std::string others;
  for (const auto& [netdev, other] : netdevs)
    if (other != &port)
      others.append(others.empty() ? "" : " and ").append(other->id()).append(" (").append(netdev).append(")");
  return bad(Status::critical, port.id(), to_text(ip) + " is also on " + others, "an address of its own",
             "Two ports of this host have the same address: peers reach whichever of them answers first, and a "
             "connection that "
             "was meant for the other fails.",
             "Give " + port.netdev + " its own address (ip address show to " + to_text(ip) +
                 " lists both), and mend the network configuration that gave it this one.");
}

std::string shown(const std::vector<PortAddress>& addresses) {
  std::string out;
  for (const PortAddress& each : addresses)
    out += (out.empty() ? "" : ", ") + to_text(each.address.ip) + "/" + to_text(each.address.prefix);
  return out;
}

void judge(const View& view, const Port& port, const Holders& all, Findings& findings) {
  const auto addresses = addresses_of(view.now, port);
  if (!addresses) return;
  const std::string expected = "an address of its own";
  for (const PortAddress& each : *addresses) {
    const auto& netdevs = all.at(each.address.ip);
    // Told once, of the last in the order of names: the first one had it.
    if (netdevs.size() > 1 && netdevs.begin()->second != &port)
      return findings.push_back(twice(each.address.ip, netdevs, port));
  }
  if (const std::string failed = failed_detection(view.now, port); !failed.empty())
    return findings.push_back(
        bad(Status::critical, port.id(), "duplicate: " + failed, expected,
            "The kernel found another station with this IPv6 address on the link and does not use it.",
            "Find who has it (ip -6 neighbour, the switch's table), give one of the two another address; then "
            "set the link down and up."));
  if (lacks_address(view, port))
    return findings.push_back(
        bad(Status::critical, port.id(), "no IP address on " + port.netdev, "one, as the ports beside it",
            "Without an address the port has no routable GID: every collective over this rail fails or hangs.",
            "Give " + port.netdev + " its address (ip address add ADDRESS/PREFIX dev " + port.netdev +
                "), and see why the network configuration did not: networkctl status " + port.netdev + "."));
  if (!addresses->empty()) findings.push_back(good(port.id(), shown(*addresses), expected));
}

}  // namespace

// Ports without an address are compared with their twins: a fabric may do without them altogether.
void ask_address(const View& view, Findings& findings) {
  const Holders all = holders(view);
  for (const Port& port : view.now.ports)
    if (is_judged(port) && is_active(port) && is_roce(port) && !port.netdev.empty()) judge(view, port, all, findings);
}

}  // namespace fabric
