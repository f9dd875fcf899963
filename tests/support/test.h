// SPDX-License-Identifier: Apache-2.0
// GoogleTest and the parts of the standard library that tests use. Every test includes this header; it is precompiled.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/parse.h"
#include "base/result.h"
#include "setting/change.h"

namespace fabric {

// How GoogleTest prints our types when a comparison fails.
inline void PrintTo(Outcome outcome, std::ostream* out) { *out << to_text(outcome); }
inline void PrintTo(const Qos& qos, std::ostream* out) {
  for (const Setting& setting : kSettings)
    if (has_value(setting, qos)) *out << setting.key << " = " << value_text(setting, qos) << '\n';
}

}  // namespace fabric

// GoogleTest's own would look at JSON as a container, and be compiled for each type that JSON is compared with.
namespace nlohmann {
inline void PrintTo(const ordered_json& json, std::ostream* out) { *out << json.dump(2); }
}  // namespace nlohmann

namespace fabric::test {

// The content of the file; "" if it does not exist or is a folder.
inline std::string slurp(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) return {};
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// The content of a file in the source tree.
inline std::string of_source(const std::string& file) { return slurp(std::string(FABRIC_SOURCE_DIR "/") + file); }
// Expects that both texts are equal. A failure shows the lines that differ, like diff -u.
inline testing::AssertionResult same_text(const std::string& expected, const std::string& actual) {
  if (expected == actual) return testing::AssertionSuccess();
  const auto lines = [](const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  };
  const std::vector<std::string> before = lines(expected), after = lines(actual);
  if (before == after) return testing::AssertionFailure() << "they differ in the newline at the end";
  return testing::AssertionFailure() << "--- expected\n+++ actual\n"
                                     << testing::internal::edit_distance::CreateUnifiedDiff(before, after);
}
inline bool is_updating_golden() { return std::getenv("FABRIC_UPDATE_GOLDEN") != nullptr; }
// The message that names the command which writes the file.
inline std::string is_out_of_date(const std::string& file) {
  const std::string test = std::filesystem::path(testing::UnitTest::GetInstance()->current_test_info()->file()).stem();
  return file + " is out of date: tests/regenerate " + test.substr(0, test.rfind("_test")) + " writes it";
}
// Expects that a file in the source tree has the text. FABRIC_UPDATE_GOLDEN=1 writes the file.
inline void expect_generated(const std::string& file, const std::string& text) {
  if (is_updating_golden()) std::ofstream(FABRIC_SOURCE_DIR "/" + file, std::ios::binary) << text;
  EXPECT_TRUE(same_text(of_source(file), text)) << is_out_of_date(file);
}
// Expects that the text contains the part. A failure shows both.
inline testing::AssertionResult has(std::string_view text, std::string_view part) {
  const bool found = text.find(part) != text.npos;
  return testing::AssertionResult(found) << '"' << part << (found ? "\" is in: " : "\" is not in: ") << text;
}
// The errno of a failed result; 0: success.
template <class T>
int code_of(const Result<T>& result) {
  return result ? 0 : result.error().code;
}
// The number of occurrences of the part in the text.
inline size_t count_of(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}
// The text with `to` in place of each `from`.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  replace_all(text, from, to);
  return text;
}
// Waits until the condition holds, at most half a minute.
template <class Condition>
bool becomes(Condition condition) {
  for (int i = 0; i < 6'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}
// Names a parameterized case after the `name` of its parameter.
inline constexpr auto kByName = [](const auto& each) { return std::string(each.param.name); };

}  // namespace fabric::test
