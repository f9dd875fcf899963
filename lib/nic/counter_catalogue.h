// SPDX-License-Identifier: Apache-2.0
// Raw counter name -> its row (counter_row.h).
#pragma once

#include <functional>

#include "kernel/telemetry.h"
#include "nic/counter_row.h"

namespace fabric {

// What the row counts, in one line.
std::string_view meaning(const CounterRow& row);

struct CounterNameHash {
  size_t operator()(const CounterName& name) const { return name.hash(); }
};

// Whether a rise is an error.
inline bool is_error(const CounterRow& row) { return row.rise.kind != CounterClass::none; }

struct CounterMatch {
  const CounterRow* row = nullptr;  // null: the catalogue does not have the counter
  char priority = 0;                // '0'..'7', or 0 if the row has none
  uint8_t bits = 64;                // on ports of this driver; of some counters without a row, too
};

// The row of a raw name on a port of the kernel driver, with or without a metric. Several counters of a port may be
// parts of one metric's series; their sum is its value.
CounterMatch describe_counter(CounterSource source, const CounterName& name, std::string_view driver = {});

}  // namespace fabric
