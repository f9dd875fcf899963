// SPDX-License-Identifier: Apache-2.0
// Addresses, rails, gateways, GID indices, MTU, firmware and [expect]; and the group "cabling", a cable or a switch
// port: a defect in a healthy node gives its findings and no other.
#include "judge/cabling.h"
#include "judge/topology.h"
#include "support/planted_defect.h"
#include "support/ports.h"
#include "support/test.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

using namespace test;

// -- The network

Interface& interface(Healthy& node, size_t port) { return node.now.network.interfaces.at(node.now.ports[port].netdev); }
Ip ip(const char* text) { return *parse_ip(text); }

// All rails in one IPv6 subnet and without IPv4, each with its own rule and table, as share_subnet() does it for IPv4.
void share_ipv6_subnet(Node& node) {
  share_subnet(node);
  for (size_t i = 0; i < node.ports.size(); ++i) {
    Interface& rail = node.network.interfaces.at(node.ports[i].netdev);
    const Ip address = *parse_ip("fd00:1::" + std::to_string(i + 1));
    rail.addresses = std::vector<Address>{{address, 64}, {*parse_ip("fe80::1"), 64, false}};
    node.ports[i].gids.at(2).gid = gid_text(address);
    rail.routes = {{*parse_ip("fd00:1::"), 64, 254},
                   {*parse_ip("fd00:1::"), 64, 201 + static_cast<uint32_t>(i)},
                   {*parse_ip("fd00::"), 16, 254, *parse_ip("fd00:1::ff")}};
    rail.gateways = {{*parse_ip("fd00:1::ff"), NUD_REACHABLE}};
    rail.arp_ignore = rail.arp_announce = {0, 0};  // of IPv4
    RoutingRule& rule = (*node.network.rules)[i];
    rule.source = address;
    rule.source_prefix = 128;
  }
}

// The rails in one VRF, whose table is their main one.
void put_into_a_vrf(Node& node, uint32_t priority) {
  for (auto& [name, rail] : node.network.interfaces) {
    rail.vrf = "rdma";
    rail.vrf_table = 900;
    for (Route& route : rail.routes)
      if (route.table == 254) route.table = 900;
  }
  for (RoutingRule& rule : *node.network.rules) rule.priority = priority++;
}

using Plant = std::function<void(Healthy&)>;

// A defect of rails that share one subnet.
Plant in_one_subnet(Plant defect) {
  return [defect](Healthy& node) {
    share_subnet(node.now);
    defect(node);
  };
}

void rules_by_device(Healthy& node) {
  for (size_t i = 0; i < 4; ++i) {
    (*node.now.network.rules)[i].source.reset();
    (*node.now.network.rules)[i].device = node.now.ports[i].netdev;
  }
}

