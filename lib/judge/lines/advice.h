// SPDX-License-Identifier: Apache-2.0
// Advice in a line, or the likely cause that it names. Its words describe what ought to be, not what is: "Check
// that the server started successfully" reports no success.
#pragma once

#include <string>
#include <string_view>

namespace fabric::lines {

// The first sentence of advice, or the clause of a sentence that is advice, and what follows it; at most 300 bytes.
// Empty: there is none.
std::string_view advice_in(std::string_view line);

// The line with blanks in place of all of its advice.
std::string without_advice(std::string_view line);

}  // namespace fabric::lines
