// SPDX-License-Identifier: Apache-2.0
// The findings of run_rules(): a healthy node is silent, the order and selection of findings, and ports, settings and
// policies that are special. A defect of a port, a PCIe link or the agent gives its finding and no other; settings in
// audit mode, or whose reading proves nothing, are listed and are no fault of the node. fabric-checks(7) matches the
// tables in lib/judge and the alerts, and every rule of a file is registered.
#include <cctype>
#include <ctime>

#include "base/json.h"
#include "judge/engine.h"
#include "judge/health_state.h"
#include "judge/rails.h"
#include "judge/topology.h"
#include "metrics/families.h"
#include "nic/capabilities.h"
#include "setting/setting_table.h"
#include "support/healthy_node.h"
#include "support/manuals.h"
#include "support/planted_defect.h"
#include "support/ports.h"
#include "support/rules.h"
#include "support/series.h"
#include "support/test.h"
#include "topology/inventory.h"

namespace fabric {
namespace {

using namespace test;

std::string port_states(const Healthy& node) { return said(node.view(), {"port-state"}); }

// The policy has a value for each setting, and the ports are in sync.
void want_every_setting(Healthy& node) {
  const auto fill = [](const Setting& setting, Qos& qos) {
    visit_member(setting, qos, [](auto& value) {
      if (!value) value.emplace();
      return 0;
    });
  };
  for (const Setting& setting : kSettings) {
    const bool given = has_value(setting, node.policy.ports[0].want);
    fill(setting, node.policy.ports[0].want);
    for (Port& port : node.now.ports) {
      fill(setting, port.qos);
      const std::string text = value_text(setting, port.qos);
      if (!given)
        node.plan[port.id()].push_back({port.id(), setting.id, Outcome::in_sync, 0, false, text, text, {}, {}});
    }
  }
}

TEST(Check, HealthyNodeIsSilent) {
  Healthy node;
  want_every_setting(node);
  share_subnet(node.now);  // the rules for rails need some in one subnet
  node.policy.expect.gpus = 4;
  node.policy.sysctl["net.ipv4.tcp_ecn"] = "1";
  node.plan["host"] = {{"host", {}, Outcome::in_sync, 0, false, "1", "1", {}, "net.ipv4.tcp_ecn"}};
  for (size_t i = 0; i < node.now.ports.size(); ++i) node.before.ports[i].gids = node.now.ports[i].gids;  // unchanged
  const Report report = run_rules(node.view());
  EXPECT_EQ(describe(complaints(report)), "");
  EXPECT_EQ(worst(report), Status::ok);
  std::set<std::string> asked;
  for (const Finding& finding : report.findings) {
    asked.insert(finding.id);
    EXPECT_NE(finding.observed, "") << finding.id;
    EXPECT_EQ(finding.meaning + finding.remedy, "") << finding.id;
  }
  node.now.inventory = inventory_of(node.now);
  const Report with_inventory = run_rules(node.view());
  EXPECT_EQ(describe(complaints(with_inventory)), "");
  for (const Finding& finding : with_inventory.findings) asked.insert(finding.id);
  // These judge only some machines, fabrics and policies: check_planes_test.cpp, and the fault catalogue.
  const std::set<std::string_view> some{"pfc-on-lossy",  "pfc-watchdog",   "vendor-settings", "planes",
                                        "failback",      "rdma-resources", "suppressions",    "dcbx-daemon",
                                        "rdma-provider", "partition",      "rdma-transport",  "vf-limits"};
  for (const Rule& check : test::checks())
    EXPECT_NE(asked.contains(std::string(check.id)), some.contains(check.id))
        << check.id << ": report good() for a machine without the fault; a rule that judges only some machines belongs "
        << "to `some`";
}

// udev renames a device, or a bond takes it: no card is gone.
TEST(Check, ARenamedPortIsNotGone) {
  Healthy node;
  node.now.ports[3].rdma = "rocep163s0";
  EXPECT_EQ(port_states(node), "");
  node.now.ports[3].rdma = node.now.ports[2].rdma = "mlx5_bond_0";
  test::make_bond(node.now.ports[2]);
  test::make_member(node.now.ports[3]);
  ASSERT_EQ(node.now.ports[3].id(), "mlx5_bond_0/1@" + node.now.ports[3].netdev);
  EXPECT_EQ(port_states(node), "");
  node.now.ports.pop_back();
  EXPECT_EQ(port_states(node), "port-state mlx5_3/1 critical: gone\n");
}

// Functions of a guest are compared among themselves; their cable is at another machine.
TEST(Check, TheLinkOfAGuestsFunctionIsAtItsHost) {
  Healthy node;
  for (Port& port : node.now.ports) {
    port.role = PortRole::guest_function;
    port.kernel_driver = "efa";
  }
  *node.now.ports[1].rate /= 2;
  node.now.ports[2].state = 1;
  std::string text;
  for (const Finding& each : test::complaints_of(node.view(), {"rate", "port-state"}))
    text += test::describe(each) + each.remedy + "\n";
  EXPECT_TRUE(has(text, "rate mlx5_1/1 critical") && has(text, "port-state mlx5_2/1 critical") && has(text, "operator"))
      << text;
  EXPECT_FALSE(has(text, "cable") || has(text, "switch") || has(text, "ethtool")) << text;
  for (const char* id : {"1d0f:efa1", "1414:00ba", "1ded:107f", "15b3:1002", "15b3:1004", "14e4:1606", "14e4:16c1",
                         "14e4:16dc", "14e4:d800", "1077:1664", "1077:8090"})
    EXPECT_TRUE(is_guests_function(id)) << id;
  for (const char* id : {"15b3:1003", "15b3:1021", "14e4:16d7", "14e4:1750", "1077:8070"})
    EXPECT_FALSE(is_guests_function(id)) << id;
}

// Without a GUID, or with the policy "disable", a function is Disabled. In another state it waits for its host's link.
TEST(Check, TheStateOfAGuestsFunctionShowsWhetherItsHostHasALink) {
  const auto remedy = [](LinkLayer layer, unsigned phys_state, PortRole role) {
    Healthy node;
    Port& port = node.now.ports[1];
    port.role = role;
    port.link_layer = layer;
    port.state = 1;
    port.phys_state = phys_state;
    std::string out;
    for (const Finding& each : test::complaints_of(node.view(), {"port-state"})) out += each.meaning + each.remedy;
    return out;
  };
  for (const unsigned phys_state : {2U, 4U, 6U}) {  // Polling, PortConfigurationTraining, LinkErrorRecovery
    const std::string text = remedy(LinkLayer::infiniband, phys_state, PortRole::guest_function);
    EXPECT_TRUE(has(text, "physical link") && has(text, "operator of the host") && has(text, "NCCL_IB_HCA")) << text;
    EXPECT_FALSE(has(text, "ip link set") || has(text, "state auto")) << text;
  }
  EXPECT_TRUE(has(remedy(LinkLayer::infiniband, 3, PortRole::guest_function), "node_guid GUID")) << "no GUID";
  EXPECT_TRUE(has(remedy(LinkLayer::ethernet, 2, PortRole::guest_function), "state auto")) << "RoCE has no such state";
}

// A host whose jobs use a virtual function of each NIC, and have taken the ports of the physical functions down.
Healthy with_functions_in_use() {
  Healthy node;
  node.policy.cabling = {};  // a plan names the ports that must have a link
  for (Node* each : {&node.before, &node.now}) {
    const std::vector<Port> physical = each->ports;
    for (size_t i = 0; i < physical.size(); ++i) {
      Port function = physical[i];
      function.rdma = "vf" + std::to_string(i);
      function.netdev += "v0";
      function.role = PortRole::virtual_function;
      function.owner = function.pci;
      function.pci += "0";
      function.link_status.reset();
      function.qos = {};
      for (Gid& gid : function.gids) gid.netdev = function.netdev;
      each->ports.push_back(std::move(function));
      Port& port = each->ports[i];
      port.state = 1;
      port.phys_state = 3;
      port.carrier = false;
      port.gids.clear();
      port.link_status.reset();
    }
  }
  return node;
}

TEST(Check, APortWhoseFunctionIsUsedInsteadIsNotDown) {
  const std::vector<std::string> only{"port-state", "admin-down"};
  EXPECT_EQ(said(with_functions_in_use().view(), only), "");
  Healthy node = with_functions_in_use();
  for (size_t i = 0; i < 4; ++i) node.now.ports[i].link_status = LinkStatus{.reason = std::string(kSwitchedOff)};
  EXPECT_EQ(said(node.view(), only), "") << "administratively down";
  node.before.ports[3].state = 4;
  EXPECT_TRUE(has(said(node.view(), only), "mlx5_3/1")) << "it was up";
  node.now.ports[0].link_status = LinkStatus{.reason = "Link training failure"};
  EXPECT_TRUE(has(said(node.view(), only), "mlx5_0/1 critical")) << "the state of the function is forced";
  node = with_functions_in_use();
  node.now.ports[5].state = node.before.ports[5].state = 1;
  EXPECT_TRUE(has(said(node.view(), only), "mlx5_1/1")) << "its function is down as well";
  node = with_functions_in_use();
  for (Gid& gid : node.now.ports[6].gids) gid.gid = "fe80:0000:0000:0000:5aa2:e1ff:fe00:0001";
  EXPECT_TRUE(has(said(node.view(), only), "mlx5_2/1")) << "its function waits for a guest";
}

// The netdev of a virtual machine's front end is below that of the hypervisor, which has the addresses.
TEST(Check, APortThatServesNoGpuNeedsNoGid) {
  Healthy node;
  for (int i = 0; i < 2; ++i) {
    Port port = node.now.ports[0];
    port.rdma = "mlx5_an" + std::to_string(i);
    port.netdev = "enP4780" + std::to_string(i) + "s1";
    port.pci = "bab" + std::to_string(i) + ":00:02.0";
    port.pci_id = "15b3:1016";
    port.role = PortRole::guest_function;
    port.gids.clear();
    Nic nic = node.now.topology.nics[0];
    nic.pci = port.pci;
    nic.device = 0x1016;
    nic.root = port.pci.substr(0, 7);
    nic.bridges.clear();
    nic.rdma = {port.rdma};
    nic.name = port.rdma;
    nic.netdevs = {port.netdev};
    node.now.ports.push_back(port);
    node.now.topology.nics.push_back(nic);
  }
  EXPECT_EQ(said(node.view(), {"gid"}), "");
  node.now.ports[5].gids = {{1, "0000:0000:0000:0000:0000:ffff:0a09:0001", "RoCE v2", node.now.ports[5].netdev}};
  EXPECT_TRUE(has(said(node.view(), {"gid"}), "gid mlx5_an0/1 critical: no RoCE v2 GID")) << "an equal port has one";
  node = Healthy();
  node.now.ports[0].gids.clear();
  EXPECT_TRUE(has(said(node.view(), {"gid"}), "gid mlx5_0/1 critical")) << "it serves a GPU";
  node.now.ports[0].carrier = true;  // so its netdev is up
  const std::vector<std::string> only{"gid"};
  const Report report = run_rules(node.view(), only);
  for (const Finding& each : report.findings) EXPECT_FALSE(has(each.remedy, "ip link set")) << each.remedy;
}

// The P_Key table: the highest bit is full membership.
TEST(Check, ALimitedMemberOfItsPartitionIsReported) {
  Healthy node;
  const auto partitions = [&] {
    std::string out;
    for (const Finding& each : test::complaints_of(node.view(), {"partition"}))
      out += test::describe(each) + " " + each.remedy + "\n";
    return out;
  };
  for (Port& port : node.now.ports) port.link_layer = LinkLayer::infiniband;
  EXPECT_EQ(partitions(), "") << "not read";
  for (const Port& port : node.now.ports) node.now.network.pkeys[port.id()] = {0xffff, 0, 0};
  EXPECT_EQ(partitions(), "");
  node.now.network.pkeys["mlx5_2/1"] = {0x7fff};
  EXPECT_TRUE(has(partitions(), "partition mlx5_2/1 warning: 0x7fff (limited)") && has(partitions(), "GUID=full"))
      << partitions();
  EXPECT_FALSE(has(partitions(), "mlx5_0") || has(partitions(), "cable")) << partitions();
  for (const Port& port : node.now.ports) node.now.network.pkeys[port.id()] = {0x8001, 0x7fff};
  EXPECT_EQ(partitions(), "") << "a tenant's partition; the default one is for the subnet manager";
  node.now.network.pkeys["mlx5_1/1"] = {0xffff};
  EXPECT_TRUE(has(partitions(), "partition mlx5_1/1 warning: 0xffff (full)") && has(partitions(), "0x0001"))
      << "lacks the partition of the others: " << partitions();
  node.now.network.pkeys["mlx5_1/1"] = {0x8001, 0x7fff, 0x8005};
  EXPECT_EQ(partitions(), "") << "one more than the others";
  for (const Port& port : node.now.ports) node.now.network.pkeys[port.id()] = {0x7fff};
  EXPECT_EQ(test::complaints_of(node.view(), {"partition"}).size(), 4U) << "none can reach another";
  node.now.ports[0].state = 1;
  EXPECT_FALSE(has(partitions(), "mlx5_0")) << "port-state reports it";
}

// Its cable leads to the fabric of the storage.
TEST(Check, AnInfinibandPortInAnotherSubnetThanItsEqualsIsNamed) {
  Healthy node;
  const auto found = [&] { return said(node.view(), {"partition"}); };
  const auto move = [&](size_t port, const std::string& prefix) {
    node.now.ports[port].gids = {{0, prefix + ":5aa2:e103:0000:000" + std::to_string(port), "", ""}};
  };
  for (size_t i = 0; i < node.now.ports.size(); ++i) {
    Port& port = node.now.ports[i];
    port.link_layer = LinkLayer::infiniband;
    node.now.network.pkeys[port.id()] = {0xffff};
    move(i, "fe80:0000:0000:0000");
  }
  EXPECT_EQ(found(), "");
  move(2, "fec0:0000:0000:0002");
  EXPECT_EQ(found(), "partition mlx5_2/1 warning: subnet fec0:0000:0000:0002\n");
  move(2, "fe80:0000:0000:0000");

  Healthy storage = node;  // a NIC of the same model for storage, whose fabric is another
  Nic nic = storage.now.topology.nics[1];
  nic.pci = "0000:ee:00.0", nic.root = "pci0000:ed", nic.bridges = {"0000:ed:01.0"};
  nic.name = "mlx5_9", nic.rdma = {"mlx5_9"}, nic.card.clear();
  storage.now.topology.nics.push_back(nic);
  Port port = storage.now.ports[1];
  port.rdma = "mlx5_9", port.pci = nic.pci;
  port.gids = {{0, "fec0:0000:0000:0002:5aa2:e103:0000:0009", "", ""}};
  storage.now.network.pkeys[port.id()] = {0xffff};
  storage.now.ports.push_back(port);
  View view = storage.view();
  EXPECT_EQ(said(view, {"partition"}), "");
  view.named = {port.id()};
  EXPECT_EQ(said(view, {"partition"}), "") << "as if it is not named";
  for (size_t i = 0; i < node.now.ports.size(); ++i) move(i, "fec0:0000:0000:000" + std::to_string(i));
  EXPECT_EQ(found(), "") << "each rail is a subnet";
  for (size_t i = 0; i < node.now.ports.size(); ++i) move(i, "fec0:0000:0000:000" + std::to_string(i / 2));
  EXPECT_EQ(found(), "") << "two planes";
  node.now.ports[1].gids.clear();
  EXPECT_EQ(found(), "") << "unknown";
}

// Each physical state, state, LID and LID of the subnet manager of an InfiniBand port. 0xffff: mlx5's port without a
// LID.
TEST(Check, AnInfinibandPortSaysWhatItsSubnetManagerHasDone) {
  constexpr std::string_view kNever = "no subnet manager configured the port",
                             kBefore = "configured the port before its link was lost",
                             kBegun = "has begun to configure", kDown = "logically down",
                             kSignal = "receives no signal", kAddress = "has no LID", kOk;
  struct Case {
    unsigned phys_state, state;
    std::optional<infiniband::Lids> lids;
    std::string_view meaning;  // empty: nothing to complain
  };
  const infiniband::Lids none{0, 0}, unset{0xffff, 0}, set{12, 1}, orphan{12, 0}, no_own{0, 1}, unset_own{0xffff, 1};
  std::vector<Case> cases;
  for (const auto& lids : {std::optional<infiniband::Lids>(), std::optional(none), std::optional(unset),
                           std::optional(set), std::optional(orphan)}) {
    const bool had_manager = lids && infiniband::is_lid(lids->own);
    cases.push_back({kPhysPolling, kPortDown, lids, kSignal});
    cases.push_back({kPhysLinkUp, kPortDown, lids, kDown});
    cases.push_back({kPhysLinkUp, kPortInit, lids, had_manager ? kBefore : kNever});
    cases.push_back({kPhysLinkUp, kPortArmed, lids, kBegun});
  }
  for (const auto& lids : {none, unset, no_own, unset_own}) cases.push_back({kPhysLinkUp, kPortActive, lids, kAddress});
  for (const auto& lids : {set, orphan}) cases.push_back({kPhysLinkUp, kPortActive, lids, kOk});
  cases.push_back({kPhysLinkUp, kPortActive, std::nullopt, kOk});
  for (const Case& each : cases) {
    Healthy node;
    for (Port& port : node.now.ports) port.link_layer = LinkLayer::infiniband;
    Port& port = node.now.ports[1];
    port.phys_state = each.phys_state;
    port.state = each.state;
    if (each.lids) node.now.network.lids[port.id()] = *each.lids;
    if (each.lids) node.now.network.lids[port.id()].active = each.state == kPortActive;
    std::string text = std::string(link_state_text(port));
    if (each.lids)
      text += ", LID " + std::to_string(each.lids->own) + ", SM LID " + std::to_string(each.lids->subnet_manager);
    const auto found = test::complaints_of(node.view(), {"port-state"});
    if (each.meaning.empty()) {
      EXPECT_TRUE(found.empty()) << text << ": " << test::describe(found);
      continue;
    }
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_TRUE(has(found[0].meaning, each.meaning)) << text << ": " << found[0].meaning;
    EXPECT_TRUE(has(found[0].observed, text)) << found[0].observed;
    EXPECT_EQ(found[0].status, each.state == kPortActive ? Status::warning : Status::critical);
    EXPECT_EQ(has(found[0].remedy, "opensm"), each.state == kPortInit || each.state == kPortActive) << found[0].remedy;
  }
}

TEST(Check, LidsOfTheTimeBeforeThePortCameUpAreNotJudged) {
  Healthy node;
  for (Port& port : node.now.ports) {
    port.link_layer = LinkLayer::infiniband;
    node.now.network.lids[port.id()] = {0xffff, 0};
  }
  EXPECT_EQ(port_states(node), "");
}

TEST(Check, ALidProvesAnEarlierLink) {
  const auto by_design = [](bool has_lid) {
    Healthy node;
    for (Port& port : node.now.ports) port.link_layer = LinkLayer::infiniband;
    for (Node* each : {&node.before, &node.now})
      for (size_t i : {size_t{1}, size_t{2}}) {
        each->ports[i].state = kPortDown;
        each->ports[i].phys_state = kPhysPolling;
        each->ports[i].gids.clear();
        each->ports[i].counters.pma.clear();
        if (has_lid) each->network.lids[each->ports[i].id()] = {12, 1};
      }
    return test::complaints_of(node.view(), {"port-state"}).at(0).meaning;
  };
  EXPECT_TRUE(has(by_design(false), "not cabled by design")) << by_design(false);
  EXPECT_FALSE(has(by_design(true), "not cabled by design")) << by_design(true);
}

// Two virtual functions at the first port: one with an RDMA device here, one in a pod.
Healthy with_limits(const VfLimits& here, const VfLimits& of_a_pod) {
  Healthy node;
  const Port& port = node.now.ports[0];
  node.now.network.physical_functions[port.pci] = {
      port.netdev,
      {{.limits = here, .pci = "0000:17:00.1", .has_rdma = true}, {.limits = of_a_pod, .elsewhere = true}}};
  return node;
}

TEST(Check, LimitsOfVirtualFunctionsThatHarmRdma) {
  constexpr auto kDisabled = VfLinkState::disable;
  const auto limits_of = [](const Healthy& node) { return said(node.view(), {"vf-limits"}); };
  EXPECT_EQ(limits_of(with_limits({0}, {1})), "");
  EXPECT_TRUE(has(limits_of(with_limits({0}, {.number = 1, .link_state = kDisabled})),
                  "vf-limits mlx5_0/1 critical: VF 1 (of a pod): link state disable"));
  EXPECT_EQ(limits_of(with_limits({.number = 0, .link_state = kDisabled}, {1})), "") << "it may wait for a pod";
  Healthy node = with_limits({0}, {.number = 1, .link_state = kDisabled});
  VirtualFunction& last = node.now.network.physical_functions.begin()->second.functions[1];
  last.elsewhere = false;
  EXPECT_EQ(limits_of(node), "") << "it is not in use";
  last.given_away = true;
  EXPECT_TRUE(has(limits_of(node), "warning: VF 1 (of a virtual machine): link state disable")) << limits_of(node);

  const uint32_t speed = node.now.ports[0].speed.value();
  EXPECT_EQ(limits_of(with_limits({0}, {.number = 1, .max_tx_rate = speed})), "") << "no limit in effect";
  node = with_limits({.number = 0, .max_tx_rate = 10'000}, {1});
  EXPECT_TRUE(has(limits_of(node), "warning: VF 0: at most 10000 of " + std::to_string(speed) + " Mb/s"))
      << limits_of(node);
  EXPECT_TRUE(has(complaints_of(node.view(), {"vf-limits"}).at(0).remedy,
                  "ip link set " + node.now.ports[0].netdev + " vf 0 max_tx_rate 0"));
  VirtualFunction& first = node.now.network.physical_functions.begin()->second.functions[0];
  first.has_rdma = false, first.given_away = true;
  EXPECT_EQ(limits_of(node), "") << "the share of a virtual machine";
  first.has_rdma = true;
  node.now.ports[0].speed.reset();
  node.now.ports[0].rate.reset();
  EXPECT_EQ(limits_of(node), "") << "the speed is unknown";
  const VfLimits half{.number = 0, .max_tx_rate = speed / 2};
  EXPECT_EQ(limits_of(with_limits(half, half)), "") << "the port is shared on purpose";

  const auto tagged = [&](uint32_t priority, Trust trust) {
    Healthy out = with_limits({.number = 0, .vlan = 100, .vlan_priority = priority}, {1});
    out.now.ports[0].qos.trust = trust;
    out.now.ports[0].qos.pfc = PrioSet{1 << 3};
    return limits_of(out);
  };
  EXPECT_TRUE(has(tagged(0, Trust::pcp), "warning: VF 0: VLAN 100 with priority 0, PFC on 3")) << tagged(0, Trust::pcp);
  EXPECT_EQ(tagged(3, Trust::pcp), "");
  EXPECT_EQ(tagged(0, Trust::dscp), "") << "the tag does not decide";
}

// A virtual function of the host: the finding of its port names the cause.
TEST(Check, AFunctionThatTheHostDisabledSaysSo) {
  Healthy node = with_functions_in_use();
  Port& function = node.now.ports[5];
  function.state = kPortDown;
  node.now.ports[1].state = kPortActive;
  node.now.network.physical_functions[function.owner] = {node.now.ports[1].netdev,
                                                         {{.limits = {.number = 2}, .pci = function.pci}}};
  const auto meaning = [&] {
    std::string out;
    for (const Finding& each : complaints_of(node.view(), {"port-state"})) out += each.subject + ": " + each.meaning;
    return out;
  };
  EXPECT_TRUE(has(meaning(), "netdev is down, or its link state policy is disable")) << meaning();
  node.now.network.physical_functions.begin()->second.functions[0].limits.link_state = VfLinkState::disable;
  EXPECT_TRUE(has(meaning(), "its host has set its link state to \"disable\"")) << meaning();
}

// mana_ib reports no width of the link, and the kernel answers EINVAL for the rate. That is listed with what could not
// be read, and the port is no slow one.
TEST(Check, ARateThatTheDriverDoesNotReportIsNoFault) {
  Healthy node;
  const auto rates = [&] { return said(node.view(), {"rate"}); };
  const auto refuse = [&](Port& port, const char* code) {
    port.rate.reset();
    port.has_no_width = std::string_view(code) == "EINVAL";
    port.unread = {
        {PortPart::rate, "rate: /sys/class/infiniband/" + port.rdma + "/ports/1/rate: failed (" + code + ")"}};
  };
  for (Port& port : node.now.ports) refuse(port, "EINVAL");
  EXPECT_EQ(rates(), "");
  refuse(node.now.ports[1], "EIO");
  EXPECT_EQ(rates(), "rate mlx5_1/1 unknown: -\n") << "another failure than that of a driver without the value";
  refuse(node.now.ports[1], "EINVAL");
  node.now.ports[0].rate = 50e9;
  EXPECT_TRUE(has(rates(), "rate mlx5_1/1 unknown: -\n")) << "an equal port has one: the driver reports it";
}

TEST(Check, AnInfinibandLinkThatLostLanesIsNotOfAnotherSpeed) {
  Healthy node(4);
  for (Port& port : node.now.ports) {
    port.link_layer = LinkLayer::infiniband;
    port.width = IbWidth{4, "NDR"};
  }
  Port& port = node.now.ports[1];
  port.rate = 25e9;
  port.width = IbWidth{2, "NDR"};
  auto found = complaints_of(node.view(), {"rate"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].observed, "200 Gb/s (2X NDR)");
  EXPECT_EQ(found[0].expected, "400 Gb/s (4X NDR), like equal ports");
  EXPECT_TRUE(has(found[0].meaning, "2 of 4 lanes") && has(found[0].remedy, "Reseat the cable")) << describe(found);
  port.width = IbWidth{4, "HDR"};
  found = complaints_of(node.view(), {"rate"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].observed, "(4X HDR)") && has(found[0].remedy, "Configure the same speed"))
      << describe(found);
}

// The second function of the rail's NIC, with a slower link.
void add_slower_port(Healthy& node) {
  Nic second = node.now.topology.nics[0];
  second.pci.back() = '1';
  second.name = "mlx5_7";
  second.rdma = {"mlx5_7"};
  second.netdevs = {"ens7"};
  Port port = node.now.ports[0];
  port.rdma = "mlx5_7";
  port.netdev = "ens7";
  port.pci = second.pci;
  port.speed = 200'000;
  port.rate = 25e9;
  node.now.topology.nics.push_back(std::move(second));
  node.now.ports.push_back(std::move(port));
  node.now.network.interfaces["ens7"];
}

TEST(Check, PortsOfTheOnlyCardAreComparedWithEachOther) {
  Healthy node(1);
  add_slower_port(node);
  const auto rates = [&] { return said(node.view(), {"rate"}); };
  const std::string slow = "rate mlx5_7/1 warning: 200 Gb/s\n";
  EXPECT_EQ(rates(), slow);
  const auto found = complaints_of(node.view(), {"rate"});
  EXPECT_EQ(found.at(0).expected, "400 Gb/s, like mlx5_0/1 of the same card");
  EXPECT_TRUE(has(found[0].remedy, "Swap the cables")) << found[0].remedy;

  auto& routes = node.now.network.interfaces["ens7"].routes;
  routes = {{.table = 254}};
  EXPECT_EQ(rates(), "") << "the front end";
  routes = {{.prefix = 1, .table = 254}};
  EXPECT_EQ(rates(), "") << "the default route in two halves";
  routes.clear();
  node.now.topology.nics.back().bond = "bond0";
  node.now.network.interfaces["bond0"].routes = {{.table = 254}};
  EXPECT_EQ(rates(), "") << "the bond above it is the front end";
  node.now.network.interfaces.erase("bond0");
  node.now.topology.nics.back().bond.clear();
  routes = {{.table = 101}};
  EXPECT_EQ(rates(), slow) << "a table of the rail's own";
  node.now.ports[1].state = kPortDown;
  EXPECT_EQ(rates(), "");
  node.now.ports[1].state = kPortActive;

  PortPolicy other = node.policy.ports[0];
  other.name = "storage";
  other.match.netdev = {"ens7"};
  node.policy.ports.insert(node.policy.ports.begin(), other);
  EXPECT_EQ(rates(), "") << "another entry of the policy";

  Healthy two(2);
  add_slower_port(two);
  EXPECT_EQ(said(two.view(), {"rate"}), "") << "the other card has no second port: this one is for something else";
}

// A pod has ended: the netdev of its function is here again, the RDMA device is not.
TEST(Check, AFunctionWhoseRdmaDeviceWasNotGivenBack) {
  Healthy node;
  node.now.host->software.exclusive_namespaces = true;
  for (const char number : {'2', '3'}) {
    Nic function = node.now.topology.nics[0];
    function.pci.back() = number;
    function.device = 0x101e;
    function.role = FunctionRole::virtual_function;
    function.netdevs = {std::string("ens0v") + number};
    function.name = function.netdevs[0];
    function.rdma.clear();
    node.now.platform.functions[function.pci].kernel_driver = "mlx5_core";
    node.now.topology.nics.push_back(std::move(function));
  }
  Nic &with = node.now.topology.nics[4], &without = node.now.topology.nics[5];
  EXPECT_EQ(port_states(node), "") << "none has one";
  with.rdma = {"mlx5_8"};
  EXPECT_EQ(port_states(node), "port-state ens0v3 unknown: its netdev is here, and it has no RDMA device here\n");
  without.rdma_elsewhere = true;
  EXPECT_EQ(port_states(node),
            "port-state ens0v3 warning: its netdev is here, and its RDMA device is in another network namespace\n");
  const auto found = complaints_of(node.view(), {"port-state"});
  EXPECT_TRUE(has(found.at(0).remedy, "rdma dev set") && has(found[0].remedy, without.pci + " > /sys/bus/pci/drivers/"))
      << found[0].remedy;
  without.netdevs.clear();
  EXPECT_EQ(port_states(node), "") << "a pod has both";
  without.netdevs = {"ens0v3"};
  without.rdma_elsewhere = false;
  node.now.host->software.exclusive_namespaces = false;
  EXPECT_EQ(port_states(node), "") << "all namespaces see all devices: it was made without one";
}

// The name of an RDMA device is not that of a netdev: no command for a netdev has it.
TEST(Check, FixesOfAPortWithoutANetdev) {
  Port port;
  port.rdma = "mlx5_0";
  port.pci = "0000:18:00.0";
  port.kernel_driver = "mlx5_core";
  const auto filled = [&](std::string_view text) { return fill_names(text, &port, port.id()); };
  for (const LinkLayer layer : {LinkLayer::ethernet, LinkLayer::infiniband}) {
    port.link_layer = layer;
    const std::regex wrong(R"re((ethtool( -\S+)*|tc .*dev|ip link.* (set|dev)|dcb .*dev) mlx5_0\b)re");
    const auto expect_right = [&](const std::string& text) {
      EXPECT_FALSE(std::regex_search(filled(text), wrong)) << filled(text);
    };
    for (const Rule& rule : rules()) {
      expect_right(rule.fix.text());
      if (layer == LinkLayer::infiniband) expect_right(rule.fix_infiniband.text());
    }
    for (const RuleWindow& window : rule_windows())
      if (layer == LinkLayer::ethernet) expect_right(window.remedy.text());
    expect_right("ip link set {netdev} down; tc -s qdisc show dev {netdev}; ethtool -m {netdev}");
  }
  port.link_layer = LinkLayer::ethernet;
  EXPECT_EQ(filled("ip link show dev {netdev}; ethtool -m {netdev}; fabric-agentctl diagnose {netdev}"),
            "rdma link show mlx5_0/1; mlxlink -d mlx5_0 -m; fabric-agentctl diagnose mlx5_0/1");
  port.kernel_driver = "bnxt_en";
  EXPECT_EQ(filled("ethtool -m {netdev}"), "ethtool -m NETDEV");
  port.netdev = "eth0";
  EXPECT_EQ(filled("ethtool -m {netdev}"), "ethtool -m eth0");
}

TEST(Check, ALineOfModprobeThatKeepsTheRdmaDriverAwayIsNamed) {
  Healthy node;
  node.now.ports.clear();
  node.before.ports.clear();
  for (Nic& nic : node.now.topology.nics) nic.rdma.clear();
  node.now.host->software.modules = {{"irdma", "blacklist irdma", {"/etc/modprobe.d/intel.conf", 1}}};
  const auto state = [&] {
    const std::vector<std::string> only{"port-state"};
    const Report report = run_rules(node.view(), only);
    return report.findings.empty() ? Finding{} : report.findings.front();
  };
  EXPECT_FALSE(has(state().meaning + state().remedy, "intel.conf")) << "of another NIC";
  node.now.host->software.modules.push_back({"mlx5_ib", "blacklist mlx5_ib", {"/etc/modprobe.d/rdma.conf", 3}});
  EXPECT_TRUE(has(state().meaning, "forbids it, /etc/modprobe.d/rdma.conf:3: blacklist mlx5_ib.")) << state().meaning;
  EXPECT_TRUE(
      state().remedy.starts_with("Remove the modules from /etc/modprobe.d/rdma.conf:3, also in the initramfs. "
                                 "Then: modprobe -a mlx5_ib."))
      << state().remedy;
  node.now.host->software.modules = {{"mlx5_ib", "module_blacklist=mlx5_ib", {"the kernel command line", 0}, true}};
  EXPECT_TRUE(has(state().remedy, "Drain the node first. Then reboot")) << state().remedy;
  node.now.host->software.modules = {{"mlx5_ib", "", {"/lib/modules/6.18.5", 0}, true}};
  EXPECT_TRUE(has(state().meaning, "The kernel has no module mlx5_ib (/lib/modules/6.18.5).")) << state().meaning;
  EXPECT_TRUE(state().remedy.starts_with("Install mlx5_ib for this kernel")) << state().remedy;
  EXPECT_FALSE(has(state().remedy, "modprobe")) << state().remedy;
}

// Two programs write PFC: the finding does not wait for the first write of the agent.
TEST(Check, ADcbxDaemonThatWritesThePolicysSettingsIsNamed) {
  Healthy node;
  const auto said_of = [&] { return test::said(node.view(), {"dcbx-daemon"}); };
  EXPECT_EQ(said_of(), "");
  node.now.host->software.dcb_daemons = {{"lldpad", 812, "lldpad.service"}};
  for (Port& port : node.now.ports) port.qos.dcbx = Dcbx::firmware;
  EXPECT_EQ(said_of(), "") << "the host does not own DCBX";
  node.now.ports[0].qos.dcbx = Dcbx::host;
  EXPECT_EQ(said_of(),
            "dcbx-daemon mlx5_0/1 warning: lldpad (pid 812, lldpad.service) runs, and the host owns DCBX of " +
                node.now.ports[0].netdev + "\n");
  DcbDaemon& daemon = node.now.host->software.dcb_daemons[0];
  daemon.admin_status = {{node.now.ports[0].netdev, 0}};
  EXPECT_EQ(said_of(), "") << "it exchanges no LLDP there";
  node.now.host->software.dcb_daemons.push_back({"dcbd", 813, ""});
  EXPECT_TRUE(has(said_of(), "mlx5_0/1 warning: dcbd (pid 813) runs")) << said_of();
  node.now.host->software.dcb_daemons.pop_back();
  node.now.host->software.dcb_daemons[0].admin_status = {{"common", 0}, {node.now.ports[0].netdev, 2}};
  EXPECT_TRUE(has(said_of(), "mlx5_0/1 warning")) << "it receives";
  node.plan.erase("mlx5_0/1");
  EXPECT_EQ(said_of(), "") << "nothing of it is written";
}

TEST(Check, OnlySlingshotNicsNeedNoRdmaDevice) {
  Healthy node;
  node.now.ports.clear();
  node.before.ports.clear();
  for (Nic& nic : node.now.topology.nics) nic.rdma.clear();
  EXPECT_EQ(port_states(node),
            "port-state host critical: no RDMA device: 4 NICs have the driver mlx5_core and no RDMA device "
            "(0000:14:00.0, 0000:24:00.0, 0000:34:00.0, 0000:44:00.0)\n");
  Node plain = node.now;
  plain.topology.gpus.clear();
  EXPECT_TRUE(has(test::said({.now = plain}, {"port-state"}), "host unknown: no RDMA device: 4 NICs"));
  plain.platform.functions.clear();
  EXPECT_EQ(test::said({.now = plain}, {"port-state"}), "port-state host unknown: no RDMA device\n");
  for (Nic& nic : node.now.topology.nics) nic.vendor = kCray, nic.class_code = 0x020000;
  EXPECT_EQ(port_states(node), "");
}

// Loading a loaded driver again changes nothing.
TEST(Check, ALoadedDriverWithoutRdmaIsNotLoadedAgain) {
  Healthy node;
  node.now.ports.clear();
  node.before.ports.clear();
  for (Nic& nic : node.now.topology.nics) nic.rdma.clear();
  auto found = complaints_of(node.view(), {"port-state"});
  EXPECT_TRUE(has(found.at(0).remedy, "modprobe -a mlx5_ib")) << found[0].remedy;
  node.now.host->software.loaded = {"mlx5_ib"};
  found = complaints_of(node.view(), {"port-state"});
  EXPECT_FALSE(has(found.at(0).remedy, "modprobe")) << found[0].remedy;
  EXPECT_TRUE(has(found[0].meaning, "is loaded, and created no RDMA device")) << found[0].meaning;
  // Eight ports of one E810, and four.
  auto& nics = node.now.topology.nics;
  nics.resize(1, nics.front());
  nics.front().vendor = kIntel, nics.front().device = 0x1592;
  nics.resize(8, nics.front());
  node.now.host->software.loaded = {"irdma"};
  for (size_t i = 0; i < nics.size(); ++i) {
    nics[i].pci = "0000:14:00." + std::to_string(i);
    node.now.platform.functions[nics[i].pci].kernel_driver = "ice";
  }
  found = complaints_of(node.view(), {"port-state"});
  EXPECT_TRUE(has(found.at(0).meaning, "split into 8 ports: with more than 4")) << found[0].meaning;
  EXPECT_TRUE(has(found[0].remedy, "port option")) << found[0].remedy;
  nics.resize(4);
  found = complaints_of(node.view(), {"port-state"});
  EXPECT_FALSE(has(found.at(0).meaning, "split")) << found[0].meaning;
}

// No driver for RDMA can be loaded on such NICs.
TEST(Check, NicsThatCannotDoRdmaAreNamed) {
  for (const char* driver : {"gve", "ena", "virtio_net"}) {
    Healthy node;
    node.now.ports.clear();
    node.before.ports.clear();
    for (Nic& nic : node.now.topology.nics) {
      nic.rdma.clear();
      nic.vendor = 0x1ae0;
      nic.device = 0x0042;
      node.now.platform.functions[nic.pci].kernel_driver = driver;
    }
    EXPECT_EQ(port_states(node), "") << driver << ": each GPU has one on its switch, so the machine was built so";
    node.now.topology.nics.resize(1);
    const auto found = test::complaints_of(node.view(), {"port-state"});
    ASSERT_EQ(found.size(), 1U) << test::describe(found);
    EXPECT_EQ(found[0].status, Status::unknown);
    EXPECT_TRUE(has(found[0].observed, "1 NIC with " + std::string(driver))) << found[0].observed;
    for (const char* word : {"mlx5_ib", "bnxt_re", "modprobe", "Load"})
      EXPECT_FALSE(has(found[0].meaning + found[0].remedy, word)) << found[0].remedy;
  }
}

// Neither the policy nor the inventory knows of one.
TEST(Check, AWorkstationNeedsNoRdmaDevice) {
  Healthy healthy;
  Node node = healthy.now;
  node.ports.clear();
  node.topology.nics.resize(1);
  node.topology.nics[0].rdma.clear();
  node.topology.nics[0].vendor = 0x8086;
  node.topology.nics[0].device = 0x1563;
  node.platform.functions[node.topology.nics[0].pci].kernel_driver = "ixgbe";
  const auto said_of = [&](const Policy* policy) {
    return test::said({.now = node, .policy = policy}, {"port-state"});
  };
  EXPECT_TRUE(has(said_of(nullptr), "host unknown: no RDMA device: 1 NIC with ixgbe")) << "GPUs of a server";
  for (Gpu& gpu : node.topology.gpus) gpu.class_code = 0x030000;
  EXPECT_EQ(said_of(nullptr), "");
  EXPECT_TRUE(has(said_of(&healthy.policy), "unknown")) << "the policy has ports";
  node.inventory.emplace().parts.push_back({.pci = "0000:14:00.0", .name = "mlx5_0", .rdma = {"mlx5_0"}});
  EXPECT_TRUE(has(said_of(nullptr), "unknown")) << "there was one";
  node.inventory.reset();
  node.topology.hypervisor = "QEMU";
  EXPECT_TRUE(has(said_of(nullptr), "unknown")) << "its host may have forgotten to give it one";
}

TEST(Check, GaudiHasPortsOfItsOwn) {
  Healthy healthy;
  Node node = healthy.now;
  node.ports.clear();
  for (Gpu& gpu : node.topology.gpus) gpu.vendor = kHabana, gpu.device = 0x1063;
  node.topology.nics.clear();
  const auto said_of = [&] { return test::said({.now = node}, {"port-state"}); };
  EXPECT_EQ(said_of(), "port-state host warning: 4 accelerators of Habana (Gaudi, driver habanalabs) (GPU0 at " +
                           node.topology.gpus[0].pci + ", ...) without a netdev or an RDMA device\n");
  Node with_nics = node;
  with_nics.ports = healthy.now.ports;
  with_nics.topology.nics = healthy.now.topology.nics;
  EXPECT_TRUE(has(test::said({.now = with_nics}, {"port-state"}), "Habana")) << "NICs of the host are no replacement";
  // Amazon's DL1: the first Gaudi, whose ports do not leave the machine.
  for (const uint16_t device : {uint16_t{0x1000}, uint16_t{0x1010}}) {
    for (Gpu& gpu : with_nics.topology.gpus) gpu.device = device;
    EXPECT_EQ(test::said({.now = with_nics}, {"port-state"}), "") << device;
    for (Gpu& gpu : node.topology.gpus) gpu.device = device;
    EXPECT_TRUE(has(said_of(), "Habana")) << "the host has no NIC either";
  }
  for (Gpu& gpu : node.topology.gpus) gpu.device = 0x0001;
  EXPECT_FALSE(has(said_of(), "Habana")) << "a card for inference has no ports";
  for (Gpu& gpu : node.topology.gpus) gpu.device = 0x1063;
  for (Gpu& gpu : with_nics.topology.gpus) gpu.device = 0x1063, gpu.ports_elsewhere = true;
  EXPECT_FALSE(has(test::said({.now = with_nics}, {"port-state"}), "Habana")) << "a container has its netdevs";
  for (const Gpu& gpu : node.topology.gpus) {
    static_cast<PciDevice&>(node.topology.nics.emplace_back()) = gpu;
    node.topology.nics.back().netdevs = {"ens" + gpu.name};
  }
  EXPECT_FALSE(has(said_of(), "Habana")) << said_of();
}

// Half of the NICs have no cable: that may be the design, which only its builders know.
TEST(Check, PortsThatNeverHadALinkMayBeWithoutACable) {
  Healthy node(8);
  const auto meaning_of = [&](size_t port) {
    for (const Finding& each : test::complaints_of(node.view(), {"port-state"}))
      if (each.subject == node.now.ports[port].id()) return each.meaning + each.remedy;
    return std::string();
  };
  for (size_t port = 4; port < 8; ++port) {
    for (Node* each : {&node.before, &node.now}) {
      Port& down = each->ports[port];
      down.link_layer = LinkLayer::infiniband;
      down.gids.clear();
      down.state = kPortDown;
      down.phys_state = kPhysPolling;
      down.counters.carrier_down.reset();
      down.counters.pma.clear();
    }
  }
  for (size_t port = 0; port < 4; ++port)
    for (Node* each : {&node.before, &node.now}) each->ports[port].link_layer = LinkLayer::infiniband;
  EXPECT_TRUE(has(meaning_of(4), "like 3 other ports of its model, and 4 are up: perhaps")) << meaning_of(4);
  EXPECT_TRUE(has(meaning_of(4), "fabric-agentctl ack port-state mlx5_4/1")) << meaning_of(4);
  node.now.ports[6].counters.pma = {{"link_downed", 3}};
  EXPECT_FALSE(has(meaning_of(4), "perhaps")) << "one of them had a link";
}

// The physical state Disabled leaves open whether the host disabled the port: its netdev does not.
TEST(Check, APortThatIsUpWithoutACarrierIsSaidToBeSo) {
  Healthy node;
  test::down(node, 1, kPhysDisabled);
  node.now.ports[1].link_layer = LinkLayer::ethernet;
  node.now.ports[1].carrier = false;
  node.now.ports[1].link_status.reset();
  const auto found = test::complaints_of(node.view(), {"port-state"});
  ASSERT_EQ(found.size(), 1U) << test::describe(found);
  EXPECT_TRUE(has(found[0].meaning, "The netdev is up and has no carrier")) << found[0].meaning;
  EXPECT_FALSE(has(found[0].remedy, "Find out")) << found[0].remedy;
}

TEST(Check, AnOmniPathDeviceThatUdevHasRenamed) {
  Healthy node;
  Port& port = node.now.ports[1];
  const auto observed = [&] {
    const std::vector<std::string> only{"port-state"};
    for (const Finding& each : run_rules(node.view(), only).findings)
      if (each.subject == port.id()) return each.observed;
    return std::string();
  };
  port.kernel_driver = "hfi1";
  port.rdma = "hfi1_0";
  EXPECT_FALSE(has(observed(), "PSM2")) << observed();
  port.rdma = "opap129s0";
  EXPECT_TRUE(has(observed(), "PSM2 looks for hfi1_N")) << observed();
}

TEST(Check, TableIsSound) {
  std::set<std::string> seen;
  for (const Rule& check : test::checks()) {
    EXPECT_TRUE(seen.insert(std::string(check.id)).second) << check.id << " twice";
    EXPECT_FALSE(check.title.empty() || check.meaning.empty() || check.inspect.empty()) << check.id;
    EXPECT_FALSE(check.title.ends_with('?') || check.title.ends_with('.')) << check.id;
    EXPECT_NE(std::find(std::begin(kRuleGroups), std::end(kRuleGroups), check.group), std::end(kRuleGroups))
        << check.id << ": unknown group";
  }
  for (const Setting& setting : kSettings) EXPECT_NE(find_rule(setting.key), nullptr) << setting.key << " has no check";
}

TEST(Check, OnlyTakesIdsAndGroups) {
  Healthy node;
  down(node, 0, 2);
  node.now.agent->running = false;
  EXPECT_EQ(said(node.view(), {"agent"}), "agent host warning: not running, last change 2026-01-01T00:00:00Z\n");
  EXPECT_EQ(said(node.view(), {"link"}), "port-state mlx5_0/1 critical: DOWN, Polling\n");
}

// A switch port with another speed or FEC looks like a broken cable: compare before parts are replaced.
TEST(Check, SpeedAndFecAreComparedBeforeTheCableIsReplaced) {
  Healthy node;
  down(node, 0, 2);
  const std::string remedy = complaints_of(node.view(), {"port-state"}).at(0).remedy;
  EXPECT_LT(remedy.find("ethtool --show-fec ens0"), remedy.find("eplace the cable")) << remedy;
}

// Its agent runs, and a restart would not change the file: this program is the older one.
TEST(Check, AStateOfANewerReleaseIsReadByItsOwnProgram) {
  Healthy node;
  node.now.agent.reset();
  node.now.agent_unread = "/run/fabric-agent/state.json: no";
  const auto fix = [&](bool is_captured) {
    View view = node.view();
    view.is_captured = is_captured;
    return complaints_of(view, {"agent"}).at(0).remedy;
  };
  EXPECT_EQ(fix(false), "systemctl restart fabric-agent");
  node.now.agent_is_newer = true;
  EXPECT_TRUE(fix(false).starts_with("Use the fabric-agentctl of the release that wrote the file.")) << fix(false);
  EXPECT_EQ(fix(true), "Use the fabric-agentctl of the release that wrote the file.");
}

// An inventory that a newer release wrote is not replaced.
TEST(Check, AnInventoryOfANewerReleaseIsNotAccepted) {
  Healthy node;
  node.now.inventory_unread = "/var/lib/fabric-agent/inventory.json: no";
  const auto fix = [&] { return complaints_of(node.view(), {"inventory"}).at(0).remedy; };
  EXPECT_EQ(fix(), "fabric-agentctl inventory accept");
  node.now.inventory_is_newer = true;
  EXPECT_FALSE(has(fix(), "accept")) << fix();
}

// Its ports carry the bond's packets, and nothing sets them up.
TEST(Check, AMemberOfABondWithoutTheEntryOfTheOtherIsAFinding) {
  Healthy node;
  for (const size_t at : {0, 1}) {
    node.now.ports[at].role = PortRole::bond_member;
    node.now.ports[at].bond = "bond0";
  }
  const auto managed = [&] { return said(node.view(), {"managed"}); };
  node.policy.ports[0].match.netdev = {"ens0", "ens2"};
  EXPECT_EQ(managed(), "managed " + node.now.ports[1].id() + " warning: unmanaged: no [[port]] entry matches\n");
  node.now.ports[1].bond = "bond1";
  EXPECT_EQ(managed(), "") << "another bond";
  node.now.ports[1].bond = "bond0";
  node.policy.ports[0].match.netdev = {"ens2"};
  EXPECT_EQ(managed(), "") << "no member is managed";
  node.policy.ports[0].match.netdev = {"ens*"};
  EXPECT_EQ(managed(), "");
  node.policy.ports[0].match = {.netdev = {"ens0"}};
  node.policy.ports[0].want = {};
  EXPECT_EQ(managed(), "") << "an entry without settings leaves its ports unmanaged";
}

// A configuration that is there is not written anew.
TEST(Check, WithoutAValidPolicyTheFixIsThatOfItsFile) {
  Healthy node;
  View view = node.view();
  view.policy = nullptr;
  const auto fix = [&] { return complaints_of(view, {"pfc"}).at(0).remedy; };
  view.no_policy = error(ENOENT, "fabric-agent.toml: cannot read the configuration");
  EXPECT_TRUE(fix().starts_with("Write /etc/fabric-agent/fabric-agent.toml")) << fix();
  view.no_policy = error(0, "conf.d/50-site.toml:1:1: no key: the file is empty or truncated");
  EXPECT_TRUE(fix().starts_with("Correct the errors")) << fix();
  view.no_policy = error(EACCES, "fabric-agent.toml: cannot read the configuration");
  EXPECT_TRUE(has(fix(), "as root")) << fix();
}

// NVIDIA Grace: each GPU and each NIC is below a host bridge of its own.
TEST(Check, AnEntryForARoleThatNoPortCanHaveIsAFinding) {
  Healthy node;
  const auto managed = [&] { return said(node.view(), {"managed"}); };
  node.policy.ports[0].match.role = {"compute"};
  for (Port& port : node.now.ports) port.place = PortPlace::host;
  EXPECT_EQ(managed(), "managed host warning: 0 of 4 ports managed\n");
  EXPECT_TRUE(has(complaints_of(node.view(), {"managed"}).at(0).remedy, "pci_id"));

  node.now.ports[3].carrier = false;
  EXPECT_EQ(managed(), "") << "fewer links than GPUs: the front end, perhaps";
  node.now.ports[3].carrier = true;
  auto& routes = node.now.network.interfaces.at(node.now.ports[3].netdev).routes;
  routes.push_back({{}, 0, 254});
  EXPECT_EQ(managed(), "") << "one of them is the front end";
  routes.pop_back();
  node.now.ports[3].place = PortPlace::compute;
  EXPECT_EQ(managed(), "") << "the role distinguishes the ports here";
  node.now.ports[3].place = PortPlace::host;
  node.policy.ports[0].match.driver = {"bnxt_en"};
  EXPECT_EQ(managed(), "") << "an entry for other machines";
  node.policy.ports[0].match = {.role = {"compute"}};
  node.policy.ports.push_back({.name = "rest"});
  EXPECT_EQ(managed(), "") << "managed by another entry";
}

TEST(Check, WithoutAPolicyForPortsTheAgentIsNotMissed) {
  Healthy node;
  node.now.agent.reset();
  node.policy.ports.clear();
  node.policy.sysctl.clear();
  EXPECT_EQ(said(node.view(), {"agent"}), "");
  node.policy.sysctl = {{"net.ipv4.tcp_ecn", "1"}};
  EXPECT_EQ(said(node.view(), {"agent"}), "agent host warning: not running\n");
}

TEST(Check, AHostSettingThatDiffersIsAWarning) {
  Healthy node;
  node.policy.sysctl["net.ipv4.tcp_ecn"] = "1";
  node.plan["host"] = {{"host", {}, Outcome::differs, 0, false, "2", "1", {}, "net.ipv4.tcp_ecn"}};
  EXPECT_EQ(said(node.view(), {"sysctl"}), "sysctl host warning: net.ipv4.tcp_ecn = 2 (differs)\n");
  EXPECT_EQ(complaints_of(node.view(), {"sysctl"})[0].expected, "net.ipv4.tcp_ecn = 1");
}

TEST(Check, WorstFirst) {
  Healthy node;
  node.now.agent->running = false;                            // warning
  node.now.ports[2].rate.reset();                             // unknown
  node.change("mlx5_0/1", "pfc").outcome = Outcome::differs;  // critical
  const Report report = run_rules(node.view());
  ASSERT_GE(report.findings.size(), 4u);
  EXPECT_EQ(report.findings[0].status, Status::critical);
  EXPECT_EQ(report.findings[1].status, Status::warning);
  EXPECT_EQ(report.findings[2].status, Status::unknown);
  EXPECT_EQ(report.findings[3].status, Status::ok);
}

TEST(Check, WithoutAPolicySettingsAreUnknownForItsReason) {
  const Healthy node;
  View view = node.view();
  view.policy = nullptr;
  view.no_policy = error(0, "fabric-agent.toml:3:1: unknown key");
  const auto found = complaints_of(view, {"pfc"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, Status::unknown);
  EXPECT_TRUE(has(found[0].meaning, "fabric-agent.toml:3:1"));
  view.no_policy->what += "\nfabric-agent.toml:4:1: unknown key\nfabric-agent.toml:5:1: unknown key";
  EXPECT_TRUE(has(complaints_of(view, {"pfc"})[0].meaning, "3:1: unknown key (and 2 more errors)."));
  EXPECT_TRUE(has(complaints_of(view, {"agent"})[0].observed, "3:1: unknown key (and 2 more errors)"));
}

// fabric-agentd runs as root and can read it.
TEST(Check, AConfigurationThatThisUserMayNotReadIsNotInvalid) {
  Healthy node;
  View view = node.view();
  view.no_policy = error(EACCES, "fabric-agent.toml: cannot read the configuration");
  EXPECT_TRUE(complaints_of(view, {"agent"}).empty()) << "compared with the last valid one";
  view.no_policy = error(0, "fabric-agent.toml:3:1: unknown key \"(EACCES)");
  EXPECT_FALSE(complaints_of(view, {"agent"}).empty()) << "its errno decides, not its text";
  view.no_policy = error(EACCES, "fabric-agent.toml: cannot read the configuration");
  view.policy = nullptr;
  EXPECT_TRUE(complaints_of(view, {"agent"}).empty()) << "the agent runs";
  node.now.agent.reset();
  const auto found = complaints_of(view, {"agent"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, Status::unknown);
  EXPECT_TRUE(has(found[0].observed, "Permission denied"));
}

// The running agent publishes it, so that check, the exporter and the schedulers say the same.
TEST(Check, ASelfTestThatTheAgentCannotEndIsAWarningOfTheNode) {
  Healthy node;
  EXPECT_TRUE(complaints_of(node.view()).empty());
  node.now.agent->left_of_self_tests = "mlx5_0/1 pause";
  const auto found = complaints_of(node.view());
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_EQ(found[0].id, "agent");
  EXPECT_EQ(found[0].status, Status::warning);
  EXPECT_TRUE(has(found[0].observed, "a self-test was interrupted, not restored: mlx5_0/1 pause"));
}

// A typing error or a removed drop-in reaches every node of a site at once: schedulers would drain all of them.
TEST(Check, AFaultOfTheConfigurationIsOneWarningOfTheNode) {
  const std::string file = "/etc/fabric-agent/fabric-agent.toml";
  const std::string not_toml = file + ":3:1: expected a key", unknown = file + ":4:1: unknown key \"pfcs\"",
                    empty = file + ":1:1: no key", missing = file + ": No such file or directory (ENOENT)";
  struct Case {
    const char* what;
    std::string agent_error, reader_error;  // the error of the running agent, and that of the present reader
    bool lost_entry = false;
  };
  for (const Case& each :
       {Case{"not TOML, reloaded", not_toml, ""}, Case{"unknown key, reloaded", unknown, ""},
        Case{"not TOML, and the exporter restarted", not_toml, not_toml},
        Case{"unknown key, and both restarted", unknown, unknown}, Case{"unknown key, not reloaded yet", "", unknown},
        Case{"empty file", empty, empty}, Case{"the file is missing", missing, missing},
        Case{"a removed drop-in left the ports without an entry", "", "", true}}) {
    SCOPED_TRACE(each.what);
    Healthy node;
    node.now.agent->config_error = each.agent_error;
    if (each.lost_entry) {
      for (const Port& port : node.now.ports) node.now.agent->lost_entry.push_back(port.id());
      node.policy.ports.clear();
      node.plan.clear();
    }
    View view = node.view();
    if (!each.reader_error.empty())
      view.no_policy = each.reader_error == missing ? error(ENOENT, file) : error(0, each.reader_error);
    const auto found = complaints_of(view);
    ASSERT_EQ(found.size(), 1u) << describe(found);
    EXPECT_EQ(found[0].id, "agent");
    EXPECT_EQ(found[0].status, Status::warning);
    // Without a last valid one nothing is enforced, as without an agent, and the settings are unknown.
    if (each.reader_error.empty()) continue;
    view.policy = nullptr;
    for (const bool runs : {true, false}) {
      if (!runs) node.now.agent.reset();
      for (const Finding& other : complaints_of(view)) EXPECT_NE(other.status, Status::critical) << describe({other});
    }
  }
}

// ice shows only the mode in use, so the one that was set is unknown without a link.
TEST(Check, FecWithoutALinkIsNotJudged) {
  Healthy node;
  want_every_setting(node);
  const Port& port = node.now.ports[0];
  for (const bool carrier : {false, true}) {
    node.now.ports[0].carrier = carrier;
    Change& fec = node.change(port.id(), "fec");
    fec.from = "none";
    fec.outcome = Outcome::differs;
    node.now.agent->ports[port.id()]["fec"] = {Outcome::ignored,
                                               "accepted; the mode in use is known once the link is up", 0, ""};
    EXPECT_EQ(complaints_of(node.view(), {"fec"}).size(), carrier ? 1U : 0U);
  }
  node.now.ports[0].carrier = false;
  node.now.agent->ports[port.id()]["fec"] = {Outcome::refused, "EINVAL", 0, ""};
  EXPECT_EQ(complaints_of(node.view(), {"fec"}).size(), 1U) << "a refusal does not depend on the link";
}

// A second port that is down on every card is spare; one whose twins are up is a fault.
TEST(Check, SpareSecondPorts) {
  Healthy node;
  std::vector<Port> second = node.now.ports;
  for (size_t i = 0; i < second.size(); ++i) {
    second[i].rdma = "mlx5_" + std::to_string(i + 4);
    second[i].pci.back() = '1';
    second[i].netdev += "np1";
    second[i].state = 1;
    second[i].phys_state = 3;
    second[i].rate.reset();
    node.plan[second[i].id()] = {};
    node.now.ports.push_back(second[i]);
  }
  EXPECT_EQ(said(node.view()), "");
  // Without a reason from the driver (bnxt, ice, ionic). One link down is counted when a port is first opened.
  for (const uint64_t downs : {1, 2}) {
    for (size_t i = 4; i < 8; ++i) node.now.ports[i].counters.carrier_down = downs;
    EXPECT_EQ(complaints_of(node.view(), {"port-state"}).size(), downs == 1 ? 0U : 4U);
  }
  for (size_t i = 4; i < 8; ++i) node.now.ports[i].counters.carrier_down = 1;
  node.now.ports[0].state = 1, node.now.ports[0].phys_state = 2;
  EXPECT_EQ(port_states(node), "port-state mlx5_0/1 critical: DOWN, Polling\n") << "the card has lost its only link";
  node.now.ports[0].state = 4, node.now.ports[0].phys_state = 5;
  node.now.ports[4].state = 4;
  node.now.ports[4].phys_state = 5;
  node.now.ports[4].rate = 50e9;
  EXPECT_EQ(complaints_of(node.view()).size(), 3u) << "mlx5_4 is used, so its three twins are faults";
}

// Two RDMA ports of a smaller model on the mainboard.
void add_ports_of_the_board(Healthy& node, const std::string& reason) {
  for (const int function : {0, 1}) {
    Nic nic = node.now.topology.nics[0];
    nic.pci = "0000:04:00." + std::to_string(function);
    nic.vendor = 0x14e4, nic.device = 0x16d8, nic.link = {8, 8, 8, 8};
    nic.name = "bnxt_re" + std::to_string(function);
    nic.rdma = {nic.name}, nic.netdevs = {"eno" + std::to_string(function)}, nic.card = "0000:04:00";
    Port port;
    port.rdma = nic.name, port.netdev = nic.netdevs[0], port.pci = nic.pci, port.kernel_driver = "bnxt_en",
    port.driver = "bnxt", port.hca_type = "BCM57416";
    port.numa = nic.numa, port.link_layer = LinkLayer::ethernet, port.state = 1, port.phys_state = 3,
    port.carrier = false;
    port.link_status = LinkStatus{.up = false, .reason = reason};
    node.now.topology.nics.push_back(nic);
    node.now.ports.push_back(port);
    node.before.ports.push_back(port);
  }
}

TEST(Check, UnusedPortsOfTheMainboard) {
  Healthy node;
  add_ports_of_the_board(node, "Switched off");
  EXPECT_EQ(port_states(node), "");
  node.now.ports[4].counters.carrier_down = 2;
  EXPECT_EQ(port_states(node), "") << "administratively down, and down in the first reading";
  node.before.ports[4].state = 4;
  EXPECT_EQ(port_states(node), "port-state bnxt_re0/1 warning: DOWN, Disabled; the netdev is administratively down\n")
      << "it was up in the first reading";
  Healthy cable;
  add_ports_of_the_board(cable, "No cable");
  EXPECT_EQ(port_states(cable), "");
  node.now.ports[4].state = 4, node.now.ports[4].phys_state = 5;
  EXPECT_EQ(port_states(node), "") << "the spare second port of a card in use";
  // Ports of GPUs are faults although another port has a link.
  for (size_t i = 0; i < 4; ++i) node.now.ports[i].state = 1, node.now.ports[i].phys_state = 3;
  EXPECT_TRUE(has(port_states(node), "port-state mlx5_0/1 critical")) << port_states(node);
}

// irdma and ionic report no board, and bnxt_re the same type for all models.
TEST(Check, TwoModelsOfOneDriverAreNoTwins) {
  Healthy node;
  add_ports_of_the_board(node, "");
  for (size_t i = 0; i < 6; ++i) {
    Port& port = node.now.ports[i];
    port.kernel_driver = "bnxt_en", port.hca_type.clear(), port.board_id.clear();
    port.pci_id = i < 4 ? "14e4:1760" : "14e4:16d8";
  }
  node.now.ports[4].state = 4, node.now.ports[4].phys_state = 5, node.now.ports[4].rate = 25e9 / 8;
  EXPECT_EQ(said(node.view(), {"rate", "port-state"}), "") << "a slower port of the mainboard, and a spare one";
  node.now.ports[3].rate = 25e9;
  EXPECT_EQ(said(node.view(), {"rate"}), "rate mlx5_3/1 critical: 200 Gb/s\n");
}

// RoCE drivers report the physical state Disabled for every port without a link.
TEST(Check, TheRemedyOfAPortWithoutALinkFollowsItsReason) {
  const auto remedy = [](const char* reason, LinkLayer layer, const char* detail = "") {
    Healthy node;
    down(node, 0, 3);
    node.now.ports[0].carrier = false;
    node.now.ports[0].link_layer = layer;
    node.now.ports[0].link_status = LinkStatus{.up = false, .reason = reason, .detail = detail};
    const auto found = complaints_of(node.view(), {"port-state"});
    return found.size() == 1 ? found[0].remedy : describe(found);
  };
  EXPECT_TRUE(has(remedy("Switched off", LinkLayer::ethernet), "ip link set"));
  EXPECT_TRUE(has(remedy("", LinkLayer::infiniband), "ibportstate -C mlx5_0 -P 1 -D 0 1 enable"))
      << remedy("", LinkLayer::infiniband);
  Healthy bond;
  Port member = bond.now.ports[0];
  test::make_bond(bond.now.ports[0]);
  test::make_member(member);
  member.carrier = false;
  member.link_status = LinkStatus{.up = false, .reason = "Switched off"};
  bond.now.ports.push_back(member);
  const std::vector<std::string> state{"port-state"};
  const auto found = complaints_of(bond.view(), {"port-state"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].remedy, "ip link set ens0 up");
  EXPECT_TRUE(has(remedy("No cable", LinkLayer::ethernet), "cable and switch port"));
  EXPECT_TRUE(has(remedy("", LinkLayer::ethernet), "Read the state of the port at")) << remedy("", LinkLayer::ethernet);
  for (const char* reason : {"No cable", "Cable issue", "EEPROM issue", "Power budget exceeded", "Overheat", "Module",
                             "Calibration failure", "Bad signal integrity"})
    EXPECT_FALSE(has(remedy(reason, LinkLayer::ethernet), "Enable the switch port")) << reason;
  for (const auto& [reason, step] : {std::pair{"BMC request down", "in the settings of the BMC"},
                                     {"No cable", "Plug in or reseat"},
                                     {"Cable issue", "a type that the NIC's firmware supports"},
                                     {"EEPROM issue", "Reseat the cable or module of ens0"},
                                     {"Power budget exceeded", "power class"},
                                     {"Overheat", "airflow"},
                                     {"OTP speed violation", "a lower speed on the switch port"},
                                     {"Link training failure", "the same speed and FEC on ens0"},
                                     {"Logical mismatch", "the same speed and FEC on ens0"},
                                     {"Module", "Reseat the module of ens0"},  // bnxt_get_link_ext_state(): a fault
                                     {"Calibration failure", "Reseat the cable or module of ens0"},
                                     {"Bad signal integrity", "the modules of both ends"}})
    EXPECT_TRUE(has(remedy(reason, LinkLayer::ethernet), step)) << remedy(reason, LinkLayer::ethernet);
  EXPECT_TRUE(has(remedy("Link training failure", LinkLayer::ethernet, "Remote side is not ready yet"),
                  "the receive power of the switch port"))
      << "a remote fault is no difference of speed or FEC";
  EXPECT_TRUE(has(remedy("Bad signal integrity", LinkLayer::ethernet, "Unsupported rate"), "the same speed and FEC"));
}

TEST(Check, PfcThatIsOnInALossyFabricLosesNoPackets) {
  Healthy node;
  const Port& port = node.now.ports[0];
  node.policy.ports[0].want.pfc = PrioSet{};
  node.plan[port.id()] = {{port.id(), SettingId::pfc, Outcome::differs, 0, false, "3", "none", {}, {}}};
  const auto meaning = [&] {
    const auto found = complaints_of(node.view(), {"pfc"});
    return found.empty() ? std::string() : found[0].meaning;
  };
  EXPECT_TRUE(has(meaning(), "RoCE drops packets")) << meaning();
  node.policy.ports[0].fabric.kind = FabricKind::lossy;
  EXPECT_TRUE(has(meaning(), "a lossy fabric") && !has(meaning(), "RoCE drops packets")) << meaning();
}

// rdma-resource(8) lists one kind at a time.
TEST(Check, ObjectsThatRunOutAreListedByTheirKind) {
  Healthy node;
  node.now.ports[0].resources = {{"qp", "", 10, 100}, {"cq", "", 95, 100}, {"srq", "", 1, std::nullopt}};
  const auto found = complaints_of(node.view(), {"rdma-resources"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].observed, "completion queues 95 % used (95 of 100)");
  EXPECT_TRUE(has(found[0].remedy, "rdma resource show cq dev mlx5_0. ")) << found[0].remedy;
  EXPECT_FALSE(has(found[0].remedy, "show qp")) << found[0].remedy;
}

// Light on other lanes shows that the switch port is on.
TEST(Check, APortThatIsPartlyLitIsNotSentToItsSwitchPort) {
  Healthy node;
  down(node, 0, 2);
  Port& port = node.now.ports[0];
  Transceiver module;
  module.medium = Medium::optical;
  for (unsigned lane = 1; lane <= 4; ++lane) {
    ModuleLane each{.number = lane};
    each.rx_power.value = each.tx_power.value = 8e-4;
    each.rx_los = false;
    module.lanes.push_back(each);
  }
  port.module = module;
  const auto finding = [&] { return complaints_of(node.view(), {"port-state"}).at(0); };
  EXPECT_TRUE(has(finding().remedy, "Enable the switch port")) << "all lanes are lit";
  port.module->lanes[2].rx_power.value = 4e-6;
  port.module->lanes[2].rx_los = true;
  EXPECT_TRUE(has(finding().meaning, "some lanes") && has(finding().remedy, "swap the fiber")) << describe({finding()});
  EXPECT_FALSE(has(finding().remedy, "Enable the switch port")) << finding().remedy;
  port.link_status = LinkStatus{.up = false, .reason = "Switched off"};
  EXPECT_TRUE(has(finding().remedy, "ip link set")) << "this host switched it off: " << finding().remedy;
  port.link_status.reset();
  for (ModuleLane& lane : port.module->lanes) {
    lane.rx_power.value = 0;
    lane.rx_los = true;
  }
  EXPECT_TRUE(has(finding().remedy, "Enable the switch port")) << "no lane is lit";
}

TEST(Check, RulesOfRoceSkipVirtualFunctionsAndInfiniband) {
  Healthy node;
  for (Port& port : node.now.ports) {
    port.link_layer = LinkLayer::infiniband;
    port.gids.clear();
    port.qos = Qos{};
    port.active_mtu = 2048;
  }
  Port function = node.now.ports[0];
  function.rdma = "mlx5_9";
  test::make_virtual(function);
  function.state = 1;
  node.now.ports.push_back(function);
  EXPECT_EQ(said(node.view()), "");
}

// The connection manager knows devices by their node GUID, which the host gives a function with its MAC address.
TEST(Check, AFunctionInUseWithoutANodeGuidIsReported) {
  for (const PortRole role : {PortRole::guest_function, PortRole::virtual_function}) {
    Healthy node;
    Port& port = node.now.ports[1];
    port.role = role;
    port.no_node_guid = true;
    const auto found = test::complaints_of(node.view());
    ASSERT_EQ(found.size(), 1u) << test::describe(found);
    EXPECT_EQ(found[0].status, Status::warning);
    EXPECT_TRUE(has(found[0].observed, "node GUID 0") && has(found[0].meaning, "rdma_cm")) << found[0].observed;
    EXPECT_TRUE(has(found[0].remedy, "vf N mac ADDRESS")) << found[0].remedy;
    port.gids.clear();  // waiting for a pod
    if (role == PortRole::virtual_function) {
      EXPECT_EQ(said(node.view(), {"port-state"}), "");
    }
  }
}

// The PCI address of a subfunction is that of the whole NIC.
TEST(Check, ASubfunctionWithoutANodeGuidLeavesItsNicBound) {
  for (const PortRole role : {PortRole::guest_function, PortRole::subfunction}) {
    Healthy node;
    Port& port = node.now.ports[1];
    port.role = role;
    port.owner = "mlx5_core.sf.4";
    port.no_node_guid = true;
    const auto found = test::complaints_of(node.view(), {"port-state"});
    ASSERT_EQ(found.size(), 1u) << test::describe(found);
    EXPECT_FALSE(has(found[0].remedy, "unbind") || has(found[0].remedy, port.pci)) << found[0].remedy;
    EXPECT_TRUE(has(found[0].remedy, "hw_addr ADDRESS")) << found[0].remedy;
  }
}

// A bond has no virtual functions: the command is for the netdev of the physical function.
TEST(Check, AFunctionOfABondIsGivenItsAddressByItsPhysicalFunction) {
  Healthy node;
  Port function = node.now.ports[1];
  function.rdma = "mlx5_9";
  function.netdev = "ens1v0";
  test::make_virtual(function);
  function.no_node_guid = true;
  for (Gid& gid : function.gids) gid.netdev = "ens1v0";
  node.now.topology.nics[1].netdevs = {"ens1"};
  Port& physical = node.now.ports[1];
  function.owner = physical.pci;
  physical.role = PortRole::bond;
  physical.netdev = physical.bond = "bond0";
  node.now.ports.push_back(function);
  const auto found = test::complaints_of(node.view(), {"port-state"});
  const auto at = std::ranges::find(found, "mlx5_9/1", &Finding::subject);
  ASSERT_NE(at, found.end()) << test::describe(found);
  EXPECT_TRUE(has(at->remedy, "ip link set ens1 vf N mac")) << at->remedy;
}

// A virtual function is judged for its connections, in the guest and on the host, and not for the wire and the settings
// of its physical function.
TEST(Check, VirtualFunctionsAreJudgedForTheirTransport) {
  for (const PortRole role : {PortRole::guest_function, PortRole::virtual_function, PortRole::subfunction}) {
    Healthy node;
    Port& port = node.now.ports[1];
    port.role = role;
    node.before.ports[1].role = role;
    node.change(port.id(), "pfc").outcome = Outcome::differs;
    port.link_status = LinkStatus{.reason = "No cable"};
    EXPECT_EQ(said(node.view()), "") << to_text(role);
    for (Node* each : {&node.before, &node.now})
      each->ports[1].counters.hw = {{"req_transport_retries_exceeded", each == &node.now ? 8U : 0U}};
    const std::vector<Finding> found = test::complaints_of(node.view());
    EXPECT_TRUE(contains(found, "loss", &Finding::id)) << test::describe(found);
    for (const Finding& each : found)
      for (const char* word : {"cable", "transceiver", "module"}) {
        EXPECT_FALSE(has(each.remedy, word)) << each.remedy;
        EXPECT_FALSE(has(each.meaning, word)) << each.meaning;
      }
    port.role = node.before.ports[1].role = PortRole::representor;
    EXPECT_EQ(said(node.view()), "") << "nothing ends at a representor";
  }
}

// Settings of the physical function are the host's: in a virtual machine, and with a NIC of a cloud, the operator of
// the host changes them.
TEST(Check, AGuestAsksTheOperatorOfItsHost) {
  using Plant = void (*)(Port&);
  constexpr std::pair<const char*, Plant> kFaults[]{{"roce-mtu",
                                                     [](Port& port) {
                                                       port.qos.mtu = 1500;
                                                       port.active_mtu = 1024;
                                                     }},
                                                    {"firmware", [](Port& port) { port.firmware = "1.0"; }},
                                                    {"port-state", [](Port& port) { port.no_node_guid = true; }},
                                                    {"port-state", [](Port& port) {
                                                       port.state = kPortDown;
                                                       port.phys_state = kPhysDisabled;
                                                     }}};
  for (const auto& [rule, plant] : kFaults)
    for (const char* machine : {"pod", "guest", "cloud", "other NIC of a cloud"}) {
      Healthy node;
      node.policy.ports.clear();
      for (Node* each : {&node.before, &node.now})
        for (Port& port : each->ports) port.role = PortRole::guest_function;
      plant(node.now.ports[1]);
      if (machine == std::string("guest")) node.now.topology.hypervisor = "QEMU";
      if (machine == std::string("cloud"))
        for (Port& port : node.now.ports) port.kernel_driver = "mana";
      if (machine == std::string("other NIC of a cloud")) node.now.topology.nics[0].vendor = 0x1414;
      const bool is_pod = machine == std::string("pod");
      const std::vector<Finding> found = test::complaints_of(node.view(), {rule});
      ASSERT_FALSE(found.empty()) << rule << " " << machine;
      const std::string said = lower(found[0].remedy);
      EXPECT_EQ(has(said, "on the host"), is_pod) << rule << " " << machine << ": " << said;
      EXPECT_EQ(has(said, "operator"), !is_pod) << rule << " " << machine << ": " << said;
    }
}

TEST(Check, IwarpHasNeitherRoceGidsNorPathMtu) {
  Healthy node;
  for (Port& port : node.now.ports) {
    port.transport = RdmaTransport::iwarp;
    port.gids = {{0, "0252:5400:1234:0000:0000:0000:0000:0000", "IB/RoCE v1", "eth0"}};
    port.qos.mtu = 1500;
  }
  EXPECT_EQ(said(node.view()), "");
  const std::vector<std::string> only{"gid"};
  for (const Finding& each : run_rules(node.view(), only).findings)
    EXPECT_TRUE(each.status == Status::ok && each.observed.starts_with("iWARP"))
        << each.subject << ": " << each.observed;
}

// The MAC address was set while the RDMA device registered; the default GID is that of the random address before.
TEST(Check, ADefaultGidOfAnotherMacAddress) {
  Healthy node;
  Port& port = node.now.ports[0];
  const std::string netdev = port.netdev;
  const auto gid = [&](unsigned index, const std::string& end) {
    return Gid{index, "fe80:0000:0000:0000:" + end, "RoCE v2", netdev};
  };
  const Gid ipv4{5, "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2", netdev};
  port.gids = {gid(1, "a4ed:ccff:fe8b:1994"), gid(3, "5aa2:e1ff:fe00:0002"), ipv4};
  const auto found = complaints_of(node.view(), {"gid"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].subject, port.id());
  EXPECT_EQ(found[0].status, Status::warning);
  EXPECT_TRUE(has(found[0].observed, "index 5") && has(found[0].observed, "default GID index 1")) << found[0].observed;
  EXPECT_TRUE(has(found[0].remedy, "devlink dev reload pci/" + port.pci)) << found[0].remedy;
  // A driver without `devlink dev reload`.
  const std::string driver = std::exchange(port.kernel_driver, "ionic");
  const auto without_reload = complaints_of(node.view(), {"gid"});
  ASSERT_EQ(without_reload.size(), 1u) << describe(without_reload);
  EXPECT_TRUE(has(without_reload[0].remedy, rebind_commands(port.pci, "ionic"))) << without_reload[0].remedy;
  EXPECT_FALSE(has(without_reload[0].remedy, "devlink")) << without_reload[0].remedy;
  port.kernel_driver = driver;
  // A stable private address of the netdev is made from no MAC address.
  port.gids[1] = gid(3, "1186:a6b1:3f0b:c441");
  EXPECT_EQ(said(node.view(), {"gid"}), "");
  // A macvlan or a VLAN has GIDs of its own address.
  port.gids[1] = gid(3, "5aa2:e1ff:fe00:0002");
  port.gids[1].netdev = "macvlan0";
  EXPECT_EQ(said(node.view(), {"gid"}), "");
  // The macvlans of two pods have the same name.
  port.gids = {gid(1, "5aa2:e1ff:fe00:0002"), gid(3, "0858:0aff:fe00:0001"), ipv4, gid(7, "0858:0aff:fe00:00a1")};
  for (size_t i = 1; i < port.gids.size(); ++i) port.gids[i].netdev = "net1";
  EXPECT_EQ(said(node.view(), {"gid"}), "");
  port.gids = {gid(1, "5aa2:e1ff:fe00:0002"), {3, ipv4.gid, "RoCE v2", netdev}};
  EXPECT_EQ(said(node.view(), {"gid"}), "");
}

// HGX B200: the ports of the functions that manage the NVSwitches are INIT until NVLSM, the fabric manager's subnet
// manager, runs.
TEST(Check, AFabricManagerThatHasNotStarted) {
  Healthy node;
  for (unsigned i = 0; i < 2; ++i) {
    Port& port = node.now.ports.emplace_back(node.now.ports[0]);
    port.rdma = "mlx5_" + std::to_string(20 + i);
    port.netdev.clear();
    port.gids.clear();
    port.link_layer = LinkLayer::infiniband;
    port.role = PortRole::nvlink_management;
    port.state = 2;
  }
  node.before.ports = node.now.ports;
  auto found = complaints_of(node.view(), {"port-state"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].observed, "mlx5_20/1 INIT") && has(found[0].observed, "mlx5_21/1 INIT"))
      << found[0].observed;
  EXPECT_FALSE(has(found[0].remedy, "modprobe")) << found[0].remedy;
  node.now.host->software.modules = {{"ib_umad", "not loaded", {"/proc/modules", 0}}};
  found = complaints_of(node.view(), {"port-state"});
  EXPECT_TRUE(found.at(0).remedy.starts_with("modprobe ib_umad")) << found[0].remedy;
  Healthy host = node;  // of virtual machines, of which one runs the fabric manager
  for (const Gpu& gpu : host.now.topology.gpus) host.now.platform.functions[gpu.pci].kernel_driver = "vfio-pci";
  EXPECT_EQ(said(host.view(), {"port-state"}), "");
  node.now.ports.back().state = kPortActive;
  EXPECT_EQ(said(node.view(), {"port-state"}), "") << "the fabric manager has chosen one";
  for (size_t i = 4; i < node.now.ports.size(); ++i) node.now.ports[i].state = 1;
  EXPECT_EQ(said(node.view(), {"port-state"}), "") << "without links: of no NVSwitch";
}

// RDMA waits for a late receiver: information, no fault.
TEST(Check, ReceiverNotReadyIsShownAsOk) {
  Healthy node;
  node.before.ports[0].counters.hw.push_back({"rnr_nak_retry_err", 5});
  node.now.ports[0].counters.hw.push_back({"rnr_nak_retry_err", 12});
  const std::vector<std::string> only{"receiver"};
  const Report report = run_rules(node.view(), only);
  EXPECT_EQ(worst(report), Status::ok);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_TRUE(has(report.findings[0].observed, "7 RNR NAKs")) << report.findings[0].observed;
}

// In a server with one NIC the GPUs of the other socket have lost nothing.
TEST(Check, OneNicForAllGpusIsNoDefect) {
  Healthy node;
  node.now.topology.nics.resize(1);
  EXPECT_EQ(said(node.view(), {"locality"}), "");
}

// The bond stays ACTIVE.
TEST(Check, AMemberOfABondWithoutALinkIsNamed) {
  Healthy node;
  node.now.ports.push_back(node.now.ports[0]);
  Port &bond = node.now.ports[0], &member = node.now.ports.back();
  test::make_bond(bond);
  test::make_member(member);
  EXPECT_EQ(port_states(node), "");
  member.carrier = false;
  member.link_status = LinkStatus{false, "No cable", "", {}};
  EXPECT_EQ(port_states(node), "port-state mlx5_0/1@ens0 warning: no carrier; the NIC says: No cable\n");
  *bond.rate /= 2;
  const auto slower = complaints_of(node.view(), {"rate"});
  ASSERT_EQ(slower.size(), 1u);
  EXPECT_TRUE(has(slower[0].remedy, "Restore the link of ens0:")) << slower[0].remedy;
  member.carrier.reset();
  EXPECT_EQ(port_states(node), "");
}

// The switch port of the member is in no port channel, or in another one.
TEST(Check, AMemberThatLacpLeavesOutIsNamed) {
  Healthy node;
  for (int i = 0; i < 2; ++i) node.now.ports.push_back(node.now.ports[0]);
  Port &bond = node.now.ports[0], &second = node.now.ports.back(), &first = node.now.ports[node.now.ports.size() - 2];
  test::make_bond(bond);
  for (Port* member : {&first, &second}) {
    test::make_member(*member);
    member->carrier = true;
    member->speed = 100'000;
    member->aggregator = Aggregator{1, 1};
  }
  second.netdev = "ens0np1";
  EXPECT_EQ(port_states(node), "");
  second.aggregator = Aggregator{2, 1};
  EXPECT_EQ(port_states(node), "port-state mlx5_0/1@ens0np1 warning: carrier; LACP aggregator 2, bond0 uses 1\n");
  second.speed = 25'000;
  EXPECT_EQ(port_states(node), "") << "rate reports it";
  second.carrier = false;
  EXPECT_EQ(port_states(node), "port-state mlx5_0/1@ens0np1 warning: no carrier\n");
  second.carrier = true;
  second.speed.reset();
  second.aggregator = Aggregator{2, 0};
  EXPECT_EQ(port_states(node), "") << "no aggregator is active while the bond comes up";
}

TEST(Check, AMemberOfABondWithASlowerLinkIsNamed) {
  Healthy node;
  node.now.ports.push_back(node.now.ports[0]);
  node.now.ports.push_back(node.now.ports[0]);
  Port &bond = node.now.ports[0], &second = node.now.ports.back(), &first = node.now.ports[node.now.ports.size() - 2];
  test::make_bond(bond);
  for (Port* member : {&first, &second}) {
    test::make_member(*member);
    member->carrier = true;
    member->speed = 25000;
  }
  second.netdev = "ens0np1";
  EXPECT_EQ(said(node.view(), {"rate"}), "");
  second.speed = 10000;
  *bond.rate *= 2;
  const auto found = complaints_of(node.view(), {"rate"});
  ASSERT_EQ(found.size(), 1u) << describe(found) << "the bond is no reference for others";
  EXPECT_EQ(found[0].subject, second.id());
  EXPECT_TRUE(has(found[0].observed, "10 Gb/s") && has(found[0].expected, "25 Gb/s")) << describe(found);
  second.carrier = false;
  EXPECT_FALSE(has(describe(complaints_of(node.view(), {"rate"})), second.id())) << "port-state reports it";
}

TEST(Check, InfiniBandCardsWithOneGuidAreNamed) {
  Healthy node;
  for (Port& port : node.now.ports) {
    port.link_layer = LinkLayer::infiniband;
    port.netdev.clear();
    port.gids = {{0, "fe80:0000:0000:0000:5aa2:e103:0000:000" + port.rdma.substr(5), "IB/RoCE v1", ""}};
  }
  const std::vector<std::string> only{"gid"};
  EXPECT_EQ(said(node.view(), only), "");
  node.now.ports[2].gids[0].gid = "fec0" + node.now.ports[0].gids[0].gid.substr(4);  // the prefix of another subnet
  EXPECT_EQ(said(node.view(), only),
            "gid mlx5_0/1 critical: GUID 5aa2:e103:0000:0000, like mlx5_2/1\n"
            "gid mlx5_2/1 critical: GUID 5aa2:e103:0000:0000, like mlx5_0/1\n");
  test::down(node, 2, kPhysDisabled);
  EXPECT_EQ(said(node.view(), only), "");
}

TEST(Check, APortWithoutTheFunctionsOfItsEqualsNeedsNoAddress) {
  Healthy node;
  for (size_t i = 0; i < 4; ++i) {
    node.now.ports[i].gids.resize(2);  // link-local alone
    Nic function = node.now.topology.nics[i];
    function.pci = card_of(function.pci) + ".1";
    function.role = FunctionRole::virtual_function;
    function.rdma.clear();
    function.netdevs.clear();
    if (i != 2) node.now.topology.nics.push_back(std::move(function));
  }
  const auto found = complaints_of(node.view(), {"gid"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(describe(found[0]), "gid mlx5_2/1 warning: no virtual functions, and no routable GID");
  EXPECT_TRUE(has(found[0].remedy, "sriov_numvfs") && !has(found[0].remedy, "ip address")) << found[0].remedy;
}

TEST(Check, AFunctionWithoutADriverBesideEqualOnesIsNamed) {
  Healthy node;
  const auto driver_of = [&](const std::string& pci) -> std::string& {
    return node.now.platform.functions[pci].kernel_driver;
  };
  std::vector<std::string> functions;
  for (size_t i = 0; i < 4; ++i) {
    Nic function = node.now.topology.nics[i];
    function.pci = card_of(function.pci) + ".1";
    function.name = function.pci;
    function.device = 0x101e;
    function.role = FunctionRole::virtual_function;
    function.rdma.clear();
    function.netdevs.clear();
    functions.push_back(function.pci);
    driver_of(function.pci) = "mlx5_core";
    node.now.topology.nics.push_back(std::move(function));
  }
  EXPECT_EQ(port_states(node), "");
  driver_of(functions[2]).clear();
  EXPECT_EQ(port_states(node), "port-state " + functions[2] + " warning: no driver: " + functions[2] + "\n");
  driver_of(functions[3]) = "vfio-pci";
  EXPECT_EQ(port_states(node), "") << "the hypervisor binds them";
  driver_of(functions[3]).clear();
  EXPECT_EQ(port_states(node), "") << "two of four: none says that they should have one";
}

TEST(Check, ABondWithoutLinkMonitoringIsNamed) {
  Healthy node;
  Port& bond = node.now.ports[0];
  test::make_bond(bond);
  bond.bonding = BondSettings{"802.3ad", false};
  EXPECT_EQ(port_states(node), "");
  bond.bonding = BondSettings{"active-backup", true};
  EXPECT_EQ(port_states(node),
            "port-state mlx5_0/1 warning: ACTIVE, LinkUp; bond0 (active-backup) has miimon 0 and arp_interval 0\n");
  test::down(node, 0, kPhysDisabled);
  EXPECT_FALSE(has(port_states(node), "miimon")) << "the link comes first";
}

TEST(Check, ABondOfAnotherModeIsNoSlowCable) {
  Healthy node;
  for (size_t i = 0; i < node.now.ports.size(); ++i) {
    test::make_bond(node.now.ports[i], "bond" + std::to_string(i));
    node.now.ports[i].bonding = BondSettings{"802.3ad", false};
  }
  Port& odd = node.now.ports[1];
  *odd.rate /= 2;
  EXPECT_FALSE(has(complaints_of(node.view(), {"rate"}).at(0).remedy, "the mode"));
  odd.bonding->mode = "active-backup";
  const auto found = complaints_of(node.view(), {"rate"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].meaning, "bond1 has the mode active-backup") && has(found[0].meaning, "802.3ad"))
      << found[0].meaning;
  EXPECT_TRUE(has(found[0].remedy, "Give bond1 the mode 802.3ad") && !has(found[0].remedy, "cable")) << found[0].remedy;
}

TEST(Check, ADpuOwnedPortWithoutALinkIsNotSetUpTwice) {
  Healthy node;
  Port& port = node.now.ports[0];
  port.role = PortRole::dpu_owned;
  test::down(node, 0, kPhysDisabled);
  port.carrier = false;
  const auto remedy = [&] { return complaints_of(node.view(), {"port-state"}).at(0).remedy; };
  EXPECT_TRUE(has(remedy(), "Arm cores") && !has(remedy(), "ip link set")) << remedy();
  port.link_status = LinkStatus{.up = false};
  port.link_status->reason = kSwitchedOff;
  EXPECT_TRUE(has(remedy(), "ip link set")) << remedy();
}

TEST(Check, DevicesWithoutReadablePortsAreNamed) {
  Healthy node;
  node.before.ports.clear();
  node.now.ports.clear();
  const auto found = complaints_of(node.view(), {"port-state"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, Status::unknown);
  EXPECT_EQ(found[0].observed.find("no port of mlx5_0, mlx5_1"), 0u) << found[0].observed;
}

TEST(Check, ASlowSlotIsADefectOnlyIfItIsSlowerThanThePort) {
  Healthy node;
  for (Nic& nic : node.now.topology.nics) nic.link.speed = 16;  // Gen5 cards in a Gen4 server, 400 Gb/s ports
  EXPECT_EQ(complaints_of(node.view()).size(), 4u);
  for (Port& port : node.now.ports) port.rate = 25e9;  // 200 Gb/s: the slot is fast enough
  EXPECT_EQ(said(node.view()), "");
}

TEST(Check, EachOutcomeOfASettingHasItsStatus) {
  Healthy node;
  want_every_setting(node);
  for (const Setting& setting : kSettings)
    for (const auto& [outcome, status] : {std::pair(Outcome::differs, setting.severity),
                                          {Outcome::pending, Status::warning},
                                          {Outcome::unsupported, Status::warning},
                                          {Outcome::conflict, Status::critical},
                                          {Outcome::ignored, Status::critical},
                                          {Outcome::refused, Status::unknown}}) {
      Healthy drifted = node;
      Change& change = drifted.change("mlx5_0/1", std::string(setting.key));
      change.outcome = outcome;
      change.from = "otherwise";
      const auto found = complaints_of(drifted.view(), {std::string(setting.key)});
      ASSERT_EQ(found.size(), 1u) << setting.key << " " << to_text(outcome);
      EXPECT_EQ(found[0].status, status) << setting.key << " " << to_text(outcome);
    }
}

// The exporter does not see who uses a port: it says "differs" where check says "pending", with the same status.
TEST(Check, WithoutAnAgentNothingIsOnlyPending) {
  for (const Setting& setting : kSettings) {
    Healthy node;
    want_every_setting(node);
    node.now.agent->running = false;
    Change& change = node.change("mlx5_0/1", std::string(setting.key));
    change.from = "otherwise";
    for (const Outcome outcome : {Outcome::pending, Outcome::differs}) {
      change.outcome = outcome;
      const auto found = complaints_of(node.view(), {std::string(setting.key)});
      ASSERT_EQ(found.size(), 1u) << setting.key;
      EXPECT_EQ(found[0].status, setting.severity) << setting.key << " " << to_text(outcome);
    }
  }
}

// A cause that a person has to correct is the first step; a maintenance window ends by itself.
TEST(Check, WhatASettingWaitsForIsCorrectedOrAwaited) {
  const auto remedy = [](std::optional<WaitsFor> wait, bool running) {
    Healthy node;
    node.now.agent->running = running;
    Change& change = node.change("mlx5_0/1", "pfc");
    change.outcome = Outcome::pending;
    change.from = "none";
    change.detail = "the reason";
    change.wait = wait;
    const auto found = complaints_of(node.view(), {"pfc"});
    return found.size() == 1 ? found[0].remedy : describe(found);
  };
  EXPECT_EQ(remedy(std::nullopt, false), "Correct this cause first, then: fabric-agentctl apply");
  EXPECT_EQ(remedy(WaitsFor::front_end, false), "Correct this cause first, then: fabric-agentctl apply");
  EXPECT_EQ(remedy(WaitsFor::maintenance, false), "When the cause is over, then: fabric-agentctl apply");
  EXPECT_TRUE(remedy(std::nullopt, true).starts_with("Correct this cause first, then the agent writes it."));
}

// The policy is right: the cause is, for example, a module that is not loaded.
TEST(Check, TheRemedyOfAnUnsupportedSettingIsItsReportedCause) {
  Healthy node;
  Change& change = node.change("mlx5_0/1", "pfc");
  change.outcome = Outcome::unsupported;
  change.from = "-";
  change.detail = "the module dcb is not loaded: modprobe dcb";
  const auto found = complaints_of(node.view(), {"pfc"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].meaning.ends_with("Reported: the module dcb is not loaded: modprobe dcb.")) << found[0].meaning;
  EXPECT_TRUE(found[0].remedy.starts_with("Correct the reported cause")) << found[0].remedy;
}

TEST(Check, NothingToJudgeIsUnknownNotOk) {
  const Node empty;
  const Report report = run_rules({.now = empty});
  EXPECT_EQ(worst(report), Status::unknown);
  EXPECT_EQ(report.findings.front().status, Status::unknown);
}

TEST(Check, CountersOfAReloadedDeviceAreNotCompared) {
  Healthy node;
  for (Counter& counter : node.now.ports[0].counters.hw) counter.value = 0;  // the driver was reloaded
  EXPECT_EQ(said(node.view()), "");
  node.before.ports.erase(node.before.ports.begin() + 1);  // hot-plugged
  node.now.ports[1].counters.hw[0].value += 50;
  EXPECT_EQ(said(node.view()), "");
}

// The fix can be pasted, and one MTU is one finding.
TEST(Check, RoceMtuIsOkWhileItsSettingIsReported) {
  Healthy node;
  node.now.ports[1].qos.mtu = 1500;
  node.now.ports[1].active_mtu = 1024;
  const auto found = complaints_of(node.view(), {"roce-mtu"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(found[0].remedy.ends_with("\nip link set dev ens1 mtu 9000")) << found[0].remedy;
  node.change("mlx5_1/1", "mtu").outcome = Outcome::differs;
  EXPECT_EQ(describe(complaints_of(node.view(), {"roce-mtu"})), "");
}

// The MTU of the physical function limits that of a virtual one, unless it is large enough already.
TEST(Check, RoceMtuOfAFunctionWhosePhysicalFunctionAllowsMore) {
  const auto remedy = [](uint32_t mtu) {
    Healthy node;
    node.now.ports[0].qos.mtu = mtu;
    Port& function = node.now.ports[1];
    function.role = PortRole::virtual_function;
    function.owner = node.now.ports[0].pci;
    function.qos.mtu = 1500;
    function.active_mtu = 1024;
    std::string out;
    for (const Finding& each : complaints_of(node.view(), {"roce-mtu"}))
      if (each.subject == function.id()) out += each.remedy;
    return out;
  };
  EXPECT_TRUE(has(remedy(9000), "has MTU 9000, which allows it. When no job runs:")) << remedy(9000);
  EXPECT_FALSE(has(remedy(9000), "aise the MTU of its physical function")) << remedy(9000);
  EXPECT_TRUE(has(remedy(1500), "aise the MTU of its physical function first")) << remedy(1500);
  EXPECT_FALSE(has(remedy(1500), "NetworkAttachmentDefinition")) << remedy(1500);
}

TEST(Check, RoceMtuInAContainerComesFromItsNetwork) {
  Healthy node;
  node.now.has_container_processes = true;
  node.now.ports[1].qos.mtu = 1500;
  node.now.ports[1].active_mtu = 1024;
  const auto found = complaints_of(node.view(), {"roce-mtu"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].remedy, "NetworkAttachmentDefinition")) << found[0].remedy;
}

// One fault does not hide another: a NIC whose GPU is missing has no other purpose.
TEST(Check, TheNicOfAMissingGpuIsStillForGpus) {
  Healthy node;
  node.now.inventory = inventory_of(node.now);
  node.now.topology.gpus.erase(node.now.topology.gpus.begin() + 1);
  node.now.ports[1].qos.mtu = 1500;
  node.now.ports[1].active_mtu = 1024;
  EXPECT_EQ(complaints_of(node.view(), {"roce-mtu"}).size(), 1u);
  EXPECT_EQ(rails(node.view())->size(), node.now.ports.size());
}

// A virtual function that has an address here is used as its port is, and is compared with the rails. One that waits
// for a guest is not.
TEST(Check, AVirtualFunctionOfTheHostIsARail) {
  Healthy node;
  Port function = node.now.ports[1];
  function.role = PortRole::virtual_function;
  function.owner = std::exchange(function.pci, "0000:f1:00.2");
  function.rdma = "mlx5_9";
  function.netdev = "ens1v0";
  for (Gid& gid : function.gids) gid.netdev = function.netdev;
  node.now.ports.push_back(function);
  EXPECT_TRUE(serves_gpu(node.view(), node.now.ports.back()));
  EXPECT_EQ(rails(node.view())->size(), node.now.ports.size());
  node.now.ports.back().gids.clear();
  EXPECT_TRUE(serves_gpu(node.view(), node.now.ports.back()));
  EXPECT_EQ(rails(node.view())->size(), node.now.ports.size() - 1);
}

// A tree may have any number of links to one device, each of which is a port. A step for each triple of ports would
// take minutes.
TEST(Check, ManyPortsOfOneNicTakeSeconds) {
  Healthy node;
  for (unsigned i = 0; i < 1'000; ++i) {
    Port link = node.now.ports[1];
    link.rdma = "link" + std::to_string(i);
    node.now.topology.nics[1].rdma.push_back(link.rdma);
    node.now.ports.push_back(std::move(link));
  }
  const auto cpu = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  };
  const double begin = cpu();
  const Report report = run_rules(node.view(), std::vector<std::string>{"rate"});
  EXPECT_EQ(report.findings.size(), node.now.ports.size());
  EXPECT_LT(cpu() - begin, 30);
}

// The netdev of the GIDs is that of another card: whether packets leave by it is the driver's secret.
TEST(Check, TheMtuOfAnotherCardsNetdevIsJudgedIfTheDriverSendsByIt) {
  Healthy node;
  node.now.ports[1].qos.mtu = 1500;
  node.now.ports[1].active_mtu = 1024;
  auto& nics = node.now.topology.nics;
  nics[1].netdevs.clear();
  Nic other = nics[1];
  other.pci = "0000:f0:00.0", other.card = other.pci, other.name = "ens1", other.netdevs = {"ens1"}, other.rdma.clear();
  nics.push_back(other);
  EXPECT_EQ(describe(complaints_of(node.view(), {"roce-mtu", "mtu-chain"})), "");
  node.now.ports[1].kernel_driver = "erdma";
  EXPECT_EQ(complaints_of(node.view(), {"roce-mtu"}).size(), 1u);
  // The MTU below Soft-RoCE in a virtual machine is that of the hypervisor's network.
  node.now.ports[1].kernel_driver = "rxe";
  EXPECT_EQ(complaints_of(node.view(), {"roce-mtu"}).size(), 1u);
  node.now.topology.hypervisor = "KVM";
  EXPECT_EQ(describe(complaints_of(node.view(), {"roce-mtu"})), "");
}

TEST(Check, TransportsThatGpuJobsCannotUse) {
  const std::vector<std::string> only{"rdma-transport"};
  Healthy node;
  EXPECT_TRUE(run_rules(node.view(), only).findings.empty()) << "RoCE";
  node.now.ports[1].transport = RdmaTransport::usnic;
  Report report = run_rules(node.view(), only);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].status, Status::ok);
  EXPECT_TRUE(has(report.findings[0].observed, "usNIC")) << report.findings[0].observed;
  // One of the NICs that were built in for the GPUs can change from iWARP to RoCE.
  node.now.ports[1].transport = RdmaTransport::iwarp;
  node.now.ports[1].kernel_driver = "ice";
  const auto one = complaints_of(node.view(), only);
  ASSERT_EQ(one.size(), 1u) << describe(one);
  EXPECT_EQ(one[0].subject, "mlx5_1/1");
  EXPECT_TRUE(has(one[0].remedy, "name enable_roce value true")) << one[0].remedy;
  // All of them do: jobs have no RDMA.
  for (Port& port : node.now.ports) port.transport = RdmaTransport::iwarp, port.kernel_driver = "ice";
  const auto found = complaints_of(node.view(), only);
  ASSERT_EQ(found.size(), 4u) << describe(found);
  EXPECT_TRUE(
      has(found[0].remedy, "devlink dev param set pci/" + node.now.ports[0].pci + " name enable_roce value true"))
      << found[0].remedy;
  for (Port& port : node.now.ports) port.kernel_driver = "cxgb4";
  EXPECT_EQ(describe(complaints_of(node.view(), only)), "") << "iWARP is all that it has";
  node.now.ports = {node.now.ports[0]};
  node.now.ports[0].transport = RdmaTransport::infiniband, node.now.ports[0].kernel_driver = "rxe";
  report = run_rules(node.view(), only);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_TRUE(has(report.findings[0].observed, "software (rxe) over ")) << report.findings[0].observed;
}

// ethtool -A restarts the link with Broadcom's driver, and not with NVIDIA's.
TEST(Check, GlobalPauseIsWrittenAsTheDriverDoes) {
  for (const bool restarts : {false, true}) {
    Healthy node;
    node.now.ports[1].kernel_driver = restarts ? "bnxt_en" : "mlx5_core";
    node.now.ports[1].qos.pause = Pause{true, true};
    const auto found = complaints_of(node.view(), {"pfc-and-pause"});
    ASSERT_EQ(found.size(), 1u) << describe(found);
    EXPECT_EQ(found[0].remedy.starts_with("Drain the node first. ethtool -A"), restarts) << found[0].remedy;
  }
}

// -- Ports, PCIe links and the agent

const PlantedDefects& defects() {
  constexpr auto C = Status::critical, W = Status::warning, U = Status::unknown;
  static const PlantedDefects all{
      {"initializing", [](Healthy& n) { n.now.ports[0].state = 2; }, finds("port-state", "mlx5_0/1", C, "INIT")},
      {"no_speed", [](Healthy& n) { n.now.ports[2].rate.reset(); }, finds("rate", "mlx5_2/1", U, "-")},
      {"small_mtu",
       [](Healthy& n) {
         n.now.ports[1].qos.mtu = 1500;
         n.now.ports[1].active_mtu = 1024;
       },
       finds("roce-mtu", "mlx5_1/1", W, "netdev 1500, RoCE 1024")},
      {"link_local_only", [](Healthy& n) { n.now.ports[0].gids.resize(2); },
       finds("gid", "mlx5_0/1", C, "only link-local")},
      {"gid_types_unread",
       [](Healthy& n) {
         for (Gid& gid : n.now.ports[0].gids) gid.type.clear();
       },
       finds("gid", "mlx5_0/1", U, "unknown type")},
      {"gids_unread",
       [](Healthy& n) {
         n.now.ports[0].gids.clear();
         n.now.ports[0].unread = {{PortPart::gids, "gids: Permission denied (EACCES)"}};
       },
       finds("gid", "mlx5_0/1", U, "-")},
      {"pause_unread", [](Healthy& n) { n.now.ports[3].qos.pause.reset(); },
       finds("pfc-and-pause", "mlx5_3/1", U, "PFC 3")},
      {"link_unread", [](Healthy& n) { n.now.topology.gpus[1].link.width.reset(); }, finds("pcie", "GPU1", U, "x?")},
      {"originals_unread",
       [](Healthy& n) {
         n.now.agent->lost_originals = {
             "/var/lib/fabric-agent/originals.json.corrupt: it could not be read, and was replaced",
             "/var/lib/fabric-agent/originals.json.corrupt"};
       },
       finds("agent", "host", C, "", "", "mv /var/lib/fabric-agent/originals.json.corrupt /root/")},
      {"originals_unread_by_an_earlier_version",
       [](Healthy& n) { n.now.agent->lost_originals = {.why = "/var/lib/fabric-agent/originals.json: damaged"}; },
       finds("agent", "host", C, "", "", "move this file to /root/")},
      {"the_agents_outcome_overrides_the_dry_run",
       [](Healthy& n) {
         n.change("mlx5_0/1", "ets").outcome = Outcome::differs;
         n.now.agent->ports["mlx5_0/1"]["ets"] = {Outcome::conflict, "changed back again and again by lldpad", 5, ""};
       },
       finds("ets", "mlx5_0/1", C, "", "lldpad", "the other program")},
      {"link_downed_of_the_port_counters",
       [](Healthy& n) {
         for (Counter& each : n.now.ports[2].counters.pma)
           if (each.name == "link_downed") each.value += 12;
       },
       finds("link-flap", "mlx5_2/1", C, "12 ")},
  };
  return all;
}

PlantedDefects sound_ports() {
  return {
      // A GID that was removed while it was read has no type.
      {"unread_type_beside_a_good_gid", [](Healthy& n) { n.now.ports[0].gids.front().type.clear(); }},
      {"idle_gpus_may_slow_down", [](Healthy& n) { n.now.topology.gpus[1].link.speed = 2.5; }},
  };
}

// The GIDs have been the same before: their change would be another finding.
void settle(Healthy& node) {
  for (size_t i = 0; i < node.now.ports.size(); ++i) node.before.ports[i].gids = node.now.ports[i].gids;
}

TEST(OneDefect, GivesItsFindingAlone) { expect_each(defects(), settle); }
TEST(OneDefect, HealthyPortsAreSilent) { expect_each(sound_ports(), settle); }

// -- Audit mode, and settings whose reading proves nothing

// In audit mode, with an agent that runs or without one.
struct Audited : Healthy {
  explicit Audited(bool runs = true) {
    policy.mode = Mode::audit;
    now.agent->mode = Mode::audit;
    now.agent->running = runs;
  }
};

// Each setting of each port and a setting of the host differ from the policy in the same way.
void plant(Healthy& node, Outcome outcome) {
  for (auto& [port, changes] : node.plan)
    for (Change& change : changes) {
      change.outcome = outcome;
      change.from = outcome == Outcome::unverified ? change.to : "something else";
      change.detail = "a reason";
    }
  node.policy.sysctl["net.ipv4.tcp_ecn"] = "1";
  node.plan["host"] = {{"host", {}, outcome, 0, false, "2", "1", "a reason", "net.ipv4.tcp_ecn"}};
}

bool is_setting(const Finding& finding) { return find_rule(finding.id)->group == group::settings; }

// The worst status of the settings.
Status worst_setting(const Report& report) {
  Report settings = report;
  std::erase_if(settings.findings, [](const Finding& each) { return !is_setting(each); });
  return worst(settings);
}

// The statuses that alerts, node-problem-detector and dashboards read.
std::set<double> statuses_of_settings(const Report& report) {
  std::set<double> out;
  for (const auto& [series, value] : series_of([&](FamilySet& set) { add_report(set, report, {}); }))
    for (const Setting& setting : kSettings)
      if (series.starts_with("fabric_check_status,check=" + std::string(setting.key))) out.insert(value);
  return out;
}

// The report as `check --brief` of a scheduler reads it from the exporter's file.
Report published(const Report& report) {
  auto read = parse_report(published_text(PublishedReport{report, 1}), "report.json");
  EXPECT_TRUE(read.ok());
  return std::move(read->report);
}

TEST(CheckAudit, WhatDiffersIsListedAndFailsNothing) {
  for (const bool runs : {true, false}) {
    for (const Outcome outcome : {Outcome::differs, Outcome::pending, Outcome::unsupported}) {
      Audited node(runs);
      const size_t others = complaints(run_rules(node.view())).size();  // an agent that does not run
      plant(node, outcome);
      const Report report = run_rules(node.view());
      EXPECT_EQ(complaints(report).size(), others) << describe(complaints(report));
      EXPECT_EQ(worst_setting(report), Status::ok);
      EXPECT_EQ(worst_setting(published(report)), Status::ok);
      EXPECT_EQ(statuses_of_settings(report), std::set<double>{0});
      size_t listed = 0;
      for (const Finding& each : report.findings) {
        if (!is_audited(each)) continue;
        ++listed;
        EXPECT_TRUE(is_setting(each));
        EXPECT_NE(each.observed, each.expected);
        EXPECT_TRUE(has(each.meaning, "Audit mode: not written.")) << each.meaning;
        EXPECT_FALSE(has(each.meaning, "not written now")) << "the mode is the reason: " << each.meaning;
        EXPECT_TRUE(has(each.remedy, "fabric-agentctl plan")) << each.remedy;
      }
      EXPECT_GT(listed, 4 * 5u);
      EXPECT_TRUE(has(counts_text(report, false), std::to_string(listed) + " not enforced (audit mode)"));
      EXPECT_TRUE(has(counts_text(published(report), false), std::to_string(listed) + " not enforced (audit mode)"));
      EXPECT_TRUE(
          std::ranges::any_of(group_findings(report), [](const auto& each) { return is_audited(*each.finding); }));
      const Json json = Json::parse(to_json(report).dump());
      EXPECT_EQ(std::ranges::count_if(json["checks"],
                                      [&](const Json& each) {
                                        return each["id"] == "pfc" && each["status"] == "ok" &&
                                               each["outcome"] == to_text(outcome);
                                      }),
                4);
    }
  }
}

TEST(CheckAudit, WhatBreaksAJobStaysCritical) {
  Audited node;
  plant(node, Outcome::differs);
  down(node, 0, 2);
  EXPECT_TRUE(has(said(node.view()), "port-state mlx5_0/1 critical")) << said(node.view());
}

// Compared with the switch, a setting of this port differs for the same reason. A fault of the switch is another one.
TEST(CheckAudit, RulesAboutTheSameSettingAreSilentToo) {
  const auto without_pfc = [](Healthy& node) {
    node.now.ports[0].qos.pfc = PrioSet{};
    Change& pfc = node.change("mlx5_0/1", "pfc");
    pfc.outcome = Outcome::differs;
    pfc.from = "none";
  };
  Healthy enforced;
  without_pfc(enforced);
  EXPECT_TRUE(has(said(enforced.view(), {"peer-pfc"}), "peer-pfc mlx5_0/1")) << "or the test shows nothing";
  Audited node;
  without_pfc(node);
  EXPECT_EQ(said(node.view(), {"peer-pfc"}), "");
  Audited other;
  other.now.ports[0].qos.pfc = PrioSet{};  // as the policy wants
  other.policy.ports[0].want.pfc = PrioSet{};
  EXPECT_TRUE(has(said(other.view(), {"peer-pfc"}), "peer-pfc mlx5_0/1"));
}

TEST(CheckAudit, WhatCannotBeReadStaysUnknown) {
  Audited node;
  node.plan.erase("mlx5_0/1");
  node.now.ports[0].qos.pfc.reset();
  EXPECT_TRUE(has(said(node.view()), "pfc mlx5_0/1 unknown"));
}

TEST(CheckAudit, EnforcedSettingsCount) {
  for (const bool runs : {true, false}) {
    Healthy node;
    node.now.agent->running = runs;
    plant(node, Outcome::differs);
    const Report report = run_rules(node.view());
    EXPECT_EQ(worst_setting(report), Status::critical);
    EXPECT_TRUE(statuses_of_settings(report).contains(2));
    EXPECT_TRUE(std::ranges::none_of(report.findings, is_audited));
  }
}

// Intel's drivers always show pause as off beside PFC, which is not a fault. It is neither in sync nor different.
TEST(CheckUnverified, IsAValueOfItsOwn) {
  for (const bool audit : {false, true}) {
    Healthy node;
    if (audit) node = Audited();
    plant(node, Outcome::unverified);
    node.plan.erase("host");
    node.policy.sysctl.clear();
    const Report report = run_rules(node.view());
    EXPECT_EQ(worst(report), Status::ok) << describe(complaints(report));
    const auto unverified = static_cast<size_t>(std::ranges::count_if(report.findings, is_unverified));
    EXPECT_GT(unverified, 4 * 5u);
    for (const Report& each : {report, published(report)})
      EXPECT_TRUE(has(counts_text(each, true), std::to_string(unverified) + " unverified")) << counts_text(each, true);
    EXPECT_FALSE(has(counts_text(report, true), " " + std::to_string(report.findings.size()) + " ok"));
    const Series series = series_of([&](FamilySet& set) { add_report(set, report, {}); });
    const std::string pfc = ",device=mlx5_0,port=1,setting=pfc";
    EXPECT_EQ(series.at("fabric_setting_unverified" + pfc), 1);
    EXPECT_FALSE(series.contains("fabric_setting_in_sync" + pfc));
    const Json json = Json::parse(to_json(report).dump());
    EXPECT_TRUE(std::ranges::any_of(json["checks"], [](const Json& each) {
      return each["id"] == "pfc" && each.contains("outcome") && each["outcome"] == "unverified";
    }));
  }
}

// -- The man page, the alerts and the files of rules

const std::string kPage = "agent/ctl/fabric-checks.7";

// "{{ $labels.device }}" -> "DEVICE"; other parts of a template are removed.
std::string without_templates(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\{\{ (with|range) .*?\{\{ end \}\})"), "");
  std::string out;
  std::smatch found;
  for (const std::regex one(R"(\{\{ \$(labels\.)?([a-z_]+)[^}]*\}\})"); std::regex_search(text, found, one);
       text = found.suffix()) {
    std::string name = found[2];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char each) { return std::toupper(each); });
    out += found.prefix().str() + name;
  }
  return out + text;
}

// An entry for each alert of a file of rules: name, severity, summary and command.
std::string alerts_of(const std::string& file) {
  std::string out;
  std::istringstream lines(test::slurp(FABRIC_SOURCE_DIR "/etc/prometheus/" + file));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, std::regex(R"( *(?:- )?(alert|severity|summary|description): '?(.*?)'?)")))
      continue;
    const std::string text = test::roff(without_templates(found[2]));
    if (found[1] == "alert") out += ".TP\n.B " + text + "\n";
    else if (found[1] == "severity") out += "Severity: " + text + ".\n.br\n";
    else out += (found[1] == "summary" ? "Says: " : ".br\n") + text + "\n";
  }
  return out;
}

