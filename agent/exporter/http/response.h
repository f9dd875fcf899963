// SPDX-License-Identifier: Apache-2.0
// libmicrohttpd's requests and answers.
#pragma once

#include <microhttpd.h>

#include <memory>
#include <string>

namespace fabric::exporter {

struct Response {
  using Body = std::shared_ptr<const std::string>;

  unsigned status = MHD_HTTP_OK;
  std::string type;
  Body body;
  bool compressed = false, varies = false;
};
Response text_response(unsigned status, const char* text);
MHD_Result send_response(MHD_Connection* connection, const Response& response);

// All headers of this name, joined by commas.
std::string request_header(MHD_Connection* connection, const char* name);

}  // namespace fabric::exporter
