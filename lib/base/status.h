// SPDX-License-Identifier: Apache-2.0
// The severity of a finding, or of a setting that differs.
#pragma once

#include <cstdint>

#include "base/words.h"

namespace fabric {

// The numbers are the exit statuses of monitoring plugins.
enum class Status : uint8_t { ok = 0, warning = 1, critical = 2, unknown = 3 };
template <>
inline constexpr std::string_view kEnumWords<Status>[] { "ok", "warning", "critical", "unknown" };

// Order of findings, worst first: critical 0, warning 1, unknown 2, ok 3.
constexpr int rank(Status value) {
  switch (value) {
    case Status::critical: return 0;
    case Status::warning: return 1;
    case Status::unknown: return 2;
    case Status::ok: return 3;
  }
  return 3;
}

// Something is wrong: neither ok nor unknown.
constexpr bool is_fault(Status value) { return value == Status::warning || value == Status::critical; }

}  // namespace fabric
