// SPDX-License-Identifier: Apache-2.0
// Two readings of the machine, for the verbs that ask what happens.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "checks/check.h"
#include "ctl/world.h"
#include "model/signals.h"

namespace fabric::ctl {

struct Samples {
  std::optional<Node> before;  // absent: an interval of zero, one reading
  Node now;
  std::map<std::string, Signals> signals{};  // between the two
};

// Of a captured machine, its two readings. Both are whole scans, so that a port that vanished in between shows;
// settings, addresses and the like are in the second alone.
Samples take_samples(World& world, std::chrono::milliseconds interval);

// The next reading, beside the one that is given.
Samples samples_since(World& world, Node before);

// The view of a check or a diagnosis; it points into the arguments.
View view_of(const World& world, const Samples& samples, const Plan& plan);

}  // namespace fabric::ctl
