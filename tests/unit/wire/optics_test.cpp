// SPDX-License-Identifier: Apache-2.0
// Modules as agentd reads and publishes them, and as everybody else reads that.
#include "agentd/optics.h"

#include <atomic>
#include <future>

#include "node/optics_state.h"
#include "node/published.h"
#include "node/scan.h"
#include "support/netns.h"
#include "support/ports.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using namespace std::chrono_literals;

Transceiver module_of(const std::string& vendor) {
  Transceiver out;
  out.identifier = 0x11;
  out.form_factor = "QSFP28";
  out.standard = "SFF-8636";
  out.vendor = vendor;
  out.serial_number = "A\"1\\";
  out.medium = Medium::active_copper;
  out.cable_length = 3;
  out.temperature = {35.50390625, ModuleFlags{.high_warning = true}};
  out.voltage = {3.2951, {}};
  out.temperature_limits = {.high_alarm = 75, .low_alarm = -5, .high_warning = {}, .low_warning = 0};
  out.rx_power_limits = {.high_alarm = 0.0021877, .low_alarm = 1e-05, .high_warning = {}, .low_warning = {}};
  out.lanes = {{.number = 1,
                .rx_power = {1.234e-05, ModuleFlags{}},
                .tx_power = {0.001, {}},
                .tx_bias = {0.0075, {}},
                .rx_los = true,
                .rx_lol = {},
                .tx_los = false,
                .tx_lol = {},
                .tx_fault = false},
               {}};
  out.inputs = {{.side = ModuleSide::host, .lane = 1, .error_ratio = 3.2e-05, .snr = 21.25},
                {.side = ModuleSide::medium, .lane = 0, .error_ratio = 0.0, .snr = {}}};
  out.state = ModuleState::ready;
  out.fault_cause = "none";
  out.bad_checksums = {"page 00h bytes 128-221"};
  out.checksum_matched = true;
  return out;
}

bool are_same(const Transceiver& a, const Transceiver& b) {
  const auto texts = [](const Transceiver& m) {
    return std::tie(m.form_factor, m.standard, m.vendor, m.oui, m.part_number, m.revision, m.serial_number, m.date,
                    m.connector, m.technology, m.fault_cause, m.bad_checksums);
  };
  const auto numbers = [](const Transceiver& m) {
    return std::tie(m.identifier, m.medium, m.cable_length, m.temperature, m.voltage, m.state, m.lanes, m.inputs,
                    m.checksum_matched);
  };
  const auto limits = [](const Transceiver& m) {
    return std::tie(m.temperature_limits, m.voltage_limits, m.rx_power_limits, m.tx_power_limits, m.tx_bias_limits);
  };
  return texts(a) == texts(b) && numbers(a) == numbers(b) && limits(a) == limits(b);
}

TEST(OpticsFile, ReadsBackAsItWasWritten) {
  const state::Optics optics{{{"ens1f0np0", module_of("Acme")}, {"weird \"name\"", Transceiver{}}}, 60, 0, 0};
  const auto again = state::parse_optics(state::optics_text(optics, 1000.7), "optics.json", 1030);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->interval, 60);
  EXPECT_EQ(again->age, 30);
  EXPECT_EQ(again->read, 1000);
  ASSERT_EQ(again->modules.size(), 2u);
  EXPECT_TRUE(are_same(again->modules.at("ens1f0np0"), module_of("Acme"))) << state::optics_text(optics, 0);
  EXPECT_TRUE(are_same(again->modules.at("weird \"name\""), Transceiver{}));
}

TEST(OpticsFile, OneThatIsTooOldIsNobodys) {
  const std::string text = state::optics_text({{{"eth0", module_of("Acme")}}, 60, 0, 0}, 1000);
  EXPECT_TRUE(state::parse_optics(text, "optics.json", 1000 + state::longest_age(60)).ok());
  const auto old = state::parse_optics(text, "optics.json", 1001 + state::longest_age(60));
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, ESTALE);
  EXPECT_TRUE(state::parse_optics(text, "optics.json", {}).ok()) << "without a clock: as it was then";
}

