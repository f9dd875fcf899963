// SPDX-License-Identifier: Apache-2.0
// Short texts, compared by the thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fabric {

using Bytes = std::vector<std::byte>;
using View8 = std::span<const std::byte>;

// The bytes at `at` as a number, in the machine's order.
template <class Number>
Number bytes_at(const char* at) {
  Number out = 0;
  std::memcpy(&out, at, sizeof out);
  return out;
}

// memcmp() == 0: of some ten bytes its call costs more than the comparison.
inline bool same_bytes(const char* a, const char* b, size_t size) {
  if (size < 4) {
    for (size_t i = 0; i < size; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  // The last bytes may be compared twice.
  if (size < 8)
    return bytes_at<uint32_t>(a) == bytes_at<uint32_t>(b) &&
           bytes_at<uint32_t>(a + size - 4) == bytes_at<uint32_t>(b + size - 4);
  for (size_t i = 0; i + 8 < size; i += 8)
    if (bytes_at<uint64_t>(a + i) != bytes_at<uint64_t>(b + i)) return false;
  return bytes_at<uint64_t>(a + size - 8) == bytes_at<uint64_t>(b + size - 8);
}

}  // namespace fabric
