// SPDX-License-Identifier: Apache-2.0
#include "base/ip.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/parse.h"

namespace fabric {
namespace {

int family_of(const Ip& ip) { return ip.v6 ? AF_INET6 : AF_INET; }

}  // namespace

std::string to_text(const Ip& ip) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(family_of(ip), ip.bytes.data(), text, sizeof text);
  return text;
}

std::optional<Ip> parse_ip(const std::string& text) {
  Ip ip{text.find(':') != std::string::npos, {}};
  if (::inet_pton(family_of(ip), text.c_str(), ip.bytes.data()) != 1) return std::nullopt;
  return ip;
}

std::string gid_text(const Ip& ip) {
  std::array<uint8_t, 16> bytes = ip.bytes;
  if (!ip.v6) {
    bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::copy_n(ip.bytes.begin(), 4, bytes.begin() + 12);
  }
  std::string text = hex_digits({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (size_t colon = 28; colon > 0; colon -= 4) text.insert(colon, ":");
  return text;
}

Ip network_of(const Ip& ip, unsigned prefix) {
  Ip out = ip;
  for (size_t i = 0; i < out.bytes.size(); ++i) {
    const unsigned before = static_cast<unsigned>(i) * 8;
    const unsigned kept = std::min(8U, std::max(prefix, before) - before);
    out.bytes[i] = static_cast<uint8_t>(out.bytes[i] & (0xff00U >> kept));
  }
  return out;
}

bool in_subnet(const Ip& ip, const Ip& network, unsigned prefix) {
  return ip.v6 == network.v6 && network_of(ip, prefix) == network_of(network, prefix);
}

}  // namespace fabric
