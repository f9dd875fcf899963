// SPDX-License-Identifier: Apache-2.0
// The times in a file of readings that another program of ours publishes below /run, and how old the readings may be.
#pragma once

#include "base/files.h"
#include "base/json.h"
#include "kernel/capture/root.h"

namespace fabric::state {

// Seconds since boot by proc/uptime below the root.
std::optional<double> uptime(const Root& root);
// A later time since boot shows that the file is damaged.
inline constexpr double kLatestTime = 1e12;
// Seconds: a file older than three readings is stale, because its writer hangs or is gone.
constexpr double longest_age(double interval) { return 3 * interval + 30; }

// Reads `read` (seconds since boot) and `interval` (seconds) of the readings, for from_json().
template <class Readings>
void read_times(const Json& json, Readings& readings) {
  read_required(json, "read", readings.read);
  read_required(json, "interval", readings.interval);
  read_number(json, "read", readings.read, 0.0, kLatestTime);
  read_number(json, "interval", readings.interval, 0.0, kLatestTime);
}

// Parses the text of a file of readings and fills their `age` at `now`, in seconds since boot (absent: the time of
// reading). ESTALE: they are older than longest_age(), because of `why`.
template <class Readings>
Result<Readings> parse_readings(std::string_view text, const std::string& name, std::optional<double> now,
                                const char* why) {
  auto out = read_state<Readings>(text, name);
  if (!out) return out;
  out->age = std::max(0.0, now.value_or(out->read) - out->read);
  if (out->age > longest_age(out->interval)) return stale(name, out->age, why);
  return out;
}

}  // namespace fabric::state
