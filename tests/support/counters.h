// SPDX-License-Identifier: Apache-2.0
// Counters of a port by their source.
#pragma once

#include <string>
#include <vector>

#include "nic/counter_row.h"
#include "node/node.h"

namespace fabric::test {

inline std::vector<Counter>& list(Port& port, CounterSource source) {
  if (source == CounterSource::hw) return port.counters.hw;
  return source == CounterSource::pma ? port.counters.pma : port.counters.ethtool;
}

// The name of a row of the catalogue as a driver has it: of priority 3, where the row is of each.
inline std::string on_priority_3(std::string_view row) {
  std::string out(row);
  if (const size_t mark = out.find('#'); mark != std::string::npos) out[mark] = '3';
  return out;
}

}  // namespace fabric::test
