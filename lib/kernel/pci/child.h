// SPDX-License-Identifier: Apache-2.0
// Work that may crash, or that changes its process, in a child process.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace fabric {

// The result of `work`, which runs in a forked child for at most 30 s. ECHILD: it crashed; ETIMEDOUT: it did not end;
// `what` names it in both. `work` must not need other threads of this process.
Result<std::string> run_in_child(const std::function<Result<std::string>()>& work, const std::string& what);

}  // namespace fabric
