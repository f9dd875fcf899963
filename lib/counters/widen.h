// SPDX-License-Identifier: Apache-2.0
// Counters that the hardware keeps in 32 bits and that wrap, made as wide as all others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/node.h"

namespace fabric {

// Is the RDMA hardware counter or statistic of the netdev a 32-bit one that wraps? mlx5's Q counters are (struct
// mlx5_ifc_query_q_counter_out_bits, linux/mlx5/mlx5_ifc.h of Linux 6.12; mlx5_ib_query_q_counters reads __be32), and
// some of its statistics; its congestion counters have 64 bits, and so have the counters of the other drivers, which
// widen in the driver what their hardware keeps narrower.
bool wraps_at_32_bits(std::string_view kernel_driver, std::string_view counter);

// Of one port. A value below the one before is a wrap when it went from the last quarter of the range into the first
// one; any other fall is a reset (the driver was loaded again), and shows as one.
class Widener {
 public:
  explicit Widener(std::string kernel_driver) : driver_(std::move(kernel_driver)) {}

  // Readings in the order in which they were made; what does not wrap stays as it is.
  void widen(std::vector<Counter>& hw) { widen(hw, hw_); }
  void widen(PortCounters& counters) {
    widen(counters.hw, hw_);
    widen(counters.ethtool, ethtool_);
  }

 private:
  struct Seen {
    CounterName name;
    bool wraps;
    uint32_t last;
    uint64_t wrapped = 0;  // what the wraps since the last reset add
  };
  void widen(std::vector<Counter>& counters, std::vector<Seen>& known) const;
  Seen& seen(std::vector<Seen>& known, const Counter& counter, size_t place) const;

  std::string driver_;
  std::vector<Seen> hw_{}, ethtool_{};  // in the order in which the names came last, which hardly ever changes
};

}  // namespace fabric
