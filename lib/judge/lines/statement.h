// SPDX-License-Identifier: Apache-2.0
// The statement of a line that no rule knows and that reports no error: a step of a start, a choice, a version, a
// reset. For a log of one line: with others, such a line is not shown.
#pragma once

#include "judge/lines/condition.h"

namespace fabric::lines {

std::span<const Condition> statements();

// Whether a word of the line is that of a fault, whatever its mark says.
bool has_words_of_fault(const LogLine& line);

// The first that applies; nullptr: none.
const Condition* statement_of(const LogLine& line);

}  // namespace fabric::lines
