// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/ethtool.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

namespace fabric::ethtool {
namespace {

// Like get(). EPROTO: `parse` finds nothing in the reply.
template <class Parsed>
Result<Parsed> get_present(Netlink& generic, const Family& family, uint8_t command, const std::string& netdev,
                           const char* act, std::optional<Parsed> (*parse)(View8)) {
  const auto parsed = get(generic, family, command, netdev, act, parse);
  if (!parsed) return parsed.error();
  if (!*parsed) return error(EPROTO, netdev + ": " + act + ": no answer in the kernel's reply");
  return **parsed;
}

Result<void> change(Netlink& generic, const Family& family, const AttrWriter& message, const NetdevId& netdev,
                    const std::string& act) {
  if (netdev.ifindex == 0) return error(EINVAL, netdev.name + ": not written: its interface index is unknown");
  return request_change(generic, family.id, message, netdev.name + ": " + act);
}

// The named bits of a verbose bitset (net/ethtool/bitset.c ethnl_put_bitset32): with a mask all bits and whether each
// is on, without a mask ("nomask") the bits that are on.
std::vector<std::pair<std::string, bool>> parse_bitset(View8 bitset) {
  std::vector<std::pair<std::string, bool>> out;
  auto attributes = parse_attributes(bitset);
  const bool only_set = find(attributes, ETHTOOL_A_BITSET_NOMASK) != nullptr;
  for (const Attr& bit : parse_nested(attributes, ETHTOOL_A_BITSET_BITS)) {
    auto members = parse_attributes(bit.value);
    const Attr* name = find(members, ETHTOOL_A_BITSET_BIT_NAME);
    if (name != nullptr)
      out.emplace_back(name->text(), only_set || find(members, ETHTOOL_A_BITSET_BIT_VALUE) != nullptr);
  }
  return out;
}

std::optional<Amount> amount(const std::vector<Attr>& attributes, uint16_t now, uint16_t max) {
  const auto have = value_of<uint32_t>(attributes, now), most = value_of<uint32_t>(attributes, max);
  if (!have || !most) return std::nullopt;
  return Amount{*have, *most};
}

// Names of the link modes that stand for FEC (net/ethtool/common.c link_mode_names). Auto is an attribute of its own.
struct FecName {
  std::string_view name;
  uint8_t bit;
};
constexpr FecName kFecNames[] = {
    {"None", ETHTOOL_FEC_OFF}, {"RS", ETHTOOL_FEC_RS}, {"BASER", ETHTOOL_FEC_BASER}, {"LLRS", ETHTOOL_FEC_LLRS}};

bool is_on(const std::vector<Attr>& attributes, uint16_t type) {
  return value_of<uint8_t>(attributes, type).value_or(0) != 0;
}

}  // namespace

AttrWriter request(uint8_t command, const std::string& netdev, uint32_t flags) {
  AttrWriter device;
  device.text(ETHTOOL_A_HEADER_DEV_NAME, netdev);
  if (flags != 0) device.u32(ETHTOOL_A_HEADER_FLAGS, flags);
  AttrWriter out;
  out.header(genlmsghdr{command, ETHTOOL_GENL_VERSION, 0}).nest(ETHTOOL_A_PAUSE_HEADER, device);
  return out;
}

AttrWriter request(uint8_t command, const NetdevId& netdev) {
  AttrWriter device;
  device.u32(ETHTOOL_A_HEADER_DEV_INDEX, static_cast<uint32_t>(netdev.ifindex))
      .text(ETHTOOL_A_HEADER_DEV_NAME, netdev.name);
  AttrWriter out;
  out.header(genlmsghdr{command, ETHTOOL_GENL_VERSION, 0}).nest(ETHTOOL_A_PAUSE_HEADER, device);
  return out;
}

Result<Family> parse_family(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const auto id = value_of<uint16_t>(attributes, CTRL_ATTR_FAMILY_ID);
  if (!id) return error(EBADMSG, "generic netlink: a family without its id");
  Family family{*id, 0};
  for (const Attr& group : parse_nested(attributes, CTRL_ATTR_MCAST_GROUPS)) {  // a list: types are 1, 2, ...
    auto members = parse_attributes(group.value);
    if (text_of(members, CTRL_ATTR_MCAST_GRP_NAME) == ETHTOOL_MCGRP_MONITOR_NAME)
      family.monitor_group = value_of<uint32_t>(members, CTRL_ATTR_MCAST_GRP_ID).value_or(0);
  }
  return family;
}

Result<Family> resolve(Netlink& generic, const char* name) {
  AttrWriter request;
  request.header(genlmsghdr{CTRL_CMD_GETFAMILY, 1, 0}).text(CTRL_ATTR_FAMILY_NAME, name);
  return ask(generic, GENL_ID_CTRL, GENL_ID_CTRL, request, std::string("resolve ") + name, parse_family);
}

std::optional<Pause> parse_pause(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  if (find(attributes, ETHTOOL_A_PAUSE_RX) == nullptr || find(attributes, ETHTOOL_A_PAUSE_TX) == nullptr)
    return std::nullopt;
  return Pause{is_on(attributes, ETHTOOL_A_PAUSE_RX), is_on(attributes, ETHTOOL_A_PAUSE_TX)};
}

Result<Pause> get_pause(Netlink& generic, const Family& family, const std::string& netdev) {
  return get_present(generic, family, ETHTOOL_MSG_PAUSE_GET, netdev, "read pause", parse_pause);
}

Result<void> set_pause(Netlink& generic, const Family& family, const NetdevId& netdev, const Pause& pause) {
  auto message = request(ETHTOOL_MSG_PAUSE_SET, netdev);
  message.u8(ETHTOOL_A_PAUSE_RX, pause.rx).u8(ETHTOOL_A_PAUSE_TX, pause.tx);
  return change(generic, family, message, netdev, "set pause");
}

std::vector<std::pair<std::string, bool>> parse_private_flags(View8 payload) {
  const auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const Attr* flags = find(attributes, ETHTOOL_A_PRIVFLAGS_FLAGS);
  if (flags == nullptr) return {};
  return parse_bitset(flags->value);
}

Result<std::vector<std::pair<std::string, bool>>> get_private_flags(Netlink& generic, const Family& family,
                                                                    const std::string& netdev) {
  return get(generic, family, ETHTOOL_MSG_PRIVFLAGS_GET, netdev, "read private flags", parse_private_flags);
}

Result<void> set_private_flag(Netlink& generic, const Family& family, const NetdevId& netdev, std::string_view name,
                              bool on) {
  AttrWriter bit;
  bit.text(ETHTOOL_A_BITSET_BIT_NAME, name);
  if (on) bit.flag(ETHTOOL_A_BITSET_BIT_VALUE);
  AttrWriter bitset;
  bitset.nest(ETHTOOL_A_BITSET_BITS, AttrWriter().nest(ETHTOOL_A_BITSET_BITS_BIT, bit));
  auto message = request(ETHTOOL_MSG_PRIVFLAGS_SET, netdev);
  message.nest(ETHTOOL_A_PRIVFLAGS_FLAGS, bitset);
  return change(generic, family, message, netdev, "set private flag " + std::string(name));
}

Rings parse_rings(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  return {amount(attributes, ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX),
          amount(attributes, ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX)};
}

Result<Rings> get_rings(Netlink& generic, const Family& family, const std::string& netdev) {
  return get(generic, family, ETHTOOL_MSG_RINGS_GET, netdev, "read rings", parse_rings);
}

Result<void> set_rings(Netlink& generic, const Family& family, const NetdevId& netdev, std::optional<uint32_t> rx,
                       std::optional<uint32_t> tx) {
  auto message = request(ETHTOOL_MSG_RINGS_SET, netdev);
  if (rx) message.u32(ETHTOOL_A_RINGS_RX, *rx);
  if (tx) message.u32(ETHTOOL_A_RINGS_TX, *tx);
  return change(generic, family, message, netdev, "set rings");
}

std::optional<Amount> parse_channels(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  return amount(attributes, ETHTOOL_A_CHANNELS_COMBINED_COUNT, ETHTOOL_A_CHANNELS_COMBINED_MAX);
}

Result<std::optional<Amount>> get_channels(Netlink& generic, const Family& family, const std::string& netdev) {
  return get(generic, family, ETHTOOL_MSG_CHANNELS_GET, netdev, "read channels", parse_channels);
}

Result<void> set_channels(Netlink& generic, const Family& family, const NetdevId& netdev, uint32_t combined) {
  auto message = request(ETHTOOL_MSG_CHANNELS_SET, netdev);
  message.u32(ETHTOOL_A_CHANNELS_COMBINED_COUNT, combined);
  return change(generic, family, message, netdev, "set channels");
}

std::optional<Fec> parse_fec(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const Attr* modes = find(attributes, ETHTOOL_A_FEC_MODES);
  if (modes == nullptr) return std::nullopt;
  unsigned bits = 0;
  for (const auto& [name, on] : parse_bitset(modes->value))
    for (const FecName& known : kFecNames)
      if (on && known.name == name) bits |= known.bit;
  if (is_on(attributes, ETHTOOL_A_FEC_AUTO)) bits |= ETHTOOL_FEC_AUTO;
  return Fec{static_cast<uint8_t>(bits)};
}

Result<Fec> get_fec(Netlink& generic, const Family& family, const std::string& netdev) {
  return get_present(generic, family, ETHTOOL_MSG_FEC_GET, netdev, "read fec", parse_fec);
}

// Sends a list ("nomask"): bits that are not in the list are cleared.
Result<void> set_fec(Netlink& generic, const Family& family, const NetdevId& netdev, Fec fec) {
  AttrWriter bits;
  for (const FecName& known : kFecNames)
    if ((fec.bits & known.bit) != 0)
      bits.nest(ETHTOOL_A_BITSET_BITS_BIT, AttrWriter().text(ETHTOOL_A_BITSET_BIT_NAME, known.name));
  AttrWriter modes;
  modes.flag(ETHTOOL_A_BITSET_NOMASK).nest(ETHTOOL_A_BITSET_BITS, bits);
  auto message = request(ETHTOOL_MSG_FEC_SET, netdev);
  message.nest(ETHTOOL_A_FEC_MODES, modes).u8(ETHTOOL_A_FEC_AUTO, (fec.bits & ETHTOOL_FEC_AUTO) != 0);
  return change(generic, family, message, netdev, "set fec");
}

}  // namespace fabric::ethtool
