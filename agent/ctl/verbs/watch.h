// SPDX-License-Identifier: Apache-2.0
// --watch: repeats a verb until a signal or q ends it.
#pragma once

#include <termios.h>

#include <chrono>
#include <csignal>
#include <functional>

#include "base/fd.h"
#include "ctl/output/terminal.h"

namespace fabric::ctl {

// Blocks the signals that end the program and waits for them, so that no line is cut off. On a terminal the verb uses
// the alternate screen, as watch(1) does, without cursor, echo and wrapping. The old screen returns at the end or on
// Ctrl-Z; the last round is then printed below it.
class Watch {
 public:
  // `in_place` false (JSON): prints line after line even on a terminal.
  explicit Watch(Output& output, bool in_place = true);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Returns the text for an output of this size.
  using Draw = std::function<std::string(const Output&)>;
  // Prints the text and waits; prints it again if the terminal is resized. False: ended by a signal, by q, or because
  // the reader is gone.
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
  bool in_place_;
  bool entered_ = false;  // the alternate screen is on
  bool quiet_ = false;    // the terminal's modes were changed
  sigset_t before_{};
  Fd signals_;
  termios modes_{};
};

}  // namespace fabric::ctl
