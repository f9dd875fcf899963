// SPDX-License-Identifier: Apache-2.0
// Congestion control of mlx5 in files: the kernel's driver (debugfs) and OFED's (sysfs), on trees of their shape with
// the driver's rules behind.
#include "support/sim_files_bed.h"
#include "support/sim_mlx5_files.h"
#include "support/test.h"
#include "vendor/generic/file_settings.h"

namespace fabric::test {
namespace {

constexpr std::string_view kNumbers[] = {"cnp_dscp",
                                         "cnp_prio",
                                         "min_time_between_cnps",
                                         "clamp_tgt_rate",
                                         "clamp_tgt_rate_after_time_inc",
                                         "rpg_time_reset",
                                         "rpg_byte_reset",
                                         "rpg_threshold",
                                         "rpg_max_rate",
                                         "rpg_ai_rate",
                                         "rpg_hai_rate",
                                         "rpg_gd",
                                         "rpg_min_dec_fac",
                                         "rpg_min_rate",
                                         "rate_to_set_on_first_cnp",
                                         "dce_tcp_g",
                                         "dce_tcp_rtt",
                                         "rate_reduce_monitor_period",
                                         "initial_alpha_value"};

const Setting& row(std::string_view key) { return setting_of(*parse_setting(key)); }
Keys only(std::string_view key) { return Keys().set(index(*parse_setting(key))); }

struct Inbox : testing::Test {
  Inbox() { add_mlx5_cc_params(*bed.files, bed.port.pci); }
  std::string folder() { return "sys/kernel/debug/mlx5/" + bed.port.pci + "/cc_params"; }
  std::string shown(const std::string& file) { return bed.tree.content(folder() + "/" + file); }
  FileBed bed{Personality::mlx5};
};

struct Ofed : testing::Test {
  Ofed() {
    add_ofed_ecn(*bed.files, "eth0");
    add_ofed_traffic_class(*bed.files, bed.port.rdma, 1);
  }
  std::string ecn(const std::string& file) { return "sys/class/net/eth0/ecn/" + file; }
  FileBed bed{Personality::mlx5};
};

// Each number that differs from what the card has as shipped, alone: one write, read back, put back.
void set_and_restore_each(FileBed& bed) {
  for (std::string_view key : kNumbers) {
    SCOPED_TRACE(key);
    const Qos original = bed.read(only(key));
    Qos want;
    ASSERT_TRUE(has_value(row(key), original)) << bed.limits.reasons[*parse_setting(key)];
    if (!file_settings::take(row(key), original)) continue;  // none as shipped: tests of their own
    const uint32_t shipped = *file_settings::take(row(key), original);
    file_settings::put(row(key), shipped + 1 <= row(key).max && shipped + 1 <= 1000 ? shipped + 1 : shipped - 1, want);
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
    file_settings::put(row(key), shipped, back);
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
  Keys two = only("rpg_gd") | only("cnp_dscp");
  bed.read(two);
  auto reads_below = [&](const std::string& part) {
    return std::count_if(bed.files->reads.begin(), bed.files->reads.end(),
                         [&](const auto& file) { return file.find(part) != std::string::npos; });
  };
  EXPECT_EQ(reads_below("cc_params/"), 2);
  bed.read(only("mtu"));
  EXPECT_EQ(reads_below("cc_params/"), 2);
}

TEST_F(Inbox, TheCnpsPriorityCountsOnlyWhereTheModeSaysSo) {
  bed.tree.file(folder() + "/np_cnp_prio_mode", "1\n");
  EXPECT_EQ(bed.read().cnp_prio, OrNone{}) << "the 6 in the file is not what CNPs get";
  Qos want;
  want.cnp_prio = OrNone{6};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "cnp_prio").outcome, Outcome::applied) << text(changes);
  EXPECT_EQ(shown("np_cnp_prio_mode"), "0\n");
  expect_all(bed.apply(want), {Outcome::in_sync});
  want.cnp_prio = OrNone{};
  EXPECT_EQ(of(bed.apply(want), "cnp_prio").outcome, Outcome::applied) << "as it stood before us";
  EXPECT_EQ(shown("np_cnp_prio_mode"), "1\n");
}

TEST_F(Inbox, TheDscpOfRoundTripAnswersCountsOnceItIsValid) {
  Qos want;
  want.rtt_resp_dscp = OrNone{0};
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
  Qos want;
  want.rtt_resp_dscp = OrNone{20};
  want.rpg_gd = 10;
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "rtt_resp_dscp").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "rtt_resp_dscp").detail.find("there is no /" + folder() + "/rtt_resp_dscp"), std::string::npos);
  EXPECT_EQ(of(changes, "rpg_gd").outcome, Outcome::applied);
}

TEST_F(Inbox, TheFirmwareRefusesWhatIsOutOfItsRange) {
  Qos want;
  want.rpg_max_rate = 3'000'000;  // a port of 400 Gb/s
  auto changes = bed.apply(want);
  const Change& change = of(changes, "rpg_max_rate");
  EXPECT_EQ(change.outcome, Outcome::refused);
  EXPECT_EQ(change.code, EINVAL);
  EXPECT_NE(change.detail.find("EINVAL"), std::string::npos) << change.detail;
  EXPECT_NE(change.detail.find("firmware does not take this value"), std::string::npos) << change.detail;
  EXPECT_EQ(shown("rp_max_rate"), "0\n");
}

