// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include <algorithm>

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

// Whether it may be the name of a header (RFC 9110, 5.6.2).
bool is_token(std::string_view text) {
  constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
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
  // The next bytes may be the body of a request that is not understood.
  if (response.status == MHD_HTTP_BAD_REQUEST || response.status == MHD_HTTP_METHOD_NOT_ALLOWED)
    add(MHD_HTTP_HEADER_CONNECTION, "close");
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

bool is_odd_target(std::string_view target) {
  const auto is_control = [](char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f'; };
  return std::ranges::any_of(target, is_control) ||
         target.substr(0, target.find('?')).find("%00") != std::string_view::npos;
}

bool is_lenient_library() { return std::string_view(::MHD_get_version()).starts_with("0."); }

std::string request_fault(MHD_Connection* connection, const RequestLine& line) {
  struct Seen {
    unsigned lengths = 0, encodings = 0, hosts = 0;
    bool body = false, other_lines = false, gaps = false;
    const char* next = nullptr;  // the place after the last line
  };
  if (line.version != "HTTP/1.0" && line.version != "HTTP/1.1") return "Only HTTP/1.0 and HTTP/1.1.\n";
  // libmicrohttpd parses in its buffer. Lines that do not follow each other there, with "\r\n" between them, have a NUL
  // or a line break of another kind, or were folded.
  constexpr size_t kLineBreak = 2;
  Seen seen{.gaps = line.method.data() + line.method.size() + 1 != line.target ||
                    line.target + line.target_size + 1 != line.version.data(),
            .next = line.version.data() + line.version.size() + kLineBreak};
  auto see = [](void* context, MHD_ValueKind, const char* key, const char* value) {
    auto* out = static_cast<Seen*>(context);
    if (key == nullptr || value == nullptr) return MHD_YES;
    const std::string_view text = value;
    if (::strcasecmp(key, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
      ++out->lengths;
      out->body = out->body || text != "0";
    }
    if (::strcasecmp(key, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
      ++out->encodings;
      out->body = true;
    }
    if (::strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0) ++out->hosts;
    // A \r alone is a line break for some.
    out->other_lines = out->other_lines || !is_token(key) || text.find('\r') != std::string_view::npos;
    out->gaps = out->gaps || key != out->next;
    out->next = value + text.size() + kLineBreak;
    return MHD_YES;
  };
  ::MHD_get_connection_values(connection, MHD_HEADER_KIND, see, &seen);
  const auto* info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  if (info == nullptr || line.method.data() + info->header_size != seen.next + kLineBreak) seen.gaps = true;

  if (line.is_odd || seen.other_lines || (is_lenient_library() && seen.gaps))
    return "A line that HTTP does not permit.\n";
  if (seen.lengths + seen.encodings > 1) return "More than one Content-Length or Transfer-Encoding.\n";
  if (seen.hosts > 1) return "More than one Host.\n";
  if (seen.hosts == 0 && line.version == "HTTP/1.1") return "No Host.\n";
  const bool takes_body = line.method != MHD_HTTP_METHOD_GET && line.method != MHD_HTTP_METHOD_HEAD;
  if (seen.body && !takes_body) return "A body, which GET and HEAD do not have.\n";
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

}  // namespace fabric::exporter
