// SPDX-License-Identifier: Apache-2.0
// Verbs that go on until they are told to end.
#pragma once

#include <chrono>
#include <csignal>

#include "ctl/verbs.h"

namespace fabric::ctl {

// While one lives, SIGINT and SIGTERM are waited for instead of ending the program in the middle of a line.
class Watch {
 public:
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Prints what there is and waits. False: it is time to end, by a signal or since nobody reads any more.
  bool next(Output& output, std::chrono::steady_clock::time_point until);

 private:
  sigset_t ends_, before_;
};

// On a terminal, `text` in the place of what stood there, cut to its height; else as it is, with an empty line behind.
std::string screen(const std::string& text, const Output& output);

}  // namespace fabric::ctl
