// SPDX-License-Identifier: Apache-2.0
// Input of clients, command lines and uevents, beyond the parts that libmicrohttpd has parsed.
#include "exporter/http/http.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
#include "fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fabric::exporter;
  const std::string_view text = fabric::text_of(data, size);
  (void)route_of(text);
  (void)accepts_gzip(text);
  (void)is_device_event(text);
  (void)parse_listen_address(text).ok();
  (void)parse_options({std::string(text)}).ok();
  return 0;
}
