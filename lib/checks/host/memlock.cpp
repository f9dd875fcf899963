// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "checks/check.h"
#include "checks/host/host.h"
#include "checks/host/job_limit.h"
#include "model/finding.h"

namespace fabric {
namespace {

constexpr const char* kExpected = "unlimited";

constexpr JobLimit kLimit{"memlock.conf",       "LimitMEMLOCK=infinity", "Start it with ulimit -l unlimited",
                          &JobService::memlock, &ProcessLimits::memlock, &ResourceLimit::soft,
                          memory_text};

std::string observed_text(const JobService& service, const JobProcess* process) {
  const std::string files = by_files(service, kLimit);
  if (process == nullptr) return "not readable; " + files;
  return by_process(*process, kLimit) + (files.empty() ? "" : "; " + files);
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

Finding finding_for(const View& view, const JobService& service) {
  const JobProcess* process = tightest(service, kLimit);
  const std::string observed = observed_text(service, process);
  const bool weak = service.role < JobRole::runtime;
  if (process == nullptr && !service.memlock)
    return weak ? good(service.unit, observed, kExpected)
                : bad(Status::unknown, service.unit, observed, kExpected,
                      "The limits of its running processes could not be read.",
                      "Run as root: fabric-agentctl check --only memlock");
  if (weak) return good(service.unit, observed + " (starts no jobs itself)", "any");
  return finding_of(service, process, kLimit, {observed, kExpected, meaning_of(service)},
                    service.role == JobRole::batch ? Status::critical : Status::warning,
                    [&](const ResourceLimit& limit) { return is_enough_memlock(view, limit); });
}

// A service that does not run starts no jobs.
void ask(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  for (const JobService& service : view.now.host->services)
    if (!service.processes.empty() && !is_hidden(view, service, kLimit)) findings.push_back(finding_for(view, service));
}

}  // namespace

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
