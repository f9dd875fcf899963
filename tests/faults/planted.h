// SPDX-License-Identifier: Apache-2.0
// One thing planted in one machine, and whom diagnose may blame for it.
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>

#include "faults/machines.h"

namespace fabric::faults {

struct Planted {
  const char *what, *machine;
  std::function<void(Machine&)> plant;
  std::map<std::string, std::string> blamed;  // rule by port; empty: nobody
  std::string evidence{};                     // a part of what is said of it
  std::string unsaid{};                       // what would not be true
};
void PrintTo(const Planted& one, std::ostream* out);

// Exactly those are blamed, in these words. The machine must be there.
void expect_blamed(const Planted& one);
void expect_blamed(const Planted& one, Machine machine);  // in this one

}  // namespace fabric::faults
