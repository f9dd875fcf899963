// SPDX-License-Identifier: Apache-2.0
// The table of settings: complete, and known wherever an operator meets it; and their values. Kernel parameters: the
// known ones, their writes, and their originals.
#include "base/json.h"
#include "enforce/sysctl.h"
#include "judge/engine.h"
#include "nic/driver.h"
#include "setting/setting_table.h"
#include "setting/value.h"
#include "support/sim_files.h"
#include "support/test.h"

namespace fabric::qos {
namespace {

using test::has;
using test::SimFiles;

// -- The table

// Converts to an optional of any kind, as the members of Qos are.
struct AnyOptional {
  template <class Optional>
  requires std::same_as<Optional, std::optional<typename Optional::value_type>>
  operator Optional() const;
};

template <size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { Qos{((void)I, AnyOptional{})...}; };
}

// The number of members: as many values initialize it, and no more.
template <size_t Count = 0>
constexpr size_t member_count() {
  if constexpr (takes(std::make_index_sequence<Count + 1>{})) return member_count<Count + 1>();
  else return Count;
}

TEST(Setting, EveryMemberOfQosHasItsRow) {
  Qos qos;
  std::set<const void*> members;
  for (const Setting& setting : kSettings)
    visit_member(setting, qos, [&](auto& value) {
      EXPECT_TRUE(members.insert(&value).second) << setting.key << ": another row has the same member";
      return 0;
    });
  EXPECT_EQ(members.size(), member_count()) << "a member of Qos has no row in kSettings";
}

TEST(Setting, KeysAreUniqueAndFound) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < kSettingCount; ++i) {
    keys.insert(kSettings[i].key);
    EXPECT_EQ(parse_setting(kSettings[i].key), kSettings[i].id);
    EXPECT_FALSE(kSettings[i].help.empty());
  }
  EXPECT_EQ(keys.size(), kSettingCount);
  EXPECT_FALSE(parse_setting("nosuch"));
}

TEST(Setting, AbsentIsNotZero) {
  const Qos none, zero{.pfc = PrioSet{}};
  const Setting& pfc = setting_of(SettingId::pfc);
  EXPECT_FALSE(has_value(pfc, none));
  EXPECT_TRUE(has_value(pfc, zero));
  EXPECT_EQ(value_text(pfc, none), "-");
  EXPECT_EQ(value_text(pfc, zero), "none");
  EXPECT_EQ(value_json(pfc, none).dump(), "null");
  EXPECT_EQ(value_json(pfc, zero).dump(), "[]");
  EXPECT_FALSE(same_value(pfc, none, zero));
  EXPECT_FALSE(same_value(pfc, none, none)) << "what is not known is not equal";
  EXPECT_TRUE(same_value(pfc, zero, zero));
}

TEST(Setting, CopiesAlsoWhatIsAbsent) {
  const Qos from{.mtu = 4200};
  Qos to{.pfc = PrioSet{8}};
  for (const Setting& setting : kSettings) copy_value(setting, from, to);
  EXPECT_EQ(from, to);
}

TEST(Setting, EveryDriverAnswersForEveryKey) {
  for (const Driver* driver : drivers()) {
    SCOPED_TRACE(driver->name);
    std::set<SettingId> ordered(driver->order.begin(), driver->order.end());
    for (const Setting& setting : kSettings) {
      EXPECT_TRUE(ordered.contains(setting.id)) << setting.key << " is never written";
      if (op_of(*driver, setting.id).write != nullptr) continue;
      EXPECT_FALSE(remedy_of(*driver, setting, Qos{}, "eth0", 0).empty())
          << setting.key << ": unsupported without a reason";
    }
    EXPECT_EQ(ordered.size(), kSettingCount);
  }
}

