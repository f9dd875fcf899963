// SPDX-License-Identifier: Apache-2.0
// The host: limits of jobs, memory, CPU power saving, clocks and interrupts.
#include <cmath>

#include "judge/network.h"
#include "judge/platform_view.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "node/machine.h"
#include "node/rdma_software.h"
#include "node/services.h"

namespace fabric {

namespace {

bool has_rdma(const View& view) { return !view.now.ports.empty(); }

// On a machine for GPU jobs over RDMA a slow CPU setting costs more than the power it saves. In a guest the host
// controls frequency, idle states and clocks.
bool has_gpus_and_rdma(const View& view) { return has_rdma(view) && !view.now.topology.gpus.empty(); }

// A resource limit that jobs inherit from the service that starts them: the limit of its running processes, and the
// limit of its unit files, which applies from its next start.
struct JobLimit {
  const char* drop_in;       // name of the file to write: "memlock.conf"
  const char* line;          // to write into it: "LimitMEMLOCK=infinity"
  const char* by_hand;       // the fix for a process without a unit
  const char* of_container;  // the fix for a container
  std::optional<LimitSetting> JobService::*file;
  std::optional<ResourceLimit> ProcessLimits::*process;
  uint64_t ResourceLimit::*counts;            // soft or hard
  std::string (*text)(const ResourceLimit&);  // memory_text or count_text
};

// The persistent fix, and its activation. Files of packages and for all services (system.conf, service.d) stay as is.
Fix persistent_fix(const JobService& service, const JobLimit& limit) {
  if (service.unit == host::kContainer) return limit.of_container;
  if (service.file.empty()) return std::string(limit.by_hand) + ", or from a unit with " + limit.line;
  const std::string restart = "Then restart " + service.unit;
  const Step command(Work::service, ": systemctl daemon-reload && systemctl restart " + service.unit);
  const auto& setting = service.*limit.file;
  if (setting && setting->where.file.starts_with("/etc/systemd/system/") &&
      !setting->where.file.starts_with("/etc/systemd/system/service.d/"))
    return {"In " + setting->where.text() + " write " + limit.line + ". " + restart, command};
  // systemd reads drop-ins by file name in any folder: the new one must sort after the one that sets the limit.
  std::string name = limit.drop_in;
  if (setting && setting->where.file.find(".d/") != std::string::npos)
    if (const std::string other = base_name(setting->where.file); other >= name) name = "z" + other;
  // The drop-in of an instance belongs to its template: "slurmd@.service.d".
  std::string unit = service.unit;
  if (const size_t at = unit.find('@'); at != std::string::npos) unit = unit.substr(0, at + 1) + ".service";
  return {"Write /etc/systemd/system/" + unit + ".d/" + name + " with two lines, [Service] and " + limit.line + ". " +
              restart,
          command};
}

// The process of a service with the lowest limit; nullptr: none could be read.
const JobProcess* most_limited(const JobService& service, const JobLimit& limit) {
  const JobProcess* found = nullptr;
  uint64_t lowest = 0;
  for (const JobProcess& each : service.processes) {
    const std::optional<ResourceLimit>& process_limit = each.limits.*limit.process;
    if (!process_limit) continue;
    const uint64_t value = (*process_limit).*limit.counts;
    if (found != nullptr && value >= lowest) continue;
    found = &each;
    lowest = value;
  }
  return found;
}

// "8 MiB (slurmd, pid 812); 8 MiB by FILE:LINE"
std::string observed_text(const JobService& service, const JobProcess* process, const JobLimit& limit) {
  std::string out = "not readable";
  if (process != nullptr)
    out = limit.text(*(process->limits.*limit.process)) + " (" + process->comm + ", pid " +
          std::to_string(process->pid) + ")";
  if (service.file.empty() && process != nullptr) return out;
  out += "; ";
  if (service.file.empty()) return out;
  const auto& setting = service.*limit.file;
  if (!setting) return out + "its unit sets none";
  return out + limit.text(setting->limit) + " by " + setting->where.text();
}

struct LimitTexts {
  std::string observed, expected, meaning;
};
// The finding about a service. `process`: its most limited process, or null. `is_enough`: asked about the limit of the
// process and that of the unit files. `low`: the status if jobs have too little.
Finding job_limit_finding(const JobService& service, const JobProcess* process, const JobLimit& limit,
                          const LimitTexts& texts, Status low,
                          const std::function<bool(const ResourceLimit&)>& is_enough) {
  const auto& setting = service.*limit.file;
  const bool files = !setting || is_enough(setting->limit);
  const bool running = process != nullptr ? is_enough(*(process->limits.*limit.process)) : files;
  if (service.role < JobRole::runtime || (running && files)) return good(service.unit, texts.observed, texts.expected);
  if (running)
    return bad(
        Status::warning, service.unit, texts.observed, texts.expected,
        "The running service still has its old limit. From its next start jobs get the lower limit of its unit files.",
        persistent_fix(service, limit));
  if (process != nullptr && setting && files)
    return bad(low, service.unit, texts.observed, texts.expected,
               texts.meaning + " Its unit files are correct, but the process started before the change.",
               {Work::service, "systemctl daemon-reload && systemctl restart " + service.unit});
  return bad(low, service.unit, texts.observed, texts.expected, texts.meaning, persistent_fix(service, limit));
}

constexpr Limit kEnoughMemory{
    "memlock", "limit", 32, "GiB of locked memory, or the whole memory", "ROCm cvs (cvs/input/config_file/preflight)",
    0.001,     1e6};

// Whether jobs can register their memory with a NIC: the limit is unlimited, at least the size of the memory, or at
// least kEnoughMemory. The soft limit counts: neither NCCL nor UCX raises it.
bool is_enough_memlock(const View& view, const ResourceLimit& limit) {
  constexpr double kGiB = 1 << 30;
  const uint64_t memory = view.now.host->memory;
  return static_cast<double>(limit.soft) >= limit_of(view, kEnoughMemory) * kGiB ||
         (memory != 0 && limit.soft >= memory);
}

constexpr JobLimit kMemlockLimit{.drop_in = "memlock.conf",
                                 .line = "LimitMEMLOCK=infinity",
                                 .by_hand = "Start it with ulimit -l unlimited",
                                 .of_container =
                                     "Start the container with --ulimit memlock=-1 (docker, podman), or with the "
                                     "capability IPC_LOCK (securityContext.capabilities.add of a pod). Without either "
                                     "it has the limit of its runtime: LimitMEMLOCK=infinity for containerd or crio.",
                                 .file = &JobService::memlock,
                                 .process = &ProcessLimits::memlock,
                                 .counts = &ResourceLimit::soft,
                                 .text = memory_text};

Finding memlock_finding(const View& view, const JobService& service, const JobProcess* process) {
  const std::string observed = observed_text(service, process, kMemlockLimit), expected = "unlimited";
  const bool starts_jobs = service.role >= JobRole::runtime;
  if (process == nullptr && !service.memlock) {
    if (!starts_jobs) return good(service.unit, observed, expected);
    return bad(Status::unknown, service.unit, observed, expected,
               "The limits of its running processes could not be read.",
               {Work::as_root, "Run as root: fabric-agentctl check --only memlock"});
  }
  if (!starts_jobs) return good(service.unit, observed + " (starts no jobs itself)", "any");
  Status low = Status::warning;
  std::string meaning =
      "Containers inherit the memlock limit of this service unless started with --ulimit memlock=-1 or CAP_IPC_LOCK.";
  if (service.role == JobRole::batch) {
    low = Status::critical;
    meaning = "Jobs inherit the memlock limit of this service.";
  }
  if (service.unit == host::kContainer) {
    low = Status::warning;
    meaning = "The processes of this container have this memlock limit, and no CAP_IPC_LOCK.";
  }
  meaning +=
      " Beyond it ibv_reg_mr fails with ENOMEM (\"Cannot allocate memory\"). limits.conf does not apply to services.";
  return job_limit_finding(service, process, kMemlockLimit, {observed, expected, meaning}, low,
                           [&](const ResourceLimit& limit) { return is_enough_memlock(view, limit); });
}

// A service that does not run starts no jobs. If processes of other users are hidden, the limit of jobs is unknown.
void ask_memlock(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  for (const JobService& service : view.now.host->services) {
    const JobProcess* process = most_limited(service, kMemlockLimit);
    // Without a device file `rdma-provider` reports both: who starts the container again gives it the limit, too.
    if (service.unit == host::kContainer && view.now.verbs_files.empty()) continue;
    if (!service.processes.empty() && (process != nullptr || !view.now.host->processes_hidden))
      findings.push_back(memlock_finding(view, service, process));
  }
}

constexpr Rule kMemlock{
    .id = "memlock",
    .group = group::host,
    .title = "A job launcher limits memlock",
    .meaning =
        "RDMA pins its memory, and the kernel counts pinned memory against RLIMIT_MEMLOCK. Jobs inherit the limit of "
        "the service that starts them (slurmd, pbs_mom, containerd, ...). Limits in limits.conf apply to logins only. "
        "The limit of the running process counts; a changed unit applies after daemon-reload and restart. Services "
        "that ask another service to start containers (dockerd, kubelet) are listed only. In a container that has RDMA "
        "devices the limit of its first process counts, unless it has CAP_IPC_LOCK.",
    .inspect = "grep 'Max locked' /proc/PID/limits; systemctl show -p LimitMEMLOCK UNIT",
    .fix = "systemctl edit UNIT, and write [Service] and LimitMEMLOCK=infinity; systemctl restart UNIT",
    .limits = {&kEnoughMemory},
    .ask = ask_memlock,
};

// The reason why jobs have the limits of limits.conf: Slurm propagates the limits of the submitting shell; without a
// service, shells start jobs. Empty: jobs do not have them.
std::string why_jobs_have_user_limits(const Host& host) {
  if (host.slurm && host.slurm->propagates_memlock)
    return "Slurm propagates the limits of the submitting shell to the job (PropagateResourceLimits, " +
           host.slurm->where.text() + ").";
  if (host.slurm || host.processes_hidden) return {};
  for (const JobService& each : host.services)
    if (each.unit.starts_with("slurm") || (each.role >= JobRole::runtime && !each.processes.empty())) return {};
  return "No service starts jobs on this host: jobs start in shells and inherit their limits.";
}

// Groups of sound servers. Their packages ship entries of their own, which do not concern jobs.
constexpr std::string_view kSound[] = {"@audio", "@jackuser", "@pipewire", "@realtime"};

constexpr const char* kFixLimitsConf =
    "Write \"* - memlock unlimited\" to /etc/security/limits.d/90-rdma.conf and log in again.";

constexpr const char* kCannotRegister =
    " cannot register memory with the NIC beyond this (ibv_reg_mr fails with ENOMEM). ";

// Excludes root, which may lock any memory, and system accounts (such as a display manager's), which start no jobs.
bool is_of_a_user(const JobService& service) {
  constexpr unsigned kFirstUser = 1000;  // UID_MIN of /etc/login.defs
  constexpr std::string_view kPrefix = "user@", kSuffix = ".service";
  if (!service.unit.starts_with(kPrefix) || !service.unit.ends_with(kSuffix)) return false;
  const std::string_view uid = std::string_view(service.unit).substr(kPrefix.size());
  return parse_number<unsigned>(uid.substr(0, uid.size() - kSuffix.size())).value_or(0) >= kFirstUser;
}

// The first session with too low a limit: "8 MiB (user@1000.service, pid 812)". Without an entry, sessions have the
// default limit of services (systemd's: 8 MiB).
std::string low_session(const View& view) {
  const Host& host = *view.now.host;
  if (!has_gpus_and_rdma(view) || host.slurm || why_jobs_have_user_limits(host).empty()) return {};
  for (const JobService& service : host.services)
    for (const JobProcess& each : service.processes)
      if (is_of_a_user(service) && each.limits.memlock && !is_enough_memlock(view, *each.limits.memlock))
        return memory_text(*each.limits.memlock) + " (" + service.unit + ", pid " + std::to_string(each.pid) + ")";
  return {};
}

std::optional<Finding> ask_limits_conf(const View& view) {
  const auto& host = view.now.host;
  if (!host || !has_rdma(view)) return std::nullopt;
  const std::string why = why_jobs_have_user_limits(*host), expected = "* unlimited";
  std::string low, all;
  bool some_only = true;  // no low entry for "*"
  bool has_soft = false;  // limits.conf sets the soft limit, which counts
  for (const UserLimit& entry : host->user_limits) {
    const LimitSetting& setting = entry.soft ? *entry.soft : *entry.hard;
    const std::string text = entry.domain + " " + bytes_text(setting.limit.soft) + " (" + setting.where.text() + ")";
    append_item(all, text);
    if (contains(kSound, entry.domain)) continue;
    has_soft = has_soft || entry.soft;
    if (is_enough_memlock(view, setting.limit)) continue;
    append_item(low, text);
    some_only = some_only && entry.domain != "*";
  }
  if (!has_soft)
    if (const std::string session = low_session(view); !session.empty())
      return bad(Status::warning, kHostSubject, session + "; no soft limit in limits.conf", expected,
                 std::string("Users' processes") + kCannotRegister + why, kFixLimitsConf);
  if (all.empty()) return std::nullopt;
  if (!low.empty() && why.empty() && host->processes_hidden) return std::nullopt;  // a hidden service may start jobs
  if (low.empty() || why.empty()) return good(kHostSubject, std::move(all), expected);
  std::string who = "Users' processes", remedy = "Replace them with \"* - memlock unlimited\". Then log in again.";
  if (some_only) {
    who = "Processes of these users";
    remedy =
        "Write unlimited in these lines, or take the lines out if the file has \"* - memlock unlimited\". Then log in "
        "again.";
  }
  if (host->slurm && host->slurm->propagates_memlock)
    remedy += " Or set PropagateResourceLimitsExcept=MEMLOCK in slurm.conf.";
  return bad(Status::warning, kHostSubject, low, expected, who + kCannotRegister + why, std::move(remedy));
}

constexpr Rule kLimitsConf{
    .id = "limits-conf",
    .group = group::host,
    .title = "limits.conf limits memlock of jobs",
    .meaning =
        "pam_limits applies the memlock entries of /etc/security/limits.conf and limits.d to logins. Jobs get them if "
        "Slurm propagates the limits of the submitting shell (its default), or if no service starts jobs. With a "
        "finite limit ibv_reg_mr fails with ENOMEM. If no service starts jobs and no entry exists, the limit of open "
        "sessions (user@UID.service) counts.",
    .inspect = "ulimit -l in a new shell; grep -r memlock /etc/security/limits.conf /etc/security/limits.d",
    .fix = kFixLimitsConf,
    .limits = {&kEnoughMemory},
    .ask_host = ask_limits_conf,
};

// The hard limit counts: NCCL raises the soft limit to it (src/bootstrap.cc, setFilesLimit), as do UCCL, Java and Go
// programs. systemd's default is 1024 with a hard limit of 524,288.
constexpr Limit kOpenFiles{"nofile",
                           "limit",
                           65'535,
                           "open files, at least (hard limit)",
                           "Microsoft, for MPI on its HPC machines; Slurm's unit has 131072",
                           1024,
                           1e9};

// `memlock` reports services with processes that cannot be read.
void ask_nofile(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  const double least = limit_of(view, kOpenFiles);
  for (const JobService& service : view.now.host->services) {
    JobLimit limit{.drop_in = "nofile.conf",
                   .line = "LimitNOFILE=1024:524288",  // programs with select(2) need a soft limit of 1024
                   .by_hand = "Start it with ulimit -Hn 131072",
                   .of_container =
                       "Start the container with --ulimit nofile=1048576 (docker, podman). A pod has the limit of its "
                       "runtime: LimitNOFILE of containerd or crio.",
                   .file = &JobService::nofile,
                   .process = &ProcessLimits::nofile,
                   .counts = &ResourceLimit::hard,
                   .text = count_text};
    std::string meaning =
        "Containers inherit the limit of open files of this service unless started with --ulimit nofile.";
    if (service.role == JobRole::batch) {
      limit.line = "LimitNOFILE=131072";
      meaning = "Jobs inherit the limit of open files of this service.";
    }
    if (service.unit == host::kContainer) meaning = "The processes of this container have this limit of open files.";
    meaning +=
        " Large jobs need a descriptor for each connection, queue and shared segment. Beyond the limit NCCL, MPI and "
        "data loaders fail with \"Too many open files\" (EMFILE); small jobs run well.";
    const JobProcess* process = most_limited(service, limit);
    if (process == nullptr) continue;
    std::string observed = observed_text(service, process, limit);
    if (process->limits.core) observed += "; core " + memory_text(*process->limits.core);  // a fact
    findings.push_back(job_limit_finding(
        service, process, limit,
        {observed, "at least " + std::to_string(std::llround(least)) + " (hard limit)", meaning}, Status::warning,
        [least](const ResourceLimit& each) { return static_cast<double>(each.hard) >= least; }));
  }
}

constexpr Rule kNofile{
    .id = "nofile",
    .group = group::host,
    .title = "A job launcher allows too few open files",
    .meaning =
        "Each connection, queue, device and shared segment needs a file descriptor; a process of a job on many GPUs "
        "needs thousands. Jobs inherit the limit of the service that starts them. The hard limit counts, because NCCL "
        "and others raise the soft limit to it.",
    .inspect = "grep 'Max open files' /proc/PID/limits; in a job: ulimit -Hn",
    .fix = "systemctl edit UNIT, and write [Service] and LimitNOFILE=131072; systemctl restart UNIT",
    .limits = {&kOpenFiles},
    .ask = ask_nofile,
};

constexpr Limit kMostHugePages{
    "hugepages", "limit", 0.5, "of the memory reserved as huge pages", "ours: what a site needs depends on its jobs",
    0.01,        1};

// Guests and DPDK run in huge pages, which then are most of the memory by design.
bool gives_devices_away(const Node& node) {
  for (const Gpu& gpu : node.topology.gpus)
    if (is_given_away(node, gpu.pci)) return true;
  for (const Nic& nic : node.topology.nics)
    if (is_given_away(node, nic.pci)) return true;
  return false;
}

std::optional<Finding> ask_hugepages(const View& view) {
  const auto& host = view.now.host;
  if (!host || !has_rdma(view)) return std::nullopt;
  std::string observed;
  uint64_t sum = 0;
  for (const auto& [size, pages] : host->huge_pages.reserved) {
    append_item(observed, std::to_string(pages) + " of " + bytes_text(size));
    // Quarters, so that the sum does not overflow.
    if (pages > kNoLimit / size) sum += kNoLimit / 4;
    else sum += pages * size / 4;
  }
  if (!host->huge_pages.transparent.empty())
    append_item(observed, "transparent: " + host->huge_pages.transparent, "; ");
  if (observed.empty()) return std::nullopt;
  const double most = limit_of(view, kMostHugePages);
  if (host->memory != 0 && !gives_devices_away(view.now) &&
      static_cast<double>(sum) > most / 4 * static_cast<double>(host->memory))
    return bad(Status::warning, kHostSubject, observed, "at most " + number_text(100 * most) + " % of the memory",
               "Only programs that ask for huge pages can use them. Jobs find too little of the " +
                   std::to_string(host->memory >> 30) + " GiB of memory free and are killed.",
               "Lower vm.nr_hugepages in /etc/sysctl.d, or hugepages= on the kernel command line.");
  return good(kHostSubject, std::move(observed), "any");
}

constexpr Rule kHugePages{
    .id = "hugepages",
    .group = group::host,
    .title = "Huge pages reserve too much memory",
    .meaning =
        "Memory reserved as huge pages is unavailable to everything that does not ask for huge pages. Not reported "
        "if guests or DPDK have devices of this machine (vfio-pci): they use huge pages.",
    .inspect = "grep Huge /proc/meminfo; sysctl vm.nr_hugepages",
    .fix = "Lower vm.nr_hugepages in /etc/sysctl.d, or hugepages= on the kernel command line.",
    .limits = {&kMostHugePages},
    .ask_host = ask_hugepages,
};

// With these drivers the governor powersave leaves the frequency to the hardware, which follows the energy preference.
bool has_energy_preference(const HostCpu& cpu) {
  return cpu.frequency_driver == "intel_pstate" || cpu.frequency_driver == "amd-pstate-epp";
}

std::optional<Finding> ask_governor(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->cpu.frequency.empty() || !has_gpus_and_rdma(view) || view.now.topology.is_guest())
    return std::nullopt;
  const HostCpu& cpu = host->cpu;
  const FrequencyGroup* slow = nullptr;
  std::string observed;
  for (const FrequencyGroup& group : cpu.frequency) {
    append_item(observed, group.governor, "; ");
    if (!group.preference.empty()) observed += " (" + group.preference + ")";
    if (cpu.frequency.size() > 1) observed += " on CPUs " + group.cpus;
    if (group.governor != "performance" && group.governor != "userspace" &&
        !(has_energy_preference(cpu) && group.preference == "performance"))
      slow = &group;
  }
  observed += " by " + cpu.frequency_driver;
  if (slow == nullptr) return good(kHostSubject, std::move(observed), "performance");
  std::string meaning =
      "CPUs start each burst of work at a low frequency. Threads that feed GPUs and NICs work in bursts.";
  if (slow->governor == "powersave" && !has_energy_preference(cpu))
    meaning = "The CPUs stay at their lowest frequency: work of the host takes two to four times as long.";
  return bad(Status::warning, kHostSubject, std::move(observed), "performance", std::move(meaning),
             "cpupower frequency-set -g performance; persistent: tuned-adm profile throughput-performance");
}

constexpr Rule kGovernor{
    .id = "governor",
    .group = group::host,
    .title = "CPUs do not run at full speed",
    .meaning =
        "The cpufreq governor performance keeps CPUs fast; so does powersave with the energy preference performance on "
        "intel_pstate and amd-pstate-epp. Other governors raise the frequency only after work has begun. Not checked "
        "in virtual machines.",
    .inspect = "cpupower frequency-info",
    .fix = "cpupower frequency-set -g performance; persistent: tuned-adm profile throughput-performance",
    .ask_host = ask_governor,
};

constexpr Limit kIdleLatency{"c-states",
                             "limit",
                             20,
                             "microseconds to leave the deepest idle state",
                             "C1 and C1E of Intel and AMD servers need 1 to 10, C6 and AMD's C2 100 and more",
                             1,
                             1e6};

// Deep idle states are the site's choice between power and latency. Only a choice without effect is a fault.
std::optional<Finding> ask_c_states(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->cpu.idle.empty() || !has_gpus_and_rdma(view) || view.now.topology.is_guest()) return std::nullopt;
  const HostCpu& cpu = host->cpu;
  std::string groups;
  for (const IdleGroup& group : cpu.idle) {
    append_item(groups, group.state + " (" + std::to_string(group.latency) + " us)", "; ");
    if (cpu.idle.size() > 1) groups += " on CPUs " + group.cpus;
  }
  const std::string observed = "deepest " + groups + " by " + cpu.idle_driver;
  const double shallow = limit_of(view, kIdleLatency);
  const auto [least, most] = std::ranges::minmax_element(cpu.idle, {}, &IdleGroup::latency);
  if (least->latency <= shallow && most->latency > shallow)
    return bad(Status::warning, kHostSubject, observed, "the same on all CPUs",
               "Deep idle states are disabled on some CPUs only. Threads on the other CPUs wake up later by " +
                   std::to_string(most->latency) + " microseconds, and the slowest rank sets the pace of a collective.",
               "Disable them on all CPUs: cpupower idle-set -D " + number_text(shallow) +
                   "; or enable them on all CPUs: cpupower idle-set -E");
  // The kernel option that asks for shallow states and that this driver ignores.
  if (cpu.idle_driver == "intel_idle" && most->latency > shallow)
    for (const std::string& option : host->kernel_options) {
      constexpr std::string_view kOption = "processor.max_cstate=";
      if (!option.starts_with(kOption)) continue;
      if (parse_number<unsigned>(std::string_view(option).substr(kOption.size())).value_or(9) > 1) continue;
      return bad(
          Status::warning, kHostSubject, observed, "C1, because of " + option + " on the kernel command line",
          "The option belongs to acpi_idle. The active driver intel_idle ignores it, so all deep idle states "
          "are in use.",
          "Add intel_idle.max_cstate=1 to the kernel command line, or: cpupower idle-set -D " + number_text(shallow));
    }
  return good(kHostSubject, observed, "the same on all CPUs");
}

