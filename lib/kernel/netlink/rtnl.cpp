// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/rtnl.h"

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/lwtunnel.h>
#include <linux/neighbour.h>
#include <linux/net_namespace.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <map>

#include "base/find.h"
#include "base/parse.h"

namespace fabric::rtnl {
namespace {

// Newer than some headers that are built with (include/uapi/linux/if_link.h; IFLA_PARENT_DEV_NAME since 5.14).
constexpr uint16_t kParentDevName = 56;
constexpr uint16_t kPermanentAddress = 54;                     // IFLA_PERM_ADDRESS: since 5.6
constexpr uint16_t kPropertyList = 52, kAlternativeName = 53;  // IFLA_PROP_LIST, IFLA_ALT_IFNAME: since 5.5

// Per-VF data and statistics are left out unless requested (RTEXT_FILTER_VF).
AttrWriter request(const std::string& netdev) { return AttrWriter().header(ifinfomsg{}).text(IFLA_IFNAME, netdev); }
// The request has no IFLA_IFNAME, with which RTM_SETLINK would rename the device (do_setlink()).
AttrWriter request(int ifindex) {
  ifinfomsg header{};
  header.ifi_index = ifindex;
  return AttrWriter().header(header);
}

constexpr size_t kMostMessages = 65'536;

template <class Header>
Result<Header> header_of(View8 payload, const char* what) {
  if (payload.size() < sizeof(Header))
    return error(EBADMSG, std::string("rtnetlink: ") + what + " message shorter than its header");
  Header header;
  std::memcpy(&header, payload.data(), sizeof header);
  return header;
}

// `parse` returns a Result of the entry, or of an optional entry.
template <class Header, class Entry, class Parse>
Result<std::vector<Entry>> dump(Netlink& route, uint16_t command, uint16_t answer, const char* what, Parse&& parse,
                                const AttrWriter& request = AttrWriter().header(Header{})) {
  auto replies = route.talk(command, NLM_F_DUMP, request.data());
  if (!replies) return error_about(std::string("list ") + what, replies.error());
  if (replies->size() > kMostMessages) return error(E2BIG, std::string("list ") + what + ": more than 65,536");
  std::vector<Entry> out;
  for (const Message& reply : *replies) {
    if (reply.type != answer) continue;
    auto parsed = parse(reply.payload);
    if (!parsed) return parsed.error();
    if (std::optional<Entry> entry = std::move(*parsed)) out.push_back(std::move(*entry));
  }
  return out;
}

bool is_ip(unsigned family) { return family == AF_INET || family == AF_INET6; }

// nullopt: absent, or shorter than an address of the family.
std::optional<Ip> ip_of(unsigned family, const Attr* attr) {
  const size_t size = family == AF_INET6 ? 16 : 4;
  if (!is_ip(family) || attr == nullptr || attr->value.size() < size) return std::nullopt;
  Ip ip{family == AF_INET6, {}};
  std::memcpy(ip.bytes.data(), attr->value.data(), size);
  return ip;
}

// The gateway of a route or next hop, which may be an IPv6 address for IPv4 (RFC 5549, struct rtvia).
std::optional<Ip> gateway_of(unsigned family, const std::vector<Attr>& attributes) {
  if (auto gateway = ip_of(family, find(attributes, RTA_GATEWAY))) return gateway;
  const Attr* via = find(attributes, RTA_VIA);
  const auto via_family = value_of<uint16_t>(attributes, RTA_VIA);
  if (!via_family) return std::nullopt;
  const Attr address{RTA_VIA, via->value.subspan(sizeof *via_family)};
  return ip_of(*via_family, &address);
}

// Zeros: not set.
std::optional<Ip> end_of_tunnel(unsigned family, const std::vector<Attr>& data, uint16_t attribute) {
  if (attribute == 0) return std::nullopt;
  const auto ip = ip_of(family, find(data, attribute));
  if (!ip || *ip == Ip{family == AF_INET6, {}}) return std::nullopt;
  return ip;
}

// `type` and `data`: RTA_ENCAP_TYPE and RTA_ENCAP, or those of a next hop object (linux/lwtunnel.h; 2 in both families:
// LWTUNNEL_IP_DST, LWTUNNEL_IP6_DST).
std::optional<Ip> tunnel_remote_of(const std::vector<Attr>& attributes, uint16_t type, uint16_t data) {
  const auto kind = value_of<uint16_t>(attributes, type);
  if (kind != LWTUNNEL_ENCAP_IP && kind != LWTUNNEL_ENCAP_IP6) return std::nullopt;
  const auto tunnel = parse_nested(attributes, data);
  if (kind == LWTUNNEL_ENCAP_IP6) return end_of_tunnel(AF_INET6, tunnel, LWTUNNEL_IP6_DST);
  return end_of_tunnel(AF_INET, tunnel, LWTUNNEL_IP_DST);
}

// The attributes that name the ends of a tunnel (linux/if_link.h, if_tunnel.h).
struct TunnelKind {
  std::string_view kind;
  unsigned family;
  uint16_t local, remote;  // 0: none
};
constexpr TunnelKind kTunnels[]{
    {"vxlan", AF_INET, IFLA_VXLAN_LOCAL, IFLA_VXLAN_GROUP},
    {"vxlan", AF_INET6, IFLA_VXLAN_LOCAL6, IFLA_VXLAN_GROUP6},
    {"geneve", AF_INET, 0, IFLA_GENEVE_REMOTE},
    {"geneve", AF_INET6, 0, IFLA_GENEVE_REMOTE6},
    {"gre", AF_INET, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE},
    {"gretap", AF_INET, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE},
    {"erspan", AF_INET, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE},
    {"ip6gre", AF_INET6, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE},
    {"ip6gretap", AF_INET6, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE},
    {"ipip", AF_INET, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE},
    {"sit", AF_INET, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE},
    {"ip6tnl", AF_INET6, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE},
};

// Kinds without ndo_get_iflink, which have a namespace of their own sockets (get_link_net): in another one, IFLA_LINK
// is their own ifindex (dev_get_iflink(), rtnl_fill_link_netnsid()).
constexpr std::string_view kWithoutLink[]{"vxlan", "geneve", "bareudp", "gtp", "pfcp", "amt"};

}  // namespace

Result<Link> parse_link(View8 payload) {
  const auto header = header_of<ifinfomsg>(payload, "link");
  if (!header) return header.error();
  Link out;
  out.ifindex = header->ifi_index;
  out.is_ethernet = header->ifi_type == ARPHRD_ETHER;
  bool is_elsewhere = false;  // the device below is in another network namespace
  std::optional<int> lower_of_vxlan;
  for (const Attr& attr : parse_attributes(payload, sizeof(ifinfomsg))) {
    switch (attr.type) {
      case IFLA_IFNAME: out.name = attr.text(); break;
      case IFLA_MTU: out.mtu = attr.u32(); break;
      case IFLA_MAX_MTU: out.max_mtu = attr.u32(); break;
      case IFLA_CARRIER:
        if (auto carrier = attr.u8()) out.carrier = *carrier != 0;
        break;
      case IFLA_CARRIER_DOWN_COUNT: out.carrier_down_count = attr.u32(); break;
      case IFLA_MASTER:
        if (auto master = attr.u32()) out.master = static_cast<int>(*master);
        break;
      case IFLA_LINK:
        if (auto lower = attr.u32(); lower && *lower != 0) out.lower = static_cast<int>(*lower);
        break;
      case IFLA_LINK_NETNSID:
        is_elsewhere = true;
        if (auto id = attr.u32()) out.lower_namespace = static_cast<int>(*id);
        break;
      case kPermanentAddress: out.permanent = hex_digits(as_text(attr.value), ":"); break;
      case kParentDevName: out.parent = attr.text(); break;
      case kPropertyList:
        for (const Attr& property : parse_attributes(attr.value))
          if (property.type == kAlternativeName) out.altnames.push_back(property.text());
        break;
      case IFLA_LINKINFO: {
        const auto info = parse_attributes(attr.value);
        out.kind = text_of(info, IFLA_INFO_KIND);
        if (out.kind == "vrf")  // drivers/net/vrf.c, vrf_fillinfo
          out.vrf_table = value_of<uint32_t>(parse_nested(info, IFLA_INFO_DATA), IFLA_VRF_TABLE).value_or(0);
        for (const TunnelKind& tunnel : kTunnels) {
          if (tunnel.kind != out.kind) continue;
          const auto data = parse_nested(info, IFLA_INFO_DATA);
          if (out.kind == "vxlan")  // drivers/net/vxlan/vxlan_core.c, vxlan_fill_info(): not as IFLA_LINK
            if (const auto lower = value_of<uint32_t>(data, IFLA_VXLAN_LINK); lower && *lower != 0)
              lower_of_vxlan = static_cast<int>(*lower);
          if (const auto local = end_of_tunnel(tunnel.family, data, tunnel.local)) out.tunnel_local = local;
          if (const auto remote = end_of_tunnel(tunnel.family, data, tunnel.remote)) out.tunnel_remote = remote;
        }
        break;
      }
      default: break;
    }
  }
  if (out.kind == "veth" || out.kind == "netkit") {
    out.is_peer_elsewhere = is_elsewhere;
    out.lower.reset();
  }
  if (contains(kWithoutLink, out.kind)) out.lower = lower_of_vxlan;
  if (is_elsewhere) out.lower_elsewhere = std::exchange(out.lower, std::nullopt);
  if (!out.lower_elsewhere) out.lower_namespace.reset();
  return out;
}

Result<std::vector<Link>> links(Netlink& route) {
  return dump<ifinfomsg, Link>(route, RTM_GETLINK, RTM_NEWLINK, "links", parse_link);
}

Result<std::vector<int>> namespaces(Netlink& route) {
  const auto parse = [](View8 payload) -> Result<std::optional<int>> {
    const auto attributes = parse_attributes(payload, NLMSG_ALIGN(sizeof(rtgenmsg)));
    return value_of<int32_t>(attributes, NETNSA_NSID);
  };
  return dump<rtgenmsg, int>(route, RTM_GETNSID, RTM_NEWNSID, "network namespaces", parse);
}

Result<std::optional<int>> own_namespace(Netlink& route) {
  const auto parse = [](View8 payload) -> Result<std::optional<int>> {
    const auto id = value_of<int32_t>(parse_attributes(payload, NLMSG_ALIGN(sizeof(rtgenmsg))), NETNSA_NSID);
    if (!id || *id < 0) return std::optional<int>();  // NETNSA_NSID_NOT_ASSIGNED
    return std::optional<int>(*id);
  };
  AttrWriter request;
  request.header(rtgenmsg{}).u32(NETNSA_PID, static_cast<uint32_t>(::getpid()));
  return ask<std::optional<int>>(route, RTM_GETNSID, RTM_NEWNSID, request, "this network namespace", parse);
}

Result<std::vector<Link>> links_in(Netlink& route, int id) {
  return dump<ifinfomsg, Link>(route, RTM_GETLINK, RTM_NEWLINK, "links of another network namespace", parse_link,
                               AttrWriter()
                                   .header(ifinfomsg{})
                                   .u32(IFLA_TARGET_NETNSID, static_cast<uint32_t>(id))
                                   .u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS));
}

