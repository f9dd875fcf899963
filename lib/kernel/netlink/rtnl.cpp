// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/rtnl.h"

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>

#include "base/parse.h"

namespace fabric::rtnl {
namespace {

// Newer than some headers we build with (include/uapi/linux/if_link.h; IFLA_PARENT_DEV_NAME since 5.14).
constexpr uint16_t kParentDevName = 56;
constexpr uint16_t kPermanentAddress = 54;                     // IFLA_PERM_ADDRESS: since 5.6
constexpr uint16_t kPropertyList = 52, kAlternativeName = 53;  // IFLA_PROP_LIST, IFLA_ALT_IFNAME: since 5.5

// Per-VF data and statistics are left out unless requested (RTEXT_FILTER_VF).
AttrWriter request(const std::string& netdev) { return AttrWriter().header(ifinfomsg{}).text(IFLA_IFNAME, netdev); }

// Also the table of a VRF (drivers/net/vrf.c, vrf_fillinfo).
void take_link_info(View8 linkinfo, Link& out) {
  const auto attributes = parse_attributes(linkinfo);
  out.kind = text_of(attributes, IFLA_INFO_KIND);
  if (out.kind != "vrf") return;
  if (const auto table = value_of<uint32_t>(parse_nested(attributes, IFLA_INFO_DATA), IFLA_VRF_TABLE))
    out.vrf_table = *table;
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

// `parse`: a Result of the entry, or of an optional one.
template <class Header, class Entry, class Parse>
Result<std::vector<Entry>> dump(Netlink& route, uint16_t command, uint16_t answer, const char* what, Parse&& parse) {
  auto replies = route.talk(command, NLM_F_DUMP, AttrWriter().header(Header{}).data());
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
size_t ip_bytes(unsigned family) { return family == AF_INET6 ? 16 : 4; }

// Nothing: absent or shorter than an address of the family.
std::optional<Ip> ip_of(unsigned family, const Attr* attr) {
  if (!is_ip(family) || attr == nullptr || attr->value.size() < ip_bytes(family)) return std::nullopt;
  Ip ip{family == AF_INET6, {}};
  std::memcpy(ip.bytes.data(), attr->value.data(), ip_bytes(family));
  return ip;
}

// The gateway of a route or next hop: its own family's, or an IPv6 one for IPv4 (RFC 5549, struct rtvia).
std::optional<Ip> gateway_of(unsigned family, const std::vector<Attr>& attributes) {
  if (auto gateway = ip_of(family, find(attributes, RTA_GATEWAY))) return gateway;
  const Attr* via = find(attributes, RTA_VIA);
  const auto via_family = via != nullptr ? via->u16() : std::nullopt;
  if (!via_family) return std::nullopt;
  const Attr address{RTA_VIA, via->value.subspan(sizeof *via_family)};
  return ip_of(*via_family, &address);
}

std::vector<NextHop> multipath(unsigned family, View8 list) {
  std::vector<NextHop> hops;
  while (list.size() >= sizeof(rtnexthop)) {
    rtnexthop hop;
    std::memcpy(&hop, list.data(), sizeof hop);
    if (hop.rtnh_len < sizeof hop || hop.rtnh_len > list.size()) break;
    hops.push_back({hop.rtnh_ifindex, gateway_of(family, parse_attributes(list.first(hop.rtnh_len), sizeof hop))});
    list = list.subspan(std::min<size_t>(list.size(), (hop.rtnh_len + 3U) & ~3U));
  }
  return hops;
}

}  // namespace

Result<Link> parse_link(View8 payload) {
  const auto header = header_of<ifinfomsg>(payload, "link");
  if (!header) return header.error();
  Link out;
  out.ifindex = header->ifi_index;
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
      case kPermanentAddress: out.permanent = hex_digits(as_text(attr.value), ":"); break;
      case kParentDevName: out.parent = attr.text(); break;
      case kPropertyList:
        for (const Attr& property : parse_attributes(attr.value))
          if (property.type == kAlternativeName) out.altnames.push_back(property.text());
        break;
      case IFLA_LINKINFO: take_link_info(attr.value, out); break;
      default: break;
    }
  }
  return out;
}

Result<std::vector<Link>> links(Netlink& route) {
  return dump<ifinfomsg, Link>(route, RTM_GETLINK, RTM_NEWLINK, "links", parse_link);
}

Result<Link> link(Netlink& route, const std::string& netdev) {
  return ask(route, RTM_GETLINK, RTM_NEWLINK, request(netdev), netdev + ": read link", parse_link);
}

// RTM_SETLINK, not RTM_NEWLINK: it never creates a device of that name.
Result<void> set_mtu(Netlink& route, const std::string& netdev, uint32_t mtu) {
  return request_change(route, RTM_SETLINK, request(netdev).u32(IFLA_MTU, mtu), netdev + ": set mtu");
}

Result<std::optional<IpAddress>> parse_address(View8 payload) {
  auto header = header_of<ifaddrmsg>(payload, "address");
  if (!header) return header.error();
  const auto attributes = parse_attributes(payload, sizeof(ifaddrmsg));
  // Of a point-to-point link IFA_ADDRESS is the other end; IPv6 has no IFA_LOCAL elsewhere.
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
  if (const Attr* several = find(attributes, RTA_MULTIPATH)) out.hops = multipath(header->rtm_family, several->value);
  if (const auto ifindex = value_of<uint32_t>(attributes, RTA_OIF))
    out.hops.push_back({static_cast<int>(*ifindex), gateway_of(header->rtm_family, attributes)});
  return std::optional<IpRoute>(std::move(out));
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
    if (attr.type == FRA_PRIORITY) out.rule.priority = attr.u32().value_or(0);
    else if (attr.type == FRA_TABLE) out.rule.table = attr.u32().value_or(out.rule.table);
    else if (attr.type == FRA_OIFNAME) out.rule.device = attr.text();
    else if (attr.type == FRA_SRC) out.rule.source = ip_of(header->family, &attr);
    else if (attr.type == FRA_L3MDEV)
      out.narrow = out.narrow || attr.u8() != uint8_t{0};  // the table of whatever VRF it is
    else if (attr.type == FRA_IIFNAME) out.narrow = out.narrow || attr.text() != "lo";  // "lo": what this host sends
    else if (attr.type == FRA_FWMARK) out.narrow = out.narrow || attr.u32() != 0U;
    else if (attr.type == FRA_IP_PROTO || attr.type == FRA_SPORT_RANGE || attr.type == FRA_DPORT_RANGE)
      out.narrow = true;
  }
  if (out.rule.source) out.rule.source_prefix = header->src_len;
  return std::optional<IpRule>(std::move(out));
}

