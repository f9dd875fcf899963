// SPDX-License-Identifier: Apache-2.0
// Congestion control of mlx5 in files: the kernel's driver (debugfs) and OFED's (sysfs), on trees of their shape with
// the driver's rules behind.
#include "base/parse.h"
#include "nic/generic/file_settings.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

constexpr std::string_view kNumbers =
    "cnp_dscp cnp_prio min_time_between_cnps clamp_tgt_rate clamp_tgt_rate_after_time_inc rpg_time_reset "
    "rpg_byte_reset rpg_threshold rpg_max_rate rpg_ai_rate rpg_hai_rate rpg_gd rpg_min_dec_fac "
    "rpg_min_rate rate_to_set_on_first_cnp dce_tcp_g dce_tcp_rtt rate_reduce_monitor_period initial_alpha_value";

const Setting& row(std::string_view key) { return setting_of(*parse_setting(key)); }
Keys only(std::string_view key) { return Keys().set(index(*parse_setting(key))); }

std::string folder_of(const Port& port) { return "sys/kernel/debug/mlx5/" + port.pci + "/cc_params"; }

struct Inbox : testing::Test {
  Inbox() { add_mlx5_cc_params(*bed.files, bed.port.pci); }
  std::string folder() { return folder_of(bed.port); }
  std::string shown(const std::string& file) { return bed.tree.content(folder() + "/" + file); }
  FileBed bed{Personality::mlx5};
};

struct OfedBed : FileBed {
  OfedBed() : FileBed(Personality::mlx5) {
    add_ofed_ecn(*files, "eth0");
    add_ofed_traffic_class(*files, port.rdma, 1);
  }
};
struct Ofed : testing::Test {
  std::string ecn(const std::string& file) { return "sys/class/net/eth0/ecn/" + file; }
  OfedBed bed;
};

// Each number that differs from what the card has as shipped, alone: one write, read back, put back.
void set_and_restore_each(FileBed& bed) {
  for (std::string_view key : words(kNumbers)) {
    SCOPED_TRACE(key);
    const Qos original = bed.read(only(key));
    Qos want;
    ASSERT_TRUE(has_value(row(key), original)) << bed.notes.reasons[*parse_setting(key)];
    if (!file_settings::number_of(row(key), original)) continue;  // none as shipped: tests of their own
    const uint32_t shipped = *file_settings::number_of(row(key), original);
    file_settings::set_number(row(key), shipped + 1 <= row(key).max && shipped + 1 <= 1000 ? shipped + 1 : shipped - 1,
                              want);
    const unsigned before = bed.files->changes();
    EXPECT_EQ(of(bed.plan(want), key).outcome, Outcome::differs);
    EXPECT_EQ(bed.files->changes(), before) << "a plan writes nothing";
    auto changes = bed.apply(want);
    EXPECT_EQ(of(changes, key).outcome, Outcome::applied) << text(changes);
    EXPECT_EQ(bed.files->changes(), before + 1);
    EXPECT_TRUE(same_value(row(key), bed.read(only(key)), want));
    expect_all(bed.apply(want), {Outcome::in_sync});
    EXPECT_EQ(bed.files->changes(), before + 1) << "nothing differs any more";
    Qos back;
    file_settings::set_number(row(key), shipped, back);
    expect_all(bed.apply(back), {Outcome::applied});
  }
}

TEST_F(Inbox, EachParameterIsSetReadBackAndRestored) {
  set_and_restore_each(bed);
  EXPECT_EQ(shown("np_cnp_dscp"), "48\n");
  EXPECT_EQ(bed.files->log.front(), folder() + "/np_cnp_dscp = 49");
}

TEST_F(Ofed, EachParameterIsSetReadBackAndRestored) {
  set_and_restore_each(bed);
  EXPECT_EQ(bed.files->log.front(), ecn("roce_np/cnp_dscp") + " = 49");
}

