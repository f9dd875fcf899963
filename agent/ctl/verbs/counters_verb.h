// SPDX-License-Identifier: Apache-2.0
// counters: the rates of the counters between two samples, with the names of the metrics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ctl/output/terminal.h"
#include "nic/metrics.h"
#include "node/node.h"

namespace fabric::ctl {

struct Rate {
  std::string port;                    // Port::id()
  std::string counter;                 // the name of the metric, else the driver's own name
  std::vector<Label> labels;           // labels of the metric (direction, priority, ...) without those of the port
  double total = 0;                    // last value, in base units
  std::optional<double> per_second{};  // nullopt: new, or reset in between
  bool trouble = false;                // a rise indicates a fault

  [[nodiscard]] bool is_rising() const { return per_second.value_or(0) > 0; }
};

// Every counter of the second sample: rising error counters first, then other rising counters, each fastest first, then
// the others in the drivers' order.
std::vector<Rate> rates_of(const Node& before, const Node& now, double seconds);

// "1.25 k", "98.7 Gb/s", "12.5 %" of the time, depending on the counter's unit.
std::string per_second_text(const Rate& rate);
// One line each: PORT, COUNTER, PER SECOND, TOTAL; rising error counters in color.
std::string rates_text(const std::vector<Rate>& rates, const Output& output);

}  // namespace fabric::ctl
