// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace fabric {

// The four bytes of an IPv4 address are the first ones.
struct Ip {
  bool v6 = false;
  std::array<uint8_t, 16> bytes{};
  auto operator<=>(const Ip&) const = default;
};

// Text as by inet_ntop(3), and its inverse. nullopt: not a numeric address.
std::string to_text(const Ip& ip);
std::optional<Ip> parse_ip(const std::string& text);
// The GID of the address in the notation of sysfs, eight groups of four digits. IPv4 is ::ffff:a.b.c.d (RFC 4291
// section 2.5.5.2).
std::string gid_text(const Ip& ip);
// fe80::/10: the same address may be on several interfaces.
constexpr bool is_link_local(const Ip& ip) { return ip.v6 && ip.bytes[0] == 0xfe && (ip.bytes[1] & 0xc0U) == 0x80; }
bool in_subnet(const Ip& ip, const Ip& network, unsigned prefix);
// The address with all bits zero except the first `prefix`.
Ip network_of(const Ip& ip, unsigned prefix);

}  // namespace fabric
