// SPDX-License-Identifier: Apache-2.0
// Whose setting is it, where an RDMA device sits on a bond (mlx5 RoCE LAG)?
#pragma once

#include "model/node.h"

namespace fabric::qos {

// The settings of this port: all of them; of a bond its MTU and what belongs to the RDMA device; of a bond's member the
// rest, since PFC, buffers, rings and the like are its physical function's.
Keys own_keys(const Port& port);

}  // namespace fabric::qos
