// SPDX-License-Identifier: Apache-2.0
// qos::Turns without a file of unsettled ports.
#pragma once

#include "enforce/confirm.h"
#include "enforce/rounds.h"

namespace fabric::test {

struct FreeTurns : qos::Turns {
  explicit FreeTurns(Kernel& kernel, std::chrono::milliseconds patience = {}) : Turns(kernel, none_, patience) {}

 private:
  qos::Unsettled none_{{}, {}};
};

// confirm::revert() that never sleeps.
inline Changes revert(Kernel& kernel, std::vector<Port>& ports, confirm::Record& record, const confirm::BootMoment& now,
                      const qos::UseCheck& in_use, confirm::Share share = confirm::Share::all) {
  FreeTurns turns(kernel);
  return confirm::revert(kernel, ports, record, now, {.in_use = in_use, .turns = turns, .sleep = {}, .share = share});
}

}  // namespace fabric::test