Result<Link> link(Netlink& route, const std::string& netdev) {
  return ask(route, RTM_GETLINK, RTM_NEWLINK, request(netdev), netdev + ": read link", parse_link);
}

Result<Link> link_at(Netlink& route, int ifindex) {
  return ask(route, RTM_GETLINK, RTM_NEWLINK, request(ifindex), "interface " + std::to_string(ifindex) + ": read link",
             parse_link);
}

// RTM_SETLINK, not RTM_NEWLINK: it never creates a device.
Result<void> set_mtu(Netlink& route, const NetdevId& netdev, uint32_t mtu) {
  if (auto same = check_name(route, netdev); !same) return same;
  return request_change(route, RTM_SETLINK, request(netdev.ifindex).u32(IFLA_MTU, mtu), netdev.name + ": set mtu");
}

Result<std::optional<IpAddress>> parse_address(View8 payload) {
  auto header = header_of<ifaddrmsg>(payload, "address");
  if (!header) return header.error();
  const auto attributes = parse_attributes(payload, sizeof(ifaddrmsg));
  // On a point-to-point link IFA_ADDRESS is the other end; on other links IPv6 has no IFA_LOCAL.
  auto ip = ip_of(header->ifa_family, find(attributes, IFA_LOCAL));
  if (!ip) ip = ip_of(header->ifa_family, find(attributes, IFA_ADDRESS));
  if (!ip) return std::optional<IpAddress>();
  const uint32_t flags = value_of<uint32_t>(attributes, IFA_FLAGS).value_or(header->ifa_flags);
  Address address{*ip, header->ifa_prefixlen, header->ifa_scope < RT_SCOPE_LINK, (flags & IFA_F_DADFAILED) != 0};
  return std::optional<IpAddress>(IpAddress{static_cast<int>(header->ifa_index), address});
}