constexpr Rule kCStates{
    .id = "c-states",
    .group = group::host,
    .title = "Idle states differ between CPUs",
    .meaning =
        "A CPU in a deep idle state (C6, AMD's C2) needs 100 microseconds and more to wake up. Deep idle states are "
        "the site's choice and listed only. Reported are deep states that are disabled on some CPUs only, and a kernel "
        "option that the active idle driver ignores.",
    .inspect = "cpupower idle-info",
    .fix = "cpupower idle-set -D 20 disables deep states on all CPUs; cpupower idle-set -E enables them.",
    .limits = {&kIdleLatency},
    .ask_host = ask_c_states,
};

// Clocks that are a device register: each read is a system call and slow
// (drivers/clocksource/acpi_pm.c, arch/x86/kernel/hpet.c, kernel/time/jiffies.c of Linux 6.12).
constexpr std::string_view kSlow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};

std::optional<Finding> ask_clock_source(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->clock.current.empty() || !has_rdma(view)) return std::nullopt;
  const ClockSource& clock = host->clock;
  const bool slow = contains(kSlow, clock.current);
  if (!slow || view.now.topology.is_guest())
    return good(kHostSubject, clock.current, "a clock source without a system call");
  std::string cause = "The kernel found the time stamp counters of the CPUs unstable.";
  std::string remedy =
      "Update the firmware. Reason: journalctl -k -g 'clocksource|tsc'. If the vendor guarantees a stable counter, add "
      "tsc=reliable to the kernel command line.";
  if (contains(clock.available, "tsc")) {
    cause = "It was chosen by clocksource= on the kernel command line or through sysfs.";
    remedy =
        "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, and remove clocksource= from the "
        "kernel command line.";
  }
  return bad(Status::warning, kHostSubject, clock.current, "tsc",
             "Each clock read is a system call and a slow device register: microseconds instead of "
             "nanoseconds. NCCL, MPI and profilers read the clock all the time. " +
                 cause,
             remedy);
}

