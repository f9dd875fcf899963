// SPDX-License-Identifier: Apache-2.0
// A JSON value to be printed. Output only; objects keep the order in which members were put.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fabric {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;                                             // null
  Json(std::nullptr_t) {}                                       // NOLINT
  Json(bool value) : value_(value) {}                           // NOLINT
  Json(double value) : value_(value) {}                         // NOLINT
  Json(std::string value) : value_(std::move(value)) {}         // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}  // NOLINT
  Json(const char* value) : value_(std::string(value)) {}       // NOLINT
  Json(Array value) : value_(std::move(value)) {}               // NOLINT
  Json(Object value) : value_(std::move(value)) {}              // NOLINT
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Json(T value) {  // NOLINT
    if constexpr (std::is_signed_v<T>) value_ = static_cast<int64_t>(value);
    else value_ = static_cast<uint64_t>(value);
  }
  template <class T>
  Json(const std::optional<T>& value) {  // NOLINT: absent is null
    if (value) *this = Json(*value);
  }

  static Json array() { return Json(Array{}); }
  static Json object() { return Json(Object{}); }

  // Appends a member to an object / an element to an array (null becomes one first).
  Json& put(std::string_view key, Json value);
  Json& push(Json value);

  // Two-space indented text ending without a newline; `compact` is one line.
  // Bytes that are not UTF-8 are replaced by U+FFFD so that the output always parses.
  [[nodiscard]] std::string dump(bool compact = false) const;

 private:
  void write(std::string& out, int depth, bool compact) const;
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value_;
};

}  // namespace fabric
