// SPDX-License-Identifier: Apache-2.0
// The causes: their texts and order, their bounds, faults that leave few traces, and symptoms whose cause stays
// unknown. The fault catalogue (tests/faults) plants a fault for each rule.
#include "base/json.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/port_context.h"
#include "judge/port_state.h"
#include "support/diagnosed.h"
#include "support/ports.h"
#include "support/rules.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

// Configures the limits of a window, in [rules.ID] of its rule.
void set_window(RulePolicy& policy, std::string_view key, const WindowLimits& limits) {
  policy.by_id[std::string(find_window(key)->rule)].windows.insert_or_assign(std::string(key), limits);
}

void make_infiniband(Healthy& node) {
  for (Node* each : {&node.before, &node.now})
    for (Port& port : each->ports) {
      port.link_layer = LinkLayer::infiniband;
      port.netdev.clear();
      port.qos = {};
      port.rate = 50e9;
    }
  node.now.neighbors = {};
  node.policy.ports.clear();
}
// The counter's unit is the time for eight bytes.
void wait_for_credits(Healthy& node, double ratio) {
  grow(node, Where::pma, "port_xmit_wait", static_cast<uint64_t>(ratio * kWindow * 50e9 / 8));
}

struct Plant {
  std::string rule;
  std::function<void(Healthy&)> plant;
  std::set<std::string> subjects{"mlx5_0/1"};
};

// Less evidence than the catalogue's faults of these rules have.
std::vector<Plant> plants() {
  return {
      {"switch-restart",  // one link down each
       [](Healthy& node) {
         neighbor(node, 1).system_name = neighbor(node, 0).system_name;
         lose_link(node, 0), lose_link(node, 1);
       },
       {"mlx5_0/1", "mlx5_1/1"}},
      {"roce-unprotected",  // discards, and no loss
       [](Healthy& node) {
         node.now.ports[0].qos.pfc = PrioSet{};
         grow(node, Where::ethtool, "rx_prio3_discards", 50);
       }},
      {"roce-unprotected",  // the port's own trust, without a difference in the dry run
       [](Healthy& node) {
         node.now.ports[0].qos.trust = Trust::pcp;
         grow(node, Where::hw, "out_of_sequence", 1000);
       }},
      {"ecn-off",  // explains the pause, too
       [](Healthy& node) {
         grow(node, Where::hw, "rp_cnp_ignored", 100);
         hold(node, 0.3, "rx");
       }},
  };
}

