// SPDX-License-Identifier: Apache-2.0
// The agent: its schedule, monitor, messages and options. Its event loop on this machine's kernel: a veth pair in a
// network namespace of its own. Events of udev: the agent scans at once for a device that comes or goes; the messages
// are udev's own format, sent to its multicast group in a network namespace of ours. Loop and udev need root and skip
// without.
#include <arpa/inet.h>
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>

#include "agentd/agent.h"
#include "agentd/messages.h"
#include "agentd/monitor.h"
#include "agentd/options.h"
#include "agentd/schedule.h"
#include "base/fd.h"
#include "enforce/confirm.h"
#include "enforce/suspect.h"
#include "judge/rule.h"
#include "node/state.h"
#include "support/config.h"
#include "support/netns.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::agentd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::becomes;
using test::has;

// -- Parts

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
  Notification note = parse_rtnetlink(RTM_SETDCB, message);
  EXPECT_EQ(note.link.name, "ens1f0np0");
  EXPECT_EQ(note.how, NotificationKind::dcb);
}

TEST(Monitor, LinkMessagesAreToldApart) {
  ifinfomsg header{};
  header.ifi_index = 7;
  Bytes message = with_header(header, AttrWriter().text(IFLA_IFNAME, "eth0").u32(IFLA_MTU, 4200));
  Notification note = parse_rtnetlink(RTM_NEWLINK, message);
  EXPECT_EQ(note.how, NotificationKind::link);
  EXPECT_FALSE(note.gone);
  EXPECT_EQ(note.link.ifindex, 7);
  EXPECT_EQ(note.link.mtu, 4200U);
  EXPECT_EQ(parse_rtnetlink(RTM_DELLINK, message).how, NotificationKind::link);
  EXPECT_TRUE(parse_rtnetlink(RTM_DELLINK, message).gone);
  EXPECT_EQ(parse_rtnetlink(RTM_NEWADDR, message).how, NotificationKind::nothing);
}

// Captured of Linux 6.18: "ip link set a0 nomaster". With each change of the link the bridge says the like.
TEST(Monitor, WhatABridgeSaysOfItsPortIsNoWordOnTheLink) {
  constexpr std::array<uint8_t, 68> kLeft{
      0x07, 0x00, 0x01, 0x00, 0x03, 0x00, 0x00, 0x00, 0x43, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07,
      0x00, 0x03, 0x00, 0x61, 0x30, 0x00, 0x00, 0x08, 0x00, 0x0a, 0x00, 0x04, 0x00, 0x00, 0x00, 0x08, 0x00,
      0x04, 0x00, 0xdc, 0x05, 0x00, 0x00, 0x05, 0x00, 0x10, 0x00, 0x06, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x01,
      0x00, 0xce, 0x60, 0xa1, 0x2d, 0x7c, 0x8a, 0x00, 0x00, 0x08, 0x00, 0x05, 0x00, 0x02, 0x00, 0x00, 0x00};
  for (const uint16_t type : {RTM_NEWLINK, RTM_DELLINK})
    EXPECT_EQ(parse_rtnetlink(type, std::as_bytes(std::span(kLeft))).how, NotificationKind::nothing) << type;
}

// A change of the coalescing or of a statistic does not change a setting.
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
  std::string capabilities = "000001ffffffffff";  // effective
};

