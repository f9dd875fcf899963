// SPDX-License-Identifier: Apache-2.0
// The man pages as roff(7) reads them.
#include "support/test.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;

// The quotation marks of a macro's arguments are not printed: one in the text is \(dq. Returns the fault, or "".
std::string fault_of_quotes(const std::string& line) {
  for (size_t at = line.find(' '); at != std::string::npos && at + 1 < line.size(); at = line.find(' ', at + 1)) {
    if (line[at + 1] != '"') continue;
    const size_t close = line.find('"', at + 2);
    if (close == std::string::npos) return "no closing quotation mark";
    if (close + 1 < line.size() && line[close + 1] != ' ') return "text after a closing quotation mark";
    at = close;
  }
  return {};
}

TEST(Pages, QuotationMarksInTextArePrinted) {
  EXPECT_NE(fault_of_quotes(".B jq 'select(.status != \"ok\")'"), "");
  EXPECT_EQ(fault_of_quotes(".BR check \" [\" \\-\\-only \" \\fIID\\fR,...]\""), "");
  size_t pages = 0;
  for (const auto& entry : fs::recursive_directory_iterator(FABRIC_SOURCE_DIR "/agent")) {
    const std::string kind = entry.path().extension();
    if (kind.size() != 2 || kind.find_first_of("15678") != 1) continue;
    ++pages;
    std::istringstream text(test::of_source(fs::relative(entry.path(), FABRIC_SOURCE_DIR).string()));
    for (std::string line; std::getline(text, line);)
      if (line.starts_with('.')) EXPECT_EQ(fault_of_quotes(line), "") << entry.path() << ": " << line;
  }
  EXPECT_GE(pages, 8U);
}

}  // namespace
}  // namespace fabric
