// SPDX-License-Identifier: Apache-2.0
// Addresses, gateways, GIDs, rails and firmware.
#include "judge/network.h"

#include "judge/finding.h"
#include "judge/platform_view.h"
#include "judge/port_state.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "kernel/netlink/rtnl.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"

namespace fabric {

std::shared_ptr<const std::vector<const Port*>> rails(const View& view) {
  if (view.rails != nullptr) return view.rails;
  const auto for_gpus = gpu_devices(view);
  std::vector<const Port*> out;
  for (const Port& port : view.now.ports)
    if (is_active(port) && is_roce(port) && !port.netdev.empty() && for_gpus->contains(port.rdma) &&
        serves_jobs(view.now, port))
      out.push_back(&port);
  return std::make_shared<const std::vector<const Port*>>(std::move(out));
}

std::optional<uint32_t> switch_frame(const Node& node, const Port& port) {
  std::optional<uint32_t> least;
  for (const Port& each : node.ports) {  // the port, or a member
    if (each.rdma != port.rdma || each.number != port.number) continue;
    const Interface* interface = find_in(node.network.interfaces, each.netdev);
    if (interface != nullptr && interface->peer_max_frame)
      least = std::min(least.value_or(UINT32_MAX), *interface->peer_max_frame);
  }
  return least;
}

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

namespace {

// Global addresses of all netdevs of the port. nullopt: unknown.
struct PortAddress {
  std::string netdev;
  Address address;
};
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

bool has_no_address(const Node& node, const Port& port) {
  const auto addresses = addresses_of(node, port);
  return addresses && addresses->empty();
}

// nullopt: unknown.
std::optional<bool> ipv6_disabled(const View& view, const Port& port) {
  const Interface* interface = find_in(view.now.network.interfaces, port.netdev);
  if (interface == nullptr) return std::nullopt;
  return interface->ipv6_disabled;
}

// sysctl(8): a dot in a name is written as a slash.
std::string name_in_sysctl(std::string netdev) {
  std::ranges::replace(netdev, '.', '/');
  return netdev;
}

}  // namespace

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

bool is_ipv4(const Gid& gid) { return gid.gid.starts_with("0000:0000:0000:0000:0000:ffff:"); }

bool is_own_gid(const View& view, const Port& port, const Gid& gid) {
  return gid.netdev.empty() || gid.above || gid.netdev == port.netdev || gid.netdev.starts_with(port.netdev + ".") ||
         contains(view.now.ports, gid.netdev, &Port::netdev);
}

std::set<unsigned> gid_indices(const Node& node, const Port& port, bool ipv4) {
  std::set<unsigned> out;
  for (const Gid& gid : port.gids)
    if (is_routable_v2(gid) && is_ipv4(gid) == ipv4 && is_here(node, port, gid)) out.insert(gid.index);
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size();
    append_item(out, names[i], is_last ? " and " : ", ");
  }
  return out;
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

// The address of Ethernet of a port with a wire of its own; empty: unknown, or of another port.
std::string mac_of(const Node& node, const Port& port) {
  if (port.role != PortRole::physical || port.pci.empty()) return {};
  const Interface* interface = find_in(node.network.interfaces, port.netdev);
  return interface == nullptr ? std::string() : interface->mac;
}

// Two ports with one address of Ethernet: in one subnet the switches deliver the packets of one to the other.
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

// The default routing table, or in a VRF the table of the VRF.
uint32_t main_table(const Interface& interface) { return interface.vrf_table != 0 ? interface.vrf_table : kTableMain; }

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

// "mlx5_1/1 has GID, too": another netdev has the same GID. Empty: none. `address` reports an address that is
// configured twice.
std::string duplicate_gid(const View& view, const Port& port) {
  std::set<std::string> own_addresses;
  for (const PortAddress& each : addresses_of(view.now, port).value_or(std::vector<PortAddress>{}))
    own_addresses.insert(gid_text(each.address.ip));
  for (const Port& other : view.now.ports) {
    if (&other == &port) break;  // reported for the later port
    if (!serves_jobs(view.now, other) || !is_roce(other) || other.netdev == port.netdev) continue;
    for (const Gid& theirs : other.gids)
      for (const Gid& own : port.gids)
        if (is_routable_v2(own) && own.gid == theirs.gid && is_routable_v2(theirs) && own.netdev != theirs.netdev &&
            !own_addresses.contains(own.gid))
          return other.id() + " has " + own.gid + ", too";
  }
  return {};
}

// `pinned`: by the configuration.
Finding gid_index_finding(const View& view, const Port& port, bool ipv4, unsigned wanted, bool pinned) {
  if (const std::string duplicate = duplicate_gid(view, port); !duplicate.empty())
    return bad(Status::critical, port.id(), duplicate, "a GID of its own",
               "Two RDMA ports have the same GID: peers reach the one that answers, and connections to the other fail.",
               "Configure different addresses on the two netdevs: rdma link show; ip address show");

  const std::set<unsigned> indices = gid_indices(view.now, port, ipv4);
  const std::string family = ipv4 ? "IPv4" : "IPv6";
  std::string expected = family + " at index " + to_text(wanted);
  expected += pinned ? ", [expect] gid_index" : ", like equal ports";
  std::string observed = family + " at index " + joined(indices, ", ", [](unsigned index) { return to_text(index); });
  if (indices.contains(wanted)) return good(port.id(), observed, expected);
  if (indices.empty()) observed = "no " + family + " GID of RoCE v2";

  std::string meaning =
      "A job with one GID index for all ports (NCCL_IB_GID_INDEX, ib_write_bw -x) uses the wrong GID on this port, or "
      "none.";
  // IPv6 on one port only shifts the GID table.
  const auto disabled = ipv6_disabled(view, port);
  const auto all = rails(view);
  for (const Port* other : *all) {
    const auto theirs = ipv6_disabled(view, *other);
    if (!disabled || !theirs || *disabled == *theirs) continue;
    const std::string state = *disabled ? "off" : "on";
    meaning +=
        " IPv6 is " + state + " on " + port.netdev + " and not on " + other->netdev + ", which shifts the table.";
    break;
  }
  return bad(Status::warning, port.id(), observed, expected, std::move(meaning),
             {{Work::ends_jobs | Work::when_idle,
               "While no job runs: ip link set " + port.netdev + " down && ip link set " + port.netdev +
                   " up fills the table again in the order of the addresses; networkctl reconfigure " + port.netdev +
                   " (or ifup) then brings back the routes and IPv6 addresses that this removes. "},
              "With NCCL 2.21 and later, unset NCCL_IB_GID_INDEX instead. Table: /sys/class/infiniband/" + port.rdma +
                  "/ports/" + to_text(port.number) + "/gids"});
}

// `gid` reports ports without a routable RoCE v2 GID.
void ask_gid_index(const View& view, Findings& findings) {
  const auto all = rails(view);
  std::vector<const Port*> ports;
  bool ipv4 = false;
  for (const Port* port : *all) {
    const bool has4 = !gid_indices(view.now, *port, true).empty();
    if (!has4 && gid_indices(view.now, *port, false).empty()) continue;
    ports.push_back(port);
    ipv4 = ipv4 || has4;
  }
  const bool pinned = view.policy != nullptr && view.policy->expect.gid_index;
  if (ports.empty() || (ports.size() == 1 && !pinned)) return;
  unsigned wanted = 0;
  if (pinned) {
    wanted = *view.policy->expect.gid_index;
  } else {  // the index of most ports; on a tie the lowest
    std::map<unsigned, size_t> count;
    for (const Port* port : ports)
      for (const unsigned index : gid_indices(view.now, *port, ipv4)) ++count[index];
    wanted = std::ranges::max_element(count, {}, [](const auto& each) { return each.second; })->first;
  }
  for (const Port* port : ports) findings.push_back(gid_index_finding(view, *port, ipv4, wanted, pinned));
}

constexpr Rule kGidIndex{
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
    .ask = ask_gid_index,
};

constexpr uint32_t kFullRoce = kLargestPathMtu + kRoceHeaders, k9000 = 9000;

// The MTU of more than half of the equal rails, if it differs from that of this port. `roce-mtu` reports an MTU that
// is too small for RoCE 4096; the setting mtu reports an MTU that differs from the policy.
std::optional<uint32_t> mtu_of_others(const View& view, const std::vector<const Port*>& all, const Port& port) {
  const PortPolicy* entry = policy_of(view, port);
  if (*port.qos.mtu < kFullRoce || (entry != nullptr && entry->want.mtu)) return std::nullopt;
  std::map<uint32_t, size_t> counts;
  for (const Port* each : all)
    if (each->qos.mtu && are_twins(port, *each)) ++counts[*each->qos.mtu];
  const auto usual = majority(counts);
  if (usual == port.qos.mtu || !counts.contains(*port.qos.mtu)) return std::nullopt;
  return usual;
}

// A line of its own, to be pasted.
std::string mtu_command(const Port& port, uint32_t mtu) {
  return "ip link set dev " + port.netdev + " mtu " + to_text(mtu);
}

Finding mtu_chain_finding(const View& view, const std::vector<const Port*>& all, const Port& port) {
  const uint32_t mtu = *port.qos.mtu;
  const std::string netdev = "netdev " + to_text(mtu);
  if (port.active_mtu && mtu < *port.active_mtu + kRoceHeaders)
    return bad(Status::critical, port.id(), netdev + ", RoCE " + to_text(*port.active_mtu),
               "netdev " + to_text(*port.active_mtu + kRoceHeaders) + " or more",
               "The RDMA device sends packets larger than the MTU of its netdev (payload plus 96 bytes of headers). "
               "They are dropped: connections hang after the first small messages.",
               {Work::ends_jobs | Work::when_idle,
                "Drain the node first: queue pairs that exist keep their MTU. Then:\n" + mtu_command(port, k9000)});
  const auto frame = switch_frame(view.now, port);
  if (frame && *frame < mtu)
    return bad(Status::critical, port.id(), netdev + ", switch port accepts frames of " + to_text(*frame),
               "frames of " + to_text(mtu + kFrameHeader) + " on the switch",
               "The switch port drops large packets of this port: the maximum frame size that it announces by LLDP is "
               "smaller than the MTU.",
               "Raise the MTU of the switch port (9216 is common), or lower that of " + port.netdev + " on all hosts.");
  if (const auto others = mtu_of_others(view, all, port))
    return bad(
        Status::warning, port.id(), netdev, "netdev " + to_text(*others) + ", like equal ports",
        "The MTU of this rail differs from the other rails: packets that pass one rail are dropped on the other.",
        {Work::ends_jobs, "Change the network configuration, then:\n" + mtu_command(port, *others)});
  std::string observed = netdev;
  if (port.active_mtu) observed += ", RoCE " + to_text(*port.active_mtu);
  return good(port.id(), std::move(observed), "fits from RoCE to the switch");
}

// The MTU of a physical function is that of its port: larger packets of its functions do not leave it, and a function
// does not follow when the physical function changes.
Finding function_mtu_finding(const View& view, const Port& port, const Port& function) {
  const uint32_t mtu = *port.qos.mtu, of_function = *function.qos.mtu;
  const std::string kind = is_subfunction(function) ? "subfunction" : "virtual function",
                    name = function.id() + " on " + function.netdev;
  Finding out = bad(
      serves_jobs(view.now, function) ? Status::critical : Status::warning, port.id(),
      "netdev " + to_text(mtu) + "; its " + kind + " " + name + " has " + to_text(of_function),
      "netdev " + to_text(of_function) + " or more",
      "The MTU of the physical function (PF) is smaller than that of its " + kind + " " + name + ": packets of the " +
          kind + " that are larger do not leave the port. Small messages pass and large ones hang.",
      {"Set mtu in the policy for " + port.netdev + ", and the same on the switch port. Until then",
       {Work::ends_jobs | Work::when_idle, ", when no job runs:\n" + mtu_command(port, std::max(of_function, k9000))}});
  out.about = name;
  return out;
}

// The netdev with the addresses of the port, if it is not the port's own: that of a container on a NIC whose netdev is
// elsewhere (macvlan, IPVLAN), or a VLAN on top of the own one, which has no address. The one with the largest MTU, if
// there are several: a job may use any, and their order is that of their addresses. Null: none, its MTU is unknown, or
// it has the default route: the network of the pod is not a rail.
const std::pair<const std::string, Interface>* upper_netdev(const Node& node, const Port& port) {
  if (!is_roce(port) || !is_active(port)) return nullptr;
  const auto is_used = [&](const Gid& gid) {
    return is_routable_v2(gid) && !gid.netdev.empty() && is_here(node, port, gid);
  };
  for (const Gid& gid : port.gids)
    if (is_used(gid) && gid.netdev == port.netdev) return nullptr;
  const std::pair<const std::string, Interface>* out = nullptr;
  for (const Gid& gid : port.gids) {
    if (!is_used(gid)) continue;
    const auto found = node.network.interfaces.find(gid.netdev);
    if (found == node.network.interfaces.end() || !found->second.mtu || is_front_end(found->second)) continue;
    if (out == nullptr || *found->second.mtu > *out->second.mtu) out = &*found;
  }
  return out;
}

// Queue pairs have the MTU of the NIC; what rdma_cm, TCP and the bootstrap of a job use is the MTU of this netdev
// (cma_resolve_iboe_route() in drivers/infiniband/core/cma.c of Linux 6.12).
void add_upper_netdevs(const View& view, Findings& findings) {
  std::map<const Port*, const std::pair<const std::string, Interface>*> upper;
  for (const Port& port : view.now.ports)
    if (const auto* netdev = upper_netdev(view.now, port)) upper[&port] = netdev;
  for (const auto& [port, netdev] : upper) {
    // VLANs of other ports are for storage, a tenant or management: each has an MTU of its own.
    if (!port->netdev.empty() && has_other_purpose(view, *port)) continue;
    std::map<uint32_t, size_t> counts;
    for (const auto& [other, its] : upper)
      if (are_twins(*port, *other) && serves_gpu(view, *port) == serves_gpu(view, *other)) ++counts[*its->second.mtu];
    const auto usual = majority(counts);
    const uint32_t mtu = *netdev->second.mtu;
    if (!usual || *usual <= mtu) continue;
    if (port->qos.mtu && !port->netdev.empty() && *port->qos.mtu < *usual) continue;  // reported at the own netdev
    const bool is_given = port->netdev.empty();
    const std::string whose = is_given
                                  ? "The netdev of this container on the NIC has a smaller MTU than those on equal NICs"
                                  : "The netdev " + netdev->first +
                                        ", which has the addresses of this port, has a "
                                        "smaller MTU than those of equal ports";
    Fix fix{
        "Set mtu in the network of the container (NetworkAttachmentDefinition, or the pool of the CNI plugin) as in "
        "the others. ",
        {Work::ends_jobs, "It takes effect in new containers."}};
    if (!is_given)
      fix = {"Set the MTU of " + netdev->first + " in the network configuration as on the others. Until then",
             {Work::when_idle, ", when no job runs:\nip link set " + netdev->first + " mtu " + to_text(*usual)}};
    findings.push_back(bad(Status::warning, port->id(), netdev->first + " " + to_text(mtu),
                           to_text(*usual) + ", like those of equal ports",
                           whose + ": connections by rdma_cm get a smaller path MTU, and TCP over this rail is slower. "
                                   "Queue pairs without rdma_cm have the MTU of the NIC.",
                           std::move(fix)));
  }
}

void ask_mtu_chain(const View& view, Findings& findings) {
  const auto all = rails(view);
  const size_t first = findings.size();
  add_upper_netdevs(view, findings);
  const size_t upper = findings.size() - first;
  for (const Port& port : view.now.ports) {
    const auto reported = std::span(findings).subspan(first, upper);
    std::optional<Finding> own;
    if (const Port* function = function_above_mtu(view.now, port)) own = function_mtu_finding(view, port, *function);
    else if (is_judged_for_addresses(view.now, port) && is_active(port) && is_roce(port) && !port.netdev.empty() &&
             port.qos.mtu && sends_by_its_netdev(view.now, port))
      own = mtu_chain_finding(view, *all, port);
    const auto of_upper = std::ranges::find(reported, port.id(), &Finding::subject);
    if (!own) continue;
    if (of_upper == reported.end()) findings.push_back(std::move(*own));
    else if (own->status != Status::ok) *of_upper = std::move(*own);  // a subject has one finding
  }
}

}  // namespace

