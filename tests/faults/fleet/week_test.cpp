// SPDX-License-Identifier: Apache-2.0
// A healthy week of 1,000 nodes: pauses, corrected errors, retransmissions, jobs that start and end, reboots and
// maintenance, as healthy fleets have them. The default is a part of the fleet, with readings of 20 seconds in each
// event and one every eight hours between them. FABRIC_WEEK_NODES=1000: of ten such fleets, and then of one with a
// reading a minute. Each node has random numbers of its own, so its week is the same in any fleet and on any thread.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "faults/machines.h"
#include "judge/cause.h"
#include "judge/engine.h"

namespace fabric::faults {
namespace {

constexpr double kDay = 24 * kHour, kWeek = 7 * kDay, kReading = 20;
constexpr double kPortBytes = 50e9, kPacketBytes = 4182;

// One port's character for the week.
struct Character {
  double ber, uncorrectable_ratio, pcie_corrected_per_day, temperature;
};

// The findings of the rules.
struct Tally {
  size_t alarms = 0, culprits = 0;
  std::map<std::string, size_t> by_rule{};

  void add(const Tally& other) {
    alarms += other.alarms;
    culprits += other.culprits;
    for (const auto& [rule, count] : other.by_rule) by_rule[rule] += count;
  }
};

class Node {
 public:
  Node(const Machine& machine, unsigned seed) : random_(seed), machine_(machine) { health_.states_only = true; }

  // A reading every `step` seconds.
  Tally week(double step) {
    for (size_t i = 0; i < machine_.now.ports.size(); ++i) characters_.push_back(character());
    clock_ = kWeek;  // of an earlier boot
    const double reboot = chance(0.05) ? uniform(0, kWeek) : 2 * kWeek, maintenance = uniform(0, 5 * kWeek);
    double next_job = uniform(0, kDay), load = job_load();
    bool rebooted = false, maintained = false;
    for (double at = 0; at < kWeek; at += step) {
      pass(
          step, load, [](size_t, Signals&) {}, step < kHour);
      if (!rebooted && at > reboot) reboot_node(), rebooted = true;
      if (!maintained && at > maintenance) switch_maintenance(), maintained = true;
      for (; at > next_job; next_job += uniform(2, 48) * kHour) job_changes(), load = job_load();
      if (chance(step / kDay)) busy_moment();
    }
    return tally_;
  }

 private:
  double uniform(double from, double to) { return std::uniform_real_distribution(from, to)(random_); }
  double log_uniform(double from, double to) { return std::exp(uniform(std::log(from), std::log(to))); }
  bool chance(double part) { return uniform(0, 1) < part; }
  double poisson(double mean) {
    return mean <= 0 ? 0 : static_cast<double>(std::poisson_distribution<int64_t>(mean)(random_));
  }

  Character character() {
    return {.ber = log_uniform(1e-11, 3e-6),                                      // far below a tenth of 2.4e-4
            .uncorrectable_ratio = chance(0.03) ? log_uniform(1e-16, 2e-14) : 0,  // most links have none in months
            .pcie_corrected_per_day = chance(0.1) ? log_uniform(0.5, 50) : 0,
            .temperature = uniform(38, 66)};
  }

