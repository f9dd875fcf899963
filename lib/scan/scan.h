// SPDX-License-Identifier: Apache-2.0
// Kernel -> Node.
#pragma once

#include <string>
#include <vector>

#include "model/node.h"
#include "sys/kernel.h"

namespace fabric {

struct ScanOptions {
  bool topology = true;    // GPUs and NICs: some milliseconds on a large server
  bool settings = true;    // dcbnl, pause, MTU of every port
  bool counters = true;    // hw, pma, ethtool
  bool gids = true;
  bool verbs = true;       // ask libibverbs for the path MTU: opens the device for a moment, commands to its firmware
  std::vector<std::string> exclude;  // globs of RDMA devices that are not opened
};

// Never fails as a whole: what cannot be read is absent and named in Port::unread / Node::unseen.
// Ports stand in natural order. A re-scan with fewer options is cheap; what was not asked for is empty.
Node scan(Kernel& kernel, const ScanOptions& options = {});

}  // namespace fabric
