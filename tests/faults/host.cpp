// SPDX-License-Identifier: Apache-2.0
// The host: limits, CPUs, clock, interrupts, memory.
#include <algorithm>

#include "faults/fault.h"
#include "nic/capabilities.h"

namespace fabric::faults {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

JobService& slurmd(Machine& m) { return m.now.host->services[1]; }
JobService& containerd(Machine& m) { return m.now.host->services[0]; }

std::string limit(JobService& service, uint64_t bytes, const char* file, unsigned line) {
  service.memlock = LimitSetting{{bytes, bytes}, {file, line}};
  service.processes[0].limits.memlock = ResourceLimit{bytes, bytes};
  return service.unit;
}

Plant in_slurmd(void (*alter)(JobService&)) {
  return [alter](Machine& m) {
    alter(slurmd(m));
    return slurmd(m).unit;
  };
}

Faults limits() {
  return {
      {"memlock-by-drop-in", "a drop-in of the site's limits lowers locked memory for slurmd: ibv_reg_mr fails in jobs",
       "JobService::memlock 8 MiB, and the process so",
       [](Machine& m) { return limit(slurmd(m), 8 * kMiB, "/etc/systemd/system/slurmd.service.d/limits.conf", 3); },
       "memlock", C, "8 MiB (slurmd, pid 812)|limits.conf:3|daemon-reload|restart slurmd.service", "", "host-fit"},
      {"memlock-not-restarted", "the limit was fixed, and slurmd not restarted",
       "the process has 8 MiB, the files say unlimited", in_slurmd([](JobService& service) {
         service.processes[0].limits.memlock = ResourceLimit{8 * kMiB, 8 * kMiB};
       }),
       "memlock", C,
       "8 MiB|unlimited by /etc/systemd/system/slurmd.service.d/memlock.conf:2|systemctl restart slurmd.service"},
      {"memlock-at-the-next-start", "an update changed the unit: the next restart of slurmd will break jobs",
       "the files say 8 MiB, the process has unlimited", in_slurmd([](JobService& service) {
         service.memlock = LimitSetting{{8 * kMiB, 8 * kMiB}, {"/etc/systemd/system/slurmd.service.d/limits.conf", 3}};
       }),
       "memlock", W, "unlimited (slurmd|8 MiB by|limits.conf:3"},
      {"memlock-of-containers", "containerd's unit limits locked memory", "containerd 8 MiB",
       [](Machine& m) { return limit(containerd(m), 8 * kMiB, "/etc/systemd/system/containerd.service", 7); },
       "memlock", W, "8 MiB|/etc/systemd/system/containerd.service:7"},
      {"memlock-unreadable", "the check runs as a normal user and sees neither process nor files",
       "no limit known of slurmd", in_slurmd([](JobService& service) {
         service.processes[0].limits = {};
         service.memlock.reset();
       }),
       "memlock", U, "not readable|as root"},
      {"open-files-of-jobs", "slurmd was started by hand under an old limit of open files",
       "the process may open 4096 files", in_slurmd([](JobService& service) {
         service.processes[0].limits.nofile = ResourceLimit{1024, 4096};
       }),
       "nofile", W},
      {"limits-conf-of-users", "limits.conf limits the shells from which Slurm takes jobs' limits",
       "UserLimit * soft 64 KiB", on_host([](Machine& m) {
         m.now.host->user_limits[0].soft = LimitSetting{{65'536, 65'536}, {"/etc/security/limits.d/50-hpc.conf", 4}};
       }),
       "limits-conf", W,
       "* 64 KiB (/etc/security/limits.d/50-hpc.conf:4)|memlock unlimited|PropagateResourceLimitsExcept"},
  };
}

// On bare metal, where the host can do something about it.
Plant on_bare_metal(void (*alter)(Host&)) {
  return [alter](Machine& m) {
    if (m.is_guest()) return std::string();
    alter(*m.now.host);
    return std::string("host");
  };
}

Faults cpus() {
  return {
      {"powersave", "a power profile lets the CPUs idle down between bursts",
       "governor powersave, preference balance_performance", on_bare_metal([](Host& host) {
         host.cpu.frequency = {{"powersave", "balance_performance", "0-63"}};
       }),
       "governor", W, "powersave (balance_performance) by intel_pstate|cpupower"},
      {"governor-in-part", "a script set half of the CPUs only", "schedutil on CPUs 32-63",
       on_bare_metal([](Host& host) {
         host.cpu.frequency = {{"performance", "", "0-31"}, {"schedutil", "", "32-63"}};
       }),
       "governor", W, "schedutil on CPUs 32-63|cpupower"},
      {"idle-states-in-part", "deep idle states were switched off on one socket only",
       "C1E on CPUs 0-31, C6 on the others", on_bare_metal([](Host& host) {
         host.cpu.idle = {{"C1E", 2, "0-31"}, {"C6", 290, "32-63"}};
       }),
       "c-states", W, "C1E (2 us) on CPUs 0-31|C6 (290 us) on CPUs 32-63|idle-set"},
      {"idle-option-unheeded", "processor.max_cstate=1 is on the command line, and intel_idle ignores it",
       "kernel option of the other driver",
       on_bare_metal([](Host& host) { host.kernel_options = {"processor.max_cstate=1"}; }), "c-states", W,
       "C6|intel_idle.max_cstate=1"},
      {"clock-fell-back", "the kernel found the TSCs unsynchronized and fell back to hpet",
       "clock source hpet, tsc not offered", on_bare_metal([](Host& host) {
         host.clock = {"hpet", {"hpet", "acpi_pm"}};
       }),
       "clock-source", W, "hpet|journalctl"},
      {"numa-balancing", "a new kernel switched automatic NUMA balancing on again", "numa_balancing 1",
       on_host([](Machine& m) { m.now.host->numa_balancing = 1; }), "numa-balancing", W,
       "1 (on)|kernel.numa_balancing=0"},
      {"interrupts-far-away", "irqbalance moved a NIC's queues to the other socket",
       "6 queues of the NIC on CPUs of another node",
       [](Machine& m) {
         if (m.is_guest()) return std::string();
         NicInterrupts& queues = m.now.host->interrupts[1];
         for (unsigned i = 0; i < 6; ++i)
           queues.elsewhere.push_back({120 + i, "comp" + std::to_string(i), std::to_string(40 + i)});
         return queues.nic;
       },
       "irq-affinity", W, "6 of 32 queues|120 comp0 on CPU 40|...|/proc/irq/|irqbalance"},
      {"provider-of-another-release", "an update of the distribution left the NIC's library of another rdma-core",
       "VerbsLibrary::providers 59 for the NIC, 34 for the others",
       [](Machine& m) {
         const std::string name(verbs_provider_of(m.port().kernel_driver).name), device = m.port().rdma;
         const bool is_open = std::ranges::any_of(
             m.now.ports, [&](const Port& each) { return each.rdma == device && is_endpoint(each); });
         if (name.empty() || !is_open) return std::string();
         VerbsLibrary& verbs = m.now.host->software.verbs.emplace();
         verbs.folders = {"/usr/lib64/libibverbs"};
         for (const char* other : {"siw", "rxe", "hfi1verbs"}) verbs.providers[other] = {34};
         verbs.providers[name] = {59};
         return device;
       },
       "rdma-provider", W, "-rdmav59.so|-rdmav34|ibv_devices", "", "", "rdma-provider"},
      {"memory-in-huge-pages", "a database's sysctl file reserved most of the memory as huge pages",
       "1500 pages of 1 GiB of 2 TiB",
       on_host([](Machine& m) { m.now.host->huge_pages.reserved[uint64_t{1} << 30] = 1500; }), "hugepages", W,
       "1500 of 1 GiB|nr_hugepages"},
  };
}

}  // namespace

Faults host_faults() { return together({limits(), cpus()}); }

}  // namespace fabric::faults
