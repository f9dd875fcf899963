// SPDX-License-Identifier: Apache-2.0
// mlx5's health reporter "vnic" as agentd reads and publishes it, and as those without CAP_NET_ADMIN read that.
#include "agentd/vnic.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "metrics/telemetry.h"
#include "node/optics_state.h"
#include "node/published.h"
#include "node/scan.h"
#include "node/telemetry.h"
#include "node/vnic_state.h"
#include "support/ports.h"
#include "support/running_collector.h"
#include "support/series.h"
#include "support/sim_devlink.h"
#include "support/slow_nics.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using namespace std::chrono_literals;
using Counters = std::map<std::string, uint64_t>;

constexpr uint16_t kDevlink = 31;
constexpr const char* kFunction = "0000:17:00.0";

// devlink of one mlx5 function.
struct Firmware : test::SimDevlink {
  Firmware() {
    vnic = {{"cq_overrun", 5}, {"comp_eq_overrun", 2}, {"total_error_queues", 3}, {"icm_consumption", 1032}};
  }
};

class Devlink final : public Netlink {
 public:
  explicit Devlink(Firmware& firmware) : firmware_(firmware) {}

  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8 payload) override {
    if (type != GENL_ID_CTRL) return test::answer_devlink(firmware_, kDevlink, kFunction, payload);
    genlmsghdr header{};
    header.cmd = CTRL_CMD_NEWFAMILY;
    AttrWriter out;
    out.header(header).u16(CTRL_ATTR_FAMILY_ID, kDevlink);
    return std::vector{Message{type, out.data()}};
  }

 private:
  Firmware& firmware_;
};

// open_kernel() with this firmware.
auto opened_with(Firmware& firmware) {
  return [&firmware](const std::string& root) {
    auto kernel = open_kernel(root);
    if (kernel) kernel->generic = std::make_unique<Devlink>(firmware);
    return kernel;
  };
}

std::string published(const Counters& counters, double read) {
  return state::vnic_text({.functions = {{kFunction, counters}}}, read);
}

TEST(VnicFile, ReadsBackAsItWasWritten) {
  const auto again =
      state::parse_vnic(published({{"cq_overrun", UINT64_MAX}, {"a \"b\"", 0}}, 1000.7), "vnic.json", 1030);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->functions.at(kFunction), (Counters{{"cq_overrun", UINT64_MAX}, {"a \"b\"", 0}}));
  EXPECT_EQ(again->interval, 60);
  EXPECT_EQ(again->age, 30);
  EXPECT_EQ(again->read, 1000);
}

TEST(VnicFile, OneThatIsTooOldIsNobodys) {
  const std::string text = published({}, 1000);
  EXPECT_TRUE(state::parse_vnic(text, "vnic.json", 1000 + state::longest_age(60)).ok());
  const auto old = state::parse_vnic(text, "vnic.json", 1001 + state::longest_age(60));
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, ESTALE);
  EXPECT_TRUE(state::parse_vnic(text, "vnic.json", {}).ok()) << "without a clock: as it was then";
}

TEST(VnicFile, WhatIsMalformedIsNamed) {
  const auto fault = [](const std::string& members) {
    const auto read = state::parse_vnic(R"({"format":1,)" + members + "}", "vnic.json", {});
    return read ? std::string() : read.error().what;
  };
  EXPECT_EQ(fault(R"("interval":60)"), "vnic.json: read is missing");
  EXPECT_EQ(fault(R"("read":5,"interval":-1)"), "vnic.json: interval: out of range");
  EXPECT_TRUE(test::has(fault(R"("read":[)"), "vnic.json: parse error at line 1"));
  for (const char* value : {"-1", "1.5", "\"many\"", "[]", "1e30"})
    EXPECT_TRUE(test::has(
        fault(R"("read":5,"interval":60,"functions":{"0000:17:00.0":{"cq_overrun":)" + std::string(value) + "}}"),
        "vnic.json: functions: "))
        << value;
  EXPECT_EQ(fault(R"("read":5,"interval":60,"functions":{"0000:17:00.0":{"of a newer kernel":2}})"), "");
}

