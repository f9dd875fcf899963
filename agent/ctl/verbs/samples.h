// SPDX-License-Identifier: Apache-2.0
// Two samples of the machine.
#pragma once

#include "ctl/machine.h"
#include "node/signals.h"

namespace fabric::ctl {

struct Samples {
  std::optional<Node> before;  // nullopt: an interval of zero, one sample
  Node now;
  std::map<std::string, Signals> signals{};  // between the two samples
};

// A captured machine contains two samples. Both are whole scans, so that a port that disappears in between is noticed;
// only the second scan reads settings and addresses.
Samples take_samples(Machine& machine, std::chrono::milliseconds interval);

// The next sample, compared with `before` if there is one.
Samples samples_since(Machine& machine, std::optional<Node> before);

}  // namespace fabric::ctl
