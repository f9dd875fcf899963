// SPDX-License-Identifier: Apache-2.0
#include "counter/catalogue.h"

#include <array>
#include <deque>
#include <string>
#include <unordered_map>

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

struct Catalogue {
  std::array<Index, 3> by_source;

  Catalogue() {
    for (auto rows : {mlx5_rows(), bnxt_rows(), ice_irdma_rows(), ionic_rows(), rxe_rows(), pma_rows()})
      for (const CounterRow& row : rows) by_source[static_cast<size_t>(row.source)].put(row);
  }
};

}  // namespace

std::optional<CounterMatch> find_counter(CounterSource source, std::string_view name) {
  static const Catalogue catalogue;
  const auto& rows = catalogue.by_source[static_cast<size_t>(source)].rows;
  auto found = rows.find(name);
  if (found == rows.end()) return std::nullopt;
  return found->second;
}

}  // namespace fabric
