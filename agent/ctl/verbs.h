// SPDX-License-Identifier: Apache-2.0
// The verbs of fabric-agentctl. One verb = one row of a table: usage, help, completion and the man page's test
// follow from it.
#pragma once

#include "ctl/options.h"

namespace fabric::ctl {

// Where a verb writes.
struct Output {
  std::string text;    // to stdout
  std::string errors;  // to stderr
  bool color = false;
  bool paged = false;        // a long text may go through a pager
  unsigned width = 0;        // lines are wrapped to fit; 0: no limit
  unsigned error_width = 0;  // the same for stderr
  unsigned height = 0;       // of the terminal; 0: --watch prints line after line
  // For --watch: prints and empties text and errors. False: the reader is gone. Empty: all is printed at the end.
  std::function<bool(Output&)> flush{};
  std::function<void(Output&)> measure{};  // updates width and height; empty: they do not change
  int descriptor = -1;                     // flush writes to it; -1: none
  int keys = -1;                           // the terminal that the user types on; -1: none
};

// Standard output, as systemctl(1) treats it. Width: $COLUMNS, else the terminal's, else 80. Color on a terminal,
// unless NO_COLOR is set; SYSTEMD_COLORS=0 or 1 decides before both. TERM=dumb, or none, has neither color nor --watch
// in place.
Output standard_output();

// With write(2), since stdio writes a screen in pieces and a terminal would show them. Waits where another process has
// set the shared pipe or terminal O_NONBLOCK.
bool write_all(int fd, std::string_view text);

// Prints and empties text and errors; a text longer than the terminal goes through the pager if output.paged. False: a
// full disk or a closed pipe, which must not look like an answer; it is reported once.
bool print(Output& output);

// Reports an error and returns the exit code.
int fail(Output& output, int code, const std::string& what);

// Does what the verb says and returns the exit code.
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

Run run_check, run_diagnose, run_ack, run_plan, run_apply, run_confirm, run_restore, run_counters, run_selftest,
    run_status, run_inventory, run_show, run_neighbors, run_topo, run_capture, run_config, run_explain, run_help;
Run run_explain_log;  // lines instead of IDs

}  // namespace fabric::ctl
