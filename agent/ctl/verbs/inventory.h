// SPDX-License-Identifier: Apache-2.0
// The inventory in one line, for `status`.
#pragma once

#include <string>

#include "base/json.h"
#include "model/node.h"

namespace fabric::ctl {

// "Inventory: 24 parts as of 2026-01-01T00:00:00Z; none is missing." Empty: none is recorded.
std::string inventory_line(const Node& node);
// taken, parts, missing; null: none is recorded, or it cannot be read.
Json inventory_json(const Node& node);

}  // namespace fabric::ctl
