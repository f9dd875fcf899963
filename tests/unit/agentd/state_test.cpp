// SPDX-License-Identifier: Apache-2.0
#include "store/state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support/test.h"

namespace fabric::state {
namespace {

namespace fs = std::filesystem;

// Every member, with values that only a driver would show.
Qos odd_qos() {
  Qos qos;
  qos.dcbx = Dcbx::firmware;
  qos.pause = Pause{true, true};
  qos.mtu = 65'536;
  qos.trust = Trust::pcp;
  qos.dscp_map = DscpMap{};
  Ets ets;
  ets.prio_tc = {1, 0, 2, 3, 4, 5, 6, 7};
  ets.tsa.fill(Tsa::vendor);
  ets.tsa[6] = Tsa::cb_shaper;
  ets.bw.fill(100);
  qos.ets = ets;
  qos.pfc = PrioSet{0xff};
  qos.cable_length = 0;
  return qos;
}

class StateFiles : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fabric-state-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }
  fs::path path(const char* file) const { return fs::path(directory_) / file; }
  std::string content(const char* file) const {
    std::ifstream in(path(file));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const char* file, const std::string& text) {
    fs::create_directories(path(file).parent_path());
    std::ofstream(path(file)) << text;
  }
  std::string directory_;
};

Port port_at(std::string pci) {
  Port port;
  port.rdma = "mlx5_0";
  port.netdev = "eth0";
  port.pci = std::move(pci);
  return port;
}

TEST(PortKey, OutlivesRenames) {
  EXPECT_EQ(port_key(port_at("0000:24:00.0")), "0000:24:00.0/1");
  EXPECT_EQ(port_key(port_at("")), "netdev:eth0");
}

Port card_at(std::string pci, std::string card) {
  Port port = port_at(std::move(pci));
  port.card = std::move(card);
  return port;
}

// A card takes its originals along; one that replaces it has its own.
TEST_F(StateFiles, OriginalsBelongToTheCard) {
  Qos first, second;
  first.mtu = 1500;
  second.mtu = 3000;
  Originals originals;
  ASSERT_TRUE(save_original(directory_, originals, card_at("0000:24:00.0", "mac:a"), first).ok());
  ASSERT_TRUE(save_original(directory_, originals, card_at("0000:24:00.0", "mac:b"), second).ok());
  originals = *load_originals(directory_);
  EXPECT_EQ(originals.at("mac:a").place, "0000:24:00.0/1");
  EXPECT_EQ(find_original(originals, card_at("0000:24:00.0", "mac:b"))->second.mtu, 3000U);
  const Port moved = card_at("0000:99:00.0", "mac:a");
  EXPECT_EQ(find_original(originals, moved)->second.mtu, 1500U);
  ASSERT_TRUE(save_original(directory_, originals, moved, second).ok());
  EXPECT_EQ(load_originals(directory_)->at("mac:a").mtu, 1500U) << "what it had first";
  EXPECT_EQ(load_originals(directory_)->at("mac:a").place, "0000:99:00.0/1");
}

Port board_at(std::string pci, const std::string& serial, const std::string& address) {
  Port port = card_at(std::move(pci), "serial:" + serial + "/0.1");
  port.card_address = address;
  return port;
}

Qos mtu_of(uint32_t mtu) {
  Qos out;
  out.mtu = mtu;
  return out;
}

// Two cards exchange their slots: each keeps its own. One that replaces another starts with its own, although somebody
// gave it the old one's address.
TEST_F(StateFiles, OriginalsFollowTheSerialNumber) {
  Originals originals;
  const Port first = board_at("0000:24:00.0", "MT1", "mac:a"), second = board_at("0000:25:00.0", "MT2", "mac:b");
  ASSERT_TRUE(save_original(directory_, originals, first, mtu_of(1500)).ok());
  ASSERT_TRUE(save_original(directory_, originals, second, mtu_of(3000)).ok());
  originals = *load_originals(directory_);
  EXPECT_EQ(find_original(originals, board_at("0000:25:00.0", "MT1", "mac:a"))->second.mtu, 1500U);
  EXPECT_EQ(find_original(originals, board_at("0000:24:00.0", "MT2", "mac:b"))->second.mtu, 3000U);
  const Port third = board_at("0000:24:00.0", "MT3", "mac:a");
  EXPECT_EQ(find_original(originals, third), originals.end());
  ASSERT_TRUE(save_original(directory_, originals, third, mtu_of(9000)).ok());
  EXPECT_EQ(load_originals(directory_)->size(), 3U);
  EXPECT_EQ(load_originals(directory_)->at("serial:MT1/0.1").mtu, 1500U);
  const auto absent = absent_originals(originals, {second, third});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent.front()->first, "serial:MT1/0.1");
}

