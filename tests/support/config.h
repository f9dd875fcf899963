// SPDX-License-Identifier: Apache-2.0
// Configurations from text.
#pragma once

#include "config/config.h"
#include "support/test.h"

namespace fabric::test {

// The policy of a configuration without errors.
inline Policy good(const std::string& text) {
  auto loaded = parse_config(text, "f.toml");
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().text());
  return loaded.ok() ? loaded->policy : Policy{};
}

inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace fabric::test