void fill(test::Tree& tree, const std::vector<Process>& processes) {
  std::string sockets = "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode\n";
  for (Process each : processes) {
    sockets += "0000000000000000 " + std::to_string(each.protocol) + " " + std::to_string(each.pid) + " " +
               each.groups + " 0 0 0 2 0 1\n";
    std::ranges::replace(each.command, ' ', '\0');
    const std::string folder = "proc/" + std::to_string(each.pid & 0x3fffff);
    tree.file(folder + "/comm", each.comm + "\n").file(folder + "/cmdline", each.command + '\0');
    tree.file(folder + "/status", "Name:\t" + each.comm + "\nCapPrm:\t000001ffffffffff\nCapEff:\t" + each.capabilities +
                                      "\nCapBnd:\t000001ffffffffff\n");
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
  const auto announced_by = [](NotificationKind kind) {
    Settings out;
    for (const Setting& setting : kSettings)
      if (setting.announced == kind) out.insert(setting.id);
    return out;
  };
  const std::tuple<int, std::string, Settings> kCommands[]{
      {0, "dcb pfc set dev eth0 prio-pfc all:off", {pfc}},
      {0, "/usr/sbin/dcb ets set dev eth0 prio-tc all:0", {ets}},
      {0, "dcb app add dev eth0 dscp-prio 26:3", {dscp_map, trust, roce_prio}},
      {0, "dcb buffer set dev eth0 prio-buffer 3:1", {prio2buffer, buffer_size}},
      {0, "dcb apptrust set dev eth0 order dscp pcp", {apptrust}},
      {0, "dcb maxrate set dev eth0 tc-maxrate all:100gbit", {maxrate}},
      {0, "ip link set dev eth0 mtu 1400", {mtu}},
      {0, "ip link set dev eth0 alias rail-0", {}},
      {0, "ip addr add 10.0.0.1/24 dev eth0", {}},
      {0, "tc qdisc add dev eth0 root fq", {}},
      {0, "bridge link set dev eth0 cost 1", {}},
      {0, "python3 /usr/bin/mlnx_qos -i eth0 --trust pcp", {trust, dscp_map}},
      {0, "python3 /usr/bin/mlnx_qos -i eth0 --cable_len=5", {cable_length}},
      {16, "ethtool -G eth0 rx 512", {ring_rx, ring_tx}},
      {16, "ethtool --pause eth0 rx on", {pause}},
      {16, "ethtool -L eth0 combined 8", {channels}},
      {16, "ethtool --set-fec eth0 encoding rs", {fec}},
      {16, "ethtool --set-priv-flags eth0 fw-lldp-agent off", {fw_lldp}},
      {16, "ethtool -C eth0 rx-usecs 8", {}},
      {16, "dcb pfc set dev eth0 prio-pfc all:off", {}},  // a socket of another kind
  };
  for (const Setting& setting : kSettings)
    if (setting.announced != NotificationKind::nothing)
      EXPECT_TRUE(
          std::ranges::any_of(kCommands, [&](const auto& each) { return std::get<2>(each).contains(setting.id); }))
          << setting.key << ": add the command that writes it to kAbilities (lib/enforce/suspect.cpp), and here";
  for (const auto& [protocol, command, can] : kCommands) {
    const std::string comm(base_name(command.substr(0, command.find(' '))));
    test::Tree tree;
    fill(tree, {{77, protocol, "00000000", comm, command}});
    for (const Setting& setting : kSettings)
      EXPECT_EQ(!writer_of(tree, setting.id).empty(), can.contains(setting.id)) << command << ": " << setting.key;
  }
  // An unknown program can be the writer of all settings that its socket can carry. Two such programs are not evidence.
  Settings of_route = announced_by(NotificationKind::dcb);
  of_route.merge(announced_by(NotificationKind::link));
  test::Tree tree;
  for (const auto& [protocol, can] : {std::pair(0, of_route), {16, announced_by(NotificationKind::ethtool)}}) {
    fill(tree, {{77, protocol, "00000000", "qosd", "qosd eth0"}});
    for (const Setting& setting : kSettings)
      EXPECT_EQ(!writer_of(tree, setting.id).empty(), can.contains(setting.id)) << protocol << " " << setting.key;
  }
  fill(tree, {{77, 0, "00000000", "qosd", "qosd eth0"}, {78, 0, "00000000", "netd", "netd eth0"}});
  EXPECT_EQ(writer_of(tree, pfc), "");
}

// A job with --nic=eth0 and a socket of getifaddrs(3) cannot have written.
TEST(Suspect, IsNoProcessWithoutThePrivilege) {
  const std::string host = "         0          0 4294967295\n";
  for (const char* none : {"0000000000000000", "000001ffffffefff", "", "x"}) {
    test::Tree tree;
    fill(tree, {{77, 0, "00000000", "qosd", "qosd eth0", none}});
    EXPECT_EQ(writer_of(tree, SettingId::pfc), "") << none;
    fill(tree, {{77, 0, "00000000", "train", "train --nic=eth0", none}, {78, 0, "00000000", "qosd", "qosd eth0"}});
    EXPECT_EQ(writer_of(tree, SettingId::pfc), "possibly qosd (pid 78)") << none;
  }
  for (const char* some : {"0000000000001000", "000001ffffffffff"}) {
    test::Tree tree;
    fill(tree, {{77, 0, "00000000", "qosd", "qosd eth0", some}});
    EXPECT_EQ(writer_of(tree, SettingId::pfc), "possibly qosd (pid 77)") << some;
    tree.file("proc/self/uid_map", host).file("proc/77/uid_map", host);
    EXPECT_EQ(writer_of(tree, SettingId::pfc), "possibly qosd (pid 77)") << some;
    tree.file("proc/77/uid_map", "         0       1000          1\n");
    EXPECT_EQ(writer_of(tree, SettingId::pfc), "") << "root of another user namespace";
    tree.remove("proc/77/uid_map").remove("proc/77/status");
    EXPECT_EQ(writer_of(tree, SettingId::pfc), "") << "its capabilities are unknown";
  }
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
  using qos::DriftCause;
  const auto cause = [](SettingId setting, const qos::Evidence& seen) { return qos::suspect_of(setting, seen).cause; };
  EXPECT_EQ(cause(SettingId::pfc, {}), DriftCause::unnotified);
  EXPECT_EQ(cause(SettingId::pfc, {.notified = true}), DriftCause::process);
  EXPECT_EQ(cause(SettingId::pfc, {.carrier_lost = true}), DriftCause::link);
  EXPECT_EQ(cause(SettingId::pfc, {.carrier_lost = true, .notified = true}), DriftCause::process)
      << "a foreign PFC write flaps the link itself";
  EXPECT_EQ(cause(SettingId::pfc, {.firmware_dcbx = true}), DriftCause::firmware);
  EXPECT_EQ(cause(SettingId::mtu, {.firmware_dcbx = true}), DriftCause::unnotified) << "DCBX moves no MTU";
  EXPECT_EQ(cause(SettingId::ets, {.new_device = true, .notified = true, .process = {1, "1", "dcb (pid 1)"}}),
            DriftCause::driver);
  EXPECT_EQ(qos::suspect_of(SettingId::ets, {.notified = true, .firmware_dcbx = true}).by, "an unknown writer")
      << "firmware does not notify";
  for (const qos::Evidence& guess : {qos::Evidence{.carrier_lost = true}, qos::Evidence{.firmware_dcbx = true}})
    EXPECT_TRUE(qos::suspect_of(SettingId::pfc, guess).by.starts_with("probably ")) << "nothing shows it";
  for (const Setting& setting : kSettings) EXPECT_FALSE(qos::suspect_of(setting.id, {}).by.empty()) << setting.key;
}

// A driver without a request has rejected nothing, and the host is not a port.
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

Result<AgentdOptions> parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "fabric-agentd");
  return parse_options(static_cast<int>(words.size()), const_cast<char* const*>(words.data()));
}

