// SPDX-License-Identifier: Apache-2.0
// Over time: healthy machines are silent in ten minutes of full load, and findings clear after the fault.
#include "faults/fault.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "nic/metrics.h"
#include "support/test.h"
#include "topology/built.h"

namespace fabric::faults {
namespace {

using test::complaints_of;
using test::describe;

constexpr double kSample = 1, kUp = 30 * 24 * kHour;  // seconds; the machine has been up for a month
constexpr int64_t kWall = 1'790'000'000;

// A machine with one reading a second, as the exporter has them.
class Watched {
 public:
  explicit Watched(const Machine& of) : machine(of), built_(std::make_shared<const Built>(built_of(of.now))) {
    machine.before = machine.now;
  }

  // A second of load, then `more`.
  void second(const std::function<void(Machine&)>& more = {}) {
    machine.before = machine.now;
    machine.now.taken += std::chrono::seconds(1);
    for (Port& port : machine.now.ports) load(port, kSample);
    if (more) more(machine);
    elapsed += kSample;
    View view = machine.view();
    view.built = built_;
    view.health = &health;
    advance_health(health, view, kUp + elapsed, kWall + static_cast<int64_t>(elapsed));
  }
  void seconds(int count) {
    for (int i = 0; i < count; ++i) second();
  }
  // The findings that the exporter publishes: by the states alone.
  [[nodiscard]] std::vector<Finding> found() const {
    View view = machine.view();
    Health shown = health;
    shown.states_only = true;
    view.built = built_;
    view.health = &shown;
    static const std::vector<std::string> kOfReadings{"link", "counters", "device"};  // other groups do not change here
    return complaints_of(view, kOfReadings);
  }
  [[nodiscard]] Findings blamed() const { return diagnose(machine.view()); }

  Machine machine;
  Health health;
  double elapsed = 0;

