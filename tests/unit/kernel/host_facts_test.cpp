// SPDX-License-Identifier: Apache-2.0
// The facts of the group "host", read from trees with files as kernels, distributions and packages write them.
#include "node/host.h"
#include "node/scan.h"
#include "node/services.h"
#include "node/systemd.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::Tree;
using unit_file::parse_memory_limit;

constexpr uint64_t kMiB = uint64_t{1} << 20;
const std::string kEtc = "etc/systemd/system/", kLib = "usr/lib/systemd/system/";

std::string joined(const std::vector<unit_file::Assignment>& all) {
  std::string out;
  for (const auto& each : all)
    out += each.section + "|" + each.key + "|" + each.value + "|" + std::to_string(each.line) + "\n";
  return out;
}

TEST(UnitFile, TakesWhatSystemdTakes) {
  EXPECT_EQ(joined(unit_file::parse("\xef\xbb\xbf# first\n"
                                    "Outside=ignored\n"
                                    "[Unit]\nDescription = a b \n"
                                    "  ; comment\n"
                                    "[Service]\r\nLimitMEMLOCK=infinity\r\n"
                                    "ExecStart=/bin/a \\\n"
                                    "# amid a continued line\n"
                                    "   --b \\\n"
                                    "  --c\n"
                                    "Odd=a\\\\\n"
                                    "=no key\nno value\nEmpty=\n"
                                    "[X-Own]\nLast=1 \\")),
            "Unit|Description|a b|4\n"
            "Service|LimitMEMLOCK|infinity|7\n"
            "Service|ExecStart|/bin/a     --b    --c|8\n"
            "Service|Odd|a\\\\|12\n"
            "Service|Empty||15\n"
            "X-Own|Last|1|17\n");
}

TEST(UnitFile, StopsAtABrokenSection) {
  EXPECT_EQ(joined(unit_file::parse("[Service]\nA=1\n[Install\nB=2\n[Service]\nC=3\n")), "Service|A|1|2\n");
}