constexpr Rule kClockSource{
    .id = "clock-source",
    .group = group::host,
    .title = "The clock source needs a system call",
    .meaning =
        "Reading the clock takes some 20 nanoseconds with tsc. With hpet or acpi_pm it takes microseconds and "
        "serializes all CPUs. The kernel falls back to them when it finds the time stamp counters of the CPUs "
        "unsynchronized. Not reported in virtual machines.",
    .inspect = "cat /sys/devices/system/clocksource/clocksource0/current_clocksource; journalctl -k -g clocksource",
    .fix =
        "Remove clocksource= from the kernel command line, or update the firmware if the kernel marked tsc unstable.",
    .ask_host = ask_clock_source,
};

Finding irq_finding(const Host& host, const NicInterrupts& nic) {
  const std::string numa = std::to_string(nic.numa), node = "NUMA node " + numa;
  const size_t far = nic.elsewhere.size();
  // With more queues than local CPUs, drivers place the rest on remote ones.
  if (far + std::min<size_t>(nic.local_cpus, nic.queues) <= nic.queues)
    return good(nic.nic, std::to_string(nic.queues - far) + " of " + counted(nic.queues, "queue") + " on " + node,
                node);
  constexpr size_t kShown = 4;
  std::string irqs;
  for (size_t i = 0; i < far && i < kShown; ++i) {
    const Interrupt& each = nic.elsewhere[i];
    append_item(irqs, std::to_string(each.irq) + " " + each.name + " on CPU " + each.cpus);
  }
  if (far > kShown) irqs += ", ...";
  std::string meaning =
      "CPUs on another NUMA node serve the interrupts of these queues: each packet and completion crosses the link "
      "between NUMA nodes. ";
  Fix fix = "For each IRQ: cat /sys/devices/system/node/node" + numa +
            "/cpulist > /proc/irq/IRQ/smp_affinity_list; NVIDIA: set_irq_affinity_bynode.sh " + numa + " NETDEV.";
  if (host.irqbalance == true) {
    meaning += "irqbalance runs and may have placed them there.";
    fix += " First ";
    fix += {Work::service, "systemctl disable --now irqbalance, or "};
    fix += "ban these IRQs (--banirq).";
  } else {
    meaning += "The driver, irqaffinity= or a tuning script may have placed them there.";
  }
  return bad(Status::warning, nic.nic,
             std::to_string(far) + " of " + counted(nic.queues, "queue") + " elsewhere: IRQ " + irqs, node,
             std::move(meaning), std::move(fix));
}

