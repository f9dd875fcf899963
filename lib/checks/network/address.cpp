// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/network/network.h"

namespace fabric {
namespace {

// Address -> netdevs of RoCE ports with this address.
using Holders = std::map<Ip, std::map<std::string, const Port*>>;

std::string shown(const Address& address) { return to_text(address.ip) + "/" + to_text(address.prefix); }

std::string failed_detection(const Node& node, const Port& port) {
  for (const NamedInterface& each : interfaces_of(node, port))
    for (const Address& address : each.interface->addresses.value_or(std::vector<Address>{}))
      if (address.dad_failed) return shown(address) + " on " + each.netdev;
  return {};
}

Finding twice(const Ip& ip, const std::map<std::string, const Port*>& netdevs, const Port& port) {
  std::string others;
  for (const auto& [netdev, other] : netdevs)
    if (other != &port) append_item(others, other->id() + " (" + netdev + ")", " and ");
  return bad(Status::critical, port.id(), to_text(ip) + " is also on " + others, "an address of its own",
             "Two ports of this host have the same address: peers reach the one that answers first, and connections to "
             "the other fail.",
             "Configure another address on " + port.netdev +
                 " in the network configuration. Both ports: ip address show to " + to_text(ip));
}

void add_finding(const View& view, const Port& port, const Holders& all, Findings& findings) {
  const auto addresses = addresses_of(view.now, port);
  if (!addresses) return;
  const std::string expected = "an address of its own";
  for (const PortAddress& each : *addresses) {
    const auto& netdevs = all.at(each.address.ip);
    // Reported once, for the last netdev by name.
    if (netdevs.size() > 1 && netdevs.begin()->second != &port)
      return findings.push_back(twice(each.address.ip, netdevs, port));
  }
  if (const std::string failed = failed_detection(view.now, port); !failed.empty())
    return findings.push_back(
        bad(Status::critical, port.id(), "duplicate: " + failed, expected,
            "Another host on the link has this IPv6 address, so the kernel does not use it.",
            "Find the other host (ip -6 neighbor; MAC table of the switch) and change one address, then ip link set " +
                port.netdev + " down && ip link set " + port.netdev + " up"));
  if (lacks_address(view, port))
    return findings.push_back(
        bad(Status::critical, port.id(), "no IP address on " + port.netdev, "one, like equal ports",
            "Without an address the port has no routable GID: every collective over this rail fails or hangs.",
            "ip address add ADDRESS/PREFIX dev " + port.netdev +
                "; then correct the network configuration: networkctl status " + port.netdev));
  const auto text = [](const PortAddress& each) { return shown(each.address); };
  if (!addresses->empty()) findings.push_back(good(port.id(), joined(*addresses, ", ", text), expected));
}

// A fabric may use no addresses at all, so ports without one are compared with equal ports.
void ask(const View& view, Findings& findings) {
  Holders all;
  for (const Port& port : view.now.ports) {
    if (!is_judged(port) || !is_roce(port)) continue;
    for (const PortAddress& each : addresses_of(view.now, port).value_or(std::vector<PortAddress>{}))
      all[each.address.ip].emplace(each.netdev, &port);
  }
  for (const Port& port : view.now.ports)
    if (is_judged(port) && is_active(port) && is_roce(port) && !port.netdev.empty())
      add_finding(view, port, all, findings);
}

}  // namespace

extern const Check kAddressCheck{
    .id = "address",
    .group = group::network,
    .title = "A RoCE port has no IP address of its own",
    .meaning =
        "RoCE finds its peers by IP address. A compute port without an address, while equal ports have one, is missing "
        "from every collective. An address used by two ports or two hosts sends connections to the wrong one.",
    .inspect = "ip address show; networkctl status NETDEV",
    .fix =
        "Correct the network configuration (networkd, netplan, NetworkManager); an address set with ip address is lost "
        "at the next boot.",
    .ask = ask,
};

}  // namespace fabric
