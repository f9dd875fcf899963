// SPDX-License-Identifier: Apache-2.0
// JSON as plain values, where a member that does not exist is null: an oracle's file, or the output of our programs.
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
  using Value = std::variant<std::nullptr_t, bool, double, std::string, Array, Object>;

  JsonValue() = default;
  explicit JsonValue(Value value) : value_(std::move(value)) {}

  // Throws nlohmann::json::parse_error.
  static JsonValue parse(std::string_view text);

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  [[nodiscard]] bool boolean() const { return std::get<bool>(value_); }
  [[nodiscard]] double number() const { return std::get<double>(value_); }
  [[nodiscard]] const std::string& text() const { return std::get<std::string>(value_); }
  [[nodiscard]] const Array& array() const { return std::get<Array>(value_); }
  [[nodiscard]] const Object& object() const { return std::get<Object>(value_); }
  // The member; null when there is none.
  const JsonValue& operator[](const std::string& key) const {
    static const JsonValue kNull;
    const auto* members = std::get_if<Object>(&value_);
    const auto found = members != nullptr ? members->find(key) : Object::const_iterator();
    return members != nullptr && found != members->end() ? found->second : kNull;
  }

 private:
  Value value_ = nullptr;
};

}  // namespace fabric::test
