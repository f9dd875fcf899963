// SPDX-License-Identifier: Apache-2.0
// The vendors' counter tables: a new vendor is one line here.
#include "base/find.h"
#include "vendor/counter_row.h"

namespace fabric {

std::span<const CounterTable> counter_tables() {
  static const std::array tables{kMlx5Counters, kBnxtCounters, kIntelCounters, kIonicCounters, kHnsCounters,
                                 kEfaCounters,  kManaCounters, kHfi1Counters,  kRxeCounters,   kPmaCounters};
  return tables;
}

bool CounterTable::is_of(std::string_view driver) const { return !driver.empty() && contains(drivers, driver); }

const CounterTable* find_counter_table(std::string_view driver) {
  return find_where(counter_tables(), [&](const CounterTable& table) { return table.is_of(driver); });
}

std::string_view to_text(CounterClass value) {
  constexpr std::array<std::string_view, 9> kTexts{"none",     "loss", "link",    "discard", "storm",
                                                   "receiver", "pcie", "request", "ecn"};
  return kTexts[static_cast<size_t>(value)];
}

std::string_view to_text(CounterScope value) {
  constexpr std::array<std::string_view, 4> kTexts{"port", "function", "device", "InfiniBand link"};
  return kTexts[static_cast<size_t>(value)];
}

}  // namespace fabric
