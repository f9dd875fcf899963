// SPDX-License-Identifier: Apache-2.0
// fabric-checks(7) matches the tables in lib/checks, and every row in a file is in the table.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "checks/check.h"
#include "support/manuals.h"

namespace fabric {
namespace {

const std::string kPage = FABRIC_SOURCE_DIR "/agent/ctl/fabric-checks.7";

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ChecksManual, MatchesTheTables) {
  const std::string made = test::checks_manual();
  if (std::getenv("FABRIC_UPDATE_GOLDEN") != nullptr) std::ofstream(kPage) << made;
  EXPECT_EQ(content(kPage), made) << kPage << " is out of date; run tests/regenerate check_manual";
}

// CMake finds rows by their first line: one that it misses would never run.
TEST(ChecksManual, EveryRowInAFileIsRegistered) {
  const std::regex id(R"(\.id = "([^"]+)\")");
  size_t rows = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(FABRIC_SOURCE_DIR "/lib/checks")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = content(file.path());
    for (std::sregex_iterator found(text.begin(), text.end(), id), end; found != end; ++found, ++rows)
      EXPECT_NE(find_check((*found)[1].str()), nullptr)
          << file.path() << ": start the row with `extern const Check kName{`, then run cmake again";
  }
  EXPECT_GE(rows, 36u);
}

}  // namespace
}  // namespace fabric
