// SPDX-License-Identifier: Apache-2.0
// What limit of locked memory lets jobs register theirs with a NIC.
#pragma once

#include "model/host.h"

namespace fabric {

// Unlimited, as all of the memory, or as much as a process is expected to register: 32 GiB, ROCm cvs's preflight limit
// (cvs/input/config_file/preflight). The soft limit counts: neither NCCL nor UCX raises it.
bool is_enough(const Host& host, const ResourceLimit& limit);

}  // namespace fabric
