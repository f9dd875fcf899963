// SPDX-License-Identifier: Apache-2.0
// LLDP frames: those of a real lldpd (tests/fuzz/corpus/lldp), and every capture of the corpus. The listener on a veth
// pair in a namespace of its own: frames of a real lldpd, sent from the other end.
#include "wire/lldp.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#include <csignal>

#include "base/parse.h"
#include "exporter/lldp/lldp.h"
#include "exporter/setup.h"
#include "node/neighbor_state.h"
#include "support/corpus.h"
#include "support/netns.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::lldp {
namespace {

using test::has;
using test::slurp;

// -- Frames

Bytes to_bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text.data(), text.size()));
  return {view.begin(), view.end()};
}

std::string frame_text(const std::string& name) { return slurp(FABRIC_SOURCE_DIR "/tests/fuzz/corpus/lldp/" + name); }
Bytes captured(const std::string& name) { return to_bytes(frame_text(name)); }

DcbxEts half_and_half() { return {false, 8, {0, 0, 0, 1, 0, 0, 0, 0}, {50, 50}, {2, 2}}; }

TEST(LldpFrame, OfASwitchWithIeeeDcbx) {
  const auto neighbor = parse_frame(captured("ieee-dcbx"));
  ASSERT_TRUE(neighbor) << neighbor.error().text();
  EXPECT_EQ(neighbor->system_name, "leaf1");
  EXPECT_EQ(neighbor->system_description, "SONiC-like");
  EXPECT_EQ(neighbor->port_id, "Ethernet120");
  EXPECT_EQ(neighbor->port_description, "v1");
  EXPECT_EQ(neighbor->chassis_id.size(), 17u) << neighbor->chassis_id;
  EXPECT_EQ(neighbor->ttl, 120u);
  EXPECT_EQ(neighbor->dcbx, DcbxVersion::ieee) << "though it sends CEE behind it";
  EXPECT_EQ(neighbor->pfc, (DcbxPfc{false, false, 8, PrioSet{0x08}}));
  EXPECT_EQ(neighbor->ets, half_and_half());
  EXPECT_EQ(neighbor->ets_recommended, half_and_half());
  EXPECT_EQ(neighbor->app, (std::vector<DcbxApp>{{DcbxApp::udp, 4791, 3}, {DcbxApp::dscp, 26, 3}}));
  ASSERT_EQ(neighbor->management.size(), 1u);
  EXPECT_TRUE(neighbor->management.front().starts_with("fe80::"));
  EXPECT_TRUE(neighbor->malformed.empty());
}

TEST(LldpFrame, OfASwitchWithCee) {
  const auto neighbor = parse_frame(captured("cee-dcbx"));
  ASSERT_TRUE(neighbor) << neighbor.error().text();
  EXPECT_EQ(neighbor->dcbx, DcbxVersion::cee);
  EXPECT_EQ(neighbor->max_frame, 9238u);
  EXPECT_EQ(neighbor->vlan, 100u);
  EXPECT_EQ(neighbor->pfc, (DcbxPfc{false, false, 8, PrioSet{0x08}}));
  EXPECT_EQ(neighbor->ets, (DcbxEts{false, 8, {0, 0, 0, 1, 0, 0, 0, 0}, {50, 50}, {2, 2, 2, 2, 2, 2, 2, 2}}));
  EXPECT_EQ(neighbor->app, (std::vector<DcbxApp>{{DcbxApp::ethertype, 0x8906, 3}}));
  EXPECT_TRUE(neighbor->malformed.empty());
}

TEST(LldpFrame, WhatCeeSaysIsNotEnabledIsNotInUse) {
  const Bytes whole = captured("cee-dcbx");
  const Bytes oui = to_bytes(std::string_view("\x00\x1b\x21\x02", 4));
  const auto start = std::search(whole.begin(), whole.end(), oui.begin(), oui.end());
  ASSERT_NE(start, whole.end());
  Bytes frame = whole;
  size_t features = 0;
  for (size_t at = static_cast<size_t>(start - whole.begin()) + oui.size(); at + 1 < frame.size();) {
    const unsigned type = std::to_integer<unsigned>(frame[at]) >> 1,
                   length = (std::to_integer<unsigned>(frame[at]) & 1) << 8 | std::to_integer<unsigned>(frame[at + 1]);
    if (type < 1 || type > 4) break;
    if (type > 1) ++features, frame[at + 4] &= std::byte{0x7f};
    at += 2 + length;
  }
  ASSERT_EQ(features, 3u);
  const auto neighbor = parse_frame(frame);
  ASSERT_TRUE(neighbor) << neighbor.error().text();
  EXPECT_EQ(neighbor->dcbx, DcbxVersion::cee);
  EXPECT_EQ(neighbor->pfc, (DcbxPfc{false, false, 8, PrioSet{}}));
  EXPECT_FALSE(neighbor->ets || neighbor->app);
  EXPECT_TRUE(neighbor->malformed.empty());
}

