// SPDX-License-Identifier: Apache-2.0
// What a report does not judge is said with its verdict: RDMA devices in other network namespaces, and queue pairs that
// no counter counts. Traffic without PFC is reported before it is lost.
#include "judge/unseen.h"

#include "judge/engine.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

const Finding* finding_of(const Report& report, std::string_view id, std::string_view subject) {
  return find_where(report.findings,
                    [&](const Finding& finding) { return finding.id == id && finding.subject == subject; });
}

// The RDMA devices of the last `count` NICs move to containers.
void move_to_containers(Healthy& node, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Nic& nic = node.now.topology.nics[node.now.topology.nics.size() - 1 - i];
    nic.elsewhere = nic.rdma;
    nic.rdma_elsewhere = nic.netdev_elsewhere = true;
    nic.rdma.clear();
    nic.netdevs.clear();
    node.now.ports.pop_back();
    node.before.ports.pop_back();
  }
}

TEST(Unseen, DevicesOfOtherNamespacesAreCountedAndNamed) {
  Healthy node(8);
  const std::vector<std::string> only{"other-namespaces"};
  EXPECT_FALSE(run_rules(node.view(), only).findings.at(0).unjudged);
  move_to_containers(node, 3);
  node.now.topology.nics[7].elsewhere = {node.now.topology.nics[7].pci};  // a kernel that does not show the name
  const Report report = run_rules(node.view(), only);
  EXPECT_EQ(worst(report), Status::ok);
  const Finding& finding = report.findings.at(0);
  EXPECT_TRUE(finding.unjudged);
  EXPECT_TRUE(
      finding.observed.starts_with("3 of 8 RDMA devices are in other network namespaces and are not judged here: "))
      << finding.observed;
  EXPECT_TRUE(has(finding.observed, "mlx5_5 (" + node.now.topology.nics[5].pci + ")")) << finding.observed;
  EXPECT_TRUE(finding.observed.ends_with(", " + node.now.topology.nics[7].pci)) << finding.observed;
  EXPECT_TRUE(has(finding.remedy, "--root /proc/PID/root"));

  Inventory inventory;
  inventory.parts.push_back({.pci = node.now.topology.nics[7].pci, .rdma = {"mlx5_7"}});
  node.now.inventory = inventory;
  EXPECT_TRUE(has(joined(devices_elsewhere(node.now)), "mlx5_7 (" + node.now.topology.nics[7].pci + ")"));
}

// Shared mode: the RDMA device stays, and its netdev is a container's.
TEST(Unseen, NetdevsOfOtherNamespacesAreNamed) {
  Healthy node;
  node.now.topology.nics[2].netdev_elsewhere = true;
  node.now.topology.nics[2].netdevs.clear();
  node.now.ports[2].netdev.clear();
  node.now.ports[2].role = PortRole::netdev_elsewhere;
  const Report report = run_rules(node.view(), std::vector<std::string>{"other-namespaces"});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_TRUE(report.findings[0].unjudged);
  EXPECT_EQ(report.findings[0].observed, "the netdevs of mlx5_2/1 are in other network namespaces");
}

// Bytes of RDMA between the two readings, requests counted, and the share of the bytes on priority 3.
struct Traffic {
  double received = 300e9, sent = 300e9;
  uint64_t requests = 100'000;
  double on_priority_3 = 1;
};
void carry(Healthy& node, size_t index, const Traffic& traffic) {
  const auto bytes = [](double value) { return static_cast<uint64_t>(value); };
  Port &before = node.before.ports[index], &now = node.now.ports[index];
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, uint64_t>>{
           {"rx_vport_rdma_unicast_bytes", bytes(traffic.received)},
           {"tx_vport_rdma_unicast_bytes", bytes(traffic.sent)},
           {"rx_prio3_bytes", bytes(traffic.received * traffic.on_priority_3)},
           {"tx_prio3_bytes", bytes(traffic.sent * traffic.on_priority_3)},
           {"rx_prio0_bytes", bytes(traffic.received * (1 - traffic.on_priority_3))},
           {"tx_prio0_bytes", bytes(traffic.sent * (1 - traffic.on_priority_3))}}) {
    before.counters.ethtool.push_back({name, 1000});
    now.counters.ethtool.push_back({name, 1000 + value});
  }
  before.counters.hw.push_back({"rx_write_requests", 50});
  now.counters.hw.push_back({"rx_write_requests", 50 + traffic.requests});
}

std::optional<Finding> unseen_traffic(const Healthy& node) {
  const Report report = run_rules(node.view(), std::vector<std::string>{"unseen-traffic"});
  const Finding* found = finding_of(report, "unseen-traffic", "mlx5_1/1");
  if (found == nullptr || !found->unjudged) return std::nullopt;
  return *found;
}

