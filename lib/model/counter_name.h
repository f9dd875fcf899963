// SPDX-License-Identifier: Apache-2.0
// The name of a counter, kept once for the whole program: the same hundreds are read on every port again and again, and
// a machine's readings are copied more often than anything else.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>

#include "base/keep.h"

namespace fabric {

class CounterName {
 public:
  CounterName() = default;
  // Of drivers and files, for it is kept for ever (base/keep.h).
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, CounterName>)
      CounterName(const Text& text)
      : kept_(keep(text)) {}

  // That of a text which is one already, else an empty one: keeps nothing.
  static CounterName known(std::string_view text) {
    CounterName out;
    out.kept_ = find_kept(text);
    return out;
  }

  [[nodiscard]] std::string_view text() const { return kept_ == nullptr ? std::string_view() : *kept_; }
  [[nodiscard]] std::string str() const { return std::string(text()); }
  operator std::string_view() const { return text(); }

  friend bool operator==(const CounterName& a, const CounterName& b) { return a.kept_ == b.kept_; }
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, CounterName>) friend bool
  operator==(const CounterName& a, const Text& b) {
    return a.text() == std::string_view(b);
  }
  friend std::strong_ordering operator<=>(const CounterName& a, const CounterName& b) { return a.text() <=> b.text(); }
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> &&
           !std::same_as<Text, CounterName>) friend std::strong_ordering
  operator<=>(const CounterName& a, const Text& b) {
    return a.text() <=> std::string_view(b);
  }
  [[nodiscard]] size_t hash() const { return std::hash<const std::string*>{}(kept_); }
  friend std::ostream& operator<<(std::ostream& out, const CounterName& name);

 private:
  const std::string* kept_ = nullptr;
};

}  // namespace fabric
