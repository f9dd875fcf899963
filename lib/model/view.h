// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/change.h"
#include "model/health.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/signals.h"

namespace fabric {

struct Pairing;

// The input of a check. `before` is an earlier snapshot of the same machine, or nullptr.
struct View {
  const Node& now;
  const Node* before = nullptr;
  const Policy* policy = nullptr;  // null: no configuration could be read
  // Port id -> result of a dry-run qos::reconcile for each setting of its policy. No entry: not compared.
  const std::map<std::string, Changes>* plan = nullptr;
  // Port id -> activity between `before` and `now`, or over the window of the caller; nullptr: only one reading.
  const std::map<std::string, Signals>* signals = nullptr;
  // State of the health rules over time; nullptr: not observed.
  const Health* health = nullptr;
  // built_pairing() of `now`, which run_checks() computes once for all checks; nullptr: not computed.
  const Pairing* pairing = nullptr;
  // Why `policy` is null ("/etc/...: No such file or directory"), or is the last valid one instead of the files'.
  std::string no_policy;
};

}  // namespace fabric
