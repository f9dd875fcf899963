// SPDX-License-Identifier: Apache-2.0
// Counters that the hardware keeps in 32 bits and that wrap, made as wide as all others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/node.h"

namespace fabric {

// Is the RDMA hardware counter a 32-bit one that wraps? mlx5's Q counters are (struct mlx5_ifc_query_q_counter_out_bits,
// linux/mlx5/mlx5_ifc.h of Linux 6.12; mlx5_ib_query_q_counters reads __be32); its congestion counters have 64 bits, and so
// have the counters of the other drivers, which widen in the driver what their hardware keeps narrower.
bool wraps_at_32_bits(std::string_view kernel_driver, std::string_view counter);

// Of one port. A value below the one before is a wrap when it went from the last quarter of the range into the first one;
// any other fall is a reset (the driver was loaded again), and shows as one.
class Widener {
 public:
  explicit Widener(std::string kernel_driver) : driver_(std::move(kernel_driver)) {}

  // Readings in the order in which they were made; what does not wrap stays as it is.
  void widen(std::vector<Counter>& counters);

 private:
  struct Seen {
    CounterName name;
    bool wraps;
    uint32_t last;
    uint64_t wrapped = 0;  // what the wraps since the last reset add
  };
  Seen& seen(const Counter& counter, size_t place);

  std::string driver_;
  std::vector<Seen> seen_{};  // in the order in which the names first came, which hardly ever changes
};

}  // namespace fabric