TEST(AgentdOptions, AreReadWhole) {
  auto options = parsed({"--config", "/x.toml", "--once"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->config_file(), "/x.toml");
  EXPECT_EQ(options->run, AgentdOptions::Kind::once);
  EXPECT_EQ(parsed({})->config_file(), "/etc/fabric-agent/fabric-agent.toml");
  EXPECT_EQ(parsed({})->run, AgentdOptions::Kind::daemon);
  auto captured = parsed({"--root=/tmp/tree"});
  EXPECT_EQ(captured->config_file(), "/tmp/tree/etc/fabric-agent/fabric-agent.toml");
  EXPECT_EQ(captured->run, AgentdOptions::Kind::once);
}

TEST(AgentdOptions, FaultsAreNamed) {
  EXPECT_TRUE(has(parsed({"--confg"}).error().what, "--confg"));
  EXPECT_TRUE(has(parsed({"--config"}).error().what, "needs a value"));
  for (const char* empty : {"--config=", "--root="}) EXPECT_FALSE(parsed({empty}).ok()) << empty;
  for (const char* option : {"-c", "--root"}) EXPECT_FALSE(parsed({option, ""}).ok()) << option;
  EXPECT_TRUE(has(parsed({"eth0"}).error().what, "eth0"));
}

TEST(AgentdOptions, PciStandsAlone) {
  EXPECT_EQ(parsed({"--pci"})->run, AgentdOptions::Kind::pci);
  EXPECT_FALSE(parsed({"--pci", "--once"}).ok());
  EXPECT_FALSE(parsed({"--pci", "--root", "/tmp"}).ok());
}

TEST(AgentdOptions, HelpNamesEveryOption) {
  for (const char* name : {"--config", "--once", "--root", "--help", "--version"}) EXPECT_TRUE(has(help_text(), name));
}

// -- The event loop

Result<std::vector<Message>> make_veth(Netlink& route, const char* name) {
  AttrWriter kind;
  kind.text(IFLA_INFO_KIND, "veth");
  AttrWriter request;
  request.header(ifinfomsg{}).text(IFLA_IFNAME, name).nest(IFLA_LINKINFO, kind);
  return route.talk(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, request.data());
}

Result<std::vector<Message>> delete_link(Netlink& route, int ifindex) {
  ifinfomsg header{};
  header.ifi_index = ifindex;
  AttrWriter request;
  request.header(header);
  return route.talk(RTM_DELLINK, 0, request.data());
}

// Runs the agent's event loop in a thread, on this kernel, in the namespaces of the test.
class RunningAgent : public test::ConfigFiles {
 protected:
  // Opens the kernel in the current namespaces of the test. Blocks the signals that the agent handles.
  void open_kernel_here() {
    auto kernel = open_kernel("/");
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    kernel_.emplace(std::move(*kernel));
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGHUP, SIGTERM, SIGINT}) sigaddset(&signals, signal);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &signals, nullptr), 0);
  }
  void TearDown() override { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    ::kill(::getpid(), SIGTERM);
    thread_.join();
  }

  // An environment without a log, in which no port is in use.
  Environment environment(std::function<std::vector<Port>(const Policy&)> scan) {
    return {.kernel = *kernel_,
            .directory = tree.path(),
            .log = [](const JournalEntry&) {},
            .scan = std::move(scan),
            .in_use = [](const Port&) { return false; }};
  }
  void start(Environment environment, const std::string& config) {
    tree.file("a.toml", config);
    manager_.emplace(std::move(environment), test::loaded(load()).policy);
    agent_.emplace(*kernel_, *manager_, file());
    const auto opened = agent_->open();
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    thread_ = std::thread([this] { EXPECT_TRUE(agent_->run().ok()); });
  }

  std::optional<Kernel> kernel_;
  std::optional<PortManager> manager_;
  std::optional<Agent> agent_;
  std::thread thread_;
};

