// SPDX-License-Identifier: Apache-2.0
// The metrics about the exporter itself.
#pragma once

#include "exporter/collect/collector.h"
#include "exporter/http/http.h"
#include "metrics/family.h"

namespace fabric::exporter {

// Success and duration of each collector, age of each device's readings, requests served, build. `timings`: the
// duration of every attempt to read, instead of only those that hang.
void add_self(FamilySet& families, const Snapshot& snapshot, const HttpCounts& http, Clock::time_point now,
              bool timings);
// The number of series on the page and of dropped series. Must be added last. Raises the limit by the series that it
// adds.
constexpr size_t kSeriesOfSeries = 3;
void add_series(FamilySet& families);
// The standard process_* metrics, from /proc/self.
void add_process(FamilySet& families);

}  // namespace fabric::exporter
