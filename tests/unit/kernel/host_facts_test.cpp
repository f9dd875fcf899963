// SPDX-License-Identifier: Apache-2.0
// The facts of the groups "host" and "platform", read from trees with files as kernels, distributions and packages
// write them, and from trees that no kernel shows.
#include <elf.h>

#include <chrono>
#include <cstring>

#include "kernel/kernel.h"
#include "node/host.h"
#include "node/lldpad.h"
#include "node/pci_state.h"
#include "node/platform.h"
#include "node/provider_abi.h"
#include "node/rdma_software.h"
#include "node/scan.h"
#include "node/services.h"
#include "node/systemd.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::add_pci;
using test::has;
using test::Tree;
using unit_file::parse_memory_limit;

// -- The host

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
  // Values that systemd ignores with a warning: an empty value resets nothing.
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

// The format of Linux 6.12.
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

// The agent within a virtual machine is none of them.
TEST(HostServices, AHostOfVirtualMachinesIsKnownByItsProcesses) {
  for (const auto& [comm, is_vm] : {std::pair("qemu-kvm", true), std::pair("qemu-system-x86", true),
                                    std::pair("virt-launcher-m", true), std::pair("qemu-ga", false)}) {
    Tree tree;
    tree.file("proc/1/comm", "systemd\n").file("proc/812/comm", std::string(comm) + "\n");
    EXPECT_EQ(host::read_services(tree.root()).vm_program, is_vm ? comm : "") << comm;
    EXPECT_EQ(host::is_known_process(comm), is_vm) << comm;
  }
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

// As `check --root /proc/PID/root` of a container sees it, and as a program in it does.
TEST(HostServices, TheFirstProcessOfAContainerStandsForAll) {
  const auto services_of = [](const std::string& comm, const std::string& capabilities,
                              const std::string& second = {}) {
    Tree tree;
    add_process(tree, 1, comm, "/", "65536 65536");
    tree.file("proc/1/status", "Name:\t" + comm + "\nNSpid:\t1\nCapEff:\t" + capabilities + "\n");
    if (!second.empty()) tree.file("proc/2/comm", second + "\n");
    return host::read_services(tree.root());
  };
  const std::string usual = "00000000a80425fb", with_ipc_lock = "00000000a80465fb";
  const host::Services limited = services_of("sleep", usual);
  const JobService* container = find(limited, host::kContainer);
  ASSERT_NE(container, nullptr);
  EXPECT_EQ(container->processes.at(0).limits.memlock, (ResourceLimit{65'536, 65'536}));
  const host::Services capable = services_of("sleep", with_ipc_lock);
  EXPECT_EQ(find(capable, host::kContainer)->processes.at(0).limits.memlock, (ResourceLimit{kNoLimit, kNoLimit}));
  for (const char* comm : {"systemd", "init", "pause", "fabric-agentd"})
    EXPECT_EQ(find(services_of(comm, usual), host::kContainer), nullptr) << comm;
  EXPECT_EQ(find(services_of("runit", usual, "kthreadd"), host::kContainer), nullptr) << "a host has kernel threads";
  Tree without;
  without.file("proc/1/comm", "sleep\n");
  const host::Services unknown = host::read_services(without.root());
  EXPECT_TRUE(find(unknown, host::kContainer)->processes.empty());
  EXPECT_TRUE(unknown.unread.empty());
}

TEST(HostServices, DcbxDaemons) {
  Tree tree;
  tree.file("proc/1/comm", "systemd\n").file("proc/812/comm", "lldpad\n");
  tree.file("proc/812/cgroup", "0::/system.slice/lldpad.service\n").file("proc/900/comm", "lldpd\n");
  const host::Services services = host::read_services(tree.root());
  ASSERT_EQ(services.dcb_daemons.size(), 1u);
  EXPECT_EQ(services.dcb_daemons[0].text(), "lldpad (pid 812, lldpad.service)");
  EXPECT_TRUE(services.found.empty()) << "it starts no jobs";
}

// As lldpad writes it.
constexpr const char* kLldpadConf = R"(lldp :
{
  common :
  {
    tlvid00000001 :
    {
      info = "04{0C42A1000001";
    };
  };
  eth2 :
  {
    tlvid001b2101 :
    {
      enableTx = true;
    };
    adminStatus = 3;
  };
  eth3 :
  {
    adminStatus = 0;
  };
};
dcbx :
{
  version = "1.0.0";
  dcbx_version = 2;
  eth3 :
  {
    dcb_enable = 0;
    pfc_admin_mode = [ 0, 0, 0, 1 ];
    adminStatus = 1;
  };
};
nearest_customer_bridge :
{
  eth2 : { adminStatus = 0; };
};
)";

TEST(HostServices, PortsOfLldpad) {
  using Ports = std::map<std::string, int>;
  EXPECT_EQ(host::parse_lldpad(kLldpadConf), (Ports{{"eth2", 3}, {"eth3", 0}}));
  EXPECT_EQ(host::parse_lldpad("/* } */ lldp = { // {\n # {\n common : { adminStatus=0 } }"), (Ports{{"common", 0}}));
  EXPECT_EQ(host::parse_lldpad("lldp : { eth0 : { adminStatus = \"\\\"0\"; }; };"), Ports{}) << "no number";
  EXPECT_EQ(host::parse_lldpad(""), Ports{});
  for (const char* damaged : {"lldp : {", "}", "lldp : { x = \"", "/* ", "a / b", "(((((((((((((((((((((((("})
    EXPECT_FALSE(host::parse_lldpad(damaged)) << damaged;

  const auto daemon_with = [](const std::string& conf, const std::string& command_line) {
    Tree tree;
    tree.file("proc/1/comm", "systemd\n").file("proc/812/comm", "lldpad\n").file("proc/812/cmdline", command_line);
    if (!conf.empty()) tree.file("var/lib/lldpad/lldpad.conf", conf);
    return host::read_services(tree.root()).dcb_daemons.at(0);
  };
  const std::string usual("/usr/sbin/lldpad\0-t\0", 20);
  const DcbDaemon daemon = daemon_with(kLldpadConf, usual);
  EXPECT_TRUE(daemon.is_disabled_at("eth3"));
  EXPECT_FALSE(daemon.is_disabled_at("eth2"));
  EXPECT_FALSE(daemon.is_disabled_at("eth4")) << "lldpad enables it by itself";
  EXPECT_TRUE(daemon_with("lldp : { common : { adminStatus = 0; }; };", usual).is_disabled_at("eth4"));
  EXPECT_FALSE(daemon_with(std::string(kLldpadConf) + "}", usual).is_disabled_at("eth3"));
  EXPECT_FALSE(daemon_with("", usual).is_disabled_at("eth3"));
  EXPECT_FALSE(daemon_with(kLldpadConf, std::string("lldpad\0-tf\0/etc/x.conf\0", 24)).is_disabled_at("eth3"))
      << "another file";
}

