// SPDX-License-Identifier: Apache-2.0
// Something goes wrong at every single write of a whole profile, one write after the other, found by counting: refused,
// accepted and ignored, the device gone, the process killed; and at every single request by netlink, of readings as
// well: the request or its answer is lost. Each port ends in sync or is honestly reported, and the original settings
// can be restored. The port that was read is the port that is written: names change hands before every message and file
// of every driver.
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <sys/mount.h>

#include "nic/driver.h"
#include "support/netns.h"
#include "support/sim_files.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

// -- Failures at every write

enum class Blow { refuse, ignore, vanish, kill_before, kill_after };
constexpr std::pair<Blow, const char*> kBlows[]{{Blow::refuse, "refused"},
                                                {Blow::ignore, "ignored"},
                                                {Blow::vanish, "device gone"},
                                                {Blow::kill_before, "killed before"},
                                                {Blow::kill_after, "killed after"}};

struct Killed {};

// Counts the writes of all kinds; the `strike`-th meets its blow.
struct Gate {
  unsigned count = 0, strike = 0;
  Blow blow = Blow::refuse;
  SimNic* nic = nullptr;
  bool files_gone = false;
  // The netlink requests `lost` to `lost` + `repeats` fail with this errno. If only the answer is lost, they were done.
  unsigned requests = 0, lost = 0, repeats = 0;
  int lost_code = 0;
  bool only_answer = false;

  // `act` writes; `undone` writes and takes it back, so that the answer is the kernel's own.
  template <class Answer>
  Answer pass(const std::function<Answer()>& act, const std::function<Answer()>& undone) {
    if (++count != strike) return act();
    switch (blow) {
      case Blow::refuse: return error(EIO, "struck");
      case Blow::ignore: return undone();
      case Blow::vanish:
        nic->present = false;
        files_gone = true;
        return act();
      case Blow::kill_before: throw Killed{};
      case Blow::kill_after: break;
    }
    (void)act();
    throw Killed{};
  }
};

bool is_write(uint16_t type, View8 payload) {
  if (type == RTM_SETDCB || type == RTM_SETLINK || type == RTM_NEWLINK) return true;
  if (type < 0x10 || type >= 0x40 || payload.size() < sizeof(genlmsghdr)) return false;  // no generic netlink family
  switch (static_cast<uint8_t>(payload[0])) {
    case ETHTOOL_MSG_PAUSE_SET:
    case ETHTOOL_MSG_PRIVFLAGS_SET:
    case ETHTOOL_MSG_RINGS_SET:
    case ETHTOOL_MSG_CHANNELS_SET:
    case ETHTOOL_MSG_FEC_SET: return true;
    default: return false;
  }
}

class GateNetlink : public Netlink {
 public:
  GateNetlink(Gate& gate, std::unique_ptr<Netlink> behind) : gate_(gate), behind_(std::move(behind)) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    using Answer = Result<std::vector<Message>>;
    ++gate_.requests;
    if (gate_.lost != 0 && gate_.requests >= gate_.lost && gate_.requests <= gate_.lost + gate_.repeats) {
      if (gate_.only_answer) (void)behind_->talk(type, flags, payload);
      return error(gate_.lost_code, "struck");
    }
    if (!is_write(type, payload)) return behind_->talk(type, flags, payload);
    return gate_.pass<Answer>([&] { return behind_->talk(type, flags, payload); },
                              [&] {
                                const SimNic before = *gate_.nic;
                                Answer answer = behind_->talk(type, flags, payload);
                                *gate_.nic = before;
                                return answer;
                              });
  }

 private:
  Gate& gate_;
  std::unique_ptr<Netlink> behind_;
};

class GateFiles : public BehindFiles {
 public:
  GateFiles(Gate& gate, std::shared_ptr<SimFiles> behind) : gate_(gate), behind_(std::move(behind)) {}
  std::optional<Result<void>> act(Act act, const std::string& file, std::string_view text) override {
    const auto forward = [&]() -> Result<void> {
      if (gate_.files_gone) return error(ENODEV, file);
      auto answer = behind_->act(act, file, text);
      return answer ? *answer : Result<void>(error(ENOENT, file));
    };
    if (act != Act::write) return behind_->act(act, file, text);
    return gate_.pass<Result<void>>(forward, [] { return Result<void>{}; });
  }

