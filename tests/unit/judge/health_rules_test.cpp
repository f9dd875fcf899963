// SPDX-License-Identifier: Apache-2.0
// Rules over time on a machine under load, reading by reading: a defect raises its rule and no other, and the finding
// clears by itself. More defects at one reading a second: tests/faults/load_test.cpp.
#include "judge/engine.h"
#include "judge/health_state.h"
#include "node/signals.h"
#include "support/counters.h"
#include "support/healthy_node.h"
#include "support/ports.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::complaints_of;
using test::describe;
using test::has;

constexpr double kPace = 10, kUp = 100'000;  // seconds between readings; how long the machine has been up

std::vector<Counter>& list_of(Port& port, const std::string& name) {
  if (name.starts_with("rx_prio") || name.starts_with("tx_") || name.starts_with("rx_corrected") ||
      name.starts_with("outbound"))
    return port.counters.ethtool;
  if (name.starts_with("port_") || name.starts_with("symbol") || name.starts_with("link_") ||
      name.starts_with("excessive") || name.starts_with("local_link"))
    return port.counters.pma;
  return port.counters.hw;
}

void grow(Port& port, const std::string& name, uint64_t by) {
  std::vector<Counter>& list = list_of(port, name);
  for (Counter& counter : list)
    if (counter.name == name) {
      counter.value += by;
      return;
    }
  list.push_back({name, by});
}

// Advances the states as the exporter does, by a clock of the test.
class Machine {
 public:
  // The second port has the defects.
  explicit Machine(int rails = 2) : node_(rails) {
    for (Port& port : node_.now.ports)
      for (const char* name :
           {"local_ack_timeout_err", "packet_seq_err", "rnr_nak_retry_err", "req_transport_retries_exceeded",
            "rp_cnp_handled", "np_ecn_marked_roce_packets", "rx_prio3_bytes", "tx_prio3_bytes", "port_xmit_discards",
            "port_xmit_packets", "link_error_recovery", "excessive_buffer_overrun_errors",
            "local_link_integrity_errors", "port_rcv_remote_physical_errors", "roce_adp_retrans",
            "rx_icrc_encapsulated", "rx_write_requests"})
        grow(port, name, 1000);
    health_.states_only = true;
  }

  Port& port() { return node_.now.ports[1]; }
  Node& now() { return node_.now; }

  // The second port becomes a bond. Its two members follow it, each with a cable and a module.
  void bond() {
    Port& bond = port();
    Port member = bond;
    test::make_bond(bond);
    test::make_member(member);
    bond.module.reset();
    bond.counters.ethtool.clear();
    member.counters.hw.clear();
    member.counters.pma.clear();
    member.gids.clear();
    member.reporters.clear();
    for (const char* netdev : {"ens1f1np1", "ens1f0np0"}) {
      member.netdev = netdev;
      node_.now.ports.insert(node_.now.ports.begin() + 2, member);
    }
  }
  Health& health() { return health_; }
  [[nodiscard]] double clock() const { return clock_; }
  void boot() { clock_ = 60; }
  void read_each_minute() { pace_ = 60; }
  void reads_nothing() { silent_ = true; }
  RulePolicy& limits() { return node_.policy.rules; }

