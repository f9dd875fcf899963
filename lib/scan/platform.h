// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/capture/root.h"
#include "model/node.h"

namespace fabric::scanning {

// Fills platform and pci_settings; the topology must stand.
void read_platform(const Root& root, Node& node);

}  // namespace fabric::scanning