 private:
  std::shared_ptr<const Built> built_;  // a fault over time does not change it
};

// Every half minute a burst of congestion, with milliseconds of pause and sometimes a lost packet.
void bursts(Machine& m, int second) {
  if (second % 30 >= 5) return;
  m.raise(metrics::kCnpHandled, 2'000);
  m.raise(metrics::kEcnMarked, 5'000);
  m.raise(metrics::kPfcFrames, 500, "rx");
  m.raise(metrics::kPfcSeconds, 0.02, "rx");
  if (second % 120 == 0) m.raise(metrics::kOutOfSequence, 3);
}

class FullLoad : public testing::TestWithParam<Machine> {};

TEST_P(FullLoad, IsSilentForTenMinutes) {
  Watched watched(GetParam());
  for (int second = 0; second < 600; ++second) {
    watched.second([&](Machine& m) { bursts(m, second); });
    if (second % 23 != 0) continue;  // a reading of nearly each phase of the bursts
    ASSERT_EQ(describe(watched.found()), "") << "after " << second << " s";
    for (const Finding& each : watched.blamed())
      FAIL() << "after " << second << " s: " << each.id << " " << each.subject << " " << each.meaning;
  }
}
// Without machines that differ only in addresses or the number of cards: their load is the same.
std::vector<Machine> loaded() {
  static const std::set<std::string_view> kAlike{"ipv6", "vrf", "hgx8", "snc"};
  std::vector<Machine> out = healthy_machines();
  std::erase_if(out, [](const Machine& machine) { return kAlike.contains(machine.name); });
  return out;
}
INSTANTIATE_TEST_SUITE_P(Machine, FullLoad, testing::ValuesIn(loaded()),
                         [](const auto& each) { return each.param.name; });

struct Episode {
  const char* name;
  std::function<void(Machine&)> each_second;  // while it lasts: a minute
  std::string check;
  int report_after;  // seconds until it must be reported
  int clear_after;   // quiet seconds until it must be cleared
};

std::vector<Episode> episodes() {
  using namespace metrics;
  const auto raise = [](const Metric& metric, double by, const char* label = "") {
    return [&metric, by, label](Machine& m) { m.raise(metric, by, label); };
  };
  return {
      {"loss", raise(kOutOfSequence, 100'000), "loss", 30, 150},
      {"timeouts", raise(kAckTimeouts, 50), "loss", 30, 150},
      {"timeouts_of_many_connections_at_once",
       [second = 0](Machine& m) mutable {
         if (second++ % 6 == 0) m.raise(kAckTimeouts, 50);
       },
       "loss", 30, 150},
      {"discards", raise(kPriorityDiscards, 500), "discards", 5, 150},
      {"held_by_the_network", raise(kPfcSeconds, 0.95, "rx"), "pause-held", 25, 90},
      {"holds_the_network", raise(kPfcSeconds, 0.95, "tx"), "pause-storm", 25, 90},
      {"cnp_ignored", raise(kCnpIgnored, 500), "cnp-ignored", 10, 150},
      {"pcie_overflow", raise(kPcieOverflows, 100), "pcie-errors", 10, 150},
      {"little_light", [](Machine& m) { m.port().module->lanes[2].rx_power.value = 0.12e-3; }, "optics", 15, 90},
      {"module_warm", [](Machine& m) { m.port().module->temperature.value = 72; }, "module-temperature", 15, 90},
      {"frozen",
       [](Machine& m) {
         m.port().counters.hw = m.before.ports[1].counters.hw;
         m.port().counters.pma = m.before.ports[1].counters.pma;
       },
       "counters-frozen", 35, 60},
  };
}

class AnEpisode : public testing::TestWithParam<Episode> {};

TEST_P(AnEpisode, IsReportedAndCleared) {
  const Episode& episode = GetParam();
  Watched watched(healthy_machines().front());
  const auto module = watched.machine.port().module;
  watched.seconds(30);
  ASSERT_EQ(describe(watched.found()), "");

  int reported = -1;
  for (int second = 0; second < 60; ++second) {
    watched.second(episode.each_second);
    if (reported >= 0 && second % 5 != 0) continue;
    const auto found = watched.found();
    for (const Finding& each : found)
      EXPECT_EQ(each.id + " " + each.subject, episode.check + " " + watched.machine.port().id()) << describe(found);
    if (!found.empty() && reported < 0) reported = second + 1;
  }
  EXPECT_GE(reported, 0) << "never reported";
  EXPECT_LE(reported, episode.report_after);

  watched.machine.port().module = module;
  int gone = -1;
  for (int second = 0; second < 300 && gone < 0; ++second) {
    watched.second();
    if (second % 3 == 0 && watched.found().empty()) gone = second + 1;
  }
  EXPECT_GE(gone, 0) << "never cleared: " << describe(watched.found());
  EXPECT_LE(gone, episode.clear_after + 2);
  watched.seconds(60);
  EXPECT_EQ(describe(watched.found()), "") << "it came back";
}
INSTANTIATE_TEST_SUITE_P(Fault, AnEpisode, testing::ValuesIn(episodes()),
                         [](const auto& each) { return each.param.name; });

// The firmware hangs: the counters of one device cannot be read.
TEST(HungDevice, IsReportedWhenItsReadingsAreOld) {
  Watched watched(healthy_machines().front());
  const std::string port = watched.machine.port().id();
  watched.health.ages[port] = 5;
  watched.seconds(10);
  EXPECT_EQ(describe(watched.found()), "");
  watched.health.ages[port] = 75;
  watched.second();
  ASSERT_EQ(watched.found().size(), 1u) << describe(watched.found());
  EXPECT_EQ(watched.found().front().id + " " + watched.found().front().subject, "counters-frozen " + port);
  watched.health.ages[port] = 1;
  watched.second();
  EXPECT_EQ(describe(watched.found()), "");
}

}  // namespace
}  // namespace fabric::faults