TEST_F(Inbox, SwitchesForEachPriorityAreOfedsAndTheRemedyIsNamed) {
  Qos want;
  want.ecn_rp = PrioSet{8};
  want.ecn_np = PrioSet{8};
  want.traffic_class = OrNone{106};
  auto changes = bed.apply(want);
  for (const char* key : {"ecn_rp", "ecn_np"}) {
    EXPECT_EQ(of(changes, key).outcome, Outcome::unsupported);
    EXPECT_NE(of(changes, key).detail.find("ROCE_CC_PRIO_MASK_P1"), std::string::npos) << of(changes, key).detail;
  }
  EXPECT_NE(of(changes, "traffic_class").detail.find("OFED"), std::string::npos);
  EXPECT_EQ(bed.files->changes(), 0u);
}

// Why it is not offered, each in its own words.
struct Closed {
  const char* name;
  std::function<void(Inbox&)> shut;
  const char* says;
};
void PrintTo(const Closed& closed, std::ostream* out) { *out << closed.name; }

class InboxClosed : public Inbox, public testing::WithParamInterface<Closed> {};
INSTANTIATE_TEST_SUITE_P(
    Reasons, InboxClosed,
    testing::Values(Closed{"lockdown",
                           [](Inbox& test) {
                             test.bed.tree.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
                             test.bed.files->unreadable("*/cc_params/*", EPERM);
                           },
                           "kernel lockdown"},
                    Closed{"confidentiality",
                           [](Inbox& test) {
                             test.bed.tree.file("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
                             test.bed.files->unreadable("*/cc_params/*", EPERM);
                           },
                           "kernel lockdown"},
                    Closed{"not_mounted",
                           [](Inbox& test) { test.bed.tree.remove("sys/kernel/debug").folder("sys/kernel/debug"); },
                           "/sys/kernel/debug is not mounted"},
                    Closed{"no_debugfs", [](Inbox& test) { test.bed.tree.remove("sys/kernel/debug"); },
                           "this kernel has no /sys/kernel/debug"},
                    Closed{"not_root", [](Inbox& test) { test.bed.files->unreadable("sys/kernel/debug*", EACCES); },
                           "root's alone"},
                    Closed{"no_congestion_control", [](Inbox& test) { test.bed.tree.remove(test.folder()); },
                           "firmware does not allow to set DCQCN"},
                    Closed{"virtual_function",
                           [](Inbox& test) {
                             test.bed.tree.remove(test.folder());
                             test.bed.tree.folder("sys/bus/pci/devices/" + test.bed.port.pci + "/physfn");
                           },
                           "a virtual function"},
                    Closed{"dead_firmware", [](Inbox& test) { test.bed.files->unreadable("*/cc_params/*", ETIMEDOUT); },
                           "ETIMEDOUT"}),
    [](const auto& param) { return param.param.name; });

TEST_P(InboxClosed, IsUnsupportedWithItsReason) {
  GetParam().shut(*this);
  Qos want;
  want.rpg_gd = 10;
  want.cnp_prio = OrNone{5};
  want.mtu = 4200;
  auto changes = bed.apply(want);
  for (const char* key : {"rpg_gd", "cnp_prio"}) {
    EXPECT_EQ(of(changes, key).outcome, Outcome::unsupported);
    EXPECT_NE(of(changes, key).detail.find(GetParam().says), std::string::npos) << of(changes, key).detail;
  }
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied) << "the rest goes on";
  EXPECT_EQ(bed.files->changes(), 0u);
}

TEST_F(Inbox, APermissionThatOnlyWritingLacksIsARefusal) {
  bed.files->fault({.action = SimFiles::Fault::refuse, .code = EPERM});
  Qos want;
  want.rpg_gd = 10;
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "rpg_gd").code, EPERM);
  EXPECT_NE(of(changes, "rpg_gd").detail.find("lockdown"), std::string::npos) << "not a capability of netlink";
}

TEST_F(Inbox, AWriteThatIsIgnoredIsSeen) {
  bed.files->on_write("*/rp_gd", ignore_text());
  Qos want;
  want.rpg_gd = 10;
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "rpg_gd").outcome, Outcome::ignored);
  EXPECT_NE(of(changes, "rpg_gd").detail.find("reads back as 11"), std::string::npos);
}

TEST_F(Inbox, ACardThatGoesAwayEndsIt) {
  bed.files->fault({.action = SimFiles::Fault::vanish, .nth = 2});
  Qos want;
  want.rpg_gd = 10;
  want.rpg_ai_rate = 10;
  want.rpg_hai_rate = 10;
  auto changes = bed.apply(want);
  EXPECT_EQ(keys_with(changes, Outcome::applied).size(), 1u) << text(changes);
  EXPECT_EQ(keys_with(changes, Outcome::refused).size(), 2u);
  for (const Change& change : changes)
    EXPECT_EQ(change.detail, change.outcome == Outcome::refused ? "device disappeared" : "");
  EXPECT_EQ(bed.files->changes(), 2u) << "nothing is written to what is gone";
}