void ask_irq_affinity(const View& view, Findings& findings) {
  if (!view.now.host || view.now.topology.is_guest()) return;
  for (const NicInterrupts& nic : view.now.host->interrupts) findings.push_back(irq_finding(*view.now.host, nic));
}

constexpr Rule kIrqAffinity{
    .id = "irq-affinity",
    .group = group::host,
    .title = "NIC queues interrupt CPUs on another NUMA node",
    .meaning =
        "Each queue of a NIC interrupts one CPU (/proc/irq/N/effective_affinity_list), which should be on the NUMA "
        "node of the NIC. Queues that exceed the number of local CPUs are not reported, nor are interrupts for "
        "commands and events. irqbalance moves interrupts every 10 seconds unless they are banned.",
    .inspect = "grep NETDEV /proc/interrupts; cat /proc/irq/*/effective_affinity_list; systemctl status irqbalance",
    .fix =
        "set_irq_affinity_bynode.sh NODE NETDEV, and systemctl disable --now irqbalance or ban these interrupts "
        "(--banirq).",
    .ask = ask_irq_affinity,
};

std::optional<Finding> ask_numa_balancing(const View& view) {
  const auto& host = view.now.host;
  if (!host || !host->numa_balancing || !has_gpus_and_rdma(view) || view.now.topology.numa_cpus.size() < 2)
    return std::nullopt;
  const unsigned mode = *host->numa_balancing;
  if (view.policy != nullptr)
    if (const auto* wanted = find_in(view.policy->sysctl, "kernel.numa_balancing"))
      return good(kHostSubject, std::to_string(mode), *wanted + " (the configuration's [sysctl])");
  if (mode == 0) return good(kHostSubject, "0 (off)", "0");
  if ((mode & 1) == 0)  // 2 alone moves pages between kinds of memory only
    return good(kHostSubject, std::to_string(mode) + " (memory tiering only)", "0");
  std::string meaning =
      "The kernel unmaps pages of processes to see which CPU uses them, and moves pages between NUMA nodes. Jobs bound "
      "to a NUMA node only pay for the page faults, which delay GPU work.";
  // RCCL issue 1377: by the BIOS name "Hyper-V UEFI Release".
  if (view.now.topology.hypervisor == machine::kHyperV && view.now.platform.gpudirect.amdgpu)
    meaning += " On Hyper-V, RCCL also turns GPUDirect RDMA off if NCCL_IB_PCI_RELAXED_ORDERING is 0.";
  return bad(
      Status::warning, kHostSubject, std::to_string(mode) + " (on)", "0", std::move(meaning),
      "sysctl -w kernel.numa_balancing=0; persistent: \"kernel.numa_balancing\" = 0 in [sysctl] of fabric-agent.toml");
}

