// SPDX-License-Identifier: Apache-2.0
// The limits of jobs: locked memory and open files.
#include "judge/limits.h"

#include <cmath>

#include "judge/finding.h"
#include "judge/rule.h"
#include "node/services.h"

namespace fabric {
namespace {

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
  if (!view.now.host || view.now.ports.empty()) return;
  for (const JobService& service : view.now.host->services) {
    const JobProcess* process = most_limited(service, kMemlockLimit);
    // Without a device file `rdma-provider` reports both: the next start of the container gives it the limit, too.
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
  if (view.now.ports.empty() || view.now.topology.gpus.empty() || host.slurm || why_jobs_have_user_limits(host).empty())
    return {};
  for (const JobService& service : host.services)
    for (const JobProcess& each : service.processes)
      if (is_of_a_user(service) && each.limits.memlock && !is_enough_memlock(view, *each.limits.memlock))
        return memory_text(*each.limits.memlock) + " (" + service.unit + ", pid " + std::to_string(each.pid) + ")";
  return {};
}

std::optional<Finding> ask_limits_conf(const View& view) {
  const auto& host = view.now.host;
  if (!host || view.now.ports.empty()) return std::nullopt;
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
  if (!view.now.host || view.now.ports.empty()) return;
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

}  // namespace

std::string low_container_limit(const View& view) {
  if (!view.now.host) return {};
  for (const JobService& service : view.now.host->services)
    if (service.unit == host::kContainer)
      for (const JobProcess& each : service.processes)
        if (each.limits.memlock && !is_enough_memlock(view, *each.limits.memlock))
          return memory_text(*each.limits.memlock);
  return {};
}

constexpr Rule kTable[]{kMemlock, kLimitsConf, kNofile};
const std::span<const Rule> kLimitsRules = kTable;

}  // namespace fabric
