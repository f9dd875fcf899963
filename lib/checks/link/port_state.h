// SPDX-License-Identifier: Apache-2.0
// What `port-state` says of a port, for `diagnose` to say the same.
#pragma once

#include <optional>

#include "model/finding.h"

namespace fabric {

// nullopt: it is not judged, or in order.
std::optional<Finding> port_state_fault(const View& view, const Port& port);

}  // namespace fabric
