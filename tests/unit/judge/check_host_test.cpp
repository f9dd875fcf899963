// SPDX-License-Identifier: Apache-2.0
// The groups "host" and "platform", and PCIe links: a defect in a healthy node gives its finding and no other; rules
// that do not apply to a host and harmless platforms are silent.
#include "node/services.h"
#include "node/topology.h"
#include "support/planted_defect.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

std::vector<Wanted> saying(const std::string& id, const std::string& subject, Status status, const std::string& says) {
  return {{.id = id, .subject = subject, .status = status, .says = says}};
}

// -- The host

constexpr uint64_t kMiB = uint64_t{1} << 20;

JobService& slurmd(Healthy& node) { return node.now.host->services[1]; }
JobService& containerd(Healthy& node) { return node.now.host->services[0]; }
void set_running(JobService& service, uint64_t bytes) {
  service.processes[0].limits.memlock = ResourceLimit{bytes, bytes};
}
void set_files(JobService& service, uint64_t bytes, const std::string& file, unsigned line) {
  service.memlock = LimitSetting{{bytes, bytes}, {file, line}};
}
void both(JobService& service, uint64_t bytes, const std::string& file, unsigned line) {
  set_running(service, bytes);
  set_files(service, bytes, file, line);
}
// The first `count` queues of the NIC go to the other NUMA node.
void move_queues(Healthy& node, size_t nic, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    node.now.host->interrupts[nic].elsewhere.push_back(
        {120 + i, "mlx5_comp" + std::to_string(i), std::to_string(40 + i)});
}

void limit_users(Healthy& node) {
  node.now.host->user_limits[0].soft = LimitSetting{{65'536, 65'536}, {"/etc/security/limits.conf", 4}};
}

// No scheduler, no containers, no entry for RDMA in limits.conf; a user is logged in.
void start_jobs_in_shells(Healthy& node, const char* session) {
  Host& host = *node.now.host;
  host.user_limits = {{"@audio", LimitSetting{{kNoLimit, kNoLimit}, {"/etc/security/limits.d/audio.conf", 3}}, {}}};
  host.slurm.reset();
  host.services = {{.unit = session, .role = JobRole::session}};
  host.services[0].processes = {{2211, "systemd", {ResourceLimit{8 * kMiB, 8 * kMiB}, {}, {}}}};
}

PlantedDefects memlock_defects() {
  constexpr auto C = Status::critical;
  const std::string drop_in = "/etc/systemd/system/slurmd.service.d/limits.conf";
  return {
      {"package_sets_it", [](Healthy& n) { both(slurmd(n), 64 * 1024, "/usr/lib/systemd/system/slurmd.service", 12); },
       finds("memlock", "slurmd.service", C, "64 KiB|/usr/lib/systemd/system/slurmd.service:12", "",
             "Write /etc/systemd/system/slurmd.service.d/memlock.conf|[Service]|LimitMEMLOCK=infinity")},
      {"system_conf_sets_it", [](Healthy& n) { both(slurmd(n), kMiB, "/etc/systemd/system.conf", 40); },
       finds("memlock", "slurmd.service", C, "1 MiB|/etc/systemd/system.conf:40", "",
             "Write /etc/systemd/system/slurmd.service.d/memlock.conf")},
      {"drop_in_for_all_services",
       [](Healthy& n) { both(slurmd(n), kMiB, "/etc/systemd/system/service.d/70-all.conf", 2); },
       finds("memlock", "slurmd.service", C, "70-all.conf:2", "",
             "Write /etc/systemd/system/slurmd.service.d/memlock.conf")},
      {"drop_in_with_a_late_name",
       [](Healthy& n) { both(slurmd(n), kMiB, "/usr/lib/systemd/system/slurmd.service.d/zz.conf", 2); },
       finds("memlock", "slurmd.service", C, "zz.conf:2", "", "Write /etc/systemd/system/slurmd.service.d/zzz.conf")},
      {"no_file_sets_it",
       [](Healthy& n) {
         set_running(slurmd(n), 8 * kMiB);
         slurmd(n).memlock.reset();
       },
       finds("memlock", "slurmd.service", C, "8 MiB|its unit sets none", "",
             "Write /etc/systemd/system/slurmd.service.d/memlock.conf")},
      {"only_the_hard_limit_is_high",
       [](Healthy& n) {
         slurmd(n).processes[0].limits.memlock = ResourceLimit{8 * kMiB, kNoLimit};
         slurmd(n).memlock.reset();
       },
       finds("memlock", "slurmd.service", C, "8 MiB (hard: unlimited)", "", "memlock.conf")},
      {"instance",
       [](Healthy& n) {
         slurmd(n).unit = "slurmd@n1.service";
         both(slurmd(n), kMiB, "/usr/lib/systemd/system/slurmd@.service", 9);
       },
       finds("memlock", "slurmd@n1.service", C, "1 MiB", "",
             "/etc/systemd/system/slurmd@.service.d/memlock.conf|restart slurmd@n1.service")},
      {"started_by_hand",
       [](Healthy& n) {
         set_running(slurmd(n), kMiB);
         slurmd(n).unit = "slurmd";
         slurmd(n).file.clear();
         slurmd(n).memlock.reset();
       },
       finds("memlock", "slurmd", C, "1 MiB", "", "ulimit -l unlimited")},
      {"one_process_of_two",
       [](Healthy& n) {
         slurmd(n).processes.push_back(slurmd(n).processes[0]);
         slurmd(n).processes[1].pid = 4711;
         slurmd(n).processes[1].limits.memlock = ResourceLimit{kMiB, kMiB};
       },
       finds("memlock", "slurmd.service", C, "1 MiB (slurmd, pid 4711)", "", "restart")},
      {"hidden_process_and_low_files",
       [=](Healthy& n) {
         slurmd(n).processes[0].limits = {};
         set_files(slurmd(n), kMiB, drop_in, 2);
       },
       finds("memlock", "slurmd.service", C, "not readable|1 MiB by", "", drop_in)},
  };
}

void set_open_files(JobService& service, uint64_t soft, uint64_t hard) {
  service.processes[0].limits.nofile = ResourceLimit{soft, hard};
}
void set_open_files_by(JobService& service, uint64_t count, const std::string& file, unsigned line) {
  service.nofile = LimitSetting{{count, count}, {file, line}};
}

