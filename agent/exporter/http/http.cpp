// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <strings.h>
#include <systemd/sd-daemon.h>

#include "base/parse.h"
#include "exporter/http/landing.h"

namespace fabric::exporter {
namespace {

template <class Sockaddr>
ListenAddress address_of(const Sockaddr& socket, std::string_view text) {
  ListenAddress address;
  std::memcpy(&address.storage, &socket, sizeof socket);
  address.size = sizeof socket;
  address.text = text;
  return address;
}

void release_body(void* body) { delete static_cast<Response::Body*>(body); }

}  // namespace

Endpoint endpoint_of(std::string_view path) {
  constexpr std::string_view kAbsolute = "http://";  // a proxy sends the absolute form (RFC 9112, 3.2.2)
  if (path.starts_with(kAbsolute)) {
    const size_t slash = path.find('/', kAbsolute.size());
    path.remove_prefix(std::min(slash, path.size()));
    if (path.empty()) path = "/";
  }
  if (path == "/metrics") return Endpoint::metrics;
  if (path == "/") return Endpoint::landing;
  if (path == "/-/healthy") return Endpoint::healthy;
  if (path == "/-/ready") return Endpoint::ready;
  return Endpoint::not_found;
}

bool accepts_gzip(std::string_view accept_encoding) {
  bool any = false;
  for (const Accepted& coding : parse_accepted(accept_encoding)) {
    if (coding.name == "gzip" || coding.name == "x-gzip") return coding.quality > 0;
    if (coding.name == "*") any = coding.quality > 0;
  }
  return any;
}

Response text_response(unsigned status, const char* text) {
  return {status, "text/plain; charset=utf-8", std::make_shared<const std::string>(text)};
}

MHD_Result send_response(MHD_Connection* connection, const Response& response) {
  // The answer shares the body, and may need it longer than the page cache does.
  auto* body = new Response::Body(response.body);
  MHD_Response* message = ::MHD_create_response_from_buffer_with_free_callback_cls(
      (*body)->size(), const_cast<char*>((*body)->data()), release_body, body);
  if (!message) {
    release_body(body);
    return MHD_NO;
  }
  const auto add = [&](const char* name, const char* value) { ::MHD_add_response_header(message, name, value); };
  add(MHD_HTTP_HEADER_CONTENT_TYPE, response.type.c_str());
  add(MHD_HTTP_HEADER_CONTENT_SECURITY_POLICY, content_policy().c_str());
  add(MHD_HTTP_HEADER_X_CONTENT_TYPE_OPTIONS, "nosniff");
  add("Referrer-Policy", "no-referrer");
  add(MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  if (response.varies) add(MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
  if (response.compressed) add(MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
  if (response.status == MHD_HTTP_METHOD_NOT_ALLOWED) add(MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  if (response.status == MHD_HTTP_UNAUTHORIZED)
    add(MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"fabric-exporter\"");
  if (response.status == MHD_HTTP_TOO_MANY_REQUESTS) add(MHD_HTTP_HEADER_RETRY_AFTER, "1");
  if (response.status == MHD_HTTP_BAD_REQUEST) add(MHD_HTTP_HEADER_CONNECTION, "close");
  MHD_Result queued = ::MHD_queue_response(connection, response.status, message);
  ::MHD_destroy_response(message);
  return queued;
}

std::string request_header(MHD_Connection* connection, const char* name) {
  struct Joined {
    const char* name;
    std::string values;
  } joined{name, {}};
  auto collect = [](void* context, MHD_ValueKind, const char* key, const char* value) {
    auto* out = static_cast<Joined*>(context);
    if (key == nullptr || value == nullptr || ::strcasecmp(key, out->name) != 0) return MHD_YES;
    append_item(out->values, value, ",");
    return MHD_YES;
  };
  ::MHD_get_connection_values(connection, MHD_HEADER_KIND, collect, &joined);
  return joined.values;
}

std::string header_fault(MHD_Connection* connection) {
  struct Counts {
    unsigned lengths = 0, encodings = 0, hosts = 0;
  } counts;
  auto count = [](void* context, MHD_ValueKind, const char* key, const char*) {
    auto* out = static_cast<Counts*>(context);
    if (key == nullptr) return MHD_YES;
    if (::strcasecmp(key, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) ++out->lengths;
    if (::strcasecmp(key, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) ++out->encodings;
    if (::strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0) ++out->hosts;
    return MHD_YES;
  };
  ::MHD_get_connection_values(connection, MHD_HEADER_KIND, count, &counts);
  if (counts.lengths + counts.encodings > 1) return "More than one Content-Length or Transfer-Encoding.\n";
  if (counts.hosts > 1) return "More than one Host.\n";
  return {};
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const Error invalid =
      error(0, "'" + std::string(text) + "' is not an address to listen on; use 127.0.0.1:10479, [::]:10479 or :10479");
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return invalid;
  auto port = parse_number<uint16_t>(text.substr(colon + 1));
  std::string host(text.substr(0, colon));
  if (!port) return invalid;
  if (host.empty()) host = "[::]";
  if (host.front() == '[' && host.back() == ']') {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(*port);
    if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6.sin6_addr) != 1) return invalid;
    return address_of(v6, text);
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(*port);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1) return invalid;
  return address_of(v4, text);
}

Result<Fd> listen_on(const ListenAddress& address) {
  constexpr int kBacklog = 256;
  const auto failed = [&] { return error(errno, "listen on " + address.text); };
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // On a kernel without IPv6 (ipv6.disable=1), ":PORT" is IPv4.
  if (!fd && errno == EAFNOSUPPORT && address.text.starts_with(':'))
    if (const auto any = parse_listen_address("0.0.0.0" + address.text)) return listen_on(*any);
  if (!fd) return failed();
  const int on = 1, only_v6 = !address.text.starts_with(':');
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return failed();
  if (address.storage.ss_family == AF_INET6 &&
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6) != 0)
    return failed();
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) return failed();
  if (::listen(fd.get(), kBacklog) != 0) return failed();
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
