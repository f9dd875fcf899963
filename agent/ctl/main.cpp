// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "ctl/verbs.h"

int main(int argc, char** argv) {
  fabric::ctl::Output output = fabric::ctl::standard_output();
  const std::vector<std::string> words(argv + 1, argv + argc);
  int status = fabric::ctl::run(words, output);
  if (!fabric::ctl::print(output)) status = fabric::ctl::kFailure;
  std::fflush(nullptr);
  ::_exit(status);  // without destructors: a thread of the GPU library may hang in the kernel
}