// A wrong kind would blame drift on an unknown writer. The kernel announces what it sets by a netlink message of dcbnl,
// ethtool or rtnetlink: net/dcb/dcbnl.c, net/ethtool/netlink.c, net/core/rtnetlink.c. It does not announce a tunable
// that ethtool's ioctl sets (ethtool_set_tunable()).
TEST(Setting, IsAnnouncedByTheKernelsFunctionThatWritesIt) {
  const auto expect = [](const SettingOp& each) {
    NotificationKind kind = NotificationKind::nothing;
    if (each.op.source.starts_with("net/dcb/dcbnl.c dcbnl_ieee_set()")) kind = NotificationKind::dcb;
    if (each.op.source.starts_with("net/ethtool/") && !each.op.source.starts_with("net/ethtool/ioctl.c"))
      kind = NotificationKind::ethtool;
    if (each.op.source.starts_with("net/core/dev.c ") || each.op.source.starts_with("net/core/rtnetlink.c "))
      kind = NotificationKind::link;
    EXPECT_TRUE(setting_of(each.setting).announced == kind)
        << key_text(each.setting) << ": the notification in its row is not that of " << each.op.source
        << " (or this test lacks the file)";
  };
  for (const SettingOp& each : kUpstream.ops) expect(each);
  for (const Feature* feature : features())
    for (const SettingOp& each : feature->ops) expect(each);
}

TEST(Setting, EachSaysWhatADifferenceCosts) {
  for (const Setting& setting : kSettings) {
    const Rule* check = find_rule(setting.key);
    ASSERT_NE(check, nullptr) << setting.key;
    EXPECT_TRUE(setting.effect.ends_with(".")) << setting.key << ": a sentence in its row";
    // The two columns are one text: "The MTU differs from the policy", ". RoCE uses smaller packets."
    EXPECT_TRUE(setting.effect == "." || setting.effect.starts_with(". ") || setting.effect.starts_with(": "))
        << setting.key << ": " << setting.effect;
    EXPECT_EQ(check->title, setting.title) << setting.key;
    EXPECT_TRUE(check->meaning.starts_with(setting.meaning())) << setting.key;
  }
}

// Four classes: 0 and 1 share by ETS, 2 strict, 3 vendor's own; priority 7 on class 3.
Ets four_classes() {
  return {.prio_tc = {0, 1, 2, 0, 0, 0, 0, 3}, .tsa = {Tsa::ets, Tsa::ets, Tsa::strict, Tsa::vendor}, .bw = {60, 40}};
}

TEST(PrioSet, ReadsAsTheOperatorWritesIt) {
  EXPECT_EQ(to_text(PrioSet{}), "none");
  EXPECT_EQ(to_text(PrioSet{0x08}), "3");
  EXPECT_EQ(to_text(PrioSet{0x81}), "0,7");
  EXPECT_TRUE(PrioSet{0x80}.has(7));
  EXPECT_FALSE(PrioSet{0x80}.has(0));
}

TEST(Pause, NamesEachDirection) {
  EXPECT_EQ(to_text(Pause{}), "off");
  EXPECT_EQ(to_text(Pause{true, false}), "rx");
  EXPECT_EQ(to_text(Pause{false, true}), "tx");
  EXPECT_EQ(to_text(Pause{true, true}), "rx,tx");
}

TEST(DscpMap, FoldsNeighborsOfOnePriority) {
  EXPECT_EQ(to_text(DscpMap{}), "none");
  EXPECT_EQ(to_text(DscpMap{{26, 3}, {48, 6}}), "26:3 48:6");
  EXPECT_EQ(to_text(DscpMap{{0, 0}, {1, 0}, {2, 0}, {3, 1}}), "0-2:0 3:1");
  EXPECT_EQ(to_text(DscpMap{{0, 0}, {2, 0}}), "0:0 2:0") << "a gap is no range";
  DscpMap all;
  for (uint8_t dscp = 0; dscp < 64; ++dscp) all[dscp] = static_cast<uint8_t>(dscp >> 3);
  EXPECT_EQ(to_text(all), "0-7:0 8-15:1 16-23:2 24-31:3 32-39:4 40-47:5 48-55:6 56-63:7");
}