constexpr Rule kNumaBalancing{
    .id = "numa-balancing",
    .group = group::host,
    .title = "Automatic NUMA balancing is on",
    .meaning =
        "With NUMA balancing the kernel unmaps pages to see which CPU uses them, and migrates them. GPU jobs are "
        "already bound to their NUMA node and only pay for the page faults. A value wanted by [sysctl] in "
        "fabric-agent.toml is not reported.",
    .inspect = "sysctl kernel.numa_balancing",
    .fix = "sysctl -w kernel.numa_balancing=0, and add \"kernel.numa_balancing\" = 0 to [sysctl] in fabric-agent.toml.",
    .ask_host = ask_numa_balancing,
};

// NODE and SYS have a different meaning with SNC.
std::optional<Finding> ask_snc(const View& view) {
  const Topology& topology = view.now.topology;
  if (!view.now.host || topology.numa_socket.empty()) return std::nullopt;
  std::map<int, unsigned> nodes;  // by package
  for (const auto& [node, socket] : topology.numa_socket) ++nodes[socket];
  unsigned most = 0;
  for (const auto& [socket, count] : nodes) most = std::max(most, count);
  std::string observed = counted(most, "NUMA node") + " per package";
  if (most == 1) return good(kHostSubject, observed, "any");
  // The firmware's name for this number of nodes. AMD has up to NPS4.
  const auto& cpu = view.now.host->cpu;
  if (is_intel(cpu)) observed += " (SNC" + std::to_string(most) + ")";
  else if (is_amd(cpu) && most <= 4) observed += " (NPS" + std::to_string(most) + ")";
  else if (is_amd(cpu)) observed += " (L3 cache as NUMA domain)";
  observed +=
      ": NODE is within one node, SYS includes the other nodes of the same package, so a SYS pair can be as close as a "
      "NODE pair without clustering";
  return good(kHostSubject, std::move(observed), "any");
}