// -- Software of RDMA

TEST(RdmaSoftware, Providers) {
  Tree tree;
  EXPECT_FALSE(host::read_verbs_library(tree.root()));
  tree.file("etc/libibverbs.d/mlx5.driver", "driver mlx5\n");
  EXPECT_FALSE(host::read_verbs_library(tree.root())) << "no folder of providers";
  const std::string folder = "usr/lib/x86_64-linux-gnu/libibverbs/";
  for (const char* name : {"libmlx5-rdmav34.so", "libionic-rdmav59.so", "libhfi1verbs-rdmav34.so", "README",
                           "-rdmav1.so", "libx-rdmav.so", "libibverbs.so.1"})
    tree.file(folder + name, "");
  // A vendor's, in a folder of libraries: by its name, and by its path.
  tree.file("usr/local/lib/libbnxt_re-rdmav34.so", "").file("opt/lib/libefa-rdmav34.so", "");
  tree.file("etc/libibverbs.d/bnxt_re.driver", "# from the vendor\ndriver bnxt_re\n");
  tree.file("etc/libibverbs.d/other", " driver\t/opt/lib/libefa\nnonsense\n");
  const auto verbs = host::read_verbs_library(tree.root());
  ASSERT_TRUE(verbs);
  EXPECT_EQ(verbs->folders, std::vector<std::string>{"/usr/lib/x86_64-linux-gnu/libibverbs"});
  const std::map<std::string, std::set<unsigned>> providers{
      {"mlx5", {34}}, {"ionic", {59}}, {"hfi1verbs", {34}}, {"bnxt_re", {34}}, {"efa", {34}}};
  EXPECT_EQ(verbs->providers, providers);
  EXPECT_EQ(verbs->listed, (std::set<std::string>{"mlx5", "bnxt_re", "efa"}));
}

TEST(RdmaSoftware, AProviderThatNoFileNames) {
  Tree tree;
  tree.file("usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so", "");
  tree.file("usr/local/lib/libionic-rdmav34.so", "").file("usr/local/lib/libefa-rdmav22.so", "");
  const auto providers = [&] { return host::read_verbs_library(tree.root())->providers; };
  EXPECT_FALSE(providers().contains("ionic")) << "without a configuration it is not known what libibverbs loads";
  tree.file("etc/libibverbs.d/mlx5.driver", "driver mlx5\n");
  EXPECT_TRUE(providers().contains("ionic"));
  EXPECT_FALSE(providers().contains("efa")) << "of another release";
  EXPECT_FALSE(host::read_verbs_library(tree.root())->listed.contains("ionic"));
  // Debian's folders of both architectures, below /usr and /usr/local.
  for (const char* folder : {"usr/lib/x86_64-linux-gnu/", "usr/lib/aarch64-linux-gnu/",
                             "usr/local/lib/x86_64-linux-gnu/", "usr/local/lib/aarch64-linux-gnu/"}) {
    const std::string vendor = "v" + std::to_string(providers().size());
    tree.file(std::string(folder) + "lib" + vendor + "-rdmav34.so", "");
    EXPECT_TRUE(providers().contains(vendor)) << folder;
  }
}

TEST(RdmaSoftware, AnImageWithoutLibibverbs) {
  Tree tree;
  tree.file("usr/lib/aarch64-linux-gnu/libc.so.6", "");
  const auto verbs = host::read_verbs_library(tree.root());
  ASSERT_TRUE(verbs);
  EXPECT_TRUE(verbs->folders.empty() && verbs->providers.empty());
  tree.file("usr/lib/aarch64-linux-gnu/libibverbs.so.1", "");
  EXPECT_FALSE(host::read_verbs_library(tree.root())) << "its providers may be in a folder of their own";
}

// A shared object with a name at 0x400, and a struct verbs_device_ops at 0x500 whose two pointers are relocated: by
// DT_RELA, or in place by DT_RELR.
std::string provider_object(const std::string& name, uint32_t least, uint32_t most, bool packed) {
  std::string out(0x600, '\0');
  const auto put = [&](size_t at, const auto& value) { std::memcpy(out.data() + at, &value, sizeof value); };
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  put(0, header);
  constexpr uint64_t kBase = 0x1000;  // of the addresses
  Elf64_Phdr load{}, dynamic{};
  load.p_type = PT_LOAD;
  load.p_vaddr = kBase;
  load.p_filesz = out.size();
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = 0x200;
  dynamic.p_filesz = 3 * sizeof(Elf64_Dyn);
  put(sizeof header, load);
  put(sizeof header + sizeof load, dynamic);
  Elf64_Dyn table{}, size{};
  table.d_tag = packed ? 36 : DT_RELA;
  table.d_un.d_ptr = kBase + 0x300;
  size.d_tag = packed ? 35 : DT_RELASZ;
  size.d_un.d_val = packed ? 16 : 2 * sizeof(Elf64_Rela);
  put(0x200, table);
  put(0x200 + sizeof table, size);
  if (packed) {
    put(0x300, kBase + 0x500);
    put(0x308, uint64_t{0b101});  // the second word after it
    put(0x500, kBase + 0x400);
    put(0x510, kBase + 0x480);
  } else {
    put(0x300, Elf64_Rela{kBase + 0x500, ELF64_R_INFO(0, R_X86_64_RELATIVE), kBase + 0x400});
    put(0x300 + sizeof(Elf64_Rela), Elf64_Rela{kBase + 0x510, ELF64_R_INFO(0, R_X86_64_RELATIVE), kBase + 0x480});
  }
  std::memcpy(out.data() + 0x400, name.data(), name.size());
  put(0x508, least);
  put(0x50c, most);
  return out;
}