const Port* function_above_mtu(const Node& node, const Port& port) {
  const Port* out = nullptr;
  if (!is_judged(port) || port.netdev.empty() || !port.qos.mtu || !is_roce(port)) return out;
  for (const Port* function : functions_of(node, port))
    if (is_endpoint(*function) && !function->netdev.empty() && function->qos.mtu > port.qos.mtu &&
        (out == nullptr || function->qos.mtu > out->qos.mtu))
      out = function;
  return out;
}

constexpr SettingId kOfMtuChain[]{SettingId::mtu};

constexpr Rule kMtuChain{
    .id = "mtu-chain",
    .group = group::network,
    .title = "The MTU of the netdev or the switch is too small for RoCE",
    .meaning =
        "The RoCE path MTU plus 96 bytes of headers must fit the MTU of the netdev. The MTU must fit the largest frame "
        "of the switch port, which it announces by LLDP; some switches count the Ethernet header and the FCS, others "
        "do not. The MTU of a physical function must be at least that of its virtual functions and subfunctions. "
        "Larger "
        "packets are dropped silently: small messages pass and large ones hang. Equal ports should have equal MTUs, "
        "and so should the netdevs above them that have their addresses (VLAN, macvlan).",
    .inspect = "ip -d link show dev NETDEV; ibv_devinfo -d RDMADEV; the MTU of the switch port",
    .fix = "While no job runs: ip link set NETDEV mtu 9000 on all hosts, and MTU 9216 on the switch port.",
    .settings = kOfMtuChain,
    .ask = ask_mtu_chain,
};

