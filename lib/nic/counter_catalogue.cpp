// SPDX-License-Identifier: Apache-2.0
#include "nic/counter_catalogue.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/parse.h"
#include "nic/metrics.h"

namespace fabric {
namespace {

using Index = std::unordered_map<CounterName, CounterMatch, CounterNameHash>;
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
        // What a driver answers as ports/N/counters is about its own ports.
        const bool own_only = table.exclusive || (!for_all && row.source == CounterSource::pma);
        if (!own_only) add(common, row, for_all ? row.bits : 64);
      }
      for (const std::string_view driver : table.drivers)
        if (!driver.empty()) own.try_emplace(driver, rows);
    }
  }
};

std::optional<CounterMatch> look_up(const BySource& index, CounterSource source, const CounterName& name) {
  const Index& names = index[static_cast<size_t>(source)];
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

constexpr uint64_t kRange = uint64_t{1} << 32;
constexpr uint64_t kQuarter = kRange / 4;

bool has_wrapped(uint64_t before, uint64_t now) {
  return before < kRange && before >= kRange - kQuarter && now < kQuarter;
}

constexpr double kFewErrors = 10;

using Lanes = std::vector<double>;

Lanes fec_lanes(const FecCount& before, const FecCount& now) {
  Lanes out;
  for (size_t lane = 0; before.lanes.size() == now.lanes.size() && lane < now.lanes.size(); ++lane)
    out.push_back(now.lanes[lane] > before.lanes[lane] ? static_cast<double>(now.lanes[lane] - before.lanes[lane]) : 0);
  return out;
}

// The driver has a counter for each of four lanes, also of a link of one (mlx5 at 25 Gb/s): the lanes behind the last
// one that has ever counted are not taken for lanes without errors.
Lanes counter_lanes(const Port& before, const Port& now) {
  Lanes out;
  const CounterRises rises(CounterSource::ethtool, now.kernel_driver, before.counters.ethtool);
  for (const Counter& counter : now.counters.ethtool) {
    const auto match = find_counter(CounterSource::ethtool, counter.name, now.kernel_driver);
    if (!match || match->row->metric != &metrics::kPhyLaneErrors || counter.value == 0) continue;
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

std::string_view meaning(const CounterRow& row) {
  return row.help.empty() && row.metric != nullptr ? row.metric->help : row.help;
}

bool is_superseded(const CounterRow& row, const std::vector<Counter>& reading) {
  if (row.unless.empty()) return false;
  return std::ranges::any_of(reading, [&](const Counter& each) { return each.value > 0 && each.name == row.unless; });
}

std::optional<CounterMatch> describe_counter(CounterSource source, const CounterName& name, std::string_view driver) {
  static const Catalogue catalogue;
  if (const auto own = catalogue.own.find(driver); own != catalogue.own.end())
    if (auto match = look_up(*own->second, source, name)) return match;
  return look_up(catalogue.common, source, name);
}

std::optional<CounterMatch> find_counter(CounterSource source, const CounterName& name, std::string_view driver) {
  const auto match = describe_counter(source, name, driver);
  return match && match->row->metric != nullptr ? match : std::nullopt;
}

unsigned counter_bits(CounterSource source, const CounterName& name, std::string_view driver) {
  if (const auto match = describe_counter(source, name, driver)) return match->bits;
  const CounterTable* table = find_counter_table(driver);
  if (table == nullptr || table->twin_prefix.empty() || !name.text().starts_with(table->twin_prefix)) return 64;
  const auto twin = describe_counter(source, name.text().substr(table->twin_prefix.size()), driver);
  return twin ? twin->bits : 64;
}

std::optional<uint64_t> counter_rise(CounterSource source, unsigned bits, uint64_t before, uint64_t now) {
  if (source == CounterSource::pma && bits < 64) {
    const uint64_t full = (uint64_t{1} << bits) - 1;
    if (before == full && now <= full) return std::nullopt;
  }
  if (now >= before) return now - before;
  if (source == CounterSource::pma || bits != 32 || !has_wrapped(before, now)) return std::nullopt;
  return now + kRange - before;
}

CounterRises::CounterRises(CounterSource source, std::string_view kernel_driver, const std::vector<Counter>& before)
    : source_(source), driver_(kernel_driver) {
  for (const Counter& counter : before) before_.try_emplace(counter.name, counter.value);
}

std::optional<uint64_t> CounterRises::of(const Counter& now) const {
  const auto before = before_.find(now.name);
  if (before == before_.end()) return std::nullopt;
  return counter_rise(source_, counter_bits(source_, now.name, driver_), before->second, now.value);
}

void Widener::widen(PortCounters& counters) {
  widen(CounterSource::hw, counters.hw, hw_);
  widen(CounterSource::ethtool, counters.ethtool, ethtool_);
}

void Widener::widen(CounterSource source, std::vector<Counter>& counters, Known& known) const {
  for (Counter& counter : counters) {
    auto seen = known.find(counter.name);
    if (seen == known.end()) {
      const bool wraps = counter_bits(source, counter.name, driver_) == 32;
      seen = known.emplace(counter.name, Seen{wraps, counter.value < kRange ? counter.value : 0}).first;
    }
    Seen& state = seen->second;
    if (!state.wraps || counter.value >= kRange) continue;  // Linux or the driver has widened it already
    if (counter.value < state.last) state.added = has_wrapped(state.last, counter.value) ? state.added + kRange : 0;
    state.last = counter.value;
    counter.value += state.added;
  }
}

std::optional<BadLane> bad_lane(const Port& before, const Port& now) {
  if (before.pci != now.pci) return std::nullopt;
  if (before.fec && now.fec)
    for (const auto member :
         {&FecStatus::uncorrectable_blocks, &FecStatus::corrected_bits, &FecStatus::corrected_blocks})
      if (const auto worst = worst_of(fec_lanes((*before.fec).*member, (*now.fec).*member))) return worst;
  return worst_of(counter_lanes(before, now));
}

}  // namespace fabric
