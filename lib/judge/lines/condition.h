// SPDX-License-Identifier: Apache-2.0
// The condition that the words of an error line name, whichever program prints it: a module that is not loaded, a
// value that does not fit, a peer that closed the connection. With a component (components.cpp) it says who is to look
// where, if no rule knows the message.
#pragma once

#include <span>

#include "judge/lines.h"

namespace fabric::lines {

// The words of a condition mean something else in a line with one of these: lists, separated by '|'.
struct OtherMeaning {
  std::string_view errors = {};        // names of errnos
  std::string_view words = {};         // patterns, as Condition::words
  std::string_view other_errors = {};  // all errnos but these
  std::string_view only_errors = {};   // all errnos but these, and none
  bool two_versions = false;           // two versions that differ: the line compares them
  bool shares = true;                  // only of a harmless statement: too few of something, as "2 of 8"
};

// The conditions that mean another thing with some components. A combination is of several.
enum class Says : uint16_t {
  other = 0,
  timeout = 1 << 0,
  peer_ended = 1 << 1,
  rejected = 1 << 2,
  unreachable = 1 << 3,
  absent = 1 << 4,
  unsupported = 1 << 5,
  used_up = 1 << 6,
  not_loaded = 1 << 7,
  not_fitting = 1 << 8,
  unanswered = 1 << 9,
};
constexpr Says operator|(Says a, Says b) {
  return static_cast<Says>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
constexpr bool has_any(Says says, Says of) { return (static_cast<uint16_t>(says) & static_cast<uint16_t>(of)) != 0; }

// When the words make an error of a line that has no mark of one and only complains (Severity::complaint).
enum class Complaint : uint8_t {
  with_errno,     // only with an errno
  of_nic_driver,  // also in a line of a NIC's driver, which has no mark of its level
  any,            // options that exclude each other are an error of any program
};

struct Condition {
  std::string_view id;  // "says-not-loaded"
  FaultLocation cause;  // the most likely one
  // Patterns in the form of LineMessage::patterns, for the line in small letters.
  std::string_view words;
  FixRow meaning;  // with the fix
  // The words are enough: other lines with a condition must look like an error, too.
  bool is_error = false;
  OtherMeaning denied = {};
  Says says = Says::other;
  Complaint complaint = Complaint::with_errno;
  std::string_view error = {};  // the errno that says the same in a line without the words; empty: none
  // An earlier failure is the cause, whichever component prints the line.
  bool is_consequence = false;
};

// The same words mean another thing with some components: another end, another cause, another advice.
struct Combination {
  Says says;            // any of these
  Printer kind;         // any of these
  Condition condition;  // without words of its own
};

std::span<const Condition> conditions();
std::span<const Combination> combinations();

// The first that applies; nullptr: none.
const Condition* condition_of(const LogLine& line);

// The condition of an error line that a component prints; nullptr: no rule knows the line. By its words; else by its
// errno, if this means something of its own with the component; else by the verb of the step that failed.
const Condition* condition_of_error(const LogLine& line, const LineMessage* component);

// Whether the line names a GPU, a NIC, the network, a job, or a program or driver of one.
bool names_subject(const LogLine& line);

// Whether the kernel, a service or a tool reports something else than of a GPU, a NIC, the network or a job: a disk, a
// session, a file. Its words mean other things then.
bool is_of_other_program(const LogLine& line);

// Whether the line is one of a healthy start, or shows a setting, although it has words of an error.
bool is_ordinary(const LogLine& line);

// Whether the line shows the value of a variable of the environment: it does not say whether the value is right.
bool is_of_environment(const LogLine& line);

}  // namespace fabric::lines
