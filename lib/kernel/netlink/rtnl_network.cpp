// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/rtnl_network.h"

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>

namespace fabric::rtnl {
namespace {

constexpr size_t kMostMessages = 65'536;

template <class Header>
Result<Header> header_of(View8 payload, const char* what) {
  if (payload.size() < sizeof(Header))
    return error(EBADMSG, std::string("rtnetlink: ") + what + " message shorter than its header");
  Header header;
  std::memcpy(&header, payload.data(), sizeof header);
  return header;
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

template <class Parsed>
Result<std::vector<Parsed>> dump(Netlink& route, uint16_t ask, uint16_t answer, const Bytes& request, const char* what,
                                 Result<std::optional<Parsed>> (*parse)(View8)) {
  auto replies = route.talk(ask, NLM_F_DUMP, request);
  if (!replies) return error(replies.error().code, std::string("list ") + what + ": " + replies.error().what);
  if (replies->size() > kMostMessages) return error(E2BIG, std::string("list ") + what + ": more than 65,536");
  std::vector<Parsed> out;
  for (const Message& reply : *replies) {
    if (reply.type != answer) continue;
    auto parsed = parse(reply.payload);
    if (!parsed) return parsed.error();
    if (*parsed) out.push_back(std::move(**parsed));
  }
  return out;
}

template <class Header>
Bytes request() {
  return AttrWriter().header(Header{}).data();
}

}  // namespace

Result<std::optional<IpAddress>> parse_address(View8 payload) {
  auto header = header_of<ifaddrmsg>(payload, "address");
  if (!header) return header.error();
  const auto attributes = parse_attributes(payload, sizeof(ifaddrmsg));
  // Of a point-to-point link IFA_ADDRESS is the other end; IPv6 has no IFA_LOCAL elsewhere.
  auto ip = ip_of(header->ifa_family, find(attributes, IFA_LOCAL));
  if (!ip) ip = ip_of(header->ifa_family, find(attributes, IFA_ADDRESS));
  if (!ip) return std::optional<IpAddress>();
  uint32_t flags = header->ifa_flags;
  if (const Attr* all = find(attributes, IFA_FLAGS)) flags = all->u32().value_or(flags);
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
  const Attr* table = find(attributes, RTA_TABLE);
  out.table = table != nullptr ? table->u32().value_or(header->rtm_table) : header->rtm_table;
  out.unicast = header->rtm_type == RTN_UNICAST && out.table != RT_TABLE_LOCAL;
  if (const Attr* several = find(attributes, RTA_MULTIPATH)) out.hops = multipath(header->rtm_family, several->value);
  const Attr* device = find(attributes, RTA_OIF);
  if (const auto ifindex = device != nullptr ? device->u32() : std::nullopt)
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

Result<std::optional<IpNeighbour>> parse_neighbour(View8 payload) {
  auto header = header_of<ndmsg>(payload, "neighbour");
  if (!header) return header.error();
  const auto ip = ip_of(header->ndm_family, find(parse_attributes(payload, sizeof(ndmsg)), NDA_DST));
  if (!ip) return std::optional<IpNeighbour>();
  return std::optional<IpNeighbour>(IpNeighbour{header->ndm_ifindex, *ip, header->ndm_state});
}

std::string neighbour_state_text(uint16_t state) {
  switch (state) {
    case NUD_INCOMPLETE: return "INCOMPLETE";
    case NUD_REACHABLE: return "REACHABLE";
    case NUD_STALE: return "STALE";
    case NUD_DELAY: return "DELAY";
    case NUD_PROBE: return "PROBE";
    case NUD_FAILED: return "FAILED";
    case NUD_NOARP: return "NOARP";
    case NUD_PERMANENT: return "PERMANENT";
    default: return "state " + std::to_string(state);
  }
}

Result<std::vector<IpAddress>> addresses(Netlink& route) {
  return dump(route, RTM_GETADDR, RTM_NEWADDR, request<ifaddrmsg>(), "addresses", parse_address);
}
Result<std::vector<IpRoute>> routes(Netlink& route) {
  return dump(route, RTM_GETROUTE, RTM_NEWROUTE, request<rtmsg>(), "routes", parse_route);
}
Result<std::vector<IpRule>> rules(Netlink& route) {
  return dump(route, RTM_GETRULE, RTM_NEWRULE, request<fib_rule_hdr>(), "routing rules", parse_rule);
}
Result<std::vector<IpNeighbour>> neighbours(Netlink& route) {
  return dump(route, RTM_GETNEIGH, RTM_NEWNEIGH, request<ndmsg>(), "neighbours", parse_neighbour);
}

}  // namespace fabric::rtnl
