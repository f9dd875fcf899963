// SPDX-License-Identifier: Apache-2.0
// All captured machines of the corpus: no false findings.
#include "support/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "scan/scan.h"
#include "support/healthy_node.h"

namespace fabric::faults {
namespace {

// A true finding of a machine: "check subject status", and the reason.
struct Truth {
  const char *finding, *why;
};
const std::multimap<std::string, Truth> kTrue{
    {"psmgmt__mel3001",
     {"port-state mlx5_3/1 warning", "the second Ethernet port of its card was down when it was captured"}},
};

bool is_true(const std::string& machine, const Finding& finding) {
  const std::string text = finding.id + " " + finding.subject + " " + std::string(to_text(finding.status));
  const auto [first, last] = kTrue.equal_range(machine);
  return std::any_of(first, last, [&](const auto& each) { return text == each.second.finding; });
}

// A captured tree has no agent and no configuration: they are added, empty.
std::vector<Finding> said(Node node) {
  AgentState agent;
  agent.running = true;
  agent.mode = "audit";
  node.agent = agent;
  const Policy policy;
  const std::map<std::string, Changes> plan;
  return test::complaints(run_checks({.now = node, .policy = &policy, .plan = &plan, .no_policy = {}}));
}

std::vector<std::string> archives() {
  std::vector<std::string> out;
  const auto corpus = test::corpus_directory();
  if (!corpus) return out;
  for (const char* folder : {"/sysfs-derived", "/hwloc-fsroot", "/ib-sysfs"})
    for (const auto& file : std::filesystem::directory_iterator(*corpus + folder)) {
      const std::string path = file.path().string();
      // One archive is of pieces of sysfs, without a root.
      if (path.find(".tar") != std::string::npos && path.find("yuuki") == std::string::npos) out.push_back(path);
    }
  std::sort(out.begin(), out.end());
  return out;
}

std::string name_of(const std::string& archive) {
  const std::string name = std::filesystem::path(archive).filename().string();
  return name.substr(0, name.find(".tar"));
}

class Captured : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() {
    std::printf(
        "figure: fault catalogue: %zu captured machines: %zu false alarms, %zu true findings, %zu questions that the "
        "capture does not answer\n",
        machines, untrue, truths, unanswered);
  }
  static inline size_t machines = 0, untrue = 0, truths = 0, unanswered = 0;
};

TEST_P(Captured, HasNoFalseFindings) {
  const test::Unpacked tree(GetParam());
  auto kernel = open_kernel(tree.root());
  ASSERT_TRUE(kernel) << kernel.error().text();
  ++machines;
  for (const Finding& each : said(scan(*kernel, {.neighbors = true, .host = true}))) {
    if (each.status == Status::unknown) {
      ++unanswered;
    } else if (is_true(name_of(GetParam()), each)) {
      ++truths;
    } else {
      ++untrue;
      ADD_FAILURE() << test::describe(each) << "\n" << each.meaning;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Machine, Captured, testing::ValuesIn(archives()), [](const auto& each) {
  std::string name = name_of(each.param);
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Captured);

}  // namespace
}  // namespace fabric::faults