Result<std::optional<IpNeighbor>> parse_neighbor(View8 payload) {
  auto header = header_of<ndmsg>(payload, "neighbor");
  if (!header) return header.error();
  const auto ip = ip_of(header->ndm_family, find(parse_attributes(payload, sizeof(ndmsg)), NDA_DST));
  if (!ip) return std::optional<IpNeighbor>();
  return std::optional<IpNeighbor>(IpNeighbor{header->ndm_ifindex, *ip, header->ndm_state});
}

std::string neighbor_state_text(uint16_t state) {
  static constexpr std::array<std::string_view, 8> kNames{"INCOMPLETE", "REACHABLE", "STALE", "DELAY",
                                                          "PROBE",      "FAILED",    "NOARP", "PERMANENT"};
  const auto bit = static_cast<size_t>(std::countr_zero(state));  // NUD_*, linux/neighbour.h
  return std::has_single_bit(state) && bit < kNames.size() ? std::string(kNames[bit])
                                                           : "state " + std::to_string(state);
}

Result<std::vector<IpAddress>> addresses(Netlink& route) {
  return dump<ifaddrmsg, IpAddress>(route, RTM_GETADDR, RTM_NEWADDR, "addresses", parse_address);
}
Result<std::vector<IpRoute>> routes(Netlink& route) {
  return dump<rtmsg, IpRoute>(route, RTM_GETROUTE, RTM_NEWROUTE, "routes", parse_route);
}
Result<std::vector<IpRule>> rules(Netlink& route) {
  return dump<fib_rule_hdr, IpRule>(route, RTM_GETRULE, RTM_NEWRULE, "routing rules", parse_rule);
}
Result<std::vector<IpNeighbor>> neighbors(Netlink& route) {
  return dump<ndmsg, IpNeighbor>(route, RTM_GETNEIGH, RTM_NEWNEIGH, "neighbors", parse_neighbor);
}

}  // namespace fabric::rtnl
