// SPDX-License-Identifier: Apache-2.0
// The services that start jobs: their unit files, their running processes and what those are allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/capture/root.h"
#include "model/host.h"

namespace fabric::host {

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