const PlantedDefects& network_defects() {
  constexpr auto C = Status::critical, W = Status::warning, U = Status::unknown;
  static const PlantedDefects all{
      {"address_twice",
       [](Healthy& n) {
         interface(n, 3).addresses = interface(n, 1).addresses;
         n.now.ports[3].gids[2].gid = n.now.ports[1].gids[2].gid;
       },
       finds("address", "mlx5_3/1", C, "10.1.1.1 is also on mlx5_1/1 (ens1)")},
      {"mac_twice", [](Healthy& n) { interface(n, 3).mac = interface(n, 1).mac = "b8:3f:d2:00:00:01"; },
       finds("address", "mlx5_3/1", W, "MAC address b8:3f:d2:00:00:01 is also on mlx5_1/1 (ens1)")},
      {"mac_twice_in_one_subnet",
       in_one_subnet([](Healthy& n) { interface(n, 3).mac = interface(n, 1).mac = "b8:3f:d2:00:00:01"; }),
       finds("address", "mlx5_3/1", C, "MAC address b8:3f:d2:00:00:01 is also on mlx5_1/1 (ens1)")},
      {"arp_announce_of_one_rail", in_one_subnet([](Healthy& n) {
         interface(n, 1).arp_announce = {0, 1};
       }),
       finds("rails", "10.1.0.0/24", W, "arp_announce 1 on ens1")},
      {"a_rule_to_the_table_of_another_rail", in_one_subnet([](Healthy& n) { (*n.now.network.rules)[2].table = 201; }),
       finds("rails", "10.1.0.0/24", W, "no source routing for ens2")},
      {"a_rule_for_the_whole_subnet", in_one_subnet([](Healthy& n) { (*n.now.network.rules)[2].source_prefix = 24; }),
       finds("rails", "10.1.0.0/24", W, "no source routing for ens2")},
      {"strict_filter_without_a_rule", in_one_subnet([](Healthy& n) {
         n.now.network.rules->erase(n.now.network.rules->begin());
         for (size_t i = 0; i < 4; ++i) interface(n, i).rp_filter = {1, 0};
       }),
       finds("rails", "10.1.0.0/24", W, "no source routing for ens0; rp_filter 1 on ens0, ens1, ens2 and ens3")},
      {"strict_filter_with_rules_by_device", in_one_subnet([](Healthy& n) {
         rules_by_device(n);
         interface(n, 3).rp_filter = {0, 1};
       }),
       finds("rails", "10.1.0.0/24", W, "rp_filter 1 on ens3")},
      {"ipv6_rail_without_a_rule",
       [](Healthy& n) {
         share_ipv6_subnet(n.now);
         n.now.network.rules->erase(n.now.network.rules->begin() + 1);
       },
       finds("rails", "fd00:1::/64", W, "no source routing for ens1")},
      {"rules_behind_that_of_the_vrf", in_one_subnet([](Healthy& n) { put_into_a_vrf(n.now, 32'000); }),
       finds("rails", "10.1.0.0/24 in rdma", W, "no source routing for ens0, ens1, ens2 and ens3")},
      {"a_rule_to_the_table_of_the_vrf", in_one_subnet([](Healthy& n) {
         put_into_a_vrf(n.now, 100);
         (*n.now.network.rules)[3].table = 900;
       }),
       finds("rails", "10.1.0.0/24 in rdma", W, "no source routing for ens3")},
      {"gateway_without_an_answer_yet", [](Healthy& n) { interface(n, 1).gateways[0].state = NUD_INCOMPLETE; },
       finds("gateway", "mlx5_1/1", W, "10.1.1.0 is INCOMPLETE on ens1")},
      {"gid_of_the_other_family", [](Healthy& n) { n.now.ports[2].gids[2].gid = gid_text(ip("fd00::2")); },
       finds("gid-index", "mlx5_2/1", W, "no IPv4 GID")},
      {"gid_at_another_index_than_pinned",
       [](Healthy& n) {
         n.policy.expect.gid_index = 3;
         n.now.ports[3].gids[2].index = 4;
       },
       finds("gid-index", "mlx5_3/1", W, "IPv4 at index 4")},
      {"backup_in_a_bond",
       [](Healthy& n) {
         for (size_t i = 0; i < 2; ++i) n.now.topology.nics[i].bond = "bond0";
         n.now.network.interfaces["bond0"] = interface(n, 0);
         for (size_t i = 0; i < 2; ++i) interface(n, i).addresses.emplace();
         for (Gid& gid : n.now.ports[0].gids) gid.netdev = "bond0";
         n.now.ports[1].gids.clear();
       },
       {{"gid", "mlx5_0/1", W, "on bond0: mlx5_1/1 has none", "active-backup|uses the active member alone"},
        {"gid", "mlx5_1/1", W, "mlx5_0/1 is the active member", "all RDMA connections end",
         "in bond0|for netdev in ens1; do"}}},
      // Without a RoCE LAG the port has the bond as its netdev. The commands are for the members.
      {"bond_of_two_nics",
       [](Healthy& n) {
         const Interface bond = interface(n, 0);
         n.now.network.interfaces["bond0"] = bond;
         for (size_t i = 0; i < 2; ++i) {
           Port& port = n.now.ports[i];
           n.now.topology.nics[i].bond = "bond0";
           n.now.network.interfaces.erase(port.netdev);
           port.netdev = "bond0";
           port.gids = n.now.ports[0].gids;
           for (Gid& gid : port.gids) gid.netdev = "bond0";
         }
       },
       {{"gid", "mlx5_0/1", C, "on mlx5_0/1, mlx5_1/1", "bond0 spans 2 RDMA devices",
         "Leave the ports of one NIC in bond0|for netdev in ens1; do ip link set $netdev nomaster; done"},
        {"gid", "mlx5_1/1", C, "on mlx5_0/1, mlx5_1/1", "", "for netdev in ens1; do"}}},
      {"switch_accepts_one_byte_less", [](Healthy& n) { interface(n, 1).peer_max_frame = 8999; },
       finds("mtu-chain", "mlx5_1/1", C, "frames of 8999")},
      {"odd_mtu",
       [](Healthy& n) {
         n.policy.ports[0].want.mtu.reset();
         n.now.ports[1].qos.mtu = 4200;
       },
       finds("mtu-chain", "mlx5_1/1", W, "netdev 4200")},
      {"more_nics_than_expected", [](Healthy& n) { n.policy.expect.compute_nics = 2; },
       finds("expect", "node", W, "4 compute NICs")},
      {"two_counts_wrong",
       [](Healthy& n) {
         n.policy.expect.compute_nics = 2;
         n.policy.expect.gpus = 8;
       },
       finds("expect", "node", C, "4 GPUs, 4 compute NICs")},
      {"nic_in_a_guest",
       [](Healthy& n) {
         n.policy.expect.compute_nics = 4;
         Nic& nic = n.now.topology.nics[3];
         nic.rdma.clear();
         nic.netdevs.clear();
         n.now.ports.pop_back();
         n.now.platform.functions[nic.pci].kernel_driver = "vfio-pci";
         n.now.platform.functions[n.now.topology.gpus[3].pci].kernel_driver = "vfio-pci";
       },
       finds("expect", "node", C, "3 compute NICs", "(vfio-pci)")},
      {"nothing_to_count",
       [](Healthy& n) {
         n.policy.expect.gpus = 4;
         n.now.topology = {};
         n.now.platform = {};
         n.now.topology_unread = "sys/bus/pci/devices: Permission denied (EACCES)";
       },
       finds("expect", "node", U, "-")},
      {"farther_than_expected",
       [](Healthy& n) {
         n.policy.expect.path_class = PathClass::PXB;
         n.now.topology.gpus[2].bridges = {"0000:77:00.0"};
         n.now.topology.gpus[2].root = "pci0000:70";
       },
       finds("expect", "GPU2", C, "NODE")},
      {"no_member_of_a_bond_has_gids",
       [](Healthy& n) {
         n.now.topology.nics[0].bond = "bond0";
         n.now.network.interfaces["bond0"] = interface(n, 0);
         interface(n, 0).addresses.emplace();
         n.now.ports[0].gids.clear();
       },
       finds("gid", "mlx5_0/1", C, "no RoCE v2 GID")},
  };
  return all;
}

PlantedDefects healthy_networks() {
  return {
      {"nothing", [](Healthy&) {}},
      {"rails_in_one_subnet_with_their_own_rules", [](Healthy& n) { share_subnet(n.now); }},
      {"strict_filter_with_a_rule_for_each", in_one_subnet([](Healthy& n) {
         for (size_t i = 0; i < 4; ++i) interface(n, i).rp_filter = {1, 0};
       })},
      {"arp_filter_instead_of_arp_ignore", in_one_subnet([](Healthy& n) {
         for (size_t i = 0; i < 4; ++i) {
           interface(n, i).arp_ignore = {0, 0};
           interface(n, i).arp_filter = {1, 0};
         }
       })},
      {"rules_by_device", in_one_subnet(rules_by_device)},
      {"a_vrf_for_each_rail", in_one_subnet([](Healthy& n) {
         n.now.network.rules->clear();
         for (size_t i = 0; i < 4; ++i) interface(n, i).vrf = "rail" + std::to_string(i);
       })},
      {"ipv6_rails_with_rules", [](Healthy& n) { share_ipv6_subnet(n.now); }},
      {"ipv6_of_the_router_beside_ipv4",
       [](Healthy& n) {
         for (size_t i = 0; i < 4; ++i)
           interface(n, i).addresses->push_back({*parse_ip("2001:db8::" + std::to_string(i + 1)), 64});
       }},
      {"rules_before_that_of_the_vrf", in_one_subnet([](Healthy& n) { put_into_a_vrf(n.now, 100); })},
      {"no_port_has_an_address",
       [](Healthy& n) {
         for (size_t i = 0; i < 4; ++i) {
           interface(n, i).addresses->clear();
           n.now.ports[i].gids[2].gid = gid_text(*parse_ip("fd00::" + std::to_string(i + 1)));
         }
       }},
      {"network_unread", [](Healthy& n) { n.now.network = {}; }},
      {"switch_announces_its_frames_without_the_fcs", [](Healthy& n) { interface(n, 1).peer_max_frame = 9014; }},
      {"switch_announces_its_mtu", [](Healthy& n) { interface(n, 1).peer_max_frame = 9000; }},
      {"no_gateway_known", [](Healthy& n) { interface(n, 0).gateways.clear(); }},
      {"one_more_gid_on_one_port",
       [](Healthy& n) {
         n.now.ports[1].gids.push_back({5, gid_text(ip("10.9.0.1")), "RoCE v2", "ens1"});
       }},
      {"gids_of_one_bond",
       [](Healthy& n) {
         n.now.ports[1].netdev = n.now.ports[1].gids[2].netdev = "ens0";
         n.now.ports[1].gids[2].gid = n.now.ports[0].gids[2].gid;
       }},
      {"two_versions_that_are_allowed",
       [](Healthy& n) {
         n.policy.firmware = {{"15b3:*", {"1.0"}}, {"MT_0000000838", {"28.39.*", "28.43.*"}}};
         n.now.ports[3].firmware = "28.43.1000";
       }},
      {"another_board_with_its_own_version",
       [](Healthy& n) {
         n.now.ports[3].board_id = "MT_0000000970";
         n.now.ports[3].firmware = "28.43.1000";
       }},
      {"all_as_expected",
       [](Healthy& n) {
         n.policy.expect = {
             .gpus = 4, .compute_nics = 4, .path_class = PathClass::PXB, .gid_index = 3, .speed = 400'000};
       }},
  };
}

// The defect is older than the window.
void settle(Healthy& node) { node.before = node.now; }

TEST(NetworkDefect, GivesItsFindingAlone) { expect_each(network_defects(), settle); }
TEST(NetworkDefect, HealthyNetworksAreSilent) { expect_each(healthy_networks(), settle); }

std::string remedy_for(Healthy& node, const std::string& id) {
  const std::vector<Finding> found = complaints_of(node.view(), {id});
  return found.size() == 1 ? found.front().remedy : describe(found);
}

// Ports without a wire of their own may have the address of another.
TEST(Network, OnlyPhysicalPortsHaveAMacAddressOfTheirOwn) {
  for (const PortRole role : {PortRole::virtual_function, PortRole::subfunction, PortRole::bond_member}) {
    Healthy node;
    interface(node, 3).mac = interface(node, 1).mac = "b8:3f:d2:00:00:01";
    node.now.ports[3].role = role;
    EXPECT_FALSE(has(said(node.view(), {"address"}), "MAC address")) << static_cast<int>(role);
  }
}

// Names of the policy that are of no port or switch of this machine.
TEST(Network, NamesOfTheCablingThatMatchNothingAreNamed) {
  Healthy node;
  const auto cabling = [&] { return said(node.view(), {"cabling"}); };
  EXPECT_EQ(cabling(), "");
  node.policy.cabling.ports = {{node.policy.cabling.cables.at(0).port, "mlx5_9"}};
  EXPECT_TRUE(has(cabling(), "[cabling] ports: " + node.policy.cabling.cables.at(0).port + " = mlx5_9")) << cabling();
  node.policy.cabling.ports = {{"of another host", "mlx5_9"}};
  EXPECT_EQ(cabling(), "");
  node.policy.cabling.rails = {{"leaf9*", "9"}};
  EXPECT_TRUE(has(cabling(), "[cabling] rails: leaf9*")) << cabling();
  node.policy.cabling.rails = {{"leaf9*", "9"}, {"leaf0*", "0"}};
  EXPECT_EQ(cabling(), "");
  node.policy.cabling.planes = {{"eth*", "A"}};
  EXPECT_TRUE(has(cabling(), "[cabling] planes: eth*")) << cabling();
  node.now.topology.gpus.clear();
  EXPECT_FALSE(has(cabling(), "[cabling] planes")) << "a machine of another kind: " << cabling();
}

// eth2 comes before eth10: netdevs in texts, and the port that a doubled address is reported for.
TEST(Network, NetdevsAreInNaturalOrder) {
  Healthy node;
  for (size_t i = 0; i < node.now.ports.size(); ++i) {
    Port& port = node.now.ports[i];
    const std::string netdev = "eth" + std::to_string(i + 8);  // eth8, eth9, eth10, eth11
    node.now.network.interfaces[netdev] = node.now.network.interfaces.at(port.netdev);
    for (Gid& gid : port.gids)
      if (gid.netdev == port.netdev) gid.netdev = netdev;
    port.netdev = netdev;
  }
  Healthy planned = node;
  planned.policy.cabling.file = "plan.csv";
  for (size_t i = 0; i < planned.policy.cabling.cables.size(); ++i)
    planned.policy.cabling.cables[i].port = "p" + std::to_string(i + 8);
  const auto plan = complaints_of(planned.view(), {"cabling"});
  ASSERT_FALSE(plan.empty());
  EXPECT_EQ(plan[0].observed, "ports in the plan: p8, p9, p10, p11") << describe(plan);
  EXPECT_EQ(plan[0].expected, "RDMA ports: eth8, eth9, eth10, eth11") << describe(plan);

  for (size_t port : {1, 2})
    node.now.network.interfaces.at(node.now.ports[port].netdev).addresses->front() = {ip("10.9.0.1"), 24};
  const auto found = complaints_of(node.view(), {"address"});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].subject, "mlx5_2/1") << describe(found);
}

TEST(Rails, RemedyIsTheCommandsToRun) {
  Healthy node;
  share_subnet(node.now);
  node.now.network.rules->erase(node.now.network.rules->begin(), node.now.network.rules->begin() + 2);
  node.now.network.tables.insert(101);
  interface(node, 0).arp_ignore = {0, 0};
  interface(node, 1).arp_announce = {0, 0};
  interface(node, 1).rp_filter = {1, 1};
  interface(node, 1).routes.push_back({ip("10.0.0.0"), 8, 254, ip("10.1.0.254")});
  const std::string remedy = remedy_for(node, "rails");
  EXPECT_EQ(remedy.substr(remedy.find('\n') + 1),
            "ip route replace 10.1.0.0/24 dev ens0 src 10.1.0.1 table 102\n"
            "ip rule add from 10.1.0.1 lookup 102\n"
            "ip route replace 10.1.0.0/24 dev ens1 src 10.1.0.2 table 103\n"
            "ip route replace 10.0.0.0/8 via 10.1.0.254 dev ens1 src 10.1.0.2 table 103\n"
            "ip rule add from 10.1.0.2 lookup 103\n"
            "sysctl -w net.ipv4.conf.ens0.arp_ignore=1\n"
            "sysctl -w net.ipv4.conf.ens1.arp_announce=2\n"
            "sysctl -w net.ipv4.conf.ens1.rp_filter=2");
}

TEST(Rails, RemedyOfIpv6AndOfAVrf) {
  Healthy node;
  share_ipv6_subnet(node.now);
  put_into_a_vrf(node.now, 100);
  node.now.network.rules->erase(node.now.network.rules->begin());
  const std::string remedy = remedy_for(node, "rails");
  EXPECT_EQ(remedy.substr(remedy.find('\n') + 1),
            "ip -6 route replace fd00:1::/64 dev ens0 src fd00:1::1 table 101\n"
            "ip -6 route replace fd00::/16 via fd00:1::ff dev ens0 src fd00:1::1 table 101\n"
            "ip -6 rule add pref 900 from fd00:1::1 lookup 101");
}

TEST(Rails, OnlyThoseInOneSubnetAreCompared) {
  Healthy node;
  share_subnet(node.now);
  node.now.network.rules->clear();
  for (size_t i = 2; i < 4; ++i) interface(node, i).addresses->front() = {ip(i == 2 ? "10.2.0.1" : "10.3.0.1"), 24};
  const std::vector<Finding> found = complaints_of(node.view(), {"rails"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].observed, "ens0 and ens1")) << describe(found);
  EXPECT_FALSE(has(found[0].remedy, "ens2")) << found[0].remedy;
  // A wider prefix on one of them contains the address of the other.
  interface(node, 1).addresses->front() = {ip("10.2.0.9"), 8};
  EXPECT_TRUE(has(complaints_of(node.view(), {"rails"})[0].subject, "10.0.0.0/8"));
}

TEST(Rails, TheDotOfAnInterfaceIsASlashForSysctl) {
  Healthy node;
  share_subnet(node.now);
  interface(node, 0).arp_ignore = {0, 0};
  node.now.ports[0].gids[2].netdev = "ens0.100";
  node.now.network.interfaces["ens0.100"] = interface(node, 0);
  interface(node, 0).addresses->clear();
  node.now.network.rules->front().device = "ens0.100";
  EXPECT_TRUE(has(remedy_for(node, "rails"), "net.ipv4.conf.ens0/100.arp_ignore=1")) << remedy_for(node, "rails");
}

TEST(Address, OfEqualPortsAreOnAVlanThatThisOneLacks) {
  Healthy node;
  for (size_t i = 0; i < 4; ++i) {
    if (i != 2) {
      const std::string vlan = node.now.ports[i].netdev + ".100";
      node.now.ports[i].gids[2].netdev = vlan;
      node.now.network.interfaces[vlan] = interface(node, i);
    } else {
      node.now.ports[i].gids.resize(2);
    }
    interface(node, i).addresses->clear();
  }
  const auto found = complaints_of(node.view(), {"address"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(describe(found[0]), "address mlx5_2/1 critical: no IP address on ens2 or above it");
  EXPECT_TRUE(has(found[0].remedy, "ens0.100") && !has(found[0].remedy, "dev ens2")) << found[0].remedy;
}

TEST(MtuChain, ABondHasTheSwitchPortsOfItsMembers) {
  Healthy node;
  Port member = node.now.ports[1];
  interface(node, 1).peer_max_frame = 1518;
  node.now.network.interfaces["bond0"];
  test::make_bond(node.now.ports[1]);
  test::make_member(member);
  node.now.ports.push_back(member);
  const auto found = complaints_of(node.view(), {"mtu-chain"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].subject, "mlx5_1/1");
  EXPECT_TRUE(has(found[0].observed, "frames of 1518")) << found[0].observed;
}

// The physical function has the MTU of the port: that of its functions is no larger.
TEST(MtuChain, NamesAFunctionWithALargerMtuThanItsPort) {
  Healthy node;
  Port function = node.now.ports[1];
  make_virtual(function);
  function.owner = node.now.ports[1].pci;
  function.pci = "0000:24:00.1";
  function.rdma = "mlx5_9";
  function.netdev = "ens1v0";
  node.now.ports[1].qos.mtu = 1500;
  node.now.ports[1].active_mtu = 1024;
  node.now.ports.push_back(function);
  node.policy.ports[0].want.mtu.reset();
  const auto found = complaints_of(node.view(), {"mtu-chain", "roce-mtu"});
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_EQ(found[0].subject, "mlx5_1/1");
  EXPECT_TRUE(has(found[0].observed, "netdev 1500; its virtual function mlx5_9/1 on ens1v0 has 9000"))
      << describe(found);
  EXPECT_TRUE(has(found[0].remedy, "ip link set dev ens1 mtu 9000")) << found[0].remedy;
  EXPECT_EQ(found[0].about, "mlx5_9/1 on ens1v0") << "so that several are one paragraph";
  node.now.ports.back().qos.mtu = 1500;
  EXPECT_FALSE(has(said(node.view(), {"mtu-chain"}), "virtual function"));
}

// In a pod with a macvlan on each NIC.
TEST(MtuChain, ComparesTheNetdevsOfAContainerOnEqualNics) {
  Healthy node;
  for (Nic& nic : node.now.topology.nics) {
    nic.netdev_elsewhere = true;
    nic.netdevs.clear();
  }
  for (Port& port : node.now.ports) {
    interface(node, static_cast<size_t>(&port - node.now.ports.data())).mtu = 9000;
    port.role = PortRole::netdev_elsewhere;
  }
  for (Port& port : node.now.ports) port.netdev.clear();
  EXPECT_EQ(said(node.view(), {"mtu-chain"}), "");
  Interface& net = node.now.network.interfaces.at("ens2");
  net.mtu = 1500;
  EXPECT_EQ(said(node.view(), {"mtu-chain"}), "mtu-chain mlx5_2/1 warning: ens2 1500\n");
  net.routes.push_back({{}, 0, 254, ip("10.1.2.0")});
  EXPECT_EQ(said(node.view(), {"mtu-chain"}), "") << "the network of the pod, on a NIC of the same model";
}

// A pod with a macvlan on each NIC, all with the same MTU.
Healthy pod_with_macvlans() {
  Healthy node;
  for (Nic& nic : node.now.topology.nics) nic.netdev_elsewhere = true, nic.netdevs.clear();
  for (size_t port = 0; port < 4; ++port) interface(node, port).mtu = 9000;
  for (Port& port : node.now.ports) port.role = PortRole::netdev_elsewhere, port.netdev.clear();
  return node;
}

TEST(MtuChain, OfTheNetdevsOfAContainerNamesTheSmallerOnes) {
  Healthy node = pod_with_macvlans();
  node.now.network.interfaces.at("ens1").mtu = 9216;
  EXPECT_EQ(said(node.view(), {"mtu-chain"}), "") << "a larger one limits nothing";
  node.now.network.interfaces.at("ens1").mtu = 4200;
  node.now.network.interfaces.at("ens3").mtu.reset();
  const auto found = complaints_of(node.view(), {"mtu-chain"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].subject, "mlx5_1/1");
  EXPECT_EQ(found[0].expected, "9000, like those of equal ports");
  EXPECT_TRUE(has(found[0].remedy, "NetworkAttachmentDefinition")) << found[0].remedy;
  EXPECT_FALSE(has(found[0].remedy, "ip link set")) << "the container's network decides: " << found[0].remedy;
  node.now.network.interfaces.at("ens2").mtu = 4200;
  EXPECT_EQ(said(node.view(), {"mtu-chain"}), "") << "most are small: the network is built so";
}

TEST(MtuChain, OfTheNetdevsOfAContainerComparesEqualPortsInUse) {
  Healthy node = pod_with_macvlans();
  Interface& net = node.now.network.interfaces.at("ens2");
  net.mtu = 1500;
  EXPECT_NE(said(node.view(), {"mtu-chain"}), "");
  Healthy other = node;
  other.now.ports[2].rate = 25e9 / 8;
  other.now.ports[2].speed = 25'000;
  other.now.topology.nics[2].device = 0x1015;
  other.now.ports[2].pci_id = "15b3:1015";
  EXPECT_EQ(said(other.view(), {"mtu-chain"}), "") << "a NIC of another model";
  other = node;
  other.now.ports[2].state = kPortDown;
  EXPECT_EQ(said(other.view(), {"mtu-chain"}), "") << "without a link";
  other = node;
  for (Gid& gid : other.now.ports[2].gids) gid.netdev = "net9";
  EXPECT_EQ(said(other.view(), {"mtu-chain"}), "") << "a netdev that is not in this container";
}

// The port's own netdev has no address.
TEST(MtuChain, OfTheVlansWithTheAddressesNamesTheSmallerOnes) {
  Healthy node;
  for (size_t i = 0; i < node.now.ports.size(); ++i) {
    Port& port = node.now.ports[i];
    const std::string vlan = port.netdev + ".100";
    for (Gid& gid : port.gids)
      if (gid.type == "RoCE v2" && !gid.gid.starts_with("fe80:")) gid.netdev = vlan, gid.above = true;
    Interface& own = interface(node, i);
    Interface above = own;
    own.addresses->clear();
    above.mtu = 9000;
    node.now.network.interfaces[vlan] = std::move(above);
  }
  EXPECT_EQ(said(node.view(), {"mtu-chain"}), "");
  const std::string netdev = node.now.ports[2].netdev;
  node.now.network.interfaces.at(netdev + ".100").mtu = 1500;
  const auto found = complaints_of(node.view(), {"mtu-chain"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].observed, netdev + ".100 1500");
  EXPECT_TRUE(has(found[0].remedy, "ip link set " + netdev + ".100 mtu 9000")) << found[0].remedy;
  const Report report = run_rules(node.view(), std::vector<std::string>{"mtu-chain"});
  EXPECT_EQ(std::ranges::count(report.findings, node.now.ports[2].id(), &Finding::subject), 1);

  Healthy several = node;  // a VLAN of management, whose address this port got first
  Gid management = several.now.ports[2].gids.back();
  management.netdev = netdev + ".200";
  several.now.network.interfaces[netdev + ".200"] = several.now.network.interfaces.at(netdev + ".100");
  several.now.network.interfaces.at(netdev + ".100").mtu = 9000;
  several.now.ports[2].gids.insert(several.now.ports[2].gids.begin(), management);
  EXPECT_EQ(said(several.view(), {"mtu-chain"}), "");
  several.now.network.interfaces.at(netdev + ".100").mtu = 1500;
  EXPECT_NE(said(several.view(), {"mtu-chain"}), "");
  for (Gid gid : std::vector<Gid>(node.now.ports[2].gids)) {
    gid.netdev = netdev;
    node.now.ports[2].gids.push_back(gid);
  }
  EXPECT_EQ(said(node.view(), {"mtu-chain"}), "") << "the own netdev has an address, too: jobs may use that";
}

TEST(MtuChain, VlansOfPortsForAnotherPurposeMayDiffer) {
  Healthy node;
  for (const std::string number : {"7", "8", "9"}) {
    Nic nic = node.now.topology.nics[1];
    nic.pci = "0000:e" + number + ":00.0", nic.root = "pci0000:e" + number, nic.bridges.clear();
    nic.name = "mlx5_" + number, nic.rdma = {nic.name}, nic.netdevs = {"ens" + number}, nic.card.clear();
    node.now.topology.nics.push_back(nic);
    Port port = node.now.ports[1];
    port.rdma = nic.name, port.pci = nic.pci, port.netdev = "ens" + number;
    for (Gid& gid : port.gids) gid.netdev = port.netdev + ".100", gid.above = true;
    Interface vlan = interface(node, 1);
    vlan.mtu = number == "9" ? 1500 : 9000;
    node.now.network.interfaces[port.netdev + ".100"] = vlan;
    node.now.ports.push_back(port);
    ASSERT_FALSE(serves_gpu(node.view(), node.now.ports.back()));
  }
  EXPECT_EQ(said(node.view(), {"mtu-chain"}), "");
}

TEST(GidIndex, NamesWhatShiftedTheTable) {
  Healthy node;
  auto& gids = node.now.ports[2].gids;
  gids.erase(gids.begin() + 1);  // the link-local one
  gids.at(1).index = 1;
  interface(node, 2).ipv6_disabled = true;
  node.before = node.now;
  const auto found = complaints_of(node.view());
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].meaning, "IPv6 is off on ens2")) << found[0].meaning;
}

