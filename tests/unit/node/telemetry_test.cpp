// SPDX-License-Identifier: Apache-2.0
// Telemetry other than counters: the readings of a device, their interval, the text of a failure, and their metrics.
#include "node/telemetry.h"

#include <linux/devlink.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "kernel/kernel.h"
#include "kernel/rdma/nldev.h"
#include "metrics/counters.h"
#include "metrics/families.h"
#include "metrics/telemetry.h"
#include "support/counters.h"
#include "support/ports.h"
#include "support/series.h"
#include "support/sim_nic_sockets.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Counts = std::vector<ResourceCount>;

constexpr uint16_t kEthtool = 30, kDevlink = 31;

// Generic netlink with an answer, or an errno, for each command of each family.
class Generic final : public Netlink {
 public:
  std::map<std::pair<uint16_t, uint8_t>, Result<std::vector<Message>>> answers;
  std::map<std::pair<uint16_t, uint8_t>, int> asked;

  void answer(uint16_t family, uint8_t command, const AttrWriter& reply) {
    answers.insert_or_assign({family, command}, std::vector{Message{family, reply.data()}});
  }
  void fail(uint16_t family, uint8_t command, int code) {
    answers.insert_or_assign({family, command}, error(code, "simulated"));
  }

  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8 payload) override {
    if (type == GENL_ID_CTRL)
      return std::vector{
          Message{type, test::generic_reply(CTRL_CMD_NEWFAMILY).u16(CTRL_ATTR_FAMILY_ID, kDevlink).data()}};
    genlmsghdr header{};
    if (payload.size() < sizeof header) return error(EINVAL, "simulated");
    std::memcpy(&header, payload.data(), sizeof header);
    ++asked[{type, header.cmd}];
    const auto known = answers.find({type, header.cmd});
    return known == answers.end() ? Result<std::vector<Message>>(error(EOPNOTSUPP, "simulated")) : known->second;
  }
};

struct Told : Port {
  Attempt attempt;
};
template <class Reader>
Told told(Reader&& reader) {
  Told out;
  out.attempt = reader.read(out);
  return out;
}