class Loop : public RunningAgent {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "needs the right to make a network namespace";
    for (auto* socket : {&route_, &scan_route_}) {
      auto opened = open_netlink(NETLINK_ROUTE);
      ASSERT_TRUE(opened.ok()) << opened.error().text();
      *socket = std::move(*opened);
    }
    if (!make_veth(*route_, "roce0").ok()) GTEST_SKIP() << "this kernel has no veth";
    open_kernel_here();
  }

  void start(const std::string& config) {
    Environment environment = this->environment([this](const Policy&) { return ports(); });
    environment.log = [this](const JournalEntry& entry) {
      std::lock_guard guard(mutex_);
      told_.push_back(entry);
    };
    RunningAgent::start(std::move(environment), config);
  }

  // The veth's end represents a RoCE port.
  std::vector<Port> ports() {
    const auto link = rtnl::link(*scan_route_, "roce0");
    if (!link) return {};
    return {{.rdma = "rxe0", .netdev = "roce0", .ifindex = link->ifindex}};
  }
  std::optional<uint32_t> mtu() {
    auto link = rtnl::link(*route_, "roce0");
    return link ? link->mtu : std::nullopt;
  }
  bool becomes_mtu(uint32_t wanted) {
    return becomes([&] { return mtu() == wanted; });
  }
  // The agent has said so as well: a write of ours between its write and its read-back would be another story.
  bool sets_mtu(uint32_t wanted) {
    return becomes_mtu(wanted) && becomes([&] { return told(message_id::applied) >= 1; });
  }
  // The published state.
  std::optional<AgentState> state() const {
    auto state = state::load_agent_state(tree.root());
    return state.ok() ? *std::move(state) : std::nullopt;
  }
  size_t told(std::string_view id) {
    std::lock_guard guard(mutex_);
    return static_cast<size_t>(std::ranges::count(told_, id, &JournalEntry::id));
  }

  std::unique_ptr<Netlink> route_;       // the foreign writer's
  std::unique_ptr<Netlink> scan_route_;  // the agent's thread's
  std::mutex mutex_;
  std::vector<JournalEntry> told_;
};

