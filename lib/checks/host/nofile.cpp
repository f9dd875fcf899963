// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {

// The hard limit counts: NCCL raises the soft limit to it (src/bootstrap.cc, setFilesLimit), as do UCCL, Java and Go
// programs. systemd's default is 1024 with a hard limit of 524,288.
extern const Threshold kOpenFiles("open_files", 65'535, "open files, at least (hard limit)",
                                  "Microsoft, for MPI on its HPC machines; Slurm's unit has 131072", 1024, 1e9);

namespace {

Finding finding_for(const JobService& service, const JobProcess& process, const JobLimit& limit, double least) {
  std::string observed = observed_text(service, &process, limit);
  if (process.limits.core) observed += "; core " + memory_text(*process.limits.core);  // a fact
  const std::string meaning =
      std::string(service.role == JobRole::batch
                      ? "Jobs inherit the limit of open files of this service"
                      : "Containers inherit the limit of open files of this service unless started with --ulimit "
                        "nofile") +
      ". Large jobs need a descriptor for each connection, queue and shared segment. Beyond the limit NCCL, MPI and "
      "data loaders fail with \"Too many open files\" (EMFILE); small jobs run well.";
  return finding_of(service, &process, limit,
                    {observed, "at least " + std::to_string(std::llround(least)) + " (hard limit)", meaning},
                    Status::warning,
                    [least](const ResourceLimit& each) { return static_cast<double>(each.hard) >= least; });
}

// `memlock` reports services whose processes cannot be read.
void ask(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  for (const JobService& service : view.now.host->services) {
    const JobLimit limit{.drop_in = "nofile.conf",
                         // Programs with select(2) need a soft limit of 1024.
                         .line = service.role == JobRole::batch ? "LimitNOFILE=131072" : "LimitNOFILE=1024:524288",
                         .by_hand = "Start it with ulimit -Hn 131072",
                         .file = &JobService::nofile,
                         .process = &ProcessLimits::nofile,
                         .counts = &ResourceLimit::hard,
                         .text = count_text};
    if (const JobProcess* process = tightest(service, limit))
      findings.push_back(finding_for(service, *process, limit, limit_of(view, kOpenFiles)));
  }
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
