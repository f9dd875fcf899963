// SPDX-License-Identifier: Apache-2.0
// Writes a recorded machine as a directory for --root.
#pragma once

#include "kernel/capture/tape.h"

namespace fabric::ctl {

struct Written {
  size_t files = 0, bytes = 0;  // files of the machine
  size_t answers = 0;           // answers without a file: netlink, failed readings, changes between the two samples
};

// Writes the tape and `about` (a text file) to `directory`, which must be empty or absent. Writes everything or
// nothing. Files and links have the machine's paths; files have mode 0600, directories 0700. Other answers are in
// kAnswersFile. EFBIG: more than 64 MiB.
Result<Written> write_capture(const Tape& tape, const std::string& about, const std::string& directory);

// Readings that failed with EACCES or EPERM, sorted: files by name, each netlink socket once.
std::vector<std::string> refused_readings(const Tape& tape);

}  // namespace fabric::ctl
