// SPDX-License-Identifier: Apache-2.0
// The group "host": a defect in a healthy node gives its finding and no other; rules that do not apply to a host are
// silent.
#include "support/planted_defect.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

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

}  // namespace
}  // namespace fabric