TEST(LldpFrame, AFarewellHasNoTimeToLive) {
  const auto neighbor = parse_frame(captured("shutdown"));
  ASSERT_TRUE(neighbor) << neighbor.error().text();
  EXPECT_EQ(neighbor->ttl, 0u);
  EXPECT_EQ(neighbor->port_id, "Ethernet120");
}

// Cut off anywhere, it is an error with the place, or ends between two TLVs.
TEST(LldpFrame, CutOffAnywhere) {
  const Bytes whole = captured("ieee-dcbx");
  size_t errors = 0, frames = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto neighbor = parse_frame(View8(whole).first(size));
    if (neighbor) {
      ++frames;
      continue;
    }
    ++errors;
    EXPECT_EQ(neighbor.error().code, EBADMSG);
    const std::string& what = neighbor.error().what;
    ASSERT_TRUE(what.starts_with("LLDP frame: byte ")) << what;
    EXPECT_LE(*parse_number<size_t>(what.substr(17, what.find(':', 17) - 17)), size) << what;
  }
  EXPECT_GT(errors, 150u);
  EXPECT_EQ(frames, 13u) << "between the TLVs behind the third";
}

std::string fault(Bytes frame, size_t at, uint8_t value) {
  frame.at(at) = std::byte{value};
  const auto neighbor = parse_frame(frame);
  return neighbor ? "" : neighbor.error().what;
}

TEST(LldpFrame, FaultsNameTheirByte) {
  const Bytes whole = captured("ieee-dcbx");
  EXPECT_EQ(fault(whole, 12, 0x08), "LLDP frame: byte 12: the EtherType is not that of LLDP");
  EXPECT_EQ(fault(whole, 14, 0x04), "LLDP frame: byte 14: no chassis id but a TLV of type 2");
  EXPECT_EQ(fault(whole, 15, 0x01), "LLDP frame: byte 14: chassis id of 1 bytes");
  EXPECT_EQ(fault(whole, 23, 0x08), "LLDP frame: byte 23: no port id but a TLV of type 4");
  EXPECT_EQ(parse_frame(View8(whole).first(20)).error().what,
            "LLDP frame: byte 14: a TLV of 7 bytes, but only 4 are left");
}

TEST(LldpFrame, ATlvOfTheWrongLengthCostsItselfOnly) {
  Neighbor neighbor;
  const Bytes two(2), one(1), ets(20);
  EXPECT_FALSE(read_organization(0x0080c2, 11, one, neighbor));
  EXPECT_FALSE(read_organization(0x0080c2, 9, ets, neighbor));
  EXPECT_FALSE(read_organization(0x0080c2, 12, two, neighbor));
  EXPECT_FALSE(read_organization(0x00120f, 4, one, neighbor));
  Neighbor cee;
  EXPECT_FALSE(read_organization(0x001b21, 2, one, cee));
  EXPECT_TRUE(read_organization(0x001122, 9, one, neighbor)) << "not ours to judge";
  EXPECT_FALSE(neighbor.pfc || neighbor.ets || neighbor.app || neighbor.max_frame);
  Bytes frame = captured("ieee-dcbx");
  const Bytes pfc = to_bytes(std::string_view("\xfe\x06\x00\x80\xc2\x0b", 6));
  const auto at = std::search(frame.begin(), frame.end(), pfc.begin(), pfc.end());
  ASSERT_NE(at, frame.end());
  const size_t offset = static_cast<size_t>(at - frame.begin());
  at[1] = std::byte{5};
  frame.erase(at + 7);
  const auto read = parse_frame(frame);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_FALSE(read->pfc);
  EXPECT_TRUE(read->ets && read->app);
  EXPECT_EQ(read->malformed,
            (std::vector<std::string>{"byte " + std::to_string(offset) + ": TLV of type 127 with 5 bytes"}));
}

