// SPDX-License-Identifier: Apache-2.0
// The verbs of fabric-agentctl. One verb = one row; usage, help, completion and the man page's test follow from the
// table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "ctl/options.h"

namespace fabric::ctl {

// Where a verb writes, and how.
struct Output {
  std::string text;    // to stdout
  std::string errors;  // to stderr
  bool colour = false;
  unsigned width = 0;   // of the terminal; 0: no terminal, lines are not cut or wrapped
  unsigned height = 0;  // of the terminal; 0: it cannot be written in place
  // Of a verb that goes on: prints and empties text and errors. False: nobody reads any more. Empty: all is printed at
  // the end.
  std::function<bool(Output&)> flush{};
  std::function<void(Output&)> measure{};  // width and height as they are by now; empty: they stay
  int descriptor = -1;                     // what flush writes to; -1: nothing that can be looked at
  int keys = -1;                           // the terminal that is typed on; -1: none
};

struct Verb {
  std::string_view name;
  std::string_view arguments;  // "check|show", or empty
  std::string_view help;       // one line
  std::string_view exit;       // what its exit codes say
  int (*run)(const Options& options, Output& output);
};
std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

std::string usage_text();
std::string help_text(const Verb& verb);

// The whole program but for the printing: parses, runs, gives the exit code.
int run(std::span<const std::string> words, Output& output);

int run_check(const Options& options, Output& output);
int run_diagnose(const Options& options, Output& output);
int run_ack(const Options& options, Output& output);
int run_plan(const Options& options, Output& output);
int run_apply(const Options& options, Output& output);
int run_confirm(const Options& options, Output& output);
int run_restore(const Options& options, Output& output);
int run_counters(const Options& options, Output& output);
int run_status(const Options& options, Output& output);
int run_show(const Options& options, Output& output);
int run_neighbors(const Options& options, Output& output);
int run_topo(const Options& options, Output& output);
int run_capture(const Options& options, Output& output);
int run_config(const Options& options, Output& output);
int run_explain(const Options& options, Output& output);
int run_help(const Options& options, Output& output);

}  // namespace fabric::ctl
