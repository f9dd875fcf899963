// SPDX-License-Identifier: Apache-2.0
// Any bytes as the files of modules and of mlx5's reporters: no crash; the result of a reading is written in a form
// that reads back the same.
#include <cstdlib>

#include "fuzzer.h"
#include "node/optics_state.h"
#include "node/vnic_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fabric::state;
  const auto text = fabric::text_of(data, size);
  if (const auto optics = parse_optics(text, "fuzz", {})) {
    const std::string written = optics_text(*optics, 5);
    const auto again = parse_optics(written, "written", {});
    if (!again || optics_text(*again, 5) != written) std::abort();
  }
  if (const auto vnic = parse_vnic(text, "fuzz", {})) {
    const std::string written = vnic_text(*vnic, 5);
    const auto again = parse_vnic(written, "written", {});
    if (!again || vnic_text(*again, 5) != written) std::abort();
  }
  return 0;
}