TEST_F(Inbox, OnlyWhatIsAskedForCostsTheFirmwareACommand) {
  bed.read(only("rpg_gd") | only("cnp_dscp"));
  auto reads_below = [&](const std::string& part) {
    return std::ranges::count_if(bed.files->reads, [&](const auto& file) { return has(file, part); });
  };
  EXPECT_EQ(reads_below("cc_params/"), 2);
  bed.read(only("mtu"));
  EXPECT_EQ(reads_below("cc_params/"), 2);
}

// Twice all of them, and each once after its write: not all of them after each write.
TEST_F(Inbox, ManyParametersAreNotAllReadAgainAfterEachWrite) {
  Qos want = profile(Personality::mlx5);
  int count = 0;
  for (std::string_view key : words(kNumbers)) {
    const auto shipped = file_settings::number_of(row(key), bed.read(only(key)));
    ASSERT_TRUE(shipped) << key;
    file_settings::set_number(row(key), *shipped == row(key).max ? *shipped - 1 : *shipped + 1, want);
    ++count;
  }
  bed.files->reads.clear();
  expect_all(bed.settle_to(want), {Outcome::applied, Outcome::in_sync});
  const auto reads = std::ranges::count_if(bed.files->reads, [](const auto& file) { return has(file, "cc_params/"); });
  EXPECT_EQ(reads, 3 * (count + 1)) << "one more for the priority of CNPs, which has two files";
  expect_settled(bed, want);
}

TEST_F(Inbox, TheCnpsPriorityCountsOnlyWhereTheModeSaysSo) {
  bed.tree.file(folder() + "/np_cnp_prio_mode", "1\n");
  EXPECT_EQ(bed.read().cnp_prio, OrNone{}) << "the 6 in the file is not what CNPs get";
  Qos want{.cnp_prio = OrNone{6}};
  EXPECT_EQ(of(bed.apply(want), "cnp_prio").outcome, Outcome::applied);
  EXPECT_EQ(shown("np_cnp_prio_mode"), "0\n");
  expect_all(bed.apply(want), {Outcome::in_sync});
  want.cnp_prio = OrNone{};
  EXPECT_EQ(of(bed.apply(want), "cnp_prio").outcome, Outcome::applied) << "as it stood before us";
  EXPECT_EQ(shown("np_cnp_prio_mode"), "1\n");
}

TEST_F(Inbox, TheDscpOfRoundTripAnswersCountsOnceItIsValid) {
  Qos want{.rtt_resp_dscp = OrNone{0}};
  EXPECT_EQ(of(bed.plan(want), "rtt_resp_dscp").outcome, Outcome::differs);
  EXPECT_EQ(of(bed.apply(want), "rtt_resp_dscp").outcome, Outcome::applied);
  EXPECT_EQ(shown("rtt_resp_dscp_valid"), "1\n");
  EXPECT_EQ(bed.read().rtt_resp_dscp, OrNone{0});
  want.rtt_resp_dscp = OrNone{};
  EXPECT_EQ(of(bed.apply(want), "rtt_resp_dscp").outcome, Outcome::applied) << "as it stood before us";
  EXPECT_EQ(shown("rtt_resp_dscp_valid"), "0\n");
}

// Linux 6.1 has neither file.
TEST_F(Inbox, AnOlderKernelLacksOneFileAndSaysSo) {
  bed.tree.remove(folder() + "/rtt_resp_dscp").remove(folder() + "/rtt_resp_dscp_valid");
  auto changes = bed.apply({.rpg_gd = 10, .rtt_resp_dscp = OrNone{20}});
  EXPECT_TRUE(
      has_outcome(changes, "rtt_resp_dscp", Outcome::unsupported, "there is no /" + folder() + "/rtt_resp_dscp"));
  EXPECT_EQ(of(changes, "rpg_gd").outcome, Outcome::applied);
}

TEST_F(Inbox, TheFirmwareRefusesWhatIsOutOfItsRange) {
  const auto changes = bed.apply({.rpg_max_rate = 3'000'000});  // a port of 400 Gb/s
  EXPECT_EQ(of(changes, "rpg_max_rate").code, EINVAL);
  for (const char* part : {"EINVAL", "firmware does not accept this value"})
    EXPECT_TRUE(has_outcome(changes, "rpg_max_rate", Outcome::refused, part));
  EXPECT_EQ(shown("rp_max_rate"), "0\n");
}

