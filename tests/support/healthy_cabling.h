// SPDX-License-Identifier: Apache-2.0
// The other ends of the healthy machine's cables: a leaf switch for each rail, set as the host is, and the plan that
// says so.
#pragma once

#include "support/healthy_node.h"

namespace fabric::test {

void plug_in_cables(Healthy& node);

}  // namespace fabric::test
