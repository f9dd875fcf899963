// SPDX-License-Identifier: Apache-2.0
// CONTRIBUTING.md names files and tests that there are.
#include "support/test.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;

// `lib/nic/driver.h`, `tests/run`; not a pattern (`lib/nic/NAME/settings.cpp`) or a command with arguments.
TEST(Contributing, EachPathExists) {
  const std::string page = test::of_source("CONTRIBUTING.md");
  const std::regex path("`((lib|agent|tests|etc|packaging|systemd)/[a-z0-9_./-]+)`");
  size_t paths = 0;
  for (std::sregex_iterator found(page.begin(), page.end(), path), end; found != end; ++found, ++paths)
    EXPECT_TRUE(fs::exists(FABRIC_SOURCE_DIR "/" + (*found)[1].str())) << (*found)[1];
  EXPECT_GT(paths, 30u);
}

// `tests/run check_host`: a file or a folder of tests/unit; `tests/run vm/drift`: a scenario.
TEST(Contributing, EachTestThatItRunsExists) {
  std::set<std::string> names{"faults", "lint"};
  for (const auto& entry : fs::recursive_directory_iterator(FABRIC_SOURCE_DIR "/tests/unit")) {
    const std::string stem = entry.path().stem();
    if (entry.is_directory()) names.insert("unit/" + stem);
    else names.insert(stem.substr(0, stem.rfind("_test")));
  }
  for (const auto& entry : fs::directory_iterator(FABRIC_SOURCE_DIR "/tests/vm/scenarios"))
    names.insert("vm/" + entry.path().stem().string());
  const std::string page = test::of_source("CONTRIBUTING.md");
  const std::regex command("`tests/(run|regenerate) ([a-z0-9_/ ]+)`");
  for (std::sregex_iterator found(page.begin(), page.end(), command), end; found != end; ++found) {
    std::istringstream words((*found)[2].str());
    for (std::string word; words >> word;) {
      if (word.ends_with("_test")) word.resize(word.size() - 5);
      EXPECT_TRUE(names.contains(word)) << (*found)[0];
    }
  }
}

}  // namespace
}  // namespace fabric
