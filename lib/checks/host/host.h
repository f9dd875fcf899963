// SPDX-License-Identifier: Apache-2.0
// Shared by the checks of group host.
#pragma once

#include "judge/finding.h"

namespace fabric {

inline bool has_rdma(const View& view) { return !view.now.ports.empty(); }

// On a machine for GPU jobs over RDMA a slow CPU setting costs more than the power it saves.
inline bool has_gpus_and_rdma(const View& view) { return has_rdma(view) && !view.now.topology.gpus.empty(); }

// In a guest the host controls frequency, idle states and clocks.
inline bool is_virtual(const View& view) { return !view.now.topology.hypervisor.empty(); }

// A resource limit that jobs inherit from the service that starts them: the limit of its running processes, and that of
// its unit files, which applies from its next start.
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
// "8 MiB (slurmd, pid 812); 8 MiB by FILE:LINE"
std::string observed_text(const JobService& service, const JobProcess* process, const JobLimit& limit);

// The finding about a service: `process` is the tightest, or null; `is_enough` of a limit that it or its files have;
// `low` and `meaning` where jobs have too little.
struct LimitTexts {
  std::string observed, expected, meaning;
};
Finding finding_of(const JobService& service, const JobProcess* process, const JobLimit& limit, const LimitTexts& texts,
                   Status low, const std::function<bool(const ResourceLimit&)>& is_enough);

// Whether jobs can register their memory with a NIC: true for unlimited, for the size of the memory, and for kMemlock.
// The soft limit counts: neither NCCL nor UCX raises it.
extern const Threshold kMemlock;
bool is_enough_memlock(const View& view, const ResourceLimit& limit);

}  // namespace fabric
