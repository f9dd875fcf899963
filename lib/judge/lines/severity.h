// SPDX-License-Identifier: Apache-2.0
// How severe a line is by its own marks and words, whichever program prints it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fabric::lines {

enum class Severity : uint8_t {
  informational,  // marked so, or a line of a healthy start
  plain,          // neither mark nor word
  complaint,      // "not supported", which drivers also print about features that a machine does not have
  failure         // "failed", or marked as an error
};

// line: without_denials() of it.
// Whether glog, which PyTorch and others use, marks the line as a warning or an error: "W1129 13:04:29.119704".
bool has_problem_level(std::string_view line);

Severity severity_of(std::string_view line);

// The line without its negated statements ("no error", "0 errors", "errors: 0") and without help that a program prints
// with every error.
std::string without_denials(std::string_view line);

}  // namespace fabric::lines
