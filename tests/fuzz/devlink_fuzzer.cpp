// SPDX-License-Identifier: Apache-2.0
// Any bytes as a devlink health reporter: each accepted value has a name.
#include <cstdlib>

#include "fuzzer.h"
#include "kernel/netlink/devlink.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto reported = fabric::devlink::parse_reporter(std::as_bytes(std::span(data, size)));
  if (reported && reported->reporter.name.empty()) std::abort();
  if (fabric::devlink::parse_diagnosis(std::as_bytes(std::span(data, size))).contains("")) std::abort();
  return 0;
}