// The addresses are there: to configure others changes nothing.
TEST(Gid, OfRoceV1Alone) {
  Healthy node;
  for (Gid& gid : node.now.ports[1].gids) gid.type = "IB/RoCE v1";
  const auto found = complaints_of(node.view(), {"gid"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].status, Status::warning);
  EXPECT_TRUE(has(found[0].observed, "RoCE v1 only")) << found[0].observed;
  EXPECT_FALSE(has(found[0].remedy, "ip address")) << found[0].remedy;
  std::erase_if(node.now.ports[1].gids, [](const Gid& gid) { return !gid.gid.starts_with("fe80"); });
  const auto without = complaints_of(node.view(), {"gid"});
  ASSERT_EQ(without.size(), 1u) << describe(without);
  EXPECT_TRUE(has(without[0].remedy, "Configure an IP address: ip address add")) << without[0].remedy;
  // Where a program has to give the address, the command is not the fix.
  for (const char* cloud : {"Oracle Cloud", "Google Cloud"}) {
    node.now.topology.cloud = cloud;
    const auto there = complaints_of(node.view(), {"gid"});
    ASSERT_EQ(there.size(), 1u) << describe(there);
    EXPECT_TRUE(has(there[0].remedy, cloud)) << there[0].remedy;
    EXPECT_TRUE(has(there[0].remedy, ". By hand: ip address add")) << there[0].remedy;
    EXPECT_FALSE(has(there[0].remedy, "systemctl")) << "also of a captured tree: " << there[0].remedy;
  }
}