PlantedDefects nofile_defects() {
  constexpr auto W = Status::warning;
  const std::string drop_in = "/etc/systemd/system/slurmd.service.d/files.conf";
  return {
      {"drop_in",
       [=](Healthy& n) {
         set_open_files(slurmd(n), 4096, 4096);
         set_open_files_by(slurmd(n), 4096, drop_in, 2);
       },
       finds("nofile", "slurmd.service", W, "4096 (slurmd, pid 812)|4096 by " + drop_in + ":2", "",
             "In " + drop_in + ":2 write LimitNOFILE=131072|daemon-reload|restart slurmd.service")},
      {"old_default", [](Healthy& n) { set_open_files(containerd(n), 1024, 4096); },
       finds("nofile", "containerd.service", W, "1024 (hard: 4096)|its unit sets none", "",
             "containerd.service.d/nofile.conf|LimitNOFILE=1024:524288")},
      {"not_restarted",
       [=](Healthy& n) {
         set_open_files(slurmd(n), 1024, 4096);
         set_open_files_by(slurmd(n), 131'072, drop_in, 2);
       },
       finds("nofile", "slurmd.service", W, "4096|131072 by", "", "systemctl restart slurmd.service")},
      {"lower_at_the_next_start", [=](Healthy& n) { set_open_files_by(slurmd(n), 8192, drop_in, 2); },
       finds("nofile", "slurmd.service", W, "524288|8192 by", "", drop_in + ":2")},
  };
}

// The providers of rdma-core for these NICs and for software devices, by version.
VerbsLibrary& install_providers(Healthy& node, std::map<std::string, std::set<unsigned>> providers) {
  VerbsLibrary& verbs = node.now.host->software.verbs.emplace();
  verbs.folders = {"/usr/lib64/libibverbs"};
  verbs.providers = std::move(providers);
  for (const auto& [name, versions] : verbs.providers) verbs.listed.insert(name);
  return verbs;
}

// The finding is at each device; the first is named.
std::string providers_said(const Healthy& node) {
  const std::vector<std::string> only{"rdma-provider"};
  std::string out;
  for (const Finding& each : run_rules(node.view(), only).findings)
    if (each.subject == "mlx5_0") out = std::string(to_text(each.status)) + ": " + each.observed + "; " + each.expected;
  return out;
}

// The observations of the rule's findings, whatever their status.
std::string listed(const View& view, const char* rule) {
  const std::vector<std::string> only{rule};
  std::string out;
  for (const Finding& each : run_rules(view, only).findings) out += each.observed + "\n";
  return out;
}

TEST(CheckHost, WithoutVerbsNoProgramSeesAnyDevice) {
  Healthy node;
  install_providers(node, {{"mlx5", {34}}});
  EXPECT_EQ(said(node.view(), {"rdma-provider"}), "");
  node.now.lacks_verbs = true;
  const auto found = complaints_of(node.view(), {"rdma-provider"});
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_TRUE(found[0].remedy.starts_with("modprobe ib_uverbs")) << found[0].remedy;
}

TEST(CheckHost, ProgramsThatConnectByRdmaCm) {
  Healthy node;
  EXPECT_FALSE(has(listed(node.view(), "rdma-provider"), "rdma_ucm")) << "it is loaded, or this is unknown";
  node.now.rdma_cm.is_loaded = false;
  EXPECT_EQ(said(node.view(), {"rdma-provider"}), "") << "NCCL needs none";
  EXPECT_TRUE(has(listed(node.view(), "rdma-provider"), "rdma_ucm is not loaded"));
  node.now.rdma_cm.wanted_by = "/etc/rdma/modules/rdma.conf";
  auto found = complaints_of(node.view(), {"rdma-provider"});
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_EQ(found[0].status, Status::warning);
  EXPECT_TRUE(found[0].remedy.starts_with("modprobe rdma_ucm. /etc/rdma/modules/rdma.conf")) << found[0].remedy;
  node.now.has_container_processes = true;
  EXPECT_EQ(said(node.view(), {"rdma-provider"}), "") << "the file of a container's image";
  node.now.rdma_cm = {.has_file = false};
  EXPECT_EQ(said(node.view(), {"rdma-provider"}), "");
  node.now.ports[1].transport = RdmaTransport::iwarp;
  found = complaints_of(node.view(), {"rdma-provider"});
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_TRUE(has(found[0].meaning, node.now.ports[1].rdma + " (iWARP)")) << found[0].meaning;
  EXPECT_TRUE(has(found[0].remedy, "/dev/infiniband/rdma_cm")) << found[0].remedy;
  node.now.rdma_cm = {.is_loaded = false, .wanted_by = "/etc/rdma/modules/rdma.conf"};
  found = complaints_of(node.view(), {"rdma-provider"});
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_TRUE(found[0].remedy.starts_with("On the host: modprobe rdma_ucm")) << found[0].remedy;
  node.now.ports.clear();
  EXPECT_FALSE(has(listed(node.view(), "rdma-provider"), "rdma_cm")) << "no RDMA device";
}

TEST(CheckHost, AMissingProviderNamesTheModuleOnlyIfItIsMissing) {
  Healthy node;
  install_providers(node, {{"efa", {34}}});
  EXPECT_FALSE(has(complaints_of(node.view(), {"rdma-provider"}).at(0).remedy, "rdma_ucm"));
  node.now.rdma_cm.is_loaded = false;
  EXPECT_TRUE(has(complaints_of(node.view(), {"rdma-provider"}).at(0).remedy, "modprobe rdma_ucm"));
}

TEST(CheckHost, ADeviceFileThatOthersMayNotOpen) {
  Healthy node;
  node.now.verbs_files = {{"mlx5_0", {"uverbs0", 0600}}, {"mlx5_1", {"uverbs1", 0600}}};
  EXPECT_EQ(said(node.view(), {"rdma-provider"}), "") << "by the will of the site";
  node.now.verbs_files["mlx5_0"].mode = 0666;
  EXPECT_EQ(said(node.view(), {"rdma-provider"}),
            "rdma-provider mlx5_1 warning: /dev/infiniband/uverbs1 has mode 0600\n");
  node.now.verbs_files["mlx5_1"].mode = 0666;
  EXPECT_EQ(said(node.view(), {"rdma-provider"}), "");
}

// A container with the netdevs of two NICs, and the device file of one.
TEST(CheckHost, ADeviceWhoseNetdevWasGivenAndWhoseFileWasNot) {
  Healthy node;
  node.now.verbs_files = {{"mlx5_0", {"uverbs0", 0666}}};
  EXPECT_EQ(said(node.view(), {"rdma-provider"}), "") << "with the network of the host it sees all netdevs";
  node.now.topology.nics.back().netdev_elsewhere = true;
  EXPECT_NE(said(node.view(), {"rdma-provider"}).find("rdma-provider mlx5_1 warning"), std::string::npos);
  node.now.network.interfaces.at("ens1").routes.push_back({{}, 0, 254, parse_ip("10.1.1.0")});
  EXPECT_EQ(said(node.view(), {"rdma-provider"}).find("mlx5_1"), std::string::npos) << "the network of the pod";
  node.now.network.interfaces.at("ens1").routes.pop_back();
  EXPECT_NE(said(node.view(), {"rdma-provider"}).find("mlx5_1"), std::string::npos);
  for (Gid& gid : node.now.ports[1].gids) gid.netdev.clear();
  EXPECT_EQ(said(node.view(), {"rdma-provider"}).find("mlx5_1"), std::string::npos) << "its netdev is elsewhere";
}

TEST(CheckHost, AContainerHasLimitsAndLibrariesOfItsOwn) {
  Healthy node;
  Host& host = *node.now.host;
  host.services = {{.unit = host::kContainer, .role = JobRole::batch}};
  node.now.has_container_processes = true;
  host.services[0].processes = {{1, "sleep", {ResourceLimit{64 * 1024, 64 * 1024}, {}, {}}}};
  EXPECT_EQ(said(node.view(), {"memlock"}), "") << "it has no RDMA device";
  for (const Port& port : node.now.ports) node.now.verbs_files[port.rdma] = {"uverbs0", 0666};
  const auto found = complaints_of(node.view(), {"memlock"});
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_TRUE(found[0].observed.starts_with("64 KiB (sleep, pid 1)")) << found[0].observed;
  EXPECT_TRUE(test::has(found[0].remedy, "--ulimit memlock=-1")) << found[0].remedy;
  EXPECT_FALSE(test::has(found[0].remedy, "systemctl")) << found[0].remedy;
  host.services[0].processes[0].limits.memlock = ResourceLimit{kNoLimit, kNoLimit};
  EXPECT_EQ(said(node.view(), {"memlock"}), "");

  host.software.verbs.emplace();  // libc without libibverbs
  EXPECT_TRUE(test::has(said(node.view(), {"rdma-provider"}), "no libibverbs.so.1"))
      << said(node.view(), {"rdma-provider"});
  install_providers(node, {{"efa", {34}}, {"rxe", {34}}});
  const auto providers = complaints_of(node.view(), {"rdma-provider"});
  ASSERT_FALSE(providers.empty());
  EXPECT_TRUE(test::has(providers[0].meaning, "programs of this container")) << providers[0].meaning;
  EXPECT_FALSE(test::has(providers[0].remedy, "modprobe")) << providers[0].remedy;
  node.now.verbs_files.clear();
  node.now.lacks_verbs = true;
  EXPECT_TRUE(test::has(said(node.view(), {"rdma-provider"}), "no uverbs file"))
      << said(node.view(), {"rdma-provider"});
  host.services[0].processes[0].limits.memlock = ResourceLimit{64 * 1024, 64 * 1024};
  const auto one = complaints_of(node.view(), {"memlock", "rdma-provider"});
  ASSERT_EQ(one.size(), 1U) << "one cause, one finding: " << describe(one);
  EXPECT_TRUE(test::has(one[0].observed, "no uverbs file in /dev/infiniband, and a memlock limit of 64 KiB"));
  EXPECT_TRUE(test::has(one[0].remedy, "--device") && test::has(one[0].remedy, "--ulimit memlock=-1"));
  node.now.lacks_verbs = false;
  host.software.verbs.emplace();
  host.services.clear();
  node.now.has_container_processes = false;
  EXPECT_EQ(said(node.view(), {"rdma-provider"}), "") << "the programs of a host may all be in containers";
  for (const Port& port : node.now.ports) node.now.verbs_files[port.rdma] = {"uverbs0", 0666};
  node.now.ports[0].role = PortRole::guest_function;
  node.now.ports[0].owner = "0000:17:00.0";
  EXPECT_TRUE(test::has(said(node.view(), {"rdma-provider"}), "no libibverbs.so.1"))
      << "a pod that sees the processes of its host, by its virtual function";
}

TEST(CheckHost, ADeviceNeedsAProviderOfLibibverbsOwnVersion) {
  Healthy node;
  EXPECT_EQ(providers_said(node), "") << "not read";
  install_providers(node, {{"mlx5", {34}}, {"efa", {34}}, {"rxe", {34}}});
  EXPECT_EQ(providers_said(node), "ok: libmlx5-rdmav34.so; a provider for mlx5_core");
  node.now.host->software.verbs->listed.erase("mlx5");
  EXPECT_EQ(providers_said(node),
            "warning: libmlx5-rdmav34.so, and no \"driver mlx5\" in /etc/libibverbs.d; \"driver mlx5\" in "
            "/etc/libibverbs.d");
  node.now.host->software.verbs->listed.clear();
  EXPECT_TRUE(providers_said(node).starts_with("ok")) << "the list is not readable";
  install_providers(node, {{"efa", {34}}, {"rxe", {34}}});
  EXPECT_EQ(providers_said(node), "warning: no provider for mlx5_core in /usr/lib64/libibverbs; libmlx5-rdmav34.so");
  install_providers(node, {{"mlx5", {59}}, {"efa", {34}}, {"rxe", {34}}});
  EXPECT_EQ(providers_said(node),
            "warning: libmlx5-rdmav59.so, while the other providers are -rdmav34; libmlx5-rdmav34.so");
  install_providers(node, {{"mlx5", {34, 59}}, {"efa", {34}}, {"rxe", {34}}});
  EXPECT_TRUE(providers_said(node).starts_with("ok")) << "one of two fits";
  install_providers(node, {{"mlx5", {59}}, {"efa", {34}}, {"rxe", {59}}});
  EXPECT_TRUE(providers_said(node).starts_with("ok")) << "the others differ";
  install_providers(node, {{"mlx5", {59}}});
  EXPECT_TRUE(providers_said(node).starts_with("ok")) << "the only one";
  // The ABI of the driver in the kernel, such as Broadcom's with the provider of the distribution.
  VerbsLibrary& verbs = install_providers(node, {{"mlx5", {34}}, {"efa", {34}}, {"rxe", {34}}});
  verbs.kernel_abis = {{"mlx5_0", 6}};
  EXPECT_EQ(providers_said(node), "") << "what the provider supports is unknown";
  verbs.abis = {{"libmlx5-rdmav34.so", {1, 1}}};
  EXPECT_EQ(providers_said(node), "warning: ABI 6 of mlx5_ib; ABI 1 of libmlx5-rdmav34.so");
  verbs.abis = {{"libmlx5-rdmav34.so", {1, 5}}};
  EXPECT_EQ(providers_said(node), "warning: ABI 6 of mlx5_ib; ABI 1 to 5 of libmlx5-rdmav34.so");
  verbs.abis = {{"libmlx5-rdmav34.so", {1, 6}}};
  EXPECT_TRUE(providers_said(node).starts_with("ok"));
  verbs.abis = {{"libmlx5-rdmav34.so", {7, 8}}};
  EXPECT_TRUE(providers_said(node).starts_with("warning")) << "older than it supports";
  install_providers(node, {{"efa", {34}}});
  for (Port& port : node.now.ports) port.kernel_driver = "bng_en";
  EXPECT_EQ(providers_said(node), "") << "the provider of the driver is unknown";
}

// A driver that is not in Linux: its provider is the one by whose name it or its device is called, else the only one
// that is not rdma-core's.
TEST(CheckHost, TheProviderOfAnUnknownDriverIsFoundByItsName) {
  Healthy node;
  for (Port& port : node.now.ports) port.kernel_driver = "new_nic";
  for (const char* name : {"mlx5_", "new_nic", "other"}) {
    install_providers(node, {{name, {34}}, {"efa", {59}}, {"rxe", {59}}});
    EXPECT_EQ(providers_said(node), "warning: lib" + std::string(name) +
                                        "-rdmav34.so, while the other providers are -rdmav59; lib" + name +
                                        "-rdmav59.so");
    install_providers(node, {{name, {59}}, {"efa", {59}}, {"rxe", {59}}});
    EXPECT_EQ(providers_said(node), "ok: lib" + std::string(name) + "-rdmav59.so; a provider for new_nic");
  }
  install_providers(node, {{"other", {34}}, {"third", {59}}, {"efa", {59}}, {"rxe", {59}}});
  EXPECT_EQ(providers_said(node), "") << "either";
  const std::vector<std::string> only{"rdma-provider"};
  install_providers(node, {{"new_nic", {34}}, {"efa", {59}}, {"rxe", {59}}});
  EXPECT_TRUE(
      has(run_rules(node.view(), only).findings.at(0).remedy, "built for this release of libibverbs (rdmav59)"));
}

PlantedDefects other_defects() {
  constexpr auto W = Status::warning;
  return {
      {"numa_balancing_and_tiering", [](Healthy& n) { n.now.host->numa_balancing = 3; },
       finds("numa-balancing", "host", W, "3 (on)", "", "=0")},
      {"lowest_frequency",
       [](Healthy& n) {
         n.now.host->cpu.frequency_driver = "acpi-cpufreq";
         n.now.host->cpu.frequency = {{"powersave", "performance", "0-63"}};
       },
       finds("governor", "host", W, "powersave", "", "cpupower")},
      {"more_queues_far_away_than_necessary",
       [](Healthy& n) {
         n.now.host->interrupts[2].queues = 40;
         move_queues(n, 2, 9);
       },
       finds("irq-affinity", "mlx5_2", W, "9 of 40 queues", "", "node1")},
      {"hpet_by_choice", [](Healthy& n) { n.now.host->clock.current = "hpet"; },
       finds("clock-source", "host", W, "hpet", "", "echo tsc")},
      {"the_limit_of_a_group",
       [](Healthy& n) {
         n.now.host->user_limits.push_back(
             {"@hpc", LimitSetting{{65'536, 65'536}, {"/etc/security/limits.conf", 5}}, {}});
       },
       finds("limits-conf", "host", W, "@hpc 64 KiB (/etc/security/limits.conf:5)", "", "take the lines out")},
      {"users_limit_without_job_services",
       [](Healthy& n) {
         limit_users(n);
         n.now.host->services.clear();
         n.now.host->slurm.reset();
       },
       finds("limits-conf", "host", W, "64 KiB", "", "memlock unlimited")},
      {"jobs_start_in_shells_with_the_default", [](Healthy& n) { start_jobs_in_shells(n, "user@1000.service"); },
       finds("limits-conf", "host", W, "8 MiB (user@1000.service, pid 2211); no soft limit in limits.conf", "in shells",
             "Write \"* - memlock unlimited\" to /etc/security/limits.d/90-rdma.conf")},
  };
}

PlantedDefects harmless_hosts() {
  return {
      {"stopped_service",
       [](Healthy& n) {
         set_files(slurmd(n), kMiB, "/etc/systemd/system/slurmd.service", 3);
         slurmd(n).processes.clear();
       }},
      {"kubelet_starts_no_containers",
       [](Healthy& n) {
         containerd(n).role = JobRole::forwards;
         both(containerd(n), 8 * kMiB, "/etc/systemd/system/kubelet.service", 3);
       }},
      {"as_much_as_there_is",
       [](Healthy& n) {
         n.now.host->memory = 8 * kMiB;
         n.now.host->huge_pages = {};
         set_running(slurmd(n), 8 * kMiB);
       }},
      {"enough_for_a_process",
       [](Healthy& n) { both(slurmd(n), uint64_t{64} << 30, "/etc/systemd/system/slurmd.service", 3); }},
      {"forwarder_with_few_open_files",
       [](Healthy& n) {
         containerd(n).role = JobRole::forwards;
         set_open_files(containerd(n), 1024, 4096);
       }},
      {"as_many_open_files_as_the_clouds_give", [](Healthy& n) { set_open_files(slurmd(n), 65'535, 65'535); }},
      {"open_files_unknown", [](Healthy& n) { slurmd(n).processes[0].limits.nofile.reset(); }},
      {"hidden_processes",
       [](Healthy& n) {
         n.now.host->processes_hidden = true;
         slurmd(n).processes[0].limits = {};
         set_files(slurmd(n), kMiB, "/etc/systemd/system/slurmd.service", 3);
         set_open_files_by(slurmd(n), 1024, "/etc/systemd/system/slurmd.service", 4);
       }},
      {"users_limit_and_hidden_processes",
       [](Healthy& n) {
         limit_users(n);
         n.now.host->processes_hidden = true;
         n.now.host->services.clear();
         n.now.host->slurm.reset();
       }},
      {"operator_wants_numa_balancing",
       [](Healthy& n) {
         n.now.host->numa_balancing = 1;
         n.policy.sysctl["kernel.numa_balancing"] = "1";
       }},
      {"tiering_only", [](Healthy& n) { n.now.host->numa_balancing = 2; }},
      {"one_numa_node",
       [](Healthy& n) {
         n.now.host->numa_balancing = 1;
         n.now.topology.numa_cpus = {{0, "0-63"}};
         n.now.topology.numa_socket = {{0, 0}};
       }},
      {"hardware_prefers_performance",
       [](Healthy& n) {
         n.now.host->cpu.frequency_driver = "amd-pstate-epp";
         n.now.host->cpu.frequency = {{"powersave", "performance", "0-63"}};
       }},
      {"no_frequency_scaling", [](Healthy& n) { n.now.host->cpu.frequency.clear(); }},
      {"no_deep_states",
       [](Healthy& n) {
         n.now.host->cpu.idle = {{"C1", 1, "0-63"}};
       }},
      {"option_of_the_driver_in_use",
       [](Healthy& n) {
         n.now.host->kernel_options = {"processor.max_cstate=1"};
         n.now.host->cpu.idle = {{"C1", 1, "0-63"}};
       }},
      {"more_queues_than_near_cpus",
       [](Healthy& n) {
         n.now.host->interrupts[1].queues = 63;
         move_queues(n, 1, 31);
       }},
      {"virtual_machine",
       [](Healthy& n) {
         n.now.topology.hypervisor = "QEMU";
         n.now.host->clock = {"acpi_pm", {"acpi_pm"}};
         n.now.host->cpu.frequency = {{"ondemand", "", "0-63"}};
         n.now.host->cpu.idle = {{"C1", 2, "0-31"}, {"C6", 290, "32-63"}};
         move_queues(n, 1, 6);
       }},
      {"arm_clock",
       [](Healthy& n) {
         n.now.host->clock = {"arch_sys_counter", {"arch_sys_counter"}};
       }},
      {"sub_numa_clusters",
       [](Healthy& n) {
         n.now.topology.numa_socket = {{0, 0}, {1, 0}};
       }},
      {"lockdown", [](Healthy& n) { n.now.host->lockdown = "integrity"; }},
      {"slurm_keeps_its_own_limits",
       [](Healthy& n) {
         limit_users(n);
         n.now.host->slurm->propagates_memlock = false;
       }},
      {"entries_of_audio_packages",
       [](Healthy& n) {
         for (const char* group : {"@pipewire", "@jackuser"})
           n.now.host->user_limits.push_back(
               {group,
                LimitSetting{{uint64_t{4} << 30, uint64_t{4} << 30}, {"/etc/security/limits.d/25-pw-rlimits.conf", 5}},
                {}});
       }},
      {"users_limit_where_containers_run",
       [](Healthy& n) {
         limit_users(n);
         n.now.host->services.pop_back();
         n.now.host->slurm.reset();
       }},
      {"root_alone_is_logged_in", [](Healthy& n) { start_jobs_in_shells(n, "user@0.service"); }},
      {"a_display_manager_alone", [](Healthy& n) { start_jobs_in_shells(n, "user@120.service"); }},
      {"a_storage_server_without_entries",
       [](Healthy& n) {
         start_jobs_in_shells(n, "user@1000.service");
         n.now.topology.gpus.clear();
         n.now.platform.gpudirect = {};
       }},
      {"huge_pages_for_guests",
       [](Healthy& n) {
         n.now.host->huge_pages.reserved[uint64_t{1} << 30] = 1900;
         for (const Gpu& gpu : n.now.topology.gpus) n.now.platform.functions.at(gpu.pci).kernel_driver = "vfio-pci";
       }},
      {"nothing_known", [](Healthy& n) { n.now.host = Host{}; }},
      {"not_asked_for", [](Healthy& n) { n.now.host.reset(); }},
  };
}

TEST(HostDefect, GivesItsFindingAlone) {
  for (const PlantedDefects& all : {memlock_defects(), nofile_defects(), other_defects()}) expect_each(all);
}
TEST(HostDefect, HarmlessHostsAreSilent) { expect_each(harmless_hosts()); }

// The host has every defect, and neither RDMA nor a GPU.
TEST(CheckHost, MachinesWithoutRdmaAndGpusAreNotChecked) {
  Healthy node;
  PlantedDefects all = other_defects();
  all.resize(all.size() - 2);  // those take the services away
  for (const PlantedDefect& each : all) each.plant(node);
  node.now.host->cpu.idle = {{"C1E", 2, "0-31"}, {"C6", 290, "32-63"}};
  node.now.host->huge_pages.reserved[uint64_t{1} << 30] = 1500;
  both(slurmd(node), kMiB, "/etc/systemd/system/slurmd.service", 3);
  node.now.topology.gpus.clear();
  node.now.ports.clear();
  node.now.host->interrupts.clear();  // of RDMA ports
  EXPECT_EQ(said(node.view(), {"host"}), "");
}

TEST(CheckHost, MemoryIsShownInGiB) {
  Healthy node;
  node.now.host->huge_pages.reserved[uint64_t{1} << 30] = 1500;
  node.now.host->memory = 2'113'461'612 * uint64_t{1024};  // MemTotal is not a whole number of GiB
  const std::vector<Finding> found = complaints_of(node.view());
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].meaning, "the 2015 GiB of memory")) << found[0].meaning;
}

