// SPDX-License-Identifier: Apache-2.0
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>

#include <set>

#include "agentd/messages.h"
#include "agentd/monitor.h"
#include "agentd/options.h"
#include "agentd/schedule.h"
#include "enforce/suspect.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::agentd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::has;

TEST(Schedule, OneTaskPerBurstAtTheEarliestTime) {
  const Task check{TaskKind::reconcile_port, "mlx5_0/1"}, other{TaskKind::reconcile_port, "mlx5_1/1"},
      reread{TaskKind::reread};
  Schedule schedule;
  qos::Instant start{};
  EXPECT_FALSE(schedule.next());
  schedule.at(check, start + milliseconds(20));
  schedule.at(check, start + milliseconds(30));
  schedule.at(other, start + milliseconds(10));
  schedule.at(reread, start + seconds(5));
  EXPECT_EQ(schedule.next(), start + milliseconds(10));
  EXPECT_EQ(schedule.take(start + milliseconds(25)), (std::vector{other, check}));
  schedule.cancel(reread);
  EXPECT_FALSE(schedule.next());
}

template <class Struct>
Bytes with_header(const Struct& header, const AttrWriter& attributes) {
  AttrWriter writer;
  writer.header(header);
  Bytes out = writer.data();
  out.insert(out.end(), attributes.data().begin(), attributes.data().end());
  return out;
}

TEST(Monitor, ADcbNotificationNamesItsNetdev) {
  dcbmsg header{};
  header.cmd = DCB_CMD_IEEE_SET;
  Bytes message = with_header(header, AttrWriter().text(DCB_ATTR_IFNAME, "ens1f0np0"));
  Notification note = parse_route(RTM_SETDCB, message);
  EXPECT_EQ(note.link.name, "ens1f0np0");
  EXPECT_EQ(note.how, NotificationKind::dcb);
}

TEST(Monitor, LinkMessagesAreToldApart) {
  ifinfomsg header{};
  header.ifi_index = 7;
  Bytes message = with_header(header, AttrWriter().text(IFLA_IFNAME, "eth0").u32(IFLA_MTU, 4200));
  Notification note = parse_route(RTM_NEWLINK, message);
  EXPECT_EQ(note.how, NotificationKind::link);
  EXPECT_FALSE(note.gone);
  EXPECT_EQ(note.link.ifindex, 7);
  EXPECT_EQ(note.link.mtu, 4200U);
  EXPECT_EQ(parse_route(RTM_DELLINK, message).how, NotificationKind::link);
  EXPECT_TRUE(parse_route(RTM_DELLINK, message).gone);
  EXPECT_EQ(parse_route(RTM_NEWADDR, message).how, NotificationKind::nothing);
}

// Captured of Linux 6.18: "ip link set a0 nomaster". With each change of the link the bridge says the like.
TEST(Monitor, WhatABridgeSaysOfItsPortIsNoWordOnTheLink) {
  constexpr std::array<uint8_t, 68> kLeft{
      0x07, 0x00, 0x01, 0x00, 0x03, 0x00, 0x00, 0x00, 0x43, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07,
      0x00, 0x03, 0x00, 0x61, 0x30, 0x00, 0x00, 0x08, 0x00, 0x0a, 0x00, 0x04, 0x00, 0x00, 0x00, 0x08, 0x00,
      0x04, 0x00, 0xdc, 0x05, 0x00, 0x00, 0x05, 0x00, 0x10, 0x00, 0x06, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x01,
      0x00, 0xce, 0x60, 0xa1, 0x2d, 0x7c, 0x8a, 0x00, 0x00, 0x08, 0x00, 0x05, 0x00, 0x02, 0x00, 0x00, 0x00};
  for (const uint16_t type : {RTM_NEWLINK, RTM_DELLINK})
    EXPECT_EQ(parse_route(type, std::as_bytes(std::span(kLeft))).how, NotificationKind::nothing) << type;
}

// A change of the coalescing or of a statistic is no change of a setting.
TEST(Monitor, AnEthtoolNotificationOfNoSettingIsNoEvidence) {
  AttrWriter device;
  device.u32(ETHTOOL_A_HEADER_DEV_INDEX, 7);
  for (const auto& [command, how] : std::map<int, NotificationKind>{
           {ETHTOOL_MSG_RINGS_NTF, NotificationKind::ethtool}, {ETHTOOL_MSG_COALESCE_NTF, NotificationKind::nothing}}) {
    const Notification note = parse_ethtool(with_header(genlmsghdr{static_cast<uint8_t>(command), 1, 0},
                                                        AttrWriter().nest(ETHTOOL_A_RINGS_HEADER, device)));
    EXPECT_EQ(note.how, how) << command;
    EXPECT_EQ(note.link.ifindex, 7);
  }
}

