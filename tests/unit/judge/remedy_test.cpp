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

std::string adapted(const View& view, Fix fix, std::string subject = "mlx5_1/1") {
  Finding finding = bad(Status::warning, std::move(subject), "observed", "expected", "It is wrong.", std::move(fix));
  adapt_remedy(finding, view);
  return finding.remedy;
}

TEST(Remedy, StepsAreJoinedAsSentences) {
  EXPECT_EQ(joined_steps({"Read the module.", "ethtool -m ens0", "Then swap it."}),
            "Read the module. ethtool -m ens0; Then swap it.");
  EXPECT_EQ(joined_steps({}), "");
}

TEST(Remedy, ARowIsTheTextOfItsSteps) {
  constexpr FixRow kRow{"Read the log; ", {Work::at_link, "then swap {rdma}."}};
  static_assert(!kRow.empty() && FixRow().empty());
  EXPECT_EQ(kRow.text(), "Read the log; then swap {rdma}.");
  EXPECT_EQ(Fix(kRow).steps, (std::vector<Step>{"Read the log; ", {Work::at_link, "then swap {rdma}."}}));
  EXPECT_EQ(Fix(FixRow(Work::in_machine, "Move it.")).steps.front().work, Work::at_machine | Work::ends_jobs);
  EXPECT_TRUE(Fix("").empty() && Fix(FixRow()).empty());
}

TEST(Remedy, AGuestHasNoHandsAtTheHardware) {
  Healthy node;
  node.now.topology.hypervisor = "Amazon EC2";
  const std::string report =
      "This is a virtual machine (Amazon EC2): report it to the operator of the host, who has the hardware.";
  EXPECT_EQ(adapted(node.view(), {{Work::in_machine, "Turn it round. "}, "Errors: journalctl -k -g aer"}),
            "Errors: journalctl -k -g aer; " + report);
  EXPECT_EQ(adapted(node.view(), {"journalctl -k -g aer; ", {Work::in_machine, "then turn it round."}}),
            "journalctl -k -g aer; " + report);
  EXPECT_EQ(adapted(node.view(), {{Work::at_link, "Polish it; "}, "then read the log."}), "read the log. " + report);
  EXPECT_EQ(adapted(node.view(), {"Read its state", {Work::at_link, ", then the cable"}, ": ethtool ens1"}),
            "Read its state: ethtool ens1; " + report);
  EXPECT_EQ(adapted(node.view(), {"Compare:\nlspci; ", {Work::at_machine, "then look at the fans."}}),
            report + " Compare:\nlspci");
  EXPECT_EQ(adapted(node.view(), {Work::at_link | Work::when_idle, "Polish it when no job runs."}), report);
  // By its kind, not by its words.
  EXPECT_EQ(adapted(node.view(), "ip link set ens1 up; see reseat(8)"), "ip link set ens1 up; see reseat(8)");
  EXPECT_EQ(adapted(node.view(), {Work::ends_jobs, "Reboot."}), "Drain the node first. Reboot.");
}

TEST(Remedy, OfACapturedTreeStartsNoServiceHere) {
  Healthy node;
  View view = node.view();
  const Fix start{Work::service, "systemctl enable --now fabric-agent"};
  EXPECT_EQ(adapted(view, start), "systemctl enable --now fabric-agent");
  view.is_captured = true;
  EXPECT_EQ(adapted(view, start, "host"),
            "This is a captured tree: start the service on the captured machine, and capture it again.");
  EXPECT_EQ(adapted(view, {"fabric-agentctl plan",
                           {Work::service, " (then systemctl daemon-reload)"},
                           ". Read the log; ",
                           {Work::service, "then systemctl restart x"}}),
            "fabric-agentctl plan. Read the log");
}

TEST(Remedy, WorkThatEndsJobsBeginsWithADrainedNode) {
  Healthy node;
  EXPECT_EQ(adapted(node.view(), {"Read the log: journalctl -k. ", {Work::at_link, "Polish the connectors."}}),
            "Read the log: journalctl -k. Drain the node first. Polish the connectors.");
  // Before the sentence, in whichever step it begins.
  const Step last(Work::ends_jobs, "then start it again.");
  EXPECT_EQ(adapted(node.view(), {"journalctl -k; ", last}),
            "Drain the node first. journalctl -k; then start it again.");
  EXPECT_EQ(adapted(node.view(), {"Look. journalctl -k; ", "lspci; ", last, " Look."}),
            "Look. Drain the node first. journalctl -k; lspci; then start it again. Look.");
  EXPECT_EQ(adapted(node.view(), {"Look:\nlspci; ", last}), "Look:\nDrain the node first. lspci; then start it again.");
  // A step that says when, or no such work.
  EXPECT_EQ(adapted(node.view(), {{Work::ends_jobs | Work::when_idle, "Restart it when no job runs. "}, last}),
            "Restart it when no job runs. then start it again.");
  EXPECT_EQ(adapted(node.view(), {Work::at_machine, "Look at the fans."}), "Look at the fans.");
  EXPECT_EQ(adapted(node.view(), "Set it again after each reboot."), "Set it again after each reboot.");
  // The cable of a port that is down carries no job; its node may.
  test::down(node, 1, 2);
  EXPECT_EQ(adapted(node.view(), {Work::at_link, "Replace the cable."}), "Replace the cable.");
  EXPECT_EQ(adapted(node.view(), last.text), last.text);
  EXPECT_EQ(adapted(node.view(), Fix{last}), "Drain the node first. " + last.text);
}

TEST(Remedy, LinesOfACauseChangeWithTheRemedy) {
  Healthy node;
  Finding finding = bad(Status::critical, "mlx5_1/1", "o", "e", "It is wrong.", "Read the module: ethtool -m ens1");
  finding.culprit = Culprit::cable;
  finding.fix.emplace_back(Work::at_link, "Polish cable and modules.");
  finding.fix.push_back({"Update the firmware; ", {Work::in_machine, "replace the NIC if it happens again."}});
  Finding guests = finding;
  adapt_remedy(finding, node.view());
  EXPECT_EQ(finding.next, (std::vector<std::string>{"Read the module: ethtool -m ens1", "Drain the node first.",
                                                    "Polish cable and modules.",
                                                    "Update the firmware; replace the NIC if it happens again."}));
  EXPECT_EQ(finding.remedy, joined_steps(finding.next));
  node.now.topology.hypervisor = "QEMU";
  adapt_remedy(guests, node.view());
  ASSERT_EQ(guests.next.size(), 3u);
  EXPECT_EQ(guests.next[1], "Update the firmware");
  EXPECT_TRUE(has(guests.next[2], "This is a virtual machine (QEMU)")) << guests.next[2];
  EXPECT_EQ(guests.remedy, joined_steps(guests.next));
}

}  // namespace
}  // namespace fabric