// Like rise_since(): a counter of 32 bits wraps, a fall is a reset.
TEST(Diagnosis, TheRiseOfAMetricWrapsAndIsReset) {
  const auto rise_of = [](uint64_t was, uint64_t is) {
    Healthy node;
    node.before.ports[0].counters.hw.push_back({"RNR sent", was});
    node.now.ports[0].counters.hw.push_back({"RNR sent", is});
    const View view = node.view();  // with the rows of the counters
    for (Node* each : {&node.before, &node.now}) each->ports[0].counters.hw.back().bits = 32;
    return metric_rise(make_context(view, node.now.ports[0], Signals()), metrics::kRnrNaksSent);
  };
  EXPECT_EQ(rise_of(5, 12), 7);
  EXPECT_EQ(rise_of(0xffff'fff0, 4), 20);
  EXPECT_EQ(rise_of(1000, 4), 0) << "the driver was reloaded";
}

// After a card was replaced, its name can belong to another device.
TEST(Diagnosis, AnotherDeviceOfTheSameNameIsNotTheEarlierPort) {
  Healthy node;
  EXPECT_EQ(make_context(node.view(), node.now.ports[0], Signals()).before, &node.before.ports[0]);
  node.before.ports[0].pci = "0000:ff:00.0";
  EXPECT_EQ(make_context(node.view(), node.now.ports[0], Signals()).before, nullptr);
}

TEST(Diagnosis, LittleEvidenceIsEnoughForTheseRules) {
  for (const Plant& plant : plants()) {
    Healthy node;
    plant.plant(node);
    const Findings found = ask(node);
    EXPECT_EQ(rules_of(found), std::set<std::string>{plant.rule}) << text(found);
    std::set<std::string> subjects;
    for (const Finding& each : found) EXPECT_TRUE(subjects.insert(each.subject).second) << "twice: " << text(found);
    EXPECT_EQ(subjects, plant.subjects) << plant.rule << "\n" << text(found);
  }
}

// A site that suppresses the early warning, or switches its windows off, still wants the cause of its losses.
TEST(Diagnosis, ACheckThatIsOffHidesNoCause) {
  using ChangeRules = void (*)(RulePolicy&);
  constexpr ChangeRules kChanges[]{[](RulePolicy&) {},
                                   [](RulePolicy& rules) { rules.by_id["unprotected-traffic"].enabled = false; },
                                   [](RulePolicy& rules) { set_window(rules, "unprotected_sent", {}); }};
  for (const ChangeRules change : kChanges) {
    Healthy node;
    change(node.policy.rules);
    grow(node, Where::ethtool, "tx_vport_rdma_unicast_bytes", 20'000'000'000);
    grow(node, Where::ethtool, "tx_prio0_bytes", 20'000'000'000);
    grow(node, Where::ethtool, "tx_prio3_bytes", 1'000'000);
    grow(node, Where::hw, "packet_seq_err", 1000);
    const Findings found = ask(node);
    EXPECT_TRUE(rules_of(found).contains("roce-unprotected")) << text(found);
  }
}

// The firmware forgot LINK_TYPE: nothing configures the new netdev, and bringing it up gives it no link.
TEST(Diagnosis, APortThatLostItsLinkLayerIsNotJustSwitchedOff) {
  Healthy node;
  for (Node* each : {&node.before, &node.now})
    for (size_t i = 0; i < each->ports.size(); ++i) {
      each->ports[i].pci_id = "15b3:1021";
      if (i > 0) each->ports[i].link_layer = LinkLayer::infiniband;
    }
  take_down(node, kPhysDisabled, kSwitchedOff.data());
  const Findings found = ask(node);
  ASSERT_EQ(rules_of(found), std::set<std::string>{"port-state"}) << text(found);
  EXPECT_EQ(found[0].culprit, Culprit::host);
  EXPECT_TRUE(has(found[0].meaning, "link layer")) << found[0].meaning;
}

// A fault that many links have at once is not of their cables.
TEST(Diagnosis, ChecksOfLinksSayWhatTheyHaveInCommon) {
  using Worsen = void (*)(Healthy&, size_t);
  constexpr std::pair<const char*, Worsen> kFaults[]{
      {"link-flap", [](Healthy& node, size_t port) { lose_link(node, port); }},
      {"pre-fec-ber",
       [](Healthy& node, size_t port) { grow(node, Where::ethtool, "rx_corrected_bits_phy", 400'000'000, port); }}};
  for (const auto& each : kFaults) {
    const std::string check = each.first;
    const Worsen worsen = each.second;
    Healthy node;
    node.now.taken = node.before.taken + std::chrono::seconds(static_cast<int>(kWindow));
    const auto found = [&] { return describe(complaints_of(node.view(), {check})); };
    worsen(node, 0), worsen(node, 1);
    EXPECT_TRUE(has(found(), check) && !has(found(), "other link")) << found();
    worsen(node, 2);
    EXPECT_TRUE(has(found(), "2 other links") && has(found(), "than their cables")) << found();
  }
}

std::string steps_of(const Finding& finding) {
  std::string out;
  for (const Fix& each : finding.fix)
    for (const Step& step : each.steps) out += step.text + "\n";
  return out;
}

// InfiniBand has neither pause frames nor the switches' ECN marks of RoCE.
TEST(Diagnosis, APortWithoutCreditsIsNotSentToEthernet) {
  Healthy node;
  make_infiniband(node);
  wait_for_credits(node, 0.7);
  const Findings found = ask(node);
  ASSERT_EQ(rules_of(found), std::set<std::string>{"paused-by-network"}) << text(found);
  const std::string steps = steps_of(found[0]);
  EXPECT_TRUE(has(steps, "PortXmitWait") && !has(steps, "pause") && !has(steps, "ECN")) << steps;
  EXPECT_TRUE(has(found[0].meaning, "credits")) << found[0].meaning;
}

TEST(Diagnosis, ANicThatWaitsForPcieNamesItsSmallReadRequests) {
  Healthy node;
  grow(node, Where::ethtool, "outbound_pci_stalled_rd_events", 6);
  EXPECT_FALSE(has(text(ask(node)), "pci-tuning")) << text(ask(node));
  node.now.pci_settings->functions.at(node.now.ports[0].pci).mrrs = 512;
  const Findings found = ask(node);
  ASSERT_EQ(rules_of(found), std::set<std::string>{"slow-pcie"}) << text(found);
  EXPECT_TRUE(has(text(found), "MRRS 512") && has(steps_of(found[0]), "Set MRRS")) << text(found) << steps_of(found[0]);
}

// Each port of a switch on the path redirects; the commands for all of them are one step.
TEST(Diagnosis, RedirectsOfAcsOnAPathAreOneLine) {
  Healthy node;
  hold(node, 0.3);
  for (const std::string& bridge : node.now.topology.nics[0].bridges)
    node.now.pci_settings->functions.at(bridge).acs = uint16_t{kAcsRequestRedirect};
  for (const std::string& bridge : node.now.topology.gpus[0].bridges)
    node.now.pci_settings->functions.at(bridge).acs = uint16_t{kAcsRequestRedirect};
  const Findings found = ask(node);
  ASSERT_EQ(rules_of(found), std::set<std::string>{"slow-pcie"}) << text(found);
  const std::string steps = steps_of(found[0]);
  EXPECT_TRUE(has(steps, "--only acs") && !has(steps, "setpci")) << steps;
}

// The transport of EFA sends again over other paths: what no peer answers is no loss of the network.
TEST(Diagnosis, APeerOfEfaThatStoppedAnsweringIsNamed) {
  Healthy node;
  for (Node* each : {&node.before, &node.now}) each->ports[0].kernel_driver = "efa";
  grow(node, Where::hw, "unresponsive_remote_events", 35);
  grow(node, Where::hw, "retrans_timeout_events", 900);
  const Findings found = ask(node);
  EXPECT_EQ(rules_of(found), std::set<std::string>{"far-end"}) << text(found);
  EXPECT_NE(text(found).find("peers that stopped answering +35"), std::string::npos) << text(found);
}

// A fault that the operator knows and has suppressed does not come back as a symptom without a cause.
TEST(Diagnosis, ASuppressedRuleStillExplainsItsPort) {
  using PlantFault = void (*)(Healthy&);
  constexpr std::pair<const char*, PlantFault> kFaults[]{
      {"port-state", [](Healthy& node) { take_down(node, kPhysDisabled); }},
      {"admin-down", [](Healthy& node) { take_down(node, kPhysDisabled, kSwitchedOff.data()); }},
      {"ecn-off", [](Healthy& node) {
         grow(node, Where::hw, "rp_cnp_ignored", 100);
         hold(node, 0.3, "rx");
       }}};
  for (const auto& [rule, plant] : kFaults) {
    Healthy node;
    plant(node);
    const auto ids = [&](bool suppressed) {
      std::set<std::string> out;
      for (const Finding& each : run_rules(node.view()).findings)
        if (each.culprit && each.suppressed == suppressed) out.insert(each.id);
      return out;
    };
    std::set<std::string> others = ids(false);
    ASSERT_TRUE(others.contains(rule)) << rule;
    others.erase(rule);
    node.policy.rules.by_id[rule].enabled = false;
    EXPECT_EQ(ids(false), others) << rule;
    EXPECT_EQ(ids(true), std::set<std::string>{rule});
  }
}

TEST(Diagnosis, EveryRuleHasItsTexts) {
  std::set<std::string_view> ids;
  for (const Rule& rule : test::causes()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_TRUE(rule.title.ends_with('.')) << rule.id;
    EXPECT_TRUE(rule.meaning.ends_with('.')) << rule.id;
    EXPECT_TRUE(rule.excludes.ends_with('.')) << rule.id;
    EXPECT_FALSE(rule.fix.empty()) << rule.id;
    EXPECT_FALSE(rule.explains.empty()) << rule.id;
    EXPECT_EQ(rule.culprit == Culprit::none, rule.status == Status::ok) << rule.id;
  }
  // Each is in the order of cause.cpp.
  EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(rules(), &Rule::is_cause)), ids.size() + 1);
  EXPECT_NE(find_rule("not-enough-evidence"), nullptr);
  EXPECT_EQ(find_rule("nobody"), nullptr);
}

// FabricCulprit excludes some rules by id; a wrong id would exclude nothing.
TEST(Diagnosis, TheAlertsNameRulesThatExist) {
  const std::string alerts = test::of_source("etc/prometheus/fabric-agent.rules.yml");
  const std::regex named(R"re(fabric_diagnosis\{[^}]*rule!~"([^"]+)")re");
  size_t count = 0;
  for (std::sregex_iterator at(alerts.begin(), alerts.end(), named), end; at != end; ++at, ++count) {
    const std::string ids = (*at)[1].str();
    for (const std::string_view id : split(ids, '|')) EXPECT_NE(find_rule(id), nullptr) << id;
  }
  EXPECT_EQ(count, 1u);
}

// Amounts below the limits of the windows are no symptoms.
TEST(Diagnosis, AFewEventsAreNoSymptom) {
  Healthy node;
  grow(node, Where::ethtool, "rx_prio3_discards", 3);
  grow(node, Where::ethtool, "rx_prio0_discards", 7);  // a lossy priority may lose
  grow(node, Where::ethtool, "outbound_pci_buffer_overflow", 3);
  for (Node* each : {&node.before, &node.now})
    each->platform.functions.at(node.now.topology.nics[0].pci).link = {32, 32, 16, 16};
  *node.now.platform.functions.at(node.now.topology.nics[0].pci).correctable.total += 3;  // 5 in ten seconds are 1e-12
  EXPECT_EQ(text(ask(node)), "");
  *node.now.platform.functions.at(node.now.topology.nics[0].pci).correctable.total += 3;
  EXPECT_TRUE(has(text(ask(node)), "slow-pcie"));
}

TEST(Diagnosis, NeitherAQuietMachineNorASingleReadingHasCauses) {
  Healthy node;
  EXPECT_EQ(text(ask(node)), "");
  EXPECT_TRUE(diagnose(node.view()).empty());
}

// Its physical function, on the host, counts the errors of the link.
TEST(Diagnosis, AFunctionSeesNoErrorsOfALink) {
  Healthy node;
  for (Node* each : {&node.before, &node.now}) each->ports[0].role = PortRole::guest_function;
  grow(node, Where::hw, "packet_seq_err", 500);
  const std::string all = text(ask(node));
  EXPECT_TRUE(has(all, "counted by its physical function alone")) << all;
  EXPECT_FALSE(has(all, "no receive errors")) << all;
}

// Symptoms without the evidence that identifies the cause.
TEST(Diagnosis, TooLittleEvidenceBlamesNobody) {
  const std::map<std::string, std::function<void(Healthy&)>> cases{
      {"discards, and the switch was never heard",
       [](Healthy& node) {
         node.now.neighbors.heard.clear();
         grow(node, Where::ethtool, "rx_prio3_discards", 50);
       }},
      {"one damaged frame", [](Healthy& node) { grow(node, Where::ethtool, "rx_crc_errors_phy", 1); }},
      {"the link went down and came up again without a reason", [](Healthy& node) { lose_link(node); }},
      {"loss on a card that does not count its discards",
       [](Healthy& node) {
         for (Node* each : {&node.before, &node.now})
           each->ports[0].counters = {.hw = {{"packet_seq_err", 1}}, .pma = {}, .ethtool = {}, .carrier_down = {}};
         node.now.neighbors.heard.clear();
         grow(node, Where::hw, "packet_seq_err", 500);
       }},
      {"paused by a network whose marks the driver does not count",
       [](Healthy& node) {
         for (Node* each : {&node.before, &node.now}) each->ports[0].counters.hw.clear();
         hold(node, 0.4, "rx");
       }},
      {"no credits on a link that trains anew",
       [](Healthy& node) {
         make_infiniband(node);
         wait_for_credits(node, 0.06);
         grow(node, Where::pma, "link_error_recovery", 1);
       }},
  };
  for (const auto& [what, plant] : cases) {
    Healthy node;
    plant(node);
    const Findings found = ask(node);
    ASSERT_EQ(found.size(), 1u) << what << "\n" << text(found);
    EXPECT_EQ(found[0].id, "not-enough-evidence") << what << "\n" << text(found);
    EXPECT_EQ(found[0].culprit, Culprit::unknown) << what;
    EXPECT_FALSE(found[0].certainty) << what;
    EXPECT_FALSE(found[0].next.empty()) << what << ": what to collect";
  }
}

// RoCE's priorities are those with PFC at the port, else by the policy, else at the switch, which often has it on one
// priority more.
TEST(Diagnosis, RocesPrioritiesWithoutCongestionControl) {
  Healthy node;
  Port& port = node.now.ports[0];
  const auto missing = [&] {
    const View view = node.view();
    const Signals none;
    return without_congestion_control(make_context(view, port, none), PrioSet{});
  };
  port.qos.pfc = PrioSet{0x20};
  neighbor(node).pfc->enabled = PrioSet{0x18};
  EXPECT_EQ(missing(), PrioSet{0x20});
  PortPolicy entry;
  entry.want.pfc = PrioSet{0x08};
  node.policy.ports = {entry};
  port.qos.pfc = PrioSet{};
  EXPECT_EQ(missing(), PrioSet{0x08});
  node.policy.ports.front().fabric.kind = FabricKind::lossy;
  node.policy.ports.front().want.pfc = PrioSet{};
  node.policy.ports.front().traffic = Mark{26, 3};
  EXPECT_EQ(missing(), PrioSet{0x08}) << "no PFC on a lossy fabric";
  node.policy.ports.clear();
  EXPECT_EQ(missing(), PrioSet{0x18});
}

TEST(Diagnosis, EveryPortThatPortStateReportsHasOne) {
  for (const bool infiniband : {false, true})
    for (unsigned state = 1; state <= 5; ++state)
      for (unsigned phys_state = 1; phys_state <= 7; ++phys_state) {
        Healthy node;
        if (infiniband) make_infiniband(node);
        for (Node* each : {&node.before, &node.now})
          each->ports[0].state = state, each->ports[0].phys_state = phys_state;
        const Findings found = ask(node);
        const auto fault = port_state_fault(node.view(), node.now.ports[0]);
        ASSERT_EQ(found.size(), fault ? 1u : 0u) << infiniband << state << phys_state << text(found);
        if (fault && found[0].id == "not-enough-evidence") EXPECT_EQ(found[0].status, Status::unknown) << text(found);
        if (!fault || state != 1) continue;
        EXPECT_NE(found[0].id, "not-enough-evidence") << "a port that is down names cable, peer or this host";
      }
}

// The culprit is unknown then, and the check of the port says so: no second finding beside it.
TEST(Diagnosis, OfSeveralPortsThatAreDownEachHasOneFinding) {
  for (const char* reason : {"", "BMC request down", "Switched off"}) {
    Healthy node;
    for (Node* each : {&node.before, &node.now})
      for (size_t port = 0; port < 3; ++port) {
        each->ports[port].state = 1, each->ports[port].phys_state = 2;
        each->ports[port].link_status = LinkStatus{.up = false, .reason = reason};
      }
    const Findings causes = ask(node);
    EXPECT_EQ(causes.size(), 3U) << reason << "\n" << text(causes);
    const bool has_reason = *reason != 0;
    for (const Finding& each : causes) {
      EXPECT_NE(each.id, "not-enough-evidence") << reason << "\n" << text(causes);
      EXPECT_EQ(each.culprit, has_reason ? Culprit::host : Culprit::unknown) << reason << "\n" << text(causes);
      EXPECT_EQ(has(each.observed, "3 ports of this host are down"), !has_reason) << each.observed;
      EXPECT_FALSE(each.next.empty());
    }
    const Report report = run_rules(node.view(), {});
    EXPECT_FALSE(contains(report.findings, "not-enough-evidence", &Finding::id)) << reason;
    for (size_t port = 0; port < 3; ++port) {
      const Finding* check = find_where(report.findings, [&](const Finding& each) {
        return each.id == "port-state" && each.subject == node.now.ports[port].id();
      });
      ASSERT_NE(check, nullptr);
      EXPECT_NE(check->status, Status::ok);
      if (!has_reason) EXPECT_EQ(check->culprit, Culprit::unknown);
    }
  }
}

// Two links go to one switch; one of them flaps, and so does a link to another switch.
TEST(Diagnosis, ALinkThatDoesNotFlapAloneIsNotBlamedOnItsCable) {
  Healthy node;
  neighbor(node, 1).system_name = neighbor(node, 0).system_name;
  for (const size_t port : {0u, 2u}) *node.now.ports[port].counters.carrier_down += 3;
  for (const Finding& each : ask(node)) EXPECT_EQ(each.id, "not-enough-evidence") << text({each});
}

TEST(Diagnosis, WaitingForCreditsIsJudgedWhereItsTickIsKnown) {
  Healthy other;
  make_infiniband(other);
  for (Node* each : {&other.before, &other.now}) each->ports[0].kernel_driver = "hfi1";
  wait_for_credits(other, 0.06);
  EXPECT_EQ(text(ask(other)), "") << "the tick of another vendor is unknown";
  Healthy little;
  make_infiniband(little);
  wait_for_credits(little, 0.03);
  EXPECT_EQ(text(ask(little)), "");
  Healthy full;
  make_infiniband(full);
  for (Node* each : {&full.before, &full.now})
    counter(each->ports[0], Where::pma, "port_xmit_wait").value = 0xffff'ffff;
  EXPECT_EQ(text(ask(full)), "") << "a counter at its maximum counts no more";
  Healthy ethernet;
  ethernet.now.ports[0].rate = 50e9;
  wait_for_credits(ethernet, 0.06);
  EXPECT_EQ(text(ask(ethernet)), "") << "Ethernet has no credits";
}

TEST(Diagnosis, TwoFaultsOfOnePortAreBothNamed) {
  Healthy node;
  neighbor(node).pfc->enabled = PrioSet{};
  grow(node, Where::ethtool, "rx_prio3_discards", 50);
  node.now.topology.nics[0].link.width = 8;
  hold(node, 0.4);
  std::set<std::string> found;
  for (const Finding& each : ask(node)) found.insert(each.id);
  EXPECT_EQ(found, (std::set<std::string>{"pfc-off-switch", "slow-pcie"}));
}

// The switch is not known, so that the headroom is not proven to be the cause.
TEST(Diagnosis, APortThatPausesAndDiscardsIsNoNetworkThatWorks) {
  Healthy node;
  node.now.neighbors = {};
  hold(node, 0.09);
  hold(node, 0.03, "rx");
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"busy-network"});
  grow(node, Where::ethtool, "rx_prio3_discards", 50);
  EXPECT_FALSE(rules_of(ask(node)).contains("busy-network")) << text(ask(node));
}

// SONiC announces an alias as the port id; its commands take the name in the description.
TEST(Diagnosis, TheCommandsOfTheSwitchNameItsPort) {
  for (const auto& [system, id, description, command] :
       {std::tuple("SONiC Software Version: SONiC.4.2.1", "etp7", "Ethernet48", "show queue counters Ethernet48;"),
        std::tuple("SONiC Software Version: SONiC.4.2.1", "Eth1/7", "to gpu01", "show queue counters Eth1/7;"),
        std::tuple("Arista Networks EOS version 4.32", "Ethernet7/1", "Ethernet7/1",
                   "interfaces Ethernet7/1 counters")}) {
    Healthy node;
    neighbor(node).pfc->enabled = PrioSet{};
    neighbor(node).system_description = system;
    neighbor(node).port_id = id;
    neighbor(node).port_description = description;
    grow(node, Where::ethtool, "rx_prio3_discards", 50);
    const auto found = ask(node);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(has(found[0].next.back(), command)) << found[0].next.back();
  }
}

// Equal ports of other cards have a link, and the port serves a GPU: port-state reports it, too.
TEST(Diagnosis, ThePortOfAGpuWithoutACableIsReported) {
  for (const char* reason : {"No cable", "Switched off"}) {
    Healthy node;
    node.policy.ports.clear();
    node.policy.cabling.cables.clear();
    for (Node* each : {&node.before, &node.now}) {
      each->ports[0].state = 1;
      each->ports[0].carrier = false;
      each->ports[0].link_status = LinkStatus{.up = false, .reason = reason};
    }
    EXPECT_TRUE(has(text(ask(node)), "mlx5_0/1")) << text(ask(node));
  }
}

// Nobody walks to a rack before the two ends were read.
TEST(Diagnosis, WhatCanBeReadComesBeforeWhatIsMoved) {
  Healthy node;
  take_down(node, 2);  // Polling
  node.now.ports[0].module.reset();
  const auto found = ask(node);
  ASSERT_EQ(found.size(), 1U) << text(found);
  const auto place = [&](const char* part) {
    const auto step = std::ranges::find_if(found[0].next, [&](const std::string& each) { return has(each, part); });
    EXPECT_NE(step, found[0].next.end()) << part << " in\n" << text(found);
    return step - found[0].next.begin();
  };
  EXPECT_LT(place("Measure on"), place("Read the module"));
  EXPECT_LT(place("Read the module"), place("eseat or replace"));
}

TEST(Diagnosis, JsonHasAllMembers) {
  Healthy node;
  hold(node, 0.3);
  const std::string json = causes_json(Report{ask(node)}).dump();
  for (const char* part : {"\"port\"", "\"mlx5_0/1\"", "\"slow-host\"", "\"host\"", "\"warning\"", "\"certainty\"",
                           "PFC pause sent, priority 3: 30 % of the time"})
    EXPECT_TRUE(has(json, part)) << part << "\n" << json;
}

// -- Bounds: evidence that resembles that of a cause and does not prove it

struct Bound {
  const char* what;
  std::string rule;  // the only one that is reported
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

// mlx5, bnxt_re, irdma and hns report the physical state Disabled for any link that is down.
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
      {"no reason", "port-state", [](Healthy& node) { take_down(node, 3); }},
      {"InfiniBand", "admin-down", [](Healthy& node) { make_infiniband(node), take_down(node, 3); }},
      {"down for its errors", "damaged-link",
       [](Healthy& node) { take_down(node, 3, "Bad signal integrity", "Large number of physical errors"); }},
  });
}

