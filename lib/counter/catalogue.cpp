// SPDX-License-Identifier: Apache-2.0
#include "counter/catalogue.h"

#include <array>
#include <deque>
#include <string>
#include <unordered_map>

#include "model/counter_class.h"

namespace fabric {
namespace {

struct Index {
  std::deque<std::string> expanded;  // names with the priority in place, which the keys point into
  std::unordered_map<std::string_view, CounterMatch> rows;

  void put(const CounterRow& row) {
    size_t mark = row.name.find('#');
    if (mark == std::string_view::npos) {
      rows.emplace(row.name, CounterMatch{&row, 0});
      return;
    }
    for (char priority = '0'; priority <= '7'; ++priority) {
      std::string& name = expanded.emplace_back(row.name);
      name[mark] = priority;
      rows.emplace(name, CounterMatch{&row, priority});
    }
  }
};

using BySource = std::array<Index, 3>;

void put_all(BySource& index, std::span<const CounterRow> rows) {
  for (const CounterRow& row : rows) index[static_cast<size_t>(row.source)].put(row);
}

struct Catalogue {
  BySource common, efa;

  Catalogue() {
    for (auto rows : {mlx5_rows(), bnxt_rows(), ice_irdma_rows(), ionic_rows(), hns_rows(), rxe_rows(), pma_rows()})
      put_all(common, rows);
    put_all(efa, efa_rows());
  }
};

std::optional<CounterMatch> look_up(const BySource& index, CounterSource source, std::string_view name) {
  const auto& rows = index[static_cast<size_t>(source)].rows;
  auto found = rows.find(name);
  if (found == rows.end()) return std::nullopt;
  return found->second;
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

std::optional<CounterMatch> describe_counter(CounterSource source, std::string_view name, std::string_view driver) {
  static const Catalogue catalogue;
  if (driver == "efa")
    if (auto match = look_up(catalogue.efa, source, name)) return match;
  return look_up(catalogue.common, source, name);
}

std::optional<CounterMatch> find_counter(CounterSource source, std::string_view name, std::string_view driver) {
  auto match = describe_counter(source, name, driver);
  if (match && match->row->metric == nullptr) return std::nullopt;
  return match;
}

}  // namespace fabric
