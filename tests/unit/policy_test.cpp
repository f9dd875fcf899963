// SPDX-License-Identifier: Apache-2.0
#include "model/policy.h"

#include <gtest/gtest.h>

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
  policy.ports.push_back({.name = "it", .match = std::move(match), .want = {}, .where = {}, .origin = {}});
  return policy;
}

bool takes(Match match, const Port& port = roce_port()) { return policy_for(policy_with(std::move(match)), port) != nullptr; }

TEST(PolicyFor, AnEntryWithoutMatchTakesEveryRocePort) { EXPECT_TRUE(takes({})); }

TEST(PolicyFor, ADriverIsMatchedByTheKernelsNameAndByOurs) {
  EXPECT_TRUE(takes({.driver = {"mlx5_core"}, .rdma = {}, .netdev = {}, .pci = {}}));
  EXPECT_TRUE(takes({.driver = {"mlx5"}, .rdma = {}, .netdev = {}, .pci = {}}));
  EXPECT_FALSE(takes({.driver = {"bnxt*"}, .rdma = {}, .netdev = {}, .pci = {}}));
}

TEST(PolicyFor, EveryGivenListMustHaveAMatch) {
  Match match{.driver = {"bnxt_en", "mlx5*"}, .rdma = {"mlx5_[01]"}, .netdev = {"ens*"}, .pci = {"0000:17:*"}};
  EXPECT_TRUE(takes(match));
  match.netdev = {"eth*"};
  EXPECT_FALSE(takes(match));
}

TEST(PolicyFor, TheFirstMatchWins) {
  Policy policy = policy_with({.driver = {}, .rdma = {"mlx5_9"}, .netdev = {}, .pci = {}});
  policy.ports.push_back({.name = "second", .match = {}, .want = {}, .where = {}, .origin = {}});
  policy.ports.push_back({.name = "third", .match = {}, .want = {}, .where = {}, .origin = {}});
  const PortPolicy* found = policy_for(policy, roce_port());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "second");
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
