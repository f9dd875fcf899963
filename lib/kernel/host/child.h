// SPDX-License-Identifier: Apache-2.0
// Work that may crash, or that changes its process, in a child process.
#pragma once

#include <chrono>
#include <functional>

#include "base/result.h"

namespace fabric {

struct ChildLimits {
  std::chrono::milliseconds patience{30'000};
  size_t most = size_t{64} << 20;  // bytes of the answer
  // The child can compute, allocate memory and answer. Any other system call ends it, and it has no other file: what
  // takes it over by the bytes it works on has gained nothing, whatever its user and its capabilities.
  bool confined = false;
};

// The result of `work`, which runs in a forked child. ECHILD: it crashed; ETIMEDOUT: it did not end; EFBIG: it said too
// much; `what` names it in all three. `work` must not need other threads of this process.
Result<std::string> run_in_child(const std::function<Result<std::string>()>& work, const std::string& what,
                                 const ChildLimits& limits = {});

}  // namespace fabric
