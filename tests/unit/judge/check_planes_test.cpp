// SPDX-License-Identifier: Apache-2.0
// Planes: the share of a GPU's bandwidth, maintenance by the policy, and jobs that do not return.
#include "judge/engine.h"
#include "judge/planes.h"
#include "node/signals.h"
#include "support/healthy_node.h"
#include "support/test.h"
#include "topology/built.h"

namespace fabric {
namespace {

using test::has;
using test::Healthy;
using test::said;

// The device of the second rail with four ports.
struct Planes : Healthy {
  Planes() {
    for (unsigned number = 2; number <= 4; ++number)
      for (Node* node : {&before, &now}) {
        node->ports.push_back(node->ports.at(1));
        node->ports.back().number = number;
      }
  }
  Port& plane(unsigned number) { return number == 1 ? now.ports.at(1) : now.ports.at(2 + number); }
  void lose(unsigned number) {
    Port& port = plane(number);
    port.state = 1;
    port.phys_state = 2;
    port.carrier = false;
  }
  [[nodiscard]] std::string findings() const { return said(view(), {"planes", "port-state"}); }
};

TEST(Planes, OneFindingByTheShareOfTheGpusBandwidth) {
  Planes node;
  EXPECT_EQ(node.findings(), "");
  node.lose(2);
  EXPECT_EQ(node.findings(), "planes GPU1 warning: 3 of 4 planes, 75 % of its bandwidth: mlx5_1/2 (DOWN, Polling)\n");
  node.lose(3);
  EXPECT_TRUE(has(node.findings(), "planes GPU1 critical: 2 of 4 planes, 50 % of its bandwidth")) << node.findings();
  node.policy.rules.by_id["planes"].limits["critical"] = 25;
  EXPECT_TRUE(has(node.findings(), "planes GPU1 warning: 2 of 4")) << node.findings();
}

// The alerts relate the findings of nodes by the switches of these ports.
TEST(Planes, TheFindingHasThePortsThatAreLost) {
  Planes node;
  node.policy.cabling.planes = {{"mlx5_1/1", "A"}, {"mlx5_1/2", "B"}, {"mlx5_1/3", "C"}, {"mlx5_1/4", "D"}};
  node.policy.cabling.maintenance = {"B"};
  const auto ports = [&] {
    std::vector<std::string> out;
    for (const Finding& each : run_rules(node.view(), std::vector<std::string>{"planes", "port-state"}).findings)
      out.insert(out.end(), each.ports.begin(), each.ports.end());
    return out;
  };
  EXPECT_EQ(ports(), std::vector<std::string>{});
  node.lose(2);
  EXPECT_EQ(ports(), std::vector<std::string>{}) << "only the plane in maintenance is down";
  node.lose(3);
  EXPECT_EQ(ports(), std::vector<std::string>{"mlx5_1/3"});
  node.lose(4);
  EXPECT_EQ(ports(), (std::vector<std::string>{"mlx5_1/3", "mlx5_1/4"}));
}

TEST(Planes, WithoutAnyPlaneEveryPortIsCritical) {
  Planes node;
  for (unsigned number = 1; number <= 4; ++number) node.lose(number);
  const std::string text = node.findings();
  EXPECT_FALSE(has(text, "planes")) << text;
  EXPECT_TRUE(has(text, "port-state mlx5_1/1 critical") && has(text, "port-state mlx5_1/4 critical")) << text;
}

TEST(Planes, ARateThatIsLowerCountsLess) {
  Planes node;
  for (unsigned number = 1; number <= 4; ++number) node.plane(number).rate = 25e9;
  node.plane(1).rate = 12.5e9;
  node.lose(4);
  EXPECT_TRUE(has(node.findings(), "3 of 4 planes, 71 % of its bandwidth")) << node.findings();
}

// Another check reports the function: here it only counts.
TEST(Planes, AFunctionThatWasLostIsAPlaneOfItsGpu) {
  Planes node;
  auto built = std::make_shared<Built>(built_of(node.now));
  Nic lost = built->topology.nics.at(1);
  lost.pci.back() = '7';
  lost.rdma = {"lost"};
  const size_t index = built->topology.nics.size();
  built->topology.nics.push_back(lost);
  built->lost.insert(index);
  built->pairing.pairs.at(1).nics.push_back(index);
  View view = node.view();
  view.built = built;
  const auto planes = [&] {
    std::string out;
    for (const Finding& each : run_rules(view, std::vector<std::string>{"planes"}).findings)
      if (each.id == "planes" && each.subject == "GPU1")
        out = std::string(to_text(each.status)) + ": " + each.observed + " of " + each.expected;
    return out;
  };
  EXPECT_EQ(planes(), "ok: 4 of 5 planes, 80 % of its bandwidth: " + lost.pci + " (missing) of 5 planes");
  node.lose(2), node.lose(3);
  EXPECT_TRUE(has(planes(), "critical: 2 of 5 planes, 40 % of its bandwidth: mlx5_1/2 ")) << planes();
}

// NICs of one GPU on different cards are NICs of their own unless the policy calls them planes.
TEST(Planes, NicsOnDifferentCardsArePlanesIfThePolicySaysSo) {
  Healthy node;
  auto& topology = node.now.topology;
  topology.gpus.erase(topology.gpus.begin() + 1, topology.gpus.end());
  topology.nics.resize(2);
  topology.nics[1].bridges = topology.nics[0].bridges;
  topology.nics[1].root = topology.nics[0].root;
  topology.nics[1].numa = topology.nics[0].numa;
  for (Node* each : {&node.before, &node.now}) each->ports.resize(2);
  test::down(node, 1, 2);
  EXPECT_TRUE(has(said(node.view(), {"planes", "port-state"}), "port-state mlx5_1/1 critical"));
  node.policy.cabling.planes = {{"mlx5_0", "A"}, {"mlx5_1", "B"}};
  EXPECT_TRUE(has(said(node.view(), {"planes", "port-state"}), "planes GPU0 critical: 1 of 2 planes, 50 %"))
      << said(node.view(), {"planes", "port-state"});
}

// The second port of each card is down, as one that was never connected.
TEST(Planes, AWholePlaneWithoutALinkIsLostIfThePolicyNamesIt) {
  for (const unsigned phys_state : {2u, 3u}) {
    Healthy node;
    for (size_t i = 0; i < 4; ++i) {
      Nic second = node.now.topology.nics[i];
      second.pci.back() = '1';
      second.name = "mlx5_1" + std::to_string(i);
      second.rdma = {second.name};
      second.netdevs = {"ens1" + std::to_string(i)};
      node.now.topology.nics.push_back(second);
      for (Node* each : {&node.before, &node.now}) {
        Port port = each->ports[i];
        port.rdma = second.name;
        port.netdev = second.netdevs.front();
        port.pci = second.pci;
        port.state = 1;
        port.phys_state = phys_state;
        port.carrier = false;
        port.gids.clear();
        port.counters = {};
        each->ports.push_back(port);
      }
    }
    EXPECT_FALSE(has(said(node.view(), {"planes"}), "planes GPU")) << said(node.view(), {"planes"});
    node.policy.cabling.planes = {{"mlx5_?", "A"}, {"mlx5_1?", "B"}};
    std::string text = said(node.view(), {"planes", "port-state"});
    EXPECT_TRUE(has(text, "planes GPU0 critical: 1 of 2 planes, 50 % of its bandwidth: mlx5_10/1")) << text;
    EXPECT_TRUE(has(text, "planes GPU3 critical")) << text;
    EXPECT_FALSE(has(text, "port-state mlx5_1")) << "the share is reported: " << text;
    for (const Finding& each : test::complaints_of(node.view(), {"planes"})) EXPECT_FALSE(each.remedy.empty());
    node.policy.cabling.maintenance = {"B"};
    EXPECT_EQ(said(node.view(), {"planes", "port-state"}), "");
  }
}

// Only one card is left, and the address of the lost one is unknown.
TEST(Planes, ACardThatWasLostIsAPlaneIfThePolicySaysSo) {
  Healthy node;
  auto& topology = node.now.topology;
  topology.gpus.erase(topology.gpus.begin() + 1, topology.gpus.end());
  topology.nics.resize(1);
  for (Node* each : {&node.before, &node.now}) each->ports.resize(1);
  auto built = std::make_shared<Built>(built_of(node.now));
  Nic lost = built->topology.nics.at(0);
  lost.pci = "0000:16:02.0" + std::string(kUnknownAddress);
  lost.rdma = {"lost"};
  built->topology.nics.push_back(lost);
  built->lost.insert(1);
  built->pairing.pairs.at(0).nics.push_back(1);
  View view = node.view();
  view.built = built;
  EXPECT_TRUE(planes_of_gpus(view).empty()) << "a NIC of its own";
  node.policy.cabling.planes = {{"mlx5_0", "A"}, {"mlx5_1", "B"}};
  const auto planes = planes_of_gpus(view);
  ASSERT_EQ(planes.size(), 1u);
  EXPECT_EQ(planes[0].lost, std::vector<std::string>{"below 0000:16:02.0 (missing)"});
}

// Virtual functions in a pod: those of one card may be of one port.
TEST(Planes, FunctionsOfAPodArePlanesIfThePolicySaysSo) {
  Planes node;
  for (unsigned number = 1; number <= 4; ++number) node.plane(number).role = PortRole::guest_function;
  node.lose(2);
  EXPECT_FALSE(has(said(node.view(), {"planes"}), "planes GPU1")) << said(node.view(), {"planes"});
  node.policy.cabling.planes = {{"mlx5_1/1", "A"}, {"mlx5_1/2", "B"}, {"mlx5_1/3", "C"}, {"mlx5_1/4", "D"}};
  EXPECT_EQ(node.findings(), "planes GPU1 warning: 3 of 4 planes, 75 % of its bandwidth: mlx5_1/2 (DOWN, Polling)\n");
  node.now.topology.nics[1].netdev_elsewhere = true;
  node.plane(2).netdev.clear();
  node.plane(2).gids.clear();
  EXPECT_EQ(said(node.view(), {"planes"}), "") << "it is of another pod";
}

TEST(Planes, MaintenanceOfThePolicyIsAcknowledged) {
  Planes node;
  node.policy.cabling.planes = {{"mlx5_1/2", "B"}, {"mlx5_1/1", "A"}, {"mlx5_1/3", "C"}, {"mlx5_1/4", "D"}};
  node.policy.cabling.maintenance = {"B"};
  node.lose(2);
  EXPECT_EQ(node.findings(), "") << "only the plane in maintenance is down";
  node.lose(3);
  const std::string text = node.findings();
  EXPECT_TRUE(has(text, "2 of 4 planes, 50 %") && has(text, "mlx5_1/3 (DOWN, Polling)")) << text;
  EXPECT_TRUE(has(text, "mlx5_1/2 (plane B is in maintenance)")) << text;

  // A whole GPU down: the port of the plane in maintenance is listed, and does not count.
  for (unsigned number = 1; number <= 4; ++number) node.lose(number);
  const Report report = run_rules(node.view(), std::vector<std::string>{"port-state"});
  for (const Finding& finding : report.findings)
    EXPECT_EQ(finding.acknowledged, finding.subject == "mlx5_1/2") << finding.subject;
}

TEST(Planes, AnUnknownPlaneInMaintenanceIsAWarning) {
  Planes node;
  const auto planes = [&] { return said(node.view(), {"planes"}); };
  node.policy.cabling.planes = {{"mlx5_1/1", "A"}, {"mlx5_1/2", "B"}, {"mlx5_1/3", "C"}, {"mlx5_1/4", "D"}};
  node.policy.cabling.maintenance = {"B", "E"};
  EXPECT_TRUE(has(planes(), " warning: in maintenance: E\n")) << planes();
  const auto found = test::complaints_of(node.view(), {"planes"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0].expected, "A, B, C, D")) << found[0].expected;
  // A machine of another kind with one plane: the policy is for many.
  node.policy.cabling.planes = {{"mlx5_*", "A"}, {"ens9*", "E"}};
  node.policy.cabling.maintenance = {"E"};
  EXPECT_EQ(planes(), "");
  node.policy.cabling.maintenance = {"F"};
  EXPECT_TRUE(has(planes(), "in maintenance: F")) << "of no machine: " << planes();
}

TEST(Failback, IsAPlaneThatWasDownAndIdleBesideBusyOnes) {
  Planes node;
  std::map<std::string, Signals> signals;
  for (const Port& port : node.now.ports)
    signals[port.id()] = {.seconds = 60, .rx_bytes = 60 * 20e9, .tx_bytes = 60 * 20e9};
  const auto text = [&] {
    View view = node.view();
    view.signals = &signals;
    return said(view, {"failback"});
  };
  EXPECT_EQ(text(), "");
  signals["mlx5_1/3"].rx_bytes = signals["mlx5_1/3"].tx_bytes = 0;
  EXPECT_EQ(text(), "") << "never down: the job may use three planes by choice";
  node.plane(3).counters.carrier_down = node.plane(1).counters.carrier_down.value_or(0) + 1;
  for (unsigned number : {1, 2, 4}) node.plane(number).counters.carrier_down = 0;
  EXPECT_TRUE(has(text(), "failback mlx5_1/3 warning: ACTIVE, and no traffic while mlx5_1/")) << text();
  EXPECT_TRUE(has(text(), "its link was down")) << text();
  node.policy.rules.by_id["failback"].limits = {{"busy_share", 0.9}};
  EXPECT_EQ(text(), "") << "40 of 50 GB/s are not much for this site";
  node.policy.rules.by_id.clear();
  signals["mlx5_1/3"].rx_bytes = 60 * 1e9;  // 2.5 % of the busiest plane
  EXPECT_EQ(text(), "");
  node.policy.rules.by_id["failback"].limits = {{"idle_share", 0.05}};
  EXPECT_TRUE(has(text(), "failback mlx5_1/3 warning")) << text();
  for (auto& [port, each] : signals) each.rx_bytes = each.tx_bytes = 0;
  EXPECT_EQ(text(), "") << "nothing is busy";
}

}  // namespace
}  // namespace fabric
