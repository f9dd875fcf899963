// SPDX-License-Identifier: Apache-2.0
// A resource limit that jobs inherit from the service that starts them: the limit of its running processes, and that of
// its unit files, which applies from its next start. Shared by `memlock` and `nofile`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/finding.h"
#include "model/view.h"

namespace fabric {

struct JobLimit {
  const char* drop_in;  // name of the file to write: "memlock.conf"
  const char* line;     // to write into it: "LimitMEMLOCK=infinity"
  const char* by_hand;  // the fix for a process without a unit
  std::optional<LimitSetting> JobService::*file;
  std::optional<ResourceLimit> ProcessLimits::*process;
  uint64_t ResourceLimit::*counts;            // soft or hard
  std::string (*text)(const ResourceLimit&);  // memory_text or count_text
};

// The process of a service with the lowest limit; nullptr: none could be read.
const JobProcess* tightest(const JobService& service, const JobLimit& limit);
// "8 MiB by FILE:LINE", "its unit sets none"; empty: no unit.
std::string by_files(const JobService& service, const JobLimit& limit);
// "8 MiB (slurmd, pid 812)"
std::string by_process(const JobProcess& process, const JobLimit& limit);
// The persistent fix, and the command that activates it.
std::string fix_files(const JobService& service, const JobLimit& limit);

// The finding about a service: `process` is the tightest, or null; `is_enough` of a limit that it or its files have;
// `low` the status where jobs have too little.
struct LimitTexts {
  std::string observed;
  std::string expected;
  std::string meaning;  // where jobs have too little
};
Finding finding_of(const JobService& service, const JobProcess* process, const JobLimit& limit, const LimitTexts& texts,
                   Status low, const std::function<bool(const ResourceLimit&)>& is_enough);

// Whether jobs can register their memory with a NIC: true for unlimited, for the size of the memory, and for kMemlock.
// The soft limit counts: neither NCCL nor UCX raises it.
extern const Threshold kMemlock;
bool is_enough_memlock(const View& view, const ResourceLimit& limit);

// Processes of other users are hidden and none of this service could be read: the limit of jobs is unknown.
bool is_hidden(const View& view, const JobService& service, const JobLimit& limit);

}  // namespace fabric
