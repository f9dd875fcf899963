// SPDX-License-Identifier: Apache-2.0
// The patterns of the tables of messages, components and conditions.
#pragma once

#include <string_view>

namespace fabric::lines {

bool is_word_letter(char letter);  // a letter, a digit or '_'

// Removes the text before the next separator from `rest` and returns it. Does not allocate: a log has millions of
// lines.
std::string_view cut(std::string_view& rest, char separator);

// Whether one of the alternatives, which '|' separates, is in the line. '*' matches any text. A part that ends in a
// number matches whole numbers only: "12" is not found in "120". One that begins with '^' matches at the beginning of a
// word.
bool has_any(std::string_view line, std::string_view patterns);

}  // namespace fabric::lines
