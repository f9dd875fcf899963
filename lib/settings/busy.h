// SPDX-License-Identifier: Apache-2.0
// Whether a write may stop traffic on this port now.
#pragma once

#include "kernel/kernel.h"
#include "model/node.h"

namespace fabric::qos {

// True if a user process has a queue pair on the port, or on a virtual function or subfunction of it (RDMA netlink).
// True also when it cannot be known: a job may be running. A virtual function that a virtual machine has, or another
// network namespace alone (rdma system netns exclusive), is not seen.
bool has_user_queue_pairs(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
