// SPDX-License-Identifier: Apache-2.0
// Advice in a line, or the likely cause that it names. Its words describe a wish and not a state: "Check
// that the server started successfully" reports no success.
#pragma once

#include <string>
#include <string_view>

namespace fabric::lines {

// The first sentence of advice, or the rest of a sentence from the clause on that is advice; at most 300 bytes.
// Empty: there is none.
std::string_view advice_in(std::string_view line);

// The line with blanks in place of all of its advice.
std::string without_advice(std::string_view line);

}  // namespace fabric::lines
