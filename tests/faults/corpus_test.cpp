// SPDX-License-Identifier: Apache-2.0
// All captured machines of the corpus, and constructed ones: no false findings, and every diagnosis is of a port that
// has another finding.
#include "support/corpus.h"

#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/finding.h"
#include "node/scan.h"
#include "node/signals.h"
#include "support/healthy_node.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::faults {
namespace {

// A true finding of a machine: "check subject status", and the reason.
struct Truth {
  const char *finding, *why;
};
const std::multimap<std::string, Truth> kTrue{
    {"psmgmt__mel3001",
     {"port-state mlx5_3/1 warning", "the second Ethernet port of its card was down when it was captured"}},
    {"gb300", {"acs host unknown", "it was captured without PCI configuration space"}},
    {"oci16", {"acs host unknown", "it was captured without PCI configuration space"}},
};

bool is_true(const std::string& machine, const Finding& finding) {
  const std::string text = finding.id + " " + finding.subject + " " + std::string(to_text(finding.status));
  const auto [first, last] = kTrue.equal_range(machine);
  return std::any_of(first, last, [&](const auto& each) { return text == each.second.finding; });
}

// A captured tree has no agent and no configuration: empty ones are added. The diagnosis is of a minute without
// traffic; each port that only a cause names counts as a finding.
std::vector<Finding> said(Node node) {
  node.agent = AgentState{.running = true, .mode = "audit"};
  const Policy policy;
  const Plan plan;
  auto out = test::complaints_of({.now = node, .policy = &policy, .plan = &plan});
  Node before = node;
  node.taken = before.taken + std::chrono::minutes(1);
  const auto signals = signals_of(before, node);
  for (const Finding& each : diagnose({.now = node, .before = &before, .policy = &policy, .signals = &signals}))
    if (std::ranges::find(out, each.subject, &Finding::subject) == out.end())
      out.push_back(bad(Status::warning, each.subject, each.id, "", each.meaning, ""));
  return out;
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
    const Rule* check = find_rule(each.id);
    // Every user may read the platform, except for ACS.
    const bool is_readable = check != nullptr && (check->group == group::platform || each.id == "pcie");
    if (each.status == Status::unknown && check != nullptr && (!is_readable || each.id == "acs")) {
      ++unanswered;
    } else if (is_true(test::machine_of(GetParam()), each)) {
      ++truths;
    } else {
      ++untrue;
      ADD_FAILURE() << test::describe(each) << "\n" << each.meaning;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Machine, Captured, testing::ValuesIn(test::healthy_archives()), [](const auto& each) {
  std::string name = test::machine_of(each.param);
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
});

// Cisco's usNIC sends datagrams from user space: it has GIDs, but neither RoCE v2 nor PFC nor a path MTU.
TEST(Constructed, UsnicIsNoRoce) {
  test::Tree tree;
  tree.file("proc/sys/kernel/hostname", "gpu01\n");
  for (const std::string number : {"0", "1"}) {
    const std::string device = "sys/class/infiniband/usnic_" + number, port = device + "/ports/1/";
    tree.file(device + "/node_type", "6: usNIC UDP\n").file(port + "link_layer", "Ethernet\n");
    tree.file(port + "state", "4: ACTIVE\n").file(port + "phys_state", "5: LinkUp\n");
    tree.file(port + "rate", "40 Gb/sec (4X QDR)\n").file(port + "gid_attrs/ndevs/0", "eth" + number + "\n");
    tree.file(port + "gids/0", "fe80:0000:0000:0000:0200:00ff:fe00:000" + number + "\n")
        .file(port + "gid_attrs/types/0", "IB/RoCE v1\n")
        .file("sys/class/net/eth" + number + "/mtu", "1500\n");
  }
  auto kernel = open_kernel(tree.path());
  ASSERT_TRUE(kernel);
  const auto silent = [&] {
    const Node node = scan(*kernel, {.neighbors = true, .host = true});
    EXPECT_EQ(node.ports.size(), 2u);
    return std::ranges::all_of(said(node), [](const Finding& each) { return each.status == Status::unknown; });
  };
  EXPECT_TRUE(silent());
  for (const char* number : {"0", "1"})
    tree.file(std::string("sys/class/infiniband/usnic_") + number + "/node_type", "1: CA\n");
  EXPECT_FALSE(silent()) << "as RoCE it would have faults";
}

}  // namespace
}  // namespace fabric::faults
