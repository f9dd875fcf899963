// SPDX-License-Identifier: Apache-2.0
// Reads JSON, for tests: an oracle's file, or what our programs print.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fabric::test {

class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue>;

  // Throws std::runtime_error with the offset of the first byte that is not JSON.
  static JsonValue parse(std::string_view text);

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  [[nodiscard]] bool boolean() const { return std::get<bool>(value_); }
  [[nodiscard]] double number() const { return std::get<double>(value_); }
  [[nodiscard]] const std::string& text() const { return std::get<std::string>(value_); }
  [[nodiscard]] const Array& array() const { return std::get<Array>(value_); }
  [[nodiscard]] const Object& object() const { return std::get<Object>(value_); }
  // The member; null when there is none.
  const JsonValue& operator[](const std::string& key) const;

 private:
  friend class JsonParser;
  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value_ = nullptr;
};

}  // namespace fabric::test
