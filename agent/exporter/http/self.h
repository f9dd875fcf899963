// SPDX-License-Identifier: Apache-2.0
// What the page of /metrics says of the exporter itself.
#pragma once

#include "exporter/collect/collector.h"
#include "exporter/http/http.h"
#include "metrics/family.h"

namespace fabric::exporter {

// Metrics about the exporter itself: success and duration of each collector, age of each device's readings, requests
// served, build. `timings`: also how long each attempt to read took, instead of only those that hang.
void add_self(FamilySet& families, const Snapshot& snapshot, const HttpCounts& http, Clock::time_point now,
              bool timings = true);
// How many series there are and were dropped; to be added last. It raises the limit by the series that it adds.
constexpr size_t kSeriesOfSeries = 3;
void add_series(FamilySet& families);
// The standard process_* metrics, from /proc/self.
void add_process(FamilySet& families);

}  // namespace fabric::exporter
