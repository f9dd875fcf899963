// SPDX-License-Identifier: Apache-2.0
// One defect planted in one machine, and the rules by which diagnose must report it.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "faults/machines.h"

namespace fabric::faults {

struct Planted {
  const char *what, *machine;
  std::function<void(Machine&)> plant;
  // "RULE RULE" at the second rail, or "PORT: RULE RULE; PORT: RULE"; empty: no diagnosis.
  std::string blamed;
  std::string evidence{};  // part of the text of the diagnoses
  std::string must_not{};  // not part of it
};
void PrintTo(const Planted& planted, std::ostream* out);

// Findings exactly these, in the machine of that name or in the given one.
void expect_blamed(const Planted& planted);
void expect_blamed(const Planted& planted, Machine machine);

// Adds to the counter of that name in ethtool -S, in the second reading; creates it in both if absent.
void grow_ethtool(Machine& machine, const std::string& name, uint64_t by, size_t port = 1);

// The cable of a rail damages so many frames: FEC could not correct a code word of each.
void damage_frames(Machine& machine, uint64_t frames, size_t port = 1);
// Connections of the second rail break: 12, after 96 timeouts.
void give_up(Machine& m);
// Its PFC in both readings.
void set_pfc(Machine& m, std::optional<PrioSet> priorities);
// Its carrier is gone.
void lose_carrier(Port& port);

// The cases of all tables, for testing::ValuesIn.
std::vector<Planted> join(std::initializer_list<std::vector<Planted>> tables);

}  // namespace fabric::faults