TEST(CheckHost, SubNumaClustersAreExplained) {
  struct Case {
    const char *vendor, *word;
    std::map<int, int> sockets;
  };
  for (const Case& each :
       std::vector<Case>{{"GenuineIntel", "2 NUMA nodes per package (SNC2): NODE is", {{0, 0}, {1, 0}, {2, 1}, {3, 1}}},
                         {"AuthenticAMD", "2 NUMA nodes per package (NPS2): NODE is", {{0, 0}, {1, 0}}},
                         {"AuthenticAMD", "(L3 cache as NUMA domain)", {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}},
                         {"", "2 NUMA nodes per package: NODE is", {{0, 0}, {1, 0}}},
                         {"GenuineIntel", "1 NUMA node per package", {{0, 0}, {1, 1}}}}) {
    Healthy node;
    node.now.host->cpu.vendor = each.vendor;
    node.now.topology.numa_socket = each.sockets;
    const std::vector<std::string> only{"snc"};
    const Report report = run_rules(node.view(), only);
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].status, Status::ok);
    EXPECT_TRUE(has(report.findings[0].observed, each.word)) << report.findings[0].observed;
  }
}

TEST(HostText, Limits) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(65'536), "64 KiB");
  EXPECT_EQ(bytes_text(1'000), "1000 bytes");
  EXPECT_EQ(bytes_text(uint64_t{3} << 50), "3072 TiB");
  EXPECT_EQ(memory_text({}), "unlimited");
  EXPECT_EQ(memory_text({8 * kMiB, kNoLimit}), "8 MiB (hard: unlimited)");
  EXPECT_EQ(count_text({1024, 524'288}), "1024 (hard: 524288)");
  EXPECT_EQ((FileLine{"/etc/slurm/slurm.conf", 0}).text(), "/etc/slurm/slurm.conf");
}

// -- The platform and PCIe links

constexpr const char *kGpu = "0000:23:00.0", *kNic = "0000:24:00.0", *kBelowGpu = "0000:22:03.0",
                     *kBelowNic = "0000:22:04.0", *kUpstream = "0000:21:00.0",
                     *kRootPort = "0000:20:01.0";  // GPU1 and mlx5_1

PlatformFunction& at(Healthy& node, const std::string& pci) { return node.now.platform.functions.at(pci); }
PciSettings& settings(Healthy& node, const std::string& pci) { return node.now.pci_settings->functions.at(pci); }
void link(Healthy& node, const PcieLink& value) { at(node, kUpstream).link = at(node, kRootPort).link = value; }
void groups(Healthy& node, const std::string& type) {
  for (auto& [number, each] : node.now.platform.iommu_groups) each = type;
}

// The NIC is behind the CPU, and reaches its GPU by a Data Direct function (ConnectX-8 of GB300).
void reach_directly(Healthy& node) {
  Nic& nic = node.now.topology.nics[1];
  nic.direct = nic;
  nic.direct->device = 0x2100;
  nic.root = "pci0002:00";
  nic.bridges = {"0002:02:00.0", "0002:01:00.0", "0002:00:00.0"};
  settings(node, kBelowNic).acs = uint16_t{0x19};
  settings(node, kBelowGpu).acs = uint16_t{0x15};
  at(node, kNic).iommu_group = at(node, kGpu).iommu_group;  // as rdma_topo sets ACS of the root port
}

// Passing devices to virtual machines needs translation, and the NICs of the host serve no GPU.
TEST(Check, AHostWhoseGpusAreAllPassedOnMayTranslate) {
  Healthy node;
  for (auto& [group, type] : node.now.platform.iommu_groups) type = "DMA-FQ";
  EXPECT_EQ(complaints_of(node.view(), {"iommu"}).size(), 1u);
  for (const Gpu& gpu : node.now.topology.gpus) node.now.platform.functions.at(gpu.pci).kernel_driver = "vfio-pci";
  EXPECT_EQ(describe(complaints_of(node.view(), {"iommu"})), "");
  node.now.platform.functions.at(node.now.topology.gpus[0].pci).kernel_driver = "nvidia";
  EXPECT_EQ(complaints_of(node.view(), {"iommu"}).size(), 1u) << "one GPU is the host's";
}

// A workstation: NICs reach no memory of a GeForce, and a link of 25 Gb/s is slower than the IOMMU.
TEST(Check, ASlowNicWithoutAGpuThatItReachesMayBeTranslated) {
  Healthy node;
  for (auto& [group, type] : node.now.platform.iommu_groups) type = "DMA-FQ";
  for (Port& port : node.now.ports) port.rate = 25e9 / 8;
  EXPECT_EQ(complaints_of(node.view(), {"iommu"}).size(), 1u) << "NICs reach these GPUs";
  for (Gpu& gpu : node.now.topology.gpus) gpu.model = "NVIDIA GeForce RTX 4090";
  EXPECT_EQ(said(node.view(), {"iommu"}), "");
  node.now.ports[0].rate = 100e9 / 8;
  EXPECT_EQ(complaints_of(node.view(), {"iommu"}).size(), 1u) << "a fast link";
  node.now.topology.gpus.clear();
  node.now.ports[0].rate = 25e9 / 8;
  EXPECT_EQ(said(node.view(), {"iommu"}), "");
  node.now.ports[0].rate.reset();
  EXPECT_EQ(complaints_of(node.view(), {"iommu"}).size(), 1u) << "a link of unknown speed";
}

// Workstations: without a NIC for them, GPUs reach each other over their root ports.
TEST(Acs, BetweenGpusWithoutANic) {
  const std::vector<std::string> only{"acs"};
  Healthy node;
  node.now.topology.nics.clear();
  node.now.ports.clear();
  node.now.topology.gpus.resize(2);
  for (Gpu& gpu : node.now.topology.gpus) {
    gpu.class_code = 0x030000;
    settings(node, gpu.bridges.back()).acs = uint16_t{0x1d};
  }
  const auto said_of = [&] { return said(node.view(), only); };
  node.now.host->cpu.vendor = "GenuineIntel";
  EXPECT_EQ(said_of(), "") << "NCCL uses no peer-to-peer transfers across the root ports of Intel";
  node.now.host->cpu.vendor = "AuthenticAMD";
  const auto found = complaints_of(node.view(), only);
  ASSERT_EQ(found.size(), 2U) << describe(found);
  EXPECT_EQ(found[0].subject, node.now.topology.gpus[0].bridges.back());
  EXPECT_TRUE(has(found[0].meaning, "GPU0 and GPU1")) << found[0].meaning;
  EXPECT_TRUE(has(found[0].remedy, "setpci -s " + found[0].subject)) << found[0].remedy;
  for (Gpu& gpu : node.now.topology.gpus) gpu.model = "NVIDIA GeForce RTX 4090";
  EXPECT_EQ(said_of(), "") << "these have no peer-to-peer transfers";
  for (Gpu& gpu : node.now.topology.gpus) gpu.class_code = 0x030200, gpu.model = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(said_of(), "") << "these have NVLink";
  for (Gpu& gpu : node.now.topology.gpus) gpu.model = "NVIDIA L40S";
  EXPECT_NE(said_of(), "");
  node.now.pci_settings.reset();
  EXPECT_EQ(said_of(), "");
}

// HGX B300: the NIC itself is at the GPU's switch, and NVIDIA's driver compares no groups.
TEST(Acs, GroupsOfADataDirectFunctionThatIsNoNearer) {
  const auto said_of = [](Healthy& node) {
    std::string out;
    for (const Finding& each : complaints_of(node.view(), {"acs"})) out += each.subject + ": " + each.observed + "\n";
    return out;
  };
  constexpr const char* kDirect = "0000:24:00.1";
  Healthy beside;
  Nic& nic = beside.now.topology.nics[1];
  nic.direct = nic;
  nic.direct->pci = kDirect;
  nic.direct->device = 0x2100;
  beside.now.platform.functions[kDirect] = at(beside, kNic);
  at(beside, kDirect).iommu_group = "97";
  EXPECT_EQ(said_of(beside), "");

  Healthy behind;
  reach_directly(behind);
  EXPECT_EQ(said_of(behind), "");
  at(behind, kNic).iommu_group = "97";
  EXPECT_NE(said_of(behind), "");
  at(behind, kNic).iommu_group.clear();
  EXPECT_EQ(said_of(behind), "") << "unknown";
}

const PlantedDefects& platform_defects() {
  constexpr auto C = Status::critical, W = Status::warning, U = Status::unknown;
  static const PlantedDefects all{
      {"acs_redirects_requests", [](Healthy& n) { settings(n, kBelowNic).acs = uint16_t{0x05}; },
       saying("acs", kBelowNic, W, "SrcValid+ ReqRedir+|GPU1 and mlx5_1")},
      {"acs_redirects_completions", [](Healthy& n) { settings(n, kBelowGpu).acs = uint16_t{0x08}; },
       saying("acs", kBelowGpu, W, "CmpltRedir+|GPU1 and mlx5_1")},
      {"acs_redirects_requests_of_data_direct",
       [](Healthy& n) {
         reach_directly(n);
         settings(n, kBelowNic).acs = uint16_t{0x1d};
       },
       {{.id = "acs",
         .subject = kBelowNic,
         .status = W,
         .observed = "ReqRedir+",
         .remedy = "rdma_topo write-grub-acs"}}},
      {"acs_redirects_completions_to_data_direct",
       [](Healthy& n) {
         reach_directly(n);
         settings(n, kBelowGpu).acs = uint16_t{0x1d};
       },
       {{.id = "acs",
         .subject = kBelowGpu,
         .status = W,
         .observed = "CmpltRedir+",
         .remedy = "rdma_topo write-grub-acs"}}},
      {"data_direct_in_an_iommu_group_of_its_own",
       [](Healthy& n) {
         const std::string group = at(n, kNic).iommu_group;
         reach_directly(n);
         at(n, kNic).iommu_group = group;
       },
       {{.id = "acs",
         .subject = kRootPort,
         .status = W,
         .observed = "Data Direct function 0000:24:00.0 of mlx5_1 in group",
         .meaning = "DMA-BUF",
         .remedy = "rdma_topo write-grub-acs"}}},
      {"acs_of_a_bridge_unread",
       [](Healthy& n) {
         settings(n, kBelowNic).acs.reset();
         settings(n, kBelowNic).unread = "ACS: its extended capability list is damaged";
       },
       saying("acs", "host", U, kBelowNic + std::string("|list is damaged"))},
      {"acs_of_a_new_bridge", [](Healthy& n) { n.now.pci_settings->functions.erase(kBelowNic); },
       saying("acs", "host", U, kBelowNic)},
      {"iommu_translates_for_one_nic", [](Healthy& n) { n.now.platform.iommu_groups[at(n, kNic).iommu_group] = "DMA"; },
       saying("iommu", "host", W, "strict (DMA): mlx5_1|identity")},
      {"damage_received_by_the_port_above",
       [](Healthy& n) {
         *at(n, kBelowNic).correctable.total += 30;
         at(n, kBelowNic).correctable.kinds["RxErr"] += 30;
       },
       saying("aer", kBelowNic, W, "RxErr +30|packets from mlx5_1 (0000:24:00.0) arrive damaged")},
      {"replays",
       [](Healthy& n) {
         *at(n, kUpstream).correctable.total += 40;
         at(n, kUpstream).correctable.kinds["Timeout"] = 40;
       },
       saying("aer", kUpstream, W, "Timeout +40|packets to 0000:20:01.0 are repeated|GPU1, mlx5_1")},
      {"refused_requests",
       [](Healthy& n) {
         at(n, kBelowGpu).nonfatal = {2, {{"ACSViol", 2}}};
       },
       {{.id = "aer",
         .subject = kBelowGpu,
         .status = C,
         .meaning = "the link is sound",
         .remedy = "TLP header|" + std::string(kBelowGpu)}}},
      {"odd_payload", [](Healthy& n) { settings(n, kNic).max_payload = 128; },
       saying("pci-tuning", "mlx5_1", W, "MPS 128|0000:22:04.0 above it: MPS 512|(MPS)")},
      {"link_that_sleeps",
       [](Healthy& n) {
         for (const Nic& nic : n.now.topology.nics) at(n, nic.pci).link_sleeps = false;
         at(n, kNic).link_sleeps = true;
       },
       saying("pci-tuning", "mlx5_1", W, "ASPM L1 on|(ASPM L1)")},
      {"odd_tags", [](Healthy& n) { settings(n, kNic).ten_bit_tags = false; },
       saying("pci-tuning", "mlx5_1", W, "10-bit tags off")},
      {"gpu_asleep",
       [](Healthy& n) {
         at(n, kGpu).power_state = "D3cold";
         at(n, kGpu).power_control = "auto";
       },
       saying("pci-power", "GPU1", W, "D3cold, power/control auto")},
      {"switch_lost_speed",
       [](Healthy& n) {
         link(n, {16, 32, 16, 16});
         for (Port& port : n.now.ports) port.rate = 12.5e9;
       },
       saying("pcie", kUpstream, W, "x16 at 16 GT/s|GPU1, mlx5_1")},
      {"slot_of_fewer_lanes_than_the_port_needs",
       [](Healthy& n) {
         n.now.topology.nics[1].link = {32, 32, 8, 16};
         at(n, kNic).link = {32, 32, 8, 16};
         at(n, kBelowNic).link = {32, 32, 8, 8};
       },
       saying("pcie", "mlx5_1", C, "x8 at 32 GT/s")},
  };
  return all;
}

TEST(PlatformDefect, GivesItsFindingAlone) {
  expect_each(platform_defects(), [](Healthy& n) { n.before.taken = n.now.taken - std::chrono::seconds(2); });
}

// A repair gives at most the link of the slot.
TEST(Pcie, ASlotOfFewLanesThatTrainedSlowly) {
  Healthy node;
  node.now.topology.nics[1].link = {8, 32, 4, 16};
  at(node, kNic).link = {8, 32, 4, 16};
  at(node, kBelowNic).link = {8, 16, 4, 4};
  const auto found = complaints_of(node.view(), {"pcie"});
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_EQ(found[0].status, Status::critical);
  EXPECT_EQ(found[0].expected, "x4 at 16 GT/s: at most 63 of 400 Gb/s");
  EXPECT_TRUE(has(found[0].meaning, "4 of its 16 lanes and 16 of its 32 GT/s: that is not a fault"))
      << found[0].meaning;
}

// Their peer-to-peer transfers are translated, too.
TEST(Check, IommuOfGpusWithoutAnRdmaNic) {
  const std::vector<std::string> only{"iommu"};
  Healthy node;
  groups(node, "DMA-FQ");
  node.now.topology.nics.clear();
  node.now.ports.clear();
  const std::vector<Finding> found = complaints_of(node.view(), only);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0].observed, "lazy (DMA-FQ): GPU0, GPU1")) << found[0].observed;
  EXPECT_TRUE(has(found[0].meaning, "peer-to-peer") && has(found[0].meaning, "hang")) << found[0].meaning;
  at(node, kGpu).kernel_driver = "vfio-pci";
  EXPECT_FALSE(has(complaints_of(node.view(), only).at(0).observed, "GPU1")) << "of a guest";
  node.now.topology.gpus.resize(1);
  EXPECT_EQ(said(node.view(), only), "");
}

void in_a_guest(Healthy& node) { node.now.topology.hypervisor = "QEMU"; }

// The bridges that a guest sees are the hypervisor's: those of the host decide, and only its operator can see them.
TEST(Acs, OfAGuestsDevicesIsTheHosts) {
  Healthy node;
  const std::vector<std::string> only{"acs"};
  EXPECT_FALSE(has(run_rules(node.view(), only).findings.at(0).observed, "guest"));
  in_a_guest(node);
  const Report report = run_rules(node.view(), only);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].status, Status::ok);
  for (const char* part : {"guest (QEMU)", "GPU1-mlx5_1", "ACS of the host's bridges", "ATS", "DirectTrans+"})
    EXPECT_TRUE(has(report.findings[0].observed, part)) << report.findings[0].observed;
  node.now.pci_settings.reset();
  EXPECT_EQ(run_rules(node.view(), only).findings.at(0).observed, report.findings[0].observed)
      << "fabric-agent-pci has nothing to add";
}

