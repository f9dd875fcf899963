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
};

struct Condition {
  std::string_view id;  // "says-not-loaded"
  FaultLocation cause;  // the most likely one
  // Patterns in the form of LineMessage::patterns, for the line in small letters.
  std::string_view words;
  FixRow meaning;  // with the fix
  // The words are enough: other lines with a condition must look like an error, too.
  bool is_error = false;
  // Of a combination: the beginnings of the ids of components, separated by '|'; `words` has the ids of the general
  // conditions.
  std::string_view components = {};
  OtherMeaning denied = {};
};

std::span<const Condition> conditions();
// The same words mean another thing with some components: another end, another cause, another advice.
std::span<const Condition> combinations();

// The first that applies; nullptr: none.
const Condition* condition_of(const LogLine& line);

// The combination of both, else the condition. component: nullptr if no rule knows the line.
const Condition* with_component(const Condition* condition, const LineMessage* component);

// Whether it is a row about any line of a driver of a NIC: a step, a setting, the link.
bool is_driver(const LineMessage& component);

// The combination of a component, mostly a driver, with ETIMEDOUT in a line without the words of a timeout. nullptr:
// there is none.
const Condition* timeout_of(const LogLine& line, const LineMessage* component);

// For a component of a library whose cause is unknown, if the words name no condition: the meaning of the failed step,
// by its verb. nullptr: no step is named.
const Condition* step_of(const LogLine& line, const LineMessage* component);

// Whether the kernel, a service or a tool reports something else than of a GPU, a NIC, the network or a job: a disk, a
// session, a file. Its words mean other things then.
bool is_of_other_program(const LogLine& line);

// Whether a driver of a NIC prints it, in the form of the kernel: "ice 0000:3b:00.0: ".
bool is_of_nic_driver(const LogLine& line);

// Whether the line is one of a healthy start, or shows a setting, although it has words of an error.
bool is_ordinary(const LogLine& line);

}  // namespace fabric::lines
