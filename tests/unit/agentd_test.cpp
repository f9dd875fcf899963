// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>

#include "agentd/messages.h"
#include "agentd/monitor.h"
#include "agentd/options.h"
#include "agentd/schedule.h"
#include "support/tree.h"

namespace fabric::agentd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Schedule, OneTaskPerBurstAtTheEarliestTime) {
  Schedule schedule;
  qos::Instant start{};
  EXPECT_FALSE(schedule.next());
  schedule.at("a", start + milliseconds(20));
  schedule.at("a", start + milliseconds(30));
  schedule.at("b", start + milliseconds(10));
  schedule.at("c", start + seconds(5));
  EXPECT_EQ(schedule.next(), start + milliseconds(10));
  EXPECT_EQ(schedule.take(start + milliseconds(25)), (std::vector<std::string>{"b", "a"}));
  schedule.cancel("c");
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
  EXPECT_EQ(note.kind, Notification::Kind::settings);
  EXPECT_EQ(note.netdev, "ens1f0np0");
}

TEST(Monitor, LinkMessagesAreToldApart) {
  ifinfomsg header{};
  header.ifi_index = 7;
  Bytes message = with_header(header, AttrWriter().text(IFLA_IFNAME, "eth0").u32(IFLA_MTU, 4200));
  Notification note = parse_route(RTM_NEWLINK, message);
  EXPECT_EQ(note.kind, Notification::Kind::link);
  EXPECT_EQ(note.link.ifindex, 7);
  EXPECT_EQ(note.link.mtu, 4200U);
  EXPECT_EQ(parse_route(RTM_DELLINK, message).kind, Notification::Kind::link_gone);
  EXPECT_EQ(parse_route(RTM_NEWADDR, message).kind, Notification::Kind::other);
}

TEST(Monitor, AnEthtoolNotificationNamesItsDevice) {
  genlmsghdr header{ETHTOOL_MSG_PAUSE_NTF, 1, 0};
  AttrWriter device;
  device.u32(ETHTOOL_A_HEADER_DEV_INDEX, 7).text(ETHTOOL_A_HEADER_DEV_NAME, "eth0");
  Bytes message = with_header(header, AttrWriter().nest(ETHTOOL_A_PAUSE_HEADER, device).u8(ETHTOOL_A_PAUSE_RX, 1));
  Notification note = parse_ethtool(message);
  EXPECT_EQ(note.kind, Notification::Kind::settings);
  EXPECT_EQ(note.ifindex, 7);
  EXPECT_EQ(note.netdev, "eth0");
  for (size_t length = 0; length < message.size(); ++length)  // cut short anywhere: no more than unknown
    EXPECT_TRUE(parse_ethtool(View8(message).first(length)).ifindex == 7 ||
                parse_ethtool(View8(message).first(length)).kind == Notification::Kind::other || length >= 20);
}

// The kernel of the build machine sends real ones.
TEST(Monitor, ListensToTheKernel) {
  auto route = Monitor::route();
  ASSERT_TRUE(route.ok()) << route.error().text();
  auto batch = route->drain();
  EXPECT_FALSE(batch.lost);
}

TEST(Suspect, IsSoughtWhereTheSettingCanBeWritten) {
  test::Tree tree;
  tree.file("proc/12/comm", "lldpad\n").file("proc/13/comm", "NetworkManager\n").file("proc/self/comm", "x\n");
  Qos have;
  EXPECT_EQ(suspect(tree.root(), have, "pfc"), "lldpad");
  EXPECT_EQ(suspect(tree.root(), have, "mtu"), "NetworkManager");
  have.dcbx = Dcbx::firmware;
  EXPECT_EQ(suspect(tree.root(), have, "ets"), "the NIC's firmware (DCBX)");
  tree.remove("proc");
  EXPECT_EQ(suspect(tree.root(), have, "mtu"), "");
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
  EXPECT_NE(parsed({"--confg"}).error().what.find("--confg"), std::string::npos);
  EXPECT_NE(parsed({"--config"}).error().what.find("needs a value"), std::string::npos);
  EXPECT_NE(parsed({"eth0"}).error().what.find("eth0"), std::string::npos);
}

TEST(Options, HelpNamesEveryOption) {
  for (const char* name : {"--config", "--once", "--root", "--help", "--version"}) EXPECT_NE(help_text().find(name), std::string::npos);
}

}  // namespace
}  // namespace fabric::agentd
