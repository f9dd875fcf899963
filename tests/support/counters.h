// SPDX-License-Identifier: Apache-2.0
// Counters of a port by their source.
#pragma once

#include <string>
#include <vector>

#include "node/counters.h"
#include "node/node.h"

namespace fabric::test {

inline std::vector<Counter>& list(Port& port, CounterSource source) {
  if (source == CounterSource::hw) return port.counters.hw;
  return source == CounterSource::pma ? port.counters.pma : port.counters.ethtool;
}

// Finds the catalogue rows of counters that a test has written as literals. Readers do the same for counters they read.
inline void resolve(PortCounters& counters, std::string_view driver = {}) {
  for (Counter& each : counters.hw) fabric::resolve(each, CounterSource::hw, driver);
  for (Counter& each : counters.pma) fabric::resolve(each, CounterSource::pma, driver);
  for (Counter& each : counters.ethtool) fabric::resolve(each, CounterSource::ethtool, driver);
}
inline void resolve(Port& port) { resolve(port.counters, port.kernel_driver); }
inline void resolve(Node& node) {
  for (Port& port : node.ports) resolve(port);
}

// The driver's name of a catalogue row; for a row per priority, the name for priority 3.
inline std::string on_priority_3(std::string_view row) {
  std::string out(row);
  if (const size_t mark = out.find('#'); mark != std::string::npos) out[mark] = '3';
  return out;
}

}  // namespace fabric::test
