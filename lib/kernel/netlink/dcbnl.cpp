// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/dcbnl.h"

#include <linux/rtnetlink.h>

namespace fabric::dcbnl {
namespace {

AttrWriter request(uint8_t command, const std::string& netdev) {
  return AttrWriter().header(dcbmsg{0, command, 0}).text(DCB_ATTR_IFNAME, netdev);
}

// Sends a SET. Returns the u8 in the reply, sign-extended. ESTALE: another device may have got it.
Result<int> answer_to(Netlink& route, const NetdevId& netdev, const AttrWriter& message, uint16_t attribute,
                      const std::string& subject) {
  if (auto same = check_name(route, netdev); !same) return same.error();
  auto replies = route.talk(RTM_SETDCB, 0, message.data());
  if (auto kept = check_name_kept(route, netdev); !kept) return kept.error();
  if (!replies) return error_about(subject, replies.error());
  for (const Message& reply : *replies) {
    if (reply.type != RTM_SETDCB) continue;
    auto attributes = parse_attributes(reply.payload, sizeof(dcbmsg));
    if (const Attr* attr = find(attributes, attribute); attr != nullptr && attr->value.size() == 1)
      return static_cast<int8_t>(*attr->u8());
  }
  return error(EPROTO, subject + ": no result in the kernel's reply");
}

// The driver's answer, which is not negative.
Result<int> ask_ieee(Netlink& route, uint8_t command, const NetdevId& netdev, std::string_view act,
                     const AttrWriter& ieee) {
  const std::string subject = std::string(netdev.name).append(": ").append(act);
  AttrWriter message = request(command, netdev.name);
  // The attribute has no NLA_F_NESTED, as in the kernel's own messages and those of iproute2's dcb.
  message.bytes(DCB_ATTR_IEEE, ieee.data());
  auto code = answer_to(route, netdev, message, DCB_ATTR_IEEE, subject);
  if (code && *code < 0) return error(-*code, subject);
  return code;
}

// Only negative answers are refusals: ice also answers 1 and 2 after success.
Result<void> change(Netlink& route, uint8_t command, const NetdevId& netdev, std::string_view act,
                    const AttrWriter& ieee) {
  auto answer = ask_ieee(route, command, netdev, act, ieee);
  if (!answer) return answer.error();
  return {};
}

// The attribute type of a table entry: selectors of 802.1Q (1..5), or the kernel's own (PCP).
uint16_t entry_type(uint8_t selector) {
  if (selector <= IEEE_8021QAZ_APP_SEL_DSCP) return DCB_ATTR_IEEE_APP;
  return kAttrDcbApp;
}

AttrWriter table(uint16_t type, const AppTable& entries) {
  AttrWriter list;
  for (const dcb_app& entry : entries) list.pod(entry_type(entry.selector), entry);
  AttrWriter out;
  out.bytes(type, list.data());
  return out;
}

template <class Entry>
std::vector<Entry> entries(View8 nest) {
  std::vector<Entry> out;
  for (const Attr& attr : parse_attributes(nest)) {
    if (attr.type != DCB_ATTR_IEEE_APP && attr.type != kAttrDcbApp) continue;
    if (auto entry = attr.pod<Entry>()) out.push_back(*entry);
  }
  return out;
}

}  // namespace

Result<IeeeConfig> parse_ieee_config(View8 payload) {
  if (payload.size() < sizeof(dcbmsg)) return error(EBADMSG, "dcbnl: message shorter than its header");
  IeeeConfig out;
  auto top = parse_attributes(payload, sizeof(dcbmsg));
  out.dcbx = value_of<uint8_t>(top, DCB_ATTR_DCBX);
  for (const Attr& attr : parse_nested(top, DCB_ATTR_IEEE)) {
    switch (attr.type) {
      case DCB_ATTR_IEEE_ETS: out.ets = attr.pod<ieee_ets>(); break;
      case DCB_ATTR_IEEE_PFC: out.pfc = attr.pod<ieee_pfc>(); break;
      case DCB_ATTR_IEEE_APP_TABLE: out.app = entries<dcb_app>(attr.value); break;
      case DCB_ATTR_IEEE_MAXRATE: out.maxrate = attr.pod<ieee_maxrate>(); break;
      case DCB_ATTR_DCB_BUFFER: out.buffer = attr.pod<dcbnl_buffer>(); break;
      case kAttrAppTrustTable: out.trust = entries<uint8_t>(attr.value); break;
      case DCB_ATTR_IEEE_PEER_ETS: out.peer_ets = attr.pod<ieee_ets>(); break;
      case DCB_ATTR_IEEE_PEER_PFC: out.peer_pfc = attr.pod<ieee_pfc>(); break;
      // Its DCB_ATTR_IEEE_APP_UNSPEC has flags of the whole TLV and is not an entry (dcbnl_build_peer_app).
      case DCB_ATTR_IEEE_PEER_APP: out.peer_app = entries<dcb_app>(attr.value); break;
      default: break;
    }
  }
  return out;
}

std::string message_netdev(View8 payload) {
  return text_of(parse_attributes(payload, sizeof(dcbmsg)), DCB_ATTR_IFNAME);
}

Result<IeeeConfig> get(Netlink& route, const std::string& netdev) {
  return ask(route, RTM_GETDCB, RTM_GETDCB, request(DCB_CMD_IEEE_GET, netdev), netdev + ": read dcb",
             parse_ieee_config);
}

Result<AppTable> get_app(Netlink& route, const std::string& netdev) {
  auto now = get(route, netdev);
  if (!now) return now.error();
  return now->app.value_or(AppTable{});
}

Result<void> set_ets(Netlink& route, const NetdevId& netdev, const ieee_ets& ets) {
  return change(route, DCB_CMD_IEEE_SET, netdev, "set ets", AttrWriter().pod(DCB_ATTR_IEEE_ETS, ets));
}

Result<void> set_ets(Netlink& route, const NetdevId& netdev, const ieee_ets& ets, const ieee_pfc& pfc) {
  return change(route, DCB_CMD_IEEE_SET, netdev, "set ets and pfc",
                AttrWriter().pod(DCB_ATTR_IEEE_ETS, ets).pod(DCB_ATTR_IEEE_PFC, pfc));
}

Result<void> set_pfc(Netlink& route, const NetdevId& netdev, const ieee_pfc& pfc) {
  return change(route, DCB_CMD_IEEE_SET, netdev, "set pfc", AttrWriter().pod(DCB_ATTR_IEEE_PFC, pfc));
}

Result<int> add_app(Netlink& route, const NetdevId& netdev, const dcb_app& entry) {
  return ask_ieee(route, DCB_CMD_IEEE_SET, netdev, "set app", table(DCB_ATTR_IEEE_APP_TABLE, {entry}));
}

Result<void> set_app(Netlink& route, const NetdevId& netdev, const AppTable& entries) {
  return change(route, DCB_CMD_IEEE_SET, netdev, "set app", table(DCB_ATTR_IEEE_APP_TABLE, entries));
}

Result<void> del_app(Netlink& route, const NetdevId& netdev, const AppTable& entries) {
  return change(route, DCB_CMD_IEEE_DEL, netdev, "delete app", table(DCB_ATTR_IEEE_APP_TABLE, entries));
}

Result<void> set_trust(Netlink& route, const NetdevId& netdev, const std::vector<uint8_t>& selectors) {
  AttrWriter list;
  for (uint8_t selector : selectors) list.u8(entry_type(selector), selector);
  return change(route, DCB_CMD_IEEE_SET, netdev, "set trust", AttrWriter().nest(kAttrAppTrustTable, list));
}

Result<void> set_maxrate(Netlink& route, const NetdevId& netdev, const ieee_maxrate& rate) {
  return change(route, DCB_CMD_IEEE_SET, netdev, "set maxrate", AttrWriter().pod(DCB_ATTR_IEEE_MAXRATE, rate));
}

Result<void> set_buffer(Netlink& route, const NetdevId& netdev, const dcbnl_buffer& buffer) {
  return change(route, DCB_CMD_IEEE_SET, netdev, "set buffer", AttrWriter().pod(DCB_ATTR_DCB_BUFFER, buffer));
}

Result<void> set_all(Netlink& route, const NetdevId& netdev) {
  const auto message = request(DCB_CMD_SET_ALL, netdev.name).u8(DCB_ATTR_SET_ALL, 0);
  const std::string subject = netdev.name + ": set all dcb";
  auto answer = answer_to(route, netdev, message, DCB_ATTR_SET_ALL, subject);
  if (!answer) return answer.error();
  // The driver's int in a byte: a negative errno, or 1.
  if (*answer < 0) return error(-*answer, subject);
  if (*answer > 0) return error(EIO, subject);
  return {};
}

Result<void> set_dcbx(Netlink& route, const NetdevId& netdev, uint8_t mode) {
  const auto message = request(DCB_CMD_SDCBX, netdev.name).u8(DCB_ATTR_DCBX, mode);
  const std::string subject = netdev.name + ": set dcbx";
  auto answer = answer_to(route, netdev, message, DCB_ATTR_DCBX, subject);
  if (!answer) return answer.error();
  if (*answer != 0) return error(EINVAL, subject + ": the driver refused the mode");
  return {};
}

Result<PrioSet> cee_pfc(Netlink& route, const std::string& netdev) {
  AttrWriter request = dcbnl::request(DCB_CMD_PFC_GCFG, netdev);
  request.bytes(DCB_ATTR_PFC_CFG, AttrWriter().flag(DCB_PFC_UP_ATTR_ALL).data());
  const auto reply = ask(route, RTM_GETDCB, RTM_GETDCB, request, netdev + ": read CEE PFC");
  if (!reply) return reply.error();
  const auto attributes = parse_attributes(reply->payload, sizeof(dcbmsg));
  const Attr* nest = find(attributes, DCB_ATTR_PFC_CFG);
  if (nest == nullptr) return error(EPROTO, netdev + ": CEE PFC: not in the kernel's reply");
  PrioSet on;
  for (const Attr& each : parse_attributes(nest->value))
    if (each.type >= DCB_PFC_UP_ATTR_0 && each.type <= DCB_PFC_UP_ATTR_7 && each.u8().value_or(0) != 0)
      on.bits = static_cast<uint8_t>(on.bits | 1U << (each.type - DCB_PFC_UP_ATTR_0));
  return on;
}

}  // namespace fabric::dcbnl
