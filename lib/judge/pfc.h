// SPDX-License-Identifier: Apache-2.0
// Flow and congestion control: PFC, global pause, storms, ECN and CNPs; traffic that PFC does not protect.
#pragma once

#include <span>

namespace fabric {

struct Rule;

std::span<const Rule> pfc_rules();

}  // namespace fabric
