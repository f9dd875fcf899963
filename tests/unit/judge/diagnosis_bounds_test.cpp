// SPDX-License-Identifier: Apache-2.0
// Where the rules stop: evidence that looks like a culprit's and is not.
#include "support/diagnosed.h"
#include "support/ports.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

struct Bound {
  const char* what;
  std::string rule;  // the only one that speaks
  void (*plant)(Healthy&);
};

void expect_rules(
    const std::vector<Bound>& bounds, void (*in_each)(Healthy&) = [](Healthy&) {}) {
  for (const Bound& bound : bounds) {
    Healthy node;
    in_each(node);
    bound.plant(node);
    EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{bound.rule}) << bound.what << "\n" << text(ask(node));
  }
}

// mlx5, bnxt_re, irdma and hns say so of any link that is down, whoever took it down.
TEST(DiagnosisBounds, ARoceDriverCallsEveryPortWithoutALinkDisabled) {
  expect_rules({
      {"no cable", "bad-module", [](Healthy& node) { take_down(node, 3, "No cable"); }},
      {"no partner", "no-partner", [](Healthy& node) { take_down(node, 3, "Autoneg", "No partner detected"); }},
      {"no signal (hns3)", "no-partner",
       [](Healthy& node) { take_down(node, 3, "Bad signal integrity", "Serdes ALOS"); }},
      {"no light", "no-partner",
       [](Healthy& node) {
         for (ModuleLane& lane : plug(node).lanes) lane.rx_los = true, lane.rx_power.value = 0;
         take_down(node, 3);
       }},
      {"nothing is said", "not-enough-evidence", [](Healthy& node) { take_down(node, 3); }},
      {"InfiniBand", "admin-down", [](Healthy& node) { make_infiniband(node), take_down(node, 3); }},
      {"down for its errors", "damaged-link",
       [](Healthy& node) { take_down(node, 3, "Bad signal integrity", "Large number of physical errors"); }},
  });
}

// A reset takes the link and the connections; it pulls no cable and damages no frames.
TEST(DiagnosisBounds, AResetIsNoReasonForWhatItDoesNotDo) {
  expect_rules(
      {{"no cable", "bad-module", [](Healthy& node) { take_down(node, 3, "No cable"); }},
       {"laser fault", "bad-module", [](Healthy& node) { plug(node).lanes[1].tx_fault = true, lose_link(node); }},
       {"damaged frames", "damaged-link", [](Healthy& node) { grow(node, Where::ethtool, "rx_crc_errors_phy", 300); }},
       {"the link went, and frames were damaged", "device-reset",
        [](Healthy& node) { lose_link(node), grow(node, Where::ethtool, "rx_crc_errors_phy", 300); }}},
      [](Healthy& node) { ++node.now.ports[0].reporters[0].errors; });  // fw
}

// Was it the switch, or this host?
TEST(DiagnosisBounds, LinksThatThisHostMayHaveTakenDownAreNotTheSwitchs) {
  expect_rules(
      {{"the driver was loaded anew", "not-enough-evidence",
        [](Healthy& node) { node.now.ports[0].ifindex += 40, node.now.ports[1].ifindex += 40; }},
       {"two ports of one card", "not-enough-evidence",
        [](Healthy& node) { node.before.ports[1].pci = node.now.ports[1].pci = "0000:14:00.1"; }},
       {"one card in both sockets", "not-enough-evidence",
        [](Healthy& node) { node.now.topology.nics[0].card = node.now.topology.nics[1].card = "b83f:d203:0012:3450"; }},
       {"all links of this host", "not-enough-evidence",
        [](Healthy& node) { node.before.ports.resize(2), node.now.ports.resize(2); }}},
      [](Healthy& node) {
        neighbor(node, 1).system_name = neighbor(node, 0).system_name;
        lose_link(node, 0), lose_link(node, 1);
      });
}

