// SPDX-License-Identifier: Apache-2.0
// Any bytes as a plan of cables, CSV or JSON: no crash, every fault has its line or, in JSON, the number of its cable.
#include <cctype>
#include <cstdlib>

#include "fuzzer.h"
#include "policy/cabling.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto cables = fabric::parse_cabling(fabric::text_of(data, size), "fuzz", "gpu01");
  if (cables) {
    for (const fabric::Cable& cable : *cables)
      if (cable.port.empty() || cable.peer.device.empty() || cable.peer.port.empty()) std::abort();
    return 0;
  }
  std::string_view what = cables.error().what;
  for (const std::string_view place : {"fuzz: cable ", "fuzz:"})
    if (what.starts_with(place)) {
      what.remove_prefix(place.size());
      if (what.empty() || std::isdigit(static_cast<unsigned char>(what[0])) == 0) std::abort();
      return 0;
    }
  std::abort();
  return 0;
}