 private:
  Gate& gate_;
  std::shared_ptr<SimFiles> behind_;
};

constexpr const char* kRdmaCm = "sys/kernel/config/rdma_cm";
constexpr const char* kCcParams = "sys/kernel/debug/mlx5/0000:17:00.0/cc_params";
constexpr const char* kEcn = "sys/class/net/eth0/ecn";

void add_rdma_cm(Tree& tree, SimFiles& files) {
  tree.folder(kRdmaCm);
  files.on_make_directory(std::string(kRdmaCm) + "/*", [](SimFiles& made, const std::string& folder, std::string_view) {
    made.tree.file(folder + "/ports/1/default_roce_mode", "RoCE v2\n")
        .file(folder + "/ports/1/default_roce_tos", "0\n");
    return 0;
  });
  // The values outlive the directory in the kernel: here it simply stays.
  files.on_remove_directory(std::string(kRdmaCm) + "/*",
                            [](SimFiles&, const std::string&, std::string_view) { return 0; });
  files.on_write("*/default_roce_tos", store_number(0, 255));
}

void add_numbers(Tree& tree, SimFiles& files, const std::string& folder, std::initializer_list<const char*> names) {
  for (const char* name : names) tree.file(folder + "/" + name, "1\n");
  files.on_write(folder + "/*", store_number(0, 131'071));
}

enum class Card { mlx5, ofed, bnxt, ice, full };

Personality personality_of(Card card) {
  switch (card) {
    case Card::bnxt: return Personality::bnxt;
    case Card::ice: return Personality::ice;
    case Card::full: return Personality::full;
    case Card::mlx5:
    case Card::ofed: break;
  }
  return Personality::mlx5;
}

Qos whole_profile(Card card) {
  Qos want = profile(personality_of(card));
  want.roce_tos = 106;
  if (card == Card::bnxt || card == Card::ice) return want;
  want.maxrate = Rates{{0, 0, 0, 0, 0, 0, 10'000'000, 0}};
  if (card == Card::full) return want;
  want.prio2buffer = Eight{0, 0, 0, 1, 0, 0, 0, 0};
  want.buffer_size = Buffers{false, {65'536, 65'536, 0, 0, 0, 0, 0, 0}};
  want.cnp_dscp = 48;
  want.rpg_ai_rate = 5;
  want.rpg_time_reset = 300;
  want.min_time_between_cnps = 4;
  if (card == Card::ofed) want.ecn_rp = want.ecn_np = PrioSet{0x08};
  return want;
}

// A machine with one card, as fresh as from a boot.
struct Machine {
  explicit Machine(Card which)
      : nic(sim.add_nic("eth0", personality_of(which))), files(std::make_shared<SimFiles>(tree)) {
    gate.nic = &nic;
    add_rdma_cm(tree, *files);
    if (which == Card::mlx5)
      add_numbers(tree, *files, kCcParams, {"np_cnp_dscp", "rp_ai_rate", "rp_time_reset", "np_min_time_between_cnps"});
    if (which == Card::ofed) {
      tree.file("sys/class/net/eth0/ifindex", std::to_string(nic.ifindex) + "\n");
      const std::string ecn(kEcn);
      add_numbers(tree, *files, ecn + "/roce_rp", {"rpg_ai_rate", "rpg_time_reset"});
      add_numbers(tree, *files, ecn + "/roce_np", {"cnp_dscp", "min_time_between_cnps"});
      for (const char* half : {"/roce_rp/enable/", "/roce_np/enable/"})
        for (char prio = '0'; prio < '8'; ++prio) tree.file(ecn + half + prio, "1\n");
    }
    port = nic.port();
    port.pci = "0000:17:00.0";
    start();
  }

  // A process begins.
  void start() {
    kernel = sim.kernel(tree.path());
    kernel->root.set_behind(std::make_shared<GateFiles>(gate, files));
    kernel->route = std::make_unique<GateNetlink>(gate, std::move(kernel->route));
    kernel->generic = std::make_unique<GateNetlink>(gate, std::move(kernel->generic));
  }

  Changes reconcile(const Qos& want) {
    // A saved value is never replaced, as in state::save_original().
    Changes changes = test::reconcile(*kernel, port, want, free_terms(), [this](const Port&, const Qos& before) {
      if (!original) original.emplace();
      for (const Setting& setting : kSettings)
        if (!has_value(setting, *original)) copy_value(setting, before, *original);
      return Result<void>();
    });
    nic.link_up();
    return changes;
  }
  // The settings as a new process without any fault reads them.
  Qos read() {
    start();
    auto now = qos::read(*kernel, port);
    EXPECT_TRUE(now.ok()) << now.error().text();
    return now.ok() ? now->values : Qos{};
  }
  void heal() {
    gate.strike = gate.lost = 0;
    gate.files_gone = false;
    nic.present = true;
  }

  Tree tree;
  SimKernel sim;
  SimNic& nic;
  std::shared_ptr<SimFiles> files;
  Gate gate;
  Port port;
  std::optional<Kernel> kernel;
  std::optional<Qos> original;  // durable
};

// Unverified: as wanted, as far as the driver's answer shows it.
bool good(Outcome outcome) {
  return outcome == Outcome::applied || outcome == Outcome::in_sync || outcome == Outcome::unverified;
}

// The wanted settings as the driver will read them back.
Qos expected_of(Machine& machine, const Qos& want, const Qos& have) {
  return driver_for(machine.port.kernel_driver, &machine.kernel->root, machine.port.netdev)
      .expected(want, {.values = have});
}

// The report of a setting matches a new reading.
void expect_honest(Machine& machine, const Changes& changes, const Qos& want) {
  const Qos now = machine.read(), expected = expected_of(machine, want, now);
  EXPECT_EQ(changes.size(), keys_of(expected).count()) << "a word on each setting\n" << text(changes);
  const bool is_gone = std::ranges::any_of(changes, [](const Change& each) { return each.code == ENODEV; });
  for (const Change& change : changes) {
    const Setting& setting = setting_of(change.setting);
    // No good outcome is known for a device that went away, even if its last write was accepted. mlx5 may have gone
    // between a changed map of buffers and the old one (map_again()).
    if (change.code == ENODEV || (is_gone && change.setting == SettingId::prio2buffer)) continue;
    EXPECT_EQ(good(change.outcome), same_value(setting, expected, now))
        << change.key() << " reads " << value_text(setting, now) << "\n"
        << text(changes);
  }
}

void expect_as_wanted(Machine& machine, const Qos& want) {
  machine.start();
  const Changes changes = machine.reconcile(want);
  for (const Change& change : changes) EXPECT_TRUE(good(change.outcome)) << text(changes);
  expect_honest(machine, changes, want);
}

void expect_restored(Machine& machine, const Qos& first) {
  ASSERT_TRUE(machine.original);
  const Qos original = *machine.original;
  machine.start();
  const Changes changes = machine.reconcile(original);
  const Qos now = machine.read();
  for (const Setting& setting : kSettings)
    if (has_value(setting, original)) {
      EXPECT_EQ(value_text(setting, original), value_text(setting, first))
          << "saved before the first write: " << setting.key;
      EXPECT_EQ(value_text(setting, now), value_text(setting, first)) << setting.key << "\n" << text(changes);
    }
}

class FaultWalk : public testing::TestWithParam<Card> {};
std::string card_name(const testing::TestParamInfo<Card>& card) {
  constexpr const char* kNames[] = {"mlx5", "ofed", "bnxt", "ice", "full"};
  return kNames[static_cast<size_t>(card.param)];
}
INSTANTIATE_TEST_SUITE_P(Cards, FaultWalk, testing::Values(Card::mlx5, Card::ofed, Card::bnxt, Card::ice, Card::full),
                         card_name);

TEST_P(FaultWalk, EveryWriteCanFailEveryWay) {
  const Qos want = whole_profile(GetParam());
  Machine whole(GetParam());
  const Changes undisturbed = whole.reconcile(want);
  for (const Change& change : undisturbed) ASSERT_TRUE(good(change.outcome)) << text(undisturbed);
  const unsigned writes = whole.gate.count;
  ASSERT_GE(writes, 7U);

  for (unsigned strike = 1; strike <= writes; ++strike)
    for (const auto& [blow, name] : kBlows) {
      SCOPED_TRACE("write " + std::to_string(strike) + " of " + std::to_string(writes) + " " + name);
      Machine machine(GetParam());
      const Qos first = machine.read();
      machine.gate.strike = strike;
      machine.gate.blow = blow;
      Changes changes;
      bool killed = false;
      try {
        changes = machine.reconcile(want);
      } catch (const Killed&) {
        killed = true;
      }
      EXPECT_EQ(killed, blow == Blow::kill_before || blow == Blow::kill_after);
      EXPECT_GE(machine.gate.count, strike) << "the write was never made";
      machine.heal();
      if (!killed) expect_honest(machine, changes, want);
      expect_as_wanted(machine, want);
      expect_restored(machine, first);
      if (HasFailure()) return;
    }
}

// The errnos of a socket (netlink(7), recvmsg(2)) and of Netlink::talk().
constexpr int kLostCodes[]{ENOBUFS, ETIMEDOUT, EINTR, ENOMEM};

// Every `step`-th request of a pass is lost, or its answer; alone, or with the requests after it: a reading is repeated
// once.
void lose_requests(Card card, unsigned step) {
  Qos want = whole_profile(card);
  want.ring_rx = want.ring_tx = 2048;
  want.channels = 16;
  const auto add_queues = [](Machine& machine) {
    machine.nic.ethtool.ring_rx = machine.nic.ethtool.ring_tx = {1024, 8192};
    machine.nic.ethtool.channels = {8, 32};
  };
  Machine whole(card);
  add_queues(whole);
  whole.gate.requests = 0;
  whole.reconcile(want);
  const unsigned requests = whole.gate.requests;
  ASSERT_GE(requests, 20U);

  unsigned tries = 0;
  for (unsigned lost = 1; lost <= requests; lost += step)
    for (const bool only_answer : {false, true}) {
      const int code = kLostCodes[tries % std::size(kLostCodes)];
      const unsigned repeats = tries % 3 == 2 ? 40 : 0;
      ++tries;
      SCOPED_TRACE("request " + std::to_string(lost) + " of " + std::to_string(requests) + " and " +
                   std::to_string(repeats) + " more: " + errno_name(code) +
                   (only_answer ? " instead of the answer" : ""));
      Machine machine(card);
      add_queues(machine);
      const Qos first = machine.read();
      machine.start();
      machine.gate.requests = 0;
      machine.gate.lost = lost;
      machine.gate.repeats = repeats;
      machine.gate.lost_code = code;
      machine.gate.only_answer = only_answer;
      const Changes changes = machine.reconcile(want);
      EXPECT_GE(machine.gate.requests, lost) << "the request was never made";
      machine.heal();
      // A setting may be as wanted while no reading shows it, but none is reported so that is not.
      const Qos now = machine.read(), expected = expected_of(machine, want, now);
      EXPECT_FALSE(changes.empty());
      for (const Change& change : changes) {
        const Setting& setting = setting_of(change.setting);
        if (good(change.outcome))
          EXPECT_TRUE(same_value(setting, expected, now)) << change.key() << " reads " << value_text(setting, now);
        // "unsupported" says that the driver lacks the setting.
        EXPECT_NE(change.outcome, Outcome::unsupported) << change.key();
        // Nothing is written whose original value is unknown.
        if (was_written(change)) EXPECT_TRUE(machine.original && has_value(setting, *machine.original)) << change.key();
      }
      // The link returns after the first of these passes.
      machine.start();
      (void)machine.reconcile(want);
      expect_as_wanted(machine, want);
      expect_restored(machine, first);
      if (testing::Test::HasFailure()) FAIL() << text(changes);
    }
}

TEST_P(FaultWalk, SomeRequestsAreLost) { lose_requests(GetParam(), 37); }

TEST_P(FaultWalk, EveryRequestIsLostHarder) { lose_requests(GetParam(), 1); }

// -- Names that change hands

struct Names {
  SimKernel& sim;
  int messages = 0, swap_at = 0;  // at the n-th message, from 1; 0: never
  int sets = 0, swap_at_set = 0;  // at the n-th RTM_SETDCB
  bool swapped = false;

  void swap() {
    SimNic &first = sim.nic("eth0"), &second = sim.nic("eth1");
    std::swap(first.name, second.name);
    swapped = true;
  }
};

// Swaps the names of eth0 and eth1 before one of the messages. The kernel addresses dcbnl by name alone: a swap between
// the check of the name and the SET behind it leads to the other NIC, and has a test of its own.
class SwappingNetlink final : public Netlink {
 public:
  SwappingNetlink(std::unique_ptr<Netlink> live, Names& names) : live_(std::move(live)), names_(names) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    ++names_.messages;
    if (!names_.swapped && names_.swap_at != 0 && names_.messages >= names_.swap_at && type != RTM_SETDCB)
      names_.swap();
    if (type == RTM_SETDCB && ++names_.sets == names_.swap_at_set) names_.swap();
    return live_->talk(type, flags, payload);
  }

 private:
  std::unique_ptr<Netlink> live_;
  Names& names_;
};

struct TwoNics {
  explicit TwoNics(Personality personality)
      : nic(sim.add_nic("eth0", personality)), other(sim.add_nic("eth1", personality)), kernel(sim.kernel()) {
    for (SimNic* each : {&nic, &other}) {
      each->ethtool.ring_rx = each->ethtool.ring_tx = {1024, 8192};
      each->ethtool.channels = {8, 32};
      each->ethtool.fec = 8;
    }
    other.mtu = 1777;
    other.pause = {false, true};
    other.ethtool.ring_rx = {512, 8192};
    kernel.route = std::make_unique<SwappingNetlink>(std::move(kernel.route), names);
    kernel.generic = std::make_unique<SwappingNetlink>(std::move(kernel.generic), names);
  }
  static Qos want(Personality personality) {
    Qos out = profile(personality);
    out.ring_rx = out.ring_tx = 2048;
    out.channels = 16;
    // The others wait seconds for the link to retrain (write_fec()).
    if (!driver_for(SimNic("eth0", 2, personality).kernel_driver()).fec_in_use) out.fec = Fec{4};
    if (personality == Personality::ice || personality == Personality::i40e) out.fw_lldp = false;
    if (personality == Personality::full) out.maxrate = Rates{{0, 0, 0, 1'000'000, 0, 0, 0, 0}};
    return out;
  }
  SimKernel sim;
  SimNic &nic, &other;
  Names names{sim};
  Kernel kernel;
};

class Renamed : public testing::TestWithParam<Personality> {};
INSTANTIATE_TEST_SUITE_P(All, Renamed,
                         testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::nodcb,
                                         Personality::full, Personality::i40e, Personality::qede, Personality::mlx4),
                         personality_name);