TEST(RdmaSoftware, AbiOfAProvider) {
  using Abis = std::map<std::string, AbiRange>;
  for (const bool packed : {false, true}) {
    const std::string object = provider_object("bnxt_re", 1, 6, packed);
    EXPECT_EQ(host::parse_provider_abis(object), (Abis{{"bnxt_re", {1, 6}}})) << packed;
    for (size_t size = 0; size < object.size(); ++size) (void)host::parse_provider_abis(object.substr(0, size));
    EXPECT_EQ(host::parse_provider_abis(provider_object("bnxt_re", 2, 1, packed)), Abis{}) << "another struct";
    EXPECT_EQ(host::parse_provider_abis(provider_object("No name", 1, 1, packed)), Abis{});
  }
  EXPECT_EQ(host::parse_provider_abis("bnxt_re 1 6\nbad 2 1\nefa x 1\n"), (Abis{{"bnxt_re", {1, 6}}}));
  EXPECT_EQ(host::parse_provider_abis("efa 1 1\nefa 2 2\nmana 1 1\nmana 1 1\n"), (Abis{{"mana", {1, 1}}}));
  EXPECT_EQ(host::to_text({{"irdma", {0, 5}}, {"mlx5", {1, 1}}}), "irdma 0 5\nmlx5 1 1\n");
  EXPECT_EQ(host::parse_provider_abis(""), Abis{});
}