TEST_F(Inbox, SwitchesForEachPriorityAreOfedsAndTheRemedyIsNamed) {
  auto changes = bed.apply({.ecn_rp = PrioSet{8}, .ecn_np = PrioSet{8}, .traffic_class = OrNone{106}});
  for (const char* key : {"ecn_rp", "ecn_np"})
    EXPECT_TRUE(has_outcome(changes, key, Outcome::unsupported, "ROCE_CC_PRIO_MASK_P1"));
  EXPECT_TRUE(has(of(changes, "traffic_class").detail, "OFED"));
  EXPECT_EQ(bed.files->changes(), 0u);
}

// Why it is not offered, each in its own words.
struct Closed {
  const char* name;
  std::function<void(FileBed&)> shut;
  const char* says;
};
void PrintTo(const Closed& closed, std::ostream* out) { *out << closed.name; }

void lock_down(FileBed& bed, const char* mode) {
  bed.tree.file("sys/kernel/security/lockdown", mode);
  bed.files->unreadable("*/cc_params/*", EPERM);
}
const Closed kClosed[] = {
    {"lockdown", [](FileBed& bed) { lock_down(bed, "none [integrity] confidentiality\n"); }, "kernel lockdown"},
    {"confidentiality", [](FileBed& bed) { lock_down(bed, "none integrity [confidentiality]\n"); }, "kernel lockdown"},
    {"not_mounted", [](FileBed& bed) { bed.tree.remove("sys/kernel/debug").folder("sys/kernel/debug"); },
     "/sys/kernel/debug is not mounted"},
    {"no_debugfs", [](FileBed& bed) { bed.tree.remove("sys/kernel/debug"); }, "this kernel has no /sys/kernel/debug"},
    {"not_root", [](FileBed& bed) { bed.files->unreadable("sys/kernel/debug*", EACCES); }, "only root has access"},
    {"no_congestion_control", [](FileBed& bed) { bed.tree.remove(folder_of(bed.port)); },
     "firmware does not allow setting DCQCN"},
    {"second_function_of_a_lag",
     [](FileBed& bed) { bed.tree.remove(folder_of(bed.port)).folder("sys/class/net/eth0/bonding_slave"); },
     "bond's first function"},
    {"virtual_function",
     [](FileBed& bed) {
       bed.tree.remove(folder_of(bed.port)).folder("sys/bus/pci/devices/" + bed.port.pci + "/physfn");
     },
     "a virtual function"},
    {"dead_firmware", [](FileBed& bed) { bed.files->unreadable("*/cc_params/*", ETIMEDOUT); }, "ETIMEDOUT"}};

class InboxClosed : public Inbox, public testing::WithParamInterface<Closed> {};
INSTANTIATE_TEST_SUITE_P(Reasons, InboxClosed, testing::ValuesIn(kClosed), kByName);

TEST_P(InboxClosed, IsUnsupportedWithItsReason) {
  GetParam().shut(bed);
  auto changes = bed.apply({.mtu = 4200, .cnp_prio = OrNone{5}, .rpg_gd = 10});
  for (const char* key : {"rpg_gd", "cnp_prio"})
    EXPECT_TRUE(has_outcome(changes, key, Outcome::unsupported, GetParam().says));
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied) << "the rest goes on";
  EXPECT_EQ(bed.files->changes(), 0u);
}

TEST_F(Inbox, APermissionThatOnlyWritingLacksIsARefusal) {
  bed.files->fault({.code = EPERM});
  auto changes = bed.apply({.rpg_gd = 10});
  EXPECT_EQ(of(changes, "rpg_gd").code, EPERM);
  EXPECT_TRUE(has(of(changes, "rpg_gd").detail, "lockdown")) << "not a capability of netlink";
}

TEST_F(Inbox, AWriteThatIsIgnoredIsSeen) {
  bed.files->on_write("*/rp_gd", ignore_text());
  EXPECT_TRUE(has_outcome(bed.apply({.rpg_gd = 10}), "rpg_gd", Outcome::ignored, "reads back as 11"));
}

