// SPDX-License-Identifier: Apache-2.0
// The MTU of a port and of its switch port.
#pragma once

#include <string>

namespace fabric {

struct PortContext;

// Text if the switch port accepts only shorter frames than RoCE's, or empty.
std::string frames_too_long(const PortContext& ctx);

}  // namespace fabric
