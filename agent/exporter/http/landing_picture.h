// SPDX-License-Identifier: Apache-2.0
// The picture of the landing page.
#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "node/node.h"

namespace fabric::exporter {

// GPUs and NICs below their switches, root buses and NUMA nodes, with lines of the best pairing: inline SVG, as wide as
// a phone. `status`: the worst finding of each subject.
std::string topology_picture(const Node& node, const std::map<std::string, Status>& status);

}  // namespace fabric::exporter