// Each bitmap of DT_RELR names 63 addresses, which would be sought in each of 60,000 segments: 10^11 steps and more.
TEST(RdmaSoftware, AFileMadeToBeSlow) {
  constexpr size_t kSegments = 60'000, kTable = size_t{4} << 20, kBytes = size_t{2} << 20;
  std::string object = provider_object("bnxt_re", 1, 6, true);
  object.resize(kTable + kBytes, '\xff');
  const auto put = [&](size_t at, const auto& value) { std::memcpy(object.data() + at, &value, sizeof value); };
  Elf64_Ehdr header{};
  std::memcpy(&header, object.data(), sizeof header);
  header.e_phoff = 0x600;
  header.e_phnum = kSegments;
  put(0, header);
  Elf64_Phdr load{}, dynamic{};
  load.p_type = PT_LOAD;
  for (size_t i = 0; i < kSegments; ++i) put(header.e_phoff + i * sizeof load, load);
  load.p_vaddr = 0x1000;
  load.p_filesz = object.size();
  put(header.e_phoff, load);
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = 0x200;
  dynamic.p_filesz = 3 * sizeof(Elf64_Dyn);
  put(header.e_phoff + sizeof load, dynamic);
  Elf64_Dyn table{}, size{};
  table.d_tag = 36;  // DT_RELR
  table.d_un.d_ptr = load.p_vaddr + kTable;
  size.d_tag = 35;  // DT_RELRSZ
  size.d_un.d_val = kBytes;
  put(0x200, table);
  put(0x200 + sizeof table, size);
  const auto begin = std::chrono::steady_clock::now();
  (void)host::parse_provider_abis(object);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(RdmaSoftware, AbisOfPresentDevicesOnly) {
  Tree tree;
  const std::string verbs = "sys/class/infiniband_verbs/uverbs0/", folder = "usr/lib64/libibverbs/";
  tree.file(verbs + "ibdev", "bnxt_re0\n").file(verbs + "abi_version", "6\n");
  tree.folder("sys/bus/pci/drivers/bnxt_en").link(verbs + "device/driver", "../../../../bus/pci/drivers/bnxt_en");
  tree.file(folder + "libbnxt_re-rdmav34.so", provider_object("bnxt_re", 1, 1, false));
  tree.file(folder + "libmlx5-rdmav34.so", provider_object("mlx5", 1, 1, false));
  const auto read = [&] { return host::read_verbs_library(tree.root()).value_or(VerbsLibrary()); };
  EXPECT_EQ(read().kernel_abis, (std::map<std::string, uint32_t>{{"bnxt_re0", 6}}));
  EXPECT_EQ(read().abis, (std::map<std::string, AbiRange>{{"libbnxt_re-rdmav34.so", {1, 1}}}));
  // The vendor's, in another folder: it is not known which of them libibverbs loads.
  tree.file("usr/local/lib/libibverbs/libbnxt_re-rdmav34.so", "bnxt_re 1 6\n");
  EXPECT_TRUE(read().abis.empty());
  tree.file("usr/local/lib/libibverbs/libbnxt_re-rdmav34.so", "bnxt_re 1 1\n");
  EXPECT_EQ(read().abis.size(), 1u);
  tree.file(folder + "libbnxt_re-rdmav34.so", "");
  EXPECT_TRUE(read().abis.empty()) << "not readable";
}

TEST(RdmaSoftware, LinesOfModprobe) {
  const auto text = [](std::string_view line) {
    const auto rule = host::parse_module_rule(line);
    if (!rule) return std::string();
    return rule->module + (rule->refuses ? " refused: " : ": ") + rule->text;
  };
  EXPECT_EQ(text("  blacklist\tionic-rdma"), "ionic_rdma: blacklist ionic-rdma");
  EXPECT_EQ(text("install irdma /bin/false # no"), "irdma refused: install irdma /bin/false");
  for (const char* line : {"# blacklist irdma", "blacklist nouveau", "install irdma /sbin/modprobe -i irdma",
                           "blacklist", "options irdma roce_ena=1", "alias x irdma", ""})
    EXPECT_EQ(text(line), "") << line;
}

TEST(RdmaSoftware, FilesOfModules) {
  EXPECT_EQ(
      host::parse_module_files("kernel/a/ib-core.ko:\nupdates/dkms/mlx5_ib.ko.xz: kernel/a/ib-core.ko\n\n:\nx.koala\n"),
      (std::set<std::string>{"ib_core", "mlx5_ib"}));
}

TEST(RdmaSoftware, RulesAboutTheModulesOfNicsWithoutRdma) {
  Tree tree;
  tree.file("etc/modprobe.d/a.conf", "\nblacklist ionic_rdma\nblacklist irdma\n");
  tree.file("usr/lib/modprobe.d/a.conf", "install ionic_rdma /bin/true\n");  // hidden by the other
  tree.file("usr/lib/modprobe.d/b.conf", "install ionic_rdma /bin/true\n")
      .file("etc/modprobe.d/c.txt", "blacklist ionic_rdma\n");
  Topology topology;
  Nic& nic = topology.nics.emplace_back();
  nic.pci = "0000:17:00.0";
  nic.vendor = 0x1dd8, nic.device = 0x1002;
  tree.link("sys/bus/pci/devices/0000:17:00.0/driver", "../../drivers/ionic");
  tree.file("sys/bus/pci/drivers/ionic/bind", "");
  const auto rules = [&](const std::vector<std::string>& options = {}) {
    std::string out;
    for (const ModuleRule& each : host::read_module_rules(tree.root(), topology, options))
      out += each.where.text() + (each.refuses ? "! " : ": ") + each.text + "\n";
    return out;
  };
  EXPECT_EQ(rules(),
            "/etc/modprobe.d/a.conf:2: blacklist ionic_rdma\n"
            "/usr/lib/modprobe.d/b.conf:1! install ionic_rdma /bin/true\n");
  EXPECT_TRUE(rules({"module_blacklist=nouveau,ionic_rdma"}).starts_with("the kernel command line! module_blacklist="));
  tree.file("proc/sys/kernel/osrelease", "6.18.5\n");
  EXPECT_FALSE(has(rules(), "/lib/modules")) << "its list of modules is not here";
  tree.file("lib/modules/6.18.5/modules.dep", "kernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko.zst: kernel/a/b.ko.zst\n");
  EXPECT_TRUE(rules().ends_with("/lib/modules/6.18.5! \n")) << rules();
  tree.file("lib/modules/6.18.5/modules.builtin", "kernel/drivers/infiniband/hw/ionic/ionic-rdma.ko\n");
  EXPECT_FALSE(has(rules(), "/lib/modules")) << "built in";
  nic.rdma = {"ionic_0"};
  EXPECT_EQ(rules(), "");
}

TEST(RdmaSoftware, AModuleOfGpusWithoutADriverThatTheKernelLacks) {
  Tree tree;
  Topology topology;
  Gpu& gpu = topology.gpus.emplace_back();
  gpu.pci = "0000:13:00.0";
  gpu.vendor = kNvidia;
  tree.file("proc/sys/kernel/osrelease", "6.14.0\n");
  tree.file("lib/modules/6.14.0/modules.dep", "kernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko.zst:\n");
  const auto rules = host::read_module_rules(tree.root(), topology, {});
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_TRUE(rules[0].module == "nvidia" && rules[0].text.empty());
  tree.file("sys/bus/pci/drivers/nvidia/bind", "");
  tree.link("sys/bus/pci/devices/0000:13:00.0/driver", "../../drivers/nvidia");
  EXPECT_TRUE(host::read_module_rules(tree.root(), topology, {}).empty());
}

TEST(RdmaSoftware, NothingHasLoadedTheModuleForTheFabricManager) {
  Tree tree;
  Topology topology;
  topology.nics.emplace_back().rdma = {"mlx5_8"};
  const auto modules = [&] {
    std::string out;
    for (const ModuleRule& each : host::read_module_rules(tree.root(), topology, {})) out += each.module + "\n";
    return out;
  };
  tree.file("proc/modules", "ib_umad_x 1 0 - Live 0x0\nmlx5_ib 1 0 - Live 0x0\n");
  EXPECT_EQ(modules(), "") << "no NVSwitches";
  topology.nics[0].role = FunctionRole::nvlink_management;
  EXPECT_EQ(modules(), "ib_umad\n");
  tree.folder("sys/class/infiniband_mad");
  EXPECT_EQ(modules(), "") << "built into the kernel";
  tree.remove("sys/class/infiniband_mad").file("proc/modules", "ib_umad 1 0 - Live 0x0\n");
  EXPECT_EQ(modules(), "");
  tree.remove("proc/modules");
  EXPECT_EQ(modules(), "") << "unknown";
}

TEST(RdmaSoftware, AContainerWithoutAnyDeviceFile) {
  Tree tree;
  tree.file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n").folder("sys/class/infiniband");
  EXPECT_FALSE(host::lacks_verbs(Kernel{.root = tree.root()}, false)) << "/dev of a captured host";
  EXPECT_TRUE(host::lacks_verbs(Kernel{.root = tree.root()}, true));
  // A capture without the question does not know.
  const auto tape = [](auto answer) {
    auto out = std::make_shared<Tape>(true);
    if constexpr (!std::is_same_v<decltype(answer), std::nullptr_t>)
      out->note(Ask::query, "mode of /dev/infiniband/uverbs0", answer);
    return out;
  };
  EXPECT_FALSE(host::lacks_verbs(Kernel{.root = tree.root(), .tape = tape(nullptr)}, true));
  EXPECT_TRUE(
      host::lacks_verbs(Kernel{.root = tree.root(), .tape = tape(error(ENOENT, "/dev/infiniband/uverbs0"))}, true));
  EXPECT_FALSE(
      host::lacks_verbs(Kernel{.root = tree.root(), .tape = tape(error(EMFILE, "/dev/infiniband/uverbs0"))}, true));
  tree.file("dev/infiniband/uverbs0", "");
  EXPECT_FALSE(host::lacks_verbs(Kernel{.root = tree.root()}, true));
  EXPECT_FALSE(host::lacks_verbs(Kernel{.root = tree.root(), .tape = tape(nullptr)}, true))
      << "a tree that was put together";
}

TEST(RdmaSoftware, NothingHasLoadedTheModuleForVerbs) {
  Tree tree;
  tree.file("proc/modules", "mlx5_ib 1 0 - Live 0x0\nib_core 1 1 mlx5_ib, Live 0x0\n");
  EXPECT_FALSE(host::lacks_verbs(Kernel{.root = tree.root()}, false)) << "no RDMA device";
  tree.folder("sys/class/infiniband");
  EXPECT_TRUE(host::lacks_verbs(Kernel{.root = tree.root()}, false));
  tree.file("proc/modules", "nvidia 1 0 - Live 0x0\n");
  EXPECT_FALSE(host::lacks_verbs(Kernel{.root = tree.root()}, false)) << "RDMA is built in";
  tree.file("proc/modules", "ib_uverbs 1 0 - Live 0x0\nib_core 1 1 ib_uverbs, Live 0x0\n");
  EXPECT_FALSE(host::lacks_verbs(Kernel{.root = tree.root()}, false));
  tree.file("proc/modules", "ib_core 1 0 - Live 0x0\n").folder("sys/class/infiniband_verbs");
  EXPECT_FALSE(host::lacks_verbs(Kernel{.root = tree.root()}, false)) << "ib_uverbs is built in";
}

TEST(RdmaSoftware, DeviceFilesOfVerbs) {
  Tree tree;
  for (const std::string name : {"uverbs0", "uverbs1"})
    tree.file("sys/class/infiniband_verbs/" + name + "/ibdev", "mlx5_" + name.substr(6) + "\n");
  tree.file("dev/infiniband/uverbs0", "");
  const auto files = host::read_verbs_files(Kernel{.root = tree.root()});
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files.at("mlx5_0").name, "uverbs0");
  EXPECT_EQ(files.at("mlx5_0").mode & 0600u, 0600u);
}

