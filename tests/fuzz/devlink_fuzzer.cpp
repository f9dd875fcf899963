// SPDX-License-Identifier: Apache-2.0
// Any bytes as a devlink health reporter, and twice as a message of its diagnosis: each accepted value has a name.
#include <cstdlib>

#include "fuzzer.h"
#include "kernel/netlink/devlink.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto reported = fabric::devlink::parse_reporter(std::as_bytes(std::span(data, size)));
  if (reported && reported->reporter.name.empty()) std::abort();
  fabric::devlink::Diagnosis diagnosis;
  for (int message = 0; message < 2; ++message)
    fabric::devlink::add_diagnosis(std::as_bytes(std::span(data, size)), diagnosis);
  if (diagnosis.numbers.contains("")) std::abort();
  return 0;
}