Result<std::optional<IpRoute>> parse_route(View8 payload) {
  auto header = header_of<rtmsg>(payload, "route");
  if (!header) return header.error();
  // Skips learned path MTUs and redirects, which are not configuration (net/ipv4/fib_trie.c, fib_dump_info_fnhe).
  if (!is_ip(header->rtm_family) || (header->rtm_flags & RTM_F_CLONED) != 0) return std::optional<IpRoute>();
  const auto attributes = parse_attributes(payload, sizeof(rtmsg));
  IpRoute out;
  out.destination =
      ip_of(header->rtm_family, find(attributes, RTA_DST)).value_or(Ip{header->rtm_family == AF_INET6, {}});
  out.prefix = header->rtm_dst_len;
  out.table = value_of<uint32_t>(attributes, RTA_TABLE).value_or(header->rtm_table);
  out.unicast = header->rtm_type == RTN_UNICAST && out.table != RT_TABLE_LOCAL;
  View8 several;
  if (const Attr* attr = find(attributes, RTA_MULTIPATH)) several = attr->value;
  while (several.size() >= sizeof(rtnexthop)) {
    rtnexthop hop;
    std::memcpy(&hop, several.data(), sizeof hop);
    if (hop.rtnh_len < sizeof hop || hop.rtnh_len > several.size()) break;
    const auto inner = parse_attributes(several.first(hop.rtnh_len), sizeof hop);
    out.hops.push_back(
        {hop.rtnh_ifindex, gateway_of(header->rtm_family, inner), tunnel_remote_of(inner, RTA_ENCAP_TYPE, RTA_ENCAP)});
    several = several.subspan(std::min<size_t>(several.size(), (hop.rtnh_len + 3U) & ~3U));
  }
  if (const auto ifindex = value_of<uint32_t>(attributes, RTA_OIF))
    out.hops.push_back({static_cast<int>(*ifindex), gateway_of(header->rtm_family, attributes),
                        tunnel_remote_of(attributes, RTA_ENCAP_TYPE, RTA_ENCAP)});
  out.next_hop_id = value_of<uint32_t>(attributes, RTA_NH_ID).value_or(0);
  return std::optional<IpRoute>(std::move(out));
}

