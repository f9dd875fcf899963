// SPDX-License-Identifier: Apache-2.0
#include "support/json_reader.h"

#include <nlohmann/json.hpp>

namespace fabric::test {
namespace {

JsonValue::Value read_value(const nlohmann::json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    JsonValue::Array list;
    for (const auto& element : json) list.emplace_back(read_value(element));
    return list;
  }
  JsonValue::Object members;
  if (!json.is_object()) return nullptr;
  for (const auto& [key, value] : json.items()) members.emplace(key, read_value(value));
  return members;
}

}  // namespace

JsonValue JsonValue::parse(std::string_view text) { return JsonValue(read_value(nlohmann::json::parse(text))); }

}  // namespace fabric::test
