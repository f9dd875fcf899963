// SPDX-License-Identifier: Apache-2.0
// A recorded machine as a folder that people and --root read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/capture/tape.h"

namespace fabric::ctl {

struct Written {
  size_t files = 0, bytes = 0;  // of the machine's own
  size_t answers = 0;           // that no file can tell: netlink, refusals, what changed between the two samples
};

// Writes the tape and `about` (a text for people) to `directory`, which must not exist or be empty: all of it or
// nothing. The machine's files lie at their places, links as links; modes are 0600 and 0700. What these would not
// answer as the machine did stands in kAnswersFile. EFBIG: more than 64 MiB.
Result<Written> write_capture(const Tape& tape, const std::string& about, const std::string& directory);

// What could not be read for want of permission: files by name, a netlink socket once; in order.
std::vector<std::string> refused_readings(const Tape& tape);

}  // namespace fabric::ctl