// A reset of the firmware ends the link and the connections; it pulls no cable and damages no frames.
TEST(DiagnosisBounds, AResetExplainsOnlyItsConsequences) {
  expect_rules(
      {{"no cable", "bad-module", [](Healthy& node) { take_down(node, 3, "No cable"); }},
       {"laser fault", "bad-module", [](Healthy& node) { plug(node).lanes[1].tx_fault = true, lose_link(node); }},
       {"damaged frames", "damaged-link", [](Healthy& node) { grow(node, Where::ethtool, "rx_crc_errors_phy", 300); }},
       {"the link went down, and frames were damaged", "device-reset",
        [](Healthy& node) { lose_link(node), grow(node, Where::ethtool, "rx_crc_errors_phy", 300); }}},
      [](Healthy& node) { ++node.now.ports[0].reporters[0].errors; });  // fw
}

// Two links to one switch go down together.
TEST(DiagnosisBounds, LinksThatThisHostMayHaveTakenDownAreNotBlamedOnTheSwitch) {
  expect_rules(
      {{"the driver was loaded again", "not-enough-evidence",
        [](Healthy& node) { node.now.ports[0].ifindex += 40, node.now.ports[1].ifindex += 40; }},
       {"two ports of one card", "not-enough-evidence",
        [](Healthy& node) { node.before.ports[1].pci = node.now.ports[1].pci = "0000:14:00.1"; }},
       {"one card with a function at each socket", "not-enough-evidence",
        [](Healthy& node) { node.now.topology.nics[0].card = node.now.topology.nics[1].card = "b83f:d203:0012:3450"; }},
       {"all links of this host", "not-enough-evidence",
        [](Healthy& node) { node.before.ports.resize(2), node.now.ports.resize(2); }}},
      [](Healthy& node) {
        neighbor(node, 1).system_name = neighbor(node, 0).system_name;
        lose_link(node, 0), lose_link(node, 1);
      });
}