Result<std::optional<NextHopObject>> parse_next_hop(View8 payload) {
  auto header = header_of<nhmsg>(payload, "next hop");
  if (!header) return header.error();
  const auto attributes = parse_attributes(payload, sizeof(nhmsg));
  const auto id = value_of<uint32_t>(attributes, NHA_ID);
  if (!id) return std::optional<NextHopObject>();
  NextHopObject out{.id = *id};
  if (const auto ifindex = value_of<uint32_t>(attributes, NHA_OIF))
    out.hop = NextHop{static_cast<int>(*ifindex), ip_of(header->nh_family, find(attributes, NHA_GATEWAY)),
                      tunnel_remote_of(attributes, NHA_ENCAP_TYPE, NHA_ENCAP)};
  View8 members;
  if (const Attr* attr = find(attributes, NHA_GROUP)) members = attr->value;
  for (; members.size() >= sizeof(nexthop_grp); members = members.subspan(sizeof(nexthop_grp))) {
    nexthop_grp member;
    std::memcpy(&member, members.data(), sizeof member);
    out.group.push_back(member.id);
  }
  return std::optional<NextHopObject>(std::move(out));
}

Result<std::optional<IpRule>> parse_rule(View8 payload) {
  auto header = header_of<fib_rule_hdr>(payload, "rule");
  if (!header) return header.error();
  if (!is_ip(header->family)) return std::optional<IpRule>();
  IpRule out;
  out.v6 = header->family == AF_INET6;
  out.rule.table = header->table;
  out.narrow = header->action != FR_ACT_TO_TBL || (header->flags & FIB_RULE_INVERT) != 0;
  for (const Attr& attr : parse_attributes(payload, sizeof(fib_rule_hdr))) {
    switch (attr.type) {
      case FRA_PRIORITY: out.rule.priority = attr.u32().value_or(0); break;
      case FRA_TABLE: out.rule.table = attr.u32().value_or(out.rule.table); break;
      case FRA_OIFNAME: out.rule.device = attr.text(); break;
      case FRA_SRC: out.rule.source = ip_of(header->family, &attr); break;
      case FRA_L3MDEV: out.narrow |= attr.u8() != uint8_t{0}; break;  // the table of the packet's VRF
      case FRA_IIFNAME: out.narrow |= attr.text() != "lo"; break;     // "lo": packets that this host sends
      case FRA_FWMARK: out.narrow |= attr.u32() != 0U; break;
      case FRA_IP_PROTO:
      case FRA_SPORT_RANGE:
      case FRA_DPORT_RANGE: out.narrow = true; break;
      default: break;
    }
  }
  if (out.rule.source) out.rule.source_prefix = header->src_len;
  return std::optional<IpRule>(std::move(out));
}