class Reading : public testing::Test {
 protected:
  Reading() : root(std::move(Root::open(tree.path())).value()) {
    port.rdma = "mlx5_0";
    port.netdev = "eth0";
    port.pci = "0000:17:00.0";
    rdma.devices[4] = {.name = "mlx5_0",
                       .resources = {{"cq", 3}, {"mr", 200}, {"pd", 2}, {"qp", 17}},
                       .limits = {{"mr", 1'000'000}, {"pd", 0}, {"qp", 131'072}},
                       .resources_errno = 0,
                       .owners = {{"cq", {.user = 1, .kernel = 1}}}};
    AttrWriter statistics;
    const std::array<uint64_t, 3> corrected{7, 3, 4};
    statistics.bytes(ETHTOOL_A_FEC_STAT_CORRECTED, std::as_bytes(std::span(corrected)));
    generic.answer(kEthtool, ETHTOOL_MSG_FEC_GET,
                   test::generic_reply(ETHTOOL_MSG_FEC_GET_REPLY)
                       .u32(ETHTOOL_A_FEC_ACTIVE, ETHTOOL_LINK_MODE_FEC_RS_BIT)
                       .nest(ETHTOOL_A_FEC_STATS, statistics));
    generic.answer(kEthtool, ETHTOOL_MSG_LINKSTATE_GET,
                   test::generic_reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY).u8(ETHTOOL_A_LINKSTATE_LINK, 1));
    has_reporter("fw");
  }
  void has_reporter(const std::string& name) {
    AttrWriter reporter;
    reporter.text(DEVLINK_ATTR_HEALTH_REPORTER_NAME, name)
        .u8(DEVLINK_ATTR_HEALTH_REPORTER_STATE, 0)
        .u64(DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 2)
        .u64(DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 0);
    generic.answer(kDevlink, DEVLINK_CMD_HEALTH_REPORTER_GET,
                   test::generic_reply(DEVLINK_CMD_HEALTH_REPORTER_GET)
                       .text(DEVLINK_ATTR_BUS_NAME, "pci")
                       .text(DEVLINK_ATTR_DEV_NAME, port.pci)
                       .bytes(DEVLINK_ATTR_HEALTH_REPORTER, reporter.data()));
  }
  TelemetryReader reader() { return {TelemetryAccess{root, &generic, ethtool::Family{kEthtool, 0}, &rdma}, port}; }
  int asked(uint16_t family, uint8_t command) { return generic.asked[{family, command}]; }

  test::Tree tree;
  Root root;
  Generic generic;
  test::SimRdma rdma;
  Port port;
};

TEST_F(Reading, TakesAllThereIs) {
  const Attempt attempt = reader().read(port);
  EXPECT_TRUE(attempt.success) << attempt.error;
  EXPECT_EQ(port.link_status, (LinkStatus{true, "", "", {}}));
  ASSERT_TRUE(port.fec);
  EXPECT_EQ(port.fec->active, FecCode::rs);
  EXPECT_EQ(port.fec->corrected_blocks, (FecCount{7, {3, 4}}));
  EXPECT_EQ(port.reporters, (std::vector<HealthReporter>{{"fw", true, 2, 0, false}}));
  EXPECT_EQ(port.resources, (std::vector<ResourceCount>{
                                {"cq", "", 3}, {"mr", "", 200, 1'000'000}, {"pd", "", 2}, {"qp", "", 17, 131'072}}));
}

// The kernel asks no driver for the reason of a netdev that is down.
TEST_F(Reading, SaysThatTheNetdevIsSwitchedOff) {
  const auto reason = [&](uint8_t link, const char* flags) {
    generic.answer(kEthtool, ETHTOOL_MSG_LINKSTATE_GET,
                   test::generic_reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY).u8(ETHTOOL_A_LINKSTATE_LINK, link));
    tree.file("sys/class/net/eth0/flags", flags);
    return told(reader()).link_status->reason;
  };
  EXPECT_EQ(reason(0, "0x1002\n"), "Switched off");
  EXPECT_EQ(reason(0, "0x1003\n"), "") << "up, and without a link";
  EXPECT_EQ(reason(1, "0x1002\n"), "") << "a link is there: IPMI or a wake-up call keeps it";
  generic.fail(kEthtool, ETHTOOL_MSG_LINKSTATE_GET, EOPNOTSUPP);  // an old kernel, or a captured tree
  port.state = 1;
  EXPECT_EQ(told(reader()).link_status, (LinkStatus{false, "Switched off", "", {}}));
  // A bond's member has the RDMA state of the bond, whose other member has a link.
  Port member = port;
  test::make_member(member);
  member.state = kPortActive;
  member.carrier = false;
  (void)reader().read(member);
  EXPECT_EQ(member.link_status, (LinkStatus{false, "Switched off", "", {}}));
  member.carrier = true;
  (void)reader().read(member);
  EXPECT_EQ(member.link_status, std::nullopt);
  tree.file("sys/class/net/eth0/flags", "0x1003\n");
  EXPECT_EQ(told(reader()).link_status, std::nullopt);
}

TEST_F(Reading, WhoMadeTheObjectsIsToldToWhoAsks) {
  (void)reader().read(port);
  EXPECT_EQ(rdma.owner_dumps, 0) << "one reading alone is not worth it";
  OwnerReader owners;
  const TelemetryAccess access{root, &generic, ethtool::Family{kEthtool, 0}, &rdma, &owners};
  TelemetryReader asking(access, port), next(access, port);
  const std::vector<ResourceCount> expected{{"cq", "", 3},           {"mr", "", 200, 1'000'000}, {"pd", "", 2},
                                            {"qp", "", 17, 131'072}, {"cq", "user", 1},          {"cq", "kernel", 1}};
  for (int i = 0; i < 2; ++i) {
    const Told read = told(asking);
    EXPECT_TRUE(read.attempt.success) << read.attempt.error;
    EXPECT_EQ(read.resources, expected);
  }
  EXPECT_EQ(told(next).resources, expected);
  EXPECT_EQ(rdma.owner_dumps, 3) << "one of each kind, and not again within a minute, whichever reader";
  rdma.devices[4].resources_errno = EIO;
  EXPECT_TRUE(told(next).resources.empty()) << "without the totals none of their parts";
}

TEST_F(Reading, WhatTheDriverDoesNotHaveIsAskedOnce) {
  generic.fail(kEthtool, ETHTOOL_MSG_FEC_GET, EOPNOTSUPP);
  auto each = reader();
  for (int i = 0; i < 3; ++i) {
    const Told read = told(each);
    EXPECT_TRUE(read.attempt.success) << read.attempt.error;
    EXPECT_FALSE(read.fec);
    EXPECT_TRUE(read.link_status);
  }
  EXPECT_EQ(asked(kEthtool, ETHTOOL_MSG_FEC_GET), 1);
  EXPECT_EQ(asked(kEthtool, ETHTOOL_MSG_LINKSTATE_GET), 3);
}

TEST_F(Reading, WhatFailsIsLeftAloneAndSaid) {
  generic.fail(kEthtool, ETHTOOL_MSG_FEC_GET, EIO);
  rdma.devices[4].resources_errno = EPERM;
  auto each = reader();
  for (int i = 0; i < 3; ++i) {
    const Told read = told(each);
    EXPECT_FALSE(read.attempt.success);
    EXPECT_TRUE(test::has(read.attempt.error, "eth0: read FEC")) << read.attempt.error;
    EXPECT_FALSE(read.fec);
    EXPECT_TRUE(read.resources.empty());
    EXPECT_TRUE(read.link_status) << "the others go on";
  }
  EXPECT_EQ(asked(kEthtool, ETHTOOL_MSG_FEC_GET), 1);
}

TEST_F(Reading, ReportersAreAskedOnceAMinute) {
  auto each = reader();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(told(each).reporters.size(), 1u);
  EXPECT_EQ(asked(kDevlink, DEVLINK_CMD_HEALTH_REPORTER_GET), 1);
}

TEST_F(Reading, TheFaultsOfQueuesAreReadByThoseWhoMay) {
  has_reporter("vnic");
  AttrWriter list;
  list.text(DEVLINK_ATTR_FMSG_OBJ_NAME, "cq_overrun")
      .u8(DEVLINK_ATTR_FMSG_OBJ_VALUE_TYPE, 3)
      .u32(DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, 4);
  generic.answer(kDevlink, DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE,
                 test::generic_reply(DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE).bytes(DEVLINK_ATTR_FMSG, list.data()));
  const std::map<std::string, uint64_t> expected{{"cq_overrun", 4}};
  EXPECT_EQ(told(reader()).reporters.at(0).diagnosis, expected);
  generic.fail(kDevlink, DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE, EPERM);
  const Told read = told(reader());
  EXPECT_TRUE(read.attempt.success) << "no failure without CAP_NET_ADMIN: " << read.attempt.error;
  EXPECT_TRUE(read.reporters.at(0).diagnosis.empty());
}

TEST_F(Reading, ADeviceWithoutDevlinkIsNoFailure) {
  generic.fail(kDevlink, DEVLINK_CMD_HEALTH_REPORTER_GET, ENODEV);
  const Told read = told(reader());
  EXPECT_TRUE(read.attempt.success) << read.attempt.error;
  EXPECT_TRUE(read.reporters.empty());
}

TEST_F(Reading, OfACapturedTreeThereIsNothing) {
  TelemetryReader none(TelemetryAccess{root}, port);
  EXPECT_FALSE(none.any());
  const Told read = told(none);
  EXPECT_TRUE(read.attempt.success);
  EXPECT_FALSE(read.link_status);
  EXPECT_FALSE(read.fec);
}

TEST(Resources, AnythingElseIsNone) {
  EXPECT_TRUE(nldev::parse_resources({}).empty());
  AttrWriter entry, table, out;
  entry.text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "qp").u32(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, 3);
  table.nest(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, entry);
  out.nest(RDMA_NLDEV_ATTR_RES_SUMMARY, table);
  EXPECT_TRUE(nldev::parse_resources(out.data()).empty()) << "a count of half its size";
}

// fill_res_info() of Linux 7.3 has the limit in an int.
TEST_F(Reading, ALimitThatDoesNotFitIsNone) {
  auto& limits = rdma.devices[4].limits;
  limits = {
      {"cq", INT32_MAX}, {"mr", static_cast<uint64_t>(int64_t{-1})}, {"qp", static_cast<uint64_t>(int64_t{INT32_MIN})}};
  (void)reader().read(port);
  EXPECT_EQ(port.resources,
            (std::vector<ResourceCount>{{"cq", "", 3, INT32_MAX}, {"mr", "", 200}, {"pd", "", 2}, {"qp", "", 17}}));
}

using test::Series;
const std::string kAt = ",device=mlx5_0,port=1";

Node node_with(Port port) {
  port.rdma = "mlx5_0";
  Node node;
  node.ports.push_back(std::move(port));
  return node;
}

Series telemetry_of(const Node& node, const Published& published = test::kEverything) {
  return test::series_of([&](FamilySet& set) { add_telemetry(set, node, published); });
}

TEST(TelemetryFamilies, WhatWasNotReadHasNoSeries) { EXPECT_EQ(telemetry_of(node_with({})), Series{}); }

TEST(TelemetryFamilies, TheReasonShowsWhileItIsKnown) {
  Port port;
  port.link_status = LinkStatus{false, "Autoneg", "No partner detected", 5};
  EXPECT_EQ(telemetry_of(node_with(port)),
            (Series{{"fabric_link_down_reason_info" + kAt + ",reason=Autoneg,detail=No partner detected", 1},
                    {"fabric_phy_link_downs_total" + kAt, 5}}));
}

TEST(TelemetryFamilies, WhatTheCountersSayIsNotSaidTwice) {
  Port port;
  port.link_status = LinkStatus{true, "", "", 5};
  port.fec = FecStatus{FecCode::rs, {}, {7, {3, 4}}, {1, {}}, {90, {}}};
  port.counters.ethtool = {{"link_down_events_phy", 4}, {"rx_corrected_bits_phy", 80}};
  test::resolve(port);
  const Node node = node_with(port);
  const Series all = test::series_of([&](FamilySet& set) {
    add_counters(set, node.ports[0]);
    add_telemetry(set, node, test::kEverything);
  });
  EXPECT_EQ(all, (Series{{"fabric_phy_link_downs_total" + kAt, 4},
                         {"fabric_phy_fec_corrections_total" + kAt, 80},
                         {"fabric_phy_fec_info" + kAt + ",mode=rs", 1},
                         {"fabric_phy_fec_corrected_words_total" + kAt, 7},
                         {"fabric_phy_fec_lane_corrected_words_total" + kAt + ",lane=0", 3},
                         {"fabric_phy_fec_lane_corrected_words_total" + kAt + ",lane=1", 4},
                         {"fabric_phy_fec_uncorrectable_words_total" + kAt, 1}}));
}

TEST(TelemetryFamilies, OfADeviceOnceHoweverManyPortsItHas) {
  Node node;
  for (unsigned number : {1u, 2u}) {
    Port port;
    port.rdma = "mlx5_0";
    port.number = number;
    port.pci = "0000:17:00.0";
    port.resources = {{"pd", "", 9}, {"qp", "", 8}, {"qp", "user", 5}, {"qp", "kernel", 2}};
    port.reporters = {{"fw", false, 2, 1}, {"tx", true, 4, 4}};
    node.ports.push_back(port);
  }
  node.platform.functions["0000:17:00.0"].correctable.total = 12;
  node.platform.functions["0000:17:00.0"].fatal.total = 0;
  const std::string at = ",device=mlx5_0";
  EXPECT_EQ(telemetry_of(node), (Series{{"fabric_rdma_resources" + at + ",kind=qp", 8},
                                        {"fabric_rdma_resources_by_owner" + at + ",kind=qp,owner=user", 5},
                                        {"fabric_rdma_resources_by_owner" + at + ",kind=qp,owner=kernel", 2},
                                        {"fabric_device_healthy" + at, 0},
                                        {"fabric_device_health_errors_total" + at + ",reporter=fw", 2},
                                        {"fabric_device_health_errors_total" + at + ",reporter=tx", 4},
                                        {"fabric_device_recoveries_total" + at, 5},
                                        {"fabric_pcie_errors_total" + at + ",severity=correctable", 12},
                                        {"fabric_pcie_errors_total" + at + ",severity=fatal", 0}}));
}

ModuleLane lane(unsigned number, double rx_power) {
  ModuleLane out;
  out.number = number;
  out.rx_power.value = rx_power;
  return out;
}

TEST(TelemetryFamilies, AModuleSaysItsWorstAndItsLimitsOnce) {
  Port port;
  Transceiver& module = port.module.emplace();
  module.form_factor = "QSFP28";
  module.medium = Medium::optical;
  module.temperature = {35.5, ModuleFlags{}};
  module.rx_power_limits = {.high_alarm = 0.002, .low_alarm = 0.0001, .high_warning = 0.001, .low_warning = {}};
  module.lanes = {lane(1, 0.0005), lane(2, 0.00001)};
  module.lanes[0].rx_power.flags = ModuleFlags{};
  module.lanes[0].rx_los = false;
  module.lanes[1].rx_power.flags = ModuleFlags{.low_alarm = true, .low_warning = true};
  module.lanes[1].rx_los = true;
  EXPECT_EQ(telemetry_of(node_with(port)),
            (Series{{"fabric_module_info" + kAt +
                         ",form_factor=QSFP28,vendor=,part_number=,serial_number=,medium=optical,technology=",
                     1},
                    {"fabric_module_temperature_celsius" + kAt, 35.5},
                    {"fabric_module_rx_power_watts" + kAt + ",lane=1", 0.0005},
                    {"fabric_module_rx_power_watts" + kAt + ",lane=2", 0.00001},
                    {"fabric_module_rx_power_lowest_watts" + kAt, 0.00001},
                    {"fabric_module_flag" + kAt + ",reading=temperature", 0},
                    {"fabric_module_flag" + kAt + ",reading=rx_power", 2},
                    {"fabric_module_lanes_without_signal" + kAt + ",side=medium", 1},
                    {"fabric_module_rx_power_limit_watts" + kAt + ",limit=low_alarm", 0.0001},
                    {"fabric_module_rx_power_limit_watts" + kAt + ",limit=high_warning", 0.001},
                    {"fabric_module_rx_power_limit_watts" + kAt + ",limit=high_alarm", 0.002}}));
}

TEST(TelemetryFamilies, AModuleSaysWhatArrivesAtItsSides) {
  Port port;
  port.module.emplace().inputs = {{.side = ModuleSide::medium, .lane = 1, .error_ratio = 1e-9, .snr = 22},
                                  {.side = ModuleSide::medium, .lane = 5, .error_ratio = 3e-5, .snr = 21},
                                  {.side = ModuleSide::host, .lane = 1, .error_ratio = 0.0, .snr = {}}};
  Series series = telemetry_of(node_with(port));
  std::erase_if(series, [](const auto& one) { return one.first.starts_with("fabric_module_info"); });
  EXPECT_EQ(series, (Series{{"fabric_module_input_bit_error_ratio" + kAt + ",side=medium", 3e-5},
                            {"fabric_module_input_bit_error_ratio" + kAt + ",side=host", 0},
                            {"fabric_module_input_snr_decibels" + kAt + ",side=medium", 21}}));
}

// A breakout, or a link of two lanes in a module of four: the other lanes are not at fault.
TEST(TelemetryFamilies, LanesThatALinkDoesNotUseAreNotItsWeakest) {
  Port port;
  port.module.emplace().lanes = {lane(1, 0.0005), lane(2, 0)};
  port.module->lanes[0].rx_power.flags = ModuleFlags{};
  port.module->lanes[1].rx_power.flags = ModuleFlags{.low_alarm = true, .low_warning = true};
  const std::string lowest = "fabric_module_rx_power_lowest_watts" + kAt,
                    flag = "fabric_module_flag" + kAt + ",reading=rx_power";
  for (const bool is_up : {true, false}) {
    port.state = is_up ? kPortActive : 1;
    Series series = telemetry_of(node_with(port));
    const auto value = [&](const std::string& name) {
      const auto at = std::ranges::find(series, name, &Series::value_type::first);
      return at == series.end() ? -1 : at->second;
    };
    EXPECT_EQ(value(lowest), is_up ? 0.0005 : 0);
    EXPECT_EQ(value(flag), is_up ? 0 : 2);
  }
}

// Detail is published on request; values that rules judge are always published.
TEST(TelemetryFamilies, LanesAndLimitsAreGroups) {
  Port port;
  port.rdma = "mlx5_0";
  port.number = 1;
  port.fec = FecStatus{FecCode::rs, {}, {9, {4, 5}}, {}, {}};
  Transceiver& module = port.module.emplace();
  module.temperature_limits.high_alarm = 75;
  module.lanes = {lane(1, 0.001), lane(2, 0.0005)};
  const auto names = [&](std::vector<SeriesGroup> groups) {
    std::set<std::string> out;
    for (const auto& [series, one] : telemetry_of(node_with(port), {RawCounters::unmapped, std::move(groups)}))
      out.insert(series.substr(0, series.find(',')));
    return out;
  };
  const std::set<std::string> usual{"fabric_phy_fec_info", "fabric_phy_fec_corrected_words_total", "fabric_module_info",
                                    "fabric_module_rx_power_lowest_watts"};
  EXPECT_EQ(names({}), usual);
  std::set<std::string> lanes = usual, limits = usual;
  lanes.insert({"fabric_phy_fec_lane_corrected_words_total", "fabric_module_rx_power_watts"});
  limits.insert("fabric_module_temperature_limit_celsius");
  EXPECT_EQ(names({SeriesGroup::lanes}), lanes);
  EXPECT_EQ(names({SeriesGroup::module_limits}), limits);
}

TEST(TelemetryFamilies, EveryLimitOfEveryReadingHasItsLine) {
  Port port;
  Transceiver& module = port.module.emplace();
  double next = 1;
  for (ModuleLimits* limits : {&module.temperature_limits, &module.voltage_limits, &module.rx_power_limits,
                               &module.tx_power_limits, &module.tx_bias_limits}) {
    *limits = {next, next + 1, next + 2, next + 3};
    next += 4;
  }
  Series got = telemetry_of(node_with(port)), wanted;
  std::erase_if(got, [](const auto& one) { return one.first.find("_limit_") == std::string::npos; });
  next = 1;
  for (const char* name : {"temperature_limit_celsius", "voltage_limit_volts", "rx_power_limit_watts",
                           "tx_power_limit_watts", "tx_bias_limit_amperes"})
    for (const char* limit : {"high_alarm", "low_alarm", "high_warning", "low_warning"})
      wanted["fabric_module_" + std::string(name) + kAt + ",limit=" + limit] = next++;
  EXPECT_EQ(got, wanted);
}

// One RDMA device, two cables.
TEST(TelemetryFamilies, OfABondEachMemberHasItsOwn) {
  Port bond, member;
  test::make_bond(bond);
  test::make_member(member);
  bond.state = member.state = 4;
  bond.rate = member.rate = 50e9;
  Node node = node_with(bond);
  member.rdma = "mlx5_0";
  member.fec = FecStatus{FecCode::rs, {}, {7, {}}, {}, {}};
  for (const char* netdev : {"eth0", "eth1"}) {
    member.netdev = netdev;
    member.carrier = member.netdev == "eth0";
    node.ports.push_back(member);
  }
  node.ports[2].link_status = LinkStatus{false, "No cable", "", {}};
  node.ports[1].module.emplace().temperature.value = 40;
  Series got = test::series_of([&](FamilySet& set) {
    for (const Port& port : node.ports) add_link(set, port);
    add_telemetry(set, node, test::kEverything);
  });
  std::erase_if(got, [](const auto& one) {
    return one.first.starts_with("fabric_port_info") || one.first.starts_with("fabric_module_info");
  });
  const std::string at0 = kAt + "@eth0", at1 = kAt + "@eth1";
  EXPECT_EQ(got, (Series{{"fabric_port_state" + kAt, 4},
                         {"fabric_port_up" + kAt, 1},
                         {"fabric_port_rate_bytes_per_second" + kAt, 50e9},
                         {"fabric_port_up" + at0, 1},
                         {"fabric_port_carrier" + at0, 1},
                         {"fabric_port_up" + at1, 0},
                         {"fabric_port_carrier" + at1, 0},
                         {"fabric_link_down_reason_info" + at1 + ",reason=No cable,detail=", 1},
                         {"fabric_phy_fec_info" + at0 + ",mode=rs", 1},
                         {"fabric_phy_fec_corrected_words_total" + at0, 7},
                         {"fabric_phy_fec_info" + at1 + ",mode=rs", 1},
                         {"fabric_phy_fec_corrected_words_total" + at1, 7},
                         {"fabric_module_temperature_celsius" + at0, 40}}));
}

// -- Owners of RDMA objects

// RDMA netlink with so many objects of each kind, a message each, or an errno.
class Objects final : public Netlink {
 public:
  std::map<std::string, nldev::Owners> have{{"qp", {2, 1}}, {"cq", {1, 1}}, {"mr", {4, 0}}};
  std::map<std::string, int> failure, asked;
  std::chrono::milliseconds takes{0};

  Result<std::vector<Message>> talk(uint16_t, uint16_t, View8) override { return error(EPROTO, "not as a whole"); }
  Result<void> dump(uint16_t type, View8, std::chrono::milliseconds patience, const Take& take) override {
    for (const test::ResourceKind& each : test::kResourceKinds) {
      if (RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, each.command) != type) continue;
      ++asked[each.name];
      EXPECT_GT(patience.count(), 0);
      for (uint64_t i = 0; i < have[each.name].user + have[each.name].kernel; ++i) {
        AttrWriter table, out;
        table.nest(each.entry, test::resource_entry(i < have[each.name].kernel));
        take(type, out.u32(RDMA_NLDEV_ATTR_DEV_INDEX, 4).nest(each.table, table).data());
      }
      if (takes.count() > 0) {
        const auto end = std::chrono::steady_clock::now() + std::min(takes, patience);
        while (std::chrono::steady_clock::now() < end) {
        }
        if (takes > patience) return error(ETIMEDOUT, "simulated");
      }
      return failure[each.name] != 0 ? Result<void>(error(failure[each.name], "simulated")) : Result<void>();
    }
    return error(EINVAL, "simulated");
  }
  // The counts of the summary.
  Counts totals() {
    Counts out{{"ctx", "", 1}};
    for (const test::ResourceKind& each : test::kResourceKinds)
      out.push_back({each.name, "", have[each.name].user + have[each.name].kernel});
    return out;
  }
  int asked_in_all() const {
    int sum = 0;
    for (const auto& [name, times] : asked) sum += times;
    return sum;
  }
};

class Owners : public testing::Test {
 protected:
  // The published counts after a reading at that time from the start; the failure, if any, in `failed`.
  Counts read_at(std::chrono::milliseconds time) {
    Counts counts = rdma.totals();
    auto done = reader.read(rdma, device, counts, start + time);
    failed = done ? 0 : done.error().code;
    const size_t totals = counts.size();
    reader.add_to(counts);
    return {counts.begin() + static_cast<ptrdiff_t>(totals), counts.end()};
  }

  Objects rdma;
  OwnerReader reader;
  uint32_t device = 4;
  int failed = 0;
  const OwnerReader::Clock::time_point start = OwnerReader::Clock::now();
};

const Counts kAll{{"qp", "user", 2},   {"qp", "kernel", 1}, {"cq", "user", 1},
                  {"cq", "kernel", 1}, {"mr", "user", 4},   {"mr", "kernel", 0}};

TEST_F(Owners, StandBesideTheTotals) {
  EXPECT_EQ(read_at(seconds(0)), kAll);
  EXPECT_EQ(failed, 0);
  Counts none;
  reader.add_to(none);
  EXPECT_TRUE(none.empty()) << "without a total there is no part of it";
}

TEST_F(Owners, AreReadAgainWhenTheCountHasChangedAndOnceAMinute) {
  read_at(seconds(0));
  rdma.have["qp"] = {7, 1};
  EXPECT_EQ(read_at(seconds(59)), kAll);
  EXPECT_EQ(rdma.asked_in_all(), 3);
  EXPECT_EQ(read_at(seconds(60)).front(), (ResourceCount{"qp", "user", 7}));
  EXPECT_EQ(rdma.asked, (std::map<std::string, int>{{"qp", 2}, {"cq", 1}, {"mr", 1}})) << "the others are as they were";
  read_at(minutes(9));
  EXPECT_EQ(rdma.asked_in_all(), 4);
  rdma.have["cq"] = {0, 2};
  EXPECT_EQ(read_at(minutes(10))[2], (ResourceCount{"cq", "user", 0}))
      << "one instead of another: seen after ten minutes";
  EXPECT_EQ(rdma.asked, (std::map<std::string, int>{{"qp", 2}, {"cq", 2}, {"mr", 2}}));
}

TEST_F(Owners, WhatTheKernelCannotTellIsAbsentAndNoFailure) {
  for (int code : {EOPNOTSUPP, EINVAL, ETIMEDOUT}) {
    device = static_cast<uint32_t>(code);
    rdma.failure["qp"] = code;
    EXPECT_EQ(read_at(seconds(0)), Counts(kAll.begin() + 2, kAll.end())) << code;
    EXPECT_EQ(failed, 0);
  }
}

TEST_F(Owners, AFailureIsSaidUntilItIsTriedAgain) {
  read_at(seconds(0));
  rdma.have["cq"] = {5, 5};
  rdma.failure["cq"] = EIO;
  std::vector<int> tried;
  for (int time = 1; time <= 60; ++time) {
    const int before = rdma.asked["cq"];
    EXPECT_EQ(read_at(minutes(time)).size(), 4u) << "what was known before is no answer";
    EXPECT_EQ(failed, EIO);
    if (rdma.asked["cq"] > before) tried.push_back(time);
  }
  EXPECT_EQ(tried, (std::vector<int>{1, 2, 4, 8, 16, 26, 36, 46, 56}));
  rdma.failure.clear();
  EXPECT_EQ(read_at(minutes(66))[2], (ResourceCount{"cq", "user", 5}));
  EXPECT_EQ(failed, 0);
}

TEST_F(Owners, OfAnotherDeviceIsReadAtOnce) {
  read_at(seconds(0));
  device = 5;
  read_at(seconds(1));
  EXPECT_EQ(rdma.asked_in_all(), 6);
}

TEST_F(Owners, AReadingWaitsForThemOnlySoLong) {
  rdma.takes = std::chrono::milliseconds(350);
  EXPECT_TRUE(read_at(seconds(0)).empty());
  EXPECT_EQ(rdma.asked_in_all(), 1) << "one used it up";
  EXPECT_EQ(failed, 0);
  rdma.takes = std::chrono::milliseconds(0);
  EXPECT_EQ(read_at(seconds(5)), Counts(kAll.begin() + 2, kAll.end())) << "the others come with the next reading";
  read_at(seconds(59));
  EXPECT_EQ(rdma.asked["qp"], 1);
  EXPECT_EQ(read_at(seconds(60)), kAll);
}

}  // namespace
}  // namespace fabric
