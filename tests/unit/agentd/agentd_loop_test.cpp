// SPDX-License-Identifier: Apache-2.0
// The event loop on this machine's kernel: a veth pair in a network namespace of its own. Needs root; skips without.
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <mutex>

#include "enforce/confirm.h"
#include "judge/rule.h"
#include "node/state.h"
#include "support/netns.h"
#include "support/running_agent.h"

namespace fabric::agentd {
namespace {

using std::chrono::milliseconds;
using test::becomes;
using test::has;

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
    environment.log = [this](const Entry& entry) {
      std::lock_guard guard(mutex_);
      told_.push_back(entry);
    };
    RunningAgent::start(std::move(environment), config);
  }

  // The veth's end stands for a RoCE port.
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
  // What it has published.
  std::optional<AgentState> state() const {
    auto state = state::load_agent_state(tree.root());
    return state.ok() ? *std::move(state) : std::nullopt;
  }
  size_t told(std::string_view id) {
    std::lock_guard guard(mutex_);
    return static_cast<size_t>(std::ranges::count(told_, id, &Entry::id));
  }

  std::unique_ptr<Netlink> route_;       // the foreign writer's
  std::unique_ptr<Netlink> scan_route_;  // the agent's thread's
  std::mutex mutex_;
  std::vector<Entry> told_;
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

// Neither the next periodic read nor a notification wakes the agent: it looks at the port by itself, and writes it.
TEST_F(Loop, AConflictThatEndsIsWrittenAtOnce) {
  start("mode = \"enforce\"\nreread = \"1h\"\nconflict = { rounds = 1, window = \"2s\" }\n[[port]]\nmtu = 4200\n");
  ASSERT_TRUE(sets_mtu(4200));
  ASSERT_TRUE(rtnl::set_mtu(*route_, test::id_of(*route_, "roce0"), 1400).ok());
  ASSERT_TRUE(becomes([&] { return told(message_id::conflict) == 1; }));
  ASSERT_TRUE(rtnl::set_mtu(*route_, test::id_of(*route_, "roce0"), 1400).ok());
  EXPECT_TRUE(becomes_mtu(4200));
}

}  // namespace
}  // namespace fabric::agentd