TEST_P(Renamed, BeforeAnyMessageOnlyTheReadPortIsWrittenAndTheNextPassHeals) {
  int last = 0;
  for (int at = 1;; ++at) {
    SCOPED_TRACE("swapped before message " + std::to_string(at));
    TwoNics bed(GetParam());
    const Qos want = TwoNics::want(GetParam());
    bed.names.swap_at = at;
    Port port = bed.nic.port();
    std::optional<Qos> saved;
    const qos::SaveOriginal save = [&](const Port&, const Qos& before) -> Result<void> {
      saved = before;
      return {};
    };
    const Changes changes = test::reconcile(bed.kernel, port, want, free_terms(), save);
    last = bed.names.messages;
    EXPECT_EQ(bed.other.writes(), 0u) << bed.other.log.front();
    if (saved) EXPECT_EQ(saved->mtu, 1500u) << "the originals are of the port that was read";
    if (!bed.names.swapped) break;
    // After the last reading there is nothing left to go wrong.
    const bool is_whole = std::ranges::all_of(
        changes, [](const Change& each) { return is_done(each.outcome) || each.outcome == Outcome::unsupported; });
    EXPECT_TRUE(is_whole || contains(changes, ENODEV, &Change::code)) << text(changes);
    for (const Change& change : changes)
      if (change.code == ENODEV) EXPECT_TRUE(has(change.detail, "eth0 was renamed to eth1")) << change.detail;

    // The next scan finds the port by its new name.
    bed.nic.link_up();
    port = bed.nic.port();
    ASSERT_EQ(port.netdev, "eth1");
    test::reconcile(bed.kernel, port, want, free_terms(), kSaveNowhere);
    bed.nic.link_up();
    expect_all(test::reconcile(bed.kernel, port, want, free_terms(), kSaveNowhere),
               {Outcome::in_sync, Outcome::applied, Outcome::unverified, Outcome::unsupported});
    EXPECT_EQ(bed.other.writes(), 0u);
    EXPECT_EQ(bed.other.mtu, 1777u);
  }
  EXPECT_GT(last, 10) << "as far as the end of an undisturbed pass";
}

