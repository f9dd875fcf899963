// SPDX-License-Identifier: Apache-2.0
// The fault catalogue: each fault of a GPU cluster is one row: how it is planted in a healthy machine, the check that
// must report it, and the rule that must name its culprit. README.md is generated from these rows.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "faults/machines.h"

namespace fabric::faults {

constexpr auto C = Status::critical, W = Status::warning, U = Status::unknown;  // in the tables

// Plants the fault in a healthy machine and returns the subject that the finding must name; empty: the machine cannot
// have the fault (a driver without the counter, a guest that does not see the platform).
using Plant = std::function<std::string(Machine&)>;

struct Fault {
  std::string id;       // unique: "cable-pulled"
  std::string happens;  // in the real world, as an operator would say it
  std::string planted;  // in the model: the change of the node
  Plant plant;
  std::string check;  // empty: only diagnose reports it
  Status status = Status::warning;
  std::string says{};    // parts of the texts of the first machine's finding (observed, meaning and remedy, a line
                         // each), with | between them
  std::string rule{};    // of diagnose, at the second rail; empty: no diagnosis
  std::string server{};  // the scenario of tests/vm that injects it into a real kernel, and words of it by which the
                         // place is found: "health: fabsim 0 carrier 0"; empty: in the model only
  std::string also{};    // other checks that report the same fault: "CHECK CHECK"; its own: at other subjects, too
  std::optional<Culprit> blames{};  // the culprit, if it is not that of the rule
};
// Culprit::none: no diagnosis.
Culprit culprit_of(const Fault& fault);
inline void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.id; }

using Faults = std::vector<Fault>;
struct Area {
  std::string_view name;
  Faults faults;
};
// All faults, by area.
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
// All increases at the second rail. False, and nothing is planted, if the driver does not have the first counter.
bool grow(Machine& machine, const std::vector<Grow>& all);

// An alteration; its subject is the second rail's port, NIC or GPU, or the host.
using Alter = void (*)(Machine&);
Plant at_port(Alter alter);
Plant at_nic(Alter alter);
Plant at_gpu(Alter alter);
Plant on_host(Alter alter);
// Alters the LLDP neighbor of the second rail's port, which is the subject. Impossible without neighbors.
Plant at_switch(void (*alter)(Neighbor&));
// Alters the module of the second rail's port, which is the subject. Impossible without a module.
Plant in_module(void (*alter)(Transceiver&));
// grow(); the port is the subject.
Plant counted(std::vector<Grow> all);
// Plants both; the subject is that of the second.
Plant both(Plant first, Plant second);
// Impossible on other machines than those with RoCE.
Plant on_roce(Plant plant);

// No ECN mark and no CNP is counted at the second rail.
void hold_marks(Machine& m);
// Moves the second rail's NIC into a slot without the switch, at the NUMA node of the last NIC.
void move_nic_away(Machine& m);

// Joins tables.
Faults together(std::initializer_list<Faults> all);

}  // namespace fabric::faults