TEST(DiagnosisBounds, EvidenceThatProvesNothing) {
  expect_rules({
      {"the link is up, and the subnet manager is gone: no dead peer", "port-state",
       [](Healthy& node) {
         make_infiniband(node);
         node.before.ports[0].state = node.now.ports[0].state = 2;
         grow(node, Where::hw, "req_transport_retries_exceeded", 8);
       }},
      {"the link is just lost (ACTIVE_DEFER): no dead peer", "not-enough-evidence",
       [](Healthy& node) {
         make_infiniband(node);
         node.before.ports[0].state = node.now.ports[0].state = 5;
         grow(node, Where::hw, "req_transport_retries_exceeded", 8);
       }},
      {"a queue that hung, because of pause or a missing link, is no failure of the firmware", "damaged-link",
       [](Healthy& node) {
         grow(node, Where::ethtool, "rx_crc_errors_phy", 50);
         for (HealthReporter& each : node.now.ports[0].reporters)
           if (each.name == "tx") ++each.errors, ++each.recoveries;
       }},
      {"the switch has PFC on one priority more, which this port does not use", "loss-in-network",
       [](Healthy& node) {
         neighbor(node).pfc->enabled = PrioSet{0x18};
         for (const char* name : {"rx_prio3_bytes", "tx_prio3_bytes"}) grow(node, Where::ethtool, name, 1'000'000'000);
         for (const char* name : {"rx_prio4_bytes", "tx_prio4_bytes"}) grow(node, Where::ethtool, name, 0);
         grow(node, Where::hw, "packet_seq_err", 1000);
       }},
      {"limits of the module from a page with a wrong checksum", "damaged-link",
       [](Healthy& node) {
         Transceiver& module = plug(node);
         module.tx_power_limits = module.rx_power_limits = {.high_alarm = 9, .low_alarm = 8};
         module.bad_checksums = {"page 03h bytes 128-254"};
         grow(node, Where::ethtool, "rx_crc_errors_phy", 50);
       }},
      {"one damaged frame, and lanes as unequal as those of a good link", "not-enough-evidence",
       [](Healthy& node) {
         grow(node, Where::ethtool, "rx_pcs_symbol_err_phy", 1);
         grow(node, Where::ethtool, "rx_err_lane_0_phy", 40);
         grow(node, Where::ethtool, "rx_err_lane_1_phy", 5000);
       }},
      // The number of frames gives only the longest possible pause: many pauses of microseconds look the same.
      {"pause frames without their duration", "not-enough-evidence",
       [](Healthy& node) {
         for (Node* each : {&node.before, &node.now})
           std::erase_if(each->ports[0].counters.ethtool,
                         [](const Counter& one) { return one.name.text().ends_with("pause_duration"); });
         grow(node, Where::ethtool, "rx_prio3_pause", 30'000);
         grow(node, Where::hw, "rp_cnp_handled", 5000);
       }},
      {"responses go to an address that this host no longer has", "not-enough-evidence",
       [](Healthy& node) {
         node.now.ports[0].gids.pop_back();
         grow(node, Where::hw, "req_transport_retries_exceeded", 3);
         grow(node, Where::hw, "local_ack_timeout_err", 21);
       }},
  });
}

// Connections end minutes after their link, which was down before the window began.
TEST(DiagnosisBounds, ALinkThatIsDownExplainsItsBrokenConnections) {
  for (const char* reason : {"No cable", ""}) {
    Healthy node;
    take_down(node, 2, reason);
    node.before = node.now;
    grow(node, Where::hw, "req_transport_retries_exceeded", 8);
    grow(node, Where::hw, "local_ack_timeout_err", 56);
    const Findings found = ask(node);
    EXPECT_EQ(rules_of(found), std::set<std::string>{*reason == 0 ? "port-state" : "bad-module"}) << text(found);
  }
}

// The RDMA counters belong to the bond, the cable to a member.
TEST(DiagnosisBounds, LossesOfAMembersLinkAreNotBlamedOnTheNetwork) {
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

TEST(DiagnosisBounds, AMemberWithoutALinkNamesItsCable) {
  Healthy node;
  for (Node* each : {&node.before, &node.now}) {
    Port member = each->ports[0];
    test::make_bond(each->ports[0]);
    test::make_member(member);
    each->ports.push_back(member);
  }
  node.now.ports.back().carrier = false;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"port-state"}) << text(ask(node));
}

// In low power a module sends and receives no light, and its flags mean nothing: neither the fiber nor its laser is at
// fault.
TEST(DiagnosisBounds, AModuleInLowPowerIsNotDark) {
  for (const ModuleState state : {ModuleState::low_power, ModuleState::powering_up, ModuleState::ready}) {
    Healthy node;
    Transceiver& module = plug(node);
    module.state = state;
    for (ModuleLane& lane : module.lanes)
      lane.rx_los = true, lane.rx_power.value = lane.tx_power.value = lane.tx_bias.value = 0;
    take_down(node, 2);
    EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"bad-module"}) << text(ask(node));
  }
  Healthy old;  // read while the module started; the link came up and went down since
  plug(old).state = old.before.ports[0].module->state = ModuleState::powering_up;
  take_down(old, 2);
  EXPECT_FALSE(rules_of(ask(old)).contains("bad-module")) << text(ask(old));
  Healthy flat;  // a passive cable: always in low power
  Transceiver& cable = plug(flat);
  cable.state = ModuleState::low_power;
  cable.lanes.clear();
  take_down(flat, 2, "Autoneg", "No partner detected");
  EXPECT_EQ(rules_of(ask(flat)), std::set<std::string>{"no-partner"}) << text(ask(flat));
}

