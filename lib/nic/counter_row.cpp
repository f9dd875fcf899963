// SPDX-License-Identifier: Apache-2.0
#include "nic/counter_row.h"

#include "base/find.h"

namespace fabric {

// A new vendor is one line here.
std::span<const CounterTable> counter_tables() {
  static const std::array tables{kMlx5Counters, kBnxtCounters, kIntelCounters, kIonicCounters,
                                 kHnsCounters,  kEfaCounters,  kManaCounters,  kErdmaCounters,
                                 kHfi1Counters, kRxeCounters,  kPmaCounters};
  return tables;
}

const CounterTable* find_counter_table(std::string_view driver) {
  if (driver.empty()) return nullptr;
  return find_where(counter_tables(), [&](const CounterTable& table) { return contains(table.drivers, driver); });
}

}  // namespace fabric
