// SPDX-License-Identifier: Apache-2.0
// A resource limit that jobs inherit from the service that starts them: by its running processes, and by its files,
// which hold from its next start on. What `memlock` and `nofile` have in common.
#pragma once

#include <optional>
#include <string>

#include "checks/check.h"

namespace fabric {

struct JobLimit {
  const char* drop_in;  // name of the file to write: "memlock.conf"
  const char* line;     // to write into it: "LimitMEMLOCK=infinity"
  const char* by_hand;  // what to do where no unit started it
  std::optional<LimitSetting> JobService::*file;
  std::optional<ResourceLimit> ProcessLimits::*process;
  uint64_t ResourceLimit::*counts;            // soft or hard
  std::string (*text)(const ResourceLimit&);  // memory_text or count_text
};

// The process of a service with the least, or null where none could be read.
const JobProcess* tightest(const JobService& service, const JobLimit& limit);
// "8 MiB by FILE:LINE", "its unit sets none"; empty: there is no unit.
std::string by_files(const JobService& service, const JobLimit& limit);
// "8 MiB (slurmd, pid 812)"
std::string by_process(const JobProcess& process, const JobLimit& limit);
// How to set it for good, and to have it from now on.
std::string mend_files(const JobService& service, const JobLimit& limit);
std::string restart_of(const JobService& service);

// The processes of others are hidden from this reader, and none of this service's could be read: what jobs get is not
// known.
bool is_hidden(const View& view, const JobService& service, const JobLimit& limit);

}  // namespace fabric
