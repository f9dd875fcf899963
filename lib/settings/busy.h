// SPDX-License-Identifier: Apache-2.0
// May a write stop traffic on this port now?
#pragma once

#include "kernel/kernel.h"
#include "model/node.h"

namespace fabric::qos {

// Does a user process hold a queue pair on the port, or on a virtual function or subfunction below it (RDMA netlink)?
// True also when it cannot be known: a job may be running. A virtual function that a virtual machine has, or another
// network namespace alone (rdma system netns exclusive), is not seen.
bool has_user_queue_pairs(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
