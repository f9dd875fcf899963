// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "checks/check.h"
#include "checks/host/host.h"
#include "checks/host/job_limit.h"
#include "model/finding.h"
#include "model/view.h"

namespace fabric {

// The hard limit counts: NCCL raises the soft limit to it (src/bootstrap.cc, setFilesLimit), as do UCCL, Java and Go
// programs. systemd's default is 1024 with a hard limit of 524,288.
extern const Threshold kOpenFiles{"open_files",
                                  65'535,
                                  "open files, at least (hard limit)",
                                  "Microsoft, for MPI on its HPC machines; Slurm's unit has 131072",
                                  1024,
                                  1e9};

namespace {

JobLimit nofile_of(const JobService& service) {
  // Programs with select(2) need a soft limit of 1024.
  const char* const line = service.role == JobRole::batch ? "LimitNOFILE=131072" : "LimitNOFILE=1024:524288";
  return {
      "nofile.conf",        line,      "Start it with ulimit -Hn 131072", &JobService::nofile, &ProcessLimits::nofile,
      &ResourceLimit::hard, count_text};
}

// The limit of core files is shown as a fact.
std::string observed_text(const JobService& service, const JobProcess& process, const JobLimit& limit) {
  const std::string files = by_files(service, limit);
  std::string text = by_process(process, limit) + (files.empty() ? "" : "; " + files);
  if (process.limits.core) text += "; core " + memory_text(*process.limits.core);
  return text;
}

std::string meaning_of(const JobService& service) {
  const std::string who =
      service.role == JobRole::batch
          ? "Jobs inherit the limit of open files of this service"
          : "Containers inherit the limit of open files of this service unless started with --ulimit nofile";
  return who +
         ". Large jobs need a descriptor for each connection, queue and shared segment. Beyond the limit NCCL, MPI and "
         "data loaders fail with \"Too many open files\" (EMFILE); small jobs run well.";
}

// `memlock` reports services whose processes cannot be read.
void ask(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  const double least = limit_of(view, kOpenFiles);
  const std::string expected = "at least " + std::to_string(std::llround(least)) + " (hard limit)";
  for (const JobService& service : view.now.host->services)
    if (const JobProcess* process = tightest(service, nofile_of(service)))
      findings.push_back(finding_of(
          service, process, nofile_of(service),
          {observed_text(service, *process, nofile_of(service)), expected, meaning_of(service)}, Status::warning,
          [least](const ResourceLimit& limit) { return static_cast<double>(limit.hard) >= least; }));
}

}  // namespace

extern const Check kNofileCheck{
    .id = "nofile",
    .group = group::host,
    .title = "A job launcher allows too few open files",
    .meaning =
        "Each connection, queue, device and shared segment needs a file descriptor; a process of a job on many GPUs "
        "needs thousands. Jobs inherit the limit of the service that starts them. The hard limit counts, because NCCL "
        "and others raise the soft limit to it.",
    .inspect = "grep 'Max open files' /proc/PID/limits; in a job: ulimit -Hn",
    .fix = "systemctl edit UNIT, and write [Service] and LimitNOFILE=131072; systemctl restart UNIT",
    .ask = ask,
    .thresholds = {&kOpenFiles},
};

}  // namespace fabric
