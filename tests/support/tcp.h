// SPDX-License-Identifier: Apache-2.0
// A client of fabric-exporter on loopback.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "exporter/http/http.h"
#include "support/test.h"

namespace fabric::test {

// The port that the socket is bound to.
inline uint16_t port_of(const Fd& fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

// A connection to ADDRESS:PORT; an empty Fd if no process listens there. `from`: the client's address.
inline Fd connect_to(const std::string& address, const std::string& from = "") {
  const auto server = exporter::parse_listen_address(address);
  Fd fd(::socket(server->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!from.empty()) {
    const auto own = exporter::parse_listen_address(from + ":0");
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own->storage), own->size), 0);
  }
  const int refused = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&server->storage), server->size);
  return refused == 0 ? std::move(fd) : Fd();
}

inline void send_text(const Fd& fd, const std::string& text) {
  ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

// Receives until the server closes the connection or sends nothing for `patience` milliseconds.
inline std::string receive(const Fd& fd, int patience = 5000) {
  std::string out;
  std::array<char, 65536> buffer;
  for (pollfd waiting{fd.get(), POLLIN, 0}; ::poll(&waiting, 1, patience) > 0;) {
    const ssize_t size = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (size <= 0) break;
    out.append(buffer.data(), static_cast<size_t>(size));
  }
  return out;
}

}  // namespace fabric::test