TEST_F(Inbox, ACardThatGoesAwayEndsIt) {
  bed.files->fault({.action = SimFiles::Fault::vanish, .nth = 2});
  auto changes = bed.apply({.rpg_ai_rate = 10, .rpg_hai_rate = 10, .rpg_gd = 10});
  EXPECT_EQ(keys_with(changes, Outcome::applied).size(), 1u) << text(changes);
  EXPECT_EQ(keys_with(changes, Outcome::refused).size(), 2u);
  for (const Change& change : changes)
    EXPECT_EQ(change.detail, change.outcome == Outcome::refused ? "device disappeared" : "");
  EXPECT_EQ(bed.files->changes(), 2u) << "nothing is written to what is gone";
}

// At whichever write the process dies, the next start ends in sync.
TEST(OfedKilled, AtAnyWriteTheNextPassCompletesIt) {
  Qos want{.ecn_rp = PrioSet{0x08}, .cnp_dscp = 46, .rpg_gd = 10, .traffic_class = OrNone{106}};
  struct Died {};
  unsigned deaths = 0;
  for (unsigned n = 1; n < 32; ++n) {
    OfedBed fresh;
    fresh.files->before = [n](unsigned now, const std::string&) {
      if (now == n) throw Died{};
    };
    bool died = false;
    try {
      (void)fresh.apply(want);
    } catch (const Died&) {
      died = true;
    }
    deaths += died;
    fresh.files->before = [](unsigned, const std::string&) {};
    expect_all(fresh.apply(want), {Outcome::applied, Outcome::in_sync});
    expect_all(fresh.apply(want), {Outcome::in_sync});
    if (!died) break;
  }
  EXPECT_EQ(deaths, 10u) << "seven switches, two numbers, one traffic class";
}

TEST_F(Ofed, OnlyTheSwitchesThatDifferAreWritten) {
  bed.tree.file(ecn("roce_rp/enable/6"), "0\n");
  auto changes = bed.apply({.ecn_rp = PrioSet{0xf8}});
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "ecn_rp").from, "0,1,2,3,4,5,7");
  const std::vector<std::string> expected{ecn("roce_rp/enable/0") + " = 0", ecn("roce_rp/enable/1") + " = 0",
                                          ecn("roce_rp/enable/2") + " = 0", ecn("roce_rp/enable/6") + " = 1"};
  EXPECT_EQ(bed.files->log, expected);
  EXPECT_EQ(bed.read().ecn_np, PrioSet{0xff}) << "the notification point is another setting";
}

TEST_F(Ofed, ASwitchThatReadsEmptyIsNotKnownAndNotWritten) {
  bed.tree.file(ecn("roce_np/enable/3"), "");
  auto changes = bed.apply({.ecn_rp = PrioSet{0x08}, .ecn_np = PrioSet{0x08}});
  EXPECT_TRUE(has_outcome(changes, "ecn_np", Outcome::unsupported, "firmware did not answer"));
  EXPECT_TRUE(has(of(changes, "ecn_np").detail, "roce_np/enable/3"));
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::applied);
  for (const std::string& line : bed.files->log) EXPECT_FALSE(has(line, "roce_np"));
}

TEST_F(Ofed, ARefusalInTheMiddleIsReportedWithWhatStands) {
  bed.files->fault({.code = EIO, .glob = "*/roce_rp/enable/5"});
  Qos want{.ecn_rp = PrioSet{0x08}};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::refused);
  EXPECT_EQ(of(changes, "ecn_rp").code, EIO);
  EXPECT_EQ(bed.port.qos.ecn_rp, PrioSet{0xe8}) << "0, 1, 2 and 4 are off";
  bed.files->heal();
  expect_all(bed.apply(want), {Outcome::applied});
}

TEST_F(Ofed, OfAVirtualFunctionNothingCanBeWritten) {
  bed.files->on_write("*/ecn/*", refuse_text(EACCES));
  auto changes = bed.apply({.rpg_gd = 10});
  EXPECT_EQ(of(changes, "rpg_gd").code, EACCES);
  EXPECT_TRUE(has(of(changes, "rpg_gd").detail, "virtual function"));
}