// NCCL takes the link of an emulated bridge, which is none, for the speed of the path.
TEST(Pcie, AnEmulatedBridgeOfAGuestIsNamed) {
  Healthy node;
  for (const Nic& nic : node.now.topology.nics) at(node, nic.bridges.front()).link = {2.5, 2.5, 1, 1};
  in_a_guest(node);
  for (const Finding& each : run_rules(node.view(), std::vector<std::string>{"pcie"}).findings) {
    EXPECT_EQ(each.status, Status::ok) << test::describe(each);
    const bool is_nic = each.subject.starts_with("mlx5_");
    EXPECT_EQ(has(each.observed, "emulated bridge") && has(each.observed, "x1 at 2.5 GT/s"), is_nic) << each.observed;
  }
}

const PlantedDefects& harmless_platforms() {
  static const PlantedDefects all{
      {"nothing", [](Healthy&) {}},
      {"platform_unread",
       [](Healthy& n) {
         n.now.platform = {};
         n.now.pci_settings.reset();
       }},
      {"acs_on_a_port_that_no_pair_crosses",
       [](Healthy& n) {
         settings(n, kRootPort).acs = uint16_t{0x1d};
         settings(n, kUpstream).acs = uint16_t{0x1d};
       }},
      {"acs_on_a_bridge_of_the_nics_own_board",
       [](Healthy& n) {
         Nic& nic = n.now.topology.nics[1];
         for (const char* own : {"0000:25:00.0", "0000:26:00.0"}) {
           nic.bridges.insert(nic.bridges.begin(), own);
           n.now.pci_settings->functions[own].acs = uint16_t{0x1d};
         }
       }},
      {"acs_as_data_direct_needs_it", reach_directly},
      {"acs_without_redirect", [](Healthy& n) { settings(n, kBelowNic).acs = uint16_t{0x11}; }},
      {"acs_with_direct_translated", [](Healthy& n) { settings(n, kBelowNic).acs = uint16_t{0x5d}; }},
      {"a_bridge_without_acs", [](Healthy& n) { settings(n, kBelowNic).acs.reset(); }},
      {"acs_in_a_guest",
       [](Healthy& n) {
         in_a_guest(n);
         settings(n, kBelowNic).acs = uint16_t{0x1d};
       }},
      {"acs_unknown_in_a_guest",
       [](Healthy& n) {
         in_a_guest(n);
         n.now.pci_settings.reset();
       }},
      {"acs_unknown_where_no_pair_shares_a_switch",
       [](Healthy& n) {
         n.now.pci_settings.reset();
         for (Gpu& gpu : n.now.topology.gpus) gpu.bridges = {"0000:" + gpu.pci.substr(5, 1) + "0:05.0"};
       }},
      {"iommu_of_a_guest",
       [](Healthy& n) {
         in_a_guest(n);
         groups(n, "DMA");
       }},
      {"iommu_off",
       [](Healthy& n) {
         n.now.platform.iommu_groups.clear();
         n.now.platform.iommu = false;
       }},
      {"iommu_of_another_kind", [](Healthy& n) { groups(n, "blocked"); }},
      {"devices_of_guests",
       [](Healthy& n) {
         at(n, kGpu).kernel_driver = "vfio-pci";
         at(n, kGpu).power_state = "D3hot";
         settings(n, kBelowGpu).acs = uint16_t{0x1d};
         n.now.platform.iommu_groups[at(n, kGpu).iommu_group] = "DMA";
       }},
      {"errors_of_the_past",
       [](Healthy& n) {
         for (Node* node : {&n.before, &n.now}) node->platform.functions.at(kNic).fatal = {3, {{"DLP", 3}}};
       }},
      {"errors_read_once",
       [](Healthy& n) {
         n.before.platform = {};
         at(n, kNic).nonfatal.total = 3;
       }},
      {"counters_that_were_reset",
       [](Healthy& n) {
         at(n, kNic).correctable = {1, {{"BadTLP", 1}}};
       }},
      {"correctable_errors_of_other_kinds_than_the_link",
       [](Healthy& n) {
         *at(n, kNic).correctable.total += 900;
         at(n, kNic).correctable.kinds["NonFatalErr"] = 600;
         at(n, kNic).correctable.kinds["CorrIntErr"] = 300;
       }},
      {"no_error_reporting",
       [](Healthy& n) {
         for (auto& [pci, function] : n.now.platform.functions)
           function.correctable = function.nonfatal = function.fatal = {};
       }},
      {"bars_of_one_size_on_all_gpus",
       [](Healthy& n) {
         for (const Gpu& gpu : n.now.topology.gpus) at(n, gpu.pci).bars[1] = {1, 256u << 20, true, {}};
       }},
      {"peer_module",
       [](Healthy& n) {
         n.now.platform.gpudirect.nvidia_open = false;
         n.now.platform.gpudirect.peer_modules = {"nvidia_peermem"};
       }},
      {"peer_memory_client",
       [](Healthy& n) {
         n.now.platform.gpudirect.nvidia_open = false;
         n.now.platform.gpudirect.memory_peers = {"nv_mem_nc"};
       }},
      {"no_gpu_driver", [](Healthy& n) { n.now.platform.gpudirect = {}; }},
      {"ordering_off_everywhere",
       [](Healthy& n) {
         for (auto& [pci, function] : n.now.pci_settings->functions) function.relaxed_ordering = false;
       }},
      {"an_unused_nic_asleep",
       [](Healthy& n) {
         at(n, kNic).power_state = "D3hot";
         n.policy.ports.clear();
         n.plan.clear();
         for (Node* node : {&n.before, &n.now}) {
           node->ports.erase(node->ports.begin() + 1);
           node->topology.nics[1].rdma.clear();
         }
         n.now.topology.nics[1].netdevs.clear();
         n.now.topology.gpus.clear();
       }},
      {"an_idle_gpu_that_its_driver_suspends",
       [](Healthy& n) {
         n.now.topology.gpus[1].vendor = kAmd;
         at(n, kGpu).kernel_driver = "amdgpu";
         at(n, kGpu).power_state = "D3hot";
         at(n, kGpu).power_control = "auto";
       }},
      {"gpu_without_driver_asleep",
       [](Healthy& n) {
         at(n, kGpu).power_state = "D3hot";
         at(n, kGpu).kernel_driver.clear();
       }},
      {"an_idle_switch_of_gpus",  // at a lower speed, with all lanes
       [](Healthy& n) {
         link(n, {2.5, 32, 16, 16});
         n.now.topology.nics[1].bridges = {"0000:20:02.0"};
         n.now.topology.gpus[1].bridges = {kBelowGpu, kUpstream, kRootPort, "0000:20:03.0"};
         for (Gpu& gpu : n.now.topology.gpus) gpu.root = "pci0000:20", gpu.numa = 0;
         for (Nic& nic : n.now.topology.nics) nic.root = "pci0000:20", nic.numa = 0;
         for (size_t i = 0; i < 4; ++i) n.now.topology.nics[i].bridges = {"0000:20:1" + std::to_string(i) + ".0"};
       }},
      {"all_switches_below_their_maximum",
       [](Healthy& n) {
         for (const char* digit : {"1", "2", "3", "4"})
           for (const char* bridge : {"1:00.0", "0:01.0"})
             at(n, std::string("0000:") + digit + bridge).link = {16, 32, 16, 16};
       }},
      {"an_idle_gpu_alone_in_a_small_slot",
       [](Healthy& n) {
         n.now.topology.gpus[1].device = 0x2331;
         n.now.topology.gpus[1].link = at(n, kGpu).link = {2.5, 32, 8, 16};
         at(n, kBelowGpu).link = {2.5, 32, 8, 8};
       }},
      {"a_slower_root_port",
       [](Healthy& n) {
         at(n, kUpstream).link = {16, 32, 16, 16};
         at(n, kRootPort).link = {16, 16, 16, 16};
       }},
      {"two_ends_that_disagree_about_their_link",
       [](Healthy& n) {
         at(n, kRootPort).link = {16, 32, 8, 16};
       }},
  };
  return all;
}