TEST(Ets, IsTheSameWhereNothingThatMattersDiffers) {
  Ets a = four_classes(), b = a;
  b.bw[2] = 100;  // of a strict class: drivers show 0 or 100
  b.bw[3] = 100;
  b.tsa[5] = Tsa::ets;  // of a class that no priority maps to
  b.bw[5] = 17;
  EXPECT_EQ(a, b);
  EXPECT_EQ(to_text(a), to_text(b));
}

TEST(Ets, DiffersByMapAlgorithmAndBandwidthOfAClassInUse) {
  const Ets a = four_classes();
  Ets map = a, algorithm = a, bandwidth = a;
  map.prio_tc[6] = 1;
  algorithm.tsa[2] = Tsa::ets;
  bandwidth.bw[0] = 50, bandwidth.bw[1] = 50;
  for (const Ets& other : {map, algorithm, bandwidth}) {
    EXPECT_FALSE(a == other);
    EXPECT_NE(to_text(a), to_text(other));
  }
}

TEST(Ets, SpeaksTheWordsOfDcb) {
  EXPECT_EQ(to_text(four_classes()),
            "prio-tc 0:0 1:1 2:2 3:0 4:0 5:0 6:0 7:3 tsa 0:ets 1:ets 2:strict 3:vendor bw 0:60 1:40");
}

// A class beyond the eight, as a broken reply may hold it, is shown and compared, not indexed with.
TEST(Ets, SurvivesAClassThatDoesNotExist) {
  Ets odd = four_classes();
  odd.prio_tc[0] = 200;
  EXPECT_EQ(odd, odd);
  EXPECT_TRUE(test::has(to_text(odd), "0:200"));
}

TEST(Json, GivesNumbersAsNumbersAndMapsAsObjects) {
  const Qos qos{.dcbx = Dcbx::firmware,
                .pause = Pause{true, false},
                .mtu = 4200,
                .trust = Trust::dscp,
                .dscp_map = DscpMap{{26, 3}},
                .ets = four_classes(),
                .pfc = PrioSet{0x18}};
  const auto json = [&](SettingId id) { return value_json(setting_of(id), qos).dump(); };
  EXPECT_EQ(json(SettingId::mtu), "4200");
  EXPECT_EQ(json(SettingId::trust), "\"dscp\"");
  EXPECT_EQ(json(SettingId::dcbx), "\"firmware\"");
  EXPECT_EQ(json(SettingId::pfc), "[3,4]");
  EXPECT_EQ(json(SettingId::pause), R"({"rx":true,"tx":false})");
  EXPECT_EQ(json(SettingId::dscp_map), R"({"26":3})");
  EXPECT_EQ(json(SettingId::ets),
            R"({"prio_tc":[0,1,2,0,0,0,0,3],"tsa":["ets","ets","strict","vendor","strict","strict","strict","strict"],)"
            R"("bw":[60,40,0,0,0,0,0,0]})");
}

TEST(Outcome, EachHasItsOwnWord) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(Outcome::conflict); ++i) words.insert(to_text(static_cast<Outcome>(i)));
  EXPECT_EQ(words, (std::set<std::string_view>{"in_sync", "applied", "differs", "pending", "unsupported", "refused",
                                               "ignored", "conflict", "unsaved", "unverified"}));
}

// -- Kernel parameters