constexpr const char* kKeepsMtu = "mode = \"enforce\"\nreread = \"1h\"\n[[port]]\nmtu = 4200\n";

TEST_F(Loop, AForeignMtuIsPutBackAtOnce) {
  start(kKeepsMtu);
  ASSERT_TRUE(sets_mtu(4200));
  ASSERT_TRUE(rtnl::set_mtu(*route_, test::id_of(*route_, "roce0"), 1400).ok());
  EXPECT_TRUE(becomes_mtu(4200));
  EXPECT_TRUE(becomes([&] { return told(message_id::repaired) == 1; }));
}

// One port with dead firmware must not use up the time of all.
TEST_F(Loop, EachPortGetsTheWatchdogsTimeAnew) {
  const std::string path = tree.path() + "/notify";
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof name.sun_path);
  path.copy(name.sun_path, path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  start(kKeepsMtu);
  std::string told;
  EXPECT_TRUE(becomes([&] {
    char text[512];
    for (ssize_t size; (size = ::recv(socket.get(), text, sizeof text, 0)) > 0;)
      told.append(text, static_cast<size_t>(size)).append("|");
    return static_cast<bool>(has(told, "READY=1"));
  }));
  stop();
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_LT(told.find("WATCHDOG=1\nEXTEND_TIMEOUT_USEC="), told.find("READY=1")) << told;
}

TEST_F(Loop, ARecreatedDeviceIsSetAnew) {
  start("mode = \"enforce\"\nreread = \"1s\"\n[[port]]\nmtu = 4200\n");  // no udev here: the new one is found by
                                                                         // reading again
  ASSERT_TRUE(sets_mtu(4200));
  auto link = rtnl::link(*route_, "roce0");
  ASSERT_TRUE(link.ok());
  ASSERT_TRUE(delete_link(*route_, link->ifindex).ok());
  EXPECT_TRUE(becomes([&] { return told(message_id::port) == 2; }));  // found, gone
  ASSERT_TRUE(make_veth(*route_, "roce0").ok());
  EXPECT_TRUE(becomes_mtu(4200));
  EXPECT_EQ(told(message_id::repaired), 0U);
}

TEST_F(Loop, AnIncompleteScanIsRepeatedSoon) {
  Environment environment = this->environment([](const Policy&) { return std::vector<Port>(); });
  environment.scan = [this, scans = 0](const Policy&) mutable {
    if (++scans == 1) return FoundPorts({}, "simulated");
    return FoundPorts(ports());
  };
  RunningAgent::start(std::move(environment), kKeepsMtu);
  EXPECT_TRUE(becomes_mtu(4200)) << "not with the next re-read, in an hour";
}

// The link flaps, and the driver reports its speed a little after the last carrier-up.
TEST_F(Loop, TheSpeedOfALinkIsReadAfterItsLastCarrierUp) {
  const auto now = std::chrono::steady_clock::now;
  std::atomic<qos::Instant> last_up{qos::Instant::max()};
  Environment environment = this->environment([&](const Policy&) {
    std::vector<Port> found = ports();
    for (Port& port : found) {
      port.carrier = last_up.load() != qos::Instant::max();
      if (*port.carrier && now() - last_up.load() >= milliseconds(800)) port.speed = 100'000;
    }
    return found;
  });
  ASSERT_EQ(std::system("ip link set roce0 up"), 0);
  RunningAgent::start(std::move(environment),
                      "mode = \"enforce\"\nreread = \"1h\"\n[[port]]\nmatch.speed = [\"100G\"]\nmtu = 4200\n");
  ASSERT_TRUE(becomes([&] { return state().has_value(); }));
  for (int flap = 0; flap < 2; ++flap) {
    if (flap != 0) std::this_thread::sleep_for(milliseconds(600));
    ASSERT_EQ(std::system("ip link set veth0 down"), 0);  // the other end
    last_up = now();
    ASSERT_EQ(std::system("ip link set veth0 up"), 0);
  }
  EXPECT_TRUE(becomes_mtu(4200)) << "not with the next re-read, in an hour";
}