constexpr Rule kSnc{
    .id = "snc",
    .group = group::host,
    .title = "NUMA nodes per CPU package",
    .meaning =
        "Sub-NUMA clustering (Intel SNC, AMD NPS) divides a package into several NUMA nodes. Listed only. A GPU and a "
        "NIC on one package can then be SYS, and a process bound to the node of its GPU has only that part of the "
        "package's CPUs and memory bandwidth.",
    .inspect = "lscpu; numactl -H",
    .ask_host = ask_snc,
};

std::optional<Finding> ask_lockdown(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->lockdown.empty() || !has_rdma(view)) return std::nullopt;
  std::string observed = host->lockdown;
  if (observed != "none")
    observed +=
        ": denies opening root-only debugfs files (mlx5 congestion control), and writes to PCI configuration space "
        "(mrrs, ACS, vendor firmware tools)";
  return good(kHostSubject, std::move(observed), "any");
}

constexpr Rule kLockdown{
    .id = "lockdown",
    .group = group::host,
    .title = "Kernel lockdown mode",
    .meaning =
        "Under lockdown (Secure Boot) the kernel denies root some debugfs files and writes to PCI configuration space. "
        "Listed only, because it explains why some settings cannot be read or applied.",
    .inspect = "cat /sys/kernel/security/lockdown",
    .ask_host = ask_lockdown,
};

std::string provider_file(std::string_view name, unsigned version) {
  return "lib" + std::string(name) + "-rdmav" + std::to_string(version) + ".so";
}

// The version of most providers other than `name`: that of libibverbs, since it loads no other. nullopt: they differ,
// or there are no others.
std::optional<unsigned> usual_version(const VerbsLibrary& library, std::string_view name) {
  std::map<unsigned, size_t> counts;
  for (const auto& [other, versions] : library.providers)
    if (other != name)
      for (const unsigned version : versions) ++counts[version];
  return majority(counts);
}

// The module with the RDMA device of the driver's functions, which defines the ABI: "bnxt_re" of bnxt_en.
std::string rdma_driver_of(const std::string& kernel_driver) {
  const RdmaModules* modules = rdma_modules_of(kernel_driver, 0, 0);
  return modules == nullptr ? kernel_driver : std::string(modules->rdma);
}

// nullopt: unknown.
std::optional<Finding> provider_finding(const VerbsLibrary& library, const Port& port, const VerbsProvider& provider,
                                        const RdmaCm& rdma_cm, bool in_container) {
  std::string name(provider.name);
  if (!library.providers.contains(name) && library.providers.contains(std::string(provider.former)))
    name = provider.former;
  const auto usual = usual_version(library, name);
  const std::string driver = port.kernel_driver, folders = joined(library.folders),
                    place = in_container ? "this container" : "this host",
                    effect = ": programs of " + place + " do not see " + port.rdma +
                             ", although the kernel has it and its port may be ACTIVE. NCCL, MPI and UCX use TCP, or "
                             "fail." +
                             (in_container ? "" : " Programs in containers use the libibverbs of their image.");
  std::string install = in_container ? "In the image of the container, install" : "Install";
  install +=
      " libibverbs and its providers of one release: ibverbs-providers (Debian, Ubuntu), libibverbs "
      "(Red Hat, SUSE), or the bundle of the NIC's vendor for this release of the distribution. Verify: "
      "ibv_devices; IBV_SHOW_WARNINGS=1 ibv_devinfo shows why a provider is not used";
  if (!rdma_cm.is_loaded && !in_container)
    install +=
        ". Programs that connect by rdma_cm (SPDK, rping) also need the module rdma_ucm, which is not loaded: modprobe "
        "rdma_ucm";
  Fix fix = install;
  if (!is_known_provider(name)) {
    const std::string release = usual ? " (rdmav" + to_text(*usual) + ")" : "";
    fix = "Install the package of lib" + name + " that is built for this release of libibverbs" + release +
          ", or build it against the headers of this release (libibverbs-dev, rdma-core-devel); remove the old file. "
          "Verify: ibv_devices; IBV_SHOW_WARNINGS=1 ibv_devinfo shows why a provider is not used.";
  }
  const std::string line = "\"driver " + name + "\" in /etc/libibverbs.d";
  const auto* versions = find_in(library.providers, name);
  if (versions == nullptr) {
    const std::string expected = usual ? provider_file(name, *usual) : "lib" + name + "-rdmavN.so";
    return bad(Status::warning, port.rdma, "no provider for " + driver + " in " + folders, expected,
               "libibverbs has no provider for the driver " + driver + effect, fix);
  }
  const unsigned newest = *versions->rbegin();
  if (usual && !versions->contains(*usual))
    return bad(Status::warning, port.rdma,
               provider_file(name, newest) + ", while the other providers are -rdmav" + std::to_string(*usual),
               provider_file(name, *usual),
               "The provider for the driver " + driver +
                   " is of another release than libibverbs, which does not load it" + effect,
               fix);
  const std::string file = provider_file(name, usual.value_or(newest));
  if (!library.listed.empty() && !library.listed.contains(name))
    return bad(Status::warning, port.rdma, file + ", and no " + line, line,
               "libibverbs loads only the providers that its configuration lists" + effect,
               "echo driver " + name + " > /etc/libibverbs.d/" + name +
                   ".driver; or install the package again that has "
                   "the provider");
  const uint32_t* kernel_abi = find_in(library.kernel_abis, port.rdma);
  const AbiRange* supported = find_in(library.abis, file);
  if (kernel_abi != nullptr && supported != nullptr &&
      (*kernel_abi < supported->least || *kernel_abi > supported->most)) {
    std::string range = std::to_string(supported->least);
    if (supported->most != supported->least) range += " to " + std::to_string(supported->most);
    return bad(
        Status::warning, port.rdma, "ABI " + std::to_string(*kernel_abi) + " of " + rdma_driver_of(driver),
        "ABI " + range + " of " + file,
        "The provider does not support the ABI of the kernel's driver: the two have different origins or releases" +
            effect,
        "Install the driver and the provider from the same origin: both from the vendor's bundle, or both from the "
        "distribution. An update of the distribution may have replaced the vendor's provider. Verify: ibv_devices; cat "
        "/sys/class/infiniband_verbs/*/abi_version");
  }
  // Without the versions that the provider supports, its name alone proves nothing.
  if (kernel_abi != nullptr && supported == nullptr) return std::nullopt;
  return good(port.rdma, file, "a provider for " + driver);
}

