// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ctl/verbs.h"

namespace {

// False: a full disk or a closed pipe, which must not look like an answer.
bool print(fabric::ctl::Output& output) {
  std::fputs(output.errors.c_str(), stderr);
  const bool printed = std::fputs(output.text.c_str(), stdout) != EOF && std::fflush(stdout) == 0;
  if (!printed) std::perror("fabric-agentctl: standard output");
  output.text.clear();
  output.errors.clear();
  return printed;
}

}  // namespace

int main(int argc, char** argv) {
  fabric::ctl::Output output;
  winsize window{};
  if (::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) {
    const char* no_colour = std::getenv("NO_COLOR");  // no-color.org: any value but the empty one
    output.colour = no_colour == nullptr || *no_colour == '\0';
    output.width = window.ws_col;
    output.height = window.ws_row;
  }
  output.flush = print;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const int code = fabric::ctl::run(words, output);
  return print(output) ? code : fabric::ctl::kFailure;
}
