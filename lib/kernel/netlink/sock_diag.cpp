// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/sock_diag.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>

#include "base/parse.h"

namespace fabric::sock_diag {
namespace {

constexpr std::chrono::seconds kPatience{2};

// ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2)
Ip plain(const Ip& ip) {
  constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!ip.v6 || !std::equal(kMapped.begin(), kMapped.end(), ip.bytes.begin())) return ip;
  Ip out;
  std::copy_n(ip.bytes.begin() + kMapped.size(), 4, out.bytes.begin());
  return out;
}

Ip ip_of(bool v6, const void* words) {
  Ip out{v6, {}};
  std::memcpy(out.bytes.data(), words, v6 ? 16 : 4);
  return plain(out);
}

// "0100007F:0016": 32-bit words in the byte order of the machine (net/ipv4/tcp_ipv4.c get_tcp4_sock()).
std::optional<Ip> proc_address(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find(':'));
  if (digits.size() != 8 && digits.size() != 32) return std::nullopt;
  std::array<uint32_t, 4> parts{};
  for (size_t i = 0; i < digits.size() / 8; ++i) {
    const auto word = parse_number<uint32_t>(digits.substr(i * 8, 8), 16);
    if (!word) return std::nullopt;
    parts[i] = *word;
  }
  return ip_of(digits.size() == 32, parts.data());
}

}  // namespace

Result<Session> parse_session(View8 payload) {
  if (payload.size() < sizeof(inet_diag_msg)) return error(EBADMSG, "sock_diag: message shorter than inet_diag_msg");
  inet_diag_msg message;
  std::memcpy(&message, payload.data(), sizeof message);
  if (message.idiag_family != AF_INET && message.idiag_family != AF_INET6)
    return error(EAFNOSUPPORT, "sock_diag: family " + std::to_string(message.idiag_family));
  const bool v6 = message.idiag_family == AF_INET6;
  return Session{ip_of(v6, message.id.idiag_src), ip_of(v6, message.id.idiag_dst),
                 static_cast<int>(message.id.idiag_if)};
}

std::vector<Session> parse_proc_tcp(std::string_view text) {
  constexpr std::string_view kEstablished = "01";
  std::vector<Session> out;
  for (const std::string_view line : split(text, '\n')) {
    const auto row = words(line);
    if (row.size() < 4 || row[3] != kEstablished) continue;
    const auto local = proc_address(row[1]), remote = proc_address(row[2]);
    if (local && remote) out.push_back({*local, *remote, 0});
  }
  return out;
}

Result<std::unique_ptr<Netlink>> open() { return open_netlink(NETLINK_SOCK_DIAG); }

Result<std::vector<Session>> established(Netlink& diag) {
  std::vector<Session> out;
  for (const uint8_t family : {uint8_t{AF_INET}, uint8_t{AF_INET6}}) {
    inet_diag_req_v2 request{};
    request.sdiag_family = family;
    request.sdiag_protocol = IPPROTO_TCP;
    request.idiag_states = 1U << TCP_ESTABLISHED;
    const auto done = diag.dump(SOCK_DIAG_BY_FAMILY, AttrWriter().header(request).data(), kPatience,
                                [&](uint16_t type, View8 payload) {
                                  if (type != SOCK_DIAG_BY_FAMILY) return true;
                                  if (auto session = parse_session(payload)) out.push_back(*session);
                                  return true;
                                });
    if (!done) return error_about("list TCP sessions", done.error());
  }
  return out;
}

}  // namespace fabric::sock_diag