// Several rails in one subnet. Without a rule (ip-rule(8)) packets leave through the first route to the subnet. An IPv4
// address belongs to the host, not to the interface: any rail answers ARP for all of them
// (Documentation/networking/ip-sysctl.rst: arp_ignore, arp_announce, arp_filter, rp_filter). IPv6 neighbor discovery
// answers for the addresses of the interface only (net/ipv6/ndisc.c, ndisc_recv_ns).

namespace {

struct RailNetdev {
  const Port* port = nullptr;
  std::string netdev;
  const Interface* interface = nullptr;
  Address address;
};

std::vector<RailNetdev> rails_with_address(const View& view) {
  const auto all = rails(view);
  std::vector<RailNetdev> out;
  for (const Port* port : *all)
    for (const NamedInterface& each : interfaces_of(view.now, *port)) {
      if (!each.interface->addresses || contains(out, each.netdev, &RailNetdev::netdev)) continue;
      // The first IPv4 address, else the first IPv6 address: beside IPv4, an IPv6 address is usually from the router,
      // and jobs do not use it.
      const Address* found = nullptr;
      for (const Address& address : *each.interface->addresses) {
        if (!address.global || address.dad_failed) continue;
        if (found == nullptr || (found->ip.v6 && !address.ip.v6)) found = &address;
      }
      if (found != nullptr) out.push_back({port, each.netdev, each.interface, *found});
    }
  return out;
}

// The subnet of one rail contains the address of the other. Addresses of /32 (/128) have no subnet; `address` reports
// equal addresses; a VRF is a separate routing domain.
bool share_subnet(const RailNetdev& a, const RailNetdev& b) {
  const unsigned longest = a.address.ip.v6 ? 127 : 31;
  if (a.address.ip.v6 != b.address.ip.v6 || a.address.prefix > longest || b.address.prefix > longest) return false;
  if (a.address.ip == b.address.ip || a.interface->vrf != b.interface->vrf) return false;
  return in_subnet(a.address.ip, b.address.ip, std::min(a.address.prefix, b.address.prefix));
}

// Groups of at least two rails that share a subnet, directly or through another rail.
std::vector<std::vector<RailNetdev>> groups(std::vector<RailNetdev> all) {
  std::vector<std::vector<RailNetdev>> out;
  while (!all.empty()) {
    std::vector<RailNetdev> group{all.front()};
    all.erase(all.begin());
    for (size_t i = 0; i < group.size(); ++i) {
      const auto is_separate = [&](const RailNetdev& rail) { return !share_subnet(group[i], rail); };
      const auto sharing = std::stable_partition(all.begin(), all.end(), is_separate);
      group.insert(group.end(), sharing, all.end());
      all.erase(sharing, all.end());
    }
    if (group.size() > 1) out.push_back(std::move(group));
  }
  return out;
}

std::string subnet_of(const RailNetdev& rail) {
  return to_text(network_of(rail.address.ip, rail.address.prefix)) + "/" + to_text(rail.address.prefix);
}

// Priority of the rule of VRFs (drivers/net/vrf.c, FIB_RULE_PREF): rules after it never match.
constexpr uint32_t kVrfRule = 1000;

enum class By : uint8_t { source, source_or_device };

// A rule for the address (or for the device, because RoCE looks up routes with the device of the GID: addr_resolve() in
// drivers/infiniband/core/addr.c) leads to a table with a route through this rail. A rule for some destinations counts
// too: its author knows the topology.
bool has_own_route(const Network& network, const RailNetdev& rail, By by) {
  if (!network.rules) return false;
  for (const RoutingRule& rule : *network.rules) {
    const bool by_source = rule.source && in_subnet(rail.address.ip, *rule.source, rule.source_prefix) &&
                           rule.source_prefix > rail.address.prefix;
    const bool by_device = by == By::source_or_device && rule.device == rail.netdev;
    if (!by_source && !by_device) continue;
    if (rule.table == main_table(*rail.interface) || rule.table == kTableDefault) continue;
    if (!rail.interface->vrf.empty() && rule.priority >= kVrfRule) continue;
    if (contains(rail.interface->routes, rule.table, &Route::table)) return true;
  }
  return false;
}

// Missing configuration as text, and the commands that add it.
struct Faults {
  std::vector<std::string> observed, expected, commands;
};

// Adds the rails with an effective value that is not in `allowed`.
void check_setting(const std::vector<RailNetdev>& group, const std::string& key, ConfValue Interface::*member,
                   const std::set<unsigned>& allowed, unsigned wanted, Faults& faults) {
  std::vector<std::string> names;
  std::set<unsigned> values;
  std::string command = "sysctl -w";
  for (const RailNetdev& rail : group) {
    const ConfValue& conf = rail.interface->*member;
    const auto value = conf.effective();
    if (!value || allowed.contains(*value)) continue;
    if (*conf.all > wanted && names.empty()) command += " net.ipv4.conf.all." + key + "=" + to_text(wanted);
    names.push_back(rail.netdev);
    values.insert(*value);
    command += " net.ipv4.conf." + name_in_sysctl(rail.netdev) + "." + key + "=" + to_text(wanted);
  }
  if (names.empty()) return;
  const std::string text = joined(values, "/", [](unsigned value) { return to_text(value); });
  faults.observed.push_back(key + " " + text + " on " + listed(names));
  faults.expected.push_back(key + " " + to_text(wanted));
  faults.commands.push_back(std::move(command));
}

// Adds the rails without source routing. The commands first copy the routes of the rail into its own table, then add
// the rule: no moment without a route.
void check_routes(const Network& network, const std::vector<RailNetdev>& group, Faults& faults) {
  if (!network.rules) return;
  std::vector<std::string> names;
  uint32_t table = 100;
  for (const RailNetdev& rail : group) {
    if (has_own_route(network, rail, By::source_or_device)) continue;
    do ++table;
    while (network.tables.contains(table));
    names.push_back(rail.netdev);
    const bool v6 = rail.address.ip.v6;
    const std::string ip = v6 ? "ip -6 " : "ip ", address = to_text(rail.address.ip),
                      end = " dev " + rail.netdev + " src " + address + " table " + to_text(table);
    faults.commands.push_back(ip + "route replace " + subnet_of(rail) + end);
    for (const Route& route : rail.interface->routes)
      if (route.table == main_table(*rail.interface) && route.gateway && route.gateway->v6 == v6 &&
          route.destination.v6 == v6)
        faults.commands.push_back(ip + "route replace " + to_text(route.destination) + "/" + to_text(route.prefix) +
                                  " via " + to_text(*route.gateway) + end);
    std::string rule = ip + "rule add ";
    if (!rail.interface->vrf.empty()) rule += "pref " + to_text(kVrfRule - 100) + " ";
    faults.commands.push_back(rule + "from " + address + " lookup " + to_text(table));
  }
  if (names.empty()) return;
  faults.observed.push_back("no source routing for " + listed(names));
  faults.expected.push_back("a rule and a table for each rail's address");
}

Finding rails_finding(const View& view, const std::vector<RailNetdev>& group) {
  const Network& network = view.now.network;
  Faults faults;
  check_routes(network, group, faults);
  const bool v6 = group.front().address.ip.v6;
  if (!v6) {
    bool routed = true, filters_arp = true;
    for (const RailNetdev& rail : group) {
      routed = routed && has_own_route(network, rail, By::source);
      filters_arp = filters_arp && rail.interface->arp_filter.effective().value_or(0) != 0;
    }
    // arp_filter answers only on the interface to which the kernel routes the answer: with source routing this is
    // enough.
    if (!routed || !filters_arp) check_setting(group, "arp_ignore", &Interface::arp_ignore, {1, 2}, 1, faults);
    check_setting(group, "arp_announce", &Interface::arp_announce, {2}, 2, faults);
    // Strict filtering accepts packets only on the interface of the route back. Without source routing that is the
    // first rail, and ARP on the other rails is not answered.
    if (!routed) check_setting(group, "rp_filter", &Interface::rp_filter, {0, 2}, 2, faults);
  }

  std::vector<std::string> names;
  for (const RailNetdev& rail : group) names.push_back(rail.port->id());
  const RailNetdev& widest =
      *std::ranges::min_element(group, {}, [](const RailNetdev& rail) { return rail.address.prefix; });
  std::string subject = subnet_of(widest);
  if (!widest.interface->vrf.empty()) subject += " in " + widest.interface->vrf;
  const std::string own_link = listed(names) + ", each through its own link";
  if (faults.observed.empty() && v6) return good(subject, own_link, "routes for each rail");
  if (faults.observed.empty()) return good(subject, own_link, "ARP and routes for each rail");
  std::string meaning, remedy = "Run these commands and add them to the network configuration";
  if (v6) {
    meaning =
        "Several rails are in one IPv6 subnet. Without a rule for each address, packets leave through the first rail "
        "in the routing table: rails share one link while others idle, and answers arrive on another rail.";
  } else {
    meaning =
        "Several rails are in one subnet. Without these settings one rail answers ARP for the others, and packets "
        "leave through the first rail in the routing table: rails share one link while others idle, and RoCE packets "
        "that reach the wrong NIC are dropped.";
    remedy += " (sysctls: to [sysctl] of fabric-agent.toml)";
  }
  remedy += "; or use one subnet per rail.\n" + joined(faults.commands, "\n");
  return bad(Status::warning, subject, listed(names) + ": " + joined(faults.observed, "; "),
             joined(faults.expected, ", "), std::move(meaning), std::move(remedy));
}

void ask_rails(const View& view, Findings& findings) {
  for (const std::vector<RailNetdev>& group : groups(rails_with_address(view)))
    findings.push_back(rails_finding(view, group));
}

}  // namespace

