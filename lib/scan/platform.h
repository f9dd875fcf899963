// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/node.h"
#include "sys/root.h"

namespace fabric::scanning {

// Fills platform and pci_settings; the topology must stand.
void read_platform(const Root& root, Node& node);

}  // namespace fabric::scanning
