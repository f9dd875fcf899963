// SPDX-License-Identifier: Apache-2.0
// The amounts of the catalogue and the limits of the rules have the same author. So every fault with an amount is also
// planted harder and weaker, and every limit is tested from both sides.
#include "faults/answer.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/link.h"
#include "nic/metrics.h"
#include "support/rules.h"
#include "support/test.h"

namespace fabric::faults {
namespace {

using test::complaints_of;
using test::describe;

struct Score {
  size_t faults = 0, right = 0, wrong = 0;
};

std::string told(const Answer& answer) {
  return answer.machine + " " + answer.subject + "\n" + describe(answer.found) + describe_causes(answer.diagnoses);
}

// Plants all faults with amounts at this strength; `is_right` judges the answer of each machine.
void plant_all(double strength, const char* wanted, bool (*is_right)(const Fault&, const Answer&)) {
  Score score;
  for (const Fault& fault : all_faults()) {
    const std::vector<Answer>& answers = plant(fault, strength);
    if (answers.empty()) continue;
    ++score.faults;
    bool seen = true, wrong = false;
    for (const Answer& answer : answers) {
      const bool right = answer.false_alarms(fault).empty() && is_right(fault, answer);
      EXPECT_TRUE(right) << fault.id << ", wanted " << fault.check << " " << fault.rule << wanted << "; on "
                         << told(answer);
      wrong = wrong || !right;
      seen = seen && answer.is_named_at_least(fault) && answer.blames_the_same(fault);
    }
    score.right += seen ? 1 : 0;
    score.wrong += wrong ? 1 : 0;
  }
  EXPECT_GT(score.faults, 40u);
  std::printf("figure: faults at %gx: %zu of %zu named rightly, %zu wrongly\n", strength, score.right, score.faults,
              score.wrong);
}

class Harder : public testing::TestWithParam<double> {};

// A fault that is worse has the same culprit.
TEST_P(Harder, IsNamedAsWell) {
  plant_all(GetParam(), "", [](const Fault& fault, const Answer& answer) {
    return answer.is_named_at_least(fault) && answer.blames_the_same(fault);
  });
}
INSTANTIATE_TEST_SUITE_P(Faults, Harder, testing::Values(3.0, 10.0),
                         [](const auto& each) { return "x" + std::to_string(static_cast<int>(each.param)); });

class Weaker : public testing::TestWithParam<double> {};

// A milder fault may be overlooked, and must not blame another culprit.
TEST_P(Weaker, IsNamedRightlyOrNotAtAll) {
  plant_all(GetParam(), " or nothing",
            [](const Fault& fault, const Answer& answer) { return !answer.blames_another(fault); });
}
INSTANTIATE_TEST_SUITE_P(Faults, Weaker, testing::Values(0.3, 0.1, 0.01), [](const auto& each) {
  return "x" + std::to_string(static_cast<int>(each.param * 100)) + "percent";
});

// The counter of a limit and its base, at the second rail.
struct Measured {
  const char* rule;
  const Metric* metric;
  const char* label = "";
  enum Base { second, bit, packet, event } base = second;
  bool is_asked_early = false;  // diagnose reports it from 5 % on
};
const Measured kMeasured[] = {
    {"bit_errors_slow", &metrics::kPhyCrcErrors, "", Measured::bit},
    {"bit_errors_slow", &metrics::kPortSymbolErrors, "", Measured::bit},
    {"icrc_errors_slow", &metrics::kIcrcErrors, "", Measured::bit},
    {"link_recoveries", &metrics::kPortLinkRecoveries, "", Measured::event},
    {"pre_fec_ber", &metrics::kPhyCorrectedBits, "", Measured::bit},
    {"out_of_sequence", &metrics::kOutOfSequence, "", Measured::packet},
    {"ack_timeouts", &metrics::kAckTimeouts},
    {"remote_physical_errors", &metrics::kPortRemotePhysical},
    {"lossless_discards", &metrics::kPriorityDiscards, "", Measured::event},
    {"port_discards", &metrics::kPhyDiscards, "rx"},
    {"port_discards", &metrics::kPortDiscards, "tx"},
    {"tx_pause", &metrics::kPfcSeconds, "tx", Measured::second, true},
    {"rx_pause", &metrics::kPfcSeconds, "rx", Measured::second, true},
    {"cnp_ignored", &metrics::kCnpIgnored},
    {"pcie_errors", &metrics::kPcieOverflows},
    {"pcie_stalls", &metrics::kPcieStalled, "write", Measured::second, true},
    {"request_errors", &metrics::kAccessErrors, "", Measured::event},
};

const RuleWindow& rule_of(std::string_view key) { return *find_window(key); }

double base_of(const Machine& machine, const View& view, const Measured& one) {
  const Measured::Base base = one.base;
  const Signals& signals = view.signals->at(machine.now.ports.at(1).id());
  if (base == Measured::event) return 1;
  const Port& port = machine.now.ports.at(1);
  if (base == Measured::bit)
    return *port.rate * 8 * signals.seconds *
           (std::string_view(one.rule).ends_with("_errors_slow") ? allowed_error_ratio(port) / 1e-13 : 1);
  if (base == Measured::packet) return signals.rx_packets.value_or(0) + signals.tx_packets.value_or(0);
  return signals.seconds;
}

// Plants this part of the limit, in addition to the load.
bool plant_part(Machine& machine, const Measured& one, double part) {
  const RuleWindow& rule = rule_of(one.rule);
  const double base = base_of(machine, machine.view(), one);
  double wanted = *rule.limits.warning * base * part;
  if (one.metric != &metrics::kPfcSeconds)  // counts whole events
    wanted = part < 1 ? std::floor(wanted) : std::max(std::ceil(wanted), rule.least);
  return machine.raise(*one.metric, wanted, one.label);
}

TEST(Limits, AreSilentBelowAndReportAbove) {
  Score score;
  for (const Measured& one : kMeasured)
    for (const Machine& healthy : machines())
      for (const double part : {0.1, 0.8, 1.3}) {
        Machine machine = healthy;
        if (!plant_part(machine, one, part)) continue;
        if (std::string_view(one.rule) == "lossless_discards" && !machine.port().qos.pfc) continue;
        const View view = machine.view();
        const auto found = complaints_of(view);
        const Findings blamed = diagnose(view);
        ++score.faults;
        const bool right = part < 1 ? found.empty() : found.size() == 1 && found[0].id == rule_of(one.rule).rule;
        const bool blames = part < 0.5 && !one.is_asked_early && !blamed.empty();
        EXPECT_TRUE(right && !blames) << one.rule << " by " << one.metric->name << " at " << part << " of its limit on "
                                      << machine.name << "\n"
                                      << describe(found) << describe_causes(blamed);
        score.right += right && !blames ? 1 : 0;
      }
  std::printf("figure: health limits: %zu of %zu amounts below and above are judged rightly\n", score.right,
              score.faults);
}

// A fault of the catalogue raises each window that two readings can raise.
TEST(Limits, EachHasAFault) {
  std::set<std::string_view> untripped;
  for (const RuleWindow& rule : rule_windows()) untripped.insert(rule.key);
  untripped.erase("stale_readings");  // needs the ages of the exporter: load_test.cpp
  for (const Fault& fault : all_faults()) {
    const auto has_the_check = [&](std::string_view key) { return rule_of(key).rule == fault.check; };
    if (std::ranges::none_of(untripped, has_the_check)) continue;
    for (Machine machine : machines()) {
      const std::string subject = fault.plant(machine);
      if (subject.empty()) continue;
      const View view = machine.view();
      std::erase_if(untripped, [&](std::string_view key) {
        if (!has_the_check(key)) return false;
        const auto statuses = window_statuses(view, key);
        const Status* status = statuses ? find_in(*statuses, subject) : nullptr;
        return status != nullptr && *status != Status::ok;
      });
    }
  }
  EXPECT_EQ(joined(untripped, " "), "");
}

// True if the row compares with the limit.
bool has_limit(const auto* row, const Limit* limit) {
  return row != nullptr && std::ranges::find(row->limits, limit) != row->limits.end();
}

// Findings and causes of the rows with the limit, at its default or at `value`.
std::string judged(Machine& machine, const Limit& limit, std::optional<double> value = {}) {
  auto& rules = machine.policy.rules.by_id;
  for (auto& [id, rule] : rules) rule.limits.clear();
  if (value) rules[std::string(limit.rule)].limits[std::string(limit.key)] = *value;
  std::vector<std::string> only;
  for (const Rule& check : test::checks())
    if (has_limit(&check, &limit)) only.emplace_back(check.id);
  const View view = machine.view();
  std::string out;
  if (!only.empty())
    for (const Finding& each : run_rules(view, only).findings)
      out += each.id + " " + each.subject + " " + std::string(to_text(each.status)) +
             (each.unjudged ? " not judged\n" : "\n");
  for (const Finding& each : diagnose(view)) out += each.id + " " + each.subject + "\n";
  return out;
}

// True if the smallest or the largest value of the limit changes the findings of a machine with the planted fault.
bool turns_a_verdict(const Limit& limit, const std::function<std::string(Machine&)>& plant) {
  for (const double strength : {1.0, 0.1, 10.0}) {
    for (Machine machine : machines()) {
      machine.strength = strength;
      if (plant(machine).empty()) continue;
      if (strength != 1 && !machine.has_amounts) return false;
      const std::string usual = judged(machine, limit);
      for (const double value : {limit.least, limit.most})
        if (judged(machine, limit, value) != usual) return true;
    }
  }
  return false;
}

// Faults for limits that no fault of the catalogue reaches: on all rails at once, or below another limit.
struct Beside {
  const char* limit;
  std::function<std::string(Machine&)> plant;
};
const std::vector<Beside>& beside() {
  const auto few_requests = [](Machine& m) {
    return grow(m, {{&metrics::kRdmaBytes, 1e15, "rx"}}) ? m.port().id() : std::string();
  };
  const auto late_far_end = [](Machine& m) {
    return grow(m, {{&metrics::kRnrNaksReceived, 6e6}}) ? m.port().id() : std::string();
  };
  // The hung host of mistaken_test.cpp, without a count of storms.
  const auto stopped = [](Machine& m) {
    move_nic_away(m);
    m.port().counters = m.before.ports[1].counters;
    return grow(m, {{&metrics::kPfcSeconds, 58, "tx"}}) ? m.port().id() : std::string();
  };
  const auto damage_all = [](Machine& m) {
    for (Port& port : m.now.ports)
      for (Counter& each : port.counters.ethtool)
        if (each.name == "rx_crc_errors_phy" || each.name == "rx_symbol_err_phy") each.value += 40'000;
    return m.port().id();
  };
  static const std::vector<Beside> all{
      {"observable", few_requests},
      {"largest_message", few_requests},
      {"rnr_rate", late_far_end},
      {"rnr_ratio", late_far_end},
      {"lossy_ratio",
       [](Machine& m) {
         set_fabric(m, {.kind = FabricKind::lossy});
         return grow(m, {{&metrics::kSequenceNaks, 1e4}}) ? m.port().id() : std::string();
       }},
      {"least_mrrs",
       [](Machine& m) {
         if (!m.now.pci_settings) return std::string();
         for (auto& [pci, function] : m.now.pci_settings->functions)
           if (function.mrrs) function.mrrs = 1024;
         return std::string("host");
       }},
      {"lldp_wait",
       [](Machine& m) {
         m.now.neighbors.heard.clear();
         for (auto& [netdev, seconds] : m.now.neighbors.listening) seconds = 100;
         return m.port().id();
       }},
      {"links_with_errors", damage_all},
      {"lane_share",
       [damage_all](Machine& m) {
         Port &was = m.before.ports[1], &now = m.port();
         if (!was.fec || !now.fec) return std::string();
         was.fec->corrected_bits.lanes = {0, 0};
         now.fec->corrected_bits.lanes = {95'000, 5'000};
         return damage_all(m);
       }},
      {"stopped_pause_share", stopped},
      {"stopped_receive_share", stopped},
      {"paused_bytes_share",
       [](Machine& m) {
         m.hold(metrics::kPriorityBytes);
         return grow(m, {{&metrics::kPfcSeconds, 51, "rx"}, {&metrics::kAckTimeouts, 900}}) ? m.port().id() : "";
       }},
      {"late_receive_ratio",
       [](Machine& m) {
         return grow(
                    m,
                    {{&metrics::kPfcSeconds, 6, "tx"}, {&metrics::kPfcSeconds, 2, "rx"}, {&metrics::kOutOfBuffer, 1e4}})
                    ? m.port().id()
                    : "";
       }},
      {"blocked_share",
       [](Machine& m) {
         return grow(m, {{&metrics::kPfcSeconds, 51, "rx"}, {&metrics::kAckTimeouts, 900}}) ? m.port().id() : "";
       }},
  };
  return all;
}

// A limit that changes no verdict has no effect.
TEST(Limits, EveryLimitChangesTheVerdictOfAMachine) {
  const auto healthy = [](Machine&) { return std::string("host"); };
  for (const Limit* limit : test::limits()) {
    bool turns = turns_a_verdict(*limit, healthy);
    for (const Beside& each : beside())
      if (!turns && each.limit == limit->key) turns = turns_a_verdict(*limit, each.plant);
    for (const Fault& fault : all_faults())
      if (!turns && (has_limit(find_rule(fault.check), limit) || has_limit(find_rule(fault.rule), limit)))
        turns = turns_a_verdict(*limit, fault.plant);
    EXPECT_TRUE(turns) << limit->key;
  }
}

}  // namespace
}  // namespace fabric::faults
