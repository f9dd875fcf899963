// SPDX-License-Identifier: Apache-2.0
// Standard output, as the verbs see it.
#pragma once

#include "ctl/verbs.h"

namespace fabric::ctl {

// On a terminal of its present size, in colour unless NO_COLOR (no-color.org) says otherwise; one that TERM calls dumb,
// or does not name, has neither colour nor a place to write in.
Output standard_output();

// Prints and empties text and errors. False: a full disk or a closed pipe, which must not look like an answer; it is
// said once.
bool print(Output& output);

}  // namespace fabric::ctl