TEST(Unseen, QueuePairsThatAreNotCounted) {
  struct {
    const char* what;
    Traffic traffic;
    const char* says;  // empty: nothing
  } const rows[]{
      {"a job whose queue pairs are counted", {}, ""},
      {"messages of 60 MB", {.requests = 5'000}, ""},
      {"the queue pairs of GPUs alone", {.requests = 0}, "at most 0 %"},
      {"those of GPUs, and a few of the CPU", {.requests = 450}, "at most 10.1 %"},
      {"a host that only sends, and receives acknowledgements", {.received = 2e9, .requests = 0}, ""},
      {"little traffic", {.received = 50e6, .sent = 50e6, .requests = 0}, ""},
  };
  for (const auto& row : rows) {
    Healthy node;
    carry(node, 1, row.traffic);
    const auto found = unseen_traffic(node);
    EXPECT_EQ(found.has_value(), *row.says != '\0') << row.what;
    if (found) {
      EXPECT_TRUE(has(found->observed, row.says)) << row.what << ": " << found->observed;
    }
  }
  Healthy node;
  carry(node, 1, {.requests = 0});
  node.now.ports[1].resources = {{"mr", "user", 12}, {"qp", "user", 0}};
  const auto found = unseen_traffic(node);
  ASSERT_TRUE(found);
  EXPECT_TRUE(has(found->observed, "no queue pair that the kernel knows")) << found->observed;
  EXPECT_FALSE(has(found->meaning, "Sends")) << found->meaning;
  for (Node* each : {&node.before, &node.now}) each->ports[1].kernel_driver = "bnxt_en";
  EXPECT_FALSE(unseen_traffic(node)) << "the driver counts all of them";
}

TEST(Unseen, TrafficWithoutPfcIsReportedBeforeItIsLost) {
  Healthy node;
  carry(node, 1, {.on_priority_3 = 0.02});
  const auto found = complaints_of(node.view(), {"unprotected-traffic"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].status, Status::warning);
  EXPECT_EQ(found[0].subject, "mlx5_1/1");
  EXPECT_TRUE(has(found[0].observed, "98 % used no priority with PFC (3); priority 0 carried as much"))
      << found[0].observed;
  EXPECT_TRUE(has(found[0].remedy, "NCCL_IB_TC=106") && has(found[0].remedy, "DSCP 26 is 104")) << found[0].remedy;
}

TEST(Unseen, TrafficThatPfcProtectsIsSilent) {
  for (const double share : {1.0, 0.8}) {
    Healthy node;
    carry(node, 1, {.on_priority_3 = share});
    EXPECT_EQ(said(node.view(), {"unprotected-traffic"}), "") << share;
  }
  // RDMA that loops back inside the NIC has no priority; TCP uses priority 0.
  Healthy loop;
  carry(loop, 1, {.on_priority_3 = 0});
  for (Counter& counter : loop.now.ports[1].counters.ethtool)
    if (counter.name.text().find("prio0") != std::string_view::npos) counter.value = 2'000'000'000;
  EXPECT_EQ(said(loop.view(), {"unprotected-traffic"}), "");
}

// Only the peers use another traffic class.
TEST(Unseen, TrafficThatArrivesWithoutPfcIsThatOfTheSenders) {
  Healthy node;
  carry(node, 1, {.on_priority_3 = 0});
  for (Counter& counter : node.now.ports[1].counters.ethtool) {
    if (counter.name == std::string_view("tx_prio3_bytes")) counter.value = 300'000'001'000;
    if (counter.name == std::string_view("tx_prio0_bytes")) counter.value = 1000;
  }
  const auto found = complaints_of(node.view(), {"unprotected-traffic"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].meaning, "the senders")) << found[0].meaning;
}

TEST(Unseen, TrafficClassFollowsFromThePolicyElseFromThePort) {
  Healthy node;
  Port& port = node.now.ports[0];
  const auto text = [&] { return traffic_class_text(node.view(), port); };
  EXPECT_TRUE(has(text(), "NCCL_IB_TC=106 "));
  node.policy.ports[0].want.dscp_map = DscpMap{{40, 3}};
  EXPECT_TRUE(has(text(), "NCCL_IB_TC=162 ") && has(text(), "DSCP 40 is 160")) << text();
  node.policy.ports.clear();
  EXPECT_TRUE(has(text(), "NCCL_IB_TC=106 ")) << "DSCP 26 of the port's map";
  port.qos.dscp_map = DscpMap{{10, 3}, {48, 6}};
  EXPECT_TRUE(has(text(), "NCCL_IB_TC=42 ")) << text();
  port.qos.trust = Trust::pcp;
  EXPECT_TRUE(has(text(), "NCCL_IB_SL")) << text();
}

}  // namespace
}  // namespace fabric
