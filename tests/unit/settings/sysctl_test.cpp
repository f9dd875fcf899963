// SPDX-License-Identifier: Apache-2.0
#include "settings/sysctl.h"

#include "support/test.h"
#include "support/tree.h"

namespace fabric::qos {
namespace {

test::Tree& host(test::Tree& tree) {
  tree.file("proc/sys/net/ipv4/tcp_ecn", "2\n").file("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
  tree.file("proc/sys/net/ipv4/conf/eth0.100/arp_ignore", "0\n").file("proc/sys/kernel/numa_balancing", "1\n");
  return tree;
}

TEST(KnownSysctls, AreNamedOnceAndTheirLimitsAreTaken) {
  std::set<std::string_view> names;
  for (const Sysctl& row : known_sysctls()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    std::string name(row.name);
    if (const size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, "eth0");
    EXPECT_EQ(find_sysctl(name), &row);
    auto several = [&](uint64_t value) {
      std::string text;
      for (unsigned i = 0; i < row.numbers; ++i) text += (i ? " " : "") + std::to_string(value);
      return text;
    };
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

TEST(ReconcileSysctl, WritesOnlyWhatDiffersAndSavesWhatStoodBefore) {
  test::Tree tree;
  host(tree);
  const SysctlValues want{{"net.ipv4.tcp_ecn", "1"},
                          {"net.ipv4.tcp_rmem", "4096 131072 6291456"},
                          {"net.ipv4.conf.eth0/100.arp_ignore", "1"},
                          {"kernel.numa_balancing", "0"},
                          {"vm.zone_reclaim_mode", "0"}};
  SysctlValues originals;
  SysctlOptions options;
  options.save_original = [&](const std::string& name, const std::string& before) {
    return save_sysctl_original(tree.path(), originals, name, before);
  };
  const auto change = [](const char* name, Outcome outcome, const char* from, const char* to, const char* detail = "") {
    return Change{"host", {}, outcome, 0, false, from, to, detail, name};
  };
  const Changes expected{change("kernel.numa_balancing", Outcome::applied, "1", "0"),
                         change("net.ipv4.conf.eth0/100.arp_ignore", Outcome::applied, "0", "1"),
                         change("net.ipv4.tcp_ecn", Outcome::applied, "2", "1"),
                         change("net.ipv4.tcp_rmem", Outcome::in_sync, "4096 131072 6291456", "4096 131072 6291456"),
                         change("vm.zone_reclaim_mode", Outcome::unsupported, "", "0",
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
  auto changes =
      reconcile_sysctl(host(tree).root(), {{"net.ipv4.tcp_ecn", "1"}}, {.dry_run = true, .save_original = {}});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].outcome, Outcome::differs);
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/tcp_ecn"), "2\n");
}

class Sysctls final : public BehindFiles {
 public:
  std::optional<Result<void>> answer;
  std::vector<std::string> written;
  std::optional<Result<void>> act(Act act, const std::string& file, std::string_view text) override {
    if (act == Act::read) return std::nullopt;
    written.push_back(file + " " + std::string(text));
    return answer;
  }
};

TEST(ReconcileSysctl, TellsWhatTheKernelDid) {
  test::Tree tree;
  Root root = host(tree).root();
  auto kernel = std::make_shared<Sysctls>();
  root.set_behind(kernel);
  auto only = [&] { return reconcile_sysctl(root, {{"net.ipv4.tcp_ecn", "3"}}, {}).at(0); };
  kernel->answer = Result<void>(error(EINVAL, "/proc/sys/net/ipv4/tcp_ecn"));
  EXPECT_EQ(only().outcome, Outcome::refused);
  EXPECT_EQ(only().code, EINVAL);
  EXPECT_NE(only().detail.find("this kernel does not take the value"), std::string::npos);
  kernel->answer = Result<void>(error(EROFS, "/proc/sys/net/ipv4/tcp_ecn"));
  EXPECT_NE(only().detail.find("read-only"), std::string::npos);
  kernel->answer = Result<void>(error(EPERM, "/proc/sys/kernel/numa_balancing"));
  auto numa = reconcile_sysctl(root, {{"kernel.numa_balancing", "0"}}, {}).at(0);
  EXPECT_NE(numa.detail.find("systemctl restart fabric-agent-pci"), std::string::npos) << numa.detail;
  kernel->answer = Result<void>();  // takes it and does nothing
  EXPECT_EQ(only().outcome, Outcome::ignored);
  EXPECT_EQ(only().detail, "accepted, but reads back as 2");
  EXPECT_EQ(kernel->written.back(), "proc/sys/net/ipv4/tcp_ecn 3");
}

TEST(ReconcileSysctl, WritesNothingThatCannotBeSavedAndNothingUnknown) {
  test::Tree tree;
  Root root = host(tree).root();
  auto kernel = std::make_shared<Sysctls>();
  root.set_behind(kernel);
  SysctlOptions options;
  options.save_original = [](const std::string&, const std::string&) {
    return Result<void>(error(ENOSPC, "originals"));
  };
  EXPECT_EQ(reconcile_sysctl(root, {{"net.ipv4.tcp_ecn", "1"}}, options)[0].outcome, Outcome::unsaved);
  EXPECT_EQ(reconcile_sysctl(root, {{"net.ipv4.tcp_ecn", "9"}}, {})[0].outcome, Outcome::refused);
  EXPECT_EQ(reconcile_sysctl(root, {{"kernel.panic", "1"}}, {})[0].outcome, Outcome::refused);
  EXPECT_TRUE(kernel->written.empty());
}

TEST(SysctlOriginals, KeepTheFirstAndNeverOverwriteWhatTheyDoNotUnderstand) {
  test::Tree tree;
  SysctlValues originals;
  ASSERT_TRUE(save_sysctl_original(tree.path(), originals, "net.ipv4.tcp_ecn", "2").ok());
  ASSERT_TRUE(save_sysctl_original(tree.path(), originals, "net.ipv4.tcp_ecn", "1").ok());
  EXPECT_EQ(*load_sysctl_originals(tree.path()), (SysctlValues{{"net.ipv4.tcp_ecn", "2"}}));
  auto number = parse_sysctl_originals("\"net.ipv4.tcp_ecn\" = 2\n", "f");
  EXPECT_EQ(number.error().code, EBADMSG);
  EXPECT_EQ(number.error().what.substr(0, 4), "f:1:");
  EXPECT_EQ(parse_sysctl_originals("x = [", "f").error().code, EBADMSG);
}

}  // namespace
}  // namespace fabric::qos