TEST(RdmaSoftware, TheModuleForTheConnectionManager) {
  Tree tree;
  const auto read = [&](bool has_verbs_files = true) {
    return host::read_rdma_cm(Kernel{tree.root()}, has_verbs_files);
  };
  EXPECT_EQ(read(), RdmaCm{}) << "unknown";
  tree.file("proc/modules", "ib_uverbs 1 0 - Live 0x0\nib_core 1 1 ib_uverbs, Live 0x0\n");
  EXPECT_EQ(read(), (RdmaCm{.is_loaded = false}));
  tree.file("usr/lib/modules-load.d/x.conf", "# rdma_ucm\nib_iser\n");
  EXPECT_EQ(read().wanted_by, "");
  tree.file("usr/lib/modules-load.d/y.conf", "rdma_ucm\n");
  EXPECT_EQ(read().wanted_by, "/usr/lib/modules-load.d/y.conf");
  tree.link("etc/modules-load.d/y.conf", "/dev/null");
  EXPECT_EQ(read().wanted_by, "") << "switched off";
  tree.file("etc/rdma/modules/rdma.conf", "# comment\nib_iser\n\n rdma_ucm\n");
  EXPECT_EQ(read().wanted_by, "/etc/rdma/modules/rdma.conf");
  tree.file("proc/modules", "ib_uverbs 1 0 - Live 0x0\n");
  EXPECT_TRUE(read().is_loaded) << "RDMA is built in";
  tree.file("proc/modules", "rdma_ucm 1 0 - Live 0x0\nib_core 1 1 - Live 0x0\n");
  EXPECT_EQ(read(), RdmaCm{}) << "no class of its device: unknown";
  tree.folder("sys/class/misc/rdma_cm");
  EXPECT_EQ(read(), (RdmaCm{.has_file = false})) << "a container with files of verbs alone";
  EXPECT_EQ(read(false), RdmaCm{}) << "a container without RDMA";
  tree.file("dev/infiniband/rdma_cm", "");
  EXPECT_EQ(read(), RdmaCm{});
  tree.file("proc/modules", "ib_core 1 1 - Live 0x0\n");
  EXPECT_TRUE(read().is_loaded) << "built in";
}

TEST(RdmaSoftware, LoadedModulesOfNicsWithoutRdma) {
  Tree tree;
  Topology topology;
  Nic& nic = topology.nics.emplace_back();
  nic.pci = "0000:31:00.0";
  nic.vendor = 0x8086, nic.device = 0x1592;
  tree.link("sys/bus/pci/devices/0000:31:00.0/driver", "../../drivers/ice");
  tree.file("sys/bus/pci/drivers/ice/bind", "");
  EXPECT_EQ(host::read_loaded_modules(tree.root(), topology), (std::set<std::string>{}));
  tree.folder("sys/module/irdma");
  EXPECT_EQ(host::read_loaded_modules(tree.root(), topology), (std::set<std::string>{"irdma"}));
  nic.rdma = {"rocep49s0"};
  EXPECT_EQ(host::read_loaded_modules(tree.root(), topology), (std::set<std::string>{}));
}

