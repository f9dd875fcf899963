// SPDX-License-Identifier: Apache-2.0
// The group "cabling": a defect of a cable or a switch port in a healthy node gives its findings and no other.
#include "judge/cabling.h"
#include "support/planted_defect.h"
#include "support/ports.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

Neighbor& peer(Healthy& node, size_t port) { return node.now.neighbors.heard.at(port); }

void unplug(Healthy& node, size_t port) {
  auto& heard = node.now.neighbors.heard;
  heard.erase(heard.begin() + static_cast<long>(port));
}

const PlantedDefects& cable_defects() {
  constexpr auto C = Status::critical, W = Status::warning, U = Status::unknown;
  static const PlantedDefects all{
      {"port_that_belongs_to_another",
       [](Healthy& n) {
         peer(n, 1).system_name = peer(n, 2).system_name;
         peer(n, 1).chassis_id = peer(n, 2).chassis_id;
         unplug(n, 2);
         n.now.neighbors.listening.erase("ens2");
       },
       finds("cabling", "mlx5_1/1", C, "which belongs to mlx5_2/1", "another switch")},
      {"swapped_pair",
       [](Healthy& n) { std::swap(peer(n, 0).netdev, peer(n, 3).netdev); },
       {{"cabling", "mlx5_0/1", C, "leaf3.example.com Ethernet7, which belongs to mlx5_3/1",
         "mlx5_0/1 (ens0) and mlx5_3/1 (ens3) are swapped"},
        {"cabling", "mlx5_3/1", C, "leaf0.example.com Ethernet7, which belongs to mlx5_0/1",
         "mlx5_3/1 (ens3) and mlx5_0/1 (ens0) are swapped"}}},
      {"swapped_at_one_switch",
       [](Healthy& n) {
         for (const size_t i : {1U, 2U}) {
           peer(n, i).system_name = "tor.example.com";
           peer(n, i).port_id = "Ethernet1/" + std::to_string(3 - i);
           n.policy.cabling.cables[i].peer = {"tor", "Eth1/" + std::to_string(i)};
         }
       },
       {{"cabling", "mlx5_1/1", W, "tor.example.com Ethernet1/2, which belongs to mlx5_2/1",
         "swapped: each link has the configuration of the other switch port"},
        {"cabling", "mlx5_2/1", W, "tor.example.com Ethernet1/1, which belongs to mlx5_1/1",
         "swapped: each link has the configuration of the other switch port"}}},
      {"another_port_of_the_switch_beside_a_dpus_agent",
       [](Healthy& n) {
         Neighbor agent = peer(n, 1);
         agent.system_name = "dpu7";
         agent.chassis_id = "02:00:00:00:00:01";
         n.now.neighbors.heard.insert(n.now.neighbors.heard.begin(), agent);
         peer(n, 2).port_id = "Ethernet8";
       },
       finds("cabling", "mlx5_1/1", W, "leaf1.example.com Ethernet8", "another port of the right switch")},
      {"another_switch_with_other_names_of_ports",
       [](Healthy& n) {
         peer(n, 1).system_name = "leaf9";
         peer(n, 1).port_id = "etp7";
       },
       finds("cabling", "mlx5_1/1", C, "leaf9 etp7", "another switch")},
      {"plan_with_other_names_of_the_ports",
       [](Healthy& n) {
         for (size_t i = 0; i < n.policy.cabling.cables.size(); ++i)
           n.policy.cabling.cables[i].port = "slot" + std::to_string(i) + "p1";
       },
       finds("cabling", "host", W, "ports in the plan: slot0p1, slot1p1, slot2p1, slot3p1", "none of an RDMA port")},
      {"no_neighbor_where_equal_ports_have_one",
       [](Healthy& n) {
         n.policy.cabling = {};
         unplug(n, 2);
       },
       finds("cabling", "mlx5_2/1", W, "no LLDP", "Equal ports have an LLDP neighbor")},
      {"consumed_by_the_firmware",
       [](Healthy& n) {
         unplug(n, 2);
         n.now.ports[2].qos.fw_lldp = true;
       },
       finds("cabling", "mlx5_2/1", W, "no LLDP for 3600 s: the NIC firmware consumes it", "cannot be compared")},
      {"two_neighbors_and_both_wrong",
       [](Healthy& n) {
         peer(n, 1).system_name = "leaf9";
         n.now.neighbors.heard.push_back(peer(n, 1));
         n.now.neighbors.heard.back().system_name = "hub";
       },
       finds("cabling", "mlx5_1/1", C, "leaf9 Ethernet7 and hub Ethernet7", "another switch")},
      {"host_not_in_the_plan", [](Healthy& n) { n.policy.cabling.cables.clear(); },
       finds("cabling", "host", W, "not in /etc/fabric-agent/cabling.csv",
             "no cable between this host and a switch port")},
      {"plan_unreadable",
       [](Healthy& n) {
         n.policy.cabling.cables.clear();
         n.policy.cabling.problem = "/etc/fabric-agent/cabling.csv:3: nonsense";
       },
       finds("cabling", "host", U, "-", "cabling.csv:3: nonsense")},
      {"strict_at_the_switch",
       [](Healthy& n) {
         peer(n, 1).ets = peer(n, 1).ets_recommended;
         peer(n, 1).ets_recommended.reset();
         peer(n, 1).ets->tsa[3] = 0;
       },
       finds("peer-ets", "mlx5_1/1", W, "3 at strict there", "")},
      {"a_dscp_that_only_the_switch_maps",
       [](Healthy& n) {
         peer(n, 1).app->push_back({DcbxApp::dscp, 24, 3});
       },
       finds("peer-app", "mlx5_1/1", W, "DSCP 24: priority none here, 3 there", "")},
  };
  return all;
}

