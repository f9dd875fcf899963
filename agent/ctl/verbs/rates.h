// SPDX-License-Identifier: Apache-2.0
// Rates of the counters between two samples, under the metrics' names (pure).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "ctl/verbs.h"
#include "metrics/family.h"
#include "model/node.h"

namespace fabric::ctl {

struct Rate {
  std::string port;                    // Port::id()
  std::string counter;                 // the metric, else the driver's own name
  std::vector<Label> labels;           // of the metric, without the port's: direction, priority, ...
  double total = 0;                    // as read last, in base units
  std::optional<double> per_second{};  // nullopt: new, or reset in between
  bool trouble = false;                // a rise indicates a fault
};

// Every counter of the second sample: rising error counters first, then other rising counters, the fastest first, then
// the rest in the drivers' order.
std::vector<Rate> rates_of(const Node& before, const Node& now, double seconds);

// "1.25 k", "98.7 Gb/s", "12.5 %" of the time, by the counter's unit.
std::string per_second_text(const Rate& rate);
// One line each: PORT, COUNTER, PER SECOND, TOTAL; rising error counters in color.
std::string rates_text(const std::vector<Rate>& rates, const Output& output);
// [{"port","counter","labels":{},"per_second","total","trouble"}]
Json rates_json(const std::vector<Rate>& rates);

}  // namespace fabric::ctl
