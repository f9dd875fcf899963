// SPDX-License-Identifier: Apache-2.0
// The listener on a veth pair in a namespace of its own: frames of a real lldpd, sent from the other end.
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#include <csignal>

#include "exporter/lldp/lldp.h"
#include "exporter/setup.h"
#include "node/neighbor_state.h"
#include "support/netns.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::exporter {
namespace {

using test::has;

std::string frame_text(const std::string& name) {
  return test::slurp(FABRIC_SOURCE_DIR "/tests/fuzz/corpus/lldp/" + name);
}

void send_from(const char* netdev, const std::string& frame) {
  Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(::if_nametoindex(netdev));
  ASSERT_EQ(::sendto(fd.get(), frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to),
            static_cast<ssize_t>(frame.size()))
      << std::strerror(errno);
}

void run(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

class LldpListening : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::enter_netns_with_veth(); !why.empty()) GTEST_SKIP() << why;
    ASSERT_GE(::sd_event_new(&loop), 0);
  }
  void TearDown() override {
    listener.reset();
    ::sd_event_unref(loop);
  }

  void start(std::vector<std::string> names) {
    listened = std::move(names);
    LldpHost host;
    host.directory = tree.path();
    host.netdevs = [this] {
      std::map<int, std::string> out;
      for (const std::string& name : listened)
        if (const unsigned index = ::if_nametoindex(name.c_str()); index != 0) out.emplace(index, name);
      for (const auto& [index, name] : phantoms) out.emplace(index, name);
      return out;
    };
    host.log = [this](const char*, const std::string& text) { said.push_back(text); };
    listener = std::make_unique<LldpListener>(std::move(host));
    const auto started = listener->start(loop);
    ASSERT_TRUE(started) << started.error().text();
  }

  Neighbors published() {
    const auto text = tree.root().read(state::kNeighborFile);
    EXPECT_TRUE(text) << text.error().text();
    auto read = state::parse_neighbors(*text, "published", {});
    EXPECT_TRUE(read) << read.error().text();
    return read ? std::move(*read) : Neighbors{};
  }

  // Runs the loop until it holds; half a minute is only the end of a broken test.
  bool until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      ::sd_event_run(loop, 100'000);
    }
    return true;
  }
  bool hears(size_t count) {
    return until([&] { return published().heard.size() == count; });
  }

  test::Tree tree;
  sd_event* loop = nullptr;
  std::vector<std::string> listened, said;
  std::map<int, std::string> phantoms;
  std::unique_ptr<LldpListener> listener;
};

TEST_F(LldpListening, PublishesWhoComesAndGoes) {
  start({"veth0"});
  EXPECT_EQ(published().listening.count("veth0"), 1u) << "at once: nobody is there yet, and that is known";
  EXPECT_EQ(published().heard.size(), 0u);
  send_from("veth1", frame_text("ieee-dcbx"));
  ASSERT_TRUE(hears(1));
  const Neighbors now = published();
  EXPECT_EQ(now.heard[0].netdev, "veth0");
  EXPECT_EQ(now.heard[0].system_name, "leaf1");
  EXPECT_EQ(now.heard[0].pfc->enabled, PrioSet{8});
  send_from("veth1", frame_text("cee-dcbx"));
  ASSERT_TRUE(hears(2));
  send_from("veth1", frame_text("shutdown"));
  ASSERT_TRUE(hears(1)) << "leaf1 has said farewell";
  EXPECT_EQ(published().heard[0].system_name, "leaf2");
  EXPECT_TRUE(said.empty()) << said.front();
}

TEST_F(LldpListening, TimeToLiveEnds) {
  start({"veth0"});
  std::string frame = frame_text("cee-dcbx");
  const size_t ttl = frame.find(std::string("\x06\x02\x00\x78", 4));
  ASSERT_NE(ttl, std::string::npos);
  frame[ttl + 3] = 1;
  send_from("veth1", frame);
  ASSERT_TRUE(hears(1));
  EXPECT_TRUE(hears(0));
}

TEST_F(LldpListening, WhatThisHostSendsAndOtherFramesAreNotHeard) {
  start({"veth0"});
  send_from("veth0", frame_text("ieee-dcbx"));
  std::string other = frame_text("cee-dcbx");
  other[12] = 0x08;
  other[13] = 0x00;
  send_from("veth1", other);
  send_from("veth1", frame_text("cee-dcbx"));
  ASSERT_TRUE(hears(1));
  EXPECT_EQ(published().heard[0].system_name, "leaf2");
}

