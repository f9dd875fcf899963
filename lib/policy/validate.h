// SPDX-License-Identifier: Apache-2.0
// Values of one entry that are right alone and wrong together. An error where a driver would refuse them or one makes
// the other void; a warning where they work, and work badly.
#pragma once

#include "policy/port_entry.h"

namespace fabric::config {

void check_together(const PortDraft& entry, Faults& faults);

}  // namespace fabric::config
