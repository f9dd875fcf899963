// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace fabric {

// untyped: each series is a counter or a gauge, and the driver does not say which.
enum class MetricKind : uint8_t { counter, gauge, histogram, untyped };

// One family. The name and the help are literals: they live as long as the program.
struct Metric {
  std::string_view name;
  std::string_view help;  // one line, plain ASCII without backslash: needs no escaping
  MetricKind kind = name.ends_with("_total") ? MetricKind::counter : MetricKind::gauge;
};

// An empty name gives none.
struct Label {
  std::string_view name, value;  // the name a literal, the value any bytes
  bool operator==(const Label&) const = default;
};

}  // namespace fabric
