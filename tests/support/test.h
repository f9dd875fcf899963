// SPDX-License-Identifier: Apache-2.0
// GoogleTest and the parts of the standard library that tests use: every test includes this. Precompiled.
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

#include "base/result.h"
#include "setting/change.h"

namespace fabric {

// How GoogleTest shows values of ours where a comparison fails.
inline void PrintTo(Outcome outcome, std::ostream* out) { *out << to_text(outcome); }
inline void PrintTo(const Qos& qos, std::ostream* out) {
  for (const Setting& setting : kSettings)
    if (has_value(setting, qos)) *out << setting.key << " = " << value_text(setting, qos) << '\n';
}

}  // namespace fabric

namespace fabric::test {

// The whole file; "" where there is none, or a folder.
inline std::string slurp(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) return {};
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// A file of the project's source.
inline std::string of_source(const std::string& file) { return slurp(std::string(FABRIC_SOURCE_DIR "/") + file); }
// Both texts are equal; a failure shows the lines that differ, as diff -u does.
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
// Says how the file is written again.
inline std::string is_out_of_date(const std::string& file) {
  const std::string test = std::filesystem::path(testing::UnitTest::GetInstance()->current_test_info()->file()).stem();
  return file + " is out of date: tests/regenerate " + test.substr(0, test.rfind("_test")) + " writes it";
}
// The file of the project's source has the text. FABRIC_UPDATE_GOLDEN=1 writes it.
inline void expect_generated(const std::string& file, const std::string& text) {
  if (is_updating_golden()) std::ofstream(FABRIC_SOURCE_DIR "/" + file, std::ios::binary) << text;
  EXPECT_TRUE(same_text(of_source(file), text)) << is_out_of_date(file);
}
// The text has the part in it; a failure shows both.
inline testing::AssertionResult has(std::string_view text, std::string_view part) {
  const bool found = text.find(part) != text.npos;
  return testing::AssertionResult(found) << '"' << part << (found ? "\" is in: " : "\" is not in: ") << text;
}
// The errno of a failure; 0: it is none.
template <class T>
int code_of(const Result<T>& result) {
  return result ? 0 : result.error().code;
}
// How often the part is in the text.
inline size_t count_of(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}
// True once the condition holds, which may take half a minute.
template <class Condition>
bool becomes(Condition condition) {
  for (int i = 0; i < 6'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}
// A parameter's `name` as the name of its case.
inline constexpr auto kByName = [](const auto& each) { return std::string(each.param.name); };

}  // namespace fabric::test
