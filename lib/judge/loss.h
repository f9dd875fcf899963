// SPDX-License-Identifier: Apache-2.0
// Lost packets: transport, discards, the network, receivers and far ends that do not answer.
#pragma once

#include <span>

namespace fabric {

struct Rule;

std::span<const Rule> loss_rules();

}  // namespace fabric