TEST(PlatformDefect, HarmlessPlatformsAreSilent) {
  for (const PlantedDefect& planted : harmless_platforms()) {
    Healthy node;
    node.before.taken = node.now.taken - std::chrono::seconds(2);
    planted.plant(node);
    EXPECT_EQ(said(node.view(), {"platform", "pcie"}), "") << planted.name;
  }
}

TEST(Acs, OneKernelOptionNamesAllPorts) {
  Healthy node;
  settings(node, kBelowNic).acs = settings(node, kBelowGpu).acs = uint16_t{0x1d};
  const auto found = complaints_of(node.view(), {"acs"});
  ASSERT_EQ(found.size(), 2u) << describe(found);
  for (const Finding& each : found)
    EXPECT_TRUE(has(each.remedy, "pci=disable_acs_redir=0000:22:03.0;0000:22:04.0 to the kernel")) << each.remedy;
}

// A machine has several pairs of GPU and NIC with the same fault: one paragraph.
TEST(Acs, PairsWithTheSameFaultAreOneGroup) {
  Healthy node;
  for (auto& [pci, function] : node.now.pci_settings->functions)
    if (function.acs) function.acs = uint16_t{0x1d};
  const Report report = run_rules(node.view(), std::vector<std::string>{"acs"});
  const auto listed = std::ranges::count_if(report.findings, is_listed);
  EXPECT_GE(listed, 4) << describe(report.findings);
  const auto groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u) << describe(report.findings);
  EXPECT_EQ(groups[0].subjects.size(), static_cast<size_t>(listed));
  EXPECT_FALSE(groups[0].likewise.empty());
}

