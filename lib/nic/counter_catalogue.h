// SPDX-License-Identifier: Apache-2.0
// Raw counter name -> its row (counter_row.h).
#pragma once

#include <functional>

#include "kernel/telemetry.h"
#include "nic/counter_row.h"

namespace fabric {

struct CounterNameHash {
  size_t operator()(const CounterName& name) const { return name.hash(); }
};

// Whether a rise is an error.
inline bool is_error(const CounterRow& row) { return row.rise.kind != CounterClass::none; }

struct CounterMatch {
  const CounterRow* row = nullptr;  // null: the catalogue does not have the counter
  char priority = 0;                // '0'..'7', or 0 if the row has none
  uint8_t bits = 64;                // on ports of this driver; also set for some counters without a row
};

// The row of a raw name on a port of this kernel driver; the row may lack a metric. If several counters of a port
// belong to one series of a metric, their sum is its value.
CounterMatch describe_counter(CounterSource source, const CounterName& name, std::string_view driver = {});

// The counter that supersedes those of the row (CounterRow::unless).
CounterName superseding_counter(const CounterRow& row);

}  // namespace fabric
