// SPDX-License-Identifier: Apache-2.0
#include "node/netdev_use.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/find.h"
#include "base/parse.h"
#include "kernel/netlink/rtnl.h"
#include "kernel/netlink/sock_diag.h"
#include "kernel/pci/pci.h"
#include "node/network.h"

namespace fabric {
namespace {

constexpr std::string_view kOpenVswitch = "openvswitch";
constexpr std::string_view kGuestsDevices[]{"macvtap", "ipvtap"};

bool is_loopback(const Ip& ip) {
  if (!ip.v6) return ip.bytes[0] == 127;
  return std::ranges::all_of(std::span(ip.bytes).first(15), [](uint8_t byte) { return byte == 0; }) &&
         ip.bytes[15] == 1;
}

// Link-local and multicast destinations: not forwarded to another network (RFC 3927 section 7, RFC 4291 section 2.5.6).
bool stays_on_link(const Ip& ip) {
  if (ip.v6) return ip.bytes[0] == 0xff || is_link_local(ip);
  return (ip.bytes[0] == 169 && ip.bytes[1] == 254) || (ip.bytes[0] & 0xf0) == 0xe0;
}

using Routes = std::vector<rtnl::IpRoute>;

// The machine's interfaces, addresses and routing, and which of them are the port's.
struct NetworkStack {
  std::vector<rtnl::Link> links{};
  Routes routes{};
  std::vector<rtnl::IpRule> rules{};
  // The stack: the port's netdev, those of functions on the same link, and the devices above them.
  std::set<int> members{};       // ifindex
  std::set<Ip> own{}, others{};  // addresses of the stack, and of all other interfaces

