// SPDX-License-Identifier: Apache-2.0
// inventory: the parts of the last good state, and the differences now.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "node/node.h"

namespace fabric::ctl {

// "Inventory: 24 parts as of 2026-01-01T00:00:00Z; none is missing." Empty: none is recorded.
std::string inventory_line(const Node& node, int64_t wall);
// {"taken","parts","missing"}; null: none is recorded, or the inventory cannot be read.
Json inventory_json(const Node& node);

}  // namespace fabric::ctl
