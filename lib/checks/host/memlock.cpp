// SPDX-License-Identifier: Apache-2.0
#include "checks/host/memlock.h"

#include <optional>
#include <string>

#include "checks/checks.h"
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
      "Registering memory with the NIC fails beyond it (ibv_reg_mr: ENOMEM, \"Cannot allocate memory\"), whatever "
      "limits.conf says.";
  if (service.role == JobRole::batch)
    return std::string("Jobs inherit this service's limit of locked memory. ") + kFails;
  return std::string(
             "Containers inherit this service's limit of locked memory unless they are started with their own "
             "(--ulimit memlock=-1) "
             "or with CAP_IPC_LOCK. ") +
         kFails;
}

Finding too_low(const View& view, const JobService& service, const JobProcess* process) {
  const Status status = service.role == JobRole::batch ? Status::critical : Status::warning;
  const bool mended = process != nullptr && service.memlock && is_enough(*view.now.host, service.memlock->limit);
  if (mended)
    return bad(status, service.unit, observed_text(service, process), kExpected,
               meaning_of(service) + " Its files are in order; the process was started before they were.",
               "Run systemctl daemon-reload; " + restart_of(service));
  return bad(status, service.unit, observed_text(service, process), kExpected, meaning_of(service),
             mend_files(service, kMemlock));
}

Finding judge(const View& view, const JobService& service) {
  const Host& host = *view.now.host;
  const JobProcess* process = tightest(service, kMemlock);
  const bool weak = service.role < JobRole::runtime;
  if (process == nullptr && !service.memlock)
    return weak ? good(service.unit, observed_text(service, process), kExpected)
                : bad(Status::unknown, service.unit, observed_text(service, process), kExpected,
                      "The limits of its running processes could not be read, and jobs depend on them.",
                      "Run the check as root.");
  const ResourceLimit& limit = process != nullptr ? *process->limits.memlock : service.memlock->limit;
  if (weak) return good(service.unit, observed_text(service, process) + " (starts no jobs itself)", "any");
  if (!is_enough(host, limit)) return too_low(view, service, process);
  if (process != nullptr && service.memlock && !is_enough(host, service.memlock->limit))
    return bad(Status::warning, service.unit, observed_text(service, process), kExpected,
               "The running service still has the limit that it was started with; after its next start jobs get the "
               "lower one of its files.",
               mend_files(service, kMemlock));
  return good(service.unit, observed_text(service, process), kExpected);
}

}  // namespace

bool is_enough(const Host& host, const ResourceLimit& limit) {
  constexpr uint64_t kPlenty = uint64_t{32} << 30;
  return limit.soft >= kPlenty || (host.memory != 0 && limit.soft >= host.memory);
}

// Of services that run: one that does not starts no jobs.
void ask_memlock(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  for (const JobService& service : view.now.host->services)
    if (!service.processes.empty() && !is_hidden(view, service, kMemlock)) findings.push_back(judge(view, service));
}

}  // namespace fabric