// 100GBASE-DR, FR1 and LR1 use the first of four lanes.
TEST(DiagnosisBounds, LanesWithoutALaserHaveNotFailed) {
  Healthy node;
  take_down(node, 3);
  for (ModuleLane& lane : plug(node).lanes) {
    lane.rx_power.value = 0, lane.rx_los = true;
    if (lane.number > 1) lane.tx_power.value = lane.tx_bias.value = 0;
  }
  node.before.ports[0] = node.now.ports[0];  // down for a long time
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"no-partner"}) << text(ask(node));
  EXPECT_TRUE(has(text(ask(node)), "the lane in use of our module receives no light")) << text(ask(node));
  Healthy unmeasured = node;
  for (ModuleLane& lane : unmeasured.now.ports[0].module->lanes) lane.tx_power = {};
  EXPECT_EQ(rules_of(ask(unmeasured)), std::set<std::string>{"no-partner"}) << text(ask(unmeasured));
  node.now.ports[0].module->lanes[1].rx_power.value = 1e-3;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"bad-module"}) << "a laser that died" << text(ask(node));
}

// A NIC in a slot of an older generation runs as fast as the slot can.
TEST(DiagnosisBounds, ASlotAtItsMaximumHasLostNothing) {
  Healthy node(1);
  Nic& nic = node.now.topology.nics[0];
  nic.link = {16, 32, 16, 16};
  for (Node* each : {&node.before, &node.now}) each->platform.functions.at(nic.bridges[0]).link = {16, 16, 16, 16};
  hold(node, 0.3);
  for (Node* each : {&node.before, &node.now}) each->ports[0].rate = 200e9 / 8;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-host"}) << text(ask(node));
  // For a faster port the slot is too slow.
  for (Node* each : {&node.before, &node.now}) each->ports[0].rate = 400e9 / 8;
  EXPECT_TRUE(has(text(ask(node)), "pcie mlx5_0: x16 at 16 GT/s: at most 252 of 400 Gb/s; expected x16 at 32 GT/s"))
      << text(ask(node));
  EXPECT_TRUE(has(text(ask(node)), "is slower than the network port (400 Gb/s)")) << text(ask(node));
  for (Node* each : {&node.before, &node.now})
    each->ports[0].rate = 200e9 / 8, each->platform.functions.at(nic.bridges[0]).link.max_speed = 32;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-pcie"}) << text(ask(node));
}

