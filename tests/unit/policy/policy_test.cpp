// SPDX-License-Identifier: Apache-2.0
#include "policy/policy.h"

#include "support/ports.h"
#include "support/test.h"

namespace fabric {
namespace {

Port roce_port() {
  return {.rdma = "mlx5_0",
          .netdev = "ens1f0np0",
          .pci = "0000:17:00.0",
          .kernel_driver = "mlx5_core",
          .driver = "mlx5",
          .link_layer = LinkLayer::ethernet};
}

Policy policy_with(Match match) { return {.ports = {{.match = std::move(match)}}}; }

// The name of the entry that has the port; "none".
std::string entry_of(const Policy& policy, const Port& port) {
  const PortPolicy* found = policy_for(policy, port);
  return found == nullptr ? "none" : found->name;
}

bool takes(Match match, const Port& port = roce_port()) {
  return policy_for(policy_with(std::move(match)), port) != nullptr;
}

Match drivers(std::vector<std::string> patterns) { return {.driver = std::move(patterns)}; }

TEST(PolicyFor, AnEntryWithoutMatchTakesEveryRocePort) { EXPECT_TRUE(takes({})); }

TEST(PolicyFor, ADriverIsMatchedByTheKernelsNameAndByOurs) {
  EXPECT_TRUE(takes(drivers({"mlx5_core"})));
  EXPECT_TRUE(takes(drivers({"mlx5"})));
  EXPECT_FALSE(takes(drivers({"bnxt*"})));
}

TEST(PolicyFor, EveryGivenListMustHaveAMatch) {
  Match match{.driver = {"bnxt_en", "mlx5*"}, .rdma = {"mlx5_[01]"}, .netdev = {"ens*"}, .pci = {"0000:17:*"}};
  EXPECT_TRUE(takes(match));
  match.netdev = {"eth*"};
  EXPECT_FALSE(takes(match));
}

TEST(PolicyFor, ANetdevIsMatchedByItsOtherNames) {
  Port port = roce_port();
  port.altnames = {"rail0", "enp23s0f0np0"};
  EXPECT_TRUE(takes({.netdev = {"rail*"}}, port));
  EXPECT_TRUE(takes({.netdev = {"ens1f0np0"}}, port));
  EXPECT_FALSE(takes({.netdev = {"rail1"}}, port));
}

TEST(PolicyFor, APortIsMatchedByWhatItIs) {
  Port port = roce_port();
  port.pci_id = "15b3:1021";
  port.speed = 400'000;
  port.numa = 1;
  port.serves = "compute";
  Match match{.pci_id = {"15b3:*"}, .speed = {"200000", "400000"}, .numa = {"1"}, .role = {"compute"}};
  EXPECT_TRUE(takes(match, port));
  EXPECT_FALSE(takes(match)) << "what is not known matches nothing";
  match.numa = {"0"};
  EXPECT_FALSE(takes(match, port));
}

// Cisco's VIC is the management NIC of its servers.
TEST(PolicyFor, AUsnicDeviceIsLeftAlone) {
  Port port = roce_port();
  port.usnic = true;
  EXPECT_FALSE(takes({}, port));
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
  EXPECT_EQ(entry_of(policy, roce_port()), "second");
}

// A link that is down has no speed: an entry that matches one may be the port's, and no later one is.
TEST(PolicyFor, WithoutASpeedWhatAsksForOneIsUndecided) {
  const Policy policy{
      .ports = {{.name = "fast", .match = {.driver = {"mlx5_core"}, .speed = {"400000"}}}, {.name = "rest"}}};
  Port port = roce_port();
  EXPECT_EQ(entry_of(policy, port), "rest") << "one that never says its speed";
  port.carrier = false;
  EXPECT_EQ(entry_of(policy, port), "none");
  EXPECT_TRUE(test::has(why_unmanaged(policy, port), "fast"));
  port.speed = 100'000;
  EXPECT_EQ(entry_of(policy, port), "rest");
  port.speed.reset();
  port.kernel_driver = port.driver = "bnxt_en";
  EXPECT_EQ(entry_of(policy, port), "rest") << "no speed would make it the first one's";
}

TEST(PolicyFor, PortsWhoseSettingsAreNotTheirOwnAreLeftAlone) {
  Port infiniband = roce_port(), function = roce_port(), bare = roce_port();
  infiniband.link_layer = LinkLayer::infiniband;
  test::make_virtual(function);
  bare.netdev.clear();
  for (const Port& port : {infiniband, function, bare}) EXPECT_FALSE(takes({}, port)) << port.netdev;
}

TEST(Policy, ChangesNothingUnlessToldTo) {
  EXPECT_EQ(Policy{}.mode, Mode::audit);
  EXPECT_EQ(Policy{}.disruptive, Disruptive::idle);
  EXPECT_EQ(to_text(Mode::enforce), "enforce");
  EXPECT_EQ(to_text(Disruptive::never), "never");
}

}  // namespace
}  // namespace fabric
