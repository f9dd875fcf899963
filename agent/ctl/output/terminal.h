// SPDX-License-Identifier: Apache-2.0
// Standard output and standard error of a verb; long text goes through a pager, and --watch shows it on the screen.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace fabric::ctl {

struct Output {
  std::string text;    // to stdout
  std::string errors;  // to stderr
  bool color = false;
  bool paged = false;        // a long text may go through a pager
  unsigned width = 0;        // lines are wrapped to fit; 0: no limit
  unsigned error_width = 0;  // the same for stderr
  unsigned height = 0;       // of the terminal; 0: --watch prints line after line
  // For --watch: prints and empties text and errors. False: the reader is gone. Empty function: everything is printed
  // at the end.
  std::function<bool(Output&)> flush{};
  std::function<void(Output&)> measure{};  // updates width and height; empty: they do not change
  int descriptor = -1;                     // flush writes to it; -1: none
  int keys = -1;                           // the terminal that the user types on; -1: none
};

// Standard output, as systemctl(1) treats it. Width: $COLUMNS, else the terminal's, else 80. Color on a terminal,
// unless NO_COLOR is set; SYSTEMD_COLORS=0 or 1 overrides both. With TERM=dumb or without TERM there is no color, and
// --watch prints line after line.
Output standard_output();

// Prints and empties text and errors; a text longer than the terminal goes through the pager if output.paged. False: a
// full disk or a closed pipe. The error is reported once. Uses write(2), since stdio writes a screen in pieces and a
// terminal would show them.
bool print(Output& output);

// `text` over the screen's content, cut to its width and height; the last line has the number of cut lines.
std::string screen(const std::string& text, const Output& output);
// `text` as plain lines, one line less than the screen has, so that the shell's prompt fits.
std::string cut(const std::string& text, const Output& output);

// `text` with "?" for control characters and invalid UTF-8: the files of a captured tree may contain any bytes.
std::string printable(std::string_view text, const Output& output);

}  // namespace fabric::ctl