// A ConnectX-8 of GB300: 800 Gb/s, and 16 lanes of 32 GT/s to the CPU. Data of GPU memory have a way of their own.
TEST(DiagnosisBounds, AFullSlotExplainsThePause) {
  const auto said_at = [](double received, bool direct) {  // bytes per second
    Healthy node(1);
    Nic& nic = node.now.topology.nics[0];
    if (direct) nic.device = 0x1023;
    nic.link = {32, 32, 16, 16};
    for (Node* each : {&node.before, &node.now}) each->ports[0].rate = 800e9 / 8;
    hold(node, 0.45);
    grow(node, Where::ethtool, "rx_prio3_bytes", static_cast<uint64_t>(received * kWindow));
    EXPECT_TRUE(complaints_of(node.view(), {"pcie"}).empty()) << "the slot is the design";
    const Findings found = ask(node);
    EXPECT_EQ(rules_of(found), std::set<std::string>{"slow-host"}) << text(found);
    EXPECT_EQ(found.at(0).certainty, received < 40e9 || !direct ? Certainty::certain : Certainty::likely);
    EXPECT_FALSE(has(text(found), "do not explain it")) << text(found);
    return text(found) + found.at(0).meaning + found.at(0).remedy;
  };
  for (const bool direct : {true, false}) {
    const std::string full = said_at(55e9, direct);
    EXPECT_TRUE(has(full,
                    "x16 at 32 GT/s) carries less into host memory than its port has: at most 504 of 800 Gb/s; "
                    "received: 440 Gb/s"))
        << full;
    EXPECT_TRUE(has(full, "faster than the PCIe slot")) << full;
    EXPECT_EQ(has(full, "Data Direct"), direct) << full;
  }
  const std::string bursts = said_at(12.5e9, true);
  EXPECT_TRUE(has(bursts, "received: 100 Gb/s on average")) << bursts;
  EXPECT_FALSE(has(bursts, "faster than the PCIe slot")) << bursts;
}

// RNR NAKs that are no symptom, because most packets found a receive, are evidence beside losses.
TEST(DiagnosisBounds, LateReceiversAreNamedBesideLosses) {
  Healthy node(1);
  grow(node, Where::ethtool, "tx_vport_rdma_unicast_packets", 10'000'000);
  grow(node, Where::hw, "rnr_nak_retry_err", 1543);
  EXPECT_TRUE(ask(node).empty()) << text(ask(node));
  grow(node, Where::hw, "local_ack_timeout_err", 15);
  grow(node, Where::hw, "req_transport_retries_exceeded", 19);
  const Findings silent = ask(node);
  EXPECT_EQ(rules_of(silent), std::set<std::string>{"far-end"}) << text(silent);
  EXPECT_TRUE(has(text(silent), "RNR NAKs received +1543 (154 a second)")) << text(silent);
  EXPECT_TRUE(has(text(silent), "is alive")) << text(silent);
  grow(node, Where::hw, "packet_seq_err", 1000);
  const Findings lossy = ask(node);
  EXPECT_EQ(rules_of(lossy), std::set<std::string>{"loss-in-network"}) << text(lossy);
  EXPECT_TRUE(has(text(lossy), "RNR NAKs received +1543 (154 a second)")) << text(lossy);
  grow(node, Where::hw, "rnr_nak_retry_err", 50);  // fewer than ten a second
  EXPECT_FALSE(has(text(ask(node)), "RNR")) << text(ask(node));
}