Result<std::optional<NeighborEntry>> parse_neighbor(View8 payload) {
  auto header = header_of<ndmsg>(payload, "neighbor");
  if (!header) return header.error();
  const auto ip = ip_of(header->ndm_family, find(parse_attributes(payload, sizeof(ndmsg)), NDA_DST));
  if (!ip) return std::optional<NeighborEntry>();
  return std::optional<NeighborEntry>(NeighborEntry{header->ndm_ifindex, *ip, header->ndm_state});
}

std::string neighbor_state_text(uint16_t state) {
  static constexpr std::array<std::string_view, 8> kNames{"INCOMPLETE", "REACHABLE", "STALE", "DELAY",
                                                          "PROBE",      "FAILED",    "NOARP", "PERMANENT"};
  const auto bit = static_cast<size_t>(std::countr_zero(state));  // NUD_*, linux/neighbour.h
  if (!std::has_single_bit(state) || bit >= kNames.size()) return "state " + std::to_string(state);
  return std::string(kNames[bit]);
}

Result<int> interface_to(Netlink& route, const Ip& destination, const std::optional<Ip>& source, int device) {
  rtmsg header{};
  header.rtm_family = destination.v6 ? AF_INET6 : AF_INET;
  const size_t size = destination.v6 ? 16 : 4;
  header.rtm_dst_len = static_cast<uint8_t>(size * 8);
  AttrWriter request;
  if (source) header.rtm_src_len = static_cast<uint8_t>(size * 8);
  request.header(header).bytes(RTA_DST, std::as_bytes(std::span(destination.bytes).first(size)));
  if (source) request.bytes(RTA_SRC, std::as_bytes(std::span(source->bytes).first(size)));
  if (device != 0) request.u32(RTA_OIF, static_cast<uint32_t>(device));
  const auto reply = ask(route, RTM_GETROUTE, RTM_NEWROUTE, request, "route to " + to_text(destination));
  if (!reply) return reply.error();
  return static_cast<int>(value_of<uint32_t>(parse_attributes(reply->payload, sizeof(rtmsg)), RTA_OIF).value_or(0));
}

