// SPDX-License-Identifier: Apache-2.0
// The optical modules as fabric-agentd read them: /run/fabric-agent/optics.json, written whole and renamed into place.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "wire/eeprom.h"
#include "wire/transceiver.h"

namespace fabric::state {

inline constexpr const char* kOpticsFile = "run/fabric-agent/optics.json";

struct Optics {
  std::map<std::string, Transceiver> modules{};  // by netdev; without those that could not be read
  double interval = 60;                          // seconds from one reading to the next
  double age = 0;                                // seconds since this reading
  double read = 0;                               // its time, in seconds since boot
};

// `read` and `now` are seconds since boot.
std::string optics_text(const Optics& optics, double read);
// Parses optics_text(); ESTALE if it is older than longest_age() (node/published.h) at `now` (absent: the time of
// writing). Skips malformed parts.
Result<Optics> parse_optics(std::string_view text, const std::string& name, std::optional<double> now);

// Runs eeprom::decode() in a confined child (kernel/host/child.h), because anyone can write the bytes of a cable.
// EBADMSG: the child crashed or did not end.
Result<Transceiver> decode_apart(std::span<const eeprom::Page> pages);

// nullopt: no file. The current time is proc/uptime below the root.
Result<std::optional<Optics>> load_optics(const Root& root);

}  // namespace fabric::state
