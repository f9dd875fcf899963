// SPDX-License-Identifier: Apache-2.0
// The outside world in one argument: files, netlink, ethtool, verbs, clocks.
#pragma once

#include <ctime>

#include "kernel/capture/root.h"
#include "kernel/capture/tape.h"
#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/netlink/netlink.h"

namespace fabric {

// The netlink members are null for a tree without recorded answers and for a machine without the RDMA stack. `route`
// shows whether there is a kernel at all, live or recorded.
struct Kernel {
  Root root;
  std::unique_ptr<Netlink> route{}, generic{}, rdma{};
  std::optional<ethtool::Family> ethtool{};
  std::unique_ptr<ethtool::Statistics> statistics{};
  std::unique_ptr<ethtool::Tunables> tunables{};  // null also during a replay, which has recorded answers
  bool verbs = false;                             // libibverbs may be used, through query_recorded()
  std::shared_ptr<Tape> tape{};                   // records or replays; null: does neither
  std::map<std::string, std::string> serials{};   // of the boards that were read, by function and netdev
};

// "/" is the running machine; any other directory a captured tree. Recorded answers in it (kAnswersFile) replace
// the kernel; without them it is read without netlink.
Result<Kernel> open_kernel(const std::string& root = "/");

// Starts recording all questions to the kernel and their answers.
void record(Kernel& kernel, const std::shared_ptr<Tape>& tape);
// Sets which sample follows. No effect if the kernel is neither recorded nor replayed.
void begin(const Kernel& kernel, Sample sample);

// The answer of a library or another program as text: calls `query`, or replays its answer on the recorded machine.
// `question` names it: "verbs active_mtu mlx5_0 1". ENODATA: the recording does not have the question.
Result<std::string> query_recorded(const Kernel& kernel, const std::string& question,
                                   const std::function<Result<std::string>()>& query);

// The machine's clocks. wait_until() returns at once for a moment in the past, and during a replay.
std::chrono::steady_clock::time_point steady_now(const Kernel& kernel);
std::tm local_now(const Kernel& kernel);
void wait_until(const Kernel& kernel, std::chrono::steady_clock::time_point moment);

// Records the answers of `live`. A null `live` replays the tape; questions that are not on it fail with EOPNOTSUPP.
std::unique_ptr<Netlink> on_tape(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape);

}  // namespace fabric
