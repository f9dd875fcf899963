// SPDX-License-Identifier: Apache-2.0
// The catalogue on fabrics of each kind: healthy ones are silent, faults keep their culprit, and nobody is told to
// switch PFC on in a fabric that has none.
#include <regex>
#include <set>

#include "base/find.h"
#include "faults/answer.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "nic/metrics.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

struct Kind {
  const char* name;
  Fabric fabric;
};
const Kind kKinds[] = {{"lossless, sprayed", {.spraying = true}},
                       {"scheduled", {.kind = FabricKind::scheduled}},
                       {"lossy", {.kind = FabricKind::lossy}},
                       {"lossy, adaptive routing", {.kind = FabricKind::lossy, .adaptive_routing = true}}};

// A few machines of each vendor: all of them under each kind take four times as long as the catalogue.
std::vector<Machine> machines_of(const Fabric& fabric) {
  std::vector<Machine> out;
  for (const Machine& healthy : machines()) {
    if (healthy.name != "hgx" && healthy.name != "mi300x" && healthy.name != "e810") continue;
    out.push_back(healthy);
    set_fabric(out.back(), fabric);
  }
  return out;
}

// What a finding or a cause tells the operator to do.
std::string steps_of(const Finding& finding) { return finding.remedy + "\n" + joined(finding.next, "\n"); }

bool recommends_pfc(std::string text) {
  static const std::regex kOff("dcb pfc set [^.;,\\n]*:off");
  text = std::regex_replace(text, kOff, "");
  static const std::regex kSteps(
      "\\b(enable|turn on|configure|raise|compare|lossless priority|set) [^.;\\n]{0,60}(PFC|lossless)",
      std::regex::icase);
  return std::regex_search(text, kSteps);
}

TEST(FabricKinds, HealthyMachinesAreSilent) {
  for (const Kind& kind : kKinds)
    for (const Machine& machine : machines_of(kind.fabric)) {
      const View view = machine.view();
      EXPECT_EQ(test::said(view), "") << kind.name << " " << machine.name;
      EXPECT_EQ(describe_causes(diagnose(view)), "") << kind.name << " " << machine.name;
    }
}

// Faults of PFC, which a lossy fabric cannot have, and of congestion control, which a scheduled one does without.
bool concerns(const Fault& fault, const Fabric& fabric) {
  constexpr std::string_view kPfc[] = {"peer-pfc", "peer-ets",    "peer-app",   "pfc-and-pause", "pfc",
                                       "discards", "pause-storm", "pause-held", "pfc-on-lossy"};
  constexpr std::string_view kPfcCauses[] = {"pfc-off-switch", "roce-unprotected",  "headroom",
                                             "busy-network",   "paused-by-network", "slow-host"};
  if (fabric.is_lossy() && (contains(kPfc, fault.check) || contains(kPfcCauses, fault.rule))) return false;
  if (fabric.kind == FabricKind::scheduled && (fault.check == "cnp-ignored" || fault.rule == "ecn-off")) return false;
  return true;
}

TEST(FabricKinds, NoFaultChangesItsCulprit) {
  for (const Kind& kind : kKinds) {
    size_t planted = 0, others = 0;
    const std::vector<Machine> healthy = machines_of(kind.fabric);
    for (const Fault& fault : all_faults()) {
      if (!concerns(fault, kind.fabric)) continue;
      for (Machine machine : healthy) {
        const std::string port = machine.port().id(), subject = fault.plant(machine);
        if (subject.empty()) continue;
        const View view = machine.view();
        const Answer answer{machine.name, port, subject, {}, diagnose(view), machine.has_amounts};
        ++planted;
        if (!answer.blames_another(fault)) continue;
        ++others;
        ADD_FAILURE() << kind.name << " " << machine.name << " " << fault.id << ", wanted: " << fault.rule << "\n"
                      << describe_causes(answer.diagnoses);
      }
    }
    std::printf("figure: %s: %zu of %zu faults blame another\n", kind.name, others, planted);
  }
}

