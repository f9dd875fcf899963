// SPDX-License-Identifier: Apache-2.0
// Two samples of the machine, for the verbs that need rates.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "checks/check.h"
#include "ctl/world.h"
#include "model/report.h"
#include "model/signals.h"
#include "model/view.h"

namespace fabric::ctl {

struct Samples {
  std::optional<Node> before;  // nullopt: an interval of zero, one sample
  Node now;
  std::map<std::string, Signals> signals{};  // between the two
};

// A captured machine has its own two samples. Both are whole scans, so that a port that disappears in between is
// noticed; only the second has settings and addresses.
Samples take_samples(World& world, std::chrono::milliseconds interval);

// The next sample, compared with `before`.
Samples samples_since(World& world, Node before);

// The view of a check or a diagnosis; it points into the arguments.
View view_of(const World& world, const Samples& samples, const Plan& plan);

}  // namespace fabric::ctl
