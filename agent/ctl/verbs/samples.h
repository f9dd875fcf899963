// SPDX-License-Identifier: Apache-2.0
// Two samples of the machine and the rates of the counters between them, with the names of the metrics.
#pragma once

#include "ctl/machine.h"
#include "ctl/verbs.h"
#include "judge/engine.h"
#include "metrics/family.h"

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
// [{"port","counter","labels":{},"per_second","total","trouble"}]
Json rates_json(const std::vector<Rate>& rates);

}  // namespace fabric::ctl
