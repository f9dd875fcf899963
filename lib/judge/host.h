// SPDX-License-Identifier: Apache-2.0
// The host: limits of jobs, memory, CPU power saving, clocks and interrupts.
#pragma once

#include <span>

namespace fabric {

struct Rule;

std::span<const Rule> host_rules();

}  // namespace fabric
