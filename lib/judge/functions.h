// SPDX-License-Identifier: Apache-2.0
// Limits that the host sets for virtual functions of its NICs, and that harm RDMA in a pod or a virtual machine.
#pragma once

#include <span>

namespace fabric {

struct Rule;

std::span<const Rule> function_rules();

}  // namespace fabric