TEST_F(StateFiles, OriginalsByAddressBecomeThoseOfTheSerialNumber) {
  put(kOriginalsFile, "[\"mac:a\"]\nplace = \"0000:24:00.0/1\"\nmtu = 1500\n");
  auto originals = load_originals(directory_);
  ASSERT_TRUE(originals.ok());
  const Port port = board_at("0000:99:00.0", "MT1", "mac:a");
  EXPECT_TRUE(absent_originals(*originals, {port}).empty());
  ASSERT_TRUE(save_original(directory_, *originals, port, mtu_of(4200)).ok());
  originals = load_originals(directory_);
  ASSERT_EQ(originals->size(), 1U);
  EXPECT_EQ(originals->at("serial:MT1/0.1").mtu, 1500U);
  EXPECT_EQ(originals->at("serial:MT1/0.1").place, "0000:99:00.0/1");
}

// A firmware that does not answer for once must not make our settings the originals.
TEST_F(StateFiles, ACardWhoseSerialNumberIsUnreadableKeepsItsOriginals) {
  Originals originals;
  ASSERT_TRUE(save_original(directory_, originals, board_at("0000:24:00.0", "MT1", "mac:a"), mtu_of(1500)).ok());
  originals = *load_originals(directory_);
  Port mute = card_at("0000:24:00.0", "mac:a");
  mute.card_address = "mac:a";
  EXPECT_TRUE(absent_originals(originals, {mute}).empty());
  ASSERT_TRUE(save_original(directory_, originals, mute, mtu_of(4200)).ok());
  originals = *load_originals(directory_);
  ASSERT_EQ(originals.size(), 1U);
  EXPECT_EQ(originals.at("serial:MT1/0.1").mtu, 1500U);
  forget(originals, mute, Keys().set());
  EXPECT_TRUE(originals.empty());
}

TEST_F(StateFiles, OriginalsOfAnEarlierReleaseBecomeTheCards) {
  put(kOriginalsFile, "[\"0000:24:00.0/1\"]\nmtu = 1500\npfc = [3]\n");
  auto originals = load_originals(directory_);
  ASSERT_TRUE(originals.ok());
  Port bond = card_at("0000:24:00.0", "guid:1/1"), member = card_at("0000:24:00.0", "mac:a");
  bond.netdev = bond.bond = member.bond = "bond0";
  Qos now;
  now.mtu = 9000;
  now.pfc = PrioSet{};
  ASSERT_TRUE(save_original(directory_, *originals, bond, now).ok());
  ASSERT_TRUE(save_original(directory_, *originals, member, now).ok());
  originals = load_originals(directory_);
  ASSERT_EQ(originals->size(), 2U);
  EXPECT_EQ(originals->at("guid:1/1").mtu, 1500U);
  EXPECT_EQ(originals->at("mac:a").pfc, PrioSet{1 << 3});
  EXPECT_EQ(originals->at("mac:a").place, "0000:24:00.0/1");
}

// Cut anywhere, it is not read as one with fewer originals.
TEST_F(StateFiles, ATruncatedFileIsAnError) {
  Originals originals{{"0000:24:00.0/1", odd_qos()}, {"0000:25:00.0/1", odd_qos()}};
  ASSERT_TRUE(save_originals(directory_, originals).ok());
  const auto file = path(kOriginalsFile);
  const size_t kHeader = originals_toml({}).size();  // a file without originals, of an earlier release
  for (auto size = fs::file_size(file) - 2; size-- > 0;) {
    fs::resize_file(file, size);
    const auto cut = load_originals(directory_);
    EXPECT_TRUE(!cut.ok() || (cut->empty() && size == kHeader)) << size;
  }
}