TEST(Gid, NamesIpv6ThatIsDisabled) {
  Healthy node;
  for (size_t i = 0; i < node.now.ports.size(); ++i) {
    auto& gids = node.now.ports[i].gids;
    std::erase_if(gids, [](const Gid& gid) { return !gid.gid.starts_with("fe80"); });
    interface(node, i).ipv6_disabled = i == 1;
  }
  const auto found = complaints_of(node.view(), {"gid"});
  ASSERT_EQ(found.size(), 4u) << describe(found);
  EXPECT_FALSE(has(found[0].meaning + found[0].remedy, "IPv6 is disabled")) << found[0].meaning;
  EXPECT_TRUE(has(found[1].meaning, "(net.ipv6.conf.ens1.disable_ipv6 = 1)")) << found[1].meaning;
  EXPECT_TRUE(found[1].remedy.starts_with("For IPv6, first: sysctl -w net.ipv6.conf.ens1.disable_ipv6=0. "))
      << found[1].remedy;
}

TEST(Ip, SubnetsAndGids) {
  EXPECT_EQ(gid_text(ip("10.1.0.1")), "0000:0000:0000:0000:0000:ffff:0a01:0001");
  EXPECT_EQ(gid_text(ip("fd00::a:1")), "fd00:0000:0000:0000:0000:0000:000a:0001");
  EXPECT_EQ(to_text(network_of(ip("10.1.255.254"), 17)), "10.1.128.0");
  EXPECT_EQ(to_text(network_of(ip("10.1.255.254"), 0)), "0.0.0.0");
  EXPECT_EQ(to_text(network_of(ip("fd00:1:2:3:4::1"), 64)), "fd00:1:2:3::");
  EXPECT_TRUE(in_subnet(ip("10.1.0.1"), ip("10.1.0.0"), 31));
  EXPECT_FALSE(in_subnet(ip("10.1.0.2"), ip("10.1.0.0"), 31));
  EXPECT_FALSE(in_subnet(ip("10.1.0.2"), ip("::"), 0));
  for (const char* none : {"", "10.1.0", "10.1.0.1/24", "fd00::1%eth0", "host"}) EXPECT_FALSE(parse_ip(none)) << none;
}

