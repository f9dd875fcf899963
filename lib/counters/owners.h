// SPDX-License-Identifier: Apache-2.0
// Who made a device's queue pairs, completion queues and memory regions: processes or the kernel.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/rdma/nldev.h"
#include "model/telemetry.h"

namespace fabric {

// Read seldom, for the kernel goes through every object for it, and asks most drivers' firmware about every queue pair:
// when the count has changed, but not within a minute, and every ten minutes. Where the kernel or the driver cannot
// tell, or takes longer than 0.3 s for a kind, that kind is not told apart; it is tried again after a minute, then
// after twice as long each time, up to ten minutes.
class OwnerReader {
 public:
  using Clock = std::chrono::steady_clock;

  // `counts` are those of this moment. An error: a kind could not be read, this time or when it was tried last.
  Result<void> read(Netlink& rdma, uint32_t device, const std::vector<ResourceCount>& counts, Clock::time_point now);
  // What is known of the kinds in `counts` goes behind them.
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