TEST(VnicFunctions, AreThoseWhoseQueuesTheRulesJudge) {
  Port port;
  port.netdev = "eth0";
  port.pci = kFunction;
  Port function = port, sub = port, representor = port, software = port, member = port;
  function.pci = "0000:17:00.2";
  test::make_virtual(function);
  sub.role = PortRole::subfunction;
  sub.owner = "mlx5_core.sf.4";
  representor.pci = "0000:19:00.0";
  representor.role = PortRole::representor;
  software.pci.clear();
  member.pci = "0000:18:00.0";
  test::make_member(member);
  EXPECT_EQ(agentd::functions_of({port, function, sub, representor, software, member, port}),
            (std::vector<std::string>{kFunction, "0000:17:00.2", "mlx5_core.sf.4"}));
}

TEST(VnicCounters, AreThoseOfTheSubfunctionItself) {
  Port sub;
  sub.pci = kFunction;
  sub.role = PortRole::subfunction;
  sub.owner = "mlx5_core.sf.4";
  sub.reporters = {{.name = "vnic"}};
  state::Vnic vnic{.functions = {{kFunction, {{"cq_overrun", 9}}}}};
  state::add_vnic(sub, vnic);
  EXPECT_EQ(sub.reporters[0].diagnosis, Counters{}) << "its function counts other queues";
  vnic.functions[sub.owner] = {{"cq_overrun", 2}};
  state::add_vnic(sub, vnic);
  EXPECT_EQ(sub.reporters[0].diagnosis, (Counters{{"cq_overrun", 2}}));
}

// Published once anything `holds` of it.
template <class Holds>
std::optional<state::Vnic> published_below(const test::Tree& tree, Holds holds) {
  for (int i = 0; i < 2'000; ++i) {
    const auto vnic = state::load_vnic(tree.root());
    if (vnic && *vnic && holds(**vnic)) return **vnic;
    std::this_thread::sleep_for(5ms);
  }
  return std::nullopt;
}

TEST(VnicWatch, PublishesWhatCouldBeRead) {
  test::Tree tree;
  agentd::VnicEnvironment environment;
  environment.directory = tree.path();
  environment.read = [](const std::string& pci) -> Result<Counters> {
    if (pci == "hangs") return error(ETIMEDOUT, pci);
    if (pci == "ice") return Counters{};
    return Counters{{"cq_overrun", 7}};
  };
  agentd::VnicWatch watch(std::move(environment));
  watch.set({"hangs", "ice", kFunction}, agentd::kVnicInterval);
  const auto first = published_below(tree, [](const state::Vnic&) { return true; });
  ASSERT_TRUE(first);
  EXPECT_EQ(first->functions, (std::map<std::string, Counters>{{kFunction, {{"cq_overrun", 7}}}}));
  EXPECT_EQ(first->interval, 60);
}

TEST(ThisKernel, AFunctionThatIsNotThereHasNoReporters) {
  const auto read = agentd::real_vnic_environment().read("ffff:ff:1f.7");
  if (read) EXPECT_TRUE(read->empty()) << "before Linux 6.6 the dump is of all devices";
}

// The driver ignores that a command failed, and its answer looks like counters that began again.
TEST(Vnic, IsNotAskedWhileTheFirmwareIsDown) {
  Firmware firmware;
  Devlink devlink(firmware);
  for (const bool answers : {true, false}) {
    firmware.firmware_answers = answers;
    auto reporters = devlink::health_reporters(devlink, kDevlink, {"pci", kFunction});
    ASSERT_TRUE(reporters.ok()) << reporters.error().text();
    ASSERT_TRUE(diagnose_vnic(devlink, kDevlink, {"pci", kFunction}, *reporters).ok());
    EXPECT_EQ(reporters->back().diagnosis, answers ? firmware.vnic : Counters{});
  }
  EXPECT_EQ(firmware.diagnosed, 1);
}

Counters counters_of(const Node& node) {
  for (const Port& port : node.ports)
    for (const HealthReporter& reporter : port.reporters)
      if (reporter.name == "vnic") return reporter.diagnosis;
  return {};
}