// Selective retransmission sends a lost packet again, and nothing else.
TEST(DiagnosisBounds, ALossyFabricIsJudgedByTheShareOfItsLosses) {
  for (const char* counter : {"packet_seq_err", "out_of_sequence"})
    for (const auto& [lost, status] : {std::pair(50'000, Status::warning), {4'000'000, Status::critical}}) {
      Healthy node(1);
      node.policy.ports.front().fabric.kind = FabricKind::lossy;
      grow(node, Where::ethtool, "tx_vport_rdma_unicast_packets", 10'000'000);
      grow(node, Where::ethtool, "rx_vport_rdma_unicast_packets", 10'000'000);
      grow(node, Where::hw, counter, static_cast<uint64_t>(lost));
      const Findings found = ask(node);
      ASSERT_EQ(rules_of(found), std::set<std::string>{"loss-in-network"}) << counter << " " << text(found);
      EXPECT_EQ(found[0].status, status) << counter << " +" << lost;
    }
}

// Global pause is not called PFC, and its step is to turn it off.
TEST(DiagnosisBounds, GlobalPauseWithoutPfcIsTurnedOff) {
  Healthy node(1);
  for (Node* each : {&node.before, &node.now}) each->ports[0].qos.pfc = PrioSet{};
  grow(node, Where::ethtool, "rx_global_pause", 400'000);
  grow(node, Where::ethtool, "rx_global_pause_duration", 20'000'000);
  const std::string said = text(ask(node));
  EXPECT_TRUE(has(said, "global pause received: ")) << said;
  const std::vector<Finding> found = ask(node);
  ASSERT_EQ(found.size(), 1u) << said;
  EXPECT_TRUE(has(found[0].remedy, "ethtool -A ens0 rx off tx off")) << found[0].remedy;
  EXPECT_TRUE(has(found[0].remedy, ": global pause frames, queue drops")) << found[0].remedy;
}

// The state Disabled of an InfiniBand port that never had a link does not prove that it was disabled on purpose.
TEST(DiagnosisBounds, ADisabledPortThatNeverHadALinkMayHaveNoCable) {
  Healthy node;
  make_infiniband(node), take_down(node, 3);
  node.now.ports[0].gids.clear();
  node.now.ports[0].counters.pma.clear();
  node.now.ports[0].counters.carrier_down.reset();
  const std::vector<Finding> was_up = ask(node);
  ASSERT_EQ(rules_of(was_up), std::set<std::string>{"admin-down"}) << text(was_up);
  EXPECT_EQ(was_up[0].certainty, Certainty::certain);
  node.before.ports = node.now.ports;
  const std::vector<Finding> never = ask(node);
  ASSERT_EQ(rules_of(never), std::set<std::string>{"admin-down"}) << text(never);
  EXPECT_EQ(never[0].certainty, Certainty::likely);
  EXPECT_TRUE(has(text(never), "cable")) << text(never);
}

// The far end sends, so it is on: this port's own transmitter may be the fault.
TEST(DiagnosisBounds, ARemoteFaultMayComeFromThisPortsTransmitter) {
  Healthy node;
  take_down(node, 3, "Link training failure", "Remote side is not ready yet");
  const std::vector<Finding> found = ask(node);
  ASSERT_EQ(rules_of(found), std::set<std::string>{"no-partner"}) << text(found);
  EXPECT_EQ(found[0].certainty, Certainty::likely);
  ASSERT_FALSE(found[0].next.empty()) << text(found);
  EXPECT_TRUE(std::ranges::any_of(found[0].next, [](const std::string& step) {
    return has(step, "Read the rx power of the module at");
  })) << text(found);
}

// Its link is up: the cable and the module carry it.
TEST(DiagnosisBounds, AnInfinibandPortThatIsLogicallyDownHasACable) {
  Healthy node;
  make_infiniband(node), take_down(node, kPhysLinkUp);
  const std::vector<Finding> found = ask(node);
  ASSERT_EQ(rules_of(found), std::set<std::string>{"port-state"}) << text(found);
  EXPECT_EQ(found[0].culprit, Culprit::unknown);
  EXPECT_FALSE(has(found[0].remedy, "cable")) << found[0].remedy;
  EXPECT_TRUE(has(found[0].remedy, "ibportstate")) << found[0].remedy;
}

// A network that is busy pauses the port. If it is not paused and sends pause, its own host takes packets too slowly.
TEST(DiagnosisBounds, PauseThatIsOnlySentComesFromTheHost) {
  for (const double sent : {0.06, 0.09, 0.19}) {
    Healthy node;
    hold(node, sent);
    const std::vector<Finding> found = ask(node);
    ASSERT_EQ(found.size(), 1U) << text(found);
    EXPECT_EQ(found[0].id, "slow-host");
    EXPECT_EQ(found[0].culprit, Culprit::host);
    EXPECT_EQ(found[0].certainty, Certainty::likely);
    EXPECT_EQ(found[0].status, Status::ok) << "no fault";
    EXPECT_TRUE(has(found[0].remedy, "pci-tuning") && has(found[0].meaning, "receives none")) << text(found);
    hold(node, 0.09, "rx");
    EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"busy-network"}) << "paused as well";
    hold(node, 0.03, "rx");
    EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"busy-network"}) << "paused below the limit";
  }
  Healthy node;
  hold(node, 0.04);
  EXPECT_TRUE(ask(node).empty());
  hold(node, 0.3);
  EXPECT_EQ(ask(node).at(0).status, Status::warning) << text(ask(node));
}

// -- One limit for one fact: what a check does not report is no evidence

WindowLimits never() { return {.warning = {}, .critical = {}}; }
WindowLimits from(double warning) { return {.warning = warning, .critical = {}}; }
bool reports(const Healthy& node, const std::string& rule) { return !complaints_of(node.view(), {rule}).empty(); }

// A hypervisor may show any link.
TEST(OneLimit, TheLinkOfAGuestsOnlyNicIsThatOfItsSlot) {
  Healthy node(1);
  node.now.topology.hypervisor = "kvm";
  node.now.topology.nics[0].link.width = 8;
  hold(node, 0.3);
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-host"}) << text(ask(node));
  EXPECT_FALSE(reports(node, "pcie"));
}

TEST(OneLimit, ALinkWhoseFaultTheSiteSuppressesIsNoEvidence) {
  Healthy node;
  node.now.topology.nics[0].link.width = 8;
  hold(node, 0.3);
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-pcie"}) << text(ask(node));
  node.policy.rules.by_id["pcie"].enabled = false;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-host"}) << text(ask(node));
}

TEST(OneLimit, OfPcieErrors) {
  Healthy node;
  grow(node, Where::ethtool, "outbound_pci_buffer_overflow", 20);
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-pcie"}) << text(ask(node));
  EXPECT_TRUE(reports(node, "pcie-errors"));
  for (const WindowLimits& limits : {from(5), never()}) {
    set_window(node.policy.rules, "pcie_errors", limits);
    EXPECT_EQ(text(ask(node)), "");
    EXPECT_FALSE(reports(node, "pcie-errors"));
  }
}

TEST(OneLimit, AFewPcieErrorsDoNotExplainPause) {
  Healthy node;
  grow(node, Where::ethtool, "outbound_pci_buffer_overflow", 3);
  hold(node, 0.3);
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-host"}) << text(ask(node));
}

TEST(OneLimit, OfUncorrectablePcieErrors) {
  for (const auto& [window, counts] :
       {std::pair("pcie_fatal", &PlatformFunction::fatal), std::pair("pcie_nonfatal", &PlatformFunction::nonfatal)}) {
    Healthy node;
    const std::string& pci = node.now.topology.nics[0].pci;
    ++*(node.now.platform.functions.at(pci).*counts).total;
    EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-pcie"}) << text(ask(node));
    EXPECT_TRUE(has(said(node.view(), {"aer"}), "critical"));
    set_window(node.policy.rules, window, never());
    EXPECT_EQ(text(ask(node)), "") << window;
    EXPECT_EQ(said(node.view(), {"aer"}), "") << window;
  }
}

// A few corrected errors are normal. Without the link's speed and width they are counted by the long window.
TEST(OneLimit, OfCorrectedPcieErrorsOfAnUnknownLink) {
  Healthy node;
  const std::string& pci = node.now.topology.nics[0].pci;
  for (Node* each : {&node.before, &node.now}) each->platform.functions.at(pci).link = {};
  *node.now.platform.functions.at(pci).correctable.total += 3;
  EXPECT_EQ(text(ask(node)), "");
  EXPECT_EQ(said(node.view(), {"aer"}), "");
  *node.now.platform.functions.at(pci).correctable.total += 60;
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"slow-pcie"}) << text(ask(node));
  EXPECT_TRUE(reports(node, "aer"));
}

