// SPDX-License-Identifier: Apache-2.0
// Verbs that go on until they are told to end.
#pragma once

#include <termios.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "ctl/verbs.h"

namespace fabric::ctl {

// While one lives, the signals that end the program are waited for instead of ending it in the middle of a line. On a
// terminal the verb has the screen to itself, as watch(1) has it: the alternate one, without cursor, echo and wrapping;
// it is given back when it ends or is stopped (Ctrl-Z), and what stood there last is printed below what stood before.
class Watch {
 public:
  // `in_place` false (JSON): line after line on a terminal, too.
  explicit Watch(Output& output, bool in_place = true);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // What is to be told, for an output of this size.
  using Draw = std::function<std::string(const Output&)>;
  // Prints it and waits; when the terminal is another size, prints it anew. False: it is time to end, by a signal, by
  // q, or since nobody reads any more.
  bool next(std::chrono::steady_clock::time_point until, const Draw& draw);

  [[nodiscard]] bool in_place() const { return in_place_; }

 private:
  enum class Event { time, drawn, end, unread };

  bool show(const Draw& draw);
  Event wait(std::chrono::steady_clock::time_point until);
  Event on_signal();
  Event on_key();
  void enter();
  void leave();

  Output& output_;
  bool in_place_, entered_ = false, quiet_ = false;  // quiet: the terminal's modes are not as they were
  sigset_t before_{};
  Fd signals_;
  termios modes_{};
};

// `text` in the place of what stood on the terminal, cut to its width and height; the last line says how much was cut.
std::string screen(const std::string& text, const Output& output);
// The same as lines that can stand anywhere, with one left for the shell's prompt.
std::string cut(const std::string& text, const Output& output);

// `text` as it is, but for what a terminal would obey or cannot show, which is a "?": a captured tree may hold
// anything.
std::string printable(std::string_view text, const Output& output);

}  // namespace fabric::ctl
