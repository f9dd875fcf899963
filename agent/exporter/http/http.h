// SPDX-License-Identifier: Apache-2.0
// HTTP: parts of requests, answers, addresses to listen on.
#pragma once

#include <microhttpd.h>

#include <map>
#include <memory>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fabric::exporter {

enum class Endpoint : uint8_t { landing, metrics, healthy, ready, not_found };
// Exact paths only: "/metrics/x" is not found.
Endpoint endpoint_of(std::string_view path);

// Whether the client accepts gzip (RFC 9110, 12.5.3). `accept_encoding`: the headers joined by commas. Supports q=0 and
// "*".
bool accepts_gzip(std::string_view accept_encoding);

struct HttpCounts {
  std::map<unsigned, uint64_t> requests;  // by status
  uint64_t connections = 0;               // open now
};

struct Response {
  using Body = std::shared_ptr<const std::string>;

  unsigned status = MHD_HTTP_OK;
  std::string type;
  Body body;
  bool compressed = false, varies = false;
};
Response text_response(unsigned status, const char* text);
MHD_Result send_response(MHD_Connection* connection, const Response& response);

// The values of all headers with this name, joined by commas.
std::string request_header(MHD_Connection* connection, const char* name);

// The first line of a request, in libmicrohttpd's memory.
struct RequestLine {
  std::string_view method;
  const char* target = nullptr;
  size_t target_size = 0;  // as it was received, up to a space or NUL
  std::string_view version;
  bool is_odd = false;  // is_odd_target()
};
// Whether the target of a request, as it was received, has a control character, or in its path a NUL in the form of
// %00, where libmicrohttpd's path ends and a proxy's does not.
bool is_odd_target(std::string_view target);
// Whether libmicrohttpd accepts lines that HTTP does not permit: versions before 1.0.
bool is_lenient_library();
// A line for the client if a proxy may have understood the request differently (RFC 9112, 2.2, 3.2, 5 and 6.3): headers
// that are repeated or contradict each other, a body, and lines that HTTP does not permit. Empty: it cannot have.
std::string request_fault(MHD_Connection* connection, const RequestLine& line);

struct ListenAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string text;  // as given
};
// "0.0.0.0:10479", "[::]:10479", ":10479" (both families). Numeric only: a name would have to be resolved before the
// network is up.
Result<ListenAddress> parse_listen_address(std::string_view text);

// Binds and listens. An IPv6 socket accepts only IPv6. ":PORT" accepts both families; on a kernel without IPv6, IPv4.
Result<Fd> listen_on(const ListenAddress& address);

}  // namespace fabric::exporter
