// SPDX-License-Identifier: Apache-2.0
// A real lldpd, where one is installed, asked through its own library.
#include "kernel/host/lldpd.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "support/netns.h"
#include "support/tree.h"

namespace fabric {
namespace {

constexpr const char* kProgram = "/usr/sbin/lldpd";

// lldpd in the foreground on one interface, with its socket in the tree; ended with the object.
class Daemon {
 public:
  Daemon(const test::Tree& tree, const std::string& netdev) : socket_(tree.path() + "/" + netdev) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(1);
    ::execl(kProgram, kProgram, "-d", "-I", netdev.c_str(), "-u", socket_.c_str(), nullptr);
    ::_exit(1);
  }
  ~Daemon() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] bool told(const std::string& command) const {
    return std::system(("lldpcli -u " + socket_ + " " + command + " >/dev/null 2>&1").c_str()) == 0;
  }

 private:
  std::string socket_;
  pid_t pid_ = -1;
};

template <class Holds>
bool within_half_a_minute(Holds&& holds) {
  for (int i = 0; i < 300; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

TEST(Lldpd, ItsNeighboursWithWhatItDoesNotUnderstandItself) {
  if (::access(kProgram, X_OK) != 0) GTEST_SKIP() << "no lldpd";
  if (const std::string why = test::enter_netns_with_veth(); !why.empty()) GTEST_SKIP() << why;
  const test::Tree tree;
  ASSERT_EQ(::chmod(tree.path().c_str(), 0755), 0);  // lldpcli becomes the user _lldpd
  const Root root = *Root::open("/");
  const Daemon leaf(tree, "veth1"), host(tree, "veth0");
  ASSERT_TRUE(within_half_a_minute([&] { return leaf.told("configure system hostname leaf1"); }));
  ASSERT_TRUE(leaf.told("configure ports veth1 lldp portidsubtype local Ethernet120"));
  ASSERT_TRUE(leaf.told("configure lldp custom-tlv oui 00,80,c2 subtype 11 oui-info 08,08"));
  ASSERT_TRUE(within_half_a_minute([&] { return lldpd::neighbors(root, host.socket()).ok(); }));
  ASSERT_TRUE(leaf.told("update"));
  const auto heard = [&] {
    auto found = lldpd::neighbors(root, host.socket());
    return found && !found->heard.empty() && found->heard[0].pfc ? std::move(found->heard[0]) : Neighbor{};
  };
  ASSERT_TRUE(within_half_a_minute([&] { return heard().pfc.has_value(); }));
  const Neighbor neighbor = heard();
  EXPECT_EQ(neighbor.netdev, "veth0");
  EXPECT_EQ(neighbor.source, "lldpd");
  EXPECT_EQ(neighbor.system_name, "leaf1");
  EXPECT_EQ(neighbor.port_id, "Ethernet120");
  EXPECT_EQ(neighbor.port_description, "veth1");
  EXPECT_EQ(neighbor.chassis_id.size(), 17u);
  EXPECT_EQ(neighbor.ttl, 120u);
  EXPECT_EQ(neighbor.pfc, (DcbxPfc{false, false, 8, PrioSet{8}}));
  EXPECT_EQ(lldpd::neighbors(root, host.socket())->listening.count("veth0"), 1u);
}

TEST(Lldpd, NoneIsNoFault) {
  const auto none = lldpd::neighbors(*Root::open("/"), "/nonexistent/lldpd.socket");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ENOENT);
}

}  // namespace
}  // namespace fabric