TEST(Monitor, AnEthtoolNotificationNamesItsDevice) {
  genlmsghdr header{ETHTOOL_MSG_PAUSE_NTF, 1, 0};
  AttrWriter device;
  device.u32(ETHTOOL_A_HEADER_DEV_INDEX, 7).text(ETHTOOL_A_HEADER_DEV_NAME, "eth0");
  Bytes message = with_header(header, AttrWriter().nest(ETHTOOL_A_PAUSE_HEADER, device).u8(ETHTOOL_A_PAUSE_RX, 1));
  Notification note = parse_ethtool(message);
  EXPECT_EQ(note.link.ifindex, 7);
  EXPECT_EQ(note.link.name, "eth0");
  EXPECT_EQ(note.how, NotificationKind::ethtool);
  for (size_t length = 0; length < message.size(); ++length)  // cut short anywhere: no more than unknown
    EXPECT_TRUE(parse_ethtool(View8(message).first(length)).link.ifindex == 7 ||
                parse_ethtool(View8(message).first(length)).how == NotificationKind::nothing || length >= 20);
}

// The kernel of the build machine sends real ones.
TEST(Monitor, ListensToTheKernel) {
  auto route = NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_DCB});
  ASSERT_TRUE(route.ok()) << route.error().text();
  auto batch = route->drain();
  EXPECT_FALSE(batch.lost);
}

// A process of a captured machine with a netlink socket: what /proc shows of it to everybody.
struct Process {
  int pid;
  int protocol;        // 0 NETLINK_ROUTE, 16 NETLINK_GENERIC
  std::string groups;  // to which the socket is subscribed
  std::string comm, command;
};

void fill(test::Tree& tree, const std::vector<Process>& processes) {
  std::string sockets = "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode\n";
  for (Process each : processes) {
    sockets += "0000000000000000 " + std::to_string(each.protocol) + " " + std::to_string(each.pid) + " " +
               each.groups + " 0 0 0 2 0 1\n";
    std::ranges::replace(each.command, ' ', '\0');
    const std::string folder = "proc/" + std::to_string(each.pid & 0x3fffff);
    tree.file(folder + "/comm", each.comm + "\n").file(folder + "/cmdline", each.command + '\0');
  }
  tree.file("proc/net/netlink", sockets);
}

// By whom a change of the setting is explained, with its kind of notification.
std::string writer_of(const test::Tree& tree, SettingId setting, const std::string& netdev = "eth0") {
  return qos::writer_of(setting, qos::find_candidates(tree.root(), setting_of(setting).announced, netdev)).name;
}

// The kernel names no writer. A daemon that has a socket, a listener, and a command that reads, have not written.
TEST(Suspect, IsNamedByItsSocketAndItsCommandLineAlone) {
  test::Tree tree;
  fill(tree, {{12, 0, "00000000", "lldpad", "/usr/sbin/lldpad -t"},
              {15, 0, "00000000", "dcb", "dcb pfc show dev eth0"},
              {16, 0, "00000001", "ptp4l", "ptp4l -i eth0"},
              {4194317, 0, "00000000", "python3", "python3 /usr/bin/mlnx_qos -i eth0 --pfc=0,0,0"},
              {14, 16, "00000000", "ethtool", "ethtool -A eth0 rx on"},
              {0, 0, "00000000", "", ""}});
  tree.file("proc/13/cgroup", "0::/system.slice/site-qos.service\n").file("proc/14/cgroup", "0::/user.slice\n");
  EXPECT_EQ(writer_of(tree, SettingId::pfc), "mlnx_qos (pid 13, site-qos.service)");
  EXPECT_EQ(writer_of(tree, SettingId::pause), "ethtool (pid 14)");
  EXPECT_EQ(writer_of(tree, SettingId::pfc, "eth1"), "");
  EXPECT_EQ(writer_of(tree, SettingId::mrrs), "") << "a write that is not notified";
  tree.remove("proc/13");
  EXPECT_EQ(writer_of(tree, SettingId::pfc), "") << "neither lldpad, ptp4l nor dcb show has written";
}

