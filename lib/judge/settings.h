// SPDX-License-Identifier: Apache-2.0
// The settings of a port: each as the policy wants it, and the rules about several of them.
#pragma once

#include <vector>

namespace fabric {

struct Rule;

// One rule per row of kSettings.
std::vector<Rule> setting_rules();

}  // namespace fabric
