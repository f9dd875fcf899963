// SPDX-License-Identifier: Apache-2.0
// The questions about a port that its state and its role answer.
#include "node/port.h"

#include "support/ports.h"
#include "support/test.h"

namespace fabric {
namespace {

TEST(Port, WhetherItHasALink) {
  enum : uint8_t { kActive = 1, kMayBe = 2, kDown = 4, kUp = 8 };
  struct {
    bool member;
    std::optional<unsigned> state;
    std::optional<bool> carrier;
    int expected;
    const char* what;
  } const rows[]{
      {false, kPortActive, true, kActive | kMayBe | kUp, "RoCE"},
      {false, kPortActive, std::nullopt, kActive | kMayBe | kUp, "InfiniBand has no carrier"},
      {false, kPortActive, false, kActive | kMayBe | kDown, "the RDMA state follows the carrier later"},
      {false, kPortDown, true, kDown, "DOWN by itself"},
      {false, kPortDown, std::nullopt, kDown, "InfiniBand"},
      {false, kPortInit, std::nullopt, 0, "a link without a subnet manager"},
      {false, kPortArmed, std::nullopt, 0, "a link without a subnet manager"},
      {false, kPortActiveDefer, std::nullopt, 0, "neither"},
      {false, std::nullopt, std::nullopt, kMayBe, "nothing could be read"},
      {false, std::nullopt, false, kMayBe | kDown, "the state could not be read"},
      {true, kPortActive, true, kActive | kMayBe | kUp, "a member"},
      {true, kPortActive, false, kActive | kMayBe | kDown, "the bond has its link by another member"},
      {true, kPortDown, true, 0, "the bond has no LACP partner, its member has a link"},
      {true, kPortDown, false, kDown, "no member has a link"},
      {true, kPortDown, std::nullopt, kDown, "the member's netdev could not be read"},
  };
  for (const auto& row : rows) {
    Port port;
    if (row.member) test::make_member(port);
    port.state = row.state;
    port.carrier = row.carrier;
    const int found = (is_active(port) ? kActive : 0) | (may_be_active(port) ? kMayBe : 0) |
                      (is_down(port) ? kDown : 0) | (is_up(port) ? kUp : 0);
    EXPECT_EQ(found, row.expected) << row.what;
    std::string_view word = row.state ? "not active" : "state not known";
    if (found & kDown) word = "down";
    if (found & kUp) word = "up";
    EXPECT_EQ(link_word(port), word) << row.what;
    port.rate = 25e9;
    EXPECT_EQ(link_summary(port), (found & kUp) != 0 ? "200 Gb/s" : word) << row.what;
    EXPECT_EQ(test::has(link_state_text(port), ", no carrier"), (found & kActive) != 0 && (found & kDown) != 0)
        << row.what;
  }
}

TEST(Port, IdsOfADevice) {
  for (const char* id : {"mlx5_1", "mlx5_1/1", "mlx5_1/2@ens1f0np0"}) EXPECT_TRUE(is_of_device(id, "mlx5_1")) << id;
  for (const char* id : {"mlx5_10", "mlx5_10/1", "mlx5_0/1", "mlx5", ""})
    EXPECT_FALSE(is_of_device(id, "mlx5_1")) << id;
}

TEST(Port, TextOfItsStates) {
  Port port;
  EXPECT_EQ(link_state_text(port), "not known");
  port.state = kPortDown, port.phys_state = 3;
  EXPECT_EQ(link_state_text(port), "DOWN, Disabled");
}

}  // namespace
}  // namespace fabric