  // The counters of a port under this load after so many seconds.
  Signals traffic(const Character& of, double seconds, double load) {
    const double bytes = kPortBytes * load * seconds, packets = bytes / kPacketBytes, bits = 8 * kPortBytes * seconds;
    Signals out{.seconds = seconds};
    for (PrioritySignals& each : out.priority) each = {0, 0, 0, 0, 0, 0, 0};
    PrioritySignals& roce = out.priority[3];
    roce.rx_bytes = roce.tx_bytes = out.rx_bytes = out.tx_bytes = bytes;
    out.rx_packets = out.tx_packets = packets;
    roce.rx_pause_seconds = seconds * load * log_uniform(1e-6, 0.02);
    roce.tx_pause_seconds = seconds * load * log_uniform(1e-6, 0.01);
    out.cnp_sent = out.cnp_handled = poisson(seconds * load * log_uniform(1, 2'000));
    out.ecn_marked = 3 * *out.cnp_sent;
    out.cnp_ignored = out.pause_storm_events = 0;
    out.out_of_sequence = poisson(packets * log_uniform(1e-9, 1e-7));  // adaptive routing and rare drops
    out.sequence_naks = poisson(*out.out_of_sequence / 4);
    out.duplicate_requests = poisson(*out.out_of_sequence / 8);
    out.ack_timeouts = poisson(seconds / (3 * kHour));
    out.rnr_naks = poisson(0.2 * seconds * load);
    out.out_of_buffer = poisson(0.1 * seconds * load);
    out.retries_exceeded = out.rnr_retries_exceeded = out.request_errors = out.icrc_errors = 0;
    out.rx_discards = poisson(seconds * 1e-3);
    out.tx_discards = 0;
    out.link_downs = out.link_recoveries = out.symbol_errors = out.crc_errors = 0;
    out.fec_corrected_bits = bits * of.ber;
    out.fec_uncorrectable = poisson(bits * of.uncorrectable_ratio);
    out.pcie_stalled_seconds = seconds * load * uniform(0, 0.02);
    out.pcie_errors = out.pcie_overflows = 0;
    return out;
  }

  // All ports go on for so long, and `change` is done to each.
  template <class Change>
  void pass(double seconds, double load, Change change, bool asks_diagnosis = true) {
    signals_.clear();
    using Clock = decltype(machine_.now.taken);
    machine_.before.taken = machine_.now.taken - std::chrono::duration_cast<typename Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
    for (size_t i = 0; i < machine_.now.ports.size(); ++i) {
      Port& port = machine_.now.ports[i];
      Signals signals = traffic(characters_[i], seconds, load);
      change(i, signals);
      signals_[port.id()] = signals;
      if (port.module) port.module->temperature.value = characters_[i].temperature + uniform(-2, 2);
      auto& now = machine_.now.platform.functions.at(port.pci).correctable.total;
      auto& then = machine_.before.platform.functions.at(port.pci).correctable.total;
      then = 100;
      now = 100 + static_cast<uint64_t>(poisson(characters_[i].pcie_corrected_per_day * seconds / kDay));
    }
    clock_ += seconds;
    const View view{.now = machine_.now,
                    .before = &machine_.before,
                    .policy = &machine_.policy,
                    .plan = &machine_.plan,
                    .signals = &signals_,
                    .health = &health_};
    advance_health(health_, view, clock_, static_cast<int64_t>(1.8e9 + clock_));
    count();
    if (!asks_diagnosis) return;
    std::set<std::string> blamed;
    for (const Finding& each : diagnose(view)) {
      if (each.status != Status::warning && each.status != Status::critical) continue;
      blamed.insert(each.id + " " + each.subject);
      if (!blamed_.contains(each.id + " " + each.subject)) ++tally_.culprits, ++tally_.by_rule["diagnose " + each.id];
    }
    blamed_ = std::move(blamed);
  }

  // Each finding counts once, when it is raised.
  void count() {
    std::set<std::string> now;
    for (const auto& [rule, subjects] : health_.rules)
      for (const auto& [subject, state] : subjects)
        if (state.status() != Status::ok) {
          now.insert(rule + " " + subject);
          if (!raised_.contains(rule + " " + subject)) ++tally_.alarms, ++tally_.by_rule[rule];
        }
    raised_ = std::move(now);
  }

  double job_load() { return chance(0.85) ? uniform(0.2, 0.9) : 0.01; }
  // Once a day: incast for two readings, which is enough to confirm a finding: pause of some per cent, up to 18 % of
  // the time, with many CNPs.
  void busy_moment() {
    const double share = log_uniform(0.005, 0.18), sent = log_uniform(0.001, 0.06);
    for (int i = 0; i < 2; ++i)
      pass(kReading, 0.9, [&](size_t, Signals& each) {
        each.priority[3].rx_pause_seconds = kReading * share * uniform(0.5, 1);
        each.priority[3].tx_pause_seconds = kReading * sent * uniform(0.5, 1);
        each.cnp_handled = 20'000.0, each.ecn_marked = 60'000.0;
      });
  }
  // Queue pairs come and go: RNR NAKs, a few timeouts and rejected requests, packets out of order.
  void job_changes() {
    const double timeouts = chance(0.1) ? poisson(5) : 0, rejected = chance(0.1) ? poisson(1) : 0;
    pass(kReading, 0.4, [&](size_t, Signals& each) {
      each.ack_timeouts = timeouts, each.request_errors = rejected;
      each.rnr_naks = poisson(150), each.out_of_sequence = poisson(60), each.rx_discards = poisson(30);
    });
    pass(kReading, 0.4, [](size_t, Signals&) {});
  }
  // The links come up, some twice, and the counters begin at 0.
  void reboot_node() {
    health_ = {};
    health_.states_only = true;
    raised_.clear();
    clock_ = 60;
    pass(
        kReading, 0, [&](size_t, Signals& each) { each.link_downs = poisson(1.5); }, false);
    pass(
        kReading, 0, [&](size_t, Signals& each) { each.link_downs = poisson(0.5), each.symbol_errors = poisson(3); },
        false);
  }
  // The leaf is updated: one or two link downs on one rail, a few damaged frames, and lost packets for a moment.
  void switch_maintenance() {
    const size_t rail = static_cast<size_t>(uniform(0, static_cast<double>(machine_.now.ports.size())));
    pass(
        kReading, 0.01,
        [&](size_t i, Signals& each) {
          if (i == rail) each.link_downs = chance(0.3) ? 2.0 : 1.0, each.symbol_errors = poisson(4);
        },
        false);
    pass(
        kReading, 0.01, [](size_t, Signals&) {}, false);
  }

  std::mt19937_64 random_;
  Machine machine_;
  std::map<std::string, Signals> signals_;
  Health health_;
  std::vector<Character> characters_;
  std::set<std::string> raised_, blamed_;
  Tally tally_;
  double clock_ = 0;
};

// The weeks of every n-th node, on each of n threads.
Tally fleet_week(int nodes, double step) {
  const Machine machine = healthy_machines().front();
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::future<Tally>> parts;
  for (int first = 0; first < threads; ++first)
    parts.push_back(std::async(std::launch::async, [&, first] {
      Tally tally;
      for (int i = first; i < nodes; i += threads)
        tally.add(Node(machine, 20261124U + static_cast<unsigned>(i)).week(step));
      return tally;
    }));
  Tally all;
  for (auto& part : parts) all.add(part.get());
  return all;
}

void expect_near_silence(const char* readings, int nodes, double step) {
  const Tally week = fleet_week(nodes, step);
  const double per_day = 1000.0 / nodes / 7, limit = nodes >= 1000 ? 1 : 3;
  for (const auto& [rule, count] : week.by_rule) std::printf("%s: %zu\n", rule.c_str(), count);
  const double alarms = static_cast<double>(week.alarms) * per_day;
  const double culprits = static_cast<double>(week.culprits) * per_day;
  std::printf(
      "figure: healthy week of %d nodes, readings %s: %.2f false alarms and %.2f false culprits a day for 1,000 "
      "nodes\n",
      nodes, readings, alarms, culprits);
  EXPECT_LT(alarms, limit);
  EXPECT_LT(culprits, limit);
}

TEST(Fleet, AHealthyWeekIsNearlySilent) {
  const char* given = std::getenv("FABRIC_WEEK_NODES");
  const int nodes = given == nullptr ? 0 : std::atoi(given);
  expect_near_silence("of events", nodes > 0 ? 10 * nodes : 20, 8 * kHour);
  if (nodes > 0) expect_near_silence("every minute", nodes, kMinute);
}

}  // namespace
}  // namespace fabric::faults
