// SPDX-License-Identifier: Apache-2.0
// The causes: their texts and order, faults that leave few traces, and symptoms whose cause stays unknown. The fault
// catalogue (tests/faults) plants a fault for each rule.
#include "base/json.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/link.h"
#include "support/diagnosed.h"
#include "support/rules.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

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
  EXPECT_EQ(count, 2u);
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

TEST(Diagnosis, JsonHasAllMembers) {
  Healthy node;
  hold(node, 0.3);
  const std::string json = causes_json(Report{ask(node)}).dump();
  for (const char* part : {"\"port\"", "\"mlx5_0/1\"", "\"slow-host\"", "\"host\"", "\"warning\"", "\"certainty\"",
                           "PFC pause sent, priority 3: 30 % of the time"})
    EXPECT_TRUE(has(json, part)) << part << "\n" << json;
}

}  // namespace
}  // namespace fabric