  // The next reading, after full load and `happens`.
  void step(const std::function<void(Port&)>& happens = {}) {
    node_.before = node_.now;
    node_.now.taken += std::chrono::seconds(static_cast<int>(pace_));
    for (Port& each : node_.now.ports) load(each, static_cast<uint64_t>(pace_ / kPace));
    if (happens) happens(port());
    test::resolve(node_.before);
    test::resolve(node_.now);
    signals_ = signals_of(node_.before, node_.now);
    if (silent_) signals_.clear();
    look();
  }
  // The states advance without a new reading.
  void look() {
    clock_ += pace_;
    advance_health(health_, view(), clock_, static_cast<int64_t>(1'800'000'000 + clock_));
  }
  void steps(int count, const std::function<void(Port&)>& happens = {}) {
    for (int i = 0; i < count; ++i) step(happens);
  }

  [[nodiscard]] std::vector<Finding> found() const { return complaints_of(view(), {"counters", "device", "aer"}); }
  [[nodiscard]] std::string said() const { return describe(found()); }

  // The states as after a restart of the exporter.
  void restart() {
    const auto memory = parse_health(health_text({health_, {}}), "health.json");
    ASSERT_TRUE(memory) << memory.error().text();
    health_ = memory->health;
    health_.states_only = true;
  }

 private:
  // 400 Gb/s in both directions with the usual congestion control, pause, corrected bits, and one lost packet in a
  // million.
  static void load(Port& port, uint64_t times) {
    for (const char* name : {"rx_prio3_bytes", "tx_prio3_bytes"}) grow(port, name, times * uint64_t{500'000'000'000});
    grow(port, "rx_prio3_pause_duration", times * 1'500'000);  // 15 % of the time
    grow(port, "tx_prio3_pause_duration", times * 200'000);
    grow(port, "rx_corrected_bits_phy", times * 4'000'000);  // 1e-6
    if (port.is_member()) return;
    for (const char* name : {"port_xmit_data", "port_rcv_data"}) grow(port, name, times * uint64_t{12'500'000'000});
    for (const char* name : {"port_rcv_packets", "port_xmit_packets"}) grow(port, name, times * 120'000'000);
    for (const char* name : {"np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets"})
      grow(port, name, times * 20'000);
    for (const char* name : {"rnr_nak_retry_err", "out_of_buffer"}) grow(port, name, times * 50);
    grow(port, "out_of_sequence", times * 60);
    grow(port, "rx_write_requests", times * 4'000'000);
  }
  [[nodiscard]] View view() const {
    View out = node_.view();
    out.signals = &signals_;
    out.health = &health_;
    return out;
  }

  test::Healthy node_;
  Health health_;
  std::map<std::string, Signals> signals_;
  double clock_ = kUp, pace_ = kPace;
  bool silent_ = false;
};

struct Defect {
  const char* name;
  std::function<void(Port&)> happens;  // between two readings
  const char* check;
  Status status;
  int readings = 2;                     // until it is reported
  int quiet = 15;                       // good readings until it is cleared
  std::function<void(Port&)> mended{};  // ends a defect that lasts
};

std::function<void(Port&)> counted(const char* name, uint64_t by) {
  return [=](Port& port) { grow(port, name, by); };
}

void arrive_damaged(Port& port, double from_cable, double from_nic) {
  port.module->inputs = {{.side = ModuleSide::medium, .lane = 1, .error_ratio = from_cable, .snr = {}},
                         {.side = ModuleSide::host, .lane = 1, .error_ratio = from_nic, .snr = {}}};
}

const std::vector<Defect>& defects() {
  constexpr auto C = Status::critical, W = Status::warning;
  static const std::vector<Defect> all{
      {"link_flap", [](Port& port) { *port.counters.carrier_down += 2; }, "link-flap", W, 2, 12 * 360 + 10},
      {"link_flap_often", [](Port& port) { *port.counters.carrier_down += 3; }, "link-flap", C, 2, 12 * 360 + 10},
      {"bit_errors", counted("symbol_error", 60), "link-errors", W, 2, 800},
      {"icrc_errors", counted("rx_icrc_encapsulated", 60), "link-errors", W, 2, 800},
      {"link_recoveries", counted("link_error_recovery", 4), "link-errors", W},
      {"link_integrity", counted("local_link_integrity_errors", 1), "link-errors", W},
      {"pre_fec_ber", counted("rx_corrected_bits_phy", 200'000'000), "pre-fec-ber", W},
      {"fec_at_its_end", counted("rx_corrected_bits_phy", 2'000'000'000), "pre-fec-ber", C},
      {"much_loss", counted("packet_seq_err", 900'000), "loss", C},
      {"retransmissions", counted("roce_adp_retrans", 900'000), "loss", W},
      {"remote_physical_errors", counted("port_rcv_remote_physical_errors", 60), "loss", W},
      {"retries_exceeded", counted("req_transport_retries_exceeded", 1), "loss", W},
      {"port_discards", counted("port_xmit_discards", 4'000), "discards", W},
      {"buffer_overruns", counted("excessive_buffer_overrun_errors", 1), "discards", W},
      {"tx_pause_without_end", counted("tx_prio3_pause_duration", 9'900'000), "pause-storm", C, 2, 6},
      {"pause_storms", counted("tx_pause_storm_error_events", 1), "pause-storm", C},
      {"rnr_retries_exceeded", counted("req_rnr_retries_exceeded", 1), "receiver", W},
      {"request_errors", counted("req_cqe_error", 9), "requests", W},
      {"dying_laser", [](Port& port) { port.module->lanes[0].tx_bias.value = 14e-3; }, "optics", C, 2, 8,
       [](Port& port) { port.module->lanes[0].tx_bias.value = 7e-3; }},
      {"damaged_before_the_module", [](Port& port) { arrive_damaged(port, 5e-5, 1e-9); }, "pre-fec-ber", W, 2, 8,
       [](Port& port) { arrive_damaged(port, 1e-8, 1e-9); }},
      {"damaged_from_the_nic", [](Port& port) { arrive_damaged(port, 1e-9, 3e-4); }, "pre-fec-ber", C, 2, 8,
       [](Port& port) { arrive_damaged(port, 1e-9, 1e-8); }},
      {"very_hot_module", [](Port& port) { port.module->temperature.value = 78; }, "module-temperature", C, 2, 8,
       [](Port& port) { port.module->temperature.value = 50; }},
      {"gid_changed", [](Port& port) { port.gids[2].gid.back() = port.gids[2].gid.back() == '7' ? '8' : '7'; },
       "gid-changed", W, 1, 62},
      {"reporter_in_error", [](Port& port) { port.reporters[1].healthy = false; }, "device-health", C, 1, 2,
       [](Port& port) { port.reporters[1].healthy = true; }},
      {"reporter_without_recovery", [](Port& port) { port.reporters[0].healthy = false; }, "device-health", W, 1, 2,
       [](Port& port) { port.reporters[0].healthy = true; }},
      {"reporter_recovered", [](Port& port) { ++port.reporters[1].errors; }, "device-health", W, 1, 62},
  };
  return all;
}

class OneRule : public testing::TestWithParam<Defect> {};

TEST_P(OneRule, IsRaisedAloneAndClears) {
  const Defect& defect = GetParam();
  Machine machine;
  machine.steps(3);
  ASSERT_EQ(machine.said(), "");
  machine.steps(defect.readings, defect.happens);
  const auto found = machine.found();
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].id, defect.check);
  EXPECT_EQ(found[0].subject, "mlx5_1/1");
  EXPECT_EQ(found[0].status, defect.status) << describe(found);
  EXPECT_FALSE(found[0].since.empty());
  for (const std::string& sentence : {found[0].expected, found[0].meaning, found[0].remedy}) EXPECT_NE(sentence, "");
  if (defect.mended) defect.mended(machine.port());
  int quiet = defect.quiet;
  if (quiet > 1000) machine.read_each_minute(), quiet = quiet / 6 + 1;
  machine.steps(quiet);
  EXPECT_EQ(machine.said(), "");
}
INSTANTIATE_TEST_SUITE_P(Health, OneRule, testing::ValuesIn(defects()), test::kByName);

// `many` events every `every` minutes, and the text of the finding after two hours.
struct Slow {
  const char* name;
  unsigned speed;  // Mb/s
  int every, many;
  const char* says;  // empty: no finding
};
class SlowFault : public testing::TestWithParam<Slow> {};

TEST_P(SlowFault, IsReportedAfterHoursAndARestart) {
  const Slow& slow = GetParam();
  Machine machine;
  machine.read_each_minute();
  machine.port().speed = slow.speed;
  machine.port().rate = slow.speed / 8 * 1e6;
  const auto hour = [&] {
    for (int i = 0; i < 60; ++i)
      machine.step([&](Port& port) {
        if (i % slow.every == 0) grow(port, slow.name, static_cast<uint64_t>(slow.many));
      });
  };
  hour();
  machine.restart();
  hour();
  const auto has = [&] { return machine.said().find(slow.says) != std::string::npos; };
  EXPECT_TRUE(has()) << machine.said();
  if (*slow.says == 0) {
    EXPECT_EQ(machine.said(), "");
    return;
  }
  machine.steps(135);
  EXPECT_FALSE(has()) << "not cleared: " << machine.said();
}
INSTANTIATE_TEST_SUITE_P(Health, SlowFault,
                         testing::Values(Slow{"symbol_error", 400'000, 1, 3, "link-errors"},  // 1.25e-13
                                         Slow{"symbol_error", 400'000, 2, 1, ""},             // 2e-14
                                         Slow{"symbol_error", 100'000, 1, 3, ""},             // 5e-13
                                         Slow{"symbol_error", 50'000, 1, 6, "link-errors"},   // 2e-12
                                         Slow{"link_error_recovery", 400'000, 10, 1, "12 in 2 h"},
                                         Slow{"link_error_recovery", 400'000, 30, 1, ""}),
                         [](const auto& each) {
                           return std::string(each.param.name) + std::to_string(each.param.speed) + "every" +
                                  std::to_string(each.param.every);
                         });

// 180 corrected errors an hour are far below 1e-12 of the bits.
TEST(HealthRules, CorrectedPcieErrorsAreCountedOverHours) {
  for (const uint64_t many : {3u, 1u}) {
    Machine machine;
    machine.read_each_minute();
    const std::string pci = machine.port().pci;
    const auto total = [&]() -> std::optional<uint64_t>& {
      return machine.now().platform.functions.at(pci).correctable.total;
    };
    total() = 0;
    for (int i = 0; i < 121; ++i) machine.step([&](Port&) { *total() += many; });
    EXPECT_EQ(machine.said().find(pci) != std::string::npos, many == 3) << machine.said();
    machine.step();
    EXPECT_EQ(machine.said().find(pci) != std::string::npos, many == 3) << "between two errors: " << machine.said();
  }
}

TEST(HealthRules, AFabricThatReordersIsJudgedByTheOtherCounters) {
  test::Healthy node;
  for (PortPolicy& entry : node.policy.ports) entry.fabric.spraying = true;
  std::map<std::string, Signals> signals;
  for (const Port& port : node.now.ports)
    signals[port.id()] = {.seconds = 60, .rx_packets = 1e6, .out_of_sequence = 1e5, .sequence_naks = 0};
  View view = node.view();
  view.signals = &signals;
  const Findings found = run_rules(view, std::vector<std::string>{"loss"}).findings;
  EXPECT_FALSE(found.empty());
  for (const Finding& finding : found)
    EXPECT_TRUE(finding.observed.starts_with("no sequence NAKs")) << finding.subject << ": " << finding.observed;
}

TEST(HealthRules, AGidWithAnUnreadTypeIsTheSameGid) {
  Machine machine;
  machine.steps(3);
  const std::string type = machine.port().gids[2].type, other = type == "RoCE v2" ? "IB/RoCE v1" : "RoCE v2";
  for (const std::string& next : {std::string(), type}) {
    machine.step([&](Port& port) { port.gids[2].type = next; });
    EXPECT_EQ(machine.said(), "") << next;
  }
  machine.step([&](Port& port) { port.gids[2].type = other; });
  const auto found = machine.found();
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].id, "gid-changed");
  EXPECT_TRUE(has(found[0].observed, type + " -> " + other)) << found[0].observed;
}

TEST(HealthRules, AFindingOfABondNamesItsMember) {
  Machine machine;
  machine.bond();
  Port &first = machine.now().ports[2], &second = machine.now().ports[3];
  machine.steps(3);
  ASSERT_EQ(machine.said(), "");
  second.module->lanes[2].rx_power.value = 7e-5;
  machine.steps(2);
  EXPECT_EQ(machine.said(),
            "optics mlx5_1/1@ens1f1np1 warning: lane 3 rx power -11.5 dBm (limits: -10 dBm to 4.5 dBm)\n");
  second.carrier = false;
  machine.steps(8);
  EXPECT_TRUE(has(machine.said(), "@ens1f1np1")) << "a state does not clear without a reading";
  second.carrier = true;
  second.module->lanes[2].rx_power.value = 1e-3;
  machine.steps(8);
  EXPECT_EQ(machine.said(), "");
  first.module->temperature.value = 71;
  machine.steps(2, [&](Port&) { grow(second, "rx_corrected_bits_phy", 200'000'000); });
  const auto found = machine.found();
  ASSERT_EQ(found.size(), 2u) << describe(found);
  EXPECT_EQ(found[0].id + " " + found[0].subject, "pre-fec-ber mlx5_1/1@ens1f1np1");
  EXPECT_EQ(found[1].id + " " + found[1].subject, "module-temperature mlx5_1/1@ens1f0np0");
}

// The page with the lanes is read separately and may fail alone.
TEST(HealthRules, LanesThatCannotBeReadClearNothing) {
  Machine machine;
  std::vector<ModuleLane>& lanes = machine.now().ports[1].module->lanes;
  lanes[2].rx_power.value = 7e-5;
  machine.steps(3);
  const std::string said = machine.said();
  EXPECT_TRUE(has(said, "optics")) << said;
  for (ModuleLane& lane : lanes) lane = {lane.number, {}, {}, {}, {}, {}, {}, {}, {}};
  machine.steps(12);
  EXPECT_EQ(machine.said(), said) << "a state does not clear without a reading";
}

// A link in INIT is trained, and only lacks its subnet manager: its symbol errors are damage.
TEST(HealthRules, SymbolErrorsCountWithoutASubnetManager) {
  Machine machine;
  machine.port().state = kPortInit;
  machine.port().carrier.reset();
  machine.steps(3, counted("port_rcv_errors", 0));
  ASSERT_EQ(machine.said(), "");
  machine.steps(2, counted("symbol_error", 400));
  EXPECT_TRUE(has(machine.said(), "link-errors")) << machine.said();
}

// The RDMA state follows the carrier later.
TEST(HealthRules, LightIsNotJudgedWithoutACarrier) {
  Machine machine;
  machine.port().carrier = false;
  machine.port().module->lanes[2].rx_power.value = 7e-5;
  machine.steps(4);
  EXPECT_EQ(machine.said(), "");
}

// The bond stays ACTIVE on its other member.
TEST(HealthRules, LightIsNotJudgedOnAMemberWithoutALink) {
  Machine machine;
  machine.bond();
  Port& second = machine.now().ports[3];
  second.carrier = false;
  second.module->lanes[2].rx_power.value = 7e-5;
  machine.steps(4);
  EXPECT_EQ(machine.said(), "");
}

TEST(HealthRules, AFewEventsInOneReadingAreNoFinding) {
  Machine machine;
  machine.steps(3);
  for (const char* name : {"symbol_error", "local_ack_timeout_err", "rx_prio3_discards", "rp_cnp_ignored",
                           "outbound_pci_buffer_overflow", "req_cqe_error"}) {
    machine.step(counted(name, 2));
    EXPECT_EQ(machine.said(), "") << name;
    machine.steps(8);
  }
  machine.step([](Port& port) { ++*port.counters.carrier_down; });
  EXPECT_EQ(machine.said(), "") << "one link down shows in its counter alone";
}

TEST(HealthRules, OneBadReadingIsNotConfirmed) {
  for (const char* name : {"out_of_sequence", "rx_corrected_bits_phy"}) {
    Machine machine;
    machine.steps(3);
    machine.step(counted(name, 20'000));
    machine.steps(10);
    EXPECT_EQ(machine.said(), "") << name;
  }
}

TEST(HealthRules, LinksThatComeUpAtBootDoNotFlap) {
  Machine machine;
  machine.boot();
  for (int i = 0; i < 20; ++i) {
    machine.step([](Port& port) { *port.counters.carrier_down += 2; });
    ASSERT_EQ(machine.said(), "");
  }
  machine.steps(200);  // the grace is over
  EXPECT_EQ(machine.said(), "") << "flaps during the grace do not count later";
  machine.steps(2, [](Port& port) { *port.counters.carrier_down += 2; });
  EXPECT_NE(machine.said(), "");
}

// Links that come up at boot may flap, but not lose packets.
TEST(HealthRules, TheGraceIsForFlapsAlone) {
  Machine machine;
  machine.boot();
  machine.steps(3);
  machine.steps(3, counted("out_of_sequence", 50'000));
  EXPECT_TRUE(has(machine.said(), "loss")) << machine.said();
}

TEST(HealthRules, ADriverThatIsReloadedDoesNotFlap) {
  Machine machine;
  machine.steps(3);
  machine.step([](Port& port) {
    port.ifindex += 100;
    port.counters.carrier_down = 0;
  });
  machine.steps(5, [](Port& port) { *port.counters.carrier_down += 2; });
  EXPECT_EQ(machine.said(), "");
  machine.steps(20);
  machine.steps(2, [](Port& port) { *port.counters.carrier_down += 2; });
  EXPECT_NE(machine.said(), "") << "two minutes later it counts";
}

// /etc/init.d/openibd restart, or a machine with one NIC: for some seconds there is no RDMA device.
TEST(HealthRules, DriversThatAreReloadedTogetherDoNotFlap) {
  for (const size_t gone : {1u, 4u}) {
    Machine machine(4);
    machine.steps(3);
    auto ports = machine.now().ports;
    ASSERT_GE(ports.size(), gone);
    machine.now().ports = gone == 1 ? std::vector<Port>(ports.begin() + 2, ports.end()) : std::vector<Port>();
    machine.look();
    machine.look();
    for (Port& port : ports) port.ifindex += gone == 1 && &port != &ports[1] ? 0 : 100, port.counters.carrier_down = 0;
    machine.now().ports = ports;
    machine.look();
    machine.steps(5, [](Port& port) { *port.counters.carrier_down += 2; });
    EXPECT_EQ(machine.said(), "") << gone;
    machine.steps(20);
    machine.steps(2, [](Port& port) { *port.counters.carrier_down += 2; });
    EXPECT_NE(machine.said(), "") << gone << ": two minutes later it counts";
  }
}

// InfiniBand without IPoIB has no netdev with a new index.
TEST(HealthRules, AnInfinibandDriverThatIsReloadedDoesNotFlap) {
  Machine machine;
  for (Port& port : machine.now().ports) port.ifindex = 0, port.netdev.clear();
  machine.steps(3);
  const auto ports = std::exchange(machine.now().ports, {});
  machine.look();
  machine.now().ports = ports;
  machine.look();
  machine.steps(5, [](Port& port) { *port.counters.carrier_down += 2; });
  EXPECT_EQ(machine.said(), "");
}

// A NIC is removed, and another one gets its name later: it has none of the findings of the first.
TEST(HealthRules, ACardWithTheNameOfARemovedOneHasNoHistory) {
  Machine machine;
  machine.steps(3);
  machine.steps(2, [](Port& port) { *port.counters.carrier_down += 2; });
  ASSERT_EQ(machine.found().size(), 1u) << machine.said();
  const auto ports = std::exchange(machine.now().ports, {});
  machine.look();
  machine.now().ports = ports;
  machine.port().pci = "0000:c1:00.0", machine.port().ifindex += 100;
  machine.step();
  EXPECT_EQ(machine.said(), "");
}

// The firmware needs longer than the interval: every other reading is without this device.
TEST(HealthRules, ASlowDeviceIsNotANewOne) {
  Machine machine;
  const std::string slow = machine.port().id();
  machine.steps(3);
  for (int i = 0; i < 4; ++i) {
    machine.step([](Port& port) { *port.counters.carrier_down += 2; });
    const auto ports = machine.now().ports;
    machine.health().ages = {{slow, 10}};
    machine.now().ports.erase(machine.now().ports.begin() + 1);
    machine.look();
    machine.now().ports = ports;
    machine.health().ages.clear();
  }
  const auto found = machine.found();
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].id, "link-flap");
}

// After a reload of the driver another card has the name: it has none of the findings of the first.
TEST(HealthRules, AnotherCardOfTheSameNameHasNoHistory) {
  Machine machine;
  machine.steps(3);
  machine.steps(2, [](Port& port) { *port.counters.carrier_down += 2; });
  ASSERT_EQ(machine.found().size(), 1u) << machine.said();
  machine.step([](Port& port) { port.pci = "0000:c1:00.0", port.ifindex += 100; });
  EXPECT_EQ(machine.said(), "");
}

// The times are from the file of another boot, or a damaged one.
TEST(HealthRules, ADeviceFromTheFutureHasNoGrace) {
  Machine machine;
  machine.steps(3);
  for (auto& [port, device] : machine.health().devices) device.since = machine.clock() + 1e6;
  machine.steps(3, [](Port& port) { *port.counters.carrier_down += 2; });
  EXPECT_NE(machine.said(), "");
}

// Unclassified traffic uses priority 0, and the RDMA counters of a virtual function are its own.
TEST(HealthRules, TrafficThatMayBeOthersFreezesNoCounters) {
  for (const bool sriov : {true, false}) {
    Machine machine;
    if (sriov) {
      Nic function = machine.now().topology.nics[1];
      function.role = FunctionRole::virtual_function;
      function.pci.replace(function.pci.size() - 3, 1, "1");
      function.rdma.clear();
      machine.now().topology.nics.push_back(function);
    } else {
      machine.port().qos.pfc = PrioSet{0x01};
    }
    const Port idle = machine.port();
    machine.steps(6, [&](Port& port) {
      port.counters.hw = idle.counters.hw;
      port.counters.pma = idle.counters.pma;
      for (const char* name : {"rx_prio0_bytes", "tx_prio0_bytes"}) grow(port, name, uint64_t{50'000'000'000});
    });
    EXPECT_EQ(machine.said(), "") << sriov;
  }
}

// A storage port with PFC for NVMe over TCP has no registered memory.
TEST(HealthRules, CountersOfAPortWithoutRegisteredMemoryAreNotFrozen) {
  for (const uint64_t regions : {0u, 128u}) {
    Machine machine;
    machine.port().resources = {{"qp", "", 1}, {"mr", "", regions}};
    const Port idle = machine.port();
    machine.steps(6, [&](Port& port) {
      port.counters.hw = idle.counters.hw;
      port.counters.pma = idle.counters.pma;
      for (const char* name : {"rx_prio3_bytes", "tx_prio3_bytes"}) grow(port, name, uint64_t{50'000'000'000});
    });
    EXPECT_EQ(has(machine.said(), "counters-frozen"), regions > 0) << machine.said();
  }
}

// [rules.roce-unprotected] much_traffic holds for every rule that judges RDMA by its bytes.
TEST(HealthRules, LittleTrafficFreezesNoCounters) {
  for (const double much : {100e6, 1e14}) {
    Machine machine;
    machine.limits().by_id["roce-unprotected"].limits["much_traffic"] = much;
    const Port idle = machine.port();
    machine.steps(6, [&](Port& port) {
      port.counters.hw = idle.counters.hw;
      port.counters.pma = idle.counters.pma;
      for (const char* name : {"rx_prio3_bytes", "tx_prio3_bytes"}) grow(port, name, uint64_t{50'000'000'000});
    });
    EXPECT_EQ(has(machine.said(), "counters-frozen"), much == 100e6) << machine.said();
  }
}

// A site may give a VLAN any name.
TEST(HealthRules, TheGidOfAVlanIsThePortsOwn) {
  Machine machine;
  machine.port().gids.push_back({7, "0000:0000:0000:0000:0000:ffff:0a02:0007", "RoCE v2", "roce100", true});
  machine.steps(3);
  EXPECT_EQ(machine.said(), "");
  machine.step([](Port& port) { port.gids.pop_back(); });
  EXPECT_TRUE(has(machine.said(), "gid-changed")) << machine.said();
}

// Containers bring interfaces with GIDs of their own and take them away.
TEST(HealthRules, GidsOfARemovedInterfaceAreNoChange) {
  Machine machine;
  const Gid pods{7, "0000:0000:0000:0000:0000:ffff:0a02:0007", "RoCE v2", "net1"};
  machine.port().gids.push_back(pods);
  machine.steps(3);
  machine.step([&](Port& port) { port.gids.back().gid.back() = '9'; });
  EXPECT_EQ(machine.said(), "") << "another container has the index";
  machine.step([](Port& port) { port.gids.pop_back(); });
  EXPECT_EQ(machine.said(), "");
  machine.step([](Port& port) { port.gids.pop_back(); });
  EXPECT_NE(machine.said(), "") << "a GID of the port itself";
}

// The CRC of a frame is right where its ICRC is read: the link of this port is not at fault.
TEST(HealthRules, AWrongIcrcAloneIsNoFaultOfTheCable) {
  for (const char* counter : {"rx_icrc_encapsulated", "symbol_error"}) {
    Machine machine;
    machine.steps(3);
    machine.steps(3, counted(counter, 60));
    const auto found = machine.found();
    ASSERT_EQ(found.size(), 1u) << describe(found);
    EXPECT_EQ(found[0].id, "link-errors");
    EXPECT_EQ(found[0].remedy.find("replace the cable") == std::string::npos, counter[3] == 'i') << found[0].remedy;
  }
}

// EFA's transport changes paths after a timeout.
TEST(HealthRules, TimeoutsOfEfaAreNoLoss) {
  Machine machine;
  machine.port().kernel_driver = "efa";
  machine.steps(2);
  machine.steps(6, counted("retrans_timeout_events", 400));
  EXPECT_EQ(machine.said(), "");
}

// InfiniBand has credits, EFA no priorities.
TEST(HealthRules, OnlyEthernetHasPfcAsARemedy) {
  for (const LinkLayer layer : {LinkLayer::infiniband, LinkLayer::unknown, LinkLayer::ethernet})
    for (const char* counter : {"port_xmit_discards", "out_of_sequence"}) {
      Machine machine;
      machine.port().link_layer = layer;
      machine.steps(3);
      machine.steps(3, counted(counter, 50'000));
      const auto found = machine.found();
      ASSERT_EQ(found.size(), 1u) << describe(found);
      EXPECT_EQ(found[0].remedy.find("PFC") != std::string::npos, layer == LinkLayer::ethernet) << found[0].remedy;
    }
}

TEST(HealthRules, CountersThatWereResetAreNoRise) {
  Machine machine;
  machine.steps(3);
  machine.step([](Port& port) {
    for (auto* list : {&port.counters.hw, &port.counters.pma, &port.counters.ethtool})
      for (Counter& counter : *list) counter.value = 0;
  });
  machine.steps(5);
  EXPECT_EQ(machine.said(), "");
}

// The switch restarts, and all links train again.
TEST(HealthRules, ErrorsDuringLinkTrainingAreNoBadCable) {
  const auto train = [](Machine& machine, uint64_t damaged_frames) {
    machine.steps(3, counted("port_rcv_errors", 0));
    machine.step([](Port& port) {
      ++*port.counters.carrier_down;
      port.carrier = false;
    });
    machine.steps(5);
    machine.step([=](Port& port) {
      port.carrier = true;
      grow(port, "symbol_error", 5'000);
      grow(port, "port_rcv_errors", damaged_frames);
    });
  };
  Machine switch_restarts, cable_is_bad;
  train(switch_restarts, 0);
  EXPECT_EQ(switch_restarts.said(), "");
  switch_restarts.steps(2, counted("symbol_error", 400));
  EXPECT_EQ(switch_restarts.found().size(), 1u) << "errors after the training";
  train(cable_is_bad, 300);
  EXPECT_EQ(cable_is_bad.found().size(), 1u) << cable_is_bad.said();
}

TEST(HealthRules, WithoutReadingsAFindingStaysForAWhile) {
  Machine machine;
  machine.steps(3);
  machine.steps(2, counted("symbol_error", 400));
  machine.reads_nothing();
  machine.steps(60);
  const auto found = machine.found();
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].id, "link-errors");
  machine.steps(40);
  EXPECT_EQ(machine.said(), "");
}

TEST(HealthRules, ARestartKeepsTheStates) {
  Machine machine;
  machine.steps(3);
  machine.step([](Port& port) { *port.counters.carrier_down += 2; });
  machine.restart();
  machine.step([](Port& port) { ++*port.counters.carrier_down; });
  ASSERT_EQ(machine.found().size(), 1u) << machine.said();
  const std::string since = machine.found()[0].since;
  machine.restart();
  machine.step();
  ASSERT_EQ(machine.found().size(), 1u) << machine.said();
  EXPECT_EQ(machine.found()[0].since, since);
}

TEST(HealthRules, TheConfiguredLimitApplies) {
  Machine machine;
  machine.limits().by_id["loss"].windows["out_of_sequence"] = {std::nullopt, std::nullopt};
  machine.steps(3);
  machine.steps(5, counted("out_of_sequence", 500'000));
  EXPECT_EQ(machine.said(), "") << "the rule is off";
}

// Counters by priority include the traffic of all functions of the wire: those in a container's namespace of RDMA
// devices, and those that are ports of their own.
TEST(HealthRules, CountersAreNotFrozenIfOtherFunctionsUseTheWire) {
  const auto said = [](const std::function<void(Topology&)>& change) {
    Machine machine;
    change(machine.now().topology);
    machine.steps(3);
    Port idle = machine.port();
    machine.steps(4, [&](Port& port) {
      port.counters.hw = idle.counters.hw;
      port.counters.pma = idle.counters.pma;
    });
    return machine.said();
  };
  const auto twin = [](const char* pci) {
    return [pci](Topology& topology) {
      Nic& own = topology.nics[1];
      own.card = "b83f:d203:0012:3450";
      Nic other = own;  // a copy: push_back() may move the others
      other.pci = pci;
      other.root = "pci0000:a0";
      other.bridges = {"0000:a0:01.0"};
      topology.nics.push_back(other);
    };
  };
  EXPECT_NE(said([](Topology&) {}), "");
  EXPECT_EQ(said([](Topology& topology) { topology.nics[1].subfunctions = true; }), "");
  EXPECT_EQ(said(twin("0000:a1:00.0")), "") << "socket direct: one port, a function in either socket";
}

TEST(HealthRules, PcieErrorsCountAgainstTheBitsOfTheLink) {
  Machine machine;
  auto& function = machine.now().platform.functions.begin()->second;
  function.link = {16, 16, 16, 16};
  function.correctable.total = 5;
  machine.steps(3);
  // x16 at 16 GT/s: 15.4 a minute are allowed.
  machine.steps(6, [&](Port&) { *function.correctable.total += 2; });
  EXPECT_EQ(machine.said(), "");
  machine.steps(2, [&](Port&) { *function.correctable.total += 10; });
  const auto found = machine.found();
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].id, "aer");
  EXPECT_EQ(found[0].status, Status::warning);
}

// One error in one reading: critical for the whole window.
TEST(HealthRules, AnUncorrectablePcieErrorStaysCritical) {
  for (AerCounts PlatformFunction::*member : {&PlatformFunction::fatal, &PlatformFunction::nonfatal}) {
    Machine machine;
    auto& counts = machine.now().platform.functions.begin()->second.*member;
    counts.total = 5;
    machine.steps(3);
    EXPECT_EQ(machine.said(), "");
    machine.steps(1, [&](Port&) { ++*counts.total; });
    machine.steps(8);
    const auto found = machine.found();
    ASSERT_EQ(found.size(), 1u) << describe(found);
    EXPECT_EQ(found[0].id, "aer");
    EXPECT_EQ(found[0].status, Status::critical);
    EXPECT_TRUE(has(found[0].observed, "none in this reading")) << found[0].observed;
  }
}

// Drivers without `devlink dev reload` are unbound and bound. Unbinding fails after a failed probe: ";", not "&&".
TEST(HealthRules, TheRemedyReloadsTheDriverInItsWay) {
  struct {
    const char *driver, *command;
  } const rows[]{
      {"mlx5_core", "devlink dev reload pci/0000:18:00.0 action fw_activate"},
      {"bnxt_en", "devlink dev reload pci/0000:18:00.0 action fw_activate"},
      {"ice", "devlink dev reload pci/0000:18:00.0 action fw_activate"},
      {"ionic",
       "echo 0000:18:00.0 > /sys/bus/pci/drivers/ionic/unbind; echo 0000:18:00.0 > /sys/bus/pci/drivers/ionic/bind"},
      {"efa", "echo 0000:18:00.0 > /sys/bus/pci/drivers/efa/unbind; echo 0000:18:00.0 > /sys/bus/pci/drivers/efa/bind"},
  };
  for (const auto& row : rows) {
    Port port;
    port.rdma = "rdma0";
    port.pci = "0000:18:00.0";
    port.kernel_driver = row.driver;
    EXPECT_EQ(fill_names("devlink dev reload pci/{pci} action fw_activate", &port, port.id()), row.command);
  }
  EXPECT_EQ(fill_names("devlink dev reload pci/{pci}", nullptr, "0000:18:00.0"), "devlink dev reload pci/0000:18:00.0");
  Port port;
  port.pci = "0000:18:00.0";
  port.kernel_driver = "mlx5_core";
  port.role = PortRole::subfunction;
  port.owner = "mlx5_core.sf.4";
  EXPECT_EQ(fill_names("devlink health diagnose pci/{pci} reporter vnic; journalctl -k -g {pci}", &port, port.id()),
            "devlink health diagnose auxiliary/mlx5_core.sf.4 reporter vnic; journalctl -k -g 0000:18:00.0");
  EXPECT_TRUE(has(rebind_commands("0000:18:00.0", ""), "/drivers/DRIVER/bind"));
}

TEST(HealthRules, AnAcknowledgedFindingDoesNotCount) {
  Machine machine;
  machine.steps(3);
  machine.steps(2, counted("symbol_error", 400));
  Report report;
  report.findings = machine.found();
  ASSERT_EQ(worst(report), Status::warning);
  mark_acknowledged(
      report, {{"link-errors", "mlx5_0*", 0, 100, "", ""}, {"link-errors", "mlx5_1*", 0, 100, "ops", "cable ordered"}},
      50);
  EXPECT_EQ(worst(report), Status::ok);
  EXPECT_TRUE(report.findings[0].acknowledged);
  EXPECT_EQ(report.findings[0].acknowledgement, "by ops until 1970-01-01T00:01:40Z: cable ordered");
  Report later;
  later.findings = machine.found();
  mark_acknowledged(later, {{"link-errors", "", 0, 100, "", ""}}, 100);
  EXPECT_EQ(worst(later), Status::warning) << "the acknowledgement expired";
}

}  // namespace
}  // namespace fabric