TEST(OpticsFile, WhatIsMalformedIsNamed) {
  const auto fault = [](const std::string& members) {
    const auto read = state::parse_optics(R"({"format":1,)" + members + "}", "optics.json", {});
    return read ? std::string() : read.error().what;
  };
  EXPECT_EQ(fault(R"("interval":60)"), "optics.json: read is missing");
  EXPECT_EQ(fault(R"("read":5,"interval":-1)"), "optics.json: interval: out of range");
  EXPECT_TRUE(test::has(fault(R"("read":[)"), "optics.json: parse error at line 1"));
  EXPECT_EQ(fault(R"("read":5,"interval":60,"modules":{"eth0":{"identifier":700}})").substr(0, 43),
            "optics.json: modules: identifier: expected ");
  EXPECT_EQ(fault(R"("read":5,"interval":60,"modules":{"eth0":{"temperature":{"value":"hot"}}})"),
            "optics.json: modules: temperature: value: type must be number, but is string");
  EXPECT_EQ(fault(R"("read":5,"interval":60,"modules":{"eth0":{"state":9}})"),
            "optics.json: modules: state: out of range");
  EXPECT_EQ(fault(R"("read":5,"interval":60,"modules":{"eth0":{"lanes":[{"number":2}]}})"), "");
}

TEST(Cages, AreThoseOfPhysicalFunctions) {
  Port port;
  port.netdev = "eth0";
  port.pci = "0000:17:00.0";
  Port bond = port, member = port, function = port, software = port, infiniband = port;
  test::make_bond(bond);
  member.netdev = "eth1";
  test::make_member(member);
  function.netdev = "eth2";
  test::make_virtual(function);
  software.netdev = "eth3";
  software.pci.clear();
  infiniband.netdev.clear();
  EXPECT_EQ(agentd::cages_of({port, bond, member, function, software, infiniband, port}),
            (std::vector<std::string>{"eth0", "eth1"}));
}

// The published state of the watch, once it is one that `holds`.
template <class Holds>
std::optional<state::Optics> published(const test::Tree& tree, Holds holds) {
  for (int i = 0; i < 2'000; ++i) {
    const std::string text = test::slurp(tree.path() + "/" + state::kOpticsFile);
    if (auto optics = state::parse_optics(text, "published", {}); optics && holds(*optics)) return std::move(*optics);
    std::this_thread::sleep_for(5ms);
  }
  return std::nullopt;
}

TEST(Watch, PublishesWhatCouldBeReadAndFollowsTheNetdevs) {
  test::Tree tree;
  agentd::OpticsEnvironment environment;
  environment.directory = tree.path();
  environment.read = [](const std::string& netdev) -> Result<Transceiver> {
    if (netdev == "empty") return error(EIO, netdev);
    return module_of("of " + netdev);
  };
  agentd::OpticsWatch watch(std::move(environment));
  watch.set({"empty", "eth0"}, 1h);
  auto first = published(tree, [](const state::Optics& optics) { return optics.modules.contains("eth0"); });
  ASSERT_TRUE(first);
  EXPECT_EQ(first->modules.size(), 1u) << "a cage without a module has none";
  EXPECT_EQ(first->modules.at("eth0").vendor, "of eth0");
  EXPECT_EQ(first->interval, 3600);
  watch.set({"eth1"}, 1h);
  auto second = published(tree, [](const state::Optics& optics) { return optics.modules.contains("eth1"); });
  ASSERT_TRUE(second) << "others than before are read at once";
  EXPECT_EQ(second->modules.size(), 1u);
}

TEST(Watch, AReadThatHangsHoldsUpNobody) {
  test::Tree tree;
  auto gate = std::make_shared<std::promise<void>>();
  auto entered = std::make_shared<std::promise<void>>();
  auto opened = std::make_shared<std::shared_future<void>>(gate->get_future().share());
  {
    agentd::OpticsEnvironment environment;
    environment.directory = tree.path();
    environment.read = [entered, opened](const std::string&) -> Result<Transceiver> {
      entered->set_value();
      opened->wait();
      return error(ETIMEDOUT, "hung");
    };
    agentd::OpticsWatch watch(std::move(environment));
    watch.set({"eth0"}, 1h);
    entered->get_future().wait();
    watch.set({"eth0", "eth1"}, 0ms);
  }  // neither set() nor the end has waited
  EXPECT_FALSE(std::filesystem::exists(tree.path() + "/" + state::kOpticsFile));
  gate->set_value();
}

