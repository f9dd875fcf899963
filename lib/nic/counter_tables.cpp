// SPDX-License-Identifier: Apache-2.0
// The vendors' counter tables: a new vendor is one line here.
#include "base/find.h"
#include "nic/counter_row.h"

namespace fabric {

std::span<const CounterTable> counter_tables() {
  static const std::array tables{kMlx5Counters, kBnxtCounters, kIntelCounters, kIonicCounters,
                                 kHnsCounters,  kEfaCounters,  kManaCounters,  kErdmaCounters,
                                 kHfi1Counters, kRxeCounters,  kPmaCounters};
  return tables;
}

bool CounterTable::is_of(std::string_view driver) const { return !driver.empty() && contains(drivers, driver); }

const CounterTable* find_counter_table(std::string_view driver) {
  return find_where(counter_tables(), [&](const CounterTable& table) { return table.is_of(driver); });
}

}  // namespace fabric
