// SPDX-License-Identifier: Apache-2.0
// The parts of files and answers that a capture keeps: those that the programs used.
#pragma once

#include "kernel/capture/tape.h"

namespace fabric::ctl {

// Files that only the configuration names, by their path without a leading slash.
struct SiteFiles {
  std::set<std::string> configuration;
  std::string cabling, host;  // the file of the cabling plan, and the name of this host in it; may be empty
  std::string shown_host{};   // the pseudonym of `host` in the capture; empty: it has none
};

// Reduces the recording to what the rules use, by an allow-list: of each known file the lines, members or words that
// its reader evaluates, in the same lines; nothing of other files. Files of sysfs stay whole, because their texts are
// the kernel's. The verdicts stay the same. Returns the files that lost something, sorted; "/proc/*/comm" for all
// processes.
std::vector<std::string> keep_used(Tape& tape, const SiteFiles& site);

}  // namespace fabric::ctl