TEST_F(StateFiles, OriginalsKeepEveryReadableValue) {
  Originals originals{{"0000:24:00.0/1", odd_qos()}, {"netdev:eth0", Qos{}}};
  originals["0000:25:00.0/1"].dscp_map = DscpMap{{0, 0}, {26, 3}, {63, 7}};
  originals["0000:25:00.0/1"].pause = Pause{false, true};
  originals["0000:25:00.0/1"].pfc = PrioSet{};
  ASSERT_TRUE(save_originals(directory_, originals).ok());
  auto loaded = load_originals(directory_);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(*loaded, originals);
  // Ets compares what matters; saved must be all of it.
  const Ets& ets = *loaded->at("0000:24:00.0/1").ets;
  EXPECT_EQ(ets.prio_tc, odd_qos().ets->prio_tc);
  EXPECT_EQ(ets.tsa, odd_qos().ets->tsa);
  EXPECT_EQ(ets.bw, odd_qos().ets->bw);
  struct stat status {};
  ASSERT_EQ(::stat(path(kOriginalsFile).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
}

TEST_F(StateFiles, NoFileIsNoOriginals) {
  auto loaded = load_originals(directory_);
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(loaded->empty());
}

TEST_F(StateFiles, ACorruptFileIsAnErrorAndIsKeptAside) {
  put(kOriginalsFile, "[\"0000:24:00.0/1\"]\nmtu = \"many\"\n");
  auto loaded = load_originals(directory_);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, EBADMSG);
  EXPECT_NE(loaded.error().what.find("originals.toml:2:7"), std::string::npos) << loaded.error().what;
  ASSERT_TRUE(set_originals_aside(directory_).ok());
  put(kOriginalsFile, "[[[");
  auto second = set_originals_aside(directory_);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, "originals.toml.corrupt.2");
  EXPECT_TRUE(fs::exists(path("var/lib/fabric-agent/originals.toml.corrupt")));
  EXPECT_FALSE(fs::exists(path(kOriginalsFile)));
}

TEST_F(StateFiles, TheFirstOriginalStays) {
  Originals originals;
  Qos first, second;
  first.mtu = 1500;
  second.mtu = 9000;
  ASSERT_TRUE(save_original(directory_, originals, port_at("0000:24:00.0"), first).ok());
  ASSERT_TRUE(save_original(directory_, originals, port_at("0000:24:00.0"), second).ok());
  ASSERT_TRUE(save_original(directory_, originals, port_at("0000:25:00.0"), second).ok());
  auto loaded = load_originals(directory_);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->at("0000:24:00.0/1").mtu, 1500U);
  EXPECT_EQ(loaded->at("0000:25:00.0/1").mtu, 9000U);
}

TEST_F(StateFiles, WhatCouldNotBeSavedIsNotRemembered) {
  put("var", "a file where a directory should be");
  Originals originals;
  EXPECT_FALSE(save_original(directory_, originals, port_at("0000:24:00.0"), odd_qos()).ok());
  EXPECT_TRUE(originals.empty());
}

TEST_F(StateFiles, StateReadsBackTheSame) {
  AgentState state;
  state.mode = "enforce";
  state.updated = "2026-01-02T03:04:05Z";
  state.config_error = "a.toml:1:2: \"x\" is\nwrong";
  state.ports["mlx5_0/1"]["pfc"] = {"refused", "a \\ \"detail\"", 7, "2026-01-02T03:04:04Z"};
  state.ports["mlx5_0/1"]["mtu"] = {"in_sync", "", 0, ""};
  state.held = "an apply awaits confirmation";
  SettingState& ets = state.ports["mlx5_0/1"]["ets"];
  ets.drifts = {{"process", 3}, {"driver", 1}};
  ets.last_drift = "2026-01-02T03:04:00Z";
  ets.drift_from = "tsa 0:ets \"x\"";
  ets.drift_to = "none";
  ets.drift_by = "lldpad (pid 812)";
  state.ports["mlx5_1/1"] = {};
  ASSERT_TRUE(save_agent_state(directory_, state).ok());
  auto root = Root::open(directory_);
  ASSERT_TRUE(root.ok());
  auto loaded = load_agent_state(*root);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  ASSERT_TRUE(loaded->has_value());
  EXPECT_EQ((*loaded)->config_error, state.config_error);
  EXPECT_EQ((*loaded)->updated, state.updated);
  EXPECT_EQ((*loaded)->held, state.held);
  EXPECT_EQ((*loaded)->ports, state.ports);
  EXPECT_EQ((*loaded)->ports["mlx5_0/1"]["pfc"].detail, "a \\ \"detail\"");
  EXPECT_EQ((*loaded)->ports["mlx5_0/1"]["pfc"].repairs, 7U);
  EXPECT_EQ((*loaded)->ports["mlx5_0/1"]["pfc"].last_repair, "2026-01-02T03:04:04Z");
  EXPECT_FALSE((*loaded)->running);
}

