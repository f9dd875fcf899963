// SPDX-License-Identifier: Apache-2.0
// The catalogue of faults: what goes wrong in GPU clusters, how each fault is planted in a healthy machine, the one
// check that must answer, and the one culprit. README.md is made of these tables.
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
  std::string happens;  // in the real world, in the words of whoever has to mend it
  std::string planted;  // in the model: what of the node is changed
  // Plants it in a healthy machine and returns the subject that the finding must name; empty: the machine has nothing
  // that could break in this way (a driver without the counter, a guest that does not see the platform).
  std::function<std::string(Machine&)> plant;
  std::string check;  // empty: counters alone show it, and diagnose alone tells it
  Status status = Status::warning;
  std::string rule{};    // by which diagnose must name the culprit, at the second rail; empty: it must say nothing
  std::string server{};  // the scenario of tests/vm that injects it into a real kernel, and words of it by which the
                         // place is found: "health: fabsim 0 carrier 0"; empty: in the model only
  std::vector<std::string> also{};  // checks that answer as well, where one fault is seen from several sides
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

// What grows in the minute between the readings, in base units; `label` as in Machine::raise.
struct Grow {
  const Metric* metric;
  double by;
  const char* label = "";
};
// All of it at the second rail. False, and nothing planted, where the driver does not count the first; the others
// accompany it.
bool grow(Machine& machine, const std::vector<Grow>& all);

// Joins tables.
Faults together(std::initializer_list<Faults> all);

// Checks that state a fact and never complain, or only of what takes longer than two readings (load_test.cpp has
// those).
bool never_complains(std::string_view check);

}  // namespace fabric::faults
