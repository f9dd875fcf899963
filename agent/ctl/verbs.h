// SPDX-License-Identifier: Apache-2.0
// The verbs of fabric-agentctl: one row of a table each. Usage, help, completion and the man page's test follow from
// the table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ctl/options.h"
#include "ctl/output/terminal.h"

namespace fabric::ctl {

// Reports an error and returns the exit code.
int fail(Output& output, int code, const std::string& what);

// Runs the verb and returns the exit code.
using Run = int(const Options& options, Output& output);

struct Verb {
  std::string_view name;
  std::string_view arguments;  // "check|show", or empty
  std::string_view help;       // one line
  std::string_view exit;       // meaning of its exit codes
  Run* run;
};
std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

std::string usage_text(unsigned width);
std::string help_text(const Verb& verb, unsigned width);

// The whole program except for printing: parses, runs, returns the exit code.
int run(std::span<const std::string> words, Output& output);

}  // namespace fabric::ctl
