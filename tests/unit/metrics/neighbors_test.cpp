// SPDX-License-Identifier: Apache-2.0
// Who is heard, how long, and what of it is published; names of devices and ports.
#include "exporter/lldp/neighbor_table.h"
#include "node/neighbor_state.h"
#include "support/test.h"
#include "support/tree.h"
#include "wire/lldp.h"

namespace fabric {
namespace {

Neighbor neighbor(const std::string& system, const std::string& port, unsigned ttl = 120) {
  Neighbor out;
  out.source = state::kLldpSource;
  out.chassis_id = "00:00:00:00:00:" + system;
  out.system_name = "leaf" + system;
  out.port_id = port;
  out.ttl = ttl;
  return out;
}

TEST(NeighborTable, NewsAreWhatIsNewGoneOrSaysSomethingElse) {
  NeighborTable table;
  EXPECT_TRUE(table.listen({{7, "ens1"}}, 100));
  EXPECT_FALSE(table.listen({{7, "ens1"}}, 101));
  EXPECT_TRUE(table.hear(7, neighbor("01", "Ethernet1"), 110));
  EXPECT_FALSE(table.hear(7, neighbor("01", "Ethernet1"), 140));
  Neighbor other = neighbor("01", "Ethernet1");
  other.pfc = DcbxPfc{false, false, 8, PrioSet{8}};
  EXPECT_TRUE(table.hear(7, other, 170));
  EXPECT_FALSE(table.hear(8, neighbor("01", "Ethernet1"), 170)) << "nobody listens there";
  const Neighbors now = table.neighbors();
  ASSERT_EQ(now.heard.size(), 1u);
  EXPECT_EQ(now.heard[0].netdev, "ens1");
  EXPECT_EQ(now.heard[0].heard, 170);
  EXPECT_TRUE(now.heard[0].pfc);
  EXPECT_EQ(now.listening, (std::map<std::string, double>{{"ens1", 100}}));
}

TEST(NeighborTable, TimeToLive) {
  NeighborTable table;
  table.listen({{7, "ens1"}}, 0);
  EXPECT_FALSE(table.next_expiry());
  table.hear(7, neighbor("01", "Ethernet1", 120), 10);
  table.hear(7, neighbor("02", "Ethernet2", 20), 10);
  EXPECT_EQ(table.next_expiry(), 30);
  EXPECT_FALSE(table.expire(29.9));
  EXPECT_TRUE(table.expire(30));
  ASSERT_EQ(table.neighbors().heard.size(), 1u);
  EXPECT_EQ(table.neighbors().heard[0].port_id, "Ethernet1");
  EXPECT_FALSE(table.hear(7, neighbor("09", "Ethernet1", 0), 31)) << "who was not there does not leave";
  EXPECT_TRUE(table.hear(7, neighbor("01", "Ethernet1", 0), 31));
  EXPECT_TRUE(table.neighbors().heard.empty());
  EXPECT_EQ(table.neighbors().listening.at("ens1"), 31) << "so long there is no LLDP";
  table.hear(7, neighbor("01", "Ethernet1", 120), 50);
  EXPECT_TRUE(table.expire(200));
  EXPECT_EQ(table.neighbors().listening.at("ens1"), 50);
}

std::vector<std::string> names(const NeighborTable& table) {
  std::vector<std::string> out;
  for (const Neighbor& each : table.neighbors().heard) out.push_back(each.system_name);
  return out;
}
bool has_switch(const NeighborTable& table) { return std::ranges::count(names(table), "leaf01") == 1; }

TEST(NeighborTable, AFloodKeepsNobodyOut) {
  for (const double flood : {0, 2}) {  // before the switch speaks, and behind it
    NeighborTable table;
    table.listen({{7, "ens1"}}, 0);
    if (flood > 1) table.hear(7, neighbor("01", "Ethernet1"), 1);
    for (int i = 10; i < 99; ++i) table.hear(7, neighbor(std::to_string(i), "x"), flood);
    EXPECT_EQ(table.neighbors().heard.size(), NeighborTable::kPerPort);
    table.hear(7, neighbor("01", "Ethernet1"), 31);
    table.hear(7, neighbor("01", "Ethernet1"), 61);
    EXPECT_TRUE(has_switch(table));
    for (int i = 10; i < 99; ++i) table.hear(7, neighbor(std::to_string(i), "y"), 62 + i);
    EXPECT_EQ(table.neighbors().heard.size(), NeighborTable::kPerPort);
    EXPECT_FALSE(has_switch(table)) << "silent for half of its time to live, it gives way";
    table.hear(7, neighbor("01", "Ethernet1"), 500);
    EXPECT_TRUE(has_switch(table));
  }
}

// A hub: the labels of the port do not change with each frame.
TEST(NeighborTable, OfSixtyFourTheSameFewStay) {
  NeighborTable table;
  table.listen({{7, "ens1"}}, 0);
  std::vector<std::string> first;
  for (int round = 0; round < 20; ++round) {
    for (int i = 10; i < 74; ++i) {
      const bool changed = table.hear(7, neighbor(std::to_string(i), "Ethernet1"), round * 30 + i * 0.4);
      EXPECT_EQ(changed, round == 0 && i < 14) << round << ", " << i;
    }
    table.expire(round * 30 + 29.9);
    if (round == 0) first = names(table);
    EXPECT_EQ(names(table), first);
  }
  EXPECT_EQ(first.size(), NeighborTable::kPerPort);
}

TEST(NeighborTable, ASwitchThatChangesItsNameIsOneNeighbor) {
  NeighborTable table;
  table.listen({{7, "ens1"}}, 0);
  Neighbor leaf = neighbor("01", "Ethernet1");
  table.hear(7, leaf, 1);
  leaf.system_name = "rack7-leaf1";
  EXPECT_TRUE(table.hear(7, leaf, 31));
  EXPECT_EQ(names(table), std::vector<std::string>{"rack7-leaf1"});
  leaf.chassis_id = "rack7-leaf1";  // of a switch whose chassis id is its name
  EXPECT_TRUE(table.hear(7, leaf, 61));
  EXPECT_TRUE(table.expire(152)) << "the old one has not been heard for its time to live";
  EXPECT_EQ(table.neighbors().heard.size(), 1u);
}

TEST(NeighborTable, NetdevsAreRenamedComeAndGo) {
  NeighborTable table;
  table.listen({{7, "eth0"}, {8, "eth1"}}, 0);
  table.hear(7, neighbor("01", "Ethernet1"), 1);
  EXPECT_TRUE(table.listen({{7, "ens1"}, {9, "eth1"}}, 50));
  const Neighbors now = table.neighbors();
  ASSERT_EQ(now.heard.size(), 1u);
  EXPECT_EQ(now.heard[0].netdev, "ens1");
  EXPECT_EQ(now.listening, (std::map<std::string, double>{{"ens1", 0}, {"eth1", 50}}))
      << "another device of the same name";
  EXPECT_TRUE(table.listen({}, 60));
  EXPECT_TRUE(table.neighbors().heard.empty());
}

Neighbor captured(const std::string& name) {
  const std::string text = test::of_source("tests/fuzz/corpus/lldp/" + name);
  auto read = lldp::parse_frame(std::as_bytes(std::span(text.data(), text.size())));
  EXPECT_TRUE(read) << name;
  read->netdev = "ens1";
  read->source = state::kLldpSource;
  read->heard = 1000;
  return std::move(*read);
}

Neighbors some() {
  Neighbors out;
  out.listening = {{"ens1", 900}, {"ens\"2", 950}};
  out.heard = {captured("ieee-dcbx"), captured("cee-dcbx")};
  out.heard[1].malformed = {"byte 7: no good"};
  return out;
}

TEST(NeighborState, WhatIsWrittenIsRead) {
  const Neighbors written = some();
  const auto read = state::parse_neighbors(state::neighbors_text(written, 1010), "n.toml", 1010);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->source, "fabric-lldp");
  ASSERT_EQ(read->heard.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    Neighbor expected = written.heard[i];
    expected.age = 10;
    EXPECT_EQ(read->heard[i], expected) << i;
  }
  EXPECT_EQ(read->listening, (std::map<std::string, double>{{"ens1", 110}, {"ens\"2", 60}}));
}

TEST(NeighborState, WhoseTimeIsOverIsNotThere) {
  const std::string text = state::neighbors_text(some(), 1100);
  EXPECT_EQ(state::parse_neighbors(text, "n.toml", 1130)->heard.size(), 2u);
  EXPECT_EQ(state::parse_neighbors(text, "n.toml", 1140)->heard.size(), 0u);
  const auto old = state::parse_neighbors(text, "n.toml", 1300);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ESTALE);
}

