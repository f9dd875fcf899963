// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/ethtool_settings.h"

#include <linux/ethtool.h>

#include <array>

#include "kernel/netlink/ethtool_message.h"

namespace fabric::ethtool {
namespace {

std::optional<Amount> amount(const std::vector<Attr>& attributes, uint16_t now, uint16_t max) {
  const Attr* have = find(attributes, now);
  const Attr* most = find(attributes, max);
  if (have == nullptr || most == nullptr || !have->u32() || !most->u32()) return std::nullopt;
  return Amount{*have->u32(), *most->u32()};
}

// Names of the link modes that stand for FEC (net/ethtool/common.c link_mode_names). Auto is an attribute of its own.
struct FecName {
  std::string_view name;
  uint8_t bit;
};
constexpr std::array kFecNames{FecName{"None", ETHTOOL_FEC_OFF}, FecName{"RS", ETHTOOL_FEC_RS},
                               FecName{"BASER", ETHTOOL_FEC_BASER}, FecName{"LLRS", ETHTOOL_FEC_LLRS}};

}  // namespace

Rings parse_rings(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  return {amount(attributes, ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX),
          amount(attributes, ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX)};
}

Result<Rings> get_rings(Netlink& generic, const Family& family, const std::string& netdev) {
  auto reply = ask(generic, family, ETHTOOL_MSG_RINGS_GET, netdev, "read rings");
  if (!reply) return reply.error();
  return parse_rings(reply->payload);
}

Result<void> set_rings(Netlink& generic, const Family& family, const std::string& netdev, std::optional<uint32_t> rx,
                       std::optional<uint32_t> tx) {
  auto message = request(ETHTOOL_MSG_RINGS_SET, netdev);
  if (rx) message.u32(ETHTOOL_A_RINGS_RX, *rx);
  if (tx) message.u32(ETHTOOL_A_RINGS_TX, *tx);
  return tell(generic, family, message, netdev, "set rings");
}

std::optional<Amount> parse_channels(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  return amount(attributes, ETHTOOL_A_CHANNELS_COMBINED_COUNT, ETHTOOL_A_CHANNELS_COMBINED_MAX);
}

Result<std::optional<Amount>> get_channels(Netlink& generic, const Family& family, const std::string& netdev) {
  auto reply = ask(generic, family, ETHTOOL_MSG_CHANNELS_GET, netdev, "read channels");
  if (!reply) return reply.error();
  return parse_channels(reply->payload);
}

Result<void> set_channels(Netlink& generic, const Family& family, const std::string& netdev, uint32_t combined) {
  auto message = request(ETHTOOL_MSG_CHANNELS_SET, netdev);
  message.u32(ETHTOOL_A_CHANNELS_COMBINED_COUNT, combined);
  return tell(generic, family, message, netdev, "set channels");
}

std::optional<Fec> parse_fec(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const Attr* modes = find(attributes, ETHTOOL_A_FEC_MODES);
  if (modes == nullptr) return std::nullopt;
  unsigned bits = 0;
  for (const auto& [name, on] : parse_bitset(modes->value))
    for (const FecName& known : kFecNames)
      if (on && known.name == name) bits |= known.bit;
  const Attr* automatic = find(attributes, ETHTOOL_A_FEC_AUTO);
  if (automatic != nullptr && automatic->u8().value_or(0) != 0) bits |= ETHTOOL_FEC_AUTO;
  return Fec{static_cast<uint8_t>(bits)};
}

Result<Fec> get_fec(Netlink& generic, const Family& family, const std::string& netdev) {
  auto reply = ask(generic, family, ETHTOOL_MSG_FEC_GET, netdev, "read fec");
  if (!reply) return reply.error();
  if (auto fec = parse_fec(reply->payload)) return *fec;
  return error(EPROTO, netdev + ": read fec: no answer in the kernel's reply");
}

// A list ("nomask"): bits that are not in it are cleared.
Result<void> set_fec(Netlink& generic, const Family& family, const std::string& netdev, Fec fec) {
  AttrWriter bits;
  for (const FecName& known : kFecNames)
    if ((fec.bits & known.bit) != 0)
      bits.nest(ETHTOOL_A_BITSET_BITS_BIT, AttrWriter().text(ETHTOOL_A_BITSET_BIT_NAME, known.name));
  AttrWriter modes;
  modes.flag(ETHTOOL_A_BITSET_NOMASK).nest(ETHTOOL_A_BITSET_BITS, bits);
  auto message = request(ETHTOOL_MSG_FEC_SET, netdev);
  message.nest(ETHTOOL_A_FEC_MODES, modes).u8(ETHTOOL_A_FEC_AUTO, (fec.bits & ETHTOOL_FEC_AUTO) != 0);
  return tell(generic, family, message, netdev, "set fec");
}

}  // namespace fabric::ethtool
