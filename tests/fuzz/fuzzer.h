// SPDX-License-Identifier: Apache-2.0
// Included by every fuzzer. An input that breaks a promise ends the program.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fabric {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace fabric
