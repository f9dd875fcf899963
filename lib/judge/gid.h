// SPDX-License-Identifier: Apache-2.0
// The GIDs of a port: whether it has one that jobs can use, and no other device has the same.
#pragma once

#include <span>

namespace fabric {

struct Rule;

std::span<const Rule> gid_rules();

}  // namespace fabric