// -- Cables and switch ports

Neighbor& peer(Healthy& node, size_t port) { return node.now.neighbors.heard.at(port); }

// Without a plan only a pattern shows a wrong rail: seven switches for eight ports.
TEST(Check, TwoPortsAtOneSwitchWhileEachOtherHasItsOwn) {
  Healthy node(8);
  const Cabling plan = node.policy.cabling;
  node.policy.cabling = {};
  const std::vector<std::string> only{"cabling"};
  EXPECT_EQ(said(node.view(), only), "");
  peer(node, 3).system_name = peer(node, 4).system_name;
  EXPECT_EQ(said(node.view(), only),
            "cabling mlx5_3/1 warning: leaf4.example.com Ethernet7, like mlx5_4/1\n"
            "cabling mlx5_4/1 warning: leaf4.example.com Ethernet7, like mlx5_3/1\n");
  peer(node, 6).system_name = peer(node, 7).system_name;
  EXPECT_EQ(said(node.view(), only), "") << "two pairs: perhaps by design";
  for (size_t port = 0; port < 8; ++port) peer(node, port).system_name = "leaf" + std::to_string(port / 2);
  EXPECT_EQ(said(node.view(), only), "") << "two rails at each switch";
  node.policy.cabling = plan;
  peer(node, 0).system_name = "leaf0.example.com";
  EXPECT_FALSE(has(said(node.view(), only), "like mlx5")) << "the plan decides";
}

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