const PlantedDefects& silences() {
  static const PlantedDefects all{
      {"healthy", [](Healthy&) {}},
      {"no_plan", [](Healthy& n) { n.policy.cabling = {}; }},
      {"nobody_listens_and_no_plan",
       [](Healthy& n) {
         n.policy.cabling = {};
         n.now.neighbors = {};
       }},
      {"no_lldp_in_the_network",
       [](Healthy& n) {
         n.policy.cabling = {};
         n.now.neighbors.heard.clear();
       }},
      {"no_lldp_and_firmware_that_would_consume_it",
       [](Healthy& n) {
         n.policy.cabling = {};
         n.now.neighbors.heard.clear();
         for (Port& port : n.now.ports) port.qos.fw_lldp = true;
         n.policy.ports.clear();
       }},
      {"a_switch_by_a_new_name_and_no_plan",
       [](Healthy& n) {
         n.policy.cabling = {};
         peer(n, 2).system_name = "spine-of-yesterday";
       }},
      {"listening_for_less_than_a_minute",
       [](Healthy& n) {
         n.now.neighbors.heard.clear();
         for (auto& [netdev, seconds] : n.now.neighbors.listening) seconds = 59;
       }},
      {"no_link",
       [](Healthy& n) {
         unplug(n, 2);
         n.now.ports[2].carrier = false;
       }},
      {"the_planned_neighbor_among_several",
       [](Healthy& n) {
         Neighbor agent;
         agent.netdev = "ens0";
         agent.chassis_id = "02:00:00:00:00:01";
         agent.port_id = "firmware";
         n.now.neighbors.heard.insert(n.now.neighbors.heard.begin(), agent);
       }},
      {"the_plan_names_the_device_by_label",
       [](Healthy& n) {
         n.policy.cabling.cables[0].port = "Slot 1";
         n.policy.cabling.ports = {{"Slot 1", "mlx5_0"}};
       }},
      {"the_plan_names_the_port_by_altname",
       [](Healthy& n) {
         n.policy.cabling.cables[0].port = "rail0";
         n.now.ports[0].altnames = {"rail0"};
       }},
      {"a_switch_that_names_its_ports_by_an_alias",
       [](Healthy& n) {
         peer(n, 0).port_id = "etp1";
         peer(n, 0).port_description = "to gpu01 ens0";
       }},
      {"a_switch_that_names_its_ports_by_ifindex",
       [](Healthy& n) {
         n.policy.cabling.cables[0].peer.port = "et-0/0/0:1";
         peer(n, 0).port_id = "510";
         peer(n, 0).port_description = "gpu01 rail 0";
       }},
      {"a_breakout",
       [](Healthy& n) {
         n.policy.cabling.cables.insert(n.policy.cabling.cables.begin(),
                                        Cable{"ens0", {"leaf0", "Ethernet8"}, "plan:9"});
       }},
      {"the_switch_announces_no_dcbx",
       [](Healthy& n) {
         for (Neighbor& each : n.now.neighbors.heard) {
           each.pfc.reset();
           each.app.reset();
           each.ets_recommended.reset();
         }
       }},
      {"another_group_of_a_lossy_priority", [](Healthy& n) { peer(n, 1).ets_recommended->prio_tc[7] = 7; }},
      {"settings_unread",
       [](Healthy& n) {
         peer(n, 1).pfc->enabled.bits = 0xff;
         n.now.ports[1].qos.pfc.reset();
         n.now.ports[1].qos.ets.reset();
         n.now.ports[1].qos.dscp_map.reset();
       }},
  };
  return all;
}