TEST_F(StateFiles, TheAgentSaysWhichConfigurationItHas) {
  const auto root = Root::open(directory_);
  EXPECT_FALSE(agent_config(*root).ok()) << "no file";
  AgentState state;
  state.ports["mlx5_0/1"] = {};
  ASSERT_TRUE(save_agent_state(directory_, state, "abc").ok());
  EXPECT_EQ(*agent_config(*root), "abc");
  ASSERT_TRUE(load_agent_state(*root).ok());
  ASSERT_TRUE(save_agent_state(directory_, state).ok());
  EXPECT_EQ(*agent_config(*root), "") << "an older agent";
}

TEST_F(StateFiles, NoStateFileIsNoState) {
  auto root = Root::open(directory_);
  auto loaded = load_agent_state(*root);
  ASSERT_TRUE(loaded.ok());
  EXPECT_FALSE(loaded->has_value());
}

TEST_F(StateFiles, TheAgentRunsWhileItsLockIsHeld) {
  ASSERT_TRUE(save_agent_state(directory_, {}).ok());
  auto root = Root::open(directory_);
  auto lock = take_lock(directory_, {}, kAgentLockFile);
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE((*load_agent_state(*root))->running);
  EXPECT_EQ(content(kAgentLockFile), std::to_string(::getpid()) + "\n");
  lock->reset();
  EXPECT_FALSE((*load_agent_state(*root))->running);
}

TEST_F(StateFiles, WhoAsksAgainHearsWhatIsNew) {
  auto root = Root::open(directory_);
  AgentStateReader reader;
  const auto read = [&] { return *reader.load(*root); };
  EXPECT_EQ(read(), nullptr);
  AgentState state;
  state.updated = "2026-01-02T03:04:05Z";
  ASSERT_TRUE(save_agent_state(directory_, state).ok());
  EXPECT_EQ(read()->updated, "2026-01-02T03:04:05Z");
  EXPECT_EQ(read(), read()) << "the same one";
  auto lock = take_lock(directory_, {}, kAgentLockFile);
  EXPECT_TRUE(read()->running) << "the file is the same, whether the agent runs is not";
  lock->reset();
  EXPECT_FALSE(read()->running);
  state.updated = "2026-01-02T03:04:06Z";
  ASSERT_TRUE(save_agent_state(directory_, state).ok());
  EXPECT_EQ(read()->updated, "2026-01-02T03:04:06Z");
  std::ofstream(directory_ + "/" + kStateFile) << "[";
  EXPECT_EQ(reader.load(*root).error().code, EBADMSG);
  EXPECT_EQ(reader.load(*root).error().code, EBADMSG) << "and not forgotten";
  ASSERT_EQ(::unlink((directory_ + "/" + kStateFile).c_str()), 0);
  EXPECT_EQ(read(), nullptr);
}

TEST_F(StateFiles, ASecondHolderIsRefusedAndToldTheFirst) {
  auto first = take_lock(directory_);
  ASSERT_TRUE(first.ok());
  auto second = take_lock(directory_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, EWOULDBLOCK);
  EXPECT_EQ(take_lock(directory_, std::chrono::milliseconds(30)).error().code, EWOULDBLOCK) << "not for ever";
  EXPECT_NE(second.error().what.find(std::to_string(::getpid())), std::string::npos);
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first->reset();
  });
  EXPECT_TRUE(take_lock(directory_, std::chrono::minutes(1)).ok()) << "as soon as it is free";
  holder.join();
}