TEST(DiagnosisBounds, WhatLooksLikeEvidenceAndIsNone) {
  expect_rules({
      {"its link is up, and the subnet manager is gone: no silent peer", "not-enough-evidence",
       [](Healthy& node) {
         make_infiniband(node);
         node.before.ports[0].state = node.now.ports[0].state = 2;
         grow(node, Where::hw, "req_transport_retries_exceeded", 8);
       }},
      {"a queue that stood still, for pause or for want of a link, is no firmware that failed", "damaged-link",
       [](Healthy& node) {
         grow(node, Where::ethtool, "rx_crc_errors_phy", 50);
         for (HealthReporter& each : node.now.ports[0].reporters)
           if (each.name == "tx") ++each.errors, ++each.recoveries;
       }},
      {"the switch has one priority more, on which this port neither sends nor receives", "loss-in-network",
       [](Healthy& node) {
         neighbor(node).pfc->enabled = PrioSet{0x18};
         for (const char* name : {"rx_prio3_bytes", "tx_prio3_bytes"}) grow(node, Where::ethtool, name, 1'000'000'000);
         for (const char* name : {"rx_prio4_bytes", "tx_prio4_bytes"}) grow(node, Where::ethtool, name, 0);
         grow(node, Where::hw, "packet_seq_err", 1000);
       }},
      {"limits out of a range whose checksum is wrong", "damaged-link",
       [](Healthy& node) {
         Transceiver& module = plug(node);
         module.tx_power_limits = module.rx_power_limits = {.high_alarm = 9, .low_alarm = 8};
         module.bad_checksums = {"page 03h bytes 128-254"};
         grow(node, Where::ethtool, "rx_crc_errors_phy", 50);
       }},
      {"one damaged frame, and the lanes of a good link, which are never alike", "not-enough-evidence",
       [](Healthy& node) {
         grow(node, Where::ethtool, "rx_pcs_symbol_err_phy", 1);
         grow(node, Where::ethtool, "rx_err_lane_0_phy", 40);
         grow(node, Where::ethtool, "rx_err_lane_1_phy", 5000);
       }},
      // At most so much, by the number of frames: a busy card that pauses for microseconds at a time looks the same.
      {"pause that is only counted", "not-enough-evidence",
       [](Healthy& node) {
         for (Node* each : {&node.before, &node.now})
           std::erase_if(each->ports[0].counters.ethtool,
                         [](const Counter& one) { return one.name.text().ends_with("pause_duration"); });
         grow(node, Where::ethtool, "rx_prio3_pause", 30'000);
         grow(node, Where::hw, "rp_cnp_handled", 5000);
       }},
      {"answers go to an address that is this host's no more", "not-enough-evidence",
       [](Healthy& node) {
         node.now.ports[0].gids.pop_back();
         grow(node, Where::hw, "req_transport_retries_exceeded", 3);
         grow(node, Where::hw, "local_ack_timeout_err", 21);
       }},
  });
}

// Connections end minutes after their link: it was down before the window began.
TEST(DiagnosisBounds, WhatALinkThatIsDownLosesIsNobodyElses) {
  for (const char* reason : {"No cable", ""}) {
    Healthy node;
    take_down(node, 2, reason);
    node.before = node.now;
    grow(node, Where::hw, "req_transport_retries_exceeded", 8);
    grow(node, Where::hw, "local_ack_timeout_err", 56);
    const Findings found = ask(node);
    EXPECT_EQ(rules_of(found), std::set<std::string>{*reason == 0 ? "not-enough-evidence" : "bad-module"})
        << text(found);
  }
}

// What RDMA counts is the bond's; the cable is a member's.
TEST(DiagnosisBounds, WhatAMembersLinkLosesIsNotTheNetworks) {
  Healthy node;
  for (Node* each : {&node.before, &node.now}) {
    Port member = each->ports[0];
    test::make_bond(each->ports[0]);
    test::make_member(member);
    member.counters.hw.clear();
    each->ports.push_back(member);
  }
  grow(node, Where::hw, "req_transport_retries_exceeded", 3);
  grow(node, Where::ethtool, "rx_crc_errors_phy", 200, node.now.ports.size() - 1);
  EXPECT_EQ(rules_of(ask(node)), (std::set<std::string>{"not-enough-evidence", "damaged-link"})) << text(ask(node));
}

// In low power nothing is lit, received or flagged rightly: neither the fibre nor the module's own laser is at fault.
TEST(DiagnosisBounds, AModuleThatNobodyWokeIsNotDark) {
  for (const ModuleState state : {ModuleState::low_power, ModuleState::powering_up, ModuleState::ready}) {
    Healthy node;
    Transceiver& module = plug(node);
    module.state = state;
    for (ModuleLane& lane : module.lanes)
      lane.rx_los = true, lane.rx_power.value = lane.tx_power.value = lane.tx_bias.value = 0;
    take_down(node, 2);
    EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"bad-module"}) << text(ask(node));
  }
  Healthy old;  // read while the module started; the link has come up since, and gone
  plug(old).state = old.before.ports[0].module->state = ModuleState::powering_up;
  take_down(old, 2);
  EXPECT_FALSE(rules_of(ask(old)).contains("bad-module")) << text(ask(old));
  Healthy flat;  // a passive cable, which never wakes
  Transceiver& cable = plug(flat);
  cable.state = ModuleState::low_power;
  cable.lanes.clear();
  take_down(flat, 2, "Autoneg", "No partner detected");
  EXPECT_EQ(rules_of(ask(flat)), std::set<std::string>{"no-partner"}) << text(ask(flat));
}

