// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/ethtool.h"

#include "kernel/netlink/ethtool_message.h"

namespace fabric::ethtool {
namespace {

Bytes control_request(const char* family) {
  genlmsghdr header{};
  header.cmd = CTRL_CMD_GETFAMILY;
  header.version = 1;
  AttrWriter out;
  out.header(header).text(CTRL_ATTR_FAMILY_NAME, family);
  return out.data();
}

uint32_t monitor_group_of(View8 groups) {
  for (const Attr& group : parse_attributes(groups)) {  // a list: types are 1, 2, ...
    auto members = parse_attributes(group.value);
    const Attr* name = find(members, CTRL_ATTR_MCAST_GRP_NAME);
    const Attr* id = find(members, CTRL_ATTR_MCAST_GRP_ID);
    if (name != nullptr && id != nullptr && name->text() == ETHTOOL_MCGRP_MONITOR_NAME) return id->u32().value_or(0);
  }
  return 0;
}

bool is_on(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* attr = find(attributes, type);
  return attr != nullptr && attr->u8().value_or(0) != 0;
}

}  // namespace

AttrWriter request(uint8_t command, const std::string& netdev) {
  genlmsghdr header{};
  header.cmd = command;
  header.version = ETHTOOL_GENL_VERSION;
  AttrWriter device;
  device.text(ETHTOOL_A_HEADER_DEV_NAME, netdev);
  AttrWriter out;
  out.header(header).nest(ETHTOOL_A_PAUSE_HEADER, device);
  return out;
}

Error subject(const Error& failure, const std::string& netdev, std::string_view act) {
  return error(failure.code, std::string(netdev).append(": ").append(act).append(": ").append(failure.what));
}

Result<Message> ask(Netlink& generic, const Family& family, uint8_t command, const std::string& netdev,
                    std::string_view act) {
  auto replies = generic.talk(family.id, 0, request(command, netdev).data());
  if (!replies) return subject(replies.error(), netdev, act);
  for (Message& reply : *replies)
    if (reply.type == family.id) return std::move(reply);
  return subject(error(EPROTO, "no answer in the kernel's reply"), netdev, act);
}

Result<void> tell(Netlink& generic, const Family& family, const AttrWriter& message, const std::string& netdev,
                  std::string_view act) {
  auto replies = generic.talk(family.id, 0, message.data());
  if (!replies) return subject(replies.error(), netdev, act);
  return {};
}

Result<Family> parse_family(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const Attr* id = find(attributes, CTRL_ATTR_FAMILY_ID);
  if (id == nullptr || !id->u16()) return error(EBADMSG, "generic netlink: a family without its id");
  Family out;
  out.id = *id->u16();
  if (const Attr* groups = find(attributes, CTRL_ATTR_MCAST_GROUPS))
    out.monitor_group = monitor_group_of(groups->value);
  return out;
}

Result<Family> resolve(Netlink& generic) {
  auto replies = generic.talk(GENL_ID_CTRL, 0, control_request(ETHTOOL_GENL_NAME));
  if (!replies) return error(replies.error().code, "resolve ethtool: " + replies.error().what);
  if (replies->empty()) return error(EPROTO, "resolve ethtool: no answer in the kernel's reply");
  return parse_family(replies->front().payload);
}

std::optional<Pause> parse_pause(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  if (find(attributes, ETHTOOL_A_PAUSE_RX) == nullptr || find(attributes, ETHTOOL_A_PAUSE_TX) == nullptr)
    return std::nullopt;
  return Pause{is_on(attributes, ETHTOOL_A_PAUSE_RX), is_on(attributes, ETHTOOL_A_PAUSE_TX)};
}

Result<Pause> get_pause(Netlink& generic, const Family& family, const std::string& netdev) {
  auto reply = ask(generic, family, ETHTOOL_MSG_PAUSE_GET, netdev, "read pause");
  if (!reply) return reply.error();
  if (auto pause = parse_pause(reply->payload)) return *pause;
  return error(EPROTO, netdev + ": read pause: no answer in the kernel's reply");
}

Result<void> set_pause(Netlink& generic, const Family& family, const std::string& netdev, const Pause& pause) {
  auto message = request(ETHTOOL_MSG_PAUSE_SET, netdev);
  message.u8(ETHTOOL_A_PAUSE_RX, pause.rx).u8(ETHTOOL_A_PAUSE_TX, pause.tx);
  return tell(generic, family, message, netdev, "set pause");
}

}  // namespace fabric::ethtool
