// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>

namespace fabric {

// Whether an element, or what `by` makes of it, is the value.
template <class Range, class Value, class By = std::identity>
bool contains(const Range& range, const Value& value, By by = {}) {
  return std::ranges::find(range, value, by) != std::ranges::end(range);
}

// The first element that the predicate holds of; null: there is none.
template <class Range, class Predicate>
auto find_where(Range&& range, Predicate&& holds) -> decltype(&*std::ranges::begin(range)) {
  const auto found = std::ranges::find_if(range, holds);
  return found == std::ranges::end(range) ? nullptr : &*found;
}

// The value of a key; null: the map does not have it.
template <class Map, class Key>
auto find_in(Map& map, const Key& key) -> decltype(&map.begin()->second) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace fabric
