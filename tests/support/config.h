// SPDX-License-Identifier: Apache-2.0
// Configurations from text, and from files in a temporary folder.
#pragma once

#include "policy/config.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::test {

// The loaded configuration. If it has errors, the test fails and the configuration is empty.
inline LoadedConfig loaded(Result<LoadedConfig> config) {
  EXPECT_TRUE(config.ok()) << config.error().text();
  return config.ok() ? *std::move(config) : LoadedConfig{};
}
inline LoadedConfig loaded_from(const std::string& text, const std::string& profiles = {}) {
  return loaded(parse_config(text, "f.toml", profiles));
}
// The policy of a configuration without errors.
inline Policy good(const std::string& text) { return loaded_from(text).policy; }

// The errors of a configuration. If it has none, the test fails and the text is empty.
inline std::string refused(const Result<LoadedConfig>& config) {
  EXPECT_FALSE(config.ok());
  return config.ok() ? "" : config.error().text();
}

inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// The main file is a.toml; its drop-ins and profiles are in conf.d/ and profiles/ in the same folder.
class ConfigFiles : public testing::Test {
 protected:
  std::string file() const { return tree.path() + "/a.toml"; }
  Result<LoadedConfig> load() const { return load_config(file()); }
  Tree tree;
};

}  // namespace fabric::test
