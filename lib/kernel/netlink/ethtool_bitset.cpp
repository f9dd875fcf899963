// SPDX-License-Identifier: Apache-2.0
// What ethtool messages name in bitsets: private flags and FEC modes (net/ethtool/{bitset,privflags,fec}.c of
// Linux 6.12).
#include "kernel/netlink/ethtool_message.h"

namespace fabric::ethtool {

std::vector<std::pair<std::string, bool>> parse_bitset(View8 bitset) {
  std::vector<std::pair<std::string, bool>> out;
  auto attributes = parse_attributes(bitset);
  const bool only_set = find(attributes, ETHTOOL_A_BITSET_NOMASK) != nullptr;
  const Attr* bits = find(attributes, ETHTOOL_A_BITSET_BITS);
  if (bits == nullptr) return out;
  for (const Attr& bit : parse_attributes(bits->value)) {
    auto members = parse_attributes(bit.value);
    const Attr* name = find(members, ETHTOOL_A_BITSET_BIT_NAME);
    if (name != nullptr)
      out.emplace_back(name->text(), only_set || find(members, ETHTOOL_A_BITSET_BIT_VALUE) != nullptr);
  }
  return out;
}

std::vector<std::pair<std::string, bool>> parse_private_flags(View8 payload) {
  auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const Attr* flags = find(attributes, ETHTOOL_A_PRIVFLAGS_FLAGS);
  return flags != nullptr ? parse_bitset(flags->value) : std::vector<std::pair<std::string, bool>>{};
}

Result<std::vector<std::pair<std::string, bool>>> get_private_flags(Netlink& generic, const Family& family,
                                                                    const std::string& netdev) {
  auto reply = ask(generic, family, ETHTOOL_MSG_PRIVFLAGS_GET, netdev, "read private flags");
  if (!reply) return reply.error();
  return parse_private_flags(reply->payload);
}

Result<void> set_private_flag(Netlink& generic, const Family& family, const std::string& netdev, std::string_view name,
                              bool on) {
  AttrWriter bit;
  bit.text(ETHTOOL_A_BITSET_BIT_NAME, name);
  if (on) bit.flag(ETHTOOL_A_BITSET_BIT_VALUE);
  AttrWriter bitset;
  bitset.nest(ETHTOOL_A_BITSET_BITS, AttrWriter().nest(ETHTOOL_A_BITSET_BITS_BIT, bit));
  auto message = request(ETHTOOL_MSG_PRIVFLAGS_SET, netdev);
  message.nest(ETHTOOL_A_PRIVFLAGS_FLAGS, bitset);
  return tell(generic, family, message, netdev, "set private flag " + std::string(name));
}

}  // namespace fabric::ethtool