// The registers of lanes that a module does not have: 100GBASE-DR, FR1 and LR1 use the first of four.
TEST(DiagnosisBounds, LanesWithoutLasersAreNotFailedOnes) {
  Healthy node;
  take_down(node, 3);
  for (ModuleLane& lane : plug(node).lanes) {
    lane.rx_power.value = 0, lane.rx_los = true;
    if (lane.number > 1) lane.tx_power.value = lane.tx_bias.value = 0;
  }
  node.before.ports[0] = node.now.ports[0];  // down for long
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"no-partner"}) << text(ask(node));
  EXPECT_TRUE(has(text(ask(node)), "the lane in use of our module receives no light")) << text(ask(node));
  Healthy unmeasured = node;
  for (ModuleLane& lane : unmeasured.now.ports[0].module->lanes) lane.tx_power = {};
  EXPECT_EQ(rules_of(ask(unmeasured)), std::set<std::string>{"no-partner"}) << text(ask(unmeasured));
  node.now.ports[0].module->lanes[1].rx_power.value = 1e-3;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"bad-module"}) << "a laser that died" << text(ask(node));
}

// A card alone in a slot of an older generation runs as fast as the slot can.
TEST(DiagnosisBounds, ASlotThatCanDoNoMoreHasLostNothing) {
  Healthy node(1);
  Nic& nic = node.now.topology.nics[0];
  nic.link = {16, 32, 16, 16};
  for (Node* each : {&node.before, &node.now}) each->platform.functions.at(nic.bridges[0]).link = {16, 16, 16, 16};
  hold(node, 0.3);
  for (Node* each : {&node.before, &node.now}) each->ports[0].rate = 200e9 / 8;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-host"}) << text(ask(node));
  // It is too small all the same for a port that is faster.
  for (Node* each : {&node.before, &node.now}) each->ports[0].rate = 400e9 / 8;
  EXPECT_TRUE(has(text(ask(node)), "x16 at 16 GT/s (the maximum of NIC and slot), less than the port's rate, 400 Gb/s"))
      << text(ask(node));
  for (Node* each : {&node.before, &node.now})
    each->ports[0].rate = 200e9 / 8, each->platform.functions.at(nic.bridges[0]).link.max_speed = 32;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-pcie"}) << text(ask(node));
}

// The check port-state takes them as unused, whatever the policy's entry matches.
TEST(DiagnosisBounds, SecondPortsThatNobodyUsesAreQuiet) {
  for (const char* reason : {"", "No cable", "Switched off"}) {
    Healthy node;
    for (Node* each : {&node.before, &node.now})
      for (size_t i = 0; i < 4; ++i) {
        Port second = each->ports[i];
        second.rdma = "mlx5_" + std::to_string(i + 4);
        second.netdev += "np1";
        second.pci.back() = '1';
        second.state = 1;
        second.phys_state = 3;
        second.carrier = false;
        second.link_status = LinkStatus{.up = false, .reason = reason};
        each->ports.push_back(second);
      }
    EXPECT_EQ(text(ask(node)), "") << reason;
    node.before.ports[4].state = 4, node.before.ports[4].carrier = true;
    EXPECT_NE(text(ask(node)), "") << reason << ": it was used";
  }
}

// What cannot be sent is thrown away: for want of a link, of permission, of credits. None of them is this host's doing.
TEST(DiagnosisBounds, DropsOnSendingAreNotTheHostsWhereItMayNotSend) {
  const std::map<std::string, std::function<void(Healthy&)>> cases{
      {"no link for a moment", [](Healthy& node) { lose_link(node); }},
      {"held by the network", [](Healthy& node) { hold(node, 0.9, "rx"); }},
      {"no credits", [](Healthy& node) { make_infiniband(node); }},
  };
  for (const auto& [what, plant] : cases) {
    Healthy node;
    plant(node);
    grow(node, what == "no credits" ? Where::pma : Where::ethtool,
         what == "no credits" ? "port_xmit_discards" : "tx_discards_phy", 500);
    grow(node, Where::hw, "packet_seq_err", 50);
    EXPECT_FALSE(rules_of(ask(node)).contains("send-drops")) << what << "\n" << text(ask(node));
  }
}

}  // namespace
}  // namespace fabric