test::Tree& host(test::Tree& tree) {
  tree.file("proc/sys/net/ipv4/tcp_ecn", "2\n").file("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
  tree.file("proc/sys/net/ipv4/conf/eth0.100/arp_ignore", "0\n").file("proc/sys/kernel/numa_balancing", "1\n");
  return tree;
}

TEST(KnownSysctls, AreNamedOnceAndTheirLimitsAreTaken) {
  std::set<std::string_view> names;
  for (const Sysctl& row : known_sysctls()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    std::string name(row.name);
    if (const size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, "eth0");
    EXPECT_EQ(find_sysctl(name), &row);
    auto several = [&](uint64_t value) {
      std::string text;
      for (unsigned i = 0; i < row.numbers; ++i) text += (i ? " " : "") + std::to_string(value);
      return text;
    };
    EXPECT_EQ(sysctl_problem(name, row.example), "");
    EXPECT_EQ(sysctl_problem(name, several(row.min)), "");
    EXPECT_EQ(sysctl_problem(name, several(row.max)), "");
    EXPECT_NE(sysctl_problem(name, several(row.max + 1)), "") << name;
    EXPECT_TRUE(row.min == 0 || !sysctl_problem(name, several(row.min - 1)).empty()) << name;
    EXPECT_NE(sysctl_problem(name, several(row.max) + " 1 1 1"), "") << name;
  }
}

TEST(KnownSysctls, TakeInterfacesAndNothingThatLeadsElsewhere) {
  for (const char* name : {"net.ipv4.conf.all.arp_ignore", "net.ipv4.conf.eth0/100.arp_ignore"})
    EXPECT_NE(find_sysctl(name), nullptr) << name;
  for (const char* name : {"net.ipv4.conf.//.arp_ignore", "net.ipv4.conf./.arp_ignore", "net.ipv4.conf..arp_ignore",
                           "net.ipv4.conf.arp_ignore", "net.ipv4.conf.a.b.arp_ignore", "net.ipv4.conf.*.arp_ignorex",
                           "net.ipv4.conf.sixteen-letters-.arp_ignore", "kernel.panic", "net.ipv4.tcp_ecn "})
    EXPECT_EQ(find_sysctl(name), nullptr) << name;
}

TEST(SysctlProblem, SaysWhatWasExpected) {
  EXPECT_EQ(sysctl_problem("net.ipv4.tcp_ecn", "7"), "expected a number from 0 to 5, not \"7\"");
  EXPECT_EQ(sysctl_problem("net.ipv4.tcp_ecn", "on"), "expected a number from 0 to 5, not \"on\"");
  EXPECT_EQ(sysctl_problem("net.ipv4.tcp_rmem", "4096"), "expected 3 numbers from 1 to 2147483647, not \"4096\"");
  EXPECT_EQ(sysctl_problem("net.ipv4.tcp_rmem", "9 8 10"),
            "expected minimum, default and maximum in this order, not \"9 8 10\"");
  EXPECT_EQ(sysctl_problem("kernel.panic", "1"), "not a host setting that fabric-agent knows");
}

// A rename between reading and writing: the file of this name is another interface's.
TEST(ReconcileSysctl, WritesNothingOfAnInterfaceThatWasRenamed) {
  test::Tree tree;
  host(tree).file("sys/class/net/eth0.100/ifindex", "7\n");
  bool renames = true;
  const SaveSysctl save = [&](const std::string&, const std::string&) -> Result<void> {
    if (renames) tree.file("sys/class/net/eth0.100/ifindex", "8\n");
    return {};
  };
  const SysctlValues want{{"net.ipv4.conf.eth0/100.arp_ignore", "1"}};
  const Changes refused = reconcile_sysctl(tree.root(), want, save);
  EXPECT_EQ(refused.at(0).code, ENODEV);
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/conf/eth0.100/arp_ignore").substr(0, 1), "0");
  renames = false;
  EXPECT_EQ(reconcile_sysctl(tree.root(), want, save).at(0).outcome, Outcome::applied);
}

// A file of a newer format is kept. In a file of its own format, this release keeps the members that it does not know.
TEST(SysctlOriginals, OfANewerReleaseAreKept) {
  test::Tree tree;
  const std::string newer = R"({"format":2,"hosts":[]})";
  tree.file(kSysctlOriginalsFile, newer);
  SysctlValues originals;
  EXPECT_FALSE(load_sysctl_originals(tree.path()).ok());
  EXPECT_FALSE(save_sysctl_original(tree.path(), originals, "net.ipv4.tcp_ecn", "2").ok());
  EXPECT_EQ(tree.content(kSysctlOriginalsFile), newer);
  tree.file(kSysctlOriginalsFile, R"({"format":1,"values":{"net.new":"7"},"cpus":{"governor":["a",1]}})");
  originals = *load_sysctl_originals(tree.path());
  ASSERT_TRUE(save_sysctl_original(tree.path(), originals, "net.ipv4.tcp_ecn", "2").ok());
  EXPECT_EQ(tree.content(kSysctlOriginalsFile),
            "{\"format\":1,\"values\":{\"net.ipv4.tcp_ecn\":\"2\",\"net.new\":\"7\"},"
            "\"cpus\":{\"governor\":[\"a\",1]}}\n");
}

TEST(ReconcileSysctl, WritesOnlyWhatDiffersAndSavesWhatStoodBefore) {
  test::Tree tree;
  host(tree);
  const SysctlValues want{{"net.ipv4.tcp_ecn", "1"},
                          {"net.ipv4.tcp_rmem", "4096 131072 6291456"},
                          {"net.ipv4.conf.eth0/100.arp_ignore", "1"},
                          {"kernel.numa_balancing", "0"},
                          {"vm.zone_reclaim_mode", "0"}};
  SysctlValues originals;
  const SaveSysctl save = [&](const std::string& name, const std::string& before) {
    return save_sysctl_original(tree.path(), originals, name, before);
  };
  const auto change = [](const char* name, Outcome outcome, const char* from, const char* to, const char* detail = "") {
    return Change{"host", {}, outcome, 0, false, from, to, detail, name};
  };
  const Changes expected{change("kernel.numa_balancing", Outcome::applied, "1", "0"),
                         change("net.ipv4.conf.eth0/100.arp_ignore", Outcome::applied, "0", "1"),
                         change("net.ipv4.tcp_ecn", Outcome::applied, "2", "1"),
                         change("net.ipv4.tcp_rmem", Outcome::in_sync, "4096 131072 6291456", "4096 131072 6291456"),
                         change("vm.zone_reclaim_mode", Outcome::unsupported, "-", "0",
                                "unknown to this kernel, or the network interface does not exist")};
  EXPECT_EQ(reconcile_sysctl(tree.root(), want, save), expected);
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/conf/eth0.100/arp_ignore").substr(0, 1), "1");
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/tcp_rmem"), "4096\t131072\t6291456\n") << "not touched";
  for (const Change& each : reconcile_sysctl(tree.root(), want, save))
    EXPECT_NE(each.outcome, Outcome::applied) << each.sysctl;

  const SysctlValues before{
      {"kernel.numa_balancing", "1"}, {"net.ipv4.conf.eth0/100.arp_ignore", "0"}, {"net.ipv4.tcp_ecn", "2"}};
  EXPECT_EQ(*load_sysctl_originals(tree.path()), before);
  for (const Change& each : write_back_sysctl(tree.root(), before))
    EXPECT_EQ(each.outcome, Outcome::applied) << "restored: " << each.sysctl;
}

// The kernel takes values that the configuration may not have: a default above the maximum (net.ipv4.tcp_rmem), any
// number (arp_ignore).
TEST(ReconcileSysctl, EveryOriginalOfTheKernelComesBack) {
  test::Tree tree;
  tree.file("proc/sys/net/ipv4/tcp_rmem", "4096\t8388608\t6291456\n");
  tree.file("proc/sys/net/ipv4/conf/eth0/arp_ignore", "-1\n");
  const SysctlValues want{{"net.ipv4.tcp_rmem", "4096 131072 67108864"}, {"net.ipv4.conf.eth0.arp_ignore", "1"}};
  SysctlValues originals;
  const SaveSysctl save = [&](const std::string& name, const std::string& before) {
    return save_sysctl_original(tree.path(), originals, name, before);
  };
  for (const Change& each : reconcile_sysctl(tree.root(), want, save)) EXPECT_EQ(each.outcome, Outcome::applied);
  for (const Change& each : plan_sysctl(tree.root(), originals))
    EXPECT_EQ(each.outcome, Outcome::differs) << each.sysctl << " " << each.detail;
  for (const Change& each : write_back_sysctl(tree.root(), originals))
    EXPECT_EQ(each.outcome, Outcome::applied) << each.sysctl << " " << each.detail;
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/tcp_rmem"), "4096 8388608 6291456");
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/conf/eth0/arp_ignore"), "-1");
  for (const Change& each : write_back_sysctl(tree.root(), {{"kernel.panic", "1"}}))
    EXPECT_EQ(each.outcome, Outcome::refused) << "of a newer release";
}

TEST(ReconcileSysctl, PlansWithoutWriting) {
  test::Tree tree;
  auto changes = plan_sysctl(host(tree).root(), {{"net.ipv4.tcp_ecn", "1"}});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].outcome, Outcome::differs);
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/tcp_ecn"), "2\n");
}