// Peers in other subnets are out of reach, whatever the host's default route: RoCE looks up routes with the rail's
// device.
TEST(Gateway, ARailWithoutRoutesReachesItsOwnSubnetOnly) {
  Healthy node;
  node.now.network.tables = {254};
  const auto observed = [&] {
    for (const Finding& each : run_rules(node.view(), std::vector<std::string>{"gateway"}).findings)
      if (each.subject == "mlx5_1/1") return each.observed;
    return std::string();
  };
  Interface& rail = interface(node, 1);
  const Address own = rail.addresses->front();
  EXPECT_FALSE(has(observed(), "own subnet")) << observed();
  rail.gateways.clear();
  rail.routes = {{network_of(own.ip, own.prefix), own.prefix, 254}, {ip("fe80::"), 64, 254}};
  EXPECT_TRUE(observed().starts_with("reaches only its own subnet, " + to_text(network_of(own.ip, own.prefix)) + "/"))
      << observed();
  rail.routes.push_back({ip("30.0.0.0"), 8, 101});
  EXPECT_EQ(observed(), "") << "a table of its own leads to the other rails";
  rail.routes.pop_back();
  node.now.network.tables.clear();
  EXPECT_EQ(observed(), "") << "the routes are unknown";
}

// The user names the other host, so that a port that cannot reach it is a fault.
TEST(Gateway, APortNeedsARouteToOneAddressOfThePeer) {
  Healthy node;
  node.now.network.tables = {254};
  std::vector<Ip> peers;
  const auto said_of = [&] {
    View view = node.view();
    view.peers = peers;
    for (const Finding& each : run_rules(view, std::vector<std::string>{"gateway"}).findings)
      if (each.subject == "mlx5_1/1") return std::string(to_text(each.status)) + ": " + each.observed;
    return std::string();
  };
  Interface& rail = interface(node, 1);
  const Address own = rail.addresses->front();
  rail.gateways.clear();
  rail.routes = {{network_of(own.ip, own.prefix), own.prefix, 254}};
  rail.addresses = std::vector<Address>{own};
  const std::string none = "critical: no route from " + to_text(own.ip) + "/" + std::to_string(own.prefix) + " to ";
  EXPECT_TRUE(said_of().starts_with("ok: reaches only its own subnet")) << said_of();
  peers = {ip("30.2.1.1")};
  EXPECT_EQ(said_of(), none + "30.2.1.1 by ens1");
  peers.push_back(ip("fd00:2::1"));
  EXPECT_EQ(said_of(), none + "30.2.1.1, fd00:2::1 by ens1") << "its own address is of the other family";
  peers.push_back(network_of(own.ip, own.prefix));
  EXPECT_TRUE(said_of().starts_with("ok")) << "one of the peer's addresses is in the subnet";
  peers = {ip("30.2.1.1")};
  rail.routes.push_back({ip("30.0.0.0"), 8, 254, ip("10.9.9.9")});
  EXPECT_FALSE(has(said_of(), "no route")) << said_of();
  // The route of a table that no rule for the address names; and that of another netdev.
  rail.routes.back().table = 101;
  node.now.network.rules = std::vector<RoutingRule>{};
  EXPECT_EQ(said_of(), none + "30.2.1.1 by ens1");
  node.now.network.rules->push_back({.priority = 100, .table = 101, .source = own.ip, .source_prefix = 32});
  EXPECT_FALSE(has(said_of(), "no route")) << said_of();
  node.now.network.rules = std::vector<RoutingRule>{{.priority = 100, .table = 101}};
  EXPECT_FALSE(has(said_of(), "no route")) << "ip rule add to 30.0.0.0/8 lookup 101";
  node.now.network.rules.reset();
  EXPECT_FALSE(has(said_of(), "no route")) << "the rules are unknown";
  rail.routes.pop_back();
  interface(node, 2).routes.push_back({ip("0.0.0.0"), 0, 254, ip("10.9.9.9")});
  EXPECT_EQ(said_of(), none + "30.2.1.1 by ens1, but by ens2");
  peers.push_back(ip("fe80::1"));
  EXPECT_TRUE(said_of().starts_with("ok")) << said_of();
  peers.pop_back();
  node.now.network.tables.clear();
  EXPECT_FALSE(has(said_of(), "no route")) << "the routes are unknown";
}

