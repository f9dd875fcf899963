// SPDX-License-Identifier: Apache-2.0
// The memlock limit that lets jobs register their memory with a NIC.
#pragma once

#include "model/host.h"

namespace fabric {

// True for unlimited, for the size of the memory, and for 32 GiB, the preflight limit of ROCm cvs
// (cvs/input/config_file/preflight). The soft limit counts: neither NCCL nor UCX raises it.
bool is_enough(const Host& host, const ResourceLimit& limit);

}  // namespace fabric
