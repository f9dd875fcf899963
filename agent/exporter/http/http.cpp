// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <strings.h>
#include <systemd/sd-daemon.h>

#include "base/parse.h"

namespace fabric::exporter {
namespace {

bool same_token(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// "gzip;q=0.5" -> its coding and whether it is wanted (q above 0; a weight that cannot be read is 1).
struct Coding {
  std::string_view name;
  bool wanted = true;
};
Coding coding_of(std::string_view element) {
  auto parts = split(element, ';');
  Coding coding{trim(parts[0]), true};
  for (size_t i = 1; i < parts.size(); ++i) {
    auto parameter = split(parts[i], '=');
    if (parameter.size() != 2 || !same_token(trim(parameter[0]), "q")) continue;
    auto weight = parse_double(parameter[1]);
    coding.wanted = !weight || *weight > 0;
  }
  return coding;
}

template <class Sockaddr>
Address address_of(const Sockaddr& socket, std::string_view text) {
  Address address;
  std::memcpy(&address.storage, &socket, sizeof socket);
  address.size = sizeof socket;
  address.text = text;
  return address;
}

}  // namespace

Route route_of(std::string_view path) {
  constexpr std::string_view kAbsolute = "http://";  // through a proxy (RFC 9112, 3.2.2)
  if (path.starts_with(kAbsolute)) {
    const size_t slash = path.find('/', kAbsolute.size());
    path = slash == std::string_view::npos ? "/" : path.substr(slash);
  }
  if (path == "/metrics") return Route::metrics;
  if (path == "/") return Route::landing;
  if (path == "/-/healthy") return Route::healthy;
  if (path == "/-/ready") return Route::ready;
  return Route::not_found;
}

bool accepts_gzip(std::string_view accept_encoding) {
  std::optional<bool> any;
  for (std::string_view element : split(accept_encoding, ',')) {
    Coding coding = coding_of(element);
    if (same_token(coding.name, "gzip") || same_token(coding.name, "x-gzip")) return coding.wanted;
    if (coding.name == "*") any = coding.wanted;
  }
  return any.value_or(false);
}

Result<Address> parse_address(std::string_view text) {
  auto wrong = [&] {
    return error(
        0, "'" + std::string(text) + "' is not an address to listen on; use 127.0.0.1:10479, [::]:10479 or :10479");
  };
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  auto port = parse_number<uint16_t>(text.substr(colon + 1));
  std::string host(text.substr(0, colon));
  if (!port) return wrong();
  if (host.empty()) host = "[::]";
  if (host.front() == '[' && host.back() == ']') {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(*port);
    if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6.sin6_addr) != 1) return wrong();
    return address_of(v6, text);
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(*port);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1) return wrong();
  return address_of(v4, text);
}

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