// `step`: of so many faults one is planted.
void expect_no_pfc(size_t step) {
  size_t number = 0;
  for (const Kind& kind : kKinds) {
    if (!kind.fabric.is_lossy()) continue;
    const std::vector<Machine> healthy = machines_of(kind.fabric);
    std::set<std::string, std::less<>> reported;
    for (const Fault& fault : all_faults())
      for (Machine machine : healthy) {
        if (number++ % step != 0) continue;
        if (fault.plant(machine).empty()) continue;
        const auto wants_pfc = [](const PortPolicy& entry) { return entry.want.pfc && entry.want.pfc->bits != 0; };
        if (std::ranges::any_of(machine.policy.ports, wants_pfc)) continue;  // the operator's own
        for (const Finding& each : run_rules(machine.view()).findings) {
          if (each.status == Status::ok) continue;
          reported.insert(each.id);
          EXPECT_FALSE(recommends_pfc(steps_of(each))) << machine.name << " " << fault.id << ": " << each.id << "\n"
                                                       << steps_of(each);
        }
      }
    // The texts of the table, too: a rule that recommends PFC is not asked here.
    for (const Rule& rule : rules()) {
      std::string text = rule.fix.text();
      if (!rule.fix_lossy.empty()) text = rule.fix_lossy.text();
      if (rule.is_cause() && recommends_pfc(text)) EXPECT_FALSE(reported.contains(rule.id)) << rule.id << ": " << text;
    }
  }
}

TEST(FabricKinds, ALossyFabricIsNeverAdvisedToUsePfc) { expect_no_pfc(5); }
TEST(FabricKinds, ALossyFabricIsNeverAdvisedToUsePfcHarder) { expect_no_pfc(1); }

TEST(FabricKinds, WhatPfcProtectsIsJudgedByTheKind) {
  const auto found = [](Machine machine, const std::string& id) {
    const Report report = run_rules(machine.view());
    return std::ranges::any_of(report.findings,
                               [&](const Finding& each) { return each.id == id && each.status != Status::ok; });
  };
  Machine hgx = machines().front();
  // PFC that came back is the drift.
  Machine lossy = hgx;
  set_fabric(lossy, {.kind = FabricKind::lossy});
  Machine with_pfc = lossy;
  with_pfc.port().qos.pfc = PrioSet{8};
  for (PortPolicy& entry : with_pfc.policy.ports) entry.want.pfc.reset();
  EXPECT_TRUE(found(with_pfc, "pfc-on-lossy"));
  Machine switch_has_it = lossy;
  switch_has_it.now.neighbors.heard.at(1).pfc->enabled.bits = 8;
  EXPECT_TRUE(found(switch_has_it, "peer-pfc"));
  // Discards and packets out of sequence are normal, a large share of retransmissions is not.
  Machine discards = lossy;
  ASSERT_TRUE(discards.raise(metrics::kPhyDiscards, 1e6, "rx"));
  ASSERT_TRUE(discards.raise(metrics::kOutOfSequence, 1e5));
  EXPECT_FALSE(found(discards, "discards") || found(discards, "loss"));
  Machine resends = lossy;
  ASSERT_TRUE(resends.raise(metrics::kSequenceNaks, 5e7));
  EXPECT_TRUE(found(resends, "loss"));
  EXPECT_FALSE(describe_causes(diagnose(resends.view())).empty());
  // Where packets are sprayed, out of sequence says nothing; elsewhere it does.
  Machine sprayed = hgx;
  ASSERT_TRUE(sprayed.raise(metrics::kOutOfSequence, 1e6));
  EXPECT_TRUE(found(sprayed, "loss"));
  set_fabric(sprayed, {.spraying = true});
  EXPECT_FALSE(found(sprayed, "loss"));
  EXPECT_EQ(describe_causes(diagnose(sprayed.view())), "");
}

}  // namespace
}  // namespace fabric::faults
