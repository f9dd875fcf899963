// SPDX-License-Identifier: Apache-2.0
#include "counters/catalogue.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "counters/counter_class.h"
#include "model/metrics.h"
#include "model/node.h"

namespace fabric {
namespace {

struct Hash {
  size_t operator()(CounterName name) const { return name.hash(); }
};
using Index = std::unordered_map<CounterName, CounterMatch, Hash>;

// The first row of a name is the one that is found.
void put(Index& index, const CounterRow& row) {
  const size_t mark = row.name.find('#');
  if (mark == std::string_view::npos) {
    index.try_emplace(row.name, CounterMatch{&row, 0});
    return;
  }
  for (char priority = '0'; priority <= '7'; ++priority) {
    std::string name(row.name);
    name[mark] = priority;
    index.try_emplace(name, CounterMatch{&row, priority});
  }
}

using BySource = std::array<Index, 3>;

void put_all(BySource& index, std::span<const CounterRow> rows) {
  for (const CounterRow& row : rows) put(index[static_cast<size_t>(row.source)], row);
}

struct Catalogue {
  BySource common, efa;

  Catalogue() {
    for (auto rows : {mlx5_rows(), bnxt_rows(), ice_irdma_rows(), ionic_rows(), hns_rows(), rxe_rows(), pma_rows()})
      put_all(common, rows);
    put_all(efa, efa_rows());
  }
};

const Catalogue& catalogue() {
  static const Catalogue only;
  return only;
}

}  // namespace

std::string_view meaning(const CounterRow& row) {
  if (!row.help.empty() || row.metric == nullptr) return row.help;
  return row.metric->help;
}

bool means_trouble(const CounterRow& row) {
  std::string name(row.name);
  if (size_t mark = name.find('#'); mark != std::string::npos) name[mark] = '0';
  return classify_counter(name).has_value();
}

bool is_told_better(const CounterRow& row, const std::vector<Counter>& reading) {
  if (row.unless.empty()) return false;
  return std::ranges::any_of(reading, [&](const Counter& each) { return each.value > 0 && each.name == row.unless; });
}

std::optional<CounterMatch> describe_counter(CounterSource source, std::string_view name, std::string_view driver) {
  catalogue();  // its names are known from then on
  return describe_kept_counter(source, CounterName::known(name), driver);
}

std::optional<CounterMatch> describe_kept_counter(CounterSource source, CounterName name, std::string_view driver) {
  const auto look_up = [&](const BySource& rows) -> std::optional<CounterMatch> {
    const Index& index = rows[static_cast<size_t>(source)];
    const auto found = index.find(name);
    if (found == index.end()) return std::nullopt;
    return found->second;
  };
  if (driver == "efa")
    if (auto match = look_up(catalogue().efa)) return match;
  return look_up(catalogue().common);
}

bool is_of_infiniband_link(const CounterRow& row) {
  using namespace metrics;
  return row.source == CounterSource::pma && row.metric != &kPortBytes && row.metric != &kPortPackets &&
         row.metric != &kPortUnicast && row.metric != &kPortMulticast;
}

bool is_of_infiniband_link(std::string_view name) {
  const auto match = find_counter(CounterSource::pma, name);
  return match && is_of_infiniband_link(*match->row);
}

}  // namespace fabric
