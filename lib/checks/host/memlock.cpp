// SPDX-License-Identifier: Apache-2.0
#include "checks/host/memlock.h"

#include <optional>
#include <string>

#include "checks/check.h"
#include "checks/host/host.h"
#include "checks/host/job_limit.h"
#include "model/finding.h"

namespace fabric {
namespace {

constexpr const char* kExpected = "unlimited";

constexpr JobLimit kMemlock{"memlock.conf",       "LimitMEMLOCK=infinity", "Start it with ulimit -l unlimited",
                            &JobService::memlock, &ProcessLimits::memlock, &ResourceLimit::soft,
                            memory_text};

std::string observed_text(const JobService& service, const JobProcess* process) {
  const std::string files = by_files(service, kMemlock);
  if (process == nullptr) return "not readable; " + files;
  return by_process(*process, kMemlock) + (files.empty() ? "" : "; " + files);
}

std::string meaning_of(const JobService& service) {
  constexpr const char* kFails =
      "Beyond it ibv_reg_mr fails with ENOMEM (\"Cannot allocate memory\"). limits.conf does not apply to services.";
  if (service.role == JobRole::batch) return std::string("Jobs inherit the memlock limit of this service. ") + kFails;
  return std::string(
             "Containers inherit the memlock limit of this service unless started with --ulimit memlock=-1 or "
             "CAP_IPC_LOCK. ") +
         kFails;
}

Finding too_low(const View& view, const JobService& service, const JobProcess* process) {
  const Status status = service.role == JobRole::batch ? Status::critical : Status::warning;
  const bool fixed = process != nullptr && service.memlock && is_enough(*view.now.host, service.memlock->limit);
  if (fixed)
    return bad(status, service.unit, observed_text(service, process), kExpected,
               meaning_of(service) + " Its unit files are correct, but the process started before the change.",
               "systemctl daemon-reload && " + restart_of(service));
  return bad(status, service.unit, observed_text(service, process), kExpected, meaning_of(service),
             fix_files(service, kMemlock));
}

Finding finding_for(const View& view, const JobService& service) {
  const Host& host = *view.now.host;
  const JobProcess* process = tightest(service, kMemlock);
  const bool weak = service.role < JobRole::runtime;
  if (process == nullptr && !service.memlock)
    return weak ? good(service.unit, observed_text(service, process), kExpected)
                : bad(Status::unknown, service.unit, observed_text(service, process), kExpected,
                      "The limits of its running processes could not be read.",
                      "Run as root: fabric-agentctl check --only memlock");
  const ResourceLimit& limit = process != nullptr ? *process->limits.memlock : service.memlock->limit;
  if (weak) return good(service.unit, observed_text(service, process) + " (starts no jobs itself)", "any");
  if (!is_enough(host, limit)) return too_low(view, service, process);
  if (process != nullptr && service.memlock && !is_enough(host, service.memlock->limit))
    return bad(
        Status::warning, service.unit, observed_text(service, process), kExpected,
        "The running service still has its old limit. From its next start jobs get the lower limit of its unit files.",
        fix_files(service, kMemlock));
  return good(service.unit, observed_text(service, process), kExpected);
}

}  // namespace

bool is_enough(const Host& host, const ResourceLimit& limit) {
  constexpr uint64_t kPlenty = uint64_t{32} << 30;
  return limit.soft >= kPlenty || (host.memory != 0 && limit.soft >= host.memory);
}

namespace {

// A service that does not run starts no jobs.
void ask(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  for (const JobService& service : view.now.host->services)
    if (!service.processes.empty() && !is_hidden(view, service, kMemlock))
      findings.push_back(finding_for(view, service));
}

}  // namespace

extern const Check kMemlockCheck{
    .id = "memlock",
    .group = group::host,
    .title = "Job launchers have unlimited memlock",
    .meaning =
        "RDMA pins its memory, and the kernel counts pinned memory against RLIMIT_MEMLOCK. Jobs inherit the limit of "
        "the service that starts them (slurmd, pbs_mom, containerd, ...). Limits in limits.conf apply to logins only. "
        "The limit of the running process counts; a changed unit applies after daemon-reload and restart. Services "
        "that ask another service to start containers (dockerd, kubelet) are listed only.",
    .inspect = "grep 'Max locked' /proc/PID/limits; systemctl show -p LimitMEMLOCK UNIT",
    .fix = "Add a drop-in with [Service] and LimitMEMLOCK=infinity, then systemctl daemon-reload and restart the unit.",
    .ask = ask,
};

}  // namespace fabric
