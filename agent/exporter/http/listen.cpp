// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/listen.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <systemd/sd-daemon.h>

#include <cerrno>

namespace fabric::exporter {
namespace {

constexpr int kBacklog = 256;

Result<void> bind_and_listen(int fd, const Address& address) {
  const int on = 1, only_v6 = address.text.front() == ':' ? 0 : 1;
  auto failed = [&] { return error(errno, "listen on " + address.text); };
  if (::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return failed();
  if (address.storage.ss_family == AF_INET6 &&
      ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6) != 0)
    return failed();
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) return failed();
  if (::listen(fd, kBacklog) != 0) return failed();
  return {};
}

}  // namespace

Result<Fd> listen_on(const Address& address) {
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Both families of a kernel without IPv6 (ipv6.disable=1) are IPv4.
  if (!fd && errno == EAFNOSUPPORT && address.text.starts_with(':'))
    if (const auto any = parse_address("0.0.0.0" + address.text)) return listen_on(*any);
  if (!fd) return error(errno, "listen on " + address.text);
  if (auto bound = bind_and_listen(fd.get(), address); !bound) return bound.error();
  return fd;
}

Result<std::vector<Fd>> inherited_listeners() {
  int count = ::sd_listen_fds(1);
  if (count < 0) return error(-count, "sockets from systemd");
  std::vector<Fd> listeners;
  for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + count; ++fd) listeners.emplace_back(fd);
  for (const Fd& fd : listeners) {
    if (::sd_is_socket(fd.get(), AF_UNSPEC, SOCK_STREAM, 1) <= 0)
      return error(EINVAL, "a socket from systemd does not listen");
    int flags = ::fcntl(fd.get(), F_GETFL);
    if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) < 0) return error(errno, "a socket from systemd");
  }
  return listeners;
}

}  // namespace fabric::exporter