// The one message that no check can hold back: it is noticed, nothing more is sent, and the other NIC is named.
TEST_P(Renamed, BetweenTheCheckAndTheMessageIsReportedWithTheOtherNic) {
  if (GetParam() == Personality::nodcb) GTEST_SKIP() << "no message by name";
  for (int at = 1;; ++at) {
    SCOPED_TRACE("swapped before SET " + std::to_string(at));
    TwoNics bed(GetParam());
    bed.names.swap_at_set = at;
    Port port = bed.nic.port();
    const Changes changes = test::reconcile(bed.kernel, port, TwoNics::want(GetParam()), free_terms(), kSaveNowhere);
    if (!bed.names.swapped) {
      EXPECT_GT(at, 2) << "as far as the end of an undisturbed pass";
      break;
    }
    EXPECT_EQ(bed.names.sets, at) << text(changes);
    EXPECT_EQ(bed.other.mtu, 1777u);
    const std::string other = "interface " + std::to_string(bed.other.ifindex) + ", named eth0 now, may have got";
    EXPECT_TRUE(std::ranges::any_of(changes, [&](const Change& each) { return has(each.detail, other); }))
        << text(changes);
    EXPECT_TRUE(contains(changes, ENODEV, &Change::code)) << "the port is scanned again\n" << text(changes);
  }
}

