// SPDX-License-Identifier: Apache-2.0
#include "model/policy.h"

#include "support/test.h"

namespace fabric {
namespace {

Port roce_port() {
  Port port;
  port.rdma = "mlx5_0";
  port.netdev = "ens1f0np0";
  port.pci = "0000:17:00.0";
  port.kernel_driver = "mlx5_core";
  port.driver = "mlx5";
  port.link_layer = LinkLayer::ethernet;
  return port;
}

Policy policy_with(Match match) {
  Policy policy;
  policy.ports.emplace_back().match = std::move(match);
  return policy;
}

bool takes(Match match, const Port& port = roce_port()) {
  return policy_for(policy_with(std::move(match)), port) != nullptr;
}

Match drivers(std::vector<std::string> patterns) {
  Match match;
  match.driver = std::move(patterns);
  return match;
}

TEST(PolicyFor, AnEntryWithoutMatchTakesEveryRocePort) { EXPECT_TRUE(takes({})); }

TEST(PolicyFor, ADriverIsMatchedByTheKernelsNameAndByOurs) {
  EXPECT_TRUE(takes(drivers({"mlx5_core"})));
  EXPECT_TRUE(takes(drivers({"mlx5"})));
  EXPECT_FALSE(takes(drivers({"bnxt*"})));
}

TEST(PolicyFor, EveryGivenListMustHaveAMatch) {
  Match match = drivers({"bnxt_en", "mlx5*"});
  match.rdma = {"mlx5_[01]"};
  match.netdev = {"ens*"};
  match.pci = {"0000:17:*"};
  EXPECT_TRUE(takes(match));
  match.netdev = {"eth*"};
  EXPECT_FALSE(takes(match));
}

TEST(PolicyFor, APortIsMatchedByWhatItIs) {
  Port port = roce_port();
  port.pci_id = "15b3:1021";
  port.speed = 400'000;
  port.numa = 1;
  port.role = "compute";
  Match match;
  match.pci_id = {"15b3:*"};
  match.speed = {"200000", "400000"};
  match.numa = {"1"};
  match.role = {"compute"};
  EXPECT_TRUE(takes(match, port));
  EXPECT_FALSE(takes(match)) << "what is not known matches nothing";
  match.numa = {"0"};
  EXPECT_FALSE(takes(match, port));
}

TEST(Window, PastMidnightBelongsToTheDayOnWhichItBegins) {
  const std::vector<Window> windows{{1U << 6, 1380, 60}};  // Sat 23:00-01:00
  EXPECT_TRUE(in_window(windows, 6, 1380));
  EXPECT_TRUE(in_window(windows, 0, 59));
  EXPECT_FALSE(in_window(windows, 0, 60));
  EXPECT_FALSE(in_window(windows, 0, 1380));
  EXPECT_FALSE(in_window(windows, 6, 30));
  EXPECT_TRUE(in_window({}, 3, 0)) << "no window at all is no limit";
}

TEST(PolicyFor, TheFirstMatchWins) {
  Policy policy = policy_with(drivers({"bnxt_en"}));
  for (const char* name : {"second", "third"}) policy.ports.emplace_back().name = name;
  const PortPolicy* found = policy_for(policy, roce_port());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "second");
}

// A link that is down has no speed: an entry that matches one may be the port's, and no later one is.
TEST(PolicyFor, WithoutASpeedWhatAsksForOneIsUndecided) {
  Match fast = drivers({"mlx5_core"});
  fast.speed = {"400000"};
  Policy policy = policy_with(fast);
  policy.ports.back().name = "fast";
  policy.ports.emplace_back().name = "rest";
  Port port = roce_port();
  ASSERT_NE(policy_for(policy, port), nullptr) << "one that never says its speed";
  EXPECT_EQ(policy_for(policy, port)->name, "rest");
  port.carrier = false;
  EXPECT_EQ(policy_for(policy, port), nullptr);
  EXPECT_NE(why_left_alone(policy, port).find("fast"), std::string::npos) << why_left_alone(policy, port);
  port.speed = 100'000;
  ASSERT_NE(policy_for(policy, port), nullptr);
  EXPECT_EQ(policy_for(policy, port)->name, "rest");
  port.speed.reset();
  port.kernel_driver = port.driver = "bnxt_en";
  ASSERT_NE(policy_for(policy, port), nullptr) << "no speed would make it the first one's";
  EXPECT_EQ(policy_for(policy, port)->name, "rest");
}

TEST(PolicyFor, PortsWhoseSettingsAreNotTheirOwnAreLeftAlone) {
  Port infiniband = roce_port();
  infiniband.link_layer = LinkLayer::infiniband;
  EXPECT_FALSE(takes({}, infiniband));
  Port function = roce_port();
  function.virtual_function = true;
  EXPECT_FALSE(takes({}, function));
  Port bare = roce_port();
  bare.netdev.clear();
  EXPECT_FALSE(takes({}, bare));
}

TEST(Policy, ChangesNothingUnlessToldTo) {
  EXPECT_EQ(Policy{}.mode, Mode::audit);
  EXPECT_EQ(Policy{}.disruptive, Disruptive::idle);
  EXPECT_EQ(to_text(Mode::enforce), "enforce");
  EXPECT_EQ(to_text(Disruptive::never), "never");
}

}  // namespace
}  // namespace fabric
