// SPDX-License-Identifier: Apache-2.0
// Addresses and gateways.
#include "judge/network.h"

#include "judge/finding.h"
#include "judge/rails.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "kernel/netlink/rtnl.h"
#include "node/endpoints.h"

namespace fabric {

std::vector<NamedInterface> interfaces_of(const Node& node, const Port& port) {
  std::set<std::string, NaturalLess> names;
  if (!port.netdev.empty()) names.insert(port.netdev);
  for (const Gid& gid : port.gids)
    if (!gid.netdev.empty()) names.insert(gid.netdev);
  if (const Nic* nic = nic_at(node.topology, port.pci); nic != nullptr) names.insert(nic->bond);
  std::vector<NamedInterface> out;
  for (const std::string& name : names)
    if (const Interface* found = find_in(node.network.interfaces, name)) out.push_back({name, found});
  return out;
}

bool is_front_end(const Interface& interface) {
  return std::ranges::any_of(interface.routes, [](const Route& route) {
    return is_default(route.destination, route.prefix) && (route.table == kTableMain || route.table == kTableDefault);
  });
}

bool is_front_end(const Node& node, const Port& port) {
  return std::ranges::any_of(interfaces_of(node, port),
                             [](const NamedInterface& each) { return is_front_end(*each.interface); });
}

std::optional<std::vector<PortAddress>> addresses_of(const Node& node, const Port& port) {
  std::optional<std::vector<PortAddress>> out;
  for (const NamedInterface& each : interfaces_of(node, port)) {
    if (!each.interface->addresses) continue;
    if (!out) out.emplace();
    for (const Address& address : *each.interface->addresses)
      if (address.global && !address.dad_failed) out->push_back({each.netdev, address});
  }
  return out;
}

std::optional<bool> ipv6_disabled(const View& view, const Port& port) {
  const Interface* interface = find_in(view.now.network.interfaces, port.netdev);
  if (interface == nullptr) return std::nullopt;
  return interface->ipv6_disabled;
}

std::string name_in_sysctl(std::string netdev) {
  std::ranges::replace(netdev, '.', '/');
  return netdev;
}

std::string silent_gateway(const Node& node, const Port& port) {
  std::string out;
  for (const NamedInterface& each : interfaces_of(node, port))
    for (const IpNeighbor& gateway : each.interface->gateways) {
      if (!gateway.is_silent()) return {};
      out = "the gateway " + to_text(gateway.ip) + " of " + each.netdev + " does not answer (" +
            rtnl::neighbor_state_text(gateway.state) + ")";
    }
  return out;
}

Ipv6Note note_on_ipv6(const View& view, const Port& port) {
  if (ipv6_disabled(view, port) != true) return {};
  const std::string variable = "net.ipv6.conf." + name_in_sysctl(port.netdev) + ".disable_ipv6";
  return {" IPv6 is disabled on " + port.netdev + " in this network namespace (" + variable + " = 1).",
          "For IPv6, first: sysctl -w " + variable + "=0. "};
}

std::string source_of_addresses(const Node& node, const Port& port) {
  // docs.oracle.com, "Cluster Networks with Instance Pools"; cloud.google.com, "Guest agent".
  constexpr std::pair<std::string_view, std::string_view> kPrograms[]{
      {"Oracle Cloud",
       "Oracle Cloud Agent configures the addresses of the cluster network: enable its plugins Compute HPC RDMA "
       "Authentication and Compute HPC RDMA Auto-Configuration for the instance."},
      {"Google Cloud", "the guest agent (google-guest-agent.service) configures the addresses: read its log."}};
  std::string out;
  if (is_container(node) && is_virtual(port))
    out =
        "A pod gets the addresses of its networks from their CNI plugins: read the IPAM section of this network, and "
        "whether its pool has free addresses. ";
  for (const auto& [cloud, text] : kPrograms)
    if (node.topology.cloud == cloud)
      out += (out.empty() ? "On " : "In the network of the host, on ") + std::string(cloud) + ", " + std::string(text) +
             " ";
  return out;
}

std::string give_address(const Node& node, const Port& port, const std::string& what) {
  if (port.netdev.empty()) return "Its netdev is missing, or in another network namespace: rdma link show";
  return (source_of_addresses(node, port).empty() ? what : "By hand") + ": ip address add ADDRESS/PREFIX dev " +
         port.netdev;
}

uint32_t main_table(const Interface& interface) { return interface.vrf_table != 0 ? interface.vrf_table : kTableMain; }

static bool has_no_address(const Node& node, const Port& port) {
  const auto addresses = addresses_of(node, port);
  return addresses && addresses->empty();
}

bool lacks_address(const View& view, const Port& port) {
  if (!has_no_address(view.now, port)) return false;
  const auto all = rails(view);
  size_t twins = 0, without = 0;
  for (const Port* each : *all) {
    if (!are_twins(port, *each)) continue;
    ++twins;
    if (has_no_address(view.now, *each)) ++without;
  }
  // Twins have no address by design if at least two of them, and at least half of all, have none.
  return twins > without && (without == 1 || without * 2 < twins);
}

namespace {

// Address -> netdevs of RoCE ports with this address.
using Holders = std::map<Ip, std::map<std::string, const Port*, NaturalLess>>;

std::string address_text(const Address& address) { return to_text(address.ip) + "/" + to_text(address.prefix); }

// "ens1.100 of mlx5_0/1": the netdev above an equal port that has its address. Empty: an equal port has its address on
// its own netdev, or none has one.
std::string netdev_above_of_equals(const View& view, const Port& port) {
  std::string out;
  for (const Port& other : view.now.ports) {
    if (&other == &port || !are_twins(other, port)) continue;
    for (const PortAddress& each : addresses_of(view.now, other).value_or(std::vector<PortAddress>{})) {
      if (each.netdev == other.netdev) return {};
      if (out.empty()) out = each.netdev + " of " + other.id();
    }
  }
  return out;
}

// The MAC address of a port with a wire of its own; empty: unknown, or of another port.
std::string mac_of(const Node& node, const Port& port) {
  if (port.role != PortRole::physical || port.pci.empty()) return {};
  const Interface* interface = find_in(node.network.interfaces, port.netdev);
  return interface == nullptr ? std::string() : interface->mac;
}

// Two ports with one MAC address: in one subnet the switches deliver the packets of one to the other.
std::optional<Finding> mac_finding(const View& view, const Port& port) {
  const std::string mac = mac_of(view.now, port);
  if (mac.empty()) return std::nullopt;
  const auto is_twin = [&](const Port& other) {
    return other.netdev != port.netdev && is_judged_for_addresses(view.now, other) && is_roce(other) &&
           mac_of(view.now, other) == mac;
  };
  // Reported once, for the later port.
  const Port* twin = nullptr;
  for (const Port& other : view.now.ports) {
    if (&other == &port) break;
    if (is_twin(other)) twin = &other;
  }
  if (twin == nullptr) return std::nullopt;
  bool in_one_subnet = false;
  for (const PortAddress& own : addresses_of(view.now, port).value_or(std::vector<PortAddress>{}))
    for (const PortAddress& theirs : addresses_of(view.now, *twin).value_or(std::vector<PortAddress>{}))
      in_one_subnet = in_one_subnet || (own.address.ip.v6 == theirs.address.ip.v6 &&
                                        in_subnet(own.address.ip, theirs.address.ip, theirs.address.prefix));
  std::string meaning =
      "Two ports of this host have the same MAC address, and so the same link-local GID. A switch that sees both sends "
      "the packets of one to the other";
  meaning += in_one_subnet ? ": both are in one subnet, so that connections fail or hang."
                           : "; in networks that no switch joins they work, until two rails are joined.";
  return bad(
      in_one_subnet ? Status::critical : Status::warning, port.id(),
      "MAC address " + mac + " is also on " + twin->id() + " (" + twin->netdev + ")", "an address of its own",
      std::move(meaning),
      "Compare with the addresses of the hardware: ethtool -P " + port.netdev + "; ethtool -P " + twin->netdev +
          ". If these differ, remove the copied address from the network configuration (MACAddress= of networkd, "
          "macaddress of netplan, cloned-mac-address of NetworkManager); if they are equal, the NIC has the "
          "address of another card: replace it.");
}

std::optional<Finding> address_finding(const View& view, const Port& port, const Holders& all) {
  const auto addresses = addresses_of(view.now, port);
  if (!addresses) return std::nullopt;
  const std::string expected = "an address of its own";

  for (const PortAddress& each : *addresses) {
    const std::string ip = to_text(each.address.ip);
    const auto& netdevs = all.at(each.address.ip);
    // Reported once, for the last netdev by name.
    if (netdevs.size() < 2 || netdevs.begin()->second == &port) continue;
    std::string others;
    for (const auto& [netdev, other] : netdevs)
      if (other != &port) append_item(others, other->id() + " (" + netdev + ")", " and ");
    return bad(Status::critical, port.id(), ip + " is also on " + others, expected,
               "Two ports of this host have the same address: peers reach the one that answers first, and connections "
               "to the other fail.",
               "Configure another address on " + port.netdev +
                   " in the network configuration. Both ports: ip address show to " + ip);
  }

  if (auto shared = mac_finding(view, port)) return shared;

  for (const NamedInterface& each : interfaces_of(view.now, port))
    for (const Address& address : each.interface->addresses.value_or(std::vector<Address>{}))
      if (address.dad_failed)
        return bad(
            Status::critical, port.id(), "duplicate: " + address_text(address) + " on " + each.netdev, expected,
            "Another host on the link has this IPv6 address, so the kernel does not use it.",
            {"Find the other host (ip -6 neighbor; MAC table of the switch) and change one address. ",
             {Work::ends_jobs, "Then: ip link set " + port.netdev + " down && ip link set " + port.netdev + " up"}});

  if (lacks_address(view, port)) {
    const Ipv6Note ipv6 = note_on_ipv6(view, port);
    if (const std::string above = netdev_above_of_equals(view, port); !above.empty())
      return bad(Status::critical, port.id(), "no IP address on " + port.netdev + " or above it",
                 "one above it, like " + above,
                 "Without an address the port has no routable GID: every collective over this rail fails or hangs. "
                 "Equal ports have theirs on a netdev above their own (a VLAN).",
                 "Read how that one is made: ip -details link show " + above.substr(0, above.find(' ')) +
                     ". Make the same above " + port.netdev + ", and give it the address: networkctl status " +
                     port.netdev);
    return bad(Status::critical, port.id(), "no IP address on " + port.netdev, "one, like equal ports",
               "Without an address the port has no routable GID: every collective over this rail fails or hangs." +
                   ipv6.meaning,
               source_of_addresses(view.now, port) + ipv6.fix + give_address(view.now, port, "Configure an address") +
                   "; then correct the network configuration: networkctl status " + port.netdev);
  }
  if (addresses->empty()) return std::nullopt;
  std::string observed;
  for (const PortAddress& each : *addresses) append_item(observed, address_text(each.address));
  return good(port.id(), observed, expected);
}

// A fabric may use no addresses at all, so ports without one are compared with equal ports.
void ask_address(const View& view, Findings& findings) {
  Holders all;
  for (const Port& port : view.now.ports) {
    if (!is_judged_for_addresses(view.now, port) || !is_roce(port)) continue;
    for (const PortAddress& each : addresses_of(view.now, port).value_or(std::vector<PortAddress>{}))
      all[each.address.ip].emplace(each.netdev, &port);
  }
  for (const Port& port : view.now.ports) {
    if (!is_judged_for_addresses(view.now, port) || !is_active(port) || !is_roce(port) || port.netdev.empty()) continue;
    if (auto finding = address_finding(view, port, all)) findings.push_back(std::move(*finding));
  }
}

constexpr Rule kAddress{
    .id = "address",
    .group = group::network,
    .title = "A RoCE port has no IP address of its own",
    .meaning =
        "RoCE finds its peers by IP address. A compute port without an address, while equal ports have one, is missing "
        "from every collective. An address used by two ports or two hosts sends connections to the wrong one. Two "
        "ports "
        "with one MAC address are critical in one subnet, else a warning; not members of a bond, team or bridge, and "
        "not ports of virtual functions or representors.",
    .inspect = "ip address show; networkctl status NETDEV",
    .fix =
        "Correct the network configuration (networkd, netplan, NetworkManager); an address set with ip address is lost "
        "at the next boot.",
    .ask = ask_address,
};

// Whether the route leads out of the subnets of these addresses.
bool leads_beyond(const Route& route, const std::vector<PortAddress>& addresses) {
  if (route.gateway) return true;
  if (is_link_local(route.destination)) return false;
  return std::ranges::none_of(addresses, [&](const PortAddress& each) {
    const Address& own = each.address;
    return own.ip.v6 == route.destination.v6 && route.prefix >= own.prefix &&
           in_subnet(route.destination, own.ip, own.prefix);
  });
}

// RoCE looks up routes with the device of the GID (addr_resolve() in drivers/infiniband/core/addr.c): a default route
// of another netdev does not lead there. One host cannot know whether its peers are in other subnets.
std::optional<Finding> own_subnet_finding(const View& view, const Port& port) {
  const auto addresses = addresses_of(view.now, port);
  if (!addresses || addresses->empty() || view.now.network.tables.empty()) return std::nullopt;
  for (const NamedInterface& each : interfaces_of(view.now, port))
    for (const Route& route : each.interface->routes)
      if (leads_beyond(route, *addresses)) return std::nullopt;
  std::string subnets;
  for (const PortAddress& each : *addresses)
    append_item(subnets,
                to_text(network_of(each.address.ip, each.address.prefix)) + "/" + to_text(each.address.prefix));
  return good(port.id(), "reaches only its own subnet, " + subnets + ": no route leads beyond it",
              "routes to the peers' subnets, or the peers in this one");
}

// Whether packets from the address may use the table: the main table, or the table of a rule for the address, for the
// device or for all packets. A rule for some destinations counts too. Rules that were not read may name any table.
bool may_use(const Network& network, const NamedInterface& from, const Ip& source, uint32_t table) {
  if (table == main_table(*from.interface) || !network.rules) return true;
  return std::ranges::any_of(*network.rules, [&](const RoutingRule& rule) {
    return rule.table == table && (!rule.source || in_subnet(source, *rule.source, rule.source_prefix)) &&
           (rule.device.empty() || rule.device == from.netdev);
  });
}

bool leads_to(const Network& network, const NamedInterface& from, const Ip& peer) {
  for (const Address& own : from.interface->addresses.value_or(std::vector<Address>{})) {
    if (!own.global || own.dad_failed || own.ip.v6 != peer.v6) continue;
    if (in_subnet(peer, own.ip, own.prefix)) return true;
    for (const Route& route : from.interface->routes)
      if (route.destination.v6 == peer.v6 && in_subnet(peer, route.destination, route.prefix) &&
          may_use(network, from, own.ip, route.table))
        return true;
  }
  return false;
}

// Reports a port without a route to any of the addresses that the user named.
std::optional<Finding> missing_route(const View& view, const Port& port) {
  const Network& network = view.now.network;
  const auto addresses = addresses_of(view.now, port);
  if (view.peers.empty() || !addresses || addresses->empty() || network.tables.empty()) return std::nullopt;
  // The network of storage need not lead to the peers of jobs.
  if (has_other_purpose(view, port) && !view.named.contains(port.id())) return std::nullopt;
  std::string own, peers;
  for (const PortAddress& each : *addresses) append_item(own, address_text(each.address));
  for (const Ip& peer : view.peers) {
    if (is_link_local(peer)) return std::nullopt;  // on the link of any port
    for (const NamedInterface& each : interfaces_of(view.now, port))
      if (leads_to(network, each, peer)) return std::nullopt;
    append_item(peers, to_text(peer));
  }
  std::string others;
  for (const auto& [netdev, interface] : network.interfaces) {
    const NamedInterface other{netdev, &interface};
    if (std::ranges::any_of(view.peers, [&](const Ip& peer) { return leads_to(network, other, peer); }))
      append_item(others, netdev);
  }
  std::string observed = "no route from " + own + " to " + peers + " by " + port.netdev;
  if (!others.empty()) observed += ", but by " + others;
  const Ip& peer = view.peers.front();
  const std::string ip = peer.v6 ? "ip -6 " : "ip ";
  return bad(Status::critical, port.id(), std::move(observed), "a route by " + port.netdev,
             "RoCE sends from the netdev of the GID and does not use routes of other netdevs. Without a route on this "
             "netdev, connections to the peer fail: the kernel has no route to an IPv6 address, and sends ARP for an "
             "IPv4 address on the link, where no host answers.",
             ip + "route add SUBNET via GATEWAY dev " + port.netdev +
                 ", in a table for the address of this port if the rails share one (" + ip +
                 "rule), and the same in the network configuration. Routes: " + ip + "route show table all dev " +
                 port.netdev);
}

// Without traffic the kernel has no entry and nothing is reported.
std::optional<Finding> ask_gateway(const View& view, const Port& port) {
  if (!is_judged_for_addresses(view.now, port) || !is_active(port) || !is_roce(port)) return std::nullopt;
  if (auto missing = missing_route(view, port)) return missing;
  const IpNeighbor* worst = nullptr;
  std::string netdev, answering;
  for (const NamedInterface& each : interfaces_of(view.now, port))
    for (const IpNeighbor& gateway : each.interface->gateways) {
      if (!gateway.is_silent()) {
        append_item(answering, to_text(gateway.ip) + " " + rtnl::neighbor_state_text(gateway.state));
      } else if (worst == nullptr || gateway.has_failed()) {
        worst = &gateway;
        netdev = each.netdev;
      }
    }
  if (worst == nullptr && answering.empty()) return own_subnet_finding(view, port);
  if (worst == nullptr) return good(port.id(), answering, "an answer");

  const std::string address = to_text(worst->ip);
  Status status = Status::warning;
  std::string meaning =
      "The gateway has not answered ARP or neighbor solicitation yet. If this persists, nothing beyond the subnet of "
      "this port can be reached.";
  if (worst->has_failed()) {
    status = Status::critical;
    meaning =
        "The gateway did not answer the last ARP or neighbor solicitation: nothing beyond the subnet of this port can "
        "be reached.";
  }
  return bad(status, port.id(), address + " is " + rtnl::neighbor_state_text(worst->state) + " on " + netdev,
             "an answer", std::move(meaning),
             std::string(worst->ip.v6 ? "ping -6" : "ping") + " -c 3 -I " + netdev + " " + address +
                 "; ip neighbor show dev " + netdev +
                 ". If it fails, configure the same VLAN, address and prefix as on the switch port.");
}

constexpr Rule kGateway{
    .id = "gateway",
    .group = group::network,
    .title = "The gateway of a rail does not answer",
    .meaning =
        "Reads the neighbor table of the kernel and sends nothing. FAILED means that the gateway did not answer ARP "
        "(IPv4) or neighbor discovery (IPv6), so nothing beyond the subnet can be reached through this rail. With "
        "diagnose --peer, a port without a route to any address of the peer is reported.",
    .inspect = "ip neighbor show dev NETDEV; ping -c 3 -I NETDEV GATEWAY; ip route show table all dev NETDEV",
    .fix =
        "Configure the same VLAN, address and prefix as on the switch port, and check that the gateway has this "
        "address.",
    .ask_port = ask_gateway,
};

}  // namespace

constexpr Rule kTable[]{kAddress, kGateway};
const std::span<const Rule> kNetworkRules = kTable;

}  // namespace fabric
