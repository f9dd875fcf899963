// SPDX-License-Identifier: Apache-2.0
#include "nic/counter_catalogue.h"

#include <memory>
#include <unordered_map>

namespace fabric {
namespace {

using CounterIndex = std::unordered_map<CounterName, CounterMatch, CounterNameHash>;
using BySource = std::array<CounterIndex, 3>;

void add(BySource& index, const CounterRow& row, uint8_t bits) {
  CounterIndex& names = index[static_cast<size_t>(row.source)];
  std::string name(row.name);
  const size_t mark = name.find('#');
  if (mark == std::string::npos) {
    names.try_emplace(name, CounterMatch{&row, 0, bits});
    return;
  }
  for (char priority = '0'; priority <= '7'; ++priority) {
    name[mark] = priority;
    names.try_emplace(name, CounterMatch{&row, priority, bits});
  }
}

struct Catalogue {
  std::unordered_map<std::string_view, std::shared_ptr<BySource>> own;  // by driver
  BySource common;
  std::unordered_map<const CounterRow*, CounterName> superseding;  // of the rows with `unless`

  Catalogue() {
    for (const CounterTable& table : counter_tables()) {
      const bool for_all = table.drivers[0].empty();
      const auto rows = std::make_shared<BySource>();
      for (const CounterRow& row : table.rows) {
        if (!row.unless.empty()) superseding.emplace(&row, row.unless);
        const auto bits = static_cast<uint8_t>(row.bits);
        if (for_all) {
          if (!table.exclusive) add(common, row, bits);
          continue;
        }
        add(*rows, row, bits);
        // A driver's files of ports/N/counters describe its own ports only.
        if (!table.exclusive && row.source != CounterSource::pma) add(common, row, 64);
      }
      for (const std::string_view driver : table.drivers)
        if (!driver.empty()) own.try_emplace(driver, rows);
    }
  }
};

const Catalogue& catalogue() {
  static const Catalogue all;
  return all;
}

CounterMatch look_up(CounterSource source, const CounterName& name, std::string_view driver) {
  const auto at = static_cast<size_t>(source);
  if (const auto own = catalogue().own.find(driver); own != catalogue().own.end())
    if (const auto found = (*own->second)[at].find(name); found != (*own->second)[at].end()) return found->second;
  const CounterIndex& common = catalogue().common[at];
  const auto found = common.find(name);
  if (found == common.end()) return {};
  return found->second;
}

}  // namespace

CounterName superseding_counter(const CounterRow& row) {
  const auto& superseding = catalogue().superseding;
  const auto found = superseding.find(&row);
  return found == superseding.end() ? CounterName() : found->second;
}

CounterMatch describe_counter(CounterSource source, const CounterName& name, std::string_view driver) {
  CounterMatch match = look_up(source, name, driver);
  if (match.row != nullptr) return match;
  const CounterTable* table = find_counter_table(driver);
  if (table != nullptr && !table->twin_prefix.empty() && name.text().starts_with(table->twin_prefix))
    match.bits = look_up(source, name.text().substr(table->twin_prefix.size()), driver).bits;
  return match;
}

}  // namespace fabric