// Loses the first answers about DCB.
class LossyNetlink final : public Netlink {
 public:
  LossyNetlink(std::unique_ptr<Netlink> real, int lost) : real_(std::move(real)), lost_(lost) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    if (type == RTM_GETDCB && lost_ > 0) {
      --lost_;
      return error(ENOBUFS, "simulated");
    }
    return real_->talk(type, flags, payload);
  }

 private:
  std::unique_ptr<Netlink> real_;
  int lost_;
};

TEST_F(Loop, ALostReadingIsRepeatedSoon) {
  kernel_->route = std::make_unique<LossyNetlink>(std::move(kernel_->route), 2);  // the reading, and its repetition
  start(kKeepsMtu);
  EXPECT_TRUE(becomes_mtu(4200)) << "not with the next re-read, in an hour";
  EXPECT_TRUE(becomes([&] { return told(message_id::not_set) >= 1 && told(message_id::applied) >= 1; }));
}

TEST_F(Loop, TheHostSettingsOfAnInterfaceComeWithIt) {
  start("mode = \"enforce\"\nreread = \"1h\"\n[sysctl]\n\"net.ipv4.conf.late0.rp_filter\" = 2\n");
  ASSERT_TRUE(becomes([&] { return told(message_id::not_set) == 1; })) << "there is no such interface";
  ASSERT_TRUE(make_veth(*route_, "late0").ok());
  const auto root = Root::open("/");
  ASSERT_TRUE(root.ok());
  EXPECT_TRUE(becomes([&] { return root->line_of("proc/sys/net/ipv4/conf/late0/rp_filter") == "2"; }));
}

TEST_F(Loop, AReloadTakesTheNewConfigurationAndKeepsTheOldWhenItIsBad) {
  start(kKeepsMtu);
  ASSERT_TRUE(sets_mtu(4200));
  tree.file("a.toml", "mode = \"enforce\"\n[[port]]\nmtu = 5000\n");
  ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(becomes_mtu(5000));
  tree.file("a.toml", "mode = \"enforce\"\n[[port]]\nmut = 6000\n");
  ::kill(::getpid(), SIGHUP);
  const auto config_error = [&] { return state().value_or(AgentState{}).config_error; };
  EXPECT_TRUE(becomes([&] { return has(config_error(), "a.toml:3:1"); })) << config_error();
  ASSERT_TRUE(rtnl::set_mtu(*route_, test::id_of(*route_, "roce0"), 1400).ok());
  EXPECT_TRUE(becomes_mtu(5000));
  EXPECT_EQ(load_config_in_use(tree.path(), file(), rule_rows())->config.policy.ports.at(0).want.mtu, 5000U)
      << "a restart uses it, too";
}

TEST_F(Loop, AReloadWithoutADropInKeepsTheOldConfigurationUntilThatIsAccepted) {
  tree.file("conf.d/50-site.toml", "[[port]]\nmtu = 4200\n");
  start("mode = \"enforce\"\nreread = \"1h\"\n[[port]]\nmtu = 5000\n");
  ASSERT_TRUE(sets_mtu(4200));
  ASSERT_TRUE(save_last_good(tree.path(), *load_config(file(), rule_rows()), rule_rows()).ok());  // as main() does
  tree.remove("conf.d/50-site.toml");
  ::kill(::getpid(), SIGHUP);
  const auto config_error = [&] { return state().value_or(AgentState{}).config_error; };
  EXPECT_TRUE(becomes([&] { return has(config_error(), "50-site.toml: gone"); })) << config_error();
  EXPECT_EQ(mtu(), 4200U);
  tree.file("conf.d/60-renamed.toml", "[[port]]\nmtu = 4200\n");
  ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(becomes([&] { return config_error().empty(); })) << "the same policy";
  tree.file("conf.d/60-renamed.toml", "");
  ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(becomes([&] { return has(config_error(), "60-renamed.toml:1:1: no key"); })) << config_error();
  EXPECT_EQ(mtu(), 4200U) << "it may be truncated";
  tree.remove("conf.d/60-renamed.toml").link("conf.d/60-renamed.toml", "/dev/null");
  ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(becomes_mtu(5000));
  EXPECT_TRUE(becomes([&] { return config_error().empty(); })) << config_error();
  tree.remove("conf.d/60-renamed.toml");
  tree.file("a.toml", "mode = \"enforce\"\nreread = \"1h\"\n[[port]]\nmtu = 6000\n");
  ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(becomes_mtu(6000)) << "the link may be deleted together with another change";
}

