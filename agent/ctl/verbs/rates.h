// SPDX-License-Identifier: Apache-2.0
// What the counters of two readings did between them, in the metrics' vocabulary. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "ctl/verbs.h"
#include "metrics/family.h"
#include "model/node.h"

namespace fabric::ctl {

struct Rate {
  std::string port;                    // Port::id()
  std::string counter;                 // the metric; where it has none, the driver's own name
  std::vector<Label> labels;           // of the metric, without the port's: direction, priority, ...
  double total = 0;                    // as read last, in base units
  std::optional<double> per_second{};  // absent: it was not there before, or was reset in between
  bool trouble = false;                // a rise of it means that something is wrong
};

// Every counter of the second reading. First what means trouble and moves, the fastest first, then what else moves,
// then the rest in the drivers' order.
std::vector<Rate> rates_of(const Node& before, const Node& now, double seconds);

// "1.25 k", "98.7 Gb/s", "12.5 %" of the time, by what the counter counts.
std::string per_second_text(const Rate& rate);
// One line each: PORT, COUNTER, PER SECOND, TOTAL. What means trouble in colour where the output has it.
std::string rates_text(const std::vector<Rate>& rates, const Output& output);
// [{"port","counter","labels":{},"per_second","total","trouble"}]
Json rates_json(const std::vector<Rate>& rates);

}  // namespace fabric::ctl