  [[nodiscard]] bool has(int ifindex) const { return members.contains(ifindex); }
  [[nodiscard]] std::string name_of(int ifindex) const {
    const auto* link = find_where(links, [=](const rtnl::Link& each) { return each.ifindex == ifindex; });
    return link == nullptr ? "interface " + std::to_string(ifindex) : link->name;
  }
};

// Identifies a physical port of the machine: phys_port_id (i40e, qede), else the card and the number
// of the port on it (phys_switch_id, phys_port_name: devlink's physical ports of bnxt_en, ice and mlx5). Empty: the
// driver does not say.
std::string physical_port_of(const Root& root, const std::string& netdev) {
  const std::string folder = "sys/class/net/" + netdev + "/", id = root.line_of(folder + "phys_port_id");
  if (!id.empty()) return id;
  const std::string card = root.line_of(folder + "phys_switch_id"), name = root.line_of(folder + "phys_port_name");
  if (card.empty() || name.empty()) return {};
  return card + " " + name;
}

// The other netdevs of the same physical port, whose link is the same: partitions (NPAR), and the function for the
// other socket of a Socket Direct NIC with a netdev for each.
std::vector<std::string> others_on_physical_port(const Root& root, const std::string& netdev) {
  std::vector<std::string> out;
  const std::string wanted = netdev.empty() ? "" : physical_port_of(root, netdev);
  if (wanted.empty()) return out;
  for (std::string& other : root.names_in("sys/class/net"))
    if (other != netdev && root.exists("sys/class/net/" + other + "/device") && physical_port_of(root, other) == wanted)
      out.push_back(std::move(other));
  return out;
}

// The names of the virtual functions and subfunctions on the port's link, as folders:
// "sys/bus/pci/devices/.../virtfn0".
Result<std::vector<std::string>> guest_functions(const Root& root, const Port& port) {
  const auto functions = functions_on_link(root, port);
  if (!functions) return functions.error();
  std::vector<std::string> out;
  for (const std::string& pci : *functions) {
    const std::string folder = "sys/bus/pci/devices/" + pci + "/";
    const auto names = root.list(folder);
    if (!names && names.error().code != ENOENT) return names.error();
    if (!names) continue;
    for (const std::string& name : *names)
      if (name.starts_with("virtfn") || is_subfunction_device(name)) out.push_back(folder + name);
  }
  return out;
}

// The interfaces by which the packets of each tunnel leave that names no device below it. Its far ends are its own, or
// those of a vxlan's forwarding database (EVPN, whose near end is often an address of lo), or those that routes name.
Result<std::map<int, std::set<int>>> ways_of_tunnels(Netlink& route, const NetworkStack& network) {
  std::map<int, std::set<int>> out;
  std::map<Ip, int> known;
  for (const rtnl::Link& link : network.links) {
    if (link.lower || link.lower_elsewhere) continue;
    std::set<Ip> ends;
    if (link.kind == "vxlan") {
      auto listed = rtnl::vxlan_remotes(route, link.ifindex);
      if (!listed && listed.error().code != EOPNOTSUPP) return listed.error();  // an older capture has no answer
      if (listed) ends = std::move(*listed);
    }
    if (link.tunnel_remote) ends.insert(*link.tunnel_remote);
    for (const rtnl::IpRoute& each : network.routes)
      for (const rtnl::NextHop& hop : each.hops)
        if (hop.ifindex == link.ifindex && hop.tunnel_remote) ends.insert(*hop.tunnel_remote);
    for (const Ip& end : ends) {
      const auto [way, is_new] = known.try_emplace(end, 0);
      if (is_new) {
        const auto by = rtnl::interface_to(route, end, {}, 0);
        if (!by && is_transient(by.error())) return by.error();
        if (by) way->second = *by;
      }
      if (way->second != 0) out[link.ifindex].insert(way->second);
    }
  }
  return out;
}

// Adds the devices above the members until there are no more.
void add_devices_above(NetworkStack& network, const std::map<int, std::vector<Ip>>& addresses,
                       const std::map<int, std::set<int>>& ways) {
  const auto is_above = [&](const rtnl::Link& link) {
    if (link.lower && network.has(*link.lower)) return true;
    for (const rtnl::Link& below : network.links) {
      if (!network.has(below.ifindex)) continue;
      if (below.master == link.ifindex) return true;
      // The datapath is the master of its ports; nothing links it to its internal ports ("ovs-vsctl add-br").
      if (below.kind == kOpenVswitch && link.kind == kOpenVswitch) return true;
      if (link.tunnel_local)
        if (const auto* own = find_in(addresses, below.ifindex); own != nullptr && contains(*own, *link.tunnel_local))
          return true;
    }
    const auto* way = find_in(ways, link.ifindex);
    return way != nullptr && std::ranges::any_of(*way, [&](int by) { return network.has(by); });
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (const rtnl::Link& link : network.links)
      if (!network.has(link.ifindex) && is_above(link)) grew = network.members.insert(link.ifindex).second || grew;
  }
}

Result<NetworkStack> read_network(Kernel& kernel, const Port& port, Routes routes) {
  Netlink& route = *kernel.route;
  auto links = rtnl::links(route);
  if (!links) return links.error();
  const auto addresses = rtnl::addresses(route);
  if (!addresses) return addresses.error();
  auto rules = rtnl::rules(route);
  if (!rules && rules.error().code != EOPNOTSUPP) return rules.error();  // a kernel may have no rules
  NetworkStack network{.links = std::move(*links), .routes = std::move(routes), .rules = std::move(rules).value_or({})};
  const auto functions = guest_functions(kernel.root, port);
  if (!functions) return functions.error();
  // And the netdevs of the functions, as far as they are in this namespace.
  std::vector<std::string> names = others_on_physical_port(kernel.root, port.netdev);
  names.push_back(port.netdev);
  for (const std::string& function : *functions)
    for (std::string& netdev : kernel.root.names_in(function + "/net")) names.push_back(std::move(netdev));
  for (const rtnl::Link& link : network.links)
    if (contains(names, link.name)) network.members.insert(link.ifindex);
  std::map<int, std::vector<Ip>> by_interface;
  for (const rtnl::IpAddress& each : *addresses) by_interface[each.ifindex].push_back(each.address.ip);
  const auto ways = ways_of_tunnels(route, network);
  if (!ways) return ways.error();
  add_devices_above(network, by_interface, *ways);
  for (const auto& [ifindex, ips] : by_interface)
    for (const Ip& ip : ips) (network.has(ifindex) ? network.own : network.others).insert(ip);
  return network;
}

bool is_default_route(const rtnl::IpRoute& route) {
  return route.unicast && is_default(route.destination, route.prefix);
}

// True if every rule that leads to the table is for packets of this port: from one of its addresses and of no other
// interface, or of sockets that are bound to it.
bool is_table_of(const NetworkStack& network, uint32_t table, bool v6) {
  if (table == kTableMain || table == kTableDefault) return false;
  bool any = false;
  for (const rtnl::IpRule& each : network.rules) {
    if (each.rule.table != table || each.v6 != v6) continue;
    any = true;
    if (each.narrow) return false;
    const auto inside = [&](const Ip& ip) {
      return each.rule.source && in_subnet(ip, *each.rule.source, each.rule.source_prefix);
    };
    const bool by_source = std::ranges::any_of(network.own, inside) && std::ranges::none_of(network.others, inside);
    const bool by_device = !each.rule.device.empty() && std::ranges::any_of(network.links, [&](const rtnl::Link& link) {
      return link.name == each.rule.device && network.has(link.ifindex);
    });
    if (!by_source && !by_device) return false;
  }
  return any;
}

Result<std::vector<sock_diag::Session>> sessions_of(Kernel& kernel) {
  if (!kernel.root.is_host()) return std::vector<sock_diag::Session>{};
  auto diag = sock_diag::open();
  if (!diag) return diag.error();
  auto sessions = sock_diag::established(**diag);
  if (sessions || sessions.error().code != ENOENT) return sessions;
  std::vector<sock_diag::Session> out;
  for (const char* file : {"proc/net/tcp", "proc/net/tcp6"}) {
    constexpr size_t kMost = size_t{64} << 20;
    const auto text = kernel.root.read(file, kMost);
    if (!text && text.error().code != ENOENT) return text.error();
    if (!text) continue;
    const auto some = sock_diag::parse_proc_tcp(*text);
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

// A session of this host whose packets leave by the stack; nullopt: none.
Result<std::optional<sock_diag::Session>> session_over(Kernel& kernel, const NetworkStack& network) {
  const auto sessions = sessions_of(kernel);
  if (!sessions) return sessions.error();
  if (sessions->empty()) return std::optional<sock_diag::Session>();
  std::vector<const rtnl::IpRoute*> by_port;
  for (const rtnl::IpRoute& each : network.routes)
    if (each.unicast && std::ranges::any_of(each.hops, [&](const auto& hop) { return network.has(hop.ifindex); }))
      by_port.push_back(&each);
  std::set<std::tuple<Ip, Ip, int>> asked;
  for (const sock_diag::Session& session : *sessions) {
    const bool stays_here =
        is_loopback(session.remote) || network.own.contains(session.remote) || network.others.contains(session.remote);
    if (stays_here && !is_link_local(session.remote)) continue;
    bool uses = network.has(session.device) || (!is_link_local(session.local) && network.own.contains(session.local));
    const bool may_leave = std::ranges::any_of(by_port, [&](const rtnl::IpRoute* each) {
      return each->destination.v6 == session.remote.v6 && in_subnet(session.remote, each->destination, each->prefix);
    });
    if (!uses && may_leave && !is_link_local(session.remote) &&
        asked.insert({session.local, session.remote, session.device}).second) {
      const auto by = rtnl::interface_to(*kernel.route, session.remote, session.local, session.device);
      if (!by && by.error().code != ENETUNREACH && by.error().code != EHOSTUNREACH) return by.error();
      uses = by && network.has(*by);
    }
    if (uses) return std::optional(session);
  }
  return std::optional<sock_diag::Session>();
}

// A device of another network namespace above a device of the stack, a container's macvlan for example: nothing in this
// namespace shows it, and no program here sees its sessions. The device below it is found by its ifindex and its
// namespace, because another namespace may have the same ifindex. Namespaces that cannot be read are left out: those
// without an id here, and without CAP_NET_ADMIN all of them.
Result<std::optional<rtnl::Link>> device_elsewhere(Netlink& route, const NetworkStack& network) {
  const auto may_fail = [](int code) {
    return code == EOPNOTSUPP || code == EINVAL || code == EACCES || code == EPERM;
  };
  const auto ids = rtnl::namespaces(route);
  if (!ids && !may_fail(ids.error().code)) return ids.error();
  if (!ids) return std::optional<rtnl::Link>();
  const auto is_here = [&](const rtnl::Link& link) {
    if (!link.lower_namespace) return true;
    const auto own = rtnl::own_namespace(route);
    return !own || *own == link.lower_namespace;  // an unknown namespace may be this one
  };
  for (const int id : *ids) {
    auto links = rtnl::links_in(route, id);
    if (!links && !may_fail(links.error().code)) return links.error();
    if (!links) continue;
    for (rtnl::Link& link : *links)
      if (link.lower_elsewhere && network.has(*link.lower_elsewhere) && link.carrier != false && is_here(link))
        return std::optional(std::move(link));
  }
  return std::optional<rtnl::Link>();
}

// Whether this host forwards packets between the interface and others.
bool forwards(const Root& root, const std::string& netdev, bool v6) {
  std::vector<std::string> files{"proc/sys/net/ipv4/conf/" + netdev + "/forwarding"};
  if (v6) files = {"proc/sys/net/ipv6/conf/all/forwarding", "proc/sys/net/ipv6/conf/" + netdev + "/force_forwarding"};
  return std::ranges::any_of(files, [&](const std::string& file) {
    const auto text = root.read(file);
    if (!text) return text.error().code != ENOENT;  // IPv6 may be disabled; force_forwarding: since Linux 6.17
    return !text->starts_with("0");
  });
}

std::string place_of(const NetworkStack& network, int ifindex, const Port& port) {
  const std::string name = network.name_of(ifindex);
  if (name == port.netdev) return name;
  return name + ", on the link of " + port.netdev;
}

std::string default_route_in(const NetworkStack& network, const Port& port) {
  for (const rtnl::IpRoute& each : network.routes) {
    if (!is_default_route(each)) continue;
    for (const rtnl::NextHop& hop : each.hops)
      if (network.has(hop.ifindex) && !is_table_of(network, each.table, each.destination.v6))
        return "the default route leaves by " + place_of(network, hop.ifindex, port);
  }
  return {};
}

// A session of this host, a guest or a container.
Result<std::string> session_in(Kernel& kernel, const NetworkStack& network, const Port& port) {
  for (const rtnl::Link& link : network.links) {
    // The process that opens its device file is the guest's (/dev/tapN): no session of the guest is one of this host.
    if (network.has(link.ifindex) && contains(kGuestsDevices, link.kind) && link.carrier != false)
      return "a guest (" + link.name + ") uses " + place_of(network, link.lower.value_or(link.ifindex), port);
    if (network.has(link.ifindex) || !link.master || !network.has(*link.master) || link.carrier == false) continue;
    const auto* master =
        find_where(network.links, [&](const rtnl::Link& each) { return each.ifindex == *link.master; });
    if (master != nullptr && (master->kind == "bridge" || master->kind == kOpenVswitch))
      return "a guest or a container (" + link.name + ") uses " + place_of(network, master->ifindex, port);
  }
  const auto session = session_over(kernel, network);
  if (!session) return session.error();
  if (*session) return "a TCP session of this host (" + to_text((*session)->local) + ") uses " + port.netdev;
  // Last, because it lists the links of every container.
  const auto elsewhere = device_elsewhere(*kernel.route, network);
  if (!elsewhere) return elsewhere.error();
  if (*elsewhere)
    return "a container (" + (*elsewhere)->name + " in another network namespace) uses " +
           place_of(network, *(*elsewhere)->lower_elsewhere, port);
  return std::string();
}

std::string forwarding_in(const Root& root, const NetworkStack& network, const Port& port) {
  // A device outside the stack that leads to a container or guest. A tun without Ethernet is a VPN's.
  const auto* guest = find_where(network.links, [&](const rtnl::Link& link) {
    const bool leads_to_guest = link.is_peer_elsewhere || (link.kind == "tun" && link.is_ethernet);
    return leads_to_guest && !network.has(link.ifindex) && link.carrier != false;
  });
  if (guest == nullptr) return {};
  for (const rtnl::IpRoute& each : network.routes) {
    const bool v6 = each.destination.v6;
    if (!each.unicast || is_default_route(each) || stays_on_link(each.destination)) continue;
    const bool is_own_prefix = std::ranges::any_of(
        network.own, [&](const Ip& ip) { return ip.v6 == v6 && in_subnet(ip, each.destination, each.prefix); });
    for (const rtnl::NextHop& hop : each.hops) {
      if (!network.has(hop.ifindex) || (is_own_prefix && !hop.gateway)) continue;
      const std::string netdev = network.name_of(hop.ifindex);
      if (!forwards(root, netdev, v6) || is_table_of(network, each.table, v6)) continue;
      std::string why = "containers or guests (" + guest->name + ") may reach " + to_text(each.destination) + "/" +
                        std::to_string(each.prefix) + " over " + place_of(network, hop.ifindex, port) +
                        ", which this host forwards";
      if (!v6) why += " (if they must not: sysctl net.ipv4.conf." + netdev + ".forwarding=0)";
      return why + "; an entry that names the port and has front_end = true allows the write";
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> functions_on_link(const Root& root, const Port& port) {
  std::vector<std::string> out, netdevs = others_on_physical_port(root, port.netdev);
  if (!port.pci.empty()) out.push_back(port.pci);
  if (!port.bond.empty()) {
    const auto members = root.read("sys/class/net/" + port.bond + "/bonding/slaves");
    if (!members && members.error().code != ENOENT) return members.error();
    if (members)
      for (const std::string_view member : words(*members)) netdevs.emplace_back(member);
  }
  for (const std::string& netdev : netdevs) {
    const auto folder = root.resolve("sys/class/net/" + netdev + "/device");
    if (!folder && folder.error().code != ENOENT) return folder.error();
    const auto place = folder ? pci::parse_location(*folder) : std::nullopt;
    if (place && !contains(out, place->pci)) out.push_back(place->pci);
  }
  return out;
}

bool has_vlan(const Root& root, const std::string& netdev, unsigned depth) {
  constexpr std::string_view kUpper = "upper_";
  if (depth == 0) return false;
  return std::ranges::any_of(root.names_in("sys/class/net/" + netdev), [&](const std::string& name) {
    if (!name.starts_with(kUpper)) return false;
    const std::string upper = name.substr(kUpper.size());
    return root.exists("proc/net/vlan/" + upper) || has_vlan(root, upper, depth - 1);
  });
}

bool may_have_tags(Kernel& kernel, const Port& port) {
  if (has_vlan(kernel.root, port.netdev)) return true;
  const auto functions = guest_functions(kernel.root, port);
  if (!functions || !functions->empty()) return true;
  if (!kernel.route) return false;
  const auto network = read_network(kernel, port, {});
  if (!network) return true;
  const auto elsewhere = device_elsewhere(*kernel.route, *network);
  return !elsewhere || elsewhere->has_value();
}

DefaultRoute default_route_of(Kernel& kernel, const Port& port) {
  if (port.netdev.empty() || !kernel.route) return {};
  const auto unknown = [&](const Error& failure) {
    return DefaultRoute{
        "whether the default route leaves by " + port.netdev + " cannot be determined (" + failure.text() + ")", true};
  };
  auto routes = rtnl::routes(*kernel.route);
  if (!routes) return unknown(routes.error());
  if (std::ranges::none_of(*routes, is_default_route)) return {};
  const auto network = read_network(kernel, port, std::move(*routes));
  if (!network) return unknown(network.error());
  return {default_route_in(*network, port)};
}

NetdevUse use_of_netdev(Kernel& kernel, const Port& port) {
  using enum NetdevUse::User;
  if (port.netdev.empty() || !kernel.route) return {};
  const auto unknown = [&](const Error& failure) {
    return NetdevUse{session, "whether " + port.netdev + " is in use cannot be determined (" + failure.text() + ")"};
  };
  auto routes = rtnl::routes(*kernel.route);
  if (!routes) return unknown(routes.error());
  const auto network = read_network(kernel, port, std::move(*routes));
  if (!network) return unknown(network.error());
  auto sessions = session_in(kernel, *network, port);
  if (!sessions) return unknown(sessions.error());
  std::string route = default_route_in(*network, port);
  if (!sessions->empty()) return {session, std::move(*sessions), !route.empty()};
  if (!route.empty()) return {default_route, std::move(route), true};
  if (std::string why = forwarding_in(kernel.root, *network, port); !why.empty()) return {forwarding, std::move(why)};
  return {};
}

}  // namespace fabric
