// SPDX-License-Identifier: Apache-2.0
// A defect of one machine, and the causes that diagnose must report.
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
  std::string must_not{};  // text that the diagnoses must not have
};
void PrintTo(const Planted& planted, std::ostream* out);

// Plants it in the machine of that name, or in the given one, and compares the causes.
void expect_blamed(const Planted& planted);
void expect_blamed(const Planted& planted, Machine machine);

// Raises a counter of ethtool -S in the second reading; adds it to both readings if absent.
void grow_ethtool(Machine& machine, const std::string& name, uint64_t by, size_t port = 1);

// The cable of a rail damages this number of frames, each by a code word that FEC cannot correct.
void damage_frames(Machine& machine, uint64_t frames, size_t port = 1);
// Connections of the second rail break: 12, after 96 timeouts.
void give_up(Machine& m);
// Sets the PFC of the second rail in both readings.
void set_pfc(Machine& m, std::optional<PrioSet> priorities);
// Takes the carrier of the port.
void lose_carrier(Port& port);

// The cases of all tables, for testing::ValuesIn.
std::vector<Planted> join(std::initializer_list<std::vector<Planted>> tables);

}  // namespace fabric::faults