TEST(PciTuning, ReadRequestsOfOneSizeMayBeTooSmallForAll) {
  Healthy node;
  for (auto& [pci, function] : node.now.pci_settings->functions) function.mrrs = 256;
  EXPECT_EQ(complaints_of(node.view(), {"pci-tuning"}).size(), 4u);
  node.policy.ports[0].want.mrrs = 256;
  EXPECT_EQ(said(node.view(), {"pci-tuning"}), "") << "the policy wants this size";
}

TEST(GpuBar, ResizableBarThatIsSmallOnEveryGpu) {
  Healthy node;
  for (const Gpu& gpu : node.now.topology.gpus) {
    Bar& bar = node.now.platform.functions.at(gpu.pci).bars[1];
    bar.size = 256u << 20;
    bar.resizable = 0xff00;  // 256 MiB to 32 GiB
  }
  const auto found = complaints_of(node.view(), {"gpu-bar"});
  ASSERT_EQ(found.size(), 4u) << describe(found);
  EXPECT_EQ(found[0].expected, "32 GiB, which the GPU offers (Resizable BAR)");
}

TEST(Gpudirect, AmdNeedsPeerMemoryOrDmaBuf) {
  Healthy node;
  for (Gpu& gpu : node.now.topology.gpus) gpu.vendor = 0x1002;
  GpuDirect& has = node.now.platform.gpudirect;
  has = {};
  has.amdgpu = true;
  std::vector<std::string> only{"gpudirect"};
  EXPECT_TRUE(run_rules(node.view(), only).findings.empty()) << "the kernel's configuration is not readable";
  has.pci_p2pdma = true;
  has.dmabuf_move_notify = false;
  const auto found = complaints_of(node.view(), {"gpudirect"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].observed, "kernel without CONFIG_DMABUF_MOVE_NOTIFY, no peer memory client");
  has.memory_peers = {"amdkfd"};
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "");
  has.memory_peers.clear();
  has.dmabuf_move_notify = true;
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "");
}

