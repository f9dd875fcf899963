// SPDX-License-Identifier: Apache-2.0
// Limits of processes, of users (pam_limits) and as Slurm hands them on. Texts are parsed by free functions; a line
// that its reader skips is skipped.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/capture/root.h"
#include "model/host.h"

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

}  // namespace fabric::host