// In a user namespace, whose processes can be denied what kubelet and its like use up on a node.
TEST_F(Loop, WithoutInotifyAnApplyIsWatchedAllTheSame) {
  tree.file("a.toml", "mode = \"audit\"\n");
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) != 0 || !(std::ofstream("/proc/sys/user/max_inotify_instances") << "0" << std::flush))
      ::_exit(77);
    PortManager manager(environment([](const Policy&) { return std::vector<Port>(); }), load()->policy);
    Agent agent(*kernel_, manager, file());
    ::_exit(agent.open().ok() && agent.run().ok() ? 0 : 1);
  }
  int status = 0;
  const auto ended = [&] { return ::waitpid(child, &status, WNOHANG) == child; };
  const bool started =
      becomes([&] { return ended() || ::access((tree.path() + "/" + state::kStateFile).c_str(), F_OK) == 0; });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs the right to make a user namespace";
  ASSERT_TRUE(started && status == 0);
  confirm::Record record = confirm::begin(confirm::this_moment(kernel_->root), std::chrono::seconds(0), Policy(), "");
  record.before["0000:24:00.0/1"].mtu = 1500;
  ASSERT_TRUE(confirm::save(tree.path(), record).ok());
  EXPECT_TRUE(becomes([&] { return !state().value_or(AgentState{}).held.empty(); }));
  ::kill(child, SIGTERM);
  EXPECT_TRUE(becomes(ended) && status == 0);
}

TEST_F(Loop, FightingEndsInAConflict) {
  start("mode = \"enforce\"\nreread = \"1h\"\nconflict = { rounds = 3 }\n[[port]]\nmtu = 4200\n");
  ASSERT_TRUE(sets_mtu(4200));
  // A round, too, is over when the agent says so.
  for (size_t round = 1; round <= 3; ++round) {
    ASSERT_TRUE(rtnl::set_mtu(*route_, test::id_of(*route_, "roce0"), 1400).ok());
    ASSERT_TRUE(becomes([&] { return told(message_id::repaired) >= round || told(message_id::conflict) == 1; }));
  }
  ASSERT_TRUE(becomes([&] { return told(message_id::conflict) == 1; }));
  ASSERT_TRUE(rtnl::set_mtu(*route_, test::id_of(*route_, "roce0"), 1400).ok());
  std::this_thread::sleep_for(milliseconds(1'500));  // longer than a port in conflict is left unread
  EXPECT_EQ(mtu(), 1400U);
}

// The agent checks and writes the port by itself: no periodic read and no notification wakes it.
TEST_F(Loop, AConflictThatEndsIsWrittenAtOnce) {
  start("mode = \"enforce\"\nreread = \"1h\"\nconflict = { rounds = 1, window = \"2s\" }\n[[port]]\nmtu = 4200\n");
  ASSERT_TRUE(sets_mtu(4200));
  ASSERT_TRUE(rtnl::set_mtu(*route_, test::id_of(*route_, "roce0"), 1400).ok());
  ASSERT_TRUE(becomes([&] { return told(message_id::conflict) == 1; }));
  ASSERT_TRUE(rtnl::set_mtu(*route_, test::id_of(*route_, "roce0"), 1400).ok());
  EXPECT_TRUE(becomes_mtu(4200));
}

// -- udev

// MurmurHash2: udev's socket filter compares hashes of subsystem names (src/basic/MurmurHash2.c of systemd 252).
uint32_t murmur(const std::string& text) {
  constexpr uint32_t kMultiply = 0x5bd1e995;
  uint32_t hash = static_cast<uint32_t>(text.size());
  size_t at = 0;
  for (; at + 4 <= text.size(); at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, text.data() + at, 4);
    word *= kMultiply;
    word ^= word >> 24;
    word *= kMultiply;
    hash = (hash * kMultiply) ^ word;
  }
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[at + i])); };
  const size_t rest = text.size() - at;
  if (rest == 3) hash ^= byte(2) << 16;
  if (rest >= 2) hash ^= byte(1) << 8;
  if (rest >= 1) {
    hash ^= byte(0);
    hash *= kMultiply;
  }
  hash ^= hash >> 13;
  hash *= kMultiply;
  return hash ^ (hash >> 15);
}

