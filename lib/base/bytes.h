// SPDX-License-Identifier: Apache-2.0
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
