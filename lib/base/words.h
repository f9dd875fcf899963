// SPDX-License-Identifier: Apache-2.0
// The words of an enum whose values count from 0. Write after the enum:
//   template <>
//   inline constexpr std::string_view kEnumWords<Mode>[]{"audit", "enforce"};
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

namespace fabric {

template <class Enum>
inline constexpr std::nullptr_t kEnumWords = nullptr;
template <class Enum>
concept HasWords = !std::is_null_pointer_v<std::remove_const_t<decltype(kEnumWords<Enum>)>>;

// The word of the value; "unknown" if it is not one of the enum's values.
template <HasWords Enum>
constexpr std::string_view to_text(Enum value) {
  const auto index = static_cast<size_t>(value);
  if (index >= std::size(kEnumWords<Enum>)) return "unknown";
  return kEnumWords<Enum>[index];
}

// All values, in their order.
template <HasWords Enum>
inline constexpr auto kValues = [] {
  std::array<Enum, std::size(kEnumWords<Enum>)> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Enum>(i);
  return all;
}();

template <HasWords Enum>
constexpr std::optional<Enum> parse_word(std::string_view text) {
  for (const Enum value : kValues<Enum>)
    if (to_text(value) == text) return value;
  return std::nullopt;
}

}  // namespace fabric