TEST(Scan, WithoutThePrivilegeTakesTheCountersThatArePublished) {
  test::Tree tree;
  test::add_rdma_nic(tree, "mlx5_0", "eth2", kFunction);
  Firmware firmware;
  const auto scanned = [&] {
    auto kernel = opened_with(firmware)(tree.path());
    EXPECT_TRUE(kernel.ok());
    return scan(*kernel, {.topology = false, .network = false});
  };
  const auto is_unseen = [](const Node& node) {
    return std::ranges::any_of(node.unseen,
                               [](const std::string& what) { return test::has(what, "faults of queues"); });
  };
  tree.file("proc/uptime", "1060.00 4000.00\n").file(state::kVnicFile, published({{"cq_overrun", 9}}, 1000));
  Node node = scanned();
  EXPECT_EQ(counters_of(node), firmware.vnic) << "who may asks the firmware itself";
  firmware.privileged = false;
  node = scanned();
  EXPECT_EQ(counters_of(node), (Counters{{"cq_overrun", 9}}));
  EXPECT_FALSE(is_unseen(node));
  tree.file("proc/uptime", "9060.00 4000.00\n");
  node = scanned();
  EXPECT_EQ(counters_of(node), Counters{}) << "fabric-agentd is gone";
  EXPECT_TRUE(is_unseen(node));
}

TEST(Collector, CountersOfQueuesAreShownAsLongAsTheyAreOfLate) {
  test::Tree tree;
  test::add_rdma_nic(tree, "mlx5_0", "eth2", kFunction);
  Firmware firmware;
  firmware.privileged = false;
  exporter::CollectorOptions options = test::collector_options(tree.path());
  options.open = opened_with(firmware);
  tree.file("proc/uptime", "1040.00 1.00\n")
      .file(state::kVnicFile, published({{"cq_overrun", 5}, {"quota_exceeded_command", 2}}, 1000));
  test::RunningCollector running(std::move(options));
  const std::string faults = "fabric_device_queue_faults_total{device=\"mlx5_0\"}",
                    age = "fabric_device_vnic_readings_age_seconds";
  std::string page = running.page();
  EXPECT_EQ(test::value(page, faults), 7);
  ASSERT_TRUE(test::value(page, age));
  EXPECT_GE(*test::value(page, age), 40);
  EXPECT_EQ(counters_of(running.node()).at("cq_overrun"), 5u) << "the rules see them";
  tree.file(state::kVnicFile, published({{"cq_overrun", 6}}, 1030));
  running.refresh();
  EXPECT_EQ(running.value(faults), 6);
  tree.file("proc/uptime", "9000.00 1.00\n");
  running.refresh();
  page = running.page();
  EXPECT_FALSE(test::has(page, "fabric_device_queue_faults")) << "fabric-agentd is gone";
  EXPECT_FALSE(test::has(page, "fabric_device_vnic_"));
  EXPECT_EQ(counters_of(running.node()), Counters{});
}

TEST(VnicFamilies, CountFaultsAndShowTheRestOnRequest) {
  Node node;
  Port& port = node.ports.emplace_back();
  port.rdma = "mlx5_0";
  port.reporters = {{.name = "fw"}, {.name = "vnic"}};
  const auto series = [&](RawCounters raw) {
    auto out = test::series_of([&](FamilySet& set) { add_telemetry(set, node, {raw, {}}); });
    std::erase_if(out, [](const auto& one) {
      return !one.first.starts_with("fabric_device_queue") && !one.first.starts_with("fabric_device_vnic") &&
             !test::has(one.first, "reporter=vnic");
    });
    return out;
  };
  const std::string at = ",device=mlx5_0";
  EXPECT_EQ(series(RawCounters::all), test::Series{}) << "not read";
  port.reporters[1].diagnosis = Firmware().vnic;
  const test::Series usual{{"fabric_device_queue_faults_total" + at, 7}};
  EXPECT_EQ(series(RawCounters::unmapped), usual);
  test::Series all = usual;
  for (const auto& [name, value] : port.reporters[1].diagnosis)
    all["fabric_device_vnic_counters" + at + ",counter=" + name] = static_cast<double>(value);
  EXPECT_EQ(series(RawCounters::all), all);
}

}  // namespace
}  // namespace fabric