TEST_P(Renamed, WhatIsPutBackIsPutBackOnThePortThatItIsOf) {
  const Qos before{.mtu = 1500, .ring_rx = 1024, .pfc = PrioSet{}};
  for (int at = 1;; ++at) {
    TwoNics bed(GetParam());
    Port port = bed.nic.port();
    test::reconcile(bed.kernel, port, TwoNics::want(GetParam()), free_terms(), kSaveNowhere);
    bed.nic.link_up();
    bed.names.messages = 0;
    bed.names.swap_at = at;
    const Changes changes = test::write_back(bed.kernel, port, before, free_terms());
    EXPECT_EQ(bed.other.writes(), 0u) << at;
    if (!bed.names.swapped) break;
    const bool is_whole = std::ranges::all_of(
        changes, [](const Change& each) { return is_done(each.outcome) || each.outcome == Outcome::unsupported; });
    EXPECT_TRUE(is_whole || std::ranges::any_of(changes, is_left_to_do)) << at << ": it is tried again\n"
                                                                         << text(changes);
  }
}

// A device of another driver in place of the one that was read, and none at all.
TEST(Rename, APortWithoutAnIndexIsNotWritten) {
  Bed bed(Personality::full);
  bed.port.ifindex = 0;
  const Changes changes = bed.apply(profile(Personality::full));
  EXPECT_EQ(bed.nic.writes(), 0u) << "by name alone";
  EXPECT_TRUE(contains(changes, Outcome::refused, &Change::outcome)) << text(changes);
}

