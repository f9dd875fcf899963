// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a port's queue pairs by their kind, where somebody had the kernel count so
// (rdma statistic qp set link DEV/PORT auto type on).
#pragma once

#include <chrono>
#include <cstdint>

#include "counters/reader.h"
#include "kernel/netlink/netlink.h"
#include "model/node.h"

namespace fabric {

// The mode with every reading (cheap); the counters only in automatic mode by type alone, for in every other there may
// be a set for each process or queue pair. By type they are few, and each costs a command to the firmware: less than
// the port's own hardware counters cost then, for which the kernel asks every set anew for each counter
// (rdma_counter_get_hwstat_value of Linux 6.12). What fails, or takes longer than 0.1 s, is left alone for a while
// (Backoff).
class QpReader {
 public:
  using Clock = Backoff::Clock;

  // An error: of this time or, while it is left alone, of the last. That the kernel or the driver cannot tell, or tells
  // more than can be read, is none.
  Result<void> read(Netlink& rdma, uint32_t device, uint32_t port, Clock::time_point now);
  // As read last; `dump` tells of failures.
  [[nodiscard]] const QpStatistics& last() const { return last_; }

 private:
  Result<void> ask(Netlink& rdma, uint32_t port);

  uint32_t device_ = 0;  // nldev index: another one is another device
  bool there_ = true;
  Backoff backoff_;
  Result<void> failure_;
  QpStatistics last_;
};

}  // namespace fabric
