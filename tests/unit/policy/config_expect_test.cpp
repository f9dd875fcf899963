// SPDX-License-Identifier: Apache-2.0
// [expect], [firmware] and [driver_version]: what is read, and that config show gives it back.
#include "policy/config.h"
#include "support/config.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::good;
using test::has;

constexpr const char* kText = R"([expect]
gpus = 8
compute_nics = 16
class = "PXB"
gid_index = 3
speed = "400G"
[firmware]
MT_0000000838 = ["28.39.1002", "28.42.*"]
"15B3:1021" = "28.*"
[driver_version]
"mlx5_*" = "24.10-*"
)";

TEST(Expect, ReadsEveryPin) {
  const Policy policy = good(kText);
  EXPECT_EQ(policy.expect, (Expect{8, 16, PathClass::PXB, 3, 400'000}));
  EXPECT_EQ(policy.firmware, (Versions{{"MT_0000000838", {"28.39.1002", "28.42.*"}}, {"15b3:1021", {"28.*"}}}));
  EXPECT_EQ(policy.driver_version, (Versions{{"mlx5_*", {"24.10-*"}}}));
}

TEST(Expect, NothingIsPinnedByDefault) {
  const Policy policy = good("");
  EXPECT_EQ(policy.expect, Expect{});
  const std::string shown = show_config(policy);
  for (const char* table : {"[expect]", "[firmware]", "[driver_version]"}) EXPECT_FALSE(has(shown, table));
}

TEST(Expect, IsShownAsItWasGiven) {
  const Policy policy = good(kText), again = good(show_config(policy));
  EXPECT_EQ(again.expect, policy.expect);
  EXPECT_EQ(again.firmware, policy.firmware);
  EXPECT_EQ(again.driver_version, policy.driver_version);
  const std::string shown = show_config(policy);
  EXPECT_TRUE(has(shown, "class = \"PXB\""));
  EXPECT_TRUE(has(shown, "# f.toml:4"));
  EXPECT_TRUE(has(shown, "\"15b3:1021\" = [\"28.*\"]"));
  EXPECT_TRUE(has(shown, "# f.toml:9"));
  // A single pin brings its table, and no other line.
  EXPECT_TRUE(has(show_config(good("[expect]\ngid_index = 0\n")), "\n[expect]\ngid_index = 0 "));
}

}  // namespace
}  // namespace fabric
