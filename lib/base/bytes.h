// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace fabric {

using Bytes = std::vector<std::byte>;
using View8 = std::span<const std::byte>;

inline std::string_view as_text(View8 bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace fabric