// Who may read the agent's lock may lock it for reading: that neither stops the agent nor passes for one.
TEST_F(StateFiles, AReadersLockDoesNotKeepTheAgentFromStarting) {
  ASSERT_TRUE(save_agent_state(directory_, {}).ok());
  ASSERT_TRUE(take_lock(directory_, {}, kAgentLockFile).ok());
  const Fd reader(::open(path(kAgentLockFile).c_str(), O_RDONLY | O_CLOEXEC));
  struct flock held {};
  held.l_type = F_RDLCK;
  ASSERT_EQ(::fcntl(reader.get(), F_OFD_SETLK, &held), 0);
  auto root = Root::open(directory_);
  EXPECT_FALSE((*load_agent_state(*root))->running);
  auto lock = take_lock(directory_, {}, kAgentLockFile);
  ASSERT_TRUE(lock.ok()) << lock.error().text();
  EXPECT_TRUE((*load_agent_state(*root))->running);
  EXPECT_EQ(fs::status(path(kAgentLockFile)).permissions(), fs::perms(0644));
  auto second = take_lock(directory_, {}, kAgentLockFile);
  ASSERT_FALSE(second.ok()) << "an agent's lock is not shed";
  EXPECT_EQ(second.error().code, EWOULDBLOCK);
  EXPECT_EQ(content(kAgentLockFile), std::to_string(::getpid()) + "\n");
}

// A full /run: the lock's file says nobody's number, and the lock is taken all the same.
TEST_F(StateFiles, ALockNeedsNoRoom) {
  ASSERT_TRUE(take_lock(directory_).ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  auto lock = take_lock(directory_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_TRUE(lock.ok()) << lock.error().text();
  EXPECT_EQ(take_lock(directory_).error().code, EWOULDBLOCK);
}

// Hardened hosts give root a mask of 027 or 077; the exporter, and who is not root, read what he made all the same.
TEST_F(StateFiles, EverybodyMayReadWhateverTheUmask) {
  const mode_t before = ::umask(077);
  const bool saved = save_agent_state(directory_, {}).ok() && take_lock(directory_, {}, kAgentLockFile).ok();
  ::umask(before);
  ASSERT_TRUE(saved);
  for (fs::path at = path(kStateFile).parent_path(); at != directory_; at = at.parent_path())
    EXPECT_EQ(fs::status(at).permissions(), fs::perms(0755)) << at;
  EXPECT_EQ(fs::status(path(kStateFile)).permissions(), fs::perms(0644));
  EXPECT_EQ(fs::status(path(kAgentLockFile)).permissions(), fs::perms(0644));
}

// A read lock takes no more than to open the file, and holds up those who write.
TEST_F(StateFiles, NobodyElseCanHoldUpWhoWrites) {
  const mode_t before = ::umask(0);
  const bool taken = take_lock(directory_).ok();
  ::umask(before);
  ASSERT_TRUE(taken);
  EXPECT_EQ(fs::status(path(kLockFile)).permissions(), fs::perms(0600));
  fs::permissions(path(kLockFile), fs::perms(0644));  // as those before made it
  ASSERT_TRUE(take_lock(directory_).ok());
  EXPECT_EQ(fs::status(path(kLockFile)).permissions(), fs::perms(0600));
}

TEST_F(StateFiles, ALockDiesWithItsHolder) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t child = ::fork();
  if (child == 0) {
    auto lock = take_lock(directory_);
    char byte = lock.ok() ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_FALSE(take_lock(directory_).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(take_lock(directory_).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

// Killed at any instant: the file on disk is always a whole one.
TEST_F(StateFiles, AKilledWriterLeavesAWholeFile) {
  Originals small{{"0000:24:00.0/1", odd_qos()}}, large;
  for (int i = 0; i < 64; ++i) large["0000:24:00." + std::to_string(i) + "/1"] = odd_qos();
  ASSERT_TRUE(save_originals(directory_, small).ok());
  for (int round = 0; round < 20; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      for (bool flip = false;; flip = !flip) (void)save_originals(directory_, flip ? small : large).ok();
    }
    ::usleep(static_cast<useconds_t>(500 + round * 400));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto loaded = load_originals(directory_);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    EXPECT_TRUE(*loaded == small || *loaded == large);
  }
}

}  // namespace
}  // namespace fabric::state
