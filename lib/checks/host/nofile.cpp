// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "checks/host/job_limit.h"
#include "model/finding.h"

namespace fabric {
namespace {

// What Microsoft sets for MPI on its HPC machines ("Set up user limits for MPI"); Slurm's own unit has 131,072,
// systemd's default is 1024 with 524,288 as the hard limit. The hard limit counts: NCCL raises the soft one to it
// (src/bootstrap.cc, setFilesLimit), as do UCCL, Java and Go programs.
constexpr uint64_t kEnough = 65'535;
constexpr const char* kExpected = "at least 65535 (hard limit)";

JobLimit nofile_of(const JobService& service) {
  // A soft limit of 1024 is what programs with select(2) need; jobs of a batch system get it from Slurm's unit as one.
  const char* const line = service.role == JobRole::batch ? "LimitNOFILE=131072" : "LimitNOFILE=1024:524288";
  return {
      "nofile.conf",        line,      "Start it with ulimit -Hn 131072", &JobService::nofile, &ProcessLimits::nofile,
      &ResourceLimit::hard, count_text};
}

// The limit of core files is shown for who looks for a dump, and not judged.
std::string observed_text(const JobService& service, const JobProcess& process, const JobLimit& limit) {
  const std::string files = by_files(service, limit);
  std::string text = by_process(process, limit) + (files.empty() ? "" : "; " + files);
  if (process.limits.core) text += "; core " + memory_text(*process.limits.core);
  return text;
}

std::string meaning_of(const JobService& service) {
  const std::string who =
      service.role == JobRole::batch
          ? "Jobs inherit this service's limit of open files"
          : "Containers inherit this service's limit of open files unless they are started with their own";
  return who +
         ", and cannot raise it. A process of a large job needs a descriptor for each connection, queue and shared "
         "segment: beyond "
         "the limit NCCL, MPI and data loaders fail with \"Too many open files\" (EMFILE), and small jobs run well.";
}

void judge(const JobService& service, const JobProcess& process, Findings& findings) {
  const JobLimit limit = nofile_of(service);
  const std::string observed = observed_text(service, process, limit);
  const bool running = process.limits.nofile->hard >= kEnough,
             files = !service.nofile || service.nofile->limit.hard >= kEnough;
  if (service.role < JobRole::runtime || (running && files))
    return findings.push_back(good(service.unit, observed, kExpected));
  if (running)
    return findings.push_back(
        bad(Status::warning, service.unit, observed, kExpected,
            "The running service still has the limit that it was started with; after its next start jobs get the lower "
            "one of its files.",
            mend_files(service, limit)));
  if (service.nofile && files)
    return findings.push_back(
        bad(Status::warning, service.unit, observed, kExpected,
            meaning_of(service) + " Its files are in order; the process was started before they were.",
            "Run systemctl daemon-reload; " + restart_of(service)));
  findings.push_back(
      bad(Status::warning, service.unit, observed, kExpected, meaning_of(service), mend_files(service, limit)));
}

}  // namespace

// Of services that run; where their processes cannot be read, `memlock` says so.
void ask_nofile(const View& view, Findings& findings) {
  if (!view.now.host || !has_rdma(view)) return;
  for (const JobService& service : view.now.host->services)
    if (const JobProcess* process = tightest(service, nofile_of(service))) judge(service, *process, findings);
}

}  // namespace fabric
