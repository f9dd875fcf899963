// SPDX-License-Identifier: Apache-2.0
// How many of a device's queue pairs, completion queues and memory regions belong to processes and to the kernel.
#pragma once

#include "kernel/netlink/netlink.h"
#include "kernel/rdma/nldev.h"
#include "kernel/telemetry.h"
#include "node/counter_reader.h"
#include "node/node.h"

namespace fabric {

// Expensive: the kernel visits every object, and most drivers query the firmware about every queue pair. So it is read
// when the count has changed, at most once a minute, else every ten minutes. A kind that cannot be reported, or not
// within 0.3 s, has no owners; it is retried after a minute, then twice as long each time, up to ten.
class OwnerReader {
 public:
  using Clock = std::chrono::steady_clock;

  // `counts`: the current ones. Error: a kind could not be read, now or when last tried.
  Result<void> read(Netlink& rdma, uint32_t device, const std::vector<ResourceCount>& counts, Clock::time_point now);
  // Appends the known owners of the kinds in `counts`.
  void add_to(std::vector<ResourceCount>& counts) const;

 private:
  struct Known {
    uint64_t count = 0;  // at that reading
    std::optional<nldev::Owners> owners{};
    std::optional<Error> failure{};
    Clock::time_point changed_due{}, due{};
    std::chrono::minutes pause{};  // after failures
  };
  void read(Known& known, Netlink& rdma, nldev::Object kind, std::chrono::milliseconds patience,
            Clock::time_point now) const;

  uint32_t device_ = 0;           // nldev index: another one is another device
  std::array<Known, 3> known_{};  // by nldev::Object
};

}  // namespace fabric
