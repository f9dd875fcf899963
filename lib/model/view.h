// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "model/change.h"
#include "model/health.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/signals.h"

namespace fabric {

// All that a check may look at. `before` is an earlier snapshot of the same machine, or null.
struct View {
  const Node& now;
  const Node* before = nullptr;
  const Policy* policy = nullptr;  // null: no configuration could be read
  // Port id -> what a dry-run qos::reconcile says of each setting that the policy wants. A port without an entry
  // could not be compared.
  const std::map<std::string, Changes>* plan = nullptr;
  // Port id -> what it did between `before` and `now`, or over the window of whoever asks; null: there is only one
  // reading.
  const std::map<std::string, Signals>* signals = nullptr;
  // What has been seen over time, by whoever watches; null: nobody does.
  const Health* health = nullptr;
  std::string no_policy;  // why `policy` is null: "/etc/...: No such file or directory"
};

}  // namespace fabric
