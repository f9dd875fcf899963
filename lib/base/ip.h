// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace fabric {

// An IPv4 address has its four bytes first.
struct Ip {
  bool v6 = false;
  std::array<uint8_t, 16> bytes{};
  auto operator<=>(const Ip&) const = default;
};

// Text as by inet_ntop(3), and back. nullopt: not a numeric address.
std::string to_text(const Ip& ip);
std::optional<Ip> parse_ip(const std::string& text);
// The GID of the address, as sysfs writes it: IPv4 as ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2), eight groups of four
// digits.
std::string gid_text(const Ip& ip);
bool in_subnet(const Ip& ip, const Ip& network, unsigned prefix);
// The address with all but the first `prefix` bits zero.
Ip network_of(const Ip& ip, unsigned prefix);

}  // namespace fabric
