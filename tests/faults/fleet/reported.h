// SPDX-License-Identifier: Apache-2.0
// Faults that other people have reported, beside those that were designed with the rules (fault.h).
#pragma once

#include <array>

#include "faults/fault.h"
#include "judge/cause.h"
#include "judge/engine.h"

namespace fabric::faults {

struct ReportedFault {
  const char *id, *happens, *source;  // who reported it
  Plant plant;
  const char* checks;         // "CHECK CHECK": any of these should report it; empty: no check should
  Culprit culprit;            // the culprit that diagnose should name; none: no culprit
  bool is_ambiguous = false;  // for this host alone: diagnose may name no culprit, with this one among the candidates
};
using ReportedFaults = std::vector<ReportedFault>;
const ReportedFaults& reported_faults();

// Faults of the catalogue that are reported as well.
// Moves all bytes of priority 3 to 0. False: the driver does not count them.
bool move_to_priority_0(Machine& m);
// The cables of the second and the third rail end at each other's switch port.
std::string swap_cables(Machine& m);
// The rails are in one subnet, and each answers the ARP of all. Impossible with a VRF for each.
std::string answer_any_arp(Machine& m);

enum class Verdict : uint8_t { right, wrong, silent };
// The worst over all machines that can have the fault.
struct Judged {
  size_t machines = 0;
  Verdict check = Verdict::right, diagnosis = Verdict::right;
  std::string said;                 // of the last machine that was not right
  std::vector<Findings> diagnoses;  // on each machine
};
const Judged& judge(const ReportedFault& report);
// Two rows of the README's table of rates; prints them as figures as well. The members are right, wrong and silent.
using Rates = std::array<size_t, 3>;
std::string rate_rows(const char* half, size_t faults, const Rates& checks, const Rates& diagnosis);
// The rates of the reported faults.
std::string reported_rates();
// Compares the numbers in the rows of the rules with the measured ones, and prints these. Called by the test that has
// planted all faults anyway.
void expect_measured_certainty();

}  // namespace fabric::faults
