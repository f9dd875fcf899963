// SPDX-License-Identifier: Apache-2.0
// Prints what sys/nvml.h finds, one GPU a line, or its error. The loader reads LD_LIBRARY_PATH when a program starts,
// so this is a program of its own. First argument: patience in milliseconds.
#include <cstdio>
#include <cstdlib>

#include "node/nvml.h"

int main(int count, char** arguments) {
  const auto patience = std::chrono::milliseconds(count > 1 ? std::atol(arguments[1]) : 5'000);
  const auto devices = fabric::nvml::devices(patience);
  if (!devices) {
    std::printf("%s\n", devices.error().text().c_str());
  } else {
    std::fputs(fabric::nvml::to_text(*devices).c_str(), stdout);
  }
  std::fflush(stdout);
  std::_Exit(0);  // a thread may still hang in the library
}
