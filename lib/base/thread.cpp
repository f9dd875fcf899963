// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <system_error>
#include <thread>

namespace fabric {

Result<void> run_detached(std::function<void()> work) {
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error& failed) {
    return error(failed.code().value(), "start a thread");
  }
  return {};
}

}  // namespace fabric
