// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "ctl/verbs.h"

int main(int argc, char** argv) {
  fabric::ctl::Output output = fabric::ctl::standard_output();
  const std::vector<std::string> words(argv + 1, argv + argc);
  const int code = fabric::ctl::run(words, output);
  const int status = fabric::ctl::print(output) ? code : fabric::ctl::kFailure;
  std::fflush(nullptr);
  ::_exit(status);  // the GPUs' library may hang in the kernel: nothing is torn down under it
}
