// SPDX-License-Identifier: Apache-2.0
// No machine of the corpus gets a finding of the platform: each was in order, or tells nothing that would say
// otherwise.
#include "scan/scan.h"
#include "support/corpus.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

using CorpusPlatform = test::OfCorpus;
TEST_F(CorpusPlatform, EveryTreeIsSilent) {
  int machines = 0;
  for (const char* folder : {"/sysfs-derived", "/hwloc-fsroot"})
    for (const auto& archive : std::filesystem::directory_iterator(corpus + folder)) {
      SCOPED_TRACE(archive.path().string());
      const test::Unpacked tree(archive.path().string());
      auto kernel = open_kernel(tree.root());
      ASSERT_TRUE(kernel) << kernel.error().text();
      const Node node = scan(*kernel);
      EXPECT_EQ(test::said({.now = node}, {"platform", "pcie"}), "");
      ++machines;
    }
  EXPECT_GT(machines, 20);
}

}  // namespace
}  // namespace fabric