Result<std::vector<IpAddress>> addresses(Netlink& route) {
  return dump<ifaddrmsg, IpAddress>(route, RTM_GETADDR, RTM_NEWADDR, "addresses", parse_address);
}
// Empty: the object, and with it the route, is gone by now. A group has no groups as members.
static std::vector<NextHop> hops_of(const std::map<uint32_t, NextHopObject>& objects, uint32_t id) {
  std::vector<NextHop> out;
  const NextHopObject* object = find_in(objects, id);
  if (object == nullptr) return out;
  if (object->hop) out.push_back(*object->hop);
  for (const uint32_t member : object->group)
    if (const NextHopObject* each = find_in(objects, member); each != nullptr && each->hop) out.push_back(*each->hop);
  return out;
}

Result<std::vector<IpRoute>> routes(Netlink& route) {
  auto out = dump<rtmsg, IpRoute>(route, RTM_GETROUTE, RTM_NEWROUTE, "routes", parse_route);
  const auto has_no_hops = [](const IpRoute& each) { return each.next_hop_id != 0 && each.hops.empty(); };
  if (!out || std::ranges::none_of(*out, has_no_hops)) return out;
  const auto objects =
      dump<nhmsg, NextHopObject>(route, RTM_GETNEXTHOP, RTM_NEWNEXTHOP, "next hop objects", parse_next_hop);
  if (!objects) return objects.error();
  std::map<uint32_t, NextHopObject> by_id;
  for (const NextHopObject& each : *objects) by_id[each.id] = each;
  for (IpRoute& each : *out)
    if (has_no_hops(each)) each.hops = hops_of(by_id, each.next_hop_id);
  return out;
}
Result<std::vector<IpRule>> rules(Netlink& route) {
  return dump<fib_rule_hdr, IpRule>(route, RTM_GETRULE, RTM_NEWRULE, "routing rules", parse_rule);
}
Result<std::vector<NeighborEntry>> neighbors(Netlink& route) {
  return dump<ndmsg, NeighborEntry>(route, RTM_GETNEIGH, RTM_NEWNEIGH, "neighbors", parse_neighbor);
}

Result<std::optional<ForwardingEntry>> parse_forwarding_entry(View8 payload) {
  const auto header = header_of<ndmsg>(payload, "forwarding entry");
  if (!header) return header.error();
  const auto attributes = parse_attributes(payload, sizeof(ndmsg));
  const Attr* to = find(attributes, NDA_DST);
  if (header->ndm_family != AF_BRIDGE || to == nullptr) return std::optional<ForwardingEntry>();
  const unsigned family = to->value.size() < 16 ? AF_INET : AF_INET6;
  const auto remote = end_of_tunnel(family, attributes, NDA_DST);
  if (!remote) return std::optional<ForwardingEntry>();
  return std::optional<ForwardingEntry>(ForwardingEntry{header->ndm_ifindex, *remote});
}

Result<std::set<Ip>> vxlan_remotes(Netlink& route, int ifindex) {
  ifinfomsg header{};
  header.ifi_family = AF_BRIDGE;
  header.ifi_index = ifindex;  // of this device alone
  const auto entries = dump<ifinfomsg, ForwardingEntry>(route, RTM_GETNEIGH, RTM_NEWNEIGH, "forwarding entries",
                                                        parse_forwarding_entry, AttrWriter().header(header));
  if (!entries) return entries.error();
  std::set<Ip> out;
  for (const ForwardingEntry& each : *entries)
    if (each.ifindex == ifindex) out.insert(each.remote);
  return out;
}

}  // namespace fabric::rtnl