class SysctlFiles : public testing::Test {
 protected:
  SysctlFiles() {
    host(tree);
    root.set_behind(files);
  }
  static Result<void> saved(const std::string&, const std::string&) { return {}; }
  Change reconciled(const std::string& name, const std::string& value, const SaveSysctl& save = saved) {
    return reconcile_sysctl(root, {{name, value}}, save).at(0);
  }
  test::Tree tree;
  std::shared_ptr<SimFiles> files = std::make_shared<SimFiles>(tree);
  Root root = tree.root();
};

TEST_F(SysctlFiles, TellsWhatTheKernelDid) {
  const auto only = [&] { return reconciled("net.ipv4.tcp_ecn", "3"); };
  files->on_write("*", test::refuse_text(EINVAL));
  EXPECT_EQ(only().outcome, Outcome::refused);
  EXPECT_EQ(only().code, EINVAL);
  EXPECT_TRUE(has(only().detail, "this kernel does not accept the value"));
  files->on_write("*", test::refuse_text(EROFS));
  EXPECT_TRUE(has(only().detail, "read-only"));
  files->on_write("*", test::refuse_text(EPERM));
  EXPECT_TRUE(has(reconciled("kernel.numa_balancing", "0").detail, "systemctl restart fabric-agent-pci"));
  files->on_write("*", test::ignore_text());
  EXPECT_EQ(only().outcome, Outcome::ignored);
  EXPECT_EQ(only().detail, "accepted, but reads back as 2");
  EXPECT_EQ(files->log.back(), "proc/sys/net/ipv4/tcp_ecn = 3");
}