TEST(LldpFrame, TextsArePrintable) {
  EXPECT_EQ(port_id_text(7, to_bytes("a\033[2Jb\n\xff\0\0")), "a?[2Jb ?");
  EXPECT_EQ(port_id_text(5, to_bytes("Größe")), "Größe");
  EXPECT_EQ(chassis_id_text(4, to_bytes(std::string_view("\x00\x1a\x2b\x3c\x4d\x5e", 6))), "00:1a:2b:3c:4d:5e");
  EXPECT_EQ(chassis_id_text(5, to_bytes(std::string_view("\x01\x0a\x00\x00\x01", 5))), "10.0.0.1");
}

// Frames of a pcap file, little or big endian, Ethernet.
std::vector<Bytes> frames_of(const std::string& file) {
  const std::string all = slurp(file);
  const bool little = static_cast<unsigned char>(all.at(0)) == 0xd4;
  const auto u32 = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(all.at(little ? at + 3 - i : at + i));
    return value;
  };
  std::vector<Bytes> out;
  for (size_t at = 24; at + 16 <= all.size();) {
    const uint32_t size = u32(at + 8);
    out.push_back(to_bytes(std::string_view(all).substr(at + 16, size)));
    at += 16 + size;
  }
  return out;
}

bool is_lldp(const Bytes& frame) {
  return frame.size() > 14 && frame[12] == std::byte{0x88} && frame[13] == std::byte{0xcc};
}

class LldpCorpus : public test::OfCorpus {
 protected:
  [[nodiscard]] std::vector<Result<Neighbor>> neighbors(const std::string& name) const {
    std::vector<Result<Neighbor>> out;
    for (const Bytes& frame : frames_of(corpus + "/lldp/" + name))
      if (is_lldp(frame)) out.push_back(parse_frame(frame));
    return out;
  }
};

using Numbers = std::vector<std::string>;

// The tables that tcpdump shows under a heading: TLV by TLV, the numbers of each of its "Value" lines.
std::vector<std::vector<Numbers>> tables_under(const std::string& decoded, std::string_view heading) {
  std::vector<std::vector<Numbers>> out;
  bool inside = false;
  std::istringstream lines(decoded);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("TLV (") != std::string::npos) inside = false;
    if (line.find(heading) != std::string::npos) {
      inside = true;
      out.emplace_back();
    }
    if (!inside || line.find("Value ") == std::string::npos) continue;
    Numbers numbers;
    for (const std::string_view word : words(std::string_view(line).substr(line.find(':') + 1)))
      numbers.emplace_back(word);
    out.back().push_back(numbers);
  }
  return out;
}

Numbers numbers_of(const Eight& eight) {
  Numbers out;
  for (const uint8_t number : eight) out.push_back(std::to_string(number));
  return out;
}

TEST_F(LldpCorpus, EtsOfEveryFrameAsTcpdumpReadsIt) {
  const std::string decoded = slurp(corpus + "/lldp/tcpdump_dcb_ets.out");
  const auto configuration = tables_under(decoded, "ETS Configuration Subtype"),
             recommendation = tables_under(decoded, "ETS Recommendation Subtype");
  size_t frames = 0, configured = 0, recommended = 0;
  const auto compare = [](const DcbxEts& ets, const std::vector<Numbers>& truth) {
    EXPECT_EQ(truth, (std::vector<Numbers>{numbers_of(ets.prio_tc), numbers_of(ets.bw), numbers_of(ets.tsa)}));
  };
  for (const auto& neighbor : neighbors("tcpdump_dcb_ets.pcap")) {
    ASSERT_TRUE(neighbor) << neighbor.error().text();
    EXPECT_TRUE(neighbor->malformed.empty());
    EXPECT_EQ(neighbor->chassis_id.size(), 17u);
    ++frames;
    if (neighbor->ets) compare(*neighbor->ets, configuration.at(configured++));
    if (neighbor->ets_recommended) compare(*neighbor->ets_recommended, recommendation.at(recommended++));
  }
  EXPECT_EQ(frames, 31u);
  EXPECT_EQ(configured, configuration.size());
  EXPECT_EQ(recommended, recommendation.size());
  EXPECT_GT(configured, 0u);
}

