// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/response.h"

#include <strings.h>

#include "base/parse.h"
#include "exporter/http/landing.h"

namespace fabric::exporter {
namespace {

void release_body(void* body) { delete static_cast<Response::Body*>(body); }

}  // namespace

Response text_response(unsigned status, const char* text) {
  return {status, "text/plain; charset=utf-8", std::make_shared<const std::string>(text)};
}

MHD_Result send_response(MHD_Connection* connection, const Response& response) {
  // Each answer shares the body, which may outlive the page cache's copy.
  auto* body = new Response::Body(response.body);
  MHD_Response* message = ::MHD_create_response_from_buffer_with_free_callback_cls(
      (*body)->size(), const_cast<char*>((*body)->data()), release_body, body);
  if (!message) {
    release_body(body);
    return MHD_NO;
  }
  ::MHD_add_response_header(message, MHD_HTTP_HEADER_CONTENT_TYPE, response.type.c_str());
  ::MHD_add_response_header(message, MHD_HTTP_HEADER_CONTENT_SECURITY_POLICY, content_policy().c_str());
  ::MHD_add_response_header(message, MHD_HTTP_HEADER_X_CONTENT_TYPE_OPTIONS, "nosniff");
  ::MHD_add_response_header(message, "Referrer-Policy", "no-referrer");
  ::MHD_add_response_header(message, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  if (response.varies) ::MHD_add_response_header(message, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
  if (response.compressed) ::MHD_add_response_header(message, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
  if (response.status == MHD_HTTP_METHOD_NOT_ALLOWED)
    ::MHD_add_response_header(message, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  if (response.status == MHD_HTTP_UNAUTHORIZED)
    ::MHD_add_response_header(message, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"fabric-exporter\"");
  if (response.status == MHD_HTTP_TOO_MANY_REQUESTS)
    ::MHD_add_response_header(message, MHD_HTTP_HEADER_RETRY_AFTER, "1");
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

}  // namespace fabric::exporter