// struct monitor_netlink_header of src/libsystemd/sd-device/device-monitor.c; the properties follow.
struct UdevHeader {
  char prefix[8] = "libudev";
  uint32_t magic = htonl(0xfeedcafe), header_size = sizeof(UdevHeader), properties_offset = sizeof(UdevHeader);
  uint32_t properties_length = 0, subsystem_hash = 0, devtype_hash = 0, tags_high = 0, tags_low = 0;
};

std::string udev_message(const std::string& action, const std::string& subsystem, const std::string& path) {
  std::string properties;
  for (const std::string& each :
       {"ACTION=" + action, "DEVPATH=" + path, "SUBSYSTEM=" + subsystem, std::string("SEQNUM=4711")})
    properties += each + '\0';
  UdevHeader header;
  header.properties_length = static_cast<uint32_t>(properties.size());
  header.subsystem_hash = htonl(murmur(subsystem));
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + properties;
}

class Udev : public RunningAgent {
 protected:
  // libsystemd listens only where /run/udev/control shows that udev runs.
  void SetUp() override {
    if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) GTEST_SKIP() << "needs the right to make namespaces";
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", "/run", "tmpfs", 0, nullptr) != 0)
      GTEST_SKIP() << "needs the right to mount";
    ASSERT_EQ(::mkdir("/run/udev", 0755), 0);
    ASSERT_TRUE(std::ofstream("/run/udev/control").good());
    open_kernel_here();
    start(environment([this](const Policy&) {
            ++scans_;
            return std::vector<Port>{};
          }),
          "mode = \"audit\"\nreread = \"1h\"\n");
    ASSERT_TRUE(scans_become(1));
  }

  bool scans_become(unsigned count) {
    return test::becomes([&] { return scans_ >= count; });
  }

  static void tell(const std::string& action, const std::string& subsystem, const std::string& path) {
    const Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT));
    sockaddr_nl group{};
    group.nl_family = AF_NETLINK;
    group.nl_groups = 2;  // MONITOR_GROUP_UDEV: events that udev has finished
    const std::string message = udev_message(action, subsystem, path);
    ASSERT_EQ(
        ::sendto(fd.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&group), sizeof group),
        static_cast<ssize_t>(message.size()))
        << std::strerror(errno);
  }

  std::atomic<unsigned> scans_ = 0;
};

// A GPU that comes or goes makes compute NICs of host NICs, or the other way round.
TEST_F(Udev, GpusRdmaDevicesAndNetdevsThatComeOrGoAreARescan) {
  const std::vector<std::array<const char*, 3>> messages{
      {"remove", "pci", "/devices/pci0000:16/0000:16:01.0/0000:1b:00.0"},
      {"add", "pci", "/devices/pci0000:16/0000:16:01.0/0000:1b:00.0"},
      {"add", "infiniband", "/devices/pci0000:16/0000:17:00.0/infiniband/mlx5_0"},
      {"add", "net", "/devices/pci0000:16/0000:17:00.0/net/eth2"}};
  for (const auto& [action, subsystem, path] : messages) {
    const unsigned before = scans_;
    tell(action, subsystem, path);
    EXPECT_TRUE(scans_become(before + 1)) << action << " " << subsystem;
  }
}

// The agent reads none of these messages. It reads the one after them.
TEST_F(Udev, OthersAreNot) {
  const unsigned before = scans_;
  tell("add", "block", "/devices/pci0000:16/0000:16:02.0/0000:20:00.0/nvme/nvme0/nvme0n1");
  tell("add", "net", "/devices/virtual/net/veth7");
  // Longer than a rescan waits for its burst to be over.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(scans_, before);
  tell("add", "pci", "/devices/pci0000:16/0000:16:01.0/0000:1b:00.0");
  EXPECT_TRUE(scans_become(before + 1));
}

}  // namespace
}  // namespace fabric::agentd
