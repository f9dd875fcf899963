// SPDX-License-Identifier: Apache-2.0
// Documents: the files, functions and tests that CONTRIBUTING.md names exist; a release has one version; pictures of
// README match its text. The man pages as roff(7) reads them.
#include "support/test.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;

// -- CONTRIBUTING.md and README.md

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
  for (const auto& entry : fs::directory_iterator(FABRIC_SOURCE_DIR "/tests/faults"))
    if (const std::string stem = entry.path().stem(); stem.ends_with("_test"))
      names.insert("unit/faults/" + stem.substr(0, stem.rfind("_test")));
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

TEST(Release, HasOneVersion) {
  const std::string version = FABRIC_VERSION, changelog = test::of_source("packaging/debian/changelog");
  EXPECT_TRUE(changelog.starts_with("fabric-agent (" + version + ") ")) << changelog;
  const std::string chart = test::of_source("etc/kubernetes/helm/Chart.yaml");
  EXPECT_TRUE(test::has(chart, "\nversion: " + version + "\n") && test::has(chart, "\nappVersion: " + version + "\n"))
      << chart;
  EXPECT_TRUE(test::has(test::of_source("CHANGELOG.md"), "\n## " + version + " - ")) << version;
  EXPECT_TRUE(test::has(test::of_source("agent/ctl/fabric-fleet.7"), "REGISTRY/fabric-agent:" + version)) << version;
}

TEST(Readme, PicturesShowWhatItSays) {
  const std::string screens = "tests/golden/screens/";
  for (const char* picture : {"check.ansi", "check.svg", "topo.ansi", "topo.svg"}) {
    const std::string text = test::of_source(screens + picture);
    EXPECT_FALSE(test::has(text, "Permission") || test::has(text, "permitted")) << picture << " is not of root";
  }
  const std::string topo = test::of_source(screens + "topo.ansi");
  EXPECT_LT(topo.find("Best pairing"), topo.find("GPU0 GPU1")) << "the pairing is what README calls first";
}

// -- Man pages

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