std::string rails_fault(const View& view, const Port& port) {
  for (const std::vector<RailNetdev>& group : groups(rails_with_address(view))) {
    if (!contains(group, port.id(), [](const RailNetdev& rail) { return rail.port->id(); })) continue;
    if (Finding found = rails_finding(view, group); found.status != Status::ok) return found.observed;
  }
  return {};
}

constexpr Rule kRails{
    .id = "rails",
    .group = group::network,
    .title = "Rails in one subnet share links or MAC addresses",
    .meaning =
        "Linux sends through the first route to a subnet, and answers ARP (IPv4) for an address on any interface. With "
        "several rails in one subnet, half of the links carry nothing, RoCE packets reach the wrong NIC and are "
        "dropped, and connections hang at random. Required are arp_ignore 1 or 2 and arp_announce 2 (the larger value "
        "of net.ipv4.conf.all and the interface counts), a routing rule and a table for the address of each rail, and "
        "without such rules rp_filter 0 or 2. Rails in subnets of their own (/31 for instance) need none of this.",
    .inspect = "ip rule; ip route show table all; sysctl -a | grep -e arp_ -e rp_filter",
    .fix = "Run the commands of the finding and add them to the network configuration.",
    .ask = ask_rails,
};

namespace {

const std::vector<std::string>* allowed_by_name(const Versions& versions, const std::string& name) {
  if (name.empty()) return nullptr;
  if (const auto* exact = find_in(versions, name)) return exact;
  for (const auto& [pattern, list] : versions)
    if (glob_match(pattern, name)) return &list;
  return nullptr;
}

// Firmware is made for a board, whichever of its functions has the port. Without a board id, the model is used.
std::string firmware_target_of(const Port& port) { return port.board_id.empty() ? port.pci_id : port.board_id; }

Fix update_of(const Port& port) {
  std::string tool(capabilities_of(port.kernel_driver).firmware_update);
  replace_all(tool, "{pci}", port.pci);
  if (tool.empty()) tool = "with the vendor's tool";
  return {{Work::ends_jobs | Work::when_idle,
           "Update the firmware while no job runs (" + tool + "), then reset the NIC or reboot."}};
}

Finding firmware_finding(const View& view, const Port& port) {
  Fix fix = update_of(port);
  if (const std::string place = place_of_physical(view, port); !place.empty())
    fix = place + ": update the firmware of its NIC. Nothing in this guest or pod changes it.";
  const std::string board = firmware_target_of(port);
  std::string observed = port.firmware;
  if (!board.empty()) observed += " on board " + board;
  // The policy lists versions by board id, else by PCI id, else by driver.
  const std::vector<std::string>* allowed = nullptr;
  for (const std::string* name : {&port.board_id, &port.pci_id, &port.kernel_driver})
    if (view.policy != nullptr && allowed == nullptr) allowed = allowed_by_name(view.policy->firmware, *name);
  if (allowed != nullptr) {
    if (matches_any(*allowed, port.firmware)) return good(port.rdma, observed, joined(*allowed, " or "));
    return bad(Status::warning, port.rdma, observed, joined(*allowed, " or ") + ", from [firmware]",
               "The site does not allow this firmware: it may lack fixes and behave differently.", std::move(fix));
  }
  std::map<std::string, std::set<std::string>> cards;  // with this board, by version
  if (!board.empty())
    for (const Port& other : view.now.ports)
      if (is_own_device(other) && firmware_target_of(other) == board && other.kernel_driver == port.kernel_driver &&
          !other.firmware.empty())
        cards[other.firmware].insert(card_of(other.pci));
  std::string usual = port.firmware;  // of most NICs; on a tie the newest
  if (!cards.empty())
    usual = std::ranges::max_element(cards, [](const auto& a, const auto& b) {
              if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
              return natural_less(a.first, b.first);
            })->first;
  if (port.firmware == usual) return good(port.rdma, observed, usual);
  return bad(Status::warning, port.rdma, observed, usual + ", like equal NICs",
             "Firmware versions differ in defaults, limits and bugs: one rail may be slow or behave differently.",
             std::move(fix));
}

void add_driver_finding(const View& view, const Port& port, Findings& findings) {
  if (view.policy == nullptr || port.driver_version.empty()) return;
  const auto* allowed = allowed_by_name(view.policy->driver_version, port.kernel_driver);
  if (allowed == nullptr) return;
  if (matches_any(*allowed, port.driver_version))
    return findings.push_back(good(port.kernel_driver, port.driver_version, joined(*allowed, " or ")));
  findings.push_back(bad(
      Status::warning, port.kernel_driver, port.driver_version, joined(*allowed, " or ") + ", from [driver_version]",
      "The site does not allow the loaded driver. An installed update is loaded only after a reboot.",
      {{Work::ends_jobs | Work::when_idle, "Reboot, or reload the driver while no job runs. "},
       "Installed version: modinfo " + port.kernel_driver}));
}

// One finding per card. Software devices have no firmware.
void ask_firmware(const View& view, Findings& findings) {
  std::set<std::string> cards, drivers;
  for (const Port& port : view.now.ports) {
    if (!is_own_device(port)) continue;
    if (!port.kernel_driver.empty() && drivers.insert(port.kernel_driver).second)
      add_driver_finding(view, port, findings);
    if (port.firmware.empty() || port.pci.empty() || !cards.insert(card_of(port.pci)).second) continue;
    findings.push_back(firmware_finding(view, port));
  }
}

constexpr Rule kFirmware{
    .id = "firmware",
    .group = group::network,
    .title = "The firmware of a NIC is not allowed or differs from that of equal NICs",
    .meaning =
        "Without [firmware] in fabric-agent.toml, NICs with the same board id are compared with each other and the "
        "minority is reported. With [firmware], each version must be listed for its board id, PCI id or driver. "
        "[driver_version] does the same for drivers.",
    .inspect = "cat /sys/class/infiniband/*/fw_ver (as [firmware] names it); ethtool -i NETDEV; devlink dev info",
    .fix = "Update the firmware with the vendor's tool while no job runs, and reset the NIC or reboot.",
    .ask = ask_firmware,
};

// A P_Key: the number of the partition, and in the highest bit the membership (IBTA 1.4, 10.9.1 and 10.9.3).
constexpr uint16_t kFullMember = 0x8000, kDefaultPartition = 0x7fff;

enum class Membership : uint8_t { none, limited, full };

Membership membership(const std::vector<uint16_t>& keys, uint16_t partition) {
  auto out = Membership::none;
  for (const uint16_t key : keys)
    if ((key & kDefaultPartition) == partition)
      out = std::max(out, (key & kFullMember) != 0 ? Membership::full : Membership::limited);
  return out;
}

// The least membership of the partition that the equal ports have; nullopt: fewer than two of them are known.
std::optional<Membership> usual_membership(const View& view, const Port& port, uint16_t partition) {
  size_t others = 0;
  auto out = Membership::full;
  for (const Port& other : view.now.ports) {
    const auto* keys = find_in(view.now.network.pkeys, other.id());
    if (is_same_port(other, port) || keys == nullptr || !is_active(other) || !are_twins(other, port) ||
        has_other_purpose(view, other))
      continue;
    out = std::min(out, membership(*keys, partition));
    ++others;
  }
  if (others < 2) return std::nullopt;
  return out;
}

std::string key_text(uint16_t key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[key >> shift & 0xf];
  return out;
}

// "0xffff (full), 0x0001 (limited)"
std::string keys_text(const std::vector<uint16_t>& keys) {
  std::string out;
  for (const uint16_t key : keys)
    if (key != 0) append_item(out, key_text(key) + ((key & kFullMember) != 0 ? " (full)" : " (limited)"));
  return out.empty() ? "none" : out;
}

Fix fix_of_partition(const Port& port, uint16_t partition) {
  const std::string file = "/sys/class/infiniband/" + port.rdma + "/ports/" + to_text(port.number);
  return "At the subnet manager, make the port a full member: in partitions.conf of opensm its GUID (the second half "
         "of " +
         file + "/gids/0) as GUID=full in the line of partition " + key_text(partition) +
         ", then reload it: pkill -HUP opensm. With UFM: the partition's members. Verify: grep . " + file + "/pkeys/*";
}

// The subnet prefix of the port, the first half of its GIDs: "fe80:0000:0000:0000". Empty: it has none.
std::string subnet_prefix(const Port& port) {
  constexpr size_t kHalf = 19;
  if (port.gids.empty() || port.gids.front().gid.size() <= kHalf) return {};
  return port.gids.front().gid.substr(0, kHalf);
}

// nullopt, unless all equal ports are in one subnet and this one is in another. Rails may have a subnet each. A port
// with another purpose, which is asked if it is named, may be of another fabric: that of the storage.
std::optional<Finding> other_subnet_finding(const View& view, const Port& port) {
  constexpr size_t kLeast = 3;
  if (has_other_purpose(view, port)) return std::nullopt;
  const std::string own = subnet_prefix(port);
  std::map<std::string, size_t> others;
  for (const Port& other : view.now.ports)
    if (!is_same_port(other, port) && other.link_layer == LinkLayer::infiniband && is_active(other) &&
        are_twins(other, port) && !has_other_purpose(view, other))
      ++others[subnet_prefix(other)];
  if (own.empty() || others.size() != 1) return std::nullopt;
  const auto& [usual, count] = *others.begin();
  if (usual.empty() || usual == own || count < kLeast) return std::nullopt;
  const std::string device = " -C " + port.rdma + " -P " + to_text(port.number);
  return bad(Status::warning, port.id(), "subnet " + own, "subnet " + usual + ", like equal ports",
             "The port is in another InfiniBand subnet than all equal ports: its cable leads to another fabric, or the "
             "prefix of its subnet manager was changed. Ports of two subnets do not reach each other without a router, "
             "although all are ACTIVE.",
             {"Find where it leads: iblinkinfo" + device + "; sminfo" + device + ". ",
              {Work::at_link, "If that is another fabric, plug its cable into that of the others."}});
}

// A job chooses its place in the table (NCCL_IB_PKEY: the first; UCX: the first with full membership). A port that
// serves no GPU may be a limited member on purpose: a client of storage servers.
std::optional<Finding> ask_partition(const View& view, const Port& port) {
  const auto* keys = find_in(view.now.network.pkeys, port.id());
  if (keys == nullptr || port.link_layer != LinkLayer::infiniband || !is_active(port) || !serves_jobs(view.now, port) ||
      (has_other_purpose(view, port) && !view.named.contains(port.id())))
    return std::nullopt;
  if (auto subnet = other_subnet_finding(view, port)) return subnet;
  const std::string observed = keys_text(*keys);
  std::set<uint16_t> partitions;
  for (const Port& other : view.now.ports) {
    const auto* table = find_in(view.now.network.pkeys, other.id());
    if (table == nullptr || (!is_same_port(other, port) && has_other_purpose(view, other))) continue;
    for (const uint16_t key : *table)
      if ((key & kDefaultPartition) != 0) partitions.insert(key & kDefaultPartition);
  }
  for (const uint16_t partition : partitions) {
    const Membership own = membership(*keys, partition), usual = usual_membership(view, port, partition).value_or(own);
    if (own >= usual) continue;
    const uint16_t expected = usual == Membership::full ? partition | kFullMember : partition;
    std::string meaning = "The port is not a member of partition " + key_text(partition) +
                          ", unlike equal ports: connections in it fail, although the port is ACTIVE.";
    if (own == Membership::limited)
      meaning =
          "The port is a limited member of partition " + key_text(partition) +
          ", and equal ports are full members: it reaches full members only. Connections to other limited members "
          "fail, although both ports are ACTIVE.";
    return bad(Status::warning, port.id(), observed, keys_text({expected}) + ", like equal ports", std::move(meaning),
               fix_of_partition(port, partition));
  }
  const bool is_full = std::ranges::any_of(*keys, [](uint16_t key) { return key > kFullMember; });
  if (is_full) return good(port.id(), observed, "full member of a partition");
  const uint16_t first = keys->front() & kDefaultPartition;
  return bad(Status::warning, port.id(), observed, "full member of a partition",
             "The port is a limited member of its partitions: it reaches full members only. If all hosts are limited "
             "members, no job between them can connect, although the ports are ACTIVE.",
             fix_of_partition(port, first == 0 ? kDefaultPartition : first));
}

}  // namespace

constexpr Rule kPartition{
    .id = "partition",
    .group = group::network,
    .title = "An InfiniBand port is a limited member of its partition, or lacks one, or is in another subnet",
    .meaning =
        "The subnet manager fills the P_Key table of each port. The highest bit of a P_Key is the membership: 0xffff "
        "is a full member of the default partition, 0x7fff a limited one, which reaches full members only. Two limited "
        "members cannot connect, although their ports are ACTIVE. Reported are ports for GPUs that are a full member "
        "of "
        "no partition, and those with less membership than all equal ports; and a port whose subnet prefix (the first "
        "half of its GID) differs from that of all equal ports: its cable leads to another fabric.",
    .inspect = "grep . /sys/class/infiniband/RDMADEV/ports/1/pkeys/*; on the subnet manager: partitions.conf",
    .fix = "Make the GUID of the port a full member of the partition in the configuration of the subnet manager.",
    .ask_port = ask_partition,
};

constexpr Rule kTable[]{kAddress, kGateway, kGidIndex, kMtuChain, kPartition, kRails, kFirmware};
const std::span<const Rule> kNetworkRules = kTable;

}  // namespace fabric
