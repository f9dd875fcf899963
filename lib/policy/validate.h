// SPDX-License-Identifier: Apache-2.0
// Checks the values of one entry against each other. An error if a driver would reject them together, or if one makes
// another void; a warning if they work badly together.
#pragma once

#include "policy/port_entry.h"

namespace fabric::config {

void check_together(const PortDraft& entry, ConfigFaults& faults);

}  // namespace fabric::config
