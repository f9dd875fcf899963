// SPDX-License-Identifier: Apache-2.0
#include "checks/checks.h"
#include "checks/rows.h"

namespace fabric {
namespace {

constexpr Check kHostRows[] = {
    {"memlock", group::host, "May the services that start jobs lock memory without limit?",
     "RDMA pins the memory that it works on, and the kernel counts that against RLIMIT_MEMLOCK of the process. Jobs "
     "inherit the limit of the service that starts them (slurmd, pbs_mom, containerd, ...), not the one in "
     "limits.conf, which holds for logins only. The running process is the truth: see grep 'Max locked' "
     "/proc/PID/limits. A drop-in with LimitMEMLOCK=infinity helps from the next daemon-reload and restart on. "
     "Services that only ask another one to start containers (dockerd, kubelet) are listed and not judged.",
     ask_memlock},
    {"limits-conf", group::host, "Does limits.conf leave users' locked memory unlimited where jobs get it?",
     "pam_limits gives a login the memlock entries of /etc/security/limits.conf and limits.d. Jobs have them where "
     "Slurm propagates the submitting shell's limits (its default), or where no service starts jobs. A finite entry "
     "then makes ibv_reg_mr fail with ENOMEM. See ulimit -l in a new shell.",
     ask_limits_conf},
    {"nofile", group::host, "May the services that start jobs open many files?",
     "Connections, queues, devices and shared segments take a file descriptor each; a process of a job on many GPUs "
     "needs "
     "thousands. Jobs inherit the limit of the service that starts them. The hard limit is judged, since NCCL and "
     "others raise "
     "the soft one to it: see grep 'Max open files' /proc/PID/limits. A drop-in with LimitNOFILE=131072 helps from the "
     "next "
     "daemon-reload and restart on. In a job: ulimit -n $(ulimit -Hn).",
     ask_nofile},
    {"numa-balancing", group::host, "Is automatic NUMA balancing off?",
     "With it the kernel unmaps pages now and then to see which CPU uses them, and moves them. GPU jobs are bound to "
     "their NUMA node already and pay page faults for nothing. See sysctl kernel.numa_balancing. A value that the "
     "configuration's [sysctl] table wants is not reported here.",
     ask_numa_balancing},
    {"governor", group::host, "Do the CPUs run at full speed?",
     "The cpufreq governor performance keeps CPUs fast; powersave with intel_pstate or amd-pstate-epp does so with the "
     "energy preference performance. Others raise the frequency only after the work has begun. See cpupower "
     "frequency-info. Not asked in virtual machines.",
     ask_governor},
    {"c-states", group::host, "May all CPUs sleep equally deeply?",
     "A CPU in a deep idle state (C6, AMD's C2) takes 100 microseconds and more to wake. Whether that is worth the "
     "power is the site's choice, and shown with --verbose; reported is what was chosen and did not come about: deep "
     "states switched off on some CPUs only, or an option on the kernel's command line that this driver does not "
     "heed. See cpupower idle-info.",
     ask_c_states},
    {"irq-affinity", group::host, "Are the queues of each NIC served by CPUs near to it?",
     "Each queue of a NIC interrupts one CPU (/proc/irq/N/effective_affinity_list), which should be on the NIC's NUMA "
     "node. Queues beyond the number of its CPUs have to go elsewhere and are not reported, nor those of commands and "
     "events. irqbalance moves interrupts every ten seconds unless it is told not to.",
     ask_irq_affinity},
    {"clock-source", group::host, "Is the clock one that is read without a system call?",
     "With tsc a look at the clock takes some 20 nanoseconds; with hpet or acpi_pm it takes microseconds and waits for "
     "all other CPUs that look. The kernel falls back to them when it finds the counters of the CPUs unequal: see "
     "journalctl -k -g clocksource. Not reported in virtual machines.",
     ask_clock_source},
    {"snc", group::host, "Into how many NUMA nodes is a package divided?",
     "Sub-NUMA clustering (Intel SNC, AMD NPS) divides a package into several NUMA nodes. Never a fault, listed with "
     "--verbose: a GPU and a NIC on one package may then be SYS, as they are on two nodes, and a process that is bound "
     "to its GPU's node has only that part of the package's CPUs and memory bandwidth.",
     ask_snc},
    {"hugepages", group::host, "How much memory is set aside as huge pages?",
     "Listed with --verbose; reported only where more than half of the memory is reserved, which nobody else can use "
     "then. See grep Huge /proc/meminfo.",
     ask_huge_pages},
    {"lockdown", group::host, "Does the kernel restrict root?",
     "Under lockdown (Secure Boot) the kernel refuses even root some debugfs files and writes to PCI configuration "
     "space. Never a fault, listed with --verbose: it explains why some settings cannot be read or kept. See "
     "/sys/kernel/security/lockdown.",
     ask_lockdown},
};

}  // namespace

std::span<const Check> host_rows() { return kHostRows; }

}  // namespace fabric
