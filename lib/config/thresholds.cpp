// SPDX-License-Identifier: Apache-2.0
// [thresholds]: one key per row that checks and diagnosis rules compare with.
#include <cstdio>

#include "config/reader.h"
#include "diagnosis/diagnosis.h"

namespace fabric::config {
namespace {

std::string number_toml(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

MaybeProblem read_threshold(const Threshold& row, const toml::node& node, Policy& policy) {
  std::optional<double> number;
  if (const auto* whole = node.as_integer()) number = static_cast<double>(whole->get());
  if (const auto* real = node.as_floating_point()) number = real->get();
  if (!number || !(*number >= row.least && *number <= row.most))
    return TomlProblem{node.source().begin, "expected a number from " + number_toml(row.least) + " to " +
                                                number_toml(row.most) + ", not " + describe(node)};
  policy.thresholds.insert_or_assign(std::string(row.key), *number);
  return std::nullopt;
}

std::string show(const Threshold& row, const Policy& policy) {
  const auto given = policy.thresholds.find(row.key);
  return number_toml(given == policy.thresholds.end() ? row.value : given->second);
}

// The lines that an error shows as an example: the defaults.
const std::vector<std::string>& examples() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> lines;
    for (const Threshold* row : thresholds()) lines.push_back(std::string(row->key) + " = " + number_toml(row->value));
    return lines;
  }();
  return all;
}

}  // namespace

void append_threshold_keys(std::vector<Key>& keys) {
  for (size_t i = 0; i < thresholds().size(); ++i) {
    const Threshold& row = *thresholds()[i];
    keys.push_back({"thresholds", row.key, examples()[i],
                    [&row](const toml::node& node, Policy& policy) { return read_threshold(row, node, policy); },
                    [&row](const Policy& policy) { return show(row, policy); }});
  }
}

}  // namespace fabric::config
