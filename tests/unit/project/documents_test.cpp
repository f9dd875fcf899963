// SPDX-License-Identifier: Apache-2.0
// Documents: the files that they name exist, and the functions and tests that CONTRIBUTING.md names; a release has one
// version; pictures of README match its text; alertmanager.yml knows every setting. The man pages as roff(7) reads
// them.
#include "setting/setting_table.h"
#include "support/test.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;

// -- CONTRIBUTING.md and README.md

// `lib/nic/driver.h`, `tests/run lint`; not a pattern (`lib/nic/NAME/settings.cpp`).
TEST(Documents, EachPathExists) {
  const std::regex path("`((lib|agent|tests|etc|packaging|systemd)/[a-z0-9_./-]+)( [^`]*)?`");
  size_t paths = 0;
  for (const char* name : {"README.md", "CONTRIBUTING.md", "SECURITY.md", "lib/README.md", "agent/README.md",
                           "etc/README.md", "packaging/README.md", "systemd/README.md", "tests/README.md",
                           "tests/vm/README.md", "tests/faults/README.md"}) {
    const std::string page = test::of_source(name);
    for (std::sregex_iterator found(page.begin(), page.end(), path), end; found != end; ++found, ++paths)
      EXPECT_TRUE(fs::exists(FABRIC_SOURCE_DIR "/" + (*found)[1].str())) << name << ": " << (*found)[1];
  }
  EXPECT_GT(paths, 60u);
}

// The text of all sources in the folders; by default those of the programs.
std::string sources(std::initializer_list<const char*> folders = {"lib", "agent"}) {
  std::string out;
  for (const char* folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FABRIC_SOURCE_DIR) / folder))
      if (const std::string kind = entry.path().extension(); kind == ".h" || kind == ".cpp")
        out += test::slurp(entry.path());
  return out;
}

// Whether the text has the name as a whole word; a function's with "(" behind it.
bool has_name(const std::string& text, const std::string& name, bool is_function) {
  const auto is_word = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (is_word(at - 1) || is_word(end)) continue;
    if (!is_function || text.compare(end, 1, "(") == 0) return true;
  }
  return false;
}

// `add_if()`, `Agent::do_task()`: also those that the tests share.
TEST(Contributing, EachFunctionExists) {
  const std::string page = test::of_source("CONTRIBUTING.md"),
                    text = sources({"lib", "agent", "tests/support", "tests/unit"});
  const std::regex name("`(?:[a-z]\\w*::)?((?:\\w+::)*\\w+)\\(\\)`");
  size_t functions = 0;
  for (std::sregex_iterator found(page.begin(), page.end(), name), end; found != end; ++found, ++functions)
    EXPECT_TRUE(has_name(text, (*found)[1].str(), true)) << (*found)[0];
  EXPECT_GT(functions, 15u);
}

std::string life_of_a_drift() {
  const std::string page = test::of_source("CONTRIBUTING.md");
  const size_t begin = page.find("\n## Life of a drift\n");
  if (begin == std::string::npos) return {};
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

// `PortManager::publish()` is defined under this name, `qos::reconcile()` as reconcile() in its namespace.
TEST(Contributing, EachNameInTheLifeOfADriftExists) {
  const std::string page = life_of_a_drift(), text = sources();
  const std::regex name("`(?:[a-z]\\w*::)?((?:\\w+::)*(\\w+))(\\(\\))?`");
  size_t functions = 0;
  for (std::sregex_iterator found(page.begin(), page.end(), name), end; found != end; ++found) {
    const bool is_function = (*found)[3].matched;
    functions += is_function ? 1 : 0;
    EXPECT_TRUE(has_name(text, (*found)[is_function ? 1 : 2].str(), is_function)) << (*found)[0];
  }
  EXPECT_GT(functions, 10u);
}

// A comment behind the value, or "// value: ..." above the enum.
TEST(Contributing, EachStateHasAComment) {
  const std::string page = life_of_a_drift();
  const std::regex row("\\| `(?:\\w+::)*(\\w+)` \\|[^|]*\\| `([a-z_/.]+)` \\|"), word("\\w+");
  size_t enums = 0;
  for (std::sregex_iterator found(page.begin(), page.end(), row), end; found != end; ++found, ++enums) {
    const std::string text = test::of_source((*found)[2].str()), head = "enum class " + (*found)[1].str() + " ";
    const size_t begin = text.find('{', text.find(head)), last = text.find("};", begin);
    ASSERT_TRUE(test::has(text, head) && last != std::string::npos) << (*found)[0];
    std::istringstream lines(text.substr(begin + 1, last - begin - 1));
    for (std::string line; std::getline(lines, line);) {
      const size_t comment = line.find("//");
      const std::string code = line.substr(0, comment);
      for (std::sregex_iterator value(code.begin(), code.end(), word); value != end; ++value)
        EXPECT_TRUE(comment != std::string::npos || test::has(text, "// " + (*value)[0].str() + ": "))
            << head << (*value)[0];
    }
  }
  EXPECT_GT(enums, 5u);
}

// A recipe can be followed as it is only if its example is not in the project yet.
TEST(Contributing, ExamplesOfRecipesAreNew) {
  const std::string page = test::of_source("CONTRIBUTING.md"), text = sources();
  const std::regex example("\n\\+.*(?:\\.id = |\\{hw, |SettingId::\\w+, |Metric k\\w+\\{)(\"[a-z0-9_-]+\")");
  size_t examples = 0;
  for (std::sregex_iterator found(page.begin(), page.end(), example), end; found != end; ++found, ++examples)
    EXPECT_FALSE(test::has(text, (*found)[1].str())) << (*found)[1];
  EXPECT_GE(examples, 4u);
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

// A setting of RoCE's class explains loss on its port: both inhibitions of alertmanager.yml have its check, else one
// fault pages twice.
TEST(Alertmanager, EverySettingOfRocesClassExplainsLoss) {
  const std::string file = test::of_source("etc/prometheus/alertmanager.yml");
  const std::regex source("source_matchers: .alertname=\"FabricCheckCritical\", check=~\"([^\"]*)\"");
  size_t inhibitions = 0;
  for (std::sregex_iterator found(file.begin(), file.end(), source), end; found != end; ++found) {
    const std::regex checks((*found)[1].str());
    if (!std::regex_match("pfc", checks)) continue;
    ++inhibitions;
    for (const Setting& setting : kSettings)
      if (setting.traffic != TrafficPart::none || setting.severity == Status::critical)
        EXPECT_TRUE(std::regex_match(std::string(setting.key), checks)) << setting.key << " is not in " << (*found)[1];
  }
  EXPECT_GE(inhibitions, 2u);
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