// Whether processes of every user may read and write the file.
bool is_for_all(const VerbsFile& file) { return (file.mode & 06u) == 06u; }

// Devices whose file fewer users may open than that of another device: jobs of other users have fewer NICs on this
// machine than on its peers.
void add_closed_files(const View& view, Findings& findings) {
  const auto& files = view.now.verbs_files;
  const bool any_for_all = std::ranges::any_of(files, [](const auto& each) { return is_for_all(each.second); });
  for (const auto& [device, file] : files) {
    if (!any_for_all || is_for_all(file)) continue;
    const Port* port = find_where(view.now.ports, [&name = device](const Port& each) { return each.rdma == name; });
    if (port == nullptr || !is_endpoint(*port)) continue;
    const std::string path = "/dev/infiniband/" + file.name;
    std::string mode = "0";  // in octal, as ls(1) and chmod(1) have it
    for (const unsigned shift : {6u, 3u, 0u}) mode += static_cast<char>('0' + ((file.mode >> shift) & 7u));
    findings.push_back(bad(
        Status::warning, device, path + " has mode " + mode, "0666, like other devices here",
        "Jobs of other users cannot open this device (permission denied). NCCL then uses the other devices only: a "
        "rank with fewer devices than its peers hangs (NCCL_IGNORE_NET_MISMATCH=0 makes it an error).",
        "chmod 0666 " + path + ", and correct the udev rule, or the mode that the container runtime gives the file"));
  }
}

// In a container with a network namespace of its own: devices that it can use, by a netdev that was given to it, and
// whose file it was not given, while others have theirs. (With the network of the host it sees the netdevs of all
// NICs.) A netdev with the default route, or of a NIC for storage, may be for TCP alone.
void add_missing_files(const View& view, Findings& findings) {
  const auto& files = view.now.verbs_files;
  if (files.empty() || !contains(view.now.topology.nics, true, &Nic::netdev_elsewhere)) return;
  for (const Port& port : view.now.ports) {
    const auto is_own = [&](const Gid& gid) {
      return is_routable_v2(gid) && !gid.netdev.empty() && is_here(view.now, port, gid);
    };
    const auto own = std::ranges::find_if(port.gids, is_own);
    if (own == port.gids.end() || !is_endpoint(port) || !is_active(port) || files.contains(port.rdma)) continue;
    const Interface* netdev = find_in(view.now.network.interfaces, own->netdev);
    if ((netdev != nullptr && is_front_end(*netdev)) || has_other_purpose(view, port)) continue;
    findings.push_back(bad(
        Status::warning, port.rdma, own->netdev + " is here, and the device file of " + port.rdma + " is not",
        "its uverbs file in /dev/infiniband, like those of " + counted(files.size(), "other device"),
        "This container has the netdev of the NIC, and no program in it can open the RDMA device: NCCL uses the other "
        "devices only, and a rank with fewer devices than its peers hangs.",
        "ls -l /dev/infiniband; cat /sys/class/infiniband_verbs/*/ibdev. The device plugin gives the files: ask for as "
        "many of its resource as for networks, and read its log for this NIC."));
  }
}

// Programs that connect by librdmacm. Jobs of GPUs need it for iWARP only; so it is a fault if this host is to have it.
void add_connection_manager(const View& view, Findings& findings) {
  const RdmaCm& cm = view.now.rdma_cm;
  if (cm.is_loaded && cm.has_file) return;
  const Port* iwarp = nullptr;
  bool any = false;
  for (const Port& port : view.now.ports) {
    if (!is_endpoint(port)) continue;
    if (port.transport == RdmaTransport::iwarp && !capabilities_of(port.kernel_driver).is_software) iwarp = &port;
    any = any || is_roce(port) || port.transport == RdmaTransport::iwarp || port.link_layer == LinkLayer::infiniband;
  }
  if (!any) return;
  const std::string observed = cm.is_loaded ? "rdma_ucm is loaded, and /dev/infiniband/rdma_cm is not here"
                                            : "rdma_ucm is not loaded: no /dev/infiniband/rdma_cm",
                    fail =
                        " that connect by rdma_cm (SPDK, rping, ib_write_bw -R, libfabric's verbs) fail with \"No such "
                        "device\"",
                    expected = "rdma_ucm loaded";
  // The files of a container are those of its image.
  const bool in_container = is_container(view.now), is_wanted = !in_container && !cm.wanted_by.empty();
  if (iwarp == nullptr && !is_wanted) {
    findings.push_back(good(kHostSubject, observed + ": programs" + fail + "; NCCL does not need it",
                            "rdma_ucm, if programs connect by rdma_cm"));
    return;
  }
  std::string meaning = "Programs" + fail + ".";
  if (iwarp != nullptr) meaning += " The queue pairs of " + iwarp->rdma + " (iWARP) are connected by it alone.";
  else meaning += " NCCL does not need it.";
  Fix fix = "Give the container /dev/infiniband/rdma_cm, as it has the uverbs files.";
  if (!cm.is_loaded && !is_wanted)
    fix = std::string(in_container ? "On the host: " : "") +
          "modprobe rdma_ucm, and for each start: echo rdma_ucm > /etc/modules-load.d/rdma_ucm.conf";
  if (!cm.is_loaded && is_wanted)
    fix = {"modprobe rdma_ucm. " + cm.wanted_by + " has it loaded at each start. Why it was not: ls /etc/modprobe.d",
           {Work::service, "; journalctl -b -u 'rdma-load-modules@*' -u systemd-modules-load"}};
  findings.push_back(bad(Status::warning, kHostSubject, observed, expected, meaning, std::move(fix)));
}

