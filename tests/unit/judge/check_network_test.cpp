// SPDX-License-Identifier: Apache-2.0
// Addresses, rails, gateways, GID indices, MTU, firmware and [expect]: a defect in a healthy node gives its finding and
// no other.
#include "support/planted_defect.h"
#include "support/ports.h"
#include "support/test.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

using namespace test;

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
    rail.gateways = {{*parse_ip("fd00:1::ff"), "REACHABLE"}};
    rail.arp_ignore = rail.arp_announce = {0, 0};  // of IPv4
    RoutingRule& rule = (*node.network.rules)[i];
    rule.source = address;
    rule.source_prefix = 128;
  }
}

// The same rails in one VRF: its table is their main one.
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
      {"gateway_without_an_answer_yet", [](Healthy& n) { interface(n, 1).gateways[0].state = "INCOMPLETE"; },
       finds("gateway", "mlx5_1/1", W, "10.1.1.0 is INCOMPLETE on ens1")},
      {"gid_of_the_other_family", [](Healthy& n) { n.now.ports[2].gids[2].gid = gid_text(ip("fd00::2")); },
       finds("gid-index", "mlx5_2/1", W, "no IPv4 GID")},
      {"gid_at_another_index_than_pinned",
       [](Healthy& n) {
         n.policy.expect.gid_index = 3;
         n.now.ports[3].gids[2].index = 4;
       },
       finds("gid-index", "mlx5_3/1", W, "IPv4 at index 4")},
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
         n.now.unseen = {"GPUs and NICs: sys/bus/pci/devices: Permission denied (EACCES)"};
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
      {"backup_in_a_bond",
       [](Healthy& n) {
         for (size_t i = 0; i < 2; ++i) n.now.topology.nics[i].bond = "bond0";
         n.now.network.interfaces["bond0"] = interface(n, 0);
         for (size_t i = 0; i < 2; ++i) interface(n, i).addresses.emplace();
         for (Gid& gid : n.now.ports[0].gids) gid.netdev = "bond0";
         n.now.ports[1].gids.clear();
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

}  // namespace
}  // namespace fabric
