// SPDX-License-Identifier: Apache-2.0
// Compares texts with files in tests/golden. FABRIC_UPDATE_GOLDEN=1 writes the files.
#pragma once

#include "ctl/verbs.h"
#include "support/test.h"

namespace fabric::test {

// The length of the widest line in code points.
inline size_t widest_line(const std::string& text) {
  size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, static_cast<size_t>(std::count_if(line.begin(), line.end(), [](unsigned char byte) {
                        return (byte & 0xc0) != 0x80;  // one for each code point
                      })));
  return widest;
}

// Compares the text between two lines of a source file, which are not part of it. FABRIC_UPDATE_GOLDEN=1 writes the
// text.
inline void expect_golden_between(const std::string& file, std::string_view first, std::string_view last,
                                  const std::string& text) {
  std::string whole = of_source(file);
  const size_t begin = whole.find(first) + first.size(), end = whole.find(last, begin);
  ASSERT_TRUE(begin >= first.size() && end != std::string::npos) << file;
  const std::string old = whole.substr(begin, end - begin);
  if (is_updating_golden()) std::ofstream(FABRIC_SOURCE_DIR "/" + file) << whole.replace(begin, end - begin, text);
  else EXPECT_TRUE(same_text(old, text)) << is_out_of_date(file);
}

// Compares the text with tests/golden/NAME.
inline void expect_golden(const std::string& name, const std::string& text) {
  expect_generated("tests/golden/" + name, text);
}

// Compares the texts for terminals of 80 and of 120 columns with NAME_80.txt and NAME_120.txt. No line may be wider.
inline void expect_goldens(const std::string& name, const std::function<std::string(const ctl::Output&)>& text) {
  for (const unsigned width : {80U, 120U}) {
    ctl::Output output;
    output.width = width;
    const std::string shown = text(output);
    EXPECT_LE(widest_line(shown), width) << shown;
    expect_golden(name + "_" + std::to_string(width) + ".txt", shown);
  }
}

}  // namespace fabric::test
