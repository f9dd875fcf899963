// SPDX-License-Identifier: Apache-2.0
#include "counters/catalogue.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/parse.h"
#include "counters/widen.h"
#include "model/metrics.h"

namespace fabric {
namespace {

struct Hash : std::hash<std::string_view> {
  using is_transparent = void;
};
using Index = std::unordered_map<std::string, CounterMatch, Hash, std::equal_to<>>;
using BySource = std::array<Index, 3>;

void add(BySource& index, const CounterRow& row, unsigned bits) {
  Index& names = index[static_cast<size_t>(row.source)];
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

  Catalogue() {
    for (const CounterTable& table : counter_tables()) {
      const bool for_all = table.drivers[0].empty();
      const auto rows = std::make_shared<BySource>();
      for (const CounterRow& row : table.rows) {
        if (!for_all) add(*rows, row, row.bits);
        if (!table.exclusive) add(common, row, for_all ? row.bits : 64);
      }
      for (const std::string_view driver : table.drivers)
        if (!driver.empty()) own.try_emplace(driver, rows);
    }
  }
};

std::optional<CounterMatch> look_up(const BySource& index, CounterSource source, std::string_view name) {
  const Index& names = index[static_cast<size_t>(source)];
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string_view meaning(const CounterRow& row) {
  return row.help.empty() && row.metric != nullptr ? row.metric->help : row.help;
}

bool is_superseded(const CounterRow& row, const std::vector<Counter>& reading) {
  if (row.unless.empty()) return false;
  return std::ranges::any_of(reading, [&](const Counter& each) { return each.value > 0 && each.name == row.unless; });
}

std::optional<CounterMatch> describe_counter(CounterSource source, std::string_view name, std::string_view driver) {
  static const Catalogue catalogue;
  if (const auto own = catalogue.own.find(driver); own != catalogue.own.end())
    if (auto match = look_up(*own->second, source, name)) return match;
  return look_up(catalogue.common, source, name);
}

std::optional<CounterMatch> find_counter(CounterSource source, std::string_view name, std::string_view driver) {
  const auto match = describe_counter(source, name, driver);
  return match && match->row->metric != nullptr ? match : std::nullopt;
}

unsigned counter_bits(CounterSource source, std::string_view name, std::string_view driver) {
  if (const auto match = describe_counter(source, name, driver)) return match->bits;
  const CounterTable* table = find_counter_table(driver);
  if (table == nullptr || table->twin_prefix.empty() || !name.starts_with(table->twin_prefix)) return 64;
  const auto twin = describe_counter(source, name.substr(table->twin_prefix.size()), driver);
  return twin ? twin->bits : 64;
}

std::optional<double> hw_total(const Port& port, std::initializer_list<const Metric*> metrics) {
  std::optional<double> total;
  for (const Counter& counter : port.counters.hw) {
    const auto match = find_counter(CounterSource::hw, counter.name, port.kernel_driver);
    if (!match || !contains(metrics, match->row->metric)) continue;
    const Scale& scale = match->row->scale;
    total = total.value_or(0) + static_cast<double>(counter.value) * scale.multiply / scale.divide;
  }
  return total;
}

namespace {

constexpr double kFewErrors = 10;

using Lanes = std::vector<double>;

Lanes fec_lanes(const FecCount& before, const FecCount& now) {
  Lanes out;
  for (size_t lane = 0; before.lanes.size() == now.lanes.size() && lane < now.lanes.size(); ++lane)
    out.push_back(now.lanes[lane] > before.lanes[lane] ? static_cast<double>(now.lanes[lane] - before.lanes[lane]) : 0);
  return out;
}

Lanes counter_lanes(const Port& before, const Port& now) {
  Lanes out;
  const CounterRises rises(CounterSource::ethtool, now.kernel_driver, before.counters.ethtool);
  for (const Counter& counter : now.counters.ethtool) {
    const auto match = find_counter(CounterSource::ethtool, counter.name, now.kernel_driver);
    if (!match || match->row->metric != &metrics::kPhyLaneErrors) continue;
    const auto lane = parse_number<size_t>(match->row->label.value);
    if (!lane) continue;
    out.resize(std::max(out.size(), *lane + 1));
    out[*lane] = static_cast<double>(rises.of(counter).value_or(0));
  }
  return out;
}

std::optional<BadLane> worst_of(const Lanes& lanes) {
  if (lanes.size() < 2) return std::nullopt;
  const auto worst = std::ranges::max_element(lanes);
  const double sum = std::accumulate(lanes.begin(), lanes.end(), 0.0);
  if (*worst < kFewErrors || *worst < 0.9 * sum) return std::nullopt;
  return BadLane{static_cast<size_t>(worst - lanes.begin()), *worst / sum};
}

}  // namespace

std::optional<BadLane> bad_lane(const Port& before, const Port& now) {
  if (before.pci != now.pci) return std::nullopt;
  if (before.fec && now.fec)
    for (const auto member :
         {&FecStatus::uncorrectable_blocks, &FecStatus::corrected_bits, &FecStatus::corrected_blocks})
      if (const auto worst = worst_of(fec_lanes((*before.fec).*member, (*now.fec).*member))) return worst;
  return worst_of(counter_lanes(before, now));
}

}  // namespace fabric
