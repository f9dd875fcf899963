// SPDX-License-Identifier: Apache-2.0
// The services that start jobs, and resource limits: of processes, of users (pam_limits), and as Slurm propagates them.
// Malformed lines are ignored, as the programs that these files are for do.
#pragma once

#include "kernel/capture/root.h"
#include "node/host.h"

namespace fabric::host {

// /proc/PID/limits (fs/proc/base.c proc_pid_limits, Linux 6.12).
ProcessLimits parse_process_limits(std::string_view text);

// Adds the memlock entries of one limits.conf(5) file to `limits`: a later entry of the same domain replaces an earlier
// one (modules/pam_limits/pam_limits.c of Linux-PAM 1.5). Values are KiB there, bytes here. Entries of root are
// ignored.
void parse_user_limits(std::string_view text, const std::string& file, std::vector<UserLimit>& limits);
// /etc/security/limits.conf, then limits.d/*.conf by name.
std::vector<UserLimit> read_user_limits(const Root& root);

// PropagateResourceLimits and PropagateResourceLimitsExcept of slurm.conf(5) of Slurm 22.05; the last one wins. `read`
// reads the files that the text includes (absolute paths): at most 32, each once.
using ReadFile = std::function<Result<std::string>(const std::string&)>;
SlurmLimits parse_slurm_limits(std::string_view text, const std::string& file, const ReadFile& read = {});
// The first existing slurm.conf of the packages' paths and of a configless slurmd.
std::optional<SlurmLimits> read_slurm_limits(const Root& root);

// The unit of a process by /proc/PID/cgroup (version 1 or 2): "slurmd.service", or "user@1000.service" for processes of
// a user's session manager. Empty: none, as in "session-3.scope".
std::string unit_of_cgroup(std::string_view text);

// Whether /proc shows the processes of a container: its process namespace has no threads of the kernel, and its first
// process is rarely an init. False for the container of fabric-agent itself, and for a pod whose containers share
// their processes. is_container() (endpoints.h) knows more.
bool has_container_processes(const Root& root);
// Whether a process 1 of this name may be a container's.
bool may_begin_container(std::string_view comm);
// Whether /proc/PID/status shows CAP_IPC_LOCK, with which the kernel pins memory beyond the limit (__ib_umem_get()).
bool has_ipc_lock(std::string_view status);
// The first thread of the kernel, process 2 of a host.
inline constexpr std::string_view kKernelThreads = "kthreadd";
// The unit of JobService for process 1 of a container.
inline constexpr const char* kContainer = "container";

// Whether a process of this name (comm) is a service's, a user's service manager, a DCBX daemon, irqbalance, or runs
// virtual machines: read_services() looks at no other process.
bool is_known_process(std::string_view comm);

struct Services {
  std::vector<JobService> found;  // in natural order of their names
  std::vector<DcbDaemon> dcb_daemons{};
  std::string vm_program{};         // as Host::vm_program
  std::optional<bool> irqbalance;   // whether it runs; absent: processes of other users are hidden (proc(5), hidepid)
  bool processes_hidden = false;    // process 1 is hidden, so processes of other users may be as well
  std::vector<std::string> unread;  // "limits of slurmd (pid 812): ... (EACCES)"
};
// The services that start jobs: unit files, running processes and their limits. Leaves out processes in containers,
// which have the container's limits; in a container its process 1 represents all (kContainer). Reads the name of every
// process once.
Services read_services(const Root& root);

}  // namespace fabric::host
