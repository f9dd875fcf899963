// SPDX-License-Identifier: Apache-2.0
// The state of fabric-agentd.
#pragma once

#include <span>

namespace fabric {

struct Rule;

std::span<const Rule> agent_rules();

}  // namespace fabric