// Every command with every setting: only a setting that the command can write, over the socket that it has.
TEST(Suspect, IsNoProgramThatCannotMakeTheChange) {
  using Settings = std::set<SettingId>;
  using enum SettingId;
  const Settings of_dcb{trust,       apptrust, dscp_map,     ets,     prio2buffer,
                        buffer_size, pfc,      cable_length, maxrate, roce_prio};
  const Settings of_ethtool{pause, ring_rx, ring_tx, channels, fec, fw_lldp};
  const std::tuple<int, std::string, Settings> kCommands[]{
      {0, "dcb pfc set dev eth0 prio-pfc all:off", {pfc}},
      {0, "/usr/sbin/dcb ets set dev eth0 prio-tc all:0", {ets}},
      {0, "dcb app add dev eth0 dscp-prio 26:3", {dscp_map, trust, roce_prio}},
      {0, "dcb buffer set dev eth0 prio-buffer 3:1", {prio2buffer, buffer_size}},
      {0, "ip link set dev eth0 mtu 1400", {mtu}},
      {0, "ip link set dev eth0 txqueuelen 100", {}},
      {0, "ip addr add 10.0.0.1/24 dev eth0", {}},
      {0, "tc qdisc add dev eth0 root fq", {}},
      {0, "bridge link set dev eth0 cost 1", {}},
      {0, "python3 /usr/bin/mlnx_qos -i eth0 --trust pcp", {trust, dscp_map}},
      {16, "ethtool -G eth0 rx 512", {ring_rx, ring_tx}},
      {16, "ethtool --pause eth0 rx on", {pause}},
      {16, "ethtool -C eth0 rx-usecs 8", {}},
      {16, "dcb pfc set dev eth0 prio-pfc all:off", {}},  // a socket of another kind
      {16, "qosd --netdev=eth0", of_ethtool},
  };
  for (const auto& [protocol, command, can] : kCommands) {
    const std::string comm(base_name(command.substr(0, command.find(' '))));
    test::Tree tree;
    fill(tree, {{77, protocol, "00000000", comm, command}});
    for (const Setting& setting : kSettings)
      EXPECT_EQ(!writer_of(tree, setting.id).empty(), can.contains(setting.id)) << command << ": " << setting.key;
  }
  // An unknown program can be the writer of everything that its socket can carry; two of them are no evidence.
  Settings of_route = of_dcb;
  of_route.insert(mtu);
  test::Tree tree;
  fill(tree, {{77, 0, "00000000", "qosd", "qosd eth0"}});
  for (const Setting& setting : kSettings)
    EXPECT_EQ(!writer_of(tree, setting.id).empty(), of_route.contains(setting.id)) << setting.key;
  fill(tree, {{77, 0, "00000000", "qosd", "qosd eth0"}, {78, 0, "00000000", "netd", "netd eth0"}});
  EXPECT_EQ(writer_of(tree, pfc), "");
}

// The time at which a process started tells it from a later one with its number.
TEST(Suspect, IsAliveAsLongAsItIsTheSameProcess) {
  test::Tree tree;
  fill(tree, {{22, 0, "00000000", "qosd", "qosd eth0"}});
  const auto stat = [](int started) {
    std::string out = "22 (a) b) S";
    for (int field = 4; field < 22; ++field) out += " 0";
    return out + " " + std::to_string(started) + " 0\n";
  };
  tree.file("proc/22/stat", stat(77));
  const auto candidates = qos::find_candidates(tree.root(), NotificationKind::dcb, "eth0");
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_TRUE(qos::is_alive(tree.root(), candidates[0].process));
  tree.file("proc/22/stat", stat(78));
  EXPECT_FALSE(qos::is_alive(tree.root(), candidates[0].process));
}

TEST(Suspect, EachCauseIsToldByItsEvidence) {
  using qos::Cause;
  const auto cause = [](SettingId setting, const qos::Evidence& seen) { return qos::suspect_of(setting, seen).cause; };
  EXPECT_EQ(cause(SettingId::pfc, {}), Cause::unnotified);
  EXPECT_EQ(cause(SettingId::pfc, {.notified = true}), Cause::process);
  EXPECT_EQ(cause(SettingId::pfc, {.carrier_lost = true}), Cause::link);
  EXPECT_EQ(cause(SettingId::pfc, {.carrier_lost = true, .notified = true}), Cause::process)
      << "a foreign PFC write flaps the link itself";
  EXPECT_EQ(cause(SettingId::pfc, {.firmware_dcbx = true}), Cause::firmware);
  EXPECT_EQ(cause(SettingId::mtu, {.firmware_dcbx = true}), Cause::unnotified) << "DCBX moves no MTU";
  EXPECT_EQ(cause(SettingId::ets, {.new_device = true, .notified = true, .process = {1, "1", "dcb (pid 1)"}}),
            Cause::driver);
  EXPECT_EQ(qos::suspect_of(SettingId::ets, {.notified = true, .firmware_dcbx = true}).by, "an unknown writer")
      << "firmware does not notify";
  for (const qos::Evidence& guess : {qos::Evidence{.carrier_lost = true}, qos::Evidence{.firmware_dcbx = true}})
    EXPECT_TRUE(qos::suspect_of(SettingId::pfc, guess).by.starts_with("probably ")) << "nothing shows it";
  for (const Setting& setting : kSettings) EXPECT_FALSE(qos::suspect_of(setting.id, {}).by.empty()) << setting.key;
}