TEST(NeighborState, FilesOfACapturedTree) {
  test::Tree tree;
  const auto none = state::load_neighbors(tree.root());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  tree.file("proc/uptime", "1020.5 4000.1\n");
  ASSERT_TRUE(state::save_neighbors(tree.path(), some(), 1010));
  const auto read = state::load_neighbors(tree.root());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->heard.at(0).age, 20.5);
  for (const auto& [neighbor, fault] : {std::pair(R"({"netdev":7})", "netdev: type must be string"),
                                        {R"({"netdev":"ens1","ttl":-1})", "ttl: expected an integer from 0"},
                                        {R"({"netdev":"ens1","pfc":{"enabled":[300]}})", "pfc: enabled: expected"},
                                        {"[", "parse error"}}) {
    tree.file("run/fabric-lldp/neighbors.json",
              std::string(R"({"format":1,"updated":1000,"neighbors":[)") + neighbor + "]}");
    const auto broken = state::load_neighbors(tree.root());
    ASSERT_FALSE(broken);
    EXPECT_TRUE(test::has(broken.error().what, "/run/fabric-lldp/neighbors.json: ")) << broken.error().what;
    EXPECT_TRUE(test::has(broken.error().what, fault)) << broken.error().what;
  }
}

TEST(Names, OfDevicesAndPorts) {
  EXPECT_TRUE(same_device("leaf1", "LEAF1"));
  EXPECT_TRUE(same_device("leaf1.example.com", "leaf1"));
  EXPECT_TRUE(same_device("leaf1.pod2", "leaf1.pod2.example.com"));
  EXPECT_FALSE(same_device("leaf1.a.example", "leaf1.b.example"));
  EXPECT_FALSE(same_device("leaf1", "leaf10"));
  EXPECT_FALSE(same_device("", ""));
  EXPECT_TRUE(same_port("Eth1/1", "Ethernet1/1"));
  EXPECT_TRUE(same_port("Hu0/0/0/1", "HundredGigE0/0/0/1"));
  EXPECT_TRUE(same_port("Ethernet 1/1", "ethernet1/1"));
  EXPECT_FALSE(same_port("Ethernet1/1", "Ethernet1/11"));
  EXPECT_FALSE(same_port("swp1", "eth1"));
  EXPECT_FALSE(same_port("1", "Ethernet1"));
}

