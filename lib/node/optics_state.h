// SPDX-License-Identifier: Apache-2.0
// What fabric-agentd has read of the modules: /run/fabric-agent/optics.json, written whole and renamed into place.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "wire/eeprom.h"
#include "wire/transceiver.h"

namespace fabric::state {

inline constexpr const char* kOpticsFile = "run/fabric-agent/optics.json";

struct Optics {
  std::map<std::string, Transceiver> modules{};  // by netdev; one that could not be read is not there
  double interval = 60;                          // seconds from one reading to the next
  double age = 0;                                // seconds since this one
  double read = 0;                               // when it was made, in seconds since boot
};

// A file older than three readings is stale: its writer hangs or is gone.
constexpr double longest_age(double interval) { return 3 * interval + 30; }

// `read` and `now` are seconds since boot.
std::string optics_text(const Optics& optics, double read);
// The same back; ESTALE when it is too old at `now` (absent: when it was written). Malformed parts are skipped.
Result<Optics> parse_optics(std::string_view text, const std::string& name, std::optional<double> now);

// eeprom::decode() in a confined child (kernel/host/child.h): a cable's bytes are anybody's. EBADMSG: the child crashed
// or did not end on them.
Result<Transceiver> decode_apart(std::span<const eeprom::Page> pages);

// nullopt: no publisher. The current time is proc/uptime below the root.
Result<std::optional<Optics>> load_optics(const Root& root);
Result<void> save_optics(const std::string& directory, const Optics& optics, double read);
// A time since boot in a file that is later is damaged.
inline constexpr double kLatestTime = 1e12;
// Seconds since boot by proc/uptime below the root.
std::optional<double> uptime(const Root& root);

}  // namespace fabric::state
