// SPDX-License-Identifier: Apache-2.0
// Any bytes as a plan of cables, CSV or JSON: no crash, every fault has its line.
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/cabling.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto cables = fabric::parse_cabling({reinterpret_cast<const char*>(data), size}, "fuzz", "gpu01");
  if (cables) {
    for (const fabric::Cable& cable : *cables)
      if (cable.port.empty() || cable.peer.device.empty() || cable.peer.port.empty()) std::abort();
    return 0;
  }
  const std::string& what = cables.error().what;
  if (!what.starts_with("fuzz:") || what.size() < 6 || std::isdigit(static_cast<unsigned char>(what[5])) == 0)
    std::abort();
  return 0;
}