TEST(HostServices, AnUnitOfAScheduler) {
  Tree tree;
  add_process(tree, 1310, "spurd", "/system.slice/spurd.service", "8388608 8388608");
  const host::Services services = host::read_services(tree.root());
  ASSERT_NE(find(services, "spurd.service"), nullptr);
  EXPECT_EQ(find(services, "spurd.service")->role, JobRole::batch);
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

// In included files the last value wins; files that include each other in a circle are read once each.
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

// A captured tree may have a file that names others, or itself, in each line.
TEST(SlurmLimits, AFileIsReadOnceHoweverOftenItIsNamed) {
  std::string same, others;
  for (int i = 0; i < 10'000; ++i) {
    same += "Include a\n";
    others += "Include f" + std::to_string(i) + "\n";
  }
  for (const auto& [text, most] : {std::pair(same, 1), std::pair(others, 32)}) {
    int read = 0;
    const auto count = [&, &all = text](const std::string&) {
      ++read;
      return Result<std::string>(all);
    };
    (void)host::parse_slurm_limits(text, "/etc/slurm/slurm.conf", count);
    EXPECT_EQ(read, most);
  }
  int missing = 0;
  const auto none = [&](const std::string& name) {
    ++missing;
    return Result<std::string>(error(ENOENT, name));
  };
  (void)host::parse_slurm_limits(others, "/etc/slurm/slurm.conf", none);
  EXPECT_EQ(missing, 32);
  size_t longest = 0;
  const auto size_of = [&](const std::string& name) {
    longest = std::max(longest, name.size());
    return Result<std::string>(error(ENOENT, name));
  };
  const std::string cluster = "ClusterName=" + std::string(500'000, 'x') + "\n";
  (void)host::parse_slurm_limits(cluster + "Include %c\n", "/etc/slurm/slurm.conf", size_of);
  EXPECT_LT(longest, 1000u);
}

TEST(HostCpuFacts, AlikeCpusStandTogether) {
  Tree tree;
  tree.file("proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
            "model name\t: Intel(R) Xeon(R) Platinum 8480C\n\nprocessor\t: 1\ncpu family\t: 7\nmodel\t\t: 1\n" +
                std::string(2'000'000, 'x'));  // of a machine with a thousand CPUs
  tree.file("sys/devices/system/cpu/online", "0-3,6\n")
      .file("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
  for (const unsigned cpu : {0u, 1u, 2u}) add_cpu(tree, cpu, "performance", "1");
  add_cpu(tree, 3, "powersave", "0");
  tree.folder("sys/devices/system/cpu/cpu6");
  const HostCpu cpu = host::read_cpu(tree.root(), host::read_cpuinfo(tree.root()));
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.model, "Intel(R) Xeon(R) Platinum 8480C");
  EXPECT_EQ(cpu.family, 6U);
  EXPECT_EQ(cpu.model_number, 143U);
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

TEST(HostCpuFacts, CpusThatAreOfflineHaveTheirNode) {
  Tree tree;
  const std::string cpus = "sys/devices/system/cpu/";
  tree.file(cpus + "present", "0-7\n").file(cpus + "online", "0-3\n");
  for (const char* cpu : {"4", "5", "6", "7"}) tree.folder(cpus + "cpu" + cpu + "/node" + (*cpu == '4' ? "0" : "1"));
  tree.file("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  tree.file("sys/bus/pci/devices/0000:1b:00.0/numa_node", "0\n");
  Topology topology;
  topology.numa_cpus = {{0, "0-3"}};
  for (const char* pci : {"0000:1b:00.0", "0000:3b:00.0"}) {
    Gpu gpu;
    gpu.pci = pci;
    topology.gpus.push_back(gpu);
  }
  const auto offline = host::read_offline_cpus(tree.root(), topology);
  ASSERT_EQ(offline.size(), 2u);
  EXPECT_EQ(offline[0].cpus, "4");
  EXPECT_TRUE(offline[0].devices.empty()) << "node 0 has CPUs online";
  EXPECT_EQ(offline[1].node, 1);
  EXPECT_EQ(offline[1].cpus, "5-7");
  EXPECT_EQ(offline[1].count, 3u);
  EXPECT_EQ(offline[1].devices, std::vector<std::string>{"0000:3b:00.0"});
  tree.file(cpus + "online", "0-7\n");
  EXPECT_TRUE(host::read_offline_cpus(tree.root(), topology).empty());
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

// A cloud marks its real machines, too.
TEST(HostCpuFacts, ACloudIsKnownByItsFirmware) {
  const auto cloud = [](const std::string& tag, const std::string& vendor) {
    Tree tree;
    tree.folder("sys/bus/pci/devices").file("sys/class/dmi/id/sys_vendor", vendor + "\n");
    tree.file("sys/class/dmi/id/chassis_asset_tag", tag + "\n");
    return test::topology_of(tree).cloud;
  };
  EXPECT_EQ(cloud("OracleCloud.com", "Oracle Corporation"), "Oracle Cloud");
  EXPECT_EQ(cloud("", "Google"), "Google Cloud");
  EXPECT_EQ(cloud("rack 7", "Oracle Corporation"), "") << "a server that Oracle sold";
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
  add_irq(tree, pci, 103, "40", "");  // no driver has requested it
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

// -- The platform

// The format of drivers/pci/pcie/aer.c.
constexpr const char* kCorrectable =
    "RxErr 0\nBadTLP 3\nBadDLLP 0\nRollover 0\nTimeout 1\nNonFatalErr 0\nCorrIntErr 0\nHeaderOF 0\nTOTAL_ERR_COR 4\n";
constexpr const char* kFatal =
    "Undefined 0\nDLP 1\nSDES 0\nTLP 0\nFCP 0\nCmpltTO 0\nCmpltAbrt 0\nUnxCmplt 0\nRxOF 0\nMalfTLP 0\nECRC 0\nUnsupReq "
    "0\n"
    "ACSViol 0\nUncorrIntErr 0\nBlockedTLP 0\nAtomicOpBlocked 0\nTLPBlockedErr 0\nPoisonTLPBlocked 0\nTOTAL_ERR_FATAL "
    "1\n";

TEST(Aer, KindsThatHappenedAndTheTotal) {
  EXPECT_EQ(platform::parse_aer(kCorrectable), (AerCounts{4, {{"BadTLP", 3}, {"Timeout", 1}}}));
  EXPECT_EQ(platform::parse_aer(kFatal), (AerCounts{1, {{"DLP", 1}}}));
  EXPECT_EQ(platform::parse_aer("TOTAL_ERR_COR 0\n"), (AerCounts{0, {}}));
  EXPECT_EQ(platform::parse_aer("RxErr 2\nBad"), (AerCounts{{}, {{"RxErr", 2}}})) << "cut short: no total";
}

TEST(Aer, NonsenseIsPassedOver) {
  EXPECT_EQ(platform::parse_aer(""), AerCounts{});
  EXPECT_EQ(
      platform::parse_aer("N/A\nBadTLP\nBadTLP -1\nBadTLP 1 2\nBad/../TLP 4\nTOTAL_ERR_COR 99999999999999999999999\n"),
      AerCounts{});
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "Kind" + std::to_string(i) + " 1\n";
  EXPECT_EQ(platform::parse_aer(many).kinds.size(), 64u);
}

// An H100's: BAR0 16 MiB, BAR2 128 GiB, BAR4 32 MiB (64-bit ones leave every second line empty).
constexpr const char* kResource =
    "0x00000000b6000000 0x00000000b6ffffff 0x0000000000040200\n"
    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    "0x000021a000000000 0x000021bfffffffff 0x000000000014220c\n"
    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    "0x000021c042000000 0x000021c043ffffff 0x000000000014220c\n"
    "0x0000000000003000 0x000000000000307f 0x0000000000040101\n"
    "0x00000000fff00000 0x00000000ffffffff 0x0000000000042200\n";

TEST(Bars, SizesAndKinds) {
  EXPECT_EQ(platform::parse_bars(kResource),
            (std::vector<Bar>{{0, 16u << 20, false}, {2, uint64_t{128} << 30, true}, {4, 32u << 20, true}}));
  EXPECT_TRUE(platform::parse_bars("").empty());
  EXPECT_TRUE(platform::parse_bars("0x10 0x1 0x200\nx y z\n0x0 0xffffffffffffffff 0x2200\n0x1 0x2\n").empty());
  EXPECT_TRUE(platform::parse_bars(std::string(100'000, '\n') + kResource).empty()) << "no BAR has number 100,000";
}

TEST(CommandLine, WordsAboutIommuAndPci) {
  EXPECT_EQ(platform::parse_command_line("BOOT_IMAGE=/vmlinuz root=/dev/sda1 intel_iommu=on iommu=pt pci=realloc=on "
                                         "iommu.strict=0 quiet password=iommu=secret\n"),
            (std::vector<std::string>{"intel_iommu=on", "iommu=pt", "pci=realloc=on", "iommu.strict=0"}));
  EXPECT_TRUE(platform::parse_command_line("pci=" + std::string(5000, 'x')).empty());
  EXPECT_EQ(
      platform::parse_command_line(
          "\"intel_iommu=on\" dyndbg=\"file drivers/usb/* +p; iommu=off\" pci=\"nommconf\" iommu=\"pt\" -- iommu=soft"),
      (std::vector<std::string>{"intel_iommu=on", "pci=nommconf", "iommu=pt"}));
  EXPECT_EQ(platform::parse_command_line("iommu=pt \"amd_iommu=on quiet"), (std::vector<std::string>{"iommu=pt"}))
      << "a quote left open: one parameter with blanks, which none of these has";
}

TEST(NvidiaVersion, OpenOrClosed) {
  const auto parsed = [](const char* text) {
    const auto driver = platform::parse_nvidia_version(text);
    if (!driver) return std::string("none");
    return driver->version + (driver->open ? " open" : " closed");
  };
  EXPECT_EQ(parsed("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"
                   "GCC version:  gcc version 12.2.0\n"),
            "535.129.03 closed");
  EXPECT_EQ(parsed("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  "
                   "(dvs-builder@U22)\n"),
            "570.86.15 open");
  for (const char* none : {"", "NVRM version: \n12.1", "12.1 Open Kernel Module"}) EXPECT_EQ(parsed(none), "none");
}

TEST(KernelConfig, OptionsByTheirWholeName) {
  constexpr std::string_view kConfig =
      "CONFIG_PCI_P2PDMA_X=y\nCONFIG_PCI_P2PDMA=y\n# CONFIG_DMABUF_MOVE_NOTIFY is not set\nCONFIG_A=\"y\"";
  EXPECT_EQ(platform::parse_kernel_option(kConfig, "CONFIG_PCI_P2PDMA"), true);
  EXPECT_EQ(platform::parse_kernel_option(kConfig, "CONFIG_DMABUF_MOVE_NOTIFY"), false);
  EXPECT_EQ(platform::parse_kernel_option(kConfig, "CONFIG_A"), false);
  EXPECT_EQ(platform::parse_kernel_option(kConfig, "CONFIG_B"), std::nullopt);
}

constexpr const char *kPort = "0000:20:01.0", *kGpu = "0000:21:00.0", *kNicPort = "0000:20:02.0",
                     *kNic = "0000:22:00.0";

// A GPU and a NIC, each on its root port.
void add_machine(Tree& tree) {
  tree.file("sys/devices/system/node/node0/cpulist", "0-7\n");
  const auto port = add_pci(tree, {"pci0000:20", kPort, "0x8086", "0x352a", "0x060400", "0"});
  const auto gpu = add_pci(tree, {std::string("pci0000:20/") + kPort, kGpu, "0x10de", "0x2330", "0x030200", "0"});
  add_pci(tree, {"pci0000:20", kNicPort, "0x8086", "0x352b", "0x060400", "0"});
  const auto nic = add_pci(tree, {std::string("pci0000:20/") + kNicPort, kNic, "0x15b3", "0x1021", "0x020000", "0"});
  tree.file(port + "/current_link_speed", "32.0 GT/s PCIe\n").file(port + "/current_link_width", "16\n");
  tree.file(port + "/max_link_speed", "32.0 GT/s PCIe\n").file(port + "/max_link_width", "16\n");
  tree.file(gpu + "/power_state", "D0\n").file(gpu + "/power/control", "on\n");
  tree.file(gpu + "/resource", kResource).file(gpu + "/resource2_resize", "000000000003ff00\n");
  tree.file(nic + "/aer_dev_correctable", kCorrectable).file(nic + "/aer_dev_fatal", kFatal);
  tree.file(nic + "/link/l1_aspm", "1\n");
  tree.folder("sys/bus/pci/drivers/mlx5_core").link(nic + "/driver", "../../../../bus/pci/drivers/mlx5_core");
  tree.file("sys/kernel/iommu_groups/37/type", "identity\n")
      .link(nic + "/iommu_group", "../../../../kernel/iommu_groups/37");
  tree.folder("sys/class/iommu/dmar0");
  tree.file("proc/cmdline", "BOOT_IMAGE=/vmlinuz intel_iommu=on iommu=pt\n");
  tree.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  tree.file("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release\n");
  tree.folder("sys/module/nvidia_peermem").folder("sys/kernel/mm/memory_peers/nv_mem");
  tree.file("proc/sys/kernel/osrelease", "6.1.0-28-amd64\n")
      .file("boot/config-6.1.0-28-amd64", "CONFIG_PCI_P2PDMA=y\n");
}

struct PlatformOf : testing::Test {
  PlatformOf() { add_machine(tree); }
  Node scanned(const ScanOptions& options = {}) const {
    Kernel kernel = std::move(open_kernel(tree.path())).value();
    return scan(kernel, options);
  }
  Tree tree;
};

TEST_F(PlatformOf, ACapturedMachine) {
  const Node node = scanned();
  const Platform& has = node.platform;
  ASSERT_EQ(has.functions.size(), 3u) << "nothing is published about the NIC's root port";
  EXPECT_EQ(has.functions.at(kPort).link, (PcieLink{32, 32, 16, 16}));
  const PlatformFunction& gpu = has.functions.at(kGpu);
  EXPECT_EQ(gpu.power_state, "D0");
  EXPECT_EQ(gpu.power_control, "on");
  EXPECT_FALSE(gpu.link_sleeps);
  ASSERT_EQ(gpu.bars.size(), 3u);
  EXPECT_EQ(gpu.bars[1].resizable, 0x3ff00u);
  EXPECT_EQ(gpu.bars[2].resizable, std::nullopt);
  EXPECT_EQ(gpu.correctable.total, std::nullopt);
  const PlatformFunction& nic = has.functions.at(kNic);
  EXPECT_EQ(nic.link_sleeps, true);
  EXPECT_EQ(nic.kernel_driver, "mlx5_core");
  EXPECT_EQ(nic.iommu_group, "37");
  EXPECT_EQ(nic.correctable.total, 4u);
  EXPECT_EQ(nic.fatal.kinds.at("DLP"), 1u);
  EXPECT_TRUE(nic.bars.empty());
  EXPECT_EQ(has.iommu_groups, (std::map<std::string, std::string>{{"37", "identity"}}));
  EXPECT_EQ(has.iommu, true);
  EXPECT_EQ(has.command_line, (std::vector<std::string>{"intel_iommu=on", "iommu=pt"}));
  GpuDirect expected{"570.86.15", true, {"nvidia_peermem"}, {"nv_mem"}, false, true, false};
  EXPECT_EQ(has.gpudirect, expected);
  EXPECT_FALSE(node.pci_settings);
}

TEST_F(PlatformOf, WhatWasPublishedOfConfigurationSpace) {
  PciState state{"2026-01-01T00:00:00Z", {}};
  state.functions[kNic] = {4096, 512, true, {}, "", true};
  ASSERT_TRUE(state::save_pci_state(tree.path(), state).ok());
  EXPECT_EQ(scanned().pci_settings, state);
  tree.file("run/fabric-agent/pci.json", "{\"functions\":[");
  const Node node = scanned();
  EXPECT_FALSE(node.pci_settings);
  ASSERT_FALSE(node.unseen.empty());
  EXPECT_TRUE(has(node.unseen.back(), "pci.json: "));
}

// The configuration of kernels that always have the feature does not mention it.
TEST_F(PlatformOf, AnOptionThatIsGoneIsNotMissing) {
  tree.file("proc/sys/kernel/osrelease", "7.1.0-5-amd64\n").file("boot/config-7.1.0-5-amd64", "CONFIG_PCI_P2PDMA=y\n");
  EXPECT_EQ(scanned().platform.gpudirect.dmabuf_move_notify, std::nullopt);
  tree.file("boot/config-7.1.0-5-amd64", "CONFIG_PCI_P2PDMA=y\n# CONFIG_DMABUF_MOVE_NOTIFY is not set\n");
  EXPECT_EQ(scanned().platform.gpudirect.dmabuf_move_notify, false);
}

TEST_F(PlatformOf, TheConfigurationThatOnlyTheKernelHas) {
  tree.file("proc/sys/kernel/osrelease", "6.18.15-talos\n");
  EXPECT_EQ(scanned().platform.gpudirect.pci_p2pdma, std::nullopt);
  tree.file("proc/config.gz", "\x1f\x8b damaged, and longer than a header");
  EXPECT_EQ(scanned().platform.gpudirect.pci_p2pdma, std::nullopt);
  tree.file("proc/config.gz", "# options in use\nCONFIG_PCI_P2PDMA=y\n");  // of a captured tree
  EXPECT_EQ(scanned().platform.gpudirect.pci_p2pdma, true);
  EXPECT_EQ(scanned().platform.gpudirect.dmabuf_move_notify, false);
  tree.remove("proc/sys/kernel/osrelease");
  EXPECT_EQ(scanned().platform.gpudirect.pci_p2pdma, true);
  EXPECT_EQ(scanned().platform.gpudirect.dmabuf_move_notify, std::nullopt) << "later kernels have no such option";
}

// arm_smmu_attach_dev_identity() before Linux 6.11; NVIDIA's kernels of 6.8 have the change from the build after 1010.
TEST_F(PlatformOf, AnIdentityDomainWithoutPasids) {
  const auto takes_no_pasid = [&] { return scanned().platform.identity_without_pasid; };
  EXPECT_FALSE(takes_no_pasid()) << "an IOMMU of Intel";
  tree.folder("sys/class/iommu/smmu3.0x0000000011000000");
  for (const char* release : {"6.1.0-28-arm64", "6.8.0-1010-nvidia-64k", "6.10.3", "6.8.0-60-generic"}) {
    tree.file("proc/sys/kernel/osrelease", std::string(release) + "\n");
    EXPECT_TRUE(takes_no_pasid()) << release;
  }
  for (const char* release : {"6.11.0-1007-generic", "7.0.0", "6.8.0-1013-nvidia-64k", "6.5.0-1019-nvidia-64k",
                              "5.14.0-570.el9_6.aarch64+64k", "nonsense", "6", "6.x.1"}) {
    tree.file("proc/sys/kernel/osrelease", std::string(release) + "\n");
    EXPECT_FALSE(takes_no_pasid()) << release;
  }
}

TEST_F(PlatformOf, TheProviderOfEfa) {
  const auto pci =
      add_pci(tree, {std::string("pci0000:20/") + kPort, "0000:25:00.0", "0x1d0f", "0xefa1", "0x020000", "0"});
  tree.file(pci + "/p2p", "\n");
  EXPECT_EQ(scanned().platform.gpudirect.memory_peers, (std::vector<std::string>{"nv_mem"}));
  tree.file(pci + "/p2p", "NVIDIA peermem\n");
  EXPECT_EQ(scanned().platform.gpudirect.memory_peers, (std::vector<std::string>{"nv_mem", "NVIDIA peermem"}));
}

TEST_F(PlatformOf, ASleepingGpuIsNotWoken) {
  tree.file("sys/devices/pci0000:20/0000:20:01.0/0000:21:00.0/power_state", "D3cold\n");
  const Node node = scanned();
  EXPECT_EQ(node.platform.functions.at(kGpu).bars.at(1).resizable, std::nullopt);
}

// One broken file takes nothing else down.
TEST_F(PlatformOf, ATreeOfNonsense) {
  const std::string gpu = "sys/devices/pci0000:20/0000:20:01.0/0000:21:00.0",
                    nic = "sys/devices/pci0000:20/0000:20:02.0/0000:22:00.0";
  tree.file(nic + "/aer_dev_correctable", std::string(2u << 20, '1'))
      .file(nic + "/aer_dev_fatal", std::string("DLP \0 1\n", 8));
  tree.remove(nic + "/iommu_group").link(nic + "/iommu_group", "iommu_group");
  tree.file(gpu + "/resource", "0xffffffffffffffff 0x0 0x2200\nshort\n")
      .remove(gpu + "/power_state")
      .folder(gpu + "/power_state");
  tree.file("proc/cmdline", std::string(2u << 20, 'i')).file("proc/driver/nvidia/version", "\n\n\n");
  tree.file("proc/sys/kernel/osrelease", "../../etc/passwd\n").file("sys/class/iommu/x", "").remove("sys/class/iommu");
  const Node node = scanned();
  EXPECT_EQ(node.platform.functions.at(kPort).link, (PcieLink{32, 32, 16, 16}));
  EXPECT_EQ(node.platform.functions.at(kNic).correctable, AerCounts{});
  EXPECT_EQ(node.platform.functions.at(kNic).kernel_driver, "mlx5_core");
  EXPECT_EQ(node.platform.functions.at(kNic).iommu_group, "");
  EXPECT_TRUE(node.platform.functions.at(kGpu).bars.empty());
  EXPECT_EQ(node.platform.functions.at(kGpu).power_state, "");
  EXPECT_TRUE(node.platform.command_line.empty());
  EXPECT_EQ(node.platform.gpudirect.nvidia_driver, "");
  EXPECT_EQ(node.platform.gpudirect.pci_p2pdma, std::nullopt);
  EXPECT_EQ(node.platform.iommu, std::nullopt);
}

TEST_F(PlatformOf, IsNotReadWhereNobodyAsks) {
  EXPECT_EQ(scanned({.platform = false}).platform, Platform{});
  EXPECT_EQ(scanned({.topology = false}).platform, Platform{});
}

TEST(Platform, ManyThousandFunctionsAreBounded) {
  Tree tree;
  Topology topology;
  for (int i = 0; i < 4'200; ++i) {
    char address[32];
    std::snprintf(address, sizeof address, "%04x:%02x:00.0", i / 256, i % 256);
    topology.nics.push_back({{.pci = address, .bridges = {"not an address", "../../../etc"}}});
    tree.file(std::string("sys/bus/pci/devices/") + address + "/power_state", "D0\n");
  }
  EXPECT_EQ(platform::read(tree.root(), topology).functions.size(), 4096u);
}

}  // namespace
}  // namespace fabric
