// SPDX-License-Identifier: Apache-2.0
// Any bytes as the file of modules: no crash; what was read is written in a form that reads back the same.
#include <cstdlib>

#include "fuzzer.h"
#include "node/optics_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fabric::state;
  const auto optics = parse_optics(fabric::text_of(data, size), "fuzz", {});
  if (!optics) return 0;
  const std::string written = optics_text(*optics, 5);
  const auto again = parse_optics(written, "written", {});
  if (!again || optics_text(*again, 5) != written) std::abort();
  return 0;
}