// checks_manual(), with the alerts before its last section.
std::string manual() {
  std::string out = test::checks_manual();
  const size_t end = out.find(".SH SEE ALSO");
  return out.insert(
      end,
      ".SH ALERTS\nThe alerts of the rules in\n.IR /usr/share/fabric\\-agent .\nWords in capitals stand for the "
      "labels of the alert.\n"
      "page: a job is dead, will die, or is slowed as a whole; ticket: degraded, or redundancy is lost; "
      "info: for dashboards.\n"
      ".SS Alerts of a node\n" +
          alerts_of("fabric-agent.rules.yml") + ".SS Alerts of a fleet\n" + alerts_of("fabric-fleet.rules.yml"));
}

TEST(ChecksManual, MatchesTheTables) { test::expect_generated(kPage, manual()); }

TEST(ChecksManual, TheAlertAboutSettingsNamesEach) {
  std::string keys;
  for (const Setting& setting : kSettings) keys += (keys.empty() ? "" : "|") + std::string(setting.key);
  const std::string file = "etc/prometheus/fabric-agent.rules.yml";
  EXPECT_NE(test::of_source(file).find("{check=~\"" + keys + "\"}"), std::string::npos)
      << file << ": write into fabric:setting_finding:status: {check=~\"" << keys << "\"}";
}

