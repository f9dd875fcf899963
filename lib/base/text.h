// SPDX-License-Identifier: Apache-2.0
// Lists in a text.
#pragma once

#include <string>
#include <string_view>

namespace fabric {

// "a", then "a, b".
inline void append_item(std::string& list, std::string_view item, std::string_view separator = ", ") {
  list.append(list.empty() ? "" : separator).append(item);
}

// Every element of the list, or what `text` makes of it.
template <class List, class Text>
std::string joined(const List& list, std::string_view separator, Text&& text) {
  std::string out;
  for (bool first = true; const auto& element : list) {
    out.append(first ? "" : separator).append(text(element));
    first = false;
  }
  return out;
}
template <class List>
std::string joined(const List& list, std::string_view separator = ", ") {
  return joined(list, separator, [](std::string_view element) { return element; });
}

}  // namespace fabric
