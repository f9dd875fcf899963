// SPDX-License-Identifier: Apache-2.0
// No machine of the corpus gets a finding of the platform: each was in order, or tells nothing that would say
// otherwise.
#include "scan/scan.h"
#include "support/corpus.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

TEST(CorpusPlatform, EveryTreeIsSilent) {
  const auto corpus = test::corpus_directory();
  if (!corpus) GTEST_SKIP() << "no corpus: set FABRIC_CORPUS";
  int machines = 0;
  for (const char* folder : {"/sysfs-derived", "/hwloc-fsroot"})
    for (const auto& archive : std::filesystem::directory_iterator(*corpus + folder)) {
      SCOPED_TRACE(archive.path().string());
      const test::Unpacked tree(archive.path().string());
      auto kernel = open_kernel(tree.root());
      ASSERT_TRUE(kernel) << kernel.error().text();
      const Node node = scan(*kernel);
      const std::vector<std::string> only{"platform", "pcie"};
      const View view{.now = node, .before = nullptr, .policy = nullptr, .plan = nullptr, .no_policy = {}};
      EXPECT_EQ(test::describe(test::complaints(run_checks(view, only))), "");
      ++machines;
    }
  EXPECT_GT(machines, 20);
}

}  // namespace
}  // namespace fabric