TEST(OneLimit, OfPfcStorms) {
  Healthy node;
  grow(node, Where::ethtool, "tx_pause_storm_warning_events", 1);
  hold(node, 0.01);
  const auto is_storm = [&] {
    return std::ranges::any_of(ask(node), [](const Finding& each) { return each.status == Status::critical; });
  };
  EXPECT_TRUE(is_storm()) << text(ask(node));
  EXPECT_TRUE(reports(node, "pause-storm"));
  EXPECT_TRUE(has(complaints_of(node.view(), {"pause-storm"}).at(0).remedy, "PFC watchdogs"));
  set_window(node.policy.rules, "pause_storms", never());
  EXPECT_FALSE(is_storm()) << text(ask(node));
  EXPECT_FALSE(reports(node, "pause-storm"));
}

TEST(OneLimit, OfAckTimeouts) {
  Healthy node;
  grow(node, Where::hw, "local_ack_timeout_err", 50);
  grow(node, Where::pma, "port_rcv_packets", 4'000'000'000);  // the share is below every other limit
  EXPECT_FALSE(ask(node).empty());
  EXPECT_TRUE(reports(node, "loss"));
  // Not the peers first: ACKs also wait at a port that this host pauses.
  EXPECT_TRUE(has(complaints_of(node.view(), {"loss"}).at(0).remedy, "cause: fabric-agentctl diagnose ens0"));
  set_window(node.policy.rules, "ack_timeouts", from(10));
  EXPECT_EQ(text(ask(node)), "");
  EXPECT_FALSE(reports(node, "loss"));
}

TEST(OneLimit, OfIgnoredCnps) {
  Healthy node;
  grow(node, Where::hw, "rp_cnp_ignored", 100);
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"ecn-off"}) << text(ask(node));
  EXPECT_TRUE(reports(node, "cnp-ignored"));
  set_window(node.policy.rules, "cnp_ignored", from(20));
  EXPECT_EQ(text(ask(node)), "");
  EXPECT_FALSE(reports(node, "cnp-ignored"));
}

// As for port-state, they are unused, even if an entry of the policy matches them.
TEST(DiagnosisBounds, UnusedSecondPortsAreSilent) {
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

void arrive(Healthy& node, std::vector<ModuleInput> inputs) { plug(node).inputs = std::move(inputs); }
ModuleInput from_cable(double ratio, unsigned lane = 1) {
  return {.side = ModuleSide::medium, .lane = lane, .error_ratio = ratio, .snr = {}};
}
ModuleInput from_nic(double ratio, unsigned lane = 1) {
  return {.side = ModuleSide::host, .lane = lane, .error_ratio = ratio, .snr = {}};
}

// One finding for the port, which is that of the worse side.
TEST(DiagnosisBounds, TwoBadSidesOfAModuleAreBothNamed) {
  for (const auto& [cable, nic] : {std::pair(1e-4, 3e-5), {5e-4, 3e-5}, {1e-4, 5e-4}}) {
    Healthy node(1);
    arrive(node, {from_cable(cable), from_nic(nic)});
    const Findings found = test::complaints_of(node.view(), {"pre-fec-ber"});
    ASSERT_EQ(found.size(), 1u) << cable << " " << nic;
    for (const char* side : {"from the cable", "from the NIC"})
      EXPECT_TRUE(has(found[0].observed, side)) << found[0].observed;
  }
}

// The module measures which bits were damaged before they reached it.
TEST(DiagnosisBounds, TheSideOfTheModuleThatIsAtFault) {
  expect_rules({{"bits from the NIC are damaged, those from the cable are not", "damaged-in-host",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-9), from_nic(3e-5)});
                 }},
                {"FEC corrects much more than was damaged when it reached the module", "damaged-in-host",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-9)});
                   grow(node, Where::ethtool, "rx_corrected_bits_phy", 400'000'000);  // 1e-4 of the bits at line rate
                 }},
                {"a data path of the other port in this cage is bad", "damaged-in-host",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-9), from_nic(3e-5), from_cable(1e-3, 3)});
                   for (ModuleLane& lane : node.now.ports[0].module->lanes) {
                     lane.path = lane.number < 3 ? 1 : 3;
                     if (lane.number >= 3) lane.tx_power.value = 0;
                   }
                 }},
                {"lanes that the link does not use have no signal", "damaged-in-host",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-9), from_nic(3e-5), from_cable(1e-3, 3)});
                   for (ModuleLane& lane : node.now.ports[0].module->lanes)
                     if (lane.number < 3) lane.path = 1;
                 }},
                {"a reading that no link survives is none", "damaged-link",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-9), from_nic(0.5)});
                 }},
                {"bits from the cable are damaged", "damaged-link",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-4), from_nic(1e-9)});
                 }},
                {"both sides are bad", "damaged-link",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-4), from_nic(3e-5)});
                 }},
                {"both sides are good: errors in bursts", "damaged-link",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-9), from_nic(1e-9)});
                 }},
                {"what comes over the cable is not measured", "damaged-link",
                 [](Healthy& node) { arrive(node, {from_nic(3e-5)}); }},
                {"zero may be a module that does not measure", "damaged-link",
                 [](Healthy& node) {
                   arrive(node, {from_cable(0), from_nic(3e-5)});
                 }},
                {"the data path of the NIC's errors is the other port's", "damaged-link",
                 [](Healthy& node) {
                   arrive(node, {from_cable(1e-9), from_nic(3e-5, 3)});
                   for (ModuleLane& lane : node.now.ports[0].module->lanes) {
                     lane.path = lane.number < 3 ? 1 : 3;
                     if (lane.number >= 3) lane.tx_power.value = 0;
                   }
                 }}},
               [](Healthy& node) { grow(node, Where::ethtool, "rx_crc_errors_phy", 300); });
}

// The far end counts the errors of this port's packets; here answers are missing.
TEST(DiagnosisBounds, WhatTheModuleGetsDamagedIsMissingAtTheFarEnd) {
  for (const double ratio : {1e-3, 3e-5}) {  // more, and less, than the far end corrects
    Healthy node;
    arrive(node, {from_cable(1e-9), from_nic(ratio)});
    grow(node, Where::hw, "packet_seq_err", 1000);
    EXPECT_EQ(rules_of(ask(node)).contains("damaged-in-host"), ratio == 1e-3) << text(ask(node));
  }
}

// Without a link there is nothing to measure.
TEST(DiagnosisBounds, WhatArrivesAtTheModuleOfALinkThatIsDownIsNoEvidence) {
  Healthy node;
  arrive(node, {from_cable(1e-9), from_nic(0.5)});
  take_down(node, 3, "Autoneg", "No partner detected");
  EXPECT_EQ(rules_of(ask(node)), std::set<std::string>{"no-partner"}) << text(ask(node));
}

// Without a link, during pause and without credits a NIC drops packets to send; the host is not the cause.
TEST(DiagnosisBounds, DropsOnSendingAreNotBlamedOnAHostThatMayNotSend) {
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
