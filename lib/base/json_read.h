// SPDX-License-Identifier: Apache-2.0
// JSON text -> values (RFC 8259). Of files that other programs export; what we print ourselves is base/json.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace fabric {

class JsonNode {
 public:
  using Array = std::vector<JsonNode>;
  using Object = std::vector<std::pair<std::string, JsonNode>>;
  // A number is kept as it is written.
  struct Number {
    std::string text;
  };

  std::variant<std::nullptr_t, bool, Number, std::string, Array, Object> value = nullptr;
  size_t line = 0;  // where it begins, from 1

  // The member; null: this is no object, or has none of that name.
  [[nodiscard]] const JsonNode* find(std::string_view key) const;
  // The elements; none where it is no array.
  [[nodiscard]] const Array& elements() const;
  // The text; empty where it is no string.
  [[nodiscard]] const std::string& text() const;
};

inline constexpr int kMaxJsonDepth = 64;

// An Error's text is "NAME:LINE: what is wrong". Deeper than kMaxJsonDepth is an error as well.
Result<JsonNode> read_json(std::string_view text, const std::string& name);

}  // namespace fabric