// Intel's processors for clients forward no reads between root ports.
TEST(Gpudirect, AcrossRootPortsOfAClientProcessor) {
  Healthy node;
  node.now.host->cpu.vendor = "GenuineIntel";
  node.now.host->cpu.model = "Intel(R) Core(TM) Ultra 9 285K";
  node.now.host->cpu.family = 6;
  node.now.host->cpu.model_number = 0xc6;
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "") << "GPU and NIC share a switch";
  for (Gpu& gpu : node.now.topology.gpus) gpu.bridges = {gpu.bridges.front() + "0"};
  const auto found = complaints_of(node.view(), {"gpudirect"});
  ASSERT_EQ(found.size(), 1U) << describe(found);
  EXPECT_TRUE(has(found[0].observed,
                  "GPU0 and mlx5_0, GPU1 and mlx5_1, GPU2 and mlx5_2, GPU3 and mlx5_3 below different root ports"))
      << found[0].observed;
  for (Gpu& gpu : node.now.topology.gpus) gpu.model = "NVIDIA GeForce RTX 5090";
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "") << "these have no GPUDirect RDMA";
  for (Gpu& gpu : node.now.topology.gpus) gpu.model = "NVIDIA RTX PRO 6000";
  struct Processor {
    const char* name;
    unsigned number;
    bool is_client;
  };
  // The die decides, and not the name.
  for (const auto& [name, number, is_client] :
       {Processor{"Intel(R) Xeon(R) w9-3495X", 0x8f, false},
        Processor{"Intel(R) Core(TM) i9-10980XE CPU @ 3.00GHz", 0x55, false},
        Processor{"Intel(R) Xeon(R) E-2388G CPU @ 3.20GHz", 0xa7, true},
        Processor{"Intel(R) Core(TM) i9-14900HX", 0xb7, true}, Processor{"Genuine Intel(R) 0000", 0, false}}) {
    node.now.host->cpu.model = name;
    node.now.host->cpu.model_number = number;
    EXPECT_EQ(!complaints_of(node.view(), {"gpudirect"}).empty(), is_client) << name;
  }
  node.now.host->cpu.model_number = 0xc6;
  node.now.host->cpu.vendor = "AuthenticAMD";
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "") << "the numbers are those of a vendor";
}

