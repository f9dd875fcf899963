// SPDX-License-Identifier: Apache-2.0
// Standard output, as systemctl(1) treats it.
#pragma once

#include "ctl/verbs.h"

namespace fabric::ctl {

// Width: $COLUMNS, else the terminal's, else 80. Color on a terminal, unless NO_COLOR is set; SYSTEMD_COLORS=0 or 1
// decides before both. TERM=dumb, or none, has neither color nor --watch in place.
Output standard_output();

// Prints and empties text and errors; a text longer than the terminal goes through the pager if output.paged. False: a
// full disk or a closed pipe, which must not look like an answer; it is reported once.
bool print(Output& output);

}  // namespace fabric::ctl
