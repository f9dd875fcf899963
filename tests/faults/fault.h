// SPDX-License-Identifier: Apache-2.0
// The fault catalogue: each fault of a GPU cluster is one row: how it is planted in a healthy machine, the check that
// must report it, and the rule that must name its culprit. README.md is generated from these rows.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "faults/machines.h"

namespace fabric::faults {

struct Fault {
  std::string id;       // unique: "cable-pulled"
  std::string happens;  // in the real world, as an operator would say it
  std::string planted;  // in the model: the change of the node
  // Plants it in a healthy machine and returns the subject that the finding must name; empty: the machine has nothing
  // that could break in this way (a driver without the counter, a guest that does not see the platform).
  std::function<std::string(Machine&)> plant;
  std::string check;  // empty: only diagnose reports it
  Status status = Status::warning;
  std::string rule{};    // of diagnose, at the second rail; empty: no diagnosis
  std::string server{};  // the scenario of tests/vm that injects it into a real kernel, and words of it by which the
                         // place is found: "health: fabsim 0 carrier 0"; empty: in the model only
  std::vector<std::string> also{};  // other checks that report the same fault
};
inline void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.id; }

using Faults = std::vector<Fault>;
struct Area {
  std::string_view name;
  Faults faults;
};
// All of them, by area.
const std::vector<Area>& catalogue();

Faults settings_faults();
Faults topology_faults();
Faults host_faults();
Faults link_faults();
Faults optics_faults();
Faults congestion_faults();
Faults software_faults();

// An increase in the minute between the readings, in base units; `label` as in Machine::raise.
struct Grow {
  const Metric* metric;
  double by;
  const char* label = "";
};
// All of it at the second rail. False, and nothing is planted, if the driver does not count the first.
bool grow(Machine& machine, const std::vector<Grow>& all);

// Joins tables.
Faults together(std::initializer_list<Faults> all);

}  // namespace fabric::faults
