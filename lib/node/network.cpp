// SPDX-License-Identifier: Apache-2.0
#include "node/network.h"

#include <algorithm>

#include "kernel/netlink/dcbnl.h"
#include "kernel/netlink/rtnl.h"
#include "kernel/rdma/infiniband.h"
#include "node/endpoints.h"
#include "node/neighbor_state.h"
#include "node/port_reader.h"

namespace fabric {

std::optional<unsigned> ConfValue::effective() const {
  if (!all || !own) return std::nullopt;
  return std::max(*all, *own);
}

bool is_default(const Ip& destination, unsigned prefix) {
  constexpr unsigned kDefaultV4 = 1, kDefaultV6 = 3;
  return prefix <= (destination.v6 ? kDefaultV6 : kDefaultV4);
}

}  // namespace fabric

namespace fabric::scanning {
namespace {

constexpr const char* kIpv4Conf = "proc/sys/net/ipv4/conf/";

// The answer; nullopt after a failed dump, the first of which is noted.
template <class List>
std::optional<List> list_or_note(Context& context, Result<List> answer) {
  if (answer) return std::move(answer).value();
  constexpr std::string_view kSubject = "IP addressing: ";
  if (std::ranges::none_of(context.unseen, [&](const std::string& what) { return what.starts_with(kSubject); }))
    context.note_unseen(std::string(kSubject) + answer.error().text());
  return std::nullopt;
}

// Addresses, routes, rules and gateways, by rtnetlink.
void query_addressing(Context& context, Network& network) {
  Netlink& route = *context.kernel.route;
  const auto links = list_or_note(context, rtnl::links(route));
  if (!links) return;
  std::map<int, const rtnl::Link*> all;
  for (const rtnl::Link& link : *links) all[link.ifindex] = &link;
  std::map<int, Interface*> interfaces;  // those of `network`, by index
  for (const rtnl::Link& link : *links) {
    Interface* interface = find_in(network.interfaces, link.name);
    if (interface == nullptr) continue;
    interface->ifindex = link.ifindex;
    interfaces[link.ifindex] = interface;
    const auto* master = link.master ? find_in(all, *link.master) : nullptr;
    if (master == nullptr || (*master)->kind != "vrf") continue;
    interface->vrf = (*master)->name;
    interface->vrf_table = (*master)->vrf_table;
    if (interface->vrf_table != 0) network.tables.insert(interface->vrf_table);
  }

  if (const auto addresses = list_or_note(context, rtnl::addresses(route))) {
    for (const auto& [index, interface] : interfaces) interface->addresses.emplace();
    for (const rtnl::IpAddress& each : *addresses)
      if (Interface** interface = find_in(interfaces, each.ifindex)) (*interface)->addresses->push_back(each.address);
  }

  bool any_gateway = false;
  const auto routes = list_or_note(context, rtnl::routes(route));
  if (routes)
    for (const rtnl::IpRoute& each : *routes) {
      network.tables.insert(each.table);
      if (!each.unicast) continue;
      for (const rtnl::NextHop& hop : each.hops) {
        Interface** interface = find_in(interfaces, hop.ifindex);
        if (interface == nullptr) continue;
        (*interface)->routes.push_back({each.destination, each.prefix, each.table, hop.gateway});
        any_gateway = any_gateway || hop.gateway.has_value();
      }
    }

  if (const auto rules = list_or_note(context, rtnl::rules(route))) {
    network.rules.emplace();
    for (const rtnl::IpRule& each : *rules) {
      network.tables.insert(each.rule.table);
      const bool is_usual = kTableDefault <= each.rule.table && each.rule.table <= kTableLocal;
      if (!each.narrow && (each.rule.source || !each.rule.device.empty() || !is_usual))
        network.rules->push_back(each.rule);
    }
  }
  if (!routes) network.tables.clear();

  if (!any_gateway) return;
  if (const auto neighbors = list_or_note(context, rtnl::neighbors(route)))
    for (const rtnl::NeighborEntry& each : *neighbors) {
      Interface** interface = find_in(interfaces, each.ifindex);
      if (interface == nullptr) continue;
      if (std::ranges::any_of((*interface)->routes, [&](const Route& known) { return known.gateway == each.ip; }))
        (*interface)->gateways.push_back({each.ip, each.state});
    }
}

// The members of a bond or team have its address, and a bridge has that of a member.
std::string own_mac(const Root& root, const std::string& netdev) {
  const std::string folder = "sys/class/net/" + netdev;
  std::string mac = root.line_of(folder + "/address");
  const bool is_ethernet = mac.size() == std::string_view("00:00:00:00:00:00").size();  // longer: InfiniBand
  if (!is_ethernet || mac.find_first_not_of("0:") == std::string::npos) return {};
  if (root.line_of(folder + "/master/address") == mac) return {};
  return mac;
}

}  // namespace

void read_network(Context& context, std::vector<Port>& ports, Network& network) {
  const Root& root = context.kernel.root;
  for (Port& port : ports) {
    if (port.link_layer == LinkLayer::infiniband && is_endpoint(port)) {
      auto keys = infiniband::pkeys(root, port.rdma, port.number);
      if (keys) network.pkeys.emplace(port.id(), std::move(*keys));
      else if (keys.error().code != ENOENT) note_unread(port, PortPart::other, "P_Keys", keys.error());
      auto lids = infiniband::lids(root, port.rdma, port.number);
      if (lids) {
        lids->active = is_active(port);
        network.lids.emplace(port.id(), *lids);
      } else if (lids.error().code != ENOENT) {
        note_unread(port, PortPart::other, "LIDs", lids.error());
      }
    }
    if (!port.netdev.empty()) network.interfaces[port.netdev];
    for (const Gid& gid : port.gids)
      if (!gid.netdev.empty() && (!port.netdev.empty() || root.exists("sys/class/net/" + gid.netdev)))
        network.interfaces[gid.netdev];
  }
  read_functions(context, ports, network.physical_functions);
  if (network.interfaces.empty()) return;
  for (auto& [netdev, interface] : network.interfaces) {
    const std::string folder = kIpv4Conf + netdev + "/";
    const auto read = [&](const char* name) {
      return ConfValue{root.number_in<unsigned>(kIpv4Conf + std::string("all/") + name),
                       root.number_in<unsigned>(folder + name)};
    };
    interface.mtu = root.number_in<uint32_t>("sys/class/net/" + netdev + "/mtu");
    interface.mac = own_mac(root, netdev);
    interface.arp_ignore = read("arp_ignore");
    interface.arp_announce = read("arp_announce");
    interface.arp_filter = read("arp_filter");
    interface.rp_filter = read("rp_filter");
    if (const auto off = root.number_in<unsigned>("proc/sys/net/ipv6/conf/" + netdev + "/disable_ipv6"))
      interface.ipv6_disabled = *off != 0;
  }
  if (context.kernel.route) query_addressing(context, network);
}

void read_neighbors(Context& context, Node& node) {
  Neighbors& out = node.neighbors;
  auto published = state::load_neighbors(context.kernel.root);
  if (!published) out.why_none = published.error().text();
  else if (*published) out = std::move(**published);
  else out.why_none = "the LLDP listener (fabric-lldp) is not running";

  // LLDP frames arrive on the members of a bond, so the members are queried as well if the scan has them.
  std::set<std::string> ours;
  for (const Port& port : node.ports)
    if (!port.netdev.empty() && port.link_layer != LinkLayer::infiniband && !is_virtual(port)) ours.insert(port.netdev);
  std::erase_if(out.listening, [&](const auto& each) { return !ours.contains(each.first); });
  std::erase_if(out.heard, [&](const Neighbor& each) { return !ours.contains(each.netdev); });
  for (const std::string& netdev : ours) {
    if (contains(out.heard, netdev, &Neighbor::netdev) || !context.kernel.route) continue;
    // The answer about the port's own settings also has the peer's settings that the firmware's DCBX agent received,
    // without names or time.
    const auto answer = dcbnl::get(*context.kernel.route, netdev);
    if (!answer || (!answer->peer_ets && !answer->peer_pfc && !answer->peer_app)) continue;
    Neighbor& peer = out.heard.emplace_back();
    peer.netdev = netdev;
    peer.source = kFirmwareSource;
    peer.dcbx = DcbxVersion::ieee;
    if (const auto& from = answer->peer_ets) {
      DcbxEts& ets = peer.ets.emplace();
      ets.willing = from->willing != 0;
      ets.max_classes = from->ets_cap;
      std::copy_n(from->prio_tc, ets.prio_tc.size(), ets.prio_tc.begin());
      std::copy_n(from->tc_tx_bw, ets.bw.size(), ets.bw.begin());
      std::copy_n(from->tc_tsa, ets.tsa.size(), ets.tsa.begin());
    }
    if (const auto& pfc = answer->peer_pfc)
      peer.pfc = DcbxPfc{false, pfc->mbc != 0, pfc->pfc_cap, PrioSet{pfc->pfc_en}};
    if (!answer->peer_app) continue;
    peer.app.emplace();
    for (const dcb_app& app : *answer->peer_app) peer.app->push_back({app.selector, app.protocol, app.priority});
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
