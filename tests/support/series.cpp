// SPDX-License-Identifier: Apache-2.0
#include "support/series.h"

#include <gtest/gtest.h>

namespace fabric::test {

std::vector<std::pair<std::string, std::string>> read_labels(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  for (size_t at = 0; at < text.size();) {
    const size_t equals = text.find('=', at);
    auto& [name, value] = out.emplace_back(text.substr(at, equals - at), "");
    for (at = equals + 2; text.at(at) != '"'; ++at) {
      const bool escaped = text[at] == '\\';
      if (escaped) ++at;
      value += escaped && text.at(at) == 'n' ? '\n' : text.at(at);
    }
    at += 2;  // the quote, and a comma
  }
  return out;
}

std::map<std::string, double> series(FamilySet& set) {
  std::map<std::string, double> out;
  for (const Family& family : set.families())
    for (const MetricSample& sample : family.samples) {
      std::string key(family.metric->name);
      for (const auto& [name, value] : read_labels(sample.labels)) key += "," + name + "=" + value;
      EXPECT_TRUE(out.emplace(key, sample.value).second) << key << " twice";
    }
  return out;
}

}  // namespace fabric::test
