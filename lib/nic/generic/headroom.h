// SPDX-License-Identifier: Apache-2.0
// The minimum that mlx5 requires of lossless receive buffers, and how buffer_size = "auto" divides them. Pure.
#pragma once

#include "base/result.h"
#include "setting/value.h"

namespace fabric::headroom {

inline constexpr uint32_t kCell = 128;         // bytes; the NICs' own (SBCAM), 144 on some, is not shown to the host
inline constexpr uint32_t kLargestCell = 288;  // as the sizes of ConnectX-7 suggest, which are multiples of it
inline constexpr uint32_t kDefaultCable = 7;   // meters, MLX5E_DEFAULT_CABLE_LEN

// What the headroom depends on.
struct Link {
  uint32_t speed = 0;              // Mb/s; 0: not known, the link is down
  uint32_t cable = kDefaultCable;  // meters
  uint32_t mtu = 0;                // bytes, the netdev's
  uint32_t max_mtu = 0;            // bytes, IFLA_MAX_MTU
};

// Bytes that arrive after PFC was sent: calculate_xoff() of mlx5/core/en/port_buffer.c, Linux 5.10 to 6.12, in the same
// integers. Below 40 Gb/s, and while the link is down, 40 Gb/s count.
uint64_t xoff(const Link& link);

// Bytes that a lossless buffer must have, else the driver answers ENOMEM (update_xoff_threshold(), the same file).
uint64_t minimum(const Link& link, uint32_t cell = kCell);

// The buffers that any of the priorities maps to; bit b is buffer b.
PrioSet buffers_of(PrioSet priorities, const Eight& prio2buffer);

// The buffers of a port as they shall be used.
struct Use {
  Link link{};
  Eight prio2buffer{};
  PrioSet lossless{};               // priorities: those with PFC; all of them where global pause is on
  std::optional<uint32_t> total{};  // bytes of all (dcbnl_buffer.total_size)
};

// Why the driver would refuse these sizes, or a priority would lose every frame: a lossless buffer below its minimum, a
// used one of no size, all together more than the port has. Empty: nothing speaks against them.
std::string objection(const Use& use, const Buffers& sizes);

// The eight sizes: a lossless buffer gets its minimum and room for one more frame; the lossy ones share the rest of the
// bytes in buffers `now` equally, two frames at least; unused ones get nothing. Memory outside of the eight (the shared
// pool of newer NICs) is touched only as far as the lossless need it. All in whole cells of the known NICs, so that
// nothing is rounded. Error (without errno): it does not fit, or the speed is not known.
Result<Buffers> automatic(const Use& use, const Buffers& now);

}  // namespace fabric::headroom