// The files of a netdev: by the descriptor of its folder.
TEST(Rename, OfedsFilesOfAnotherNetdevAreNotWritten) {
  FileBed bed(Personality::mlx5);
  add_ofed_ecn(*bed.files, "eth0");
  const Qos want{.ecn_rp = PrioSet{8}, .cnp_dscp = 50};
  // Between the check before the setting and the write.
  bed.tree.file("sys/class/net/eth0/ifindex", "99\n");
  const Changes changes = bed.apply(want);
  EXPECT_EQ(bed.files->changes(), 0u);
  for (const char* key : {"ecn_rp", "cnp_dscp"}) EXPECT_EQ(of(changes, key).code, ENODEV) << text(changes);
  bed.tree.file("sys/class/net/eth0/ifindex", std::to_string(bed.nic.ifindex) + "\n");
  expect_all(bed.apply(want), {Outcome::applied});
}

// Files that are found by the name of the RDMA device (configfs, OFED's traffic class).
TEST(Rename, TheFilesOfAnotherRdmaDeviceAreNotWritten) {
  FileBed bed(Personality::mlx5);
  add_ofed_ecn(*bed.files, "eth0");
  add_ofed_traffic_class(*bed.files, bed.port.rdma, 1);
  const std::string folder = "sys/kernel/config/rdma_cm/" + bed.port.rdma,
                    link = "sys/class/infiniband/" + bed.port.rdma + "/device";
  bed.tree.file(folder + "/ports/1/default_roce_tos", "0\n");
  bed.files->on_write(folder + "/*", store_number(0, 255));
  const Qos want{.roce_tos = 106, .traffic_class = OrNone{106}};
  bed.tree.folder("sys/devices/pci0000:50/0000:50:00.0").folder("sys/devices/pci0000:50/" + bed.port.pci);
  bed.tree.link(link, "../../../devices/pci0000:50/0000:50:00.0");
  Changes changes = bed.apply(want);
  EXPECT_EQ(bed.files->changes(), 0u) << bed.files->log.front();
  for (const char* key : {"roce_tos", "traffic_class"}) {
    EXPECT_EQ(of(changes, key).code, ENODEV) << text(changes);
    EXPECT_TRUE(has(of(changes, key).detail, "another RDMA device has this name")) << text(changes);
  }
  bed.tree.remove(link).link(link, "../../../devices/pci0000:50/" + bed.port.pci);
  changes = bed.apply(want);
  for (const char* key : {"roce_tos", "traffic_class"})
    EXPECT_EQ(of(changes, key).outcome, Outcome::applied) << text(changes);
}