// Open vSwitch takes all frames like this, a bridge those that it is told to forward.
TEST_F(LldpListening, BelowABridgeThatTakesTheFrames) {
  run("ip link add br0 type bridge group_fwd_mask 0x4000 && ip link set br0 up && ip link set veth0 master br0");
  start({"veth0"});
  std::string other = frame_text("cee-dcbx");
  other[12] = 0x08;
  send_from("veth1", other);
  send_from("veth1", frame_text("ieee-dcbx"));
  EXPECT_TRUE(hears(1));
  run("ip link del br0");
  EXPECT_TRUE(said.empty()) << said.front();
}

TEST_F(LldpListening, NonsenseIsSaidOnce) {
  start({"veth0"});
  const std::string half = frame_text("ieee-dcbx").substr(0, 30);
  for (int i = 0; i < 3; ++i) send_from("veth1", half);
  send_from("veth1", frame_text("ieee-dcbx"));
  ASSERT_TRUE(hears(1));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(has(said[0], "veth0: malformed frame: LLDP frame: byte ")) << said[0];
}

// Frames that differ, so that no line is the repetition of the one before.
TEST_F(LldpListening, ANeighborDoesNotFloodTheJournal) {
  start({"veth0"});
  const std::string whole = frame_text("ieee-dcbx");
  for (size_t i = 0; i < 60; ++i) {
    send_from("veth1", whole.substr(0, 20 + i % 20));
    if (i % 10 == 0) ::sd_event_run(loop, 0);
  }
  send_from("veth1", whole);
  ASSERT_TRUE(hears(1));
  EXPECT_EQ(said.size(), 1u) << said.back();
}

// A rescan follows each notification about any netdev of the machine.
TEST_F(LldpListening, RescansDoNotFloodTheJournal) {
  phantoms = {{99'999, "gone0"}};
  start({"veth0"});
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  for (bool up = false; std::chrono::steady_clock::now() < end; up = !up) {
    run(std::string("ip link set veth1 ") + (up ? "up" : "down"));
    ::sd_event_run(loop, 20'000);
  }
  EXPECT_EQ(said.size(), 1u) << said.back();
}

TEST_F(LldpListening, OneThatCannotBeListenedToStopsNoOther) {
  phantoms = {{99'999, "gone0"}};
  start({"veth0"});
  ASSERT_FALSE(said.empty());
  EXPECT_TRUE(has(said[0], "gone0")) << said[0];
  send_from("veth1", frame_text("ieee-dcbx"));
  EXPECT_TRUE(hears(1));
  EXPECT_EQ(published().listening.count("gone0"), 0u);
}

TEST_F(LldpListening, NetdevsComeGoAndAreRenamed) {
  start({"veth0", "veth9"});
  send_from("veth1", frame_text("ieee-dcbx"));
  ASSERT_TRUE(hears(1));
  run("ip link add veth8 type veth peer name veth9 && ip link set veth8 up && ip link set veth9 up");
  ASSERT_TRUE(until([&] { return published().listening.count("veth9") == 1; }));
  send_from("veth8", frame_text("cee-dcbx"));
  ASSERT_TRUE(hears(2));
  listened = {"veth0", "rail9"};
  run("ip link set veth9 down && ip link set veth9 name rail9 && ip link set rail9 up");
  ASSERT_TRUE(until([&] { return published().listening.count("rail9") == 1; }));
  ASSERT_EQ(published().heard.size(), 2u) << "it is the same device";
  send_from("veth8", frame_text("ieee-dcbx"));
  ASSERT_TRUE(hears(3)) << "down and up again";
  run("ip link del veth8");
  EXPECT_TRUE(hears(1));
}

// The whole program, in a namespace with a /run of its own. Both programs have one name: who says HUP to the exporter
// by it says it to the listener, too.
TEST(LldpProgram, ASighupDoesNotEndIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for namespaces";
  test::Tree tree;
  const std::string path = tree.path() + "/notify";
  Fd told(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(told.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const timeval patience{20, 0};
  ::setsockopt(told.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", "/run", "tmpfs", 0, nullptr) != 0)
      ::_exit(77);
    ::_exit(listen_for_lldp());
  }
  std::array<char, 256> text{};
  ssize_t size = 0;
  int status = 0;
  while ((size = ::recv(told.get(), text.data(), text.size(), 0)) > 0 &&
         std::string_view(text.data(), static_cast<size_t>(size)).find("READY=1") == std::string_view::npos) {
  }
  ::kill(child, SIGHUP);
  ::kill(child, SIGTERM);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no namespaces here";
  ASSERT_GT(size, 0) << "it never was ready";
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(LldpOption, IsAModeOfItsOwn) {
  const auto options = parse_options({"--lldp"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->lldp);
  EXPECT_FALSE(parse_options({"--lldp", "--print"}));
  EXPECT_FALSE(parse_options({"--root", "/x", "--lldp"}));
}

}  // namespace
}  // namespace fabric::exporter
