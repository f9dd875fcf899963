// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {
namespace {

// systemd reads drop-ins by file name in any folder: the new one must sort after the one that sets the limit. The
// drop-in of an instance belongs to its template: "slurmd@.service.d".
std::string drop_in_of(const JobService& service, const JobLimit& limit) {
  std::string name = limit.drop_in;
  if (const auto& setting = service.*limit.file; setting && setting->where.file.find(".d/") != std::string::npos)
    if (const std::string other = base_name(setting->where.file); other >= name) name = "z" + other;
  const size_t at = service.unit.find('@');
  const std::string unit = at == std::string::npos ? service.unit : service.unit.substr(0, at + 1) + ".service";
  return "/etc/systemd/system/" + unit + ".d/" + name;
}

// The persistent fix, and its activation. Files of packages and for all services (system.conf, service.d) stay as is.
std::string fix_files(const JobService& service, const JobLimit& limit) {
  if (service.file.empty()) return std::string(limit.by_hand) + ", or from a unit with " + limit.line;
  const std::string then = " Then: systemctl daemon-reload && systemctl restart " + service.unit;
  const auto& setting = service.*limit.file;
  if (setting && setting->where.file.starts_with("/etc/systemd/system/") &&
      !setting->where.file.starts_with("/etc/systemd/system/service.d/"))
    return "In " + setting->where.text() + " write " + limit.line + "." + then;
  return "Write " + drop_in_of(service, limit) + " with two lines, [Service] and " + limit.line + "." + then;
}

constexpr JobLimit kLimit{.drop_in = "memlock.conf",
                          .line = "LimitMEMLOCK=infinity",
                          .by_hand = "Start it with ulimit -l unlimited",
                          .file = &JobService::memlock,
                          .process = &ProcessLimits::memlock,
                          .counts = &ResourceLimit::soft,
                          .text = memory_text};

Finding finding_for(const View& view, const JobService& service, const JobProcess* process) {
  const std::string observed = observed_text(service, process, kLimit), expected = "unlimited";
  const bool weak = service.role < JobRole::runtime, batch = service.role == JobRole::batch;
  if (process == nullptr && !service.memlock)
    return weak ? good(service.unit, observed, expected)
                : bad(Status::unknown, service.unit, observed, expected,
                      "The limits of its running processes could not be read.",
                      "Run as root: fabric-agentctl check --only memlock");
  if (weak) return good(service.unit, observed + " (starts no jobs itself)", "any");
  const std::string meaning =
      std::string(batch ? "Jobs inherit the memlock limit of this service."
                        : "Containers inherit the memlock limit of this service unless started with --ulimit "
                          "memlock=-1 or CAP_IPC_LOCK.") +
      " Beyond it ibv_reg_mr fails with ENOMEM (\"Cannot allocate memory\"). limits.conf does not apply to services.";
  return finding_of(service, process, kLimit, {observed, expected, meaning}, batch ? Status::critical : Status::warning,
                    [&](const ResourceLimit& limit) { return is_enough_memlock(view, limit); });
}

// A service that does not run starts no jobs. Where processes of other users are hidden, the limit of jobs is unknown.
void ask(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  for (const JobService& service : view.now.host->services) {
    const JobProcess* process = tightest(service, kLimit);
    if (!service.processes.empty() && (process != nullptr || !view.now.host->processes_hidden))
      findings.push_back(finding_for(view, service, process));
  }
}

}  // namespace

const JobProcess* tightest(const JobService& service, const JobLimit& limit) {
  const JobProcess* found = nullptr;
  const auto value = [&](const JobProcess& each) { return (*(each.limits.*limit.process)).*limit.counts; };
  for (const JobProcess& each : service.processes)
    if (each.limits.*limit.process && (found == nullptr || value(each) < value(*found))) found = &each;
  return found;
}

std::string observed_text(const JobService& service, const JobProcess* process, const JobLimit& limit) {
  std::string out = "not readable";
  if (process != nullptr)
    out = limit.text(*(process->limits.*limit.process)) + " (" + process->comm + ", pid " +
          std::to_string(process->pid) + ")";
  if (service.file.empty()) return process == nullptr ? out + "; " : out;
  const auto& setting = service.*limit.file;
  return out + "; " + (setting ? limit.text(setting->limit) + " by " + setting->where.text() : "its unit sets none");
}

Finding finding_of(const JobService& service, const JobProcess* process, const JobLimit& limit, const LimitTexts& texts,
                   Status low, const std::function<bool(const ResourceLimit&)>& is_enough) {
  const auto& setting = service.*limit.file;
  const bool files = !setting || is_enough(setting->limit);
  const bool running = process != nullptr ? is_enough(*(process->limits.*limit.process)) : files;
  if (service.role < JobRole::runtime || (running && files)) return good(service.unit, texts.observed, texts.expected);
  if (running)
    return bad(
        Status::warning, service.unit, texts.observed, texts.expected,
        "The running service still has its old limit. From its next start jobs get the lower limit of its unit files.",
        fix_files(service, limit));
  if (process != nullptr && setting && files)
    return bad(low, service.unit, texts.observed, texts.expected,
               texts.meaning + " Its unit files are correct, but the process started before the change.",
               "systemctl daemon-reload && systemctl restart " + service.unit);
  return bad(low, service.unit, texts.observed, texts.expected, texts.meaning, fix_files(service, limit));
}

extern const Threshold kMemlock("memlock", 32, "GiB of locked memory, or the whole memory",
                                "ROCm cvs (cvs/input/config_file/preflight)", 0.001, 1e6);

bool is_enough_memlock(const View& view, const ResourceLimit& limit) {
  constexpr double kGiB = 1 << 30;
  const uint64_t memory = view.now.host->memory;
  return static_cast<double>(limit.soft) >= limit_of(view, kMemlock) * kGiB || (memory != 0 && limit.soft >= memory);
}

extern const Check kMemlockCheck{
    .id = "memlock",
    .group = group::host,
    .title = "A job launcher limits memlock",
    .meaning =
        "RDMA pins its memory, and the kernel counts pinned memory against RLIMIT_MEMLOCK. Jobs inherit the limit of "
        "the service that starts them (slurmd, pbs_mom, containerd, ...). Limits in limits.conf apply to logins only. "
        "The limit of the running process counts; a changed unit applies after daemon-reload and restart. Services "
        "that ask another service to start containers (dockerd, kubelet) are listed only.",
    .inspect = "grep 'Max locked' /proc/PID/limits; systemctl show -p LimitMEMLOCK UNIT",
    .fix = "systemctl edit UNIT, and write [Service] and LimitMEMLOCK=infinity; systemctl restart UNIT",
    .ask = ask,
    .thresholds = {&kMemlock},
};

}  // namespace fabric
