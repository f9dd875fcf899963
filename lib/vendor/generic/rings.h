// SPDX-License-Identifier: Apache-2.0
// How drivers round requested ring sizes, for Driver::expected.
#pragma once

#include <bit>

#include "model/qos.h"

namespace fabric::rings {

// mlx5: order_base_2() of the request (mlx5/core/en_ethtool.c mlx5e_ethtool_set_ringparam()).
inline void round_to_power_of_two(Qos& want) {
  for (auto* size : {&want.ring_rx, &want.ring_tx})
    if (*size && **size <= 1u << 31) *size = std::bit_ceil(**size);
}

// ice, i40e: multiples of 32 (ICE_REQ_DESC_MULTIPLE, I40E_REQ_DESCRIPTOR_MULTIPLE).
inline void round_up_to(Qos& want, uint32_t multiple) {
  for (auto* size : {&want.ring_rx, &want.ring_tx})
    if (*size && **size <= UINT32_MAX - multiple) *size = (**size + multiple - 1) / multiple * multiple;
}

}  // namespace fabric::rings
