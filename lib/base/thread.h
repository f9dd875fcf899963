// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/result.h"

namespace fabric {

// Runs the function in a thread that nothing waits for. EAGAIN: the limit of processes (TasksMax= of the unit, pid_max)
// or of memory is reached; std::thread alone would end the program then.
Result<void> run_detached(std::function<void()> work);

}  // namespace fabric
