// SPDX-License-Identifier: Apache-2.0
// Any bytes as an LLDP frame: no crash; the result is bounded, and its published form reads back the same. The
// published file is read from any bytes as well.
#include "base/parse.h"
#include "fuzzer.h"
#include "node/neighbor_state.h"
#include "wire/lldp.h"

namespace {

using fabric::require;

void require_printable(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = fabric::utf8_length(text, at);
    require(length > 0 && static_cast<unsigned char>(text[at]) >= 0x20);
    at += length;
  }
}

void read_frame(fabric::View8 frame) {
  auto read = fabric::lldp::parse_frame(frame);
  if (!read) return require(read.error().what.starts_with("LLDP frame: byte "));
  fabric::Neighbor neighbor = *read;
  for (const auto* text : {&neighbor.chassis_id, &neighbor.port_id, &neighbor.port_description, &neighbor.system_name,
                           &neighbor.system_description})
    require_printable(*text);
  require(neighbor.management.size() <= fabric::lldp::kMaxAddresses &&
          neighbor.malformed.size() <= fabric::lldp::kMaxMalformed);
  require(!neighbor.app || neighbor.app->size() <= 512 * 8 / 6);
  neighbor.netdev = "ens1";
  neighbor.source = fabric::state::kLldpSource;
  neighbor.heard = 1000;
  fabric::Neighbors all;
  all.heard = {neighbor};
  all.listening = {{"ens1", 10}};
  auto again = fabric::state::parse_neighbors(fabric::state::neighbors_text(all, 1000), "fuzz", 1000);
  require(again.ok() && again->heard.size() == 1 && again->heard.front() == neighbor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_frame(std::as_bytes(std::span(data, size)));
  (void)fabric::state::parse_neighbors(fabric::text_of(data, size), "fuzz", {});
  return 0;
}
