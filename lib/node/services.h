// SPDX-License-Identifier: Apache-2.0
// The services that start jobs, and what processes are allowed: limits of processes, of users (pam_limits) and as Slurm
// hands them on. Texts are parsed by free functions; a malformed line is ignored, as by its own reader.
#pragma once

#include "kernel/capture/root.h"
#include "node/host.h"

namespace fabric::host {

// /proc/PID/limits (fs/proc/base.c proc_pid_limits, Linux 6.12).
ProcessLimits parse_process_limits(std::string_view text);

// The memlock entries of one limits.conf(5) file, taken into `limits`: a later entry of the same domain replaces an
// earlier one (modules/pam_limits/pam_limits.c of Linux-PAM 1.5). Values are KiB there, bytes here. Entries of root are
// left out.
void parse_user_limits(std::string_view text, const std::string& file, std::vector<UserLimit>& limits);
// /etc/security/limits.conf, then limits.d/*.conf by name.
std::vector<UserLimit> read_user_limits(const Root& root);

// PropagateResourceLimits and PropagateResourceLimitsExcept of slurm.conf(5) of Slurm 22.05, the last word winning, in
// the file's text and in what it includes by way of `read` (absolute paths): at most 32 files, each once.
using ReadFile = std::function<Result<std::string>(const std::string&)>;
SlurmLimits parse_slurm_limits(std::string_view text, const std::string& file, const ReadFile& read = {});
// The first slurm.conf that there is: the packages' places and that of a configless slurmd.
std::optional<SlurmLimits> read_slurm_limits(const Root& root);

// The services that start jobs: their unit files, their running processes and what those are allowed.

// The unit below which /proc/PID/cgroup (version 1 or 2) places a process: "slurmd.service", "user@1000.service" of
// what runs in a user's session manager. Empty: none, "session-3.scope" say.
std::string unit_of_cgroup(std::string_view text);

struct Services {
  std::vector<JobService> found;    // in natural order of their names
  std::optional<bool> irqbalance;   // absent: the processes of others are hidden (proc(5), hidepid)
  bool processes_hidden = false;    // process 1 is: those of others may be running unseen
  std::vector<std::string> unread;  // "limits of slurmd (pid 812): ... (EACCES)"
};
// Processes in containers are left out: their limits are the container's. Reads the name of every process once.
Services read_services(const Root& root);

}  // namespace fabric::host