TEST(CableDefect, GivesItsFindingsAlone) { expect_each(cable_defects()); }
TEST(CableDefect, HealthyCablesAreSilent) { expect_each(silences()); }

// The command that stops the firmware from consuming LLDP frames, by driver.
TEST(LldpConsumer, IsSwitchedOffByTheSettingOfTheDriver) {
  Healthy node;
  Port& port = node.now.ports[0];
  EXPECT_EQ(lldp_agent_off(port), "");
  for (const auto& [driver, part] :
       std::map<std::string, std::string>{{"ice", "ethtool --set-priv-flags ens0 fw-lldp-agent off"},
                                          {"i40e", "ethtool --set-priv-flags ens0 disable-fw-lldp on"},
                                          {"bnxt_en", "niccli"},
                                          {"mlx5_core", "mlxconfig -d " + port.pci + " set LLDP_NB_RX_MODE_P1=0"}}) {
    port.kernel_driver = driver;
    port.qos.fw_lldp.reset();
    port.qos.dcbx = Dcbx::firmware;
    EXPECT_TRUE(has(lldp_agent_off(port), part)) << driver << ": " << lldp_agent_off(port);
    port.qos.fw_lldp = false;
    EXPECT_EQ(lldp_agent_off(port), "") << driver;
  }
  node.policy.cabling = {};
  node.now.neighbors.heard.clear();
  port.qos.fw_lldp = true;
  const Report report = run_rules(node.view(), std::vector<std::string>{"cabling"});
  const auto found = std::ranges::find(report.findings, "mlx5_0/1", &Finding::subject);
  ASSERT_NE(found, report.findings.end());
  EXPECT_EQ(found->status, Status::ok) << "a network without LLDP is no fault";
  EXPECT_TRUE(has(found->expected, "LLDP_NB_RX_MODE_P1=0")) << found->expected;
}

// ionic has no DCB netlink.
TEST(PeerPfc, IsComparedWithThePolicyIfTheDriverShowsNone) {
  Healthy node;
  node.now.ports[0].qos.pfc.reset();
  EXPECT_EQ(test::said(node.view(), {"peer-pfc"}), "");
  peer(node, 0).pfc->enabled.bits = 0;
  const std::vector<Finding> found = complaints_of(node.view(), {"peer-pfc"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].status, Status::critical);
  EXPECT_TRUE(has(found[0].observed, "PFC 3 in the policy, none at ")) << found[0].observed;
}

// Each member of a bond has a cable.
TEST(CablingOfABond, IsCheckedAtItsMembers) {
  Healthy node;
  Port member = node.now.ports[0];
  test::make_bond(node.now.ports[0]);
  test::make_member(member);
  node.now.ports.insert(node.now.ports.begin() + 1, member);
  peer(node, 0).pfc->enabled.bits = 0;
  const std::vector<Finding> found = complaints_of(node.view(), {"cabling"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].id, "peer-pfc");
  EXPECT_EQ(found[0].subject, "mlx5_0/1@ens0");
}

}  // namespace
}  // namespace fabric