// runbook_url names an entry of the pages of packaging/make-site: of the alert in the runbook, or of the check in the
// label. tests/parts/site follows them.
TEST(ChecksManual, EveryAlertNamesItsCommandAndItsEntry) {
  for (const std::string file : {"fabric-agent.rules.yml", "fabric-fleet.rules.yml"}) {
    const std::string text = test::slurp(FABRIC_SOURCE_DIR "/etc/prometheus/" + file);
    const std::regex start("- alert: ");
    for (std::sregex_token_iterator each(text.begin(), text.end(), start, -1), end; ++each != end;) {
      const std::string alert = *each, name = alert.substr(0, alert.find('\n'));
      EXPECT_TRUE(std::regex_search(alert, std::regex("severity: (page|ticket|info)\n"))) << name;
      EXPECT_TRUE(std::regex_search(alert, std::regex("description: '.*(fabric-agentctl|systemctl|curl|man) ")))
          << name;
      EXPECT_TRUE(
          std::regex_search(alert, std::regex("runbook_url: 'https://[^']*/(runbook\\.html#" + name +
                                              R"(|fabric-checks\.7\.html#\{\{ \$labels\.(check|setting) \}\})')")))
          << name;
      if (alert.find("increase(fabric_events_total") != std::string::npos ||
          alert.find("port_events:increase") != std::string::npos)
        EXPECT_TRUE(has(alert, "keep_firing_for:") || has(alert, ":lasting[10m]"))
            << name << " would end after five minutes";
    }
  }
}

// A rule that is missing in the table of its subject would never run.
TEST(ChecksManual, EveryRuleOfAFileIsRegistered) {
  const std::regex id(R"(\.id = "([^"]+)\")");
  size_t rows = 0;
  for (const auto& file : std::filesystem::directory_iterator(FABRIC_SOURCE_DIR "/lib/judge")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = test::slurp(file.path());
    for (std::sregex_iterator found(text.begin(), text.end(), id), end; found != end; ++found, ++rows)
      EXPECT_NE(find_rule((*found)[1].str()), nullptr) << file.path() << ": add the row to the table at its end";
  }
  EXPECT_GE(rows, 52u);
}

}  // namespace
}  // namespace fabric
