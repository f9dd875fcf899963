// SPDX-License-Identifier: Apache-2.0
#include "enforce/sysctl.h"

#include "support/sim_files.h"
#include "support/test.h"

namespace fabric::qos {
namespace {

using test::has;
using test::SimFiles;

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
  const SysctlOptions options{.save_original = [&](const std::string&, const std::string&) -> Result<void> {
    if (renames) tree.file("sys/class/net/eth0.100/ifindex", "8\n");
    return {};
  }};
  const SysctlValues want{{"net.ipv4.conf.eth0/100.arp_ignore", "1"}};
  const Changes refused = reconcile_sysctl(tree.root(), want, options);
  EXPECT_EQ(refused.at(0).code, ENODEV);
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/conf/eth0.100/arp_ignore").substr(0, 1), "0");
  renames = false;
  EXPECT_EQ(reconcile_sysctl(tree.root(), want, options).at(0).outcome, Outcome::applied);
}

// A file of a newer format stays, and what this release does not know in a file of its own format, too.
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
  const SysctlOptions options{.save_original = [&](const std::string& name, const std::string& before) {
    return save_sysctl_original(tree.path(), originals, name, before);
  }};
  const auto change = [](const char* name, Outcome outcome, const char* from, const char* to, const char* detail = "") {
    return Change{"host", {}, outcome, 0, false, from, to, detail, name};
  };
  const Changes expected{change("kernel.numa_balancing", Outcome::applied, "1", "0"),
                         change("net.ipv4.conf.eth0/100.arp_ignore", Outcome::applied, "0", "1"),
                         change("net.ipv4.tcp_ecn", Outcome::applied, "2", "1"),
                         change("net.ipv4.tcp_rmem", Outcome::in_sync, "4096 131072 6291456", "4096 131072 6291456"),
                         change("vm.zone_reclaim_mode", Outcome::unsupported, "-", "0",
                                "unknown to this kernel, or the network interface does not exist")};
  EXPECT_EQ(reconcile_sysctl(tree.root(), want, options), expected);
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/conf/eth0.100/arp_ignore").substr(0, 1), "1");
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/tcp_rmem"), "4096\t131072\t6291456\n") << "not touched";
  for (const Change& each : reconcile_sysctl(tree.root(), want, options))
    EXPECT_NE(each.outcome, Outcome::applied) << each.sysctl;

  const SysctlValues before{
      {"kernel.numa_balancing", "1"}, {"net.ipv4.conf.eth0/100.arp_ignore", "0"}, {"net.ipv4.tcp_ecn", "2"}};
  EXPECT_EQ(*load_sysctl_originals(tree.path()), before);
  for (const Change& each : reconcile_sysctl(tree.root(), before, {}))
    EXPECT_EQ(each.outcome, Outcome::applied) << "restored: " << each.sysctl;
}

TEST(ReconcileSysctl, PlansWithoutWriting) {
  test::Tree tree;
  auto changes = reconcile_sysctl(host(tree).root(), {{"net.ipv4.tcp_ecn", "1"}}, {.dry_run = true});
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
  Change reconciled(const std::string& name, const std::string& value, const SysctlOptions& options = {}) {
    return reconcile_sysctl(root, {{name, value}}, options).at(0);
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
  const SysctlOptions full{
      .save_original = [](const std::string&, const std::string&) { return Result<void>(error(ENOSPC, "originals")); }};
  EXPECT_EQ(reconciled("net.ipv4.tcp_ecn", "1", full).outcome, Outcome::unsaved);
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
