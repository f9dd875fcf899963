// SPDX-License-Identifier: Apache-2.0
#include "node/network.h"

#include <algorithm>

#include "kernel/netlink/dcbnl.h"
#include "kernel/netlink/rtnl.h"
#include "node/neighbor_state.h"
#include "node/port_reader.h"

namespace fabric {

std::optional<unsigned> ConfValue::effective() const {
  if (!all || !own) return std::nullopt;
  return std::max(*all, *own);
}

}  // namespace fabric

namespace fabric::scanning {
namespace {

constexpr const char* kIpv4Conf = "proc/sys/net/ipv4/conf/";

void read_conf(const Root& root, const std::string& netdev, Interface& out) {
  const auto read = [&](const char* name) {
    return ConfValue{root.number_in<unsigned>(kIpv4Conf + std::string("all/") + name),
                     root.number_in<unsigned>(kIpv4Conf + netdev + "/" + name)};
  };
  out.arp_ignore = read("arp_ignore");
  out.arp_announce = read("arp_announce");
  out.arp_filter = read("arp_filter");
  out.rp_filter = read("rp_filter");
  if (const auto off = root.number_in<unsigned>("proc/sys/net/ipv6/conf/" + netdev + "/disable_ipv6"))
    out.ipv6_disabled = *off != 0;
}

// Notes the first dump that fails; its facts stay unknown.
template <class List>
std::optional<List> taken(Context& context, Result<List> answer) {
  if (answer) return std::move(answer).value();
  constexpr std::string_view kSubject = "IP addressing: ";
  const auto is_known = [&](const std::string& what) { return what.starts_with(kSubject); };
  if (std::ranges::none_of(context.unseen, is_known))
    context.note_unseen(std::string(kSubject) + answer.error().text());
  return std::nullopt;
}

using ByIndex = std::map<int, Interface*>;

// Interfaces of this namespace by index, and the VRF that each is in.
ByIndex by_index(const std::vector<rtnl::Link>& links, Network& network) {
  std::map<int, const rtnl::Link*> all;
  for (const rtnl::Link& link : links) all[link.ifindex] = &link;
  ByIndex out;
  for (const rtnl::Link& link : links) {
    Interface* mine = find_in(network.interfaces, link.name);
    if (mine == nullptr) continue;
    mine->ifindex = link.ifindex;
    out[link.ifindex] = mine;
    const auto* master = link.master ? find_in(all, *link.master) : nullptr;
    if (master == nullptr || (*master)->kind != "vrf") continue;
    mine->vrf = (*master)->name;
    mine->vrf_table = (*master)->vrf_table;
    if (mine->vrf_table != 0) network.tables.insert(mine->vrf_table);
  }
  return out;
}

void take_addresses(const std::vector<rtnl::IpAddress>& addresses, const ByIndex& interfaces) {
  for (const auto& [index, interface] : interfaces) interface->addresses.emplace();
  for (const rtnl::IpAddress& each : addresses)
    if (const auto found = interfaces.find(each.ifindex); found != interfaces.end())
      found->second->addresses->push_back(each.address);
}

void take_routes(const std::vector<rtnl::IpRoute>& routes, const ByIndex& interfaces, Network& network) {
  for (const rtnl::IpRoute& route : routes) {
    network.tables.insert(route.table);
    if (!route.unicast) continue;
    for (const rtnl::NextHop& hop : route.hops)
      if (const auto found = interfaces.find(hop.ifindex); found != interfaces.end())
        found->second->routes.push_back({route.destination, route.prefix, route.table, hop.gateway});
  }
}

void take_rules(const std::vector<rtnl::IpRule>& rules, Network& network) {
  network.rules.emplace();
  for (const rtnl::IpRule& each : rules) {
    network.tables.insert(each.rule.table);
    if (!each.narrow && (each.rule.source || !each.rule.device.empty())) network.rules->push_back(each.rule);
  }
}

void take_gateways(const std::vector<rtnl::NeighborEntry>& neighbors, const ByIndex& interfaces) {
  for (const rtnl::NeighborEntry& each : neighbors) {
    const auto found = interfaces.find(each.ifindex);
    if (found == interfaces.end()) continue;
    const auto& routes = found->second->routes;
    if (std::ranges::any_of(routes, [&](const Route& route) { return route.gateway == each.ip; }))
      found->second->gateways.push_back({each.ip, rtnl::neighbor_state_text(each.state)});
  }
}

void ask_kernel(Context& context, Network& network) {
  Netlink& route = *context.kernel.route;
  const auto links = taken(context, rtnl::links(route));
  if (!links) return;
  const ByIndex interfaces = by_index(*links, network);
  if (const auto addresses = taken(context, rtnl::addresses(route))) take_addresses(*addresses, interfaces);
  if (const auto routes = taken(context, rtnl::routes(route))) take_routes(*routes, interfaces, network);
  if (const auto rules = taken(context, rtnl::rules(route))) take_rules(*rules, network);
  const bool any_gateway = std::ranges::any_of(interfaces, [](const auto& each) {
    const auto& routes = each.second->routes;
    return std::ranges::any_of(routes, [](const Route& one) { return one.gateway.has_value(); });
  });
  if (!any_gateway) return;
  if (const auto neighbors = taken(context, rtnl::neighbors(route))) take_gateways(*neighbors, interfaces);
}

}  // namespace

void read_network(Context& context, const std::vector<Port>& ports, Network& network) {
  for (const Port& port : ports) {
    if (!port.netdev.empty()) network.interfaces[port.netdev];
    for (const Gid& gid : port.gids)
      if (!gid.netdev.empty()) network.interfaces[gid.netdev];
  }
  if (network.interfaces.empty()) return;
  for (auto& [netdev, interface] : network.interfaces) read_conf(context.kernel.root, netdev, interface);
  if (context.kernel.route) ask_kernel(context, network);
}

// The neighbors at the other ends of the cables: heard by LLDP, or kept by the firmware's own LLDP agent.
namespace {

DcbxEts ets_of(const ieee_ets& from) {
  DcbxEts out;
  out.willing = from.willing != 0;
  out.max_classes = from.ets_cap;
  std::copy_n(from.prio_tc, out.prio_tc.size(), out.prio_tc.begin());
  std::copy_n(from.tc_tx_bw, out.bw.size(), out.bw.begin());
  std::copy_n(from.tc_tsa, out.tsa.size(), out.tsa.begin());
  return out;
}

// The peer's settings that the firmware's DCBX agent received, from the answer about the port's own settings: without
// names or time.
std::optional<Neighbor> ask_firmware(Netlink& route, const std::string& netdev) {
  const auto answer = dcbnl::get(route, netdev);
  if (!answer || (!answer->peer_ets && !answer->peer_pfc && !answer->peer_app)) return std::nullopt;
  Neighbor out;
  out.netdev = netdev;
  out.source = "firmware";
  out.dcbx = "IEEE";
  if (const auto& ets = answer->peer_ets) out.ets = ets_of(*ets);
  if (const auto& pfc = answer->peer_pfc) out.pfc = DcbxPfc{false, pfc->mbc != 0, pfc->pfc_cap, PrioSet{pfc->pfc_en}};
  if (!answer->peer_app) return out;
  out.app.emplace();
  for (const dcb_app& app : *answer->peer_app) out.app->push_back({app.selector, app.protocol, app.priority});
  return out;
}

}  // namespace

void read_neighbors(Context& context, Node& node) {
  Neighbors& out = node.neighbors;
  auto published = state::load_neighbors(context.kernel.root);
  if (!published) out.why_none = published.error().text() + "; systemctl status fabric-lldp";
  else if (*published) out = std::move(**published);
  else out.why_none = "the LLDP listener is not running; start the listener with systemctl enable --now fabric-lldp";
  // Frames are heard on the members of a bond, so these are asked as well where the scan has them.
  std::set<std::string> ours;
  for (const Port& port : node.ports)
    if (!port.netdev.empty() && port.link_layer != LinkLayer::infiniband && !is_virtual(port)) ours.insert(port.netdev);
  std::erase_if(out.listening, [&](const auto& each) { return !ours.contains(each.first); });
  std::erase_if(out.heard, [&](const Neighbor& each) { return !ours.contains(each.netdev); });
  for (const std::string& netdev : ours) {
    if (contains(out.heard, netdev, &Neighbor::netdev) || !context.kernel.route) continue;
    if (auto told = ask_firmware(*context.kernel.route, netdev)) out.heard.push_back(std::move(*told));
  }
  for (auto& [netdev, interface] : node.network.interfaces)
    interface.peer_max_frame = announced_frame(out.heard, netdev);
}

void read_network(Kernel& kernel, Node& node) {
  const ScanOptions options;
  Context context{kernel, options, {}, {}, {}, node.unseen};
  read_network(context, node.ports, node.network);
  read_neighbors(context, node);
}

}  // namespace fabric::scanning
