// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>

namespace fabric {

// The rows of a table, which must outlive the index, by the name in `name`. If rows have the same name, the first one
// counts.
template <class Row>
class NameIndex {
 public:
  template <class Table>
  NameIndex(const Table& table, std::string_view Row::*name) {
    for (const Row& row : table) rows_.emplace(row.*name, &row);
  }
  // Null: no row has the name.
  [[nodiscard]] const Row* find(std::string_view name) const {
    const auto found = rows_.find(name);
    if (found == rows_.end()) return nullptr;
    return found->second;
  }

 private:
  std::unordered_map<std::string_view, const Row*> rows_;
};

}  // namespace fabric
