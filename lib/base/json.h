// SPDX-License-Identifier: Apache-2.0
// JSON by nlohmann-json: an absent value is null, text is always valid UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/json_fwd.h"

template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  template <class AnyJson>
  static void to_json(AnyJson& json, const std::optional<T>& value) {
    if (value) json = *value;
    else json = nullptr;
  }
};

namespace fabric {

// Indented by two spaces, with a newline at the end. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json);
// On one line, likewise.
std::string json_line(const Json& json);

}  // namespace fabric