// At whichever write the process dies, the next start ends in sync.
TEST(OfedKilled, AtAnyWriteTheNextPassCompletesIt) {
  Qos want;
  want.ecn_rp = PrioSet{0x08};
  want.cnp_dscp = 46;
  want.rpg_gd = 10;
  want.traffic_class = OrNone{106};
  struct Died {};
  unsigned deaths = 0;
  for (unsigned n = 1; n < 32; ++n) {
    FileBed fresh(Personality::mlx5);
    add_ofed_ecn(*fresh.files, "eth0");
    add_ofed_traffic_class(*fresh.files, fresh.port.rdma, 1);
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
  Qos want;
  want.ecn_rp = PrioSet{0xf8};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::applied);
  EXPECT_EQ(of(changes, "ecn_rp").from, "0,1,2,3,4,5,7");
  const std::vector<std::string> expected{ecn("roce_rp/enable/0") + " = 0", ecn("roce_rp/enable/1") + " = 0",
                                          ecn("roce_rp/enable/2") + " = 0", ecn("roce_rp/enable/6") + " = 1"};
  EXPECT_EQ(bed.files->log, expected);
  EXPECT_EQ(bed.read().ecn_np, PrioSet{0xff}) << "the notification point is another setting";
}

TEST_F(Ofed, ASwitchThatReadsEmptyIsNotKnownAndNotWritten) {
  bed.tree.file(ecn("roce_np/enable/3"), "");
  Qos want;
  want.ecn_np = PrioSet{0x08};
  want.ecn_rp = PrioSet{0x08};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "ecn_np").outcome, Outcome::unsupported);
  EXPECT_NE(of(changes, "ecn_np").detail.find("firmware did not answer"), std::string::npos)
      << of(changes, "ecn_np").detail;
  EXPECT_NE(of(changes, "ecn_np").detail.find("roce_np/enable/3"), std::string::npos);
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::applied);
  for (const std::string& line : bed.files->log) EXPECT_EQ(line.find("roce_np"), std::string::npos) << line;
}

TEST_F(Ofed, ARefusalInTheMiddleIsReportedWithWhatStands) {
  bed.files->fault({.action = SimFiles::Fault::refuse, .code = EIO, .glob = "*/roce_rp/enable/5"});
  Qos want;
  want.ecn_rp = PrioSet{0x08};
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "ecn_rp").outcome, Outcome::refused);
  EXPECT_EQ(of(changes, "ecn_rp").code, EIO);
  EXPECT_EQ(bed.port.qos.ecn_rp, PrioSet{0xe8}) << "0, 1, 2 and 4 are off";
  bed.files->heal();
  expect_all(bed.apply(want), {Outcome::applied});
}

TEST_F(Ofed, OfAVirtualFunctionNothingCanBeWritten) {
  bed.files->on_write("*/ecn/*", refuse_text(EACCES));
  Qos want;
  want.rpg_gd = 10;
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "rpg_gd").code, EACCES);
  EXPECT_NE(of(changes, "rpg_gd").detail.find("virtual function"), std::string::npos) << of(changes, "rpg_gd").detail;
}

TEST_F(Ofed, TheTrafficClassIsForcedChangedAndCleared) {
  const std::string file = "sys/class/infiniband/" + bed.port.rdma + "/tc/1/traffic_class";
  EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, OrNone{});
  Qos want;
  for (std::optional<uint8_t> value :
       {std::optional<uint8_t>{106}, std::optional<uint8_t>{0}, std::optional<uint8_t>{}}) {
    want.traffic_class = OrNone{value};
    EXPECT_EQ(of(bed.apply(want), "traffic_class").outcome, Outcome::applied);
    EXPECT_EQ(bed.read(only("traffic_class")).traffic_class, want.traffic_class);
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
  EXPECT_NE(bed.limits.reasons[SettingId::traffic_class].find("there is no"), std::string::npos);
  bed.port.rdma.clear();
  EXPECT_FALSE(bed.read().traffic_class);
  EXPECT_NE(bed.limits.reasons[SettingId::traffic_class].find("no RDMA device"), std::string::npos);
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

// What stops traffic on this card, and nothing else. Trust and the DSCP map do on ConnectX-4 (Limits::harmless).
TEST(Mlx5Evidence, TheseAloneOfItsOwnOperationsAreDisruptive) {
  const std::set kDisruptive{SettingId::pfc, SettingId::mtu, SettingId::trust, SettingId::dscp_map};
  FileBed bed(Personality::mlx5);
  const Driver& inbox = driver_for("mlx5_core", &bed.kernel.root, "eth0");
  bed.tree.folder("sys/class/net/eth0/ecn");
  for (const Driver* driver : {&inbox, &driver_for("mlx5_core", &bed.kernel.root, "eth0")})
    for (const SettingOp& each : driver->ops)
      EXPECT_EQ(each.op.disruptive, kDisruptive.contains(each.setting))
          << driver->name << " " << key_text(each.setting);
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