TEST_F(LldpCorpus, PfcAndApplicationPriorities) {
  const auto all = neighbors("tcpdump_lldp-app-priority.pcap");
  ASSERT_EQ(all.size(), 1u);
  ASSERT_TRUE(all.front()) << all.front().error().text();
  const Neighbor& neighbor = *all.front();
  const std::string decoded = slurp(corpus + "/lldp/tcpdump_lldp-app-priority.out");
  ASSERT_TRUE(neighbor.pfc);
  Numbers enabled;
  for (int prio = 0; prio < kPriorities; ++prio) enabled.push_back(neighbor.pfc->enabled.has(prio) ? "1" : "0");
  const auto truth = tables_under(decoded, "Priority Flow Control Configuration Subtype");
  ASSERT_EQ(truth.size(), 1u);
  EXPECT_EQ(truth.front(), (std::vector<Numbers>{enabled}));
  ASSERT_TRUE(neighbor.app);
  for (const DcbxApp& app : *neighbor.app)
    EXPECT_TRUE(has(decoded, "Priority: " + std::to_string(app.priority) + ", RES: 0, Sel: " +
                                 std::to_string(app.selector) + ", Protocol ID: " + std::to_string(app.protocol)));
  EXPECT_FALSE(neighbor.app->empty());
}

TEST_F(LldpCorpus, FramesOfSwitchesAndCards) {
  const auto connectx = neighbors("lldpd_connectx.pcap");
  ASSERT_EQ(connectx.size(), 1u);
  ASSERT_TRUE(connectx.front()) << connectx.front().error().text();
  EXPECT_NE(connectx.front()->port_id, "");
  for (const char* file :
       {"lldpd_sg200.pcap", "pypacker_lldp_extreme.pcap", "tcpdump_LLDP_and_CDP.pcap", "tcpdump_lldp_mudurl.pcap"}) {
    const auto all = neighbors(file);
    EXPECT_FALSE(all.empty()) << file;
    for (const auto& neighbor : all) {
      ASSERT_TRUE(neighbor) << file << ": " << neighbor.error().text();
      EXPECT_NE(neighbor->chassis_id, "") << file;
      EXPECT_GT(neighbor->ttl, 0u) << file;
    }
  }
  for (const auto& neighbor : neighbors("pypacker_lldp_extreme.pcap")) EXPECT_EQ(neighbor->max_frame, 1522u);
}

TEST_F(LldpCorpus, MalformedOnesAreErrorsOrBounded) {
  for (const Bytes& frame : frames_of(corpus + "/lldp/tcpdump_lldp_asan.pcap")) (void)parse_frame(frame);
  (void)parse_frame(to_bytes(slurp(corpus + "/lldp/lldpd_fuzzseed_lldp.0.raw")));
}

// -- The listener

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
    exporter::LldpHost host;
    host.directory = tree.path();
    host.netdevs = [this] {
      std::map<int, std::string> out;
      for (const std::string& name : listened)
        if (const unsigned index = ::if_nametoindex(name.c_str()); index != 0) out.emplace(index, name);
      for (const auto& [index, name] : phantoms) out.emplace(index, name);
      return out;
    };
    host.log = [this](const char*, const std::string& text) { said.push_back(text); };
    listener = std::make_unique<exporter::LldpListener>(std::move(host));
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
  std::unique_ptr<exporter::LldpListener> listener;
};

TEST_F(LldpListening, PublishesWhoComesAndGoes) {
  start({"veth0"});
  EXPECT_EQ(published().listening.count("veth0"), 1u) << "at once: there is no neighbor yet, and this is known";
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

// Open vSwitch takes all frames in this way, a bridge those that group_fwd_mask forwards.
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
    ::_exit(exporter::listen_for_lldp());
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
  const auto options = exporter::parse_options({"--lldp"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->run, exporter::ExporterOptions::Kind::lldp);
  EXPECT_FALSE(exporter::parse_options({"--lldp", "--print"}));
  EXPECT_FALSE(exporter::parse_options({"--root", "/x", "--lldp"}));
}

}  // namespace
}  // namespace fabric::lldp