TEST(Gpudirect, OfNvidiaNamesTheMissingOptionOfTheKernel) {
  Healthy node;
  GpuDirect& has = node.now.platform.gpudirect;
  has.nvidia_open = false;
  has.peer_modules.clear();
  EXPECT_FALSE(test::has(said(node.view(), {"gpudirect"}), "P2PDMA")) << "the options could not be read";
  has.pci_p2pdma = false;
  const auto found = complaints_of(node.view(), {"gpudirect"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(test::has(found[0].observed, "kernel without CONFIG_PCI_P2PDMA")) << found[0].observed;
  EXPECT_TRUE(test::has(found[0].remedy, "This kernel has no CONFIG_PCI_P2PDMA")) << found[0].remedy;
  has.nvidia_open = true;
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "") << "not certain: listed only";
  EXPECT_TRUE(test::has(listed(node.view(), "gpudirect"), "CONFIG_PCI_P2PDMA"));
  has.peer_modules = {"nvidia_peermem"};
  EXPECT_FALSE(test::has(listed(node.view(), "gpudirect"), "CONFIG_PCI_P2PDMA"));
}

TEST(Gpudirect, IsNotAskedOfGeForce) {
  Healthy node;
  node.now.platform.gpudirect.nvidia_open = false;
  node.now.platform.gpudirect.peer_modules.clear();
  EXPECT_NE(said(node.view(), {"gpudirect"}), "");
  for (Gpu& gpu : node.now.topology.gpus) gpu.model = "NVIDIA GeForce RTX 5090";
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "") << "no module gives it to them";
}

// nvidia_peermem registers with the RDMA core, which EFA does not ask; its driver looks for a provider itself.
TEST(Gpudirect, EfaHasAnInterfaceOfItsOwn) {
  Healthy node;
  for (Nic& nic : node.now.topology.nics) nic.vendor = kAmazon;
  GpuDirect& has = node.now.platform.gpudirect;
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "") << "open modules";
  has.nvidia_open = false;
  has.peer_modules = {"nvidia_peermem"};
  has.memory_peers = {"nv_mem"};
  const auto found = complaints_of(node.view(), {"gpudirect"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(test::has(found[0].observed, "efa has no provider")) << found[0].observed;
  EXPECT_TRUE(test::has(found[0].remedy, "open kernel modules")) << found[0].remedy;
  EXPECT_FALSE(test::has(found[0].remedy, "modprobe")) << found[0].remedy;
  has.memory_peers = {"NVIDIA"};
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "") << "a kernel that lets efa use the closed module";
  has.memory_peers.clear();
  has.peer_modules = {"efa_nv_peermem"};
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "");
}

// On GH200 and GB200 CUDA needs the address translation service of the GPU.
TEST(Check, PassThroughThatTakesNoPasid) {
  Healthy node;
  node.now.platform.identity_without_pasid = true;
  EXPECT_EQ(said(node.view(), {"iommu"}), "") << "GPUs on PCIe do not need it";
  for (Gpu& gpu : node.now.topology.gpus) gpu.vendor = kNvidia, gpu.device = 0x2342;
  const auto found = complaints_of(node.view(), {"iommu"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0].observed, "before 6.11: GPU0, GPU1")) << found[0].observed;
  EXPECT_TRUE(has(found[0].remedy, "iommu.passthrough=0")) << found[0].remedy;
  groups(node, "DMA");
  EXPECT_EQ(said(node.view(), {"iommu"}), "") << "this kernel has to translate for them";
  node.now.platform.identity_without_pasid = false;
  EXPECT_NE(said(node.view(), {"iommu"}), "") << "Linux 6.11 need not";
  groups(node, "identity");
  EXPECT_EQ(said(node.view(), {"iommu"}), "");
}

TEST(Aer, PastErrorsAreShown) {
  Healthy node;
  node.now.platform.functions.at(kNic).fatal.total = 3;
  std::vector<std::string> only{"aer"};
  View view = node.view();
  view.before = nullptr;
  const Report report = run_rules(view, only);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].subject, kNic);
  EXPECT_EQ(report.findings[0].observed, "3 fatal and 0 non-fatal since mlx5_1 (0000:24:00.0) came up");
}

// 1,000 NICs, half of them with all platform data: the rules end within the time that the suite allows.
TEST(PlatformDefect, AnAbsurdMachineIsCheckedInTime) {
  Healthy node;
  const Nic model = node.now.topology.nics[0];
  for (int i = 0; i < 1'000; ++i) {
    Nic nic = model;
    nic.pci = "a" + std::to_string(i);
    nic.name = nic.rdma[0] = "mlx5_" + std::to_string(i + 4);
    nic.bridges.insert(nic.bridges.begin(), {"b" + std::to_string(i), "c" + std::to_string(i)});
    for (const std::string& pci : {nic.pci, nic.bridges[0], nic.bridges[1]}) {
      if (i < 500) node.now.platform.functions[pci] = node.now.platform.functions.at(model.pci);
      node.now.pci_settings->functions[pci] = node.now.pci_settings->functions.at(model.pci);
    }
    node.now.topology.nics.push_back(std::move(nic));
  }
  for (auto& [pci, function] : node.now.platform.functions) function.fatal.total = 1;
  std::vector<std::string> only{"platform", "pcie"};
  EXPECT_FALSE(run_rules(node.view(), only).findings.empty());
}

TEST(PciePath, LinksAndSwitchesAlternate) {
  PciDevice device;
  device.pci = "d";
  EXPECT_TRUE(hops_above(device).empty());
  device.bridges = {"p"};
  EXPECT_EQ(hops_above(device), (std::vector<PcieHop>{{"d", "p"}}));
  device.bridges = {"down", "up", "port"};
  EXPECT_EQ(hops_above(device), (std::vector<PcieHop>{{"d", "down"}, {"up", "port"}}));
  device.bridges = {"down", "up"};
  EXPECT_EQ(hops_above(device), (std::vector<PcieHop>{{"d", "down"}}));
}

TEST(PciePath, TwoDevicesTurnAtThePortsOfTheirSharedSwitch) {
  PciDevice gpu, nic;
  gpu.bridges = {"a", "up", "port"};
  nic.bridges = {"c", "b", "up", "port"};
  EXPECT_EQ(turning_ports(gpu, nic), (std::vector<std::string>{"a", "b"}));
  nic.bridges = {"up", "port"};
  EXPECT_EQ(turning_ports(gpu, nic), (std::vector<std::string>{"a"}));
  nic.bridges = {"x"};
  EXPECT_TRUE(turning_ports(gpu, nic).empty());
}

}  // namespace
}  // namespace fabric