// A driver that was not asked has rejected nothing, and the host is no port.
TEST(Messages, SayWhatWasNotDoneAndWhy) {
  const auto said = [](const Change& change) { return message_for(change, nullptr, {}, {})->message; };
  Change change{"mlx5_0/1", SettingId::mtu, Outcome::refused, EIO, false, "1500", "9000", "no answer"};
  EXPECT_EQ(said(change),
            "mlx5_0/1: mtu is 1500, want 9000; rejected by the driver (EIO), will be retried (no answer)");
  change.from = "-";
  EXPECT_EQ(said(change), "mlx5_0/1: mtu cannot be read or set (EIO), want 9000; will be retried (no answer)");
  change = {"host", {}, Outcome::unsupported, 0, false, "-", "1", "unknown", "net.ipv4.tcp_ecn"};
  EXPECT_EQ(said(change), "host: net.ipv4.tcp_ecn cannot be set on this host (unknown)");
}

TEST(WindowTime, TheWaitEndsWhenItOpens) {
  const std::vector<Window> nights{{.days = 0x7f, .from = 22 * 60, .to = 4 * 60}};
  std::tm noon{};
  noon.tm_wday = 3;
  noon.tm_hour = 12;
  EXPECT_EQ(minutes_until_open(nights, noon, 1), 1);
  EXPECT_EQ(minutes_until_open(nights, noon, 24 * 60), 10 * 60);
  EXPECT_EQ(minutes_until_open(nights, noon, 60), 60) << "clocks are set: look again";
  noon.tm_hour = 23;
  EXPECT_EQ(minutes_until_open(nights, noon, 60), 0);
  const std::vector<Window> sunday{{.days = 1, .from = 0, .to = 60}};
  noon.tm_wday = 6;
  EXPECT_EQ(minutes_until_open(sunday, noon, 24 * 60), 60) << "past midnight is the next day";
  EXPECT_EQ(minutes_until_open({}, noon, 60), 0);
}

Result<Options> parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "fabric-agentd");
  return parse_options(static_cast<int>(words.size()), const_cast<char* const*>(words.data()));
}

TEST(Options, AreReadWhole) {
  auto options = parsed({"--config", "/x.toml", "--once"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->config_file(), "/x.toml");
  EXPECT_TRUE(options->once);
  EXPECT_EQ(parsed({})->config_file(), "/etc/fabric-agent/fabric-agent.toml");
  EXPECT_FALSE(parsed({})->once);
  auto captured = parsed({"--root=/tmp/tree"});
  EXPECT_EQ(captured->config_file(), "/tmp/tree/etc/fabric-agent/fabric-agent.toml");
  EXPECT_TRUE(captured->once);
}

TEST(Options, FaultsAreNamed) {
  EXPECT_TRUE(has(parsed({"--confg"}).error().what, "--confg"));
  EXPECT_TRUE(has(parsed({"--config"}).error().what, "needs a value"));
  for (const char* empty : {"--config=", "--root="}) EXPECT_FALSE(parsed({empty}).ok()) << empty;
  for (const char* option : {"-c", "--root"}) EXPECT_FALSE(parsed({option, ""}).ok()) << option;
  EXPECT_TRUE(has(parsed({"eth0"}).error().what, "eth0"));
}

TEST(Options, PciStandsAlone) {
  EXPECT_TRUE(parsed({"--pci"})->pci);
  EXPECT_FALSE(parsed({"--once"})->pci);
  EXPECT_FALSE(parsed({"--pci", "--once"}).ok());
  EXPECT_FALSE(parsed({"--pci", "--root", "/tmp"}).ok());
}

TEST(Options, HelpNamesEveryOption) {
  for (const char* name : {"--config", "--once", "--root", "--help", "--version"}) EXPECT_TRUE(has(help_text(), name));
}

}  // namespace
}  // namespace fabric::agentd