TEST(Gateway, ThePeerOfJobsNeedNotBeInReachOfStorage) {
  Healthy node;
  Nic storage = node.now.topology.nics[1];
  storage.pci = "0000:ee:00.0", storage.root = "pci0000:ed", storage.bridges = {"0000:ed:01.0"};
  storage.device = 0x101b, storage.name = "mlx5_9", storage.rdma = {"mlx5_9"}, storage.card.clear();
  node.now.topology.nics.push_back(storage);
  Port port = node.now.ports[1];
  port.rdma = "mlx5_9", port.pci = storage.pci, port.netdev = "ens9";
  for (Gid& gid : port.gids) gid.netdev = "ens9";
  node.now.ports.push_back(port);
  Interface rail = interface(node, 1);
  rail.addresses = std::vector<Address>{{ip("10.77.0.1"), 24}};
  rail.routes = {{ip("10.77.0.0"), 24, 254}};
  rail.gateways.clear();
  node.now.network.interfaces["ens9"] = rail;
  const auto complaints = [&](const std::set<std::string>& named) {
    View view = node.view();
    view.peers = {ip("10.1.1.7")};
    view.named = named;
    std::string out;
    for (const Finding& each : run_rules(view, std::vector<std::string>{"gateway"}).findings)
      if (each.status == Status::critical) out += each.subject + " ";
    return out;
  };
  EXPECT_EQ(complaints({}), "");
  EXPECT_EQ(complaints({"mlx5_9/1"}), "mlx5_9/1 ");
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

// A netdev may have any name, also one with the placeholder of the command.
TEST(LldpAgentOff, NamesTheNetdevOnce) {
  Port port;
  port.netdev = "NETDEV0";
  port.kernel_driver = "ice";
  port.qos.fw_lldp = true;
  EXPECT_TRUE(has(lldp_agent_off(port), "ethtool --set-priv-flags NETDEV0 fw-lldp-agent off"));
}

}  // namespace
}  // namespace fabric