TEST_F(Ofed, TheTrafficClassIsForcedChangedAndCleared) {
  const std::string file = "sys/class/infiniband/" + bed.port.rdma + "/tc/1/traffic_class";
  EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, OrNone{});
  for (const OrNone value : {OrNone{106}, OrNone{0}, OrNone{}}) {
    EXPECT_EQ(of(bed.apply({.traffic_class = value}), "traffic_class").outcome, Outcome::applied);
    EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, value);
  }
  EXPECT_EQ(bed.files->log.back(), file + " = -1");
  bed.tree.file(file, "src_ip=1.2.3.4,tclass=32\nGlobal tclass=64\n");
  EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, OrNone{64}) << "rules for addresses are not it";
  bed.tree.file(file, "Global tclass=-1\n");
  EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, OrNone{});
}

TEST_F(Ofed, WithoutItsFileTheTrafficClassIsNotOffered) {
  bed.tree.remove("sys/class/infiniband/" + bed.port.rdma + "/tc");
  EXPECT_FALSE(bed.read().traffic_class);
  EXPECT_TRUE(has(bed.notes.reasons[SettingId::traffic_class], "there is no"));
  bed.port.rdma.clear();
  EXPECT_FALSE(bed.read().traffic_class);
  EXPECT_TRUE(has(bed.notes.reasons[SettingId::traffic_class], "no RDMA device"));
}

TEST_F(Ofed, DcbnlIsTheSame) {
  expect_all(bed.apply(profile(Personality::mlx5)), {Outcome::applied, Outcome::in_sync});
  EXPECT_EQ(bed.nic.app.size(), 64u) << "the whole map";
  EXPECT_EQ(bed.nic.pfc.delay, 30);
}

TEST(Mlx5Evidence, FilesOfEcnAreOfedAndTheirAbsenceIsTheKernel) {
  FileBed bed(Personality::mlx5);
  EXPECT_EQ(driver_for("mlx5_core", &bed.kernel.root, "eth0").name, "mlx5");
  bed.tree.folder("sys/class/net/eth0/ecn");
  EXPECT_EQ(driver_for("mlx5_core", &bed.kernel.root, "eth0").name, "mlx5_ofed");
  EXPECT_EQ(driver_for("mlx5_core", &bed.kernel.root, "eth1").name, "mlx5");
  EXPECT_EQ(driver_for("bnxt_en", &bed.kernel.root, "eth0").name, "bnxt");
}

TEST(FileNumber, IsDecimalOrHexAndTheWholeText) {
  EXPECT_EQ(file_settings::number("300\n"), 300u);
  EXPECT_EQ(file_settings::number("0x1F\n"), 31u);
  for (const char* text : {"", "\n", "-1\n", "12 x", "0x", "4294967296"})
    EXPECT_FALSE(file_settings::number(text)) << text;
}

TEST(SimFilesRules, AreTheKernels) {
  Tree tree;
  tree.file("a/number", "1\n").file("a/plain", "x\n");
  SimFiles files(tree);
  files.on_write("a/number", store_number(1, 10));
  auto write = [&](const char* file, const char* text) {
    auto verdict = *files.act(BehindFiles::Act::write, file, text);
    return verdict ? 0 : verdict.error().code;
  };
  EXPECT_EQ(write("a/number", "0xa"), 0);
  EXPECT_EQ(tree.content("a/number"), "10\n");
  for (const char* text : {"11", "0", "-1", "", " 5", "5 ", "5x"}) EXPECT_EQ(write("a/number", text), EINVAL) << text;
  EXPECT_EQ(write("a/number", "011\n"), 0) << "octal";
  EXPECT_EQ(tree.content("a/number"), "9\n");
  EXPECT_EQ(write("a/plain", "1"), EACCES) << "no rule";
  EXPECT_EQ(write("a/none", "1"), ENOENT);
}

}  // namespace
}  // namespace fabric::test