// An image with the C library and without libibverbs: the container was given RDMA devices in vain.
Finding no_library_finding(const View& view) {
  return bad(
      Status::warning, kHostSubject, "no libibverbs.so.1 in the folders of libraries", "libibverbs and its providers",
      "NCCL loads libibverbs.so.1 by its name. Without it NCCL finds no RDMA device and uses TCP sockets, although "
      "this container has the device files of " +
          counted(view.now.verbs_files.size(), "RDMA device") + ".",
      "Install in the image: libibverbs1 ibverbs-providers (Debian, Ubuntu), or libibverbs (Red Hat, SUSE). "
      "Verify: ldconfig -p | grep libibverbs; ibv_devices");
}

// The memlock limit of a container that has too low a one: "64 KiB"; empty: it suffices, or is unknown.
std::string low_container_limit(const View& view) {
  if (!view.now.host) return {};
  for (const JobService& service : view.now.host->services)
    if (service.unit == host::kContainer)
      for (const JobProcess& each : service.processes)
        if (each.limits.memlock && !is_enough_memlock(view, *each.limits.memlock))
          return memory_text(*each.limits.memlock);
  return {};
}

void ask_rdma_provider(const View& view, Findings& findings) {
  if (view.now.lacks_verbs && is_container(view.now)) {
    const std::string limit = low_container_limit(view);
    std::string observed = "no uverbs file in /dev/infiniband", expected = "the device files of the container's NICs",
                start =
                    "Start the container with --device for /dev/infiniband/rdma_cm and the uverbs file of each of "
                    "its NICs";
    if (!limit.empty()) {
      observed += ", and a memlock limit of " + limit;
      expected += ", and unlimited memlock";
      start += ", and with --ulimit memlock=-1 or --cap-add IPC_LOCK";
    }
    findings.push_back(bad(
        view.now.topology.gpus.empty() ? Status::unknown : Status::warning, kHostSubject, std::move(observed),
        std::move(expected),
        "No program in this container can open an RDMA device, although /sys shows those of the host: NCCL, MPI and "
        "UCX use TCP, or fail.",
        start + ". A pod asks for the resource of a device plugin, or claims devices (DRA). If the host has no file "
                "either, "
                "it has not loaded ib_uverbs."));
    return;
  }
  if (view.now.lacks_verbs) {
    findings.push_back(bad(
        view.now.topology.gpus.empty() ? Status::unknown : Status::critical, kHostSubject,
        "ib_uverbs is not loaded: no /dev/infiniband/uverbs*", "ib_uverbs loaded",
        "No program can use an RDMA device, although its port may be ACTIVE: NCCL, MPI and UCX use TCP, or fail.",
        "modprobe ib_uverbs, and for each start: echo ib_uverbs > /etc/modules-load.d/ib_uverbs.conf. With the package "
        "rdma-core, udev loads it. If modprobe does not find it, the package of additional modules of this kernel has "
        "it (Ubuntu: linux-modules-extra)."));
    return;
  }
  add_closed_files(view, findings);
  add_missing_files(view, findings);
  add_connection_manager(view, findings);
  if (!view.now.host || !view.now.host->software.verbs) return;
  const VerbsLibrary& library = *view.now.host->software.verbs;
  const bool in_container = is_container(view.now);
  if (library.folders.empty() && library.providers.empty()) {
    if (in_container && !view.now.verbs_files.empty()) findings.push_back(no_library_finding(view));
    return;
  }
  std::set<std::string> seen;
  for (const Port& port : view.now.ports) {
    const VerbsProvider provider = host::provider_of(library, port.kernel_driver, port.rdma);
    if (!is_endpoint(port) || provider.name.empty() || !seen.insert(port.rdma).second) continue;
    if (auto finding = provider_finding(library, port, provider, view.now.rdma_cm, in_container))
      findings.push_back(std::move(*finding));
  }
}

}  // namespace

constexpr Rule kRdmaProvider{
    .id = "rdma-provider",
    .group = group::host,
    .title = "libibverbs has no provider for an RDMA device",
    .meaning =
        "Programs reach an RDMA device through the provider of its driver, lib*-rdmavN.so in the folder libibverbs, "
        "which /etc/libibverbs.d lists. N is the version of libibverbs: it loads no other. Without the provider "
        "programs do not see the device, although its port is ACTIVE. The version of most providers counts as that of "
        "libibverbs. A provider also supports only some ABI versions of its driver (abi_version); its file contains "
        "the range. Not judged if the range cannot be read. Judged if the host has providers; the providers in images "
        "of containers are seen only in the container, where a missing libibverbs is reported as well. Without the "
        "module ib_uverbs no program sees any RDMA device. A device file that "
        "fewer users may open than those of other devices is reported; in a container with a network namespace of its "
        "own, also a device without a file whose netdev the container has, and a container without any file. Without "
        "the module rdma_ucm, or its file "
        "rdma_cm, programs cannot connect by rdma_cm: this is listed, and reported if a file of the host has the "
        "module "
        "loaded at each start, or a port has iWARP.",
    .inspect =
        "ibv_devices; IBV_SHOW_WARNINGS=1 ibv_devinfo; ls /usr/lib*/libibverbs /usr/lib/*/libibverbs "
        "/etc/libibverbs.d",
    .fix =
        "Install libibverbs and its providers of one release: ibverbs-providers (Debian, Ubuntu), libibverbs (Red "
        "Hat, SUSE), or the bundle of the NIC's vendor.",
    .ask = ask_rdma_provider,
};

constexpr Rule kTable[]{kMemlock,     kLimitsConf,  kNofile,        kHugePages, kGovernor, kCStates,
                        kClockSource, kIrqAffinity, kNumaBalancing, kSnc,       kLockdown, kRdmaProvider};
const std::span<const Rule> kHostRules = kTable;

}  // namespace fabric
