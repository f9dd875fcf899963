// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>

namespace fabric {

// Whether an element, or its projection `by`, equals the value.
template <class Range, class Value, class By = std::identity>
bool contains(const Range& range, const Value& value, By by = {}) {
  return std::ranges::find(range, value, by) != std::ranges::end(range);
}

// The first element for which the predicate is true; null if there is none.
template <class Range, class Predicate>
auto find_where(Range&& range, Predicate&& predicate) -> decltype(&*std::ranges::begin(range)) {
  const auto found = std::ranges::find_if(range, predicate);
  if (found == std::ranges::end(range)) return nullptr;
  return &*found;
}

// The value of the key; null if the map does not have it.
template <class Map, class Key>
auto find_in(Map& map, const Key& key) -> decltype(&map.begin()->second) {
  const auto found = map.find(key);
  if (found == map.end()) return nullptr;
  return &found->second;
}

}  // namespace fabric
