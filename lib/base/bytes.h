// SPDX-License-Identifier: Apache-2.0
// Bytes and views of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fabric {

using Bytes = std::vector<std::byte>;
using View8 = std::span<const std::byte>;

}  // namespace fabric
