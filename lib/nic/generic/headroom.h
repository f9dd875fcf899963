// SPDX-License-Identifier: Apache-2.0
// The minimum size that mlx5 requires of lossless receive buffers, and the sizes for buffer_size = "auto". No I/O.
#pragma once

#include "base/result.h"
#include "setting/value.h"

namespace fabric::headroom {

inline constexpr uint32_t kCell = 128;         // bytes; the NIC's own (SBCAM), 144 on some, is not visible to the host
inline constexpr uint32_t kLargestCell = 288;  // the sizes of ConnectX-7's buffers are multiples of it
inline constexpr uint32_t kDefaultCable = 7;   // meters, MLX5E_DEFAULT_CABLE_LEN

// The properties that determine the headroom.
struct LinkProperties {
  uint32_t speed = 0;              // Mb/s; 0: unknown, the link is down
  uint32_t cable = kDefaultCable;  // meters
  uint32_t mtu = 0;                // bytes, the netdev's
  uint32_t max_mtu = 0;            // bytes, IFLA_MAX_MTU
};

// Bytes that arrive after PFC was sent: calculate_xoff() of mlx5/core/en/port_buffer.c, Linux 5.10 to 6.12, in the same
// integer arithmetic. Below 40 Gb/s, and while the link is down, as for 40 Gb/s.
uint64_t xoff(const LinkProperties& link);

// Bytes that a lossless buffer must have, else the driver answers ENOMEM (update_xoff_threshold(), the same file).
uint64_t minimum(const LinkProperties& link, uint32_t cell = kCell);

// The buffers that at least one of the priorities maps to; bit b is buffer b.
PrioSet buffers_of(PrioSet priorities, const Eight& prio2buffer);

// The intended use of a port's buffers.
struct BufferUse {
  LinkProperties link{};
  Eight prio2buffer{};
  PrioSet lossless{};               // priorities: those with PFC; all if global pause is on
  std::optional<uint32_t> total{};  // bytes of all (dcbnl_buffer.total_size)
};

// Why the driver would refuse these sizes, or a priority would lose every frame: a lossless buffer is below its
// minimum, a used buffer has no bytes, or the sum exceeds the port's memory. Empty: the sizes are valid.
std::string objection(const BufferUse& use, const Buffers& sizes);

// The eight sizes: a lossless buffer gets its minimum and room for one more frame; the lossy buffers share the rest of
// the bytes in buffers `now` equally, with at least two frames each; unused buffers get nothing. Memory outside of the
// eight (the shared pool of newer NICs) is used only if the lossless buffers need it. Sizes are whole cells of all
// known NICs, so that the driver does not round them. Error (without errno): the buffers do not fit, or the speed is
// unknown.
Result<Buffers> automatic(const BufferUse& use, const Buffers& now);

}  // namespace fabric::headroom