// How often a cage is asked in a day, after its first failure.
int asked_in_a_day(int code) {
  agentd::Patience patience;
  int asked = 0;
  for (agentd::Patience::Clock::time_point now{}, end = now + 24h; now < end; now += 60s) {
    if (!patience.due(now, "7")) continue;
    patience.failed(now, code, "7");
    ++asked;
  }
  return asked;
}

TEST(Patience, ADriverThatRefusesTheModuleIsAskedOnceAnHour) {
  EXPECT_GT(asked_in_a_day(EIO), 200) << "an empty cage may be filled";
  EXPECT_LT(asked_in_a_day(EINVAL), 32) << "each is an error in the kernel's log";
  agentd::Patience patience;
  const agentd::Patience::Clock::time_point now{};
  for (int i = 0; i < 10; ++i) patience.failed(now, EINVAL, "7");
  EXPECT_FALSE(patience.due(now + 59min, "7"));
  EXPECT_TRUE(patience.due(now + 60min, "7"));
  EXPECT_TRUE(patience.due(now + 1s, "8")) << "it has got a link: another module may be there";
  patience.failed(now, EIO, "8");
  EXPECT_TRUE(patience.due(now + 5min, "8"));
  patience.succeeded();
  EXPECT_TRUE(patience.due(now, ""));
}

TEST(Watch, NeverMeansNever) {
  test::Tree tree;
  agentd::OpticsEnvironment environment;
  environment.directory = tree.path();
  std::atomic<int> reads = 0;
  environment.read = [&](const std::string&) -> Result<Transceiver> { return ++reads, module_of("x"); };
  agentd::OpticsWatch watch(std::move(environment));
  watch.set({"eth0"}, 0ms);
  watch.set({}, 1h);
  EXPECT_EQ(reads, 0) << "there is no thread yet";
}

TEST(ThisKernel, AVethHasNoModule) {
  if (const std::string why = test::enter_netns_with_veth(); !why.empty()) GTEST_SKIP() << why;
  const auto environment = agentd::real_optics_environment();
  const auto module = environment.read("veth0");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().code, EOPNOTSUPP) << module.error().text();
  EXPECT_EQ(environment.read("nothing").error().code, ENODEV);
}

TEST(Scan, TakesWhatIsPublished) {
  test::Tree tree;
  const std::string device = "sys/class/infiniband/mlx5_0";
  const auto function =
      test::add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:24:00.0", "0x15b3", "0x1021", "0x020000", "1"});
  tree.folder(function + "/net/eth0").link(device + "/device", "../../../" + function.substr(4));
  tree.file(device + "/ports/1/state", "4: ACTIVE\n").file(device + "/ports/1/link_layer", "Ethernet\n");
  tree.file("sys/class/net/eth0/mtu", "4200\n");
  tree.file("proc/uptime", "1060.00 4000.00\n")
      .file(state::kOpticsFile, state::optics_text({{{"eth0", module_of("Acme")}}, 60, 0, 0}, 1000));
  auto kernel = open_kernel(tree.path());
  ASSERT_TRUE(kernel.ok());
  Node node = scan(*kernel, {.optics = true});
  ASSERT_EQ(node.ports.size(), 1u);
  ASSERT_TRUE(node.ports[0].module);
  EXPECT_EQ(node.ports[0].module->vendor, "Acme");
  tree.file("proc/uptime", "9060.00 4000.00\n");
  node = scan(*kernel, {.optics = true});
  EXPECT_FALSE(node.ports[0].module) << "agentd is gone";
  EXPECT_FALSE(scan(*kernel, {}).ports[0].module) << "not asked for";
}

}  // namespace
}  // namespace fabric