TEST(UnitFile, SurvivesAnything) {
  EXPECT_EQ(joined(unit_file::parse("")), "");
  EXPECT_EQ(joined(unit_file::parse(std::string(100'000, '['))), "");
  EXPECT_EQ(joined(unit_file::parse("[]\nA=1\n")), "");
  EXPECT_EQ(joined(unit_file::parse("[Service]\n\\\n\\\n\\")), "");
  EXPECT_EQ(unit_file::parse("[S]\nA=" + std::string(1'000'000, '\\')).size(), 1u);
}

TEST(UnitFile, LimitsAreSystemds) {
  const auto text = [](std::string_view value) {
    const auto limit = parse_memory_limit(value);
    return limit ? std::to_string(limit->soft) + ":" + std::to_string(limit->hard) : std::string("-");
  };
  const std::string all = std::to_string(kNoLimit);
  EXPECT_EQ(text("infinity"), all + ":" + all);
  EXPECT_EQ(text("8M"), "8388608:8388608");
  EXPECT_EQ(text("64K:infinity"), "65536:" + all);
  EXPECT_EQ(text("1 K"), "1024:1024");
  EXPECT_EQ(text("1G 512M"), "1610612736:1610612736");
  EXPECT_EQ(text("1.5G"), "1610612736:1610612736");
  EXPECT_EQ(text("4096"), "4096:4096");
  EXPECT_EQ(text("0"), "0:0");
  EXPECT_EQ(text("2T"), "2199023255552:2199023255552");
  // What systemd ignores with a warning: an empty value sets nothing back.
  for (const char* bad : {"", "unlimited", "8m", "8MB", "-1", "%i", "8M:4M", "infinity:8M", "1M 1G", "8M:8M:8M", "8M:",
                          ":8M", "1.", ".5G", "16E", "99999999999999999999", "18446744073709551615", "8M;", "8 M x"})
    EXPECT_EQ(text(bad), "-") << bad;
  EXPECT_EQ(unit_file::parse_count_limit("1024:524288"), (ResourceLimit{1024, 524'288}));
  EXPECT_FALSE(unit_file::parse_count_limit("1K"));
}

std::string drop_in(const std::string& value) { return "[Service]\nLimitMEMLOCK=" + value + "\n"; }

struct Systemd : testing::Test {
  // The memlock setting of a unit: "8388608 FILE:LINE".
  std::string memlock_of(const std::string& name) const {
    const Root root = tree.root();
    const auto unit = systemd::UnitFiles(root).find(name);
    if (!unit) return "none";
    if (unit->masked) return "masked";
    const auto setting = systemd::service_limits(root, unit->parts).memlock;
    return setting ? memory_text(setting->limit) + " " + setting->where.text() : "unset";
  }
  Tree tree;
};

TEST_F(Systemd, TheMostImportantFolderHasTheUnit) {
  tree.file("lib/systemd/system/slurmd.service", drop_in("1M"));
  EXPECT_EQ(memlock_of("slurmd.service"), "1 MiB /lib/systemd/system/slurmd.service:2");
  tree.file(kLib + "slurmd.service", "[Unit]\nDescription=x\n[Service]\nExecStart=/bin/x\n");
  EXPECT_EQ(memlock_of("slurmd.service"), "unset");
  tree.file("run/systemd/system/slurmd.service", drop_in("2M"));
  tree.file(kEtc + "slurmd.service", drop_in("3M"));
  EXPECT_EQ(memlock_of("slurmd.service"), "3 MiB /etc/systemd/system/slurmd.service:2");
  EXPECT_EQ(memlock_of("pbs.service"), "none");
}

TEST_F(Systemd, DropInsAreReadByFileName) {
  tree.file(kLib + "slurmd.service", drop_in("1M"));
  tree.file(kLib + "slurmd.service.d/50-site.conf", drop_in("2M"));
  tree.file("run/systemd/system/slurmd.service.d/20-run.conf", drop_in("4M"));
  tree.file(kLib + "slurmd.service.d/readme.txt", drop_in("64M"));
  EXPECT_EQ(memlock_of("slurmd.service"), "2 MiB /usr/lib/systemd/system/slurmd.service.d/50-site.conf:2");
  tree.file(kEtc + "slurmd.service.d/50-site.conf", "[Service]\nLimitNOFILE=1\n");  // hides the one of the same name
  EXPECT_EQ(memlock_of("slurmd.service"), "4 MiB /run/systemd/system/slurmd.service.d/20-run.conf:2");
  tree.file(kEtc + "slurmd.service.d/99.conf",
            "# a note\n[Unit]\nLimitMEMLOCK=5M\n[Service]\nLimitMEMLOCK=\nlimitmemlock=6M\n");
  EXPECT_EQ(memlock_of("slurmd.service"), "4 MiB /run/systemd/system/slurmd.service.d/20-run.conf:2")
      << "neither is an assignment";
  tree.link(kEtc + "slurmd.service.d/20-run.conf", "/dev/null");
  EXPECT_EQ(memlock_of("slurmd.service"), "1 MiB /usr/lib/systemd/system/slurmd.service:2");
}

TEST_F(Systemd, DropInsOfTheTypeAndOfPrefixes) {
  tree.file(kLib + "sge-exec-host.service", "[Service]\n");
  tree.file(kEtc + "service.d/10-all.conf", drop_in("1M"));
  EXPECT_EQ(memlock_of("sge-exec-host.service"), "1 MiB /etc/systemd/system/service.d/10-all.conf:2");
  tree.file(kLib + "sge-.service.d/10-all.conf", drop_in("2M"));  // more special, of the same name
  EXPECT_EQ(memlock_of("sge-exec-host.service"), "2 MiB /usr/lib/systemd/system/sge-.service.d/10-all.conf:2");
  tree.file(kLib + "sge-exec-.service.d/20.conf", drop_in("3M"));
  EXPECT_EQ(memlock_of("sge-exec-host.service"), "3 MiB /usr/lib/systemd/system/sge-exec-.service.d/20.conf:2");
}

TEST_F(Systemd, MaskedAliasedAndInstances) {
  tree.file(kLib + "docker.service", drop_in("1M"));
  tree.link(kEtc + "docker.service", "/dev/null");
  EXPECT_EQ(memlock_of("docker.service"), "masked");
  tree.file(kEtc + "pbs.service", "");
  EXPECT_EQ(memlock_of("pbs.service"), "masked");
  tree.file(kLib + "cri-o.service", drop_in("1M"));
  tree.link(kEtc + "crio.service", "/usr/lib/systemd/system/cri-o.service");
  EXPECT_EQ(memlock_of("crio.service"), "1 MiB /usr/lib/systemd/system/cri-o.service:2");
  tree.file(kEtc + "cri-o.service.d/a.conf", drop_in("2M"));
  EXPECT_EQ(memlock_of("crio.service"), "2 MiB /etc/systemd/system/cri-o.service.d/a.conf:2");
  tree.file(kLib + "slurmd@.service", drop_in("1M"));
  tree.file(kEtc + "slurmd@.service.d/a.conf", drop_in("2M"));
  EXPECT_EQ(memlock_of("slurmd@n1.service"), "2 MiB /etc/systemd/system/slurmd@.service.d/a.conf:2");
  tree.file(kEtc + "slurmd@n1.service.d/b.conf", drop_in("3M"));
  EXPECT_EQ(memlock_of("slurmd@n1.service"), "3 MiB /etc/systemd/system/slurmd@n1.service.d/b.conf:2");
  EXPECT_EQ(memlock_of("slurmd@n2.service"), "2 MiB /etc/systemd/system/slurmd@.service.d/a.conf:2");
  tree.link(kEtc + "loop.service", "loop.service");
  EXPECT_EQ(memlock_of("loop.service"), "unset");
}

TEST_F(Systemd, DefaultsOfTheManager) {
  tree.file("usr/lib/systemd/system.conf", "[Manager]\nDefaultLimitMEMLOCK=1M\nDefaultLimitNOFILE=1024:524288\n");
  EXPECT_EQ(systemd::default_limits(tree.root()).nofile->limit, (ResourceLimit{1024, 524'288}));
  tree.file("etc/systemd/system.conf", "[Manager]\n#DefaultLimitMEMLOCK=\n");
  EXPECT_FALSE(systemd::default_limits(tree.root()).memlock);
  tree.file("etc/systemd/system.conf.d/a.conf", "[Manager]\nDefaultLimitMEMLOCK=8M\n");
  EXPECT_EQ(systemd::default_limits(tree.root()).memlock->where.text(), "/etc/systemd/system.conf.d/a.conf:2");
}

// As Linux 6.12 writes it.
std::string limits_text(const std::string& memlock) {
  return "Limit                     Soft Limit           Hard Limit           Units     \n"
         "Max core file size        0                    unlimited            bytes     \n"
         "Max open files            1024                 524288               files     \n"
         "Max locked memory         " +
         memlock +
         "            bytes     \n"
         "Max file locks            unlimited            unlimited            locks     \n";
}

void add_process(Tree& tree, unsigned pid, const std::string& comm, const std::string& cgroup,
                 const std::string& memlock, const std::string& namespaces = {}) {
  const std::string folder = "proc/" + std::to_string(pid), number = std::to_string(pid);
  tree.file(folder + "/comm", comm + "\n")
      .file(folder + "/cgroup", "0::" + cgroup + "\n")
      .file(folder + "/limits", limits_text(memlock));
  tree.file(folder + "/status", "Name:\t" + comm + "\nNSpid:\t" + number + namespaces + "\n");
}

const JobService* find(const host::Services& services, const std::string& unit) {
  const auto found = std::ranges::find(services.found, unit, &JobService::unit);
  return found == services.found.end() ? nullptr : &*found;
}

TEST(HostServices, ProcessesAreFoundWithTheirUnits) {
  Tree tree;
  tree.file("proc/1/comm", "systemd\n").file("proc/1/cgroup", "0::/init.scope\n").file("proc/self/comm", "x\n");
  tree.file(kLib + "slurmd.service", drop_in("infinity")).file(kLib + "pbs.service", drop_in("8M"));
  add_process(tree, 812, "slurmd", "/system.slice/slurmd.service", "8388608              8388608  ");
  add_process(tree, 900, "flux-broker-0", "/user.slice/user-0.slice/session-3.scope", "unlimited            unlimited");
  add_process(tree, 901, "containerd", "/system.slice/docker-0f3a.scope/system.slice/containerd.service", "65536 65536",
              "\t17");
  add_process(tree, 902, "containerd", "/system.slice/k3s.service", "65536                unlimited");
  add_process(tree, 903, "systemd", "/user.slice/user-1000.slice/user@1000.service/init.scope", "65536 65536");
  add_process(tree, 904, "irqbalance", "/system.slice/irqbalance.service", "65536 65536");
  const host::Services services = host::read_services(tree.root());
  std::string names;
  for (const JobService& each : services.found) names += each.unit + " ";
  EXPECT_EQ(names, "flux-broker-0 k3s.service pbs.service slurmd.service user@1000.service ");
  const JobService* slurmd = find(services, "slurmd.service");
  ASSERT_NE(slurmd, nullptr);
  EXPECT_EQ(slurmd->file, "/usr/lib/systemd/system/slurmd.service");
  EXPECT_EQ(slurmd->role, JobRole::batch);
  EXPECT_EQ(slurmd->memlock->limit, ResourceLimit{});
  ASSERT_EQ(slurmd->processes.size(), 1u);
  EXPECT_EQ(slurmd->processes[0].limits.memlock, (ResourceLimit{8 * kMiB, 8 * kMiB}));
  EXPECT_EQ(slurmd->processes[0].limits.nofile, (ResourceLimit{1024, 524'288}));
  EXPECT_EQ(slurmd->processes[0].limits.core, (ResourceLimit{0, kNoLimit}));
  EXPECT_EQ(find(services, "k3s.service")->role, JobRole::runtime);
  EXPECT_EQ(find(services, "k3s.service")->processes[0].limits.memlock, (ResourceLimit{65'536, kNoLimit}));
  EXPECT_TRUE(find(services, "pbs.service")->processes.empty());
  EXPECT_EQ(find(services, "user@1000.service")->role, JobRole::session);
  EXPECT_EQ(services.irqbalance, true);
  EXPECT_TRUE(services.unread.empty());
}

TEST(HostServices, AWrapperIsFoundByItsControlGroup) {
  for (const char* tree_of : {"sys/fs/cgroup/", "sys/fs/cgroup/systemd/"}) {
    Tree tree;
    add_process(tree, 77, "sleep", "/system.slice/slurmd.service", "65536 65536");
    tree.file(std::string(tree_of) + "system.slice/slurmd.service/cgroup.procs", "77\n78\n");
    const host::Services services = host::read_services(tree.root());
    ASSERT_EQ(services.found.size(), 1u);
    ASSERT_EQ(services.found[0].processes.size(), 2u);
    EXPECT_EQ(services.found[0].processes[0].comm, "sleep");
    EXPECT_EQ(services.found[0].processes[0].limits.memlock, (ResourceLimit{65'536, 65'536}));
    EXPECT_FALSE(services.found[0].processes[1].limits.memlock) << "hidden, or gone";
    ASSERT_EQ(services.unread.size(), 1u);
    EXPECT_TRUE(test::has(services.unread[0], "slurmd.service (pid 78)"));
    EXPECT_FALSE(services.irqbalance) << "the processes of others are hidden";
  }
}

TEST(HostServices, ControlGroups) {
  EXPECT_EQ(host::unit_of_cgroup("0::/system.slice/docker.service/init\n"), "docker.service");
  EXPECT_EQ(host::unit_of_cgroup("4:memory:/x.service\n1:name=systemd:/system.slice/slurmd.service\n0::/\n"),
            "slurmd.service");
  EXPECT_EQ(host::unit_of_cgroup("0::/system.slice/system-slurmd.slice/slurmd@n1.service"), "slurmd@n1.service");
  EXPECT_EQ(host::unit_of_cgroup("0::/user.slice/user-0.slice/session-3.scope/x.service"), "");
  EXPECT_EQ(host::unit_of_cgroup("0:"), "");
  EXPECT_EQ(host::unit_of_cgroup(""), "");
}

TEST(HostServices, ManyProcessesAndNonsense) {
  Tree tree;
  for (unsigned pid = 100; pid < 140; ++pid) add_process(tree, pid, "slurmd", "/system.slice/slurmd.service", "1 1");
  tree.file("proc/140/comm", "slurmd\n").file("proc/140/limits", "Max locked memory\nMax open files x y\n");
  tree.file("proc/99999999999/comm", "slurmd\n").folder("proc/141/comm");
  const host::Services services = host::read_services(tree.root());
  ASSERT_EQ(services.found.size(), 2u);
  EXPECT_EQ(find(services, "slurmd.service")->processes.size(), 16u);
  EXPECT_FALSE(find(services, "slurmd")->processes[0].limits.memlock);
}

std::string user_text(const std::vector<UserLimit>& limits) {
  std::string out;
  for (const UserLimit& each : limits)
    out += each.domain + " " + (each.soft ? bytes_text(each.soft->limit.soft) + "@" + each.soft->where.text() : "-") +
           " " + (each.hard ? bytes_text(each.hard->limit.soft) + "@" + each.hard->where.text() : "-") + "\n";
  return out;
}

TEST(HostLimits, UsersLimitsAsPamReadsThem) {
  Tree tree;
  tree.file("etc/security/limits.conf",
            "# /etc/security/limits.conf\n#*  soft memlock 1\n"
            "*    soft  memlock  64   # little\n"
            "\t@gpu - MEMLOCK Unlimited\n"
            "root - memlock 1\n"
            "* hard nofile 5\n* soft memlock\n* both memlock 7\n* soft memlock many\n");
  EXPECT_EQ(user_text(host::read_user_limits(tree.root())),
            "* 64 KiB@/etc/security/limits.conf:3 -\n"
            "@gpu unlimited@/etc/security/limits.conf:4 unlimited@/etc/security/limits.conf:4\n");
  tree.file("etc/security/limits.d/20-a.conf", "* - memlock 1024\n")
      .file("etc/security/limits.d/10-b.conf", "* - memlock -1\nbob hard memlock 0\n");
  tree.file("etc/security/limits.d/note", "* - memlock 3\n");
  EXPECT_EQ(user_text(host::read_user_limits(tree.root())),
            "* 1 MiB@/etc/security/limits.d/20-a.conf:1 1 MiB@/etc/security/limits.d/20-a.conf:1\n"
            "@gpu unlimited@/etc/security/limits.conf:4 unlimited@/etc/security/limits.conf:4\n"
            "bob - 0 bytes@/etc/security/limits.d/10-b.conf:2\n");
  std::vector<UserLimit> many;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "user" + std::to_string(i) + " - memlock 18446744073709551615\n";
  host::parse_user_limits(text, "/x", many);
  EXPECT_EQ(many.size(), 1024u);
  EXPECT_EQ(many[0].soft->limit.soft, kNoLimit);
}

TEST(HostLimits, SlurmHandsLimitsOn) {
  const auto parsed = [](const char* text) {
    const SlurmLimits limits = host::parse_slurm_limits(text, "/etc/slurm/slurm.conf");
    return std::string(limits.propagates_memlock ? "yes " : "no ") + limits.where.text();
  };
  EXPECT_EQ(parsed("ClusterName=x\n#PropagateResourceLimits=NONE\n"), "yes /etc/slurm/slurm.conf");
  EXPECT_EQ(parsed("A=1\npropagateresourcelimitsexcept=NOFILE,MEMLOCK\n"), "no /etc/slurm/slurm.conf:2");
  EXPECT_EQ(parsed("PropagateResourceLimitsExcept=NOFILE"), "yes /etc/slurm/slurm.conf:1");
  EXPECT_EQ(parsed("PropagateResourceLimits=NONE"), "no /etc/slurm/slurm.conf:1");
  EXPECT_EQ(parsed("X=1 PropagateResourceLimits=ALL # all"), "yes /etc/slurm/slurm.conf:1");
  Tree tree;
  EXPECT_FALSE(host::read_slurm_limits(tree.root()));
  tree.file("run/slurm/conf/slurm.conf", "PropagateResourceLimits=MEMLOCK\n");
  EXPECT_EQ(host::read_slurm_limits(tree.root())->where.text(), "/run/slurm/conf/slurm.conf:1");
}

void add_cpu(Tree& tree, unsigned cpu, const std::string& governor, const std::string& c6_disabled) {
  const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
  tree.file(folder + "cpufreq/scaling_driver", "intel_pstate\n")
      .file(folder + "cpufreq/scaling_governor", governor + "\n");
  tree.file(folder + "cpufreq/energy_performance_preference", "balance_performance\n");
  const std::vector<std::pair<std::string, std::string>> states{{"POLL", "0"}, {"C1", "1"}, {"C6", "290"}};
  for (size_t i = 0; i < states.size(); ++i) {
    const std::string state = folder + "cpuidle/state" + std::to_string(i) + "/";
    tree.file(state + "name", states[i].first + "\n").file(state + "latency", states[i].second + "\n");
    tree.file(state + "disable", (i == 2 ? c6_disabled : "0") + "\n");
  }
}

// Of what is included, the last word wins; where files include each other in a circle, each is read once.
TEST(SlurmLimits, IncludedFilesAreFollowed) {
  Tree tree;
  tree.file("etc/slurm/slurm.conf",
            "ClusterName=gpu1\nPropagateResourceLimits=NONE\nInclude limits-%c.conf\nInclude /etc/slurm/slurm.conf\n");
  tree.file("etc/slurm/limits-gpu1.conf", "# of this cluster\ninclude /srv/site/limits.conf\nInclude nosuch.conf\n");
  auto limits = host::read_slurm_limits(tree.root());
  ASSERT_TRUE(limits);
  EXPECT_FALSE(limits->propagates_memlock);
  EXPECT_EQ(limits->where, (FileLine{"/etc/slurm/slurm.conf", 2}));
  tree.file("srv/site/limits.conf", "Include /etc/slurm/limits-gpu1.conf\nPropagateResourceLimitsExcept=NOFILE\n");
  limits = host::read_slurm_limits(tree.root());
  EXPECT_TRUE(limits->propagates_memlock);
  EXPECT_EQ(limits->where, (FileLine{"/srv/site/limits.conf", 2}));
}

TEST(SlurmLimits, AChainOfFilesEnds) {
  int read = 0;
  const auto next = [&](const std::string&) {
    return Result<std::string>("Include f" + std::to_string(++read) + "\n");
  };
  EXPECT_TRUE(host::parse_slurm_limits("Include f0\n", "/etc/slurm/slurm.conf", next).propagates_memlock);
  EXPECT_EQ(read, 32);
}

TEST(HostCpuFacts, AlikeCpusStandTogether) {
  Tree tree;
  tree.file(
      "proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C\n\nprocessor\t: 1\n" +
          std::string(2'000'000, 'x'));  // of a machine with a thousand CPUs
  tree.file("sys/devices/system/cpu/online", "0-3,6\n")
      .file("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
  for (const unsigned cpu : {0u, 1u, 2u}) add_cpu(tree, cpu, "performance", "1");
  add_cpu(tree, 3, "powersave", "0");
  tree.folder("sys/devices/system/cpu/cpu6");
  const HostCpu cpu = host::read_cpu(tree.root(), host::read_cpuinfo(tree.root()));
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.model, "Intel(R) Xeon(R) Platinum 8480C");
  EXPECT_EQ(cpu.frequency_driver, "intel_pstate");
  ASSERT_EQ(cpu.frequency.size(), 2u);
  EXPECT_EQ(cpu.frequency[0].governor + " " + cpu.frequency[0].preference + " " + cpu.frequency[0].cpus,
            "performance  0-2");
  EXPECT_EQ(cpu.frequency[1].governor + " " + cpu.frequency[1].preference + " " + cpu.frequency[1].cpus,
            "powersave balance_performance 3");
  EXPECT_EQ(cpu.idle_driver, "intel_idle");
  ASSERT_EQ(cpu.idle.size(), 2u);
  EXPECT_EQ(cpu.idle[0].state + " " + std::to_string(cpu.idle[0].latency) + " " + cpu.idle[0].cpus, "C1 1 0-2");
  EXPECT_EQ(cpu.idle[1].state + " " + std::to_string(cpu.idle[1].latency) + " " + cpu.idle[1].cpus, "C6 290 3");
}

TEST(HostCpuFacts, AbsentAndAbsurd) {
  Tree tree;
  HostCpu cpu = host::read_cpu(tree.root(), host::read_cpuinfo(tree.root()));
  EXPECT_TRUE(cpu.frequency.empty() && cpu.idle.empty() && cpu.frequency_driver.empty());
  tree.file("sys/devices/system/cpu/online", "0-4000000000\n");
  EXPECT_TRUE(host::read_cpu(tree.root(), "").frequency.empty());
}

TEST(HostCpuFacts, ACpuOfAVirtualMachineSaysSo) {
  const auto hypervisor = [](const std::string& flags, const std::string& vendor, const std::string& product = "") {
    Tree tree;
    tree.folder("sys/bus/pci/devices").file("sys/class/dmi/id/sys_vendor", vendor + "\n");
    tree.file("sys/class/dmi/id/product_name", product + "\n");
    tree.file("proc/cpuinfo",
              "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: " + flags + "\nbugs\t\t: hypervisor\n");
    return test::topology_of(tree).hypervisor;
  };
  EXPECT_EQ(hypervisor("fpu hypervisor lahf_lm", "Cloud Hypervisor"), "an unnamed hypervisor");
  EXPECT_EQ(hypervisor("fpu hypervisor lahf_lm", "QEMU"), "QEMU");
  EXPECT_EQ(hypervisor("fpu lahf_lm", "Supermicro"), "");
  EXPECT_EQ(hypervisor("fpu hypervisor", "Google", "Google Compute Engine"), "Google Compute Engine");
  EXPECT_EQ(hypervisor("fpu lahf_lm", "Google", "Google Compute Engine"), "") << "a bare-metal instance";
  EXPECT_EQ(hypervisor("fpu lahf_lm", "Alibaba Cloud", "Alibaba Cloud ECS"), "");
}

TEST(HostKernel, EachFile) {
  Tree tree;
  Host none;
  host::read_kernel(tree.root(), none);
  EXPECT_FALSE(none.numa_balancing);
  EXPECT_EQ(none.clock.current + none.lockdown + none.huge_pages.transparent, "");
  tree.file("proc/meminfo", "MemTotal:       2113461612 kB\nMemFree: 1 kB\n")
      .file("proc/sys/kernel/numa_balancing", "1\n");
  tree.file("proc/cmdline", "BOOT_IMAGE=/vmlinuz idle=poll idlex=1 processor.max_cstate=1 quiet\n");
  tree.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n")
      .file("sys/devices/system/clocksource/clocksource0/available_clocksource", "hpet acpi_pm \n");
  tree.file("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "16\n")
      .file("sys/kernel/mm/hugepages/hugepages-1xkB/nr_hugepages", "9\n");
  tree.file("sys/kernel/mm/hugepages/hugepages-0kB/nr_hugepages", "5\n");  // a torn tree: nothing is of no size
  tree.file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  tree.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  Host host;
  host::read_kernel(tree.root(), host);
  EXPECT_EQ(host.memory, uint64_t{2113461612} * 1024);
  EXPECT_EQ(host.numa_balancing, 1u);
  EXPECT_EQ(host.kernel_options, (std::vector<std::string>{"BOOT_IMAGE=/vmlinuz", "idle=poll", "idlex=1",
                                                           "processor.max_cstate=1", "quiet"}));
  EXPECT_EQ(host.clock.current, "hpet");
  EXPECT_EQ(host.clock.available, (std::vector<std::string>{"hpet", "acpi_pm"}));
  EXPECT_EQ(host.huge_pages.reserved, (std::map<uint64_t, uint64_t>{{2 * kMiB, 16}}));
  EXPECT_EQ(host.huge_pages.transparent, "madvise");
  EXPECT_EQ(host.lockdown, "integrity");
}

void add_irq(Tree& tree, const std::string& pci, unsigned irq, const std::string& cpus, const std::string& handler) {
  const std::string folder = "proc/irq/" + std::to_string(irq) + "/";
  tree.file("sys/bus/pci/devices/" + pci + "/msi_irqs/" + std::to_string(irq), "msix\n");
  tree.file(folder + "effective_affinity_list", cpus + "\n")
      .file(folder + "smp_affinity_list", "0-63\n")
      .file(folder + "spurious", "count 0\n");
  if (!handler.empty()) tree.folder(folder + handler);
}

TEST(HostInterrupts, QueuesElsewhereAreFound) {
  Tree tree;
  const std::string pci = "0000:17:00.0";
  add_irq(tree, pci, 100, "40", "mlx5_async0@pci:0000:17:00.0");
  add_irq(tree, pci, 101, "3", "mlx5_comp0@pci:0000:17:00.0");
  add_irq(tree, pci, 102, "40", "mlx5_comp1@pci:0000:17:00.0");
  add_irq(tree, pci, 103, "40", "");  // nobody has asked for it
  add_irq(tree, pci, 104, "", "mlx5_comp2@pci:0000:17:00.0");
  add_irq(tree, pci, 105, "nonsense", "mlx5_comp3@pci:0000:17:00.0");
  add_irq(tree, pci, 106, "40",
          "efa-mgmnt@pci:0000:17:00.0");  // drivers/infiniband/hw/efa/efa_main.c: on the first CPU that is online
  tree.remove("proc/irq/104/effective_affinity_list").file("proc/irq/104/smp_affinity_list", "32-63\n");
  Node node;
  node.topology.numa_cpus = {{0, "0-31"}, {1, "32-63"}};
  const Port port{.rdma = "mlx5_0", .pci = pci, .numa = 0};
  node.ports = {port, port};
  scanning::read_host(tree.root(), node);
  ASSERT_TRUE(node.host);
  ASSERT_EQ(node.host->interrupts.size(), 1u) << "two ports of one function";
  const NicInterrupts& nic = node.host->interrupts[0];
  EXPECT_EQ(nic.nic, "mlx5_0");
  EXPECT_EQ(nic.queues, 3u);
  EXPECT_EQ(nic.local_cpus, 32u);
  ASSERT_EQ(nic.elsewhere.size(), 2u);
  EXPECT_EQ(nic.elsewhere[0].irq, 102u);
  EXPECT_EQ(nic.elsewhere[0].name, "mlx5_comp1@pci:0000:17:00.0");
  EXPECT_EQ(nic.elsewhere[0].cpus, "40");
  EXPECT_EQ(nic.elsewhere[1].cpus, "32-63");
  node.ports[0].numa.reset();
  node.ports.pop_back();
  scanning::read_host(tree.root(), node);
  EXPECT_TRUE(node.host->interrupts.empty()) << "its NUMA node is not known";
}

}  // namespace
}  // namespace fabric
