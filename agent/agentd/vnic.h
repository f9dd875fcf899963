// SPDX-License-Identifier: Apache-2.0
// Reads the queue counters of mlx5's firmware (devlink health reporter "vnic"), on a thread of its own. agentd does it
// because the exporter lacks CAP_NET_ADMIN.
#pragma once

#include "agentd/messages.h"
#include "agentd/publishing_thread.h"
#include "node/port.h"

namespace fabric::agentd {

// A firmware command for each function, and one more since Linux 6.15 (the memory that the function uses).
inline constexpr std::chrono::minutes kVnicInterval{1};

// The devices whose queues the rules judge, as state::devlink_device().
std::vector<std::string> functions_of(const std::vector<Port>& ports);

struct VnicEnvironment {
  std::string directory = "/";  // below it: run/fabric-agent
  JournalSink log = write_journal;
  // Reads one function's counters; empty: it has none. Called only on the thread.
  std::function<Result<std::map<std::string, uint64_t>>(const std::string& function)> read;
};
// Reads the functions of this machine over a netlink socket of its own.
VnicEnvironment real_vnic_environment();

// Reads the counters and publishes all of them in run/fabric-agent/vnic.json. A function that cannot be read is retried
// at growing pauses (Backoff).
class VnicWatch : public PublishingThread {
 public:
  explicit VnicWatch(VnicEnvironment environment);
};

}  // namespace fabric::agentd