TEST(Names, OfAnEnd) {
  Neighbor switch_port = neighbor("01", "70:06:92:6e:32:64");
  switch_port.port_description = "swp5";
  switch_port.management = {"10.0.0.7"};
  EXPECT_EQ(switch_port.port(), "swp5");
  EXPECT_TRUE(is_end(switch_port, {"leaf01.example", "swp5"}));
  EXPECT_TRUE(is_end(switch_port, {"10.0.0.7", "swp5"}));
  EXPECT_TRUE(is_end(switch_port, {"00:00:00:00:00:01", "swp5"}));
  EXPECT_FALSE(is_end(switch_port, {"leaf01", "swp6"}));
  EXPECT_TRUE(is_device(switch_port, {"leaf01", "swp6"}));
}

// What switches send as port id and description, and a plan's name of that port or of another one.
TEST(Names, OfPortsAsSwitchesSendThem) {
  enum class Is : uint8_t { the_port, another_port, unknown };
  struct Row {
    std::string id, description, planned;
    Is is;
    std::string shown;
  };
  for (const Row& row : std::vector<Row>{
           {"510", "et-0/0/0:1", "et-0/0/0:1", Is::the_port, "et-0/0/0:1"},          // Junos
           {"510", "et-0/0/0:1", "et-0/0/0:2", Is::another_port, "et-0/0/0:1"},      //
           {"510", "gpu01 rail 0", "et-0/0/0:1", Is::unknown, "gpu01 rail 0"},       // with a description
           {"510", "", "et-0/0/0:1", Is::unknown, "510"},                            //
           {"etp1", "Ethernet0", "Ethernet0", Is::the_port, "etp1"},                 // SONiC
           {"etp1", "Ethernet0", "Ethernet8", Is::another_port, "etp1"},             //
           {"etp1", "gpu01:ens0", "Ethernet0", Is::unknown, "etp1"},                 // with a description
           {"Eth1/1", "gpu01:ens0", "Ethernet0", Is::unknown, "Eth1/1"},             //
           {"Eth1/1", "gpu01:ens0", "Ethernet1/2", Is::another_port, "Eth1/1"},      //
           {"swp1s0", "to_gpu01", "swp2", Is::another_port, "swp1s0"},               // Cumulus
           {"Ethernet5/1", "eth0 of gpu01", "Et5/1", Is::the_port, "Ethernet5/1"},   // EOS
           {"1/1/7", "1/1/7", "1/1/8", Is::another_port, "1/1/7"},                   // AOS-CX
           {"ethernet1/1/5:1", "", "Eth 1/1/5:1", Is::the_port, "ethernet1/1/5:1"},  // OS10
           {"HundredGigE1/0/1", "HundredGigE1/0/1 Interface", "HGE1/0/1", Is::unknown, "HundredGigE1/0/1"},  // Comware
           {"FourHundredGigabitEthernet 0/1", "", "FourHundredGigabitEthernet0/2", Is::another_port,
            "FourHundredGigabitEthernet 0/1"},  // Ruijie
           {"35700736", "1/1/c1/1, 400-Gig Ethernet", "1/1/c1/1", Is::unknown, "1/1/c1/1, 400-Gig Ethernet"}}) {
    Neighbor heard = neighbor("01", row.id);
    heard.port_description = row.description;
    const CableEnd end{"leaf01", row.planned};
    EXPECT_EQ(heard.port(), row.shown);
    EXPECT_EQ(is_end(heard, end), row.is == Is::the_port) << row.id << " " << row.planned;
    EXPECT_EQ(names_ports_otherwise(heard, end), row.is == Is::unknown) << row.id << " " << row.planned;
    EXPECT_FALSE(names_ports_otherwise(heard, {"leaf02", row.planned})) << row.id;
  }
}

TEST(Names, TheFrameOfTheSwitchBesideAnAgentInTheNic) {
  Neighbor switch_port = neighbor("01", "swp5"), agent = neighbor("02", "1");
  switch_port.netdev = agent.netdev = "ens0";
  switch_port.max_frame = 9216;
  agent.max_frame = 1518;
  EXPECT_EQ(announced_frame({switch_port, agent}, "ens0"), 9216U);
  EXPECT_EQ(announced_frame({agent, switch_port}, "ens0"), 9216U);
  EXPECT_FALSE(announced_frame({agent, switch_port}, "ens1"));
}

}  // namespace
}  // namespace fabric