TEST_F(SysctlFiles, NothingIsWrittenThatCannotBeSavedAndNothingUnknown) {
  const SaveSysctl full = [](const std::string&, const std::string&) {
    return Result<void>(error(ENOSPC, "originals"));
  };
  EXPECT_EQ(reconciled("net.ipv4.tcp_ecn", "1", full).outcome, Outcome::unsaved);
  EXPECT_EQ(reconciled("net.ipv4.tcp_ecn", "1", {}).outcome, Outcome::unsaved) << "there is no place to save it";
  EXPECT_EQ(reconciled("net.ipv4.tcp_ecn", "9").outcome, Outcome::refused);
  EXPECT_EQ(reconciled("kernel.panic", "1").outcome, Outcome::refused);
  EXPECT_TRUE(files->log.empty());
}

TEST(SysctlOriginals, KeepTheFirstAndNeverOverwriteWhatTheyDoNotUnderstand) {
  test::Tree tree;
  SysctlValues originals;
  ASSERT_TRUE(save_sysctl_original(tree.path(), originals, "net.ipv4.tcp_ecn", "2").ok());
  ASSERT_TRUE(save_sysctl_original(tree.path(), originals, "net.ipv4.tcp_ecn", "1").ok());
  EXPECT_EQ(*load_sysctl_originals(tree.path()), (SysctlValues{{"net.ipv4.tcp_ecn", "2"}}));
  const auto number = parse_sysctl_originals(R"({"format":1,"values":{"net.ipv4.tcp_ecn":2}})", "f");
  EXPECT_EQ(number.error().code, EBADMSG);
  EXPECT_EQ(number.error().what, "f: values: type must be string, but is number");
  EXPECT_EQ(parse_sysctl_originals("[", "f").error().code, EBADMSG);
}

}  // namespace
}  // namespace fabric::qos
