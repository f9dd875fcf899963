// SPDX-License-Identifier: Apache-2.0
// The outside world as one argument.
#pragma once

#include <ctime>

#include "kernel/capture/root.h"
#include "kernel/capture/tape.h"
#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/netlink/netlink.h"

namespace fabric {

// The netlink members are null for a tree without recorded answers and for a machine without the RDMA stack. `route`
// shows whether there is a kernel, live or recorded, at all.
struct Kernel {
  Root root;
  std::unique_ptr<Netlink> route{}, generic{}, rdma{};
  std::optional<ethtool::Family> ethtool{};
  std::unique_ptr<ethtool::Statistics> statistics{};
  bool verbs = false;                            // libibverbs may be asked, by way of query_recorded()
  std::shared_ptr<Tape> tape{};                  // records or replays; null: neither
  std::map<std::string, std::string> serials{};  // of boards, as far as they were read; by function and netdev
};

// "/" is the running machine; any other directory a captured tree. Recorded answers in it (kAnswersFile) replace
// the kernel; without them it is read without netlink.
Result<Kernel> open_kernel(const std::string& root = "/");

// From now on everything that is asked of the kernel is recorded, too.
void record(Kernel& kernel, const std::shared_ptr<Tape>& tape);
// Which reading follows; of a machine that is neither recorded nor replayed, nothing happens.
void begin(const Kernel& kernel, Sample sample);

// What a library or another program says, as text: `ask` is called, or what it said on the recorded machine is given.
// `question` names it: "verbs active_mtu mlx5_0 1". ENODATA: it was not asked there.
Result<std::string> query_recorded(const Kernel& kernel, const std::string& question,
                                   const std::function<Result<std::string>()>& ask);

// The machine's clocks. `wait_until` returns at once for a moment in the past.
std::chrono::steady_clock::time_point steady_now(const Kernel& kernel);
std::tm local_now(const Kernel& kernel);
void wait_until(const Kernel& kernel, std::chrono::steady_clock::time_point moment);

// Records what `live` answers; a null `live` replays the tape, and questions that are not on it fail with EOPNOTSUPP.
std::unique_ptr<Netlink> on_tape(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape);
std::unique_ptr<ethtool::Statistics> on_tape(std::unique_ptr<ethtool::Statistics> live, std::shared_ptr<Tape> tape);

}  // namespace fabric