// This kernel's netdevs, swapped at any moment between reading and writing.
class RenamedVeth : public Veth {
 protected:
  void SetUp() override {
    Veth::SetUp();
    if (IsSkipped()) return;
    for (const char* name : {"veth0", "veth1"}) ASSERT_TRUE(rtnl::set_mtu(*kernel.route, id(name), 1500).ok());
    first_ = id("veth0").ifindex;
    second_ = id("veth1").ifindex;
  }
  void TearDown() override {
    if (!IsSkipped() && rtnl::link_at(*kernel.route, first_)->name != "veth0") swap();
  }
  static void swap() {
    ASSERT_EQ(std::system("ip link set dev veth0 name vethx && ip link set dev veth1 name veth0 && "
                          "ip link set dev vethx name veth1"),
              0);
  }
  uint32_t mtu(int ifindex) { return rtnl::link_at(*kernel.route, ifindex)->mtu.value_or(0); }
  Port port() { return {.rdma = "rxe0", .netdev = "veth0", .ifindex = id("veth0").ifindex, .kernel_driver = "rxe"}; }
  int first_ = 0, second_ = 0;
};

TEST_F(RenamedVeth, BetweenReadingAndWriting) {
  Port as_read = port();
  const qos::SaveOriginal save = [&](const Port&, const Qos&) -> Result<void> {
    swap();
    return {};
  };
  Changes changes = test::reconcile(kernel, as_read, {.mtu = 4200}, free_terms(), save);
  EXPECT_EQ(mtu(first_), 1500u) << "not under a name that the policy may not mean";
  EXPECT_EQ(mtu(second_), 1500u);
  EXPECT_EQ(of(changes, "mtu").code, ENODEV);
  EXPECT_TRUE(has(of(changes, "mtu").detail, "veth0 was renamed to veth1")) << text(changes);
  as_read.netdev = "veth1";  // as the next scan finds it
  changes = test::reconcile(kernel, as_read, {.mtu = 4200}, free_terms(), kSaveNowhere);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
  EXPECT_EQ(mtu(first_), 4200u);
  EXPECT_EQ(mtu(second_), 1500u);
}

