// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a port's queue pairs by type, if an administrator has enabled them (rdma statistic qp set link
// DEV/PORT auto type on).
#pragma once

#include <chrono>
#include <cstdint>

#include "counters/reader.h"
#include "kernel/netlink/netlink.h"
#include "model/node.h"

namespace fabric {

// Reads the mode each time (cheap), and the counters only in automatic mode by type: other modes may have a set for
// each process or queue pair. By type there are few sets. Each costs a firmware command, less than the port's own
// hardware counters, for which the kernel then queries every set for each counter (rdma_counter_get_hwstat_value of
// Linux 6.12). A reading that fails or takes longer than 0.1 s is retried after a while (Backoff).
class QpReader {
 public:
  using Clock = Backoff::Clock;

  // Error: of this reading or, while waiting, of the last. A kernel or driver without the feature, or more sets than
  // can be read, is not an error.
  Result<void> read(Netlink& rdma, uint32_t device, uint32_t port, Clock::time_point now);
  // The last reading; `dump` shows failures.
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
