// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace fabric {

// Of a finding. The numbers are the exit statuses of monitoring plugins.
enum class Status : uint8_t { ok = 0, warning = 1, critical = 2, unknown = 3 };
std::string_view to_text(Status value);

}  // namespace fabric
