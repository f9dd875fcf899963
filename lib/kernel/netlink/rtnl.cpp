// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/rtnl.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace fabric::rtnl {
namespace {

// Newer than some headers we build with (include/uapi/linux/if_link.h; IFLA_PARENT_DEV_NAME since 5.14).
constexpr uint16_t kParentDevName = 56;
constexpr uint16_t kPermanentAddress = 54;                     // IFLA_PERM_ADDRESS: since 5.6
constexpr uint16_t kPropertyList = 52, kAlternativeName = 53;  // IFLA_PROP_LIST, IFLA_ALT_IFNAME: since 5.5

Bytes request(const std::string& netdev) {
  ifinfomsg header{};
  AttrWriter out;
  out.header(header);
  if (!netdev.empty()) out.text(IFLA_IFNAME, netdev);
  // Per-VF data and statistics are left out unless requested (RTEXT_FILTER_VF).
  return out.data();
}

std::vector<std::string> altnames_in(View8 properties) {
  std::vector<std::string> names;
  for (const Attr& attr : parse_attributes(properties))
    if (attr.type == kAlternativeName) names.push_back(attr.text());
  return names;
}

// Also the table of a VRF (drivers/net/vrf.c, vrf_fillinfo).
void take_link_info(View8 linkinfo, Link& out) {
  const auto attributes = parse_attributes(linkinfo);
  const Attr* kind = find(attributes, IFLA_INFO_KIND);
  out.kind = kind != nullptr ? kind->text() : std::string();
  const Attr* data = out.kind == "vrf" ? find(attributes, IFLA_INFO_DATA) : nullptr;
  if (data == nullptr) return;
  const auto details = parse_attributes(data->value);
  if (const Attr* table = find(details, IFLA_VRF_TABLE)) out.vrf_table = table->u32().value_or(0);
}

std::string address_text(View8 bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "%s%02x", out.empty() ? "" : ":", std::to_integer<unsigned>(byte));
    out += digits;
  }
  return out;
}

}  // namespace

Result<Link> parse_link(View8 payload) {
  if (payload.size() < sizeof(ifinfomsg)) return error(EBADMSG, "rtnetlink: link message shorter than its header");
  ifinfomsg header;
  std::memcpy(&header, payload.data(), sizeof header);
  Link out;
  out.ifindex = header.ifi_index;
  for (const Attr& attr : parse_attributes(payload, sizeof header)) {
    switch (attr.type) {
      case IFLA_IFNAME: out.name = attr.text(); break;
      case IFLA_MTU: out.mtu = attr.u32(); break;
      case IFLA_MIN_MTU: out.min_mtu = attr.u32(); break;
      case IFLA_MAX_MTU: out.max_mtu = attr.u32(); break;
      case IFLA_CARRIER:
        if (auto carrier = attr.u8()) out.carrier = *carrier != 0;
        break;
      case IFLA_CARRIER_DOWN_COUNT: out.carrier_down_count = attr.u32(); break;
      case IFLA_MASTER:
        if (auto master = attr.u32()) out.master = static_cast<int>(*master);
        break;
      case kPermanentAddress: out.permanent = address_text(attr.value); break;
      case kParentDevName: out.parent = attr.text(); break;
      case kPropertyList: out.altnames = altnames_in(attr.value); break;
      case IFLA_LINKINFO: take_link_info(attr.value, out); break;
      default: break;
    }
  }
  return out;
}

Result<std::vector<Link>> links(Netlink& route) {
  auto replies = route.talk(RTM_GETLINK, NLM_F_DUMP, request({}));
  if (!replies) return error(replies.error().code, "list links: " + replies.error().what);
  std::vector<Link> out;
  for (const Message& reply : *replies) {
    if (reply.type != RTM_NEWLINK) continue;
    auto link = parse_link(reply.payload);
    if (!link) return link.error();
    out.push_back(std::move(link).value());
  }
  return out;
}

Result<Link> link(Netlink& route, const std::string& netdev) {
  auto replies = route.talk(RTM_GETLINK, 0, request(netdev));
  if (!replies) return error(replies.error().code, netdev + ": read link: " + replies.error().what);
  for (const Message& reply : *replies)
    if (reply.type == RTM_NEWLINK) return parse_link(reply.payload);
  return error(EPROTO, netdev + ": read link: no answer in the kernel's reply");
}

Result<void> set_mtu(Netlink& route, const std::string& netdev, uint32_t mtu) {
  ifinfomsg header{};
  AttrWriter out;
  out.header(header).text(IFLA_IFNAME, netdev).u32(IFLA_MTU, mtu);
  // RTM_SETLINK, not RTM_NEWLINK: it never creates a device of that name.
  auto replies = route.talk(RTM_SETLINK, 0, out.data());
  if (!replies) return error(replies.error().code, netdev + ": set mtu: " + replies.error().what);
  return {};
}

}  // namespace fabric::rtnl
