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
  // The child can compute, allocate memory and answer. Any other system call ends it, and it has no other open file: an
  // attacker who takes it over by the bytes that it processes gains nothing, whatever its user and its capabilities.
  bool confined = false;
};

// The result of `work`, which runs in a forked child. ECHILD: the child crashed; ETIMEDOUT: it did not end; EFBIG: its
// answer is too long; `what` is the subject of these errors. `work` must not need other threads of this process.
Result<std::string> run_in_child(const std::function<Result<std::string>()>& work, const std::string& what,
                                 const ChildLimits& limits = {});

}  // namespace fabric
