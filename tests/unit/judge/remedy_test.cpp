// SPDX-License-Identifier: Apache-2.0
// Fixes that fit the machine: a guest, a captured tree, a node with jobs.
#include "judge/remedy.h"

#include "judge/finding.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;
using test::Healthy;

std::string adapted(const View& view, std::string remedy, std::string subject = "mlx5_1/1") {
  Finding finding = bad(Status::warning, std::move(subject), "observed", "expected", "It is wrong.", std::move(remedy));
  adapt_remedy(finding, view);
  return finding.remedy;
}

TEST(Remedy, StepsAreJoinedAsSentences) {
  EXPECT_EQ(joined_steps({"Read the module.", "ethtool -m ens0", "Then swap it."}),
            "Read the module. ethtool -m ens0; Then swap it.");
  EXPECT_EQ(joined_steps({}), "");
}

TEST(Remedy, AGuestHasNoHandsAtTheHardware) {
  Healthy node;
  node.now.topology.hypervisor = "Amazon EC2";
  for (const char* remedy :
       {"Reseat the device or its riser, and check lanes and speed of the slot in the firmware setup. Errors: "
        "journalctl -k -g aer",
        "journalctl -k -g aer; then power the node off and on, check the power of the device, and reseat it.",
        "Check the module: ethtool -m ens0. Clean, reseat or replace the cable and the transceivers."}) {
    const std::string text = adapted(node.view(), remedy);
    for (const char* word : {"eseat", "riser", "power the node", "Drain"}) EXPECT_FALSE(has(text, word)) << text;
    EXPECT_TRUE(has(text, "This is a virtual machine (Amazon EC2): report it to the operator of the host")) << text;
  }
  EXPECT_TRUE(has(adapted(node.view(), "Reseat it. Errors: journalctl -k"), "Errors: journalctl -k"));
  EXPECT_EQ(adapted(node.view(), "ip link set ens1 up"), "ip link set ens1 up");
}

TEST(Remedy, OfACapturedTreeStartsNoServiceHere) {
  Healthy node;
  View view = node.view();
  EXPECT_EQ(adapted(view, "systemctl enable --now fabric-agent"), "systemctl enable --now fabric-agent");
  view.is_captured = true;
  const std::string alone =
      adapted(view, "systemctl enable --now fabric-agent; if it does not stay up: journalctl -u fabric-agent", "host");
  EXPECT_FALSE(has(alone, "systemctl")) << alone;
  EXPECT_TRUE(has(alone, "captured tree")) << alone;
  EXPECT_EQ(
      adapted(view, "fabric-agentctl plan (then systemctl daemon-reload). Read the log; then systemctl restart x"),
      "fabric-agentctl plan. Read the log");
  EXPECT_EQ(adapted(view, "Find the other program (journalctl -u x) and stop it; the agent then enforces the value."),
            "Find the other program and stop it; the agent then enforces the value.");
}

TEST(Remedy, WorkThatEndsJobsBeginsWithADrainedNode) {
  Healthy node;
  EXPECT_EQ(adapted(node.view(), "Read the log: journalctl -k. Clean and reseat the connectors."),
            "Read the log: journalctl -k. Drain the node first. Clean and reseat the connectors.");
  EXPECT_EQ(adapted(node.view(), "journalctl -k; then reload the driver."),
            "Drain the node first. journalctl -k; then reload the driver.");
  for (const char* remedy :
       {"Update the firmware while no job runs, and reboot.", "ip link set ens1 up", "Set mtu = 9000 in the policy.",
        "Replaces the old value.", "Set it again after each reboot."})
    EXPECT_EQ(adapted(node.view(), remedy), remedy);
  // The cable of a port that is down carries no job; its node may.
  test::down(node, 1, 2);
  EXPECT_EQ(adapted(node.view(), "Reseat or replace the cable."), "Reseat or replace the cable.");
  EXPECT_TRUE(adapted(node.view(), "Reboot the node.").starts_with("Drain the node first. "));
}

TEST(Remedy, StepsOfACauseChangeWithTheRemedy) {
  Healthy node;
  Finding finding = bad(Status::critical, "mlx5_1/1", "o", "e", "It is wrong.", "");
  finding.culprit = Culprit::cable;
  finding.next = {"Read the module: ethtool -m ens1", "Clean and reseat cable and modules.", "Try another port."};
  Finding guests = finding;
  adapt_remedy(finding, node.view());
  ASSERT_EQ(finding.next.size(), 4u);
  EXPECT_EQ(finding.next[1], "Drain the node first.");
  EXPECT_EQ(finding.remedy, joined_steps(finding.next));
  node.now.topology.hypervisor = "QEMU";
  adapt_remedy(guests, node.view());
  EXPECT_FALSE(has(joined_steps(guests.next), "eseat")) << joined_steps(guests.next);
}

}  // namespace
}  // namespace fabric