TEST_F(RenamedVeth, TheKernelRefusesEachMessageWithTheOldName) {
  const NetdevId as_read = id("veth0");
  swap();
  EXPECT_EQ(rtnl::set_mtu(*kernel.route, as_read, 4200).error().code, ENODEV);
  EXPECT_EQ(dcbnl::set_pfc(*kernel.route, as_read, {}).error().code, ENODEV);
  ASSERT_TRUE(kernel.ethtool);
  EXPECT_EQ(ethtool::set_pause(*kernel.generic, *kernel.ethtool, as_read, {}).error().code, ENODEV);
  EXPECT_EQ(ethtool::set_rings(*kernel.generic, *kernel.ethtool, as_read, 512, {}).error().code, ENODEV);
  EXPECT_EQ(ethtool::set_channels(*kernel.generic, *kernel.ethtool, as_read, 1).error().code, ENODEV);
  EXPECT_EQ(ethtool::set_fec(*kernel.generic, *kernel.ethtool, as_read, Fec{8}).error().code, ENODEV);
  EXPECT_EQ(ethtool::set_private_flag(*kernel.generic, *kernel.ethtool, as_read, "x", true).error().code, ENODEV);
}

// The folder's descriptor leads to the device although its name has gone to another one.
TEST_F(RenamedVeth, AFileOfTheDeviceIsWrittenThoughTheNameIsAnothers) {
  Tree tree;
  tree.folder("sys");
  if (::mount("sysfs", (tree.path() + "/sys").c_str(), "sysfs", 0, nullptr) != 0)
    GTEST_SKIP() << "mount: " << std::strerror(errno);
  const Root root = tree.root();
  const auto length = [&](const std::string& name) {
    return root.number_in<int>("sys/class/net/" + name + "/tx_queue_len").value_or(0);
  };
  const int before = length("veth1");
  const auto swaps = [](const Fd&) -> Result<void> {
    swap();
    return {};
  };
  const auto written = root.write_in("sys/class/net/veth0", "tx_queue_len", "777", swaps);
  const int of_first = length("veth1"), of_second = length("veth0");
  kernel.root = tree.root();
  const PortIo io{.kernel = kernel, .netdev = "veth0", .ifindex = first_};
  const auto refused = write_netdev_file(io, "tx_queue_len", "888");
  const int of_newcomer = length("veth0");
  ASSERT_EQ(::umount2((tree.path() + "/sys").c_str(), MNT_DETACH), 0);
  EXPECT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(of_first, 777);
  EXPECT_EQ(of_second, before);
  EXPECT_EQ(code_of(refused), ENODEV);
  EXPECT_EQ(of_newcomer, before);
}

}  // namespace
}  // namespace fabric::test
