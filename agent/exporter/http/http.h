// SPDX-License-Identifier: Apache-2.0
// HTTP input validation (pure): paths, Accept-Encoding, addresses to listen on.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace fabric::exporter {

enum class Route : uint8_t { landing, metrics, healthy, ready, not_found };
// Exact paths only: "/metrics/x" is not found.
Route route_of(std::string_view path);

// Whether the client accepts gzip (RFC 9110, 12.5.3): the headers joined by commas. Honors q=0 and "*".
bool accepts_gzip(std::string_view accept_encoding);

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string text;  // as given
};
// "0.0.0.0:10479", "[::]:10479", ":10479" (both families). Numeric only: a name would have to be resolved before the
// network is up.
Result<Address> parse_address(std::string_view text);

// Listening sockets: systemd's, or our own.
// Binds and listens. An IPv6 socket accepts IPv6 only, except for ":PORT", which is IPv4 on a kernel without IPv6.
Result<Fd> listen_on(const Address& address);
// The sockets that systemd passed (sd_listen_fds(3)), if any. A socket that does not listen is an error.
Result<std::vector<Fd>> inherited_listeners();

}  // namespace fabric::exporter
