// SPDX-License-Identifier: Apache-2.0
// Any bytes as a kernel notification.
#include "agentd/monitor.h"
#include "fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint16_t type = 0;
  if (size < sizeof type) return 0;
  std::memcpy(&type, data, sizeof type);
  fabric::View8 payload(reinterpret_cast<const std::byte*>(data) + sizeof type, size - sizeof type);
  (void)fabric::agentd::parse_rtnetlink(type, payload);
  (void)fabric::agentd::parse_ethtool(payload);
  return 0;
}
