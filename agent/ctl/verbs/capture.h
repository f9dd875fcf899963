// SPDX-License-Identifier: Apache-2.0
// Writes a recorded machine as a directory for --root.
#pragma once

#include "kernel/capture/tape.h"

namespace fabric::ctl {

struct Written {
  size_t files = 0, bytes = 0;  // files of the machine
  size_t answers = 0;           // answers without a file: netlink, failed readings, changes between the two samples
};

// Whether write_capture() can use the directory: it is empty, or absent from an existing one, and by the rules of
// open_own_directory() no other user can replace its files. An Error has the reason.
Result<void> check_capture_directory(const std::string& directory);

// Writes the tape and `about` (a text file) to `directory`, by check_capture_directory(). Writes everything or nothing.
// Files and links have the machine's paths; files have mode 0600, directories 0700. Other answers are in kAnswersFile.
// EFBIG, with the file: more than the limits of Tape.
Result<Written> write_capture(const Tape& tape, const std::string& about, const std::string& directory);

}  // namespace fabric::ctl
