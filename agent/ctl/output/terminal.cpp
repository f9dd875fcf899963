// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fabric::ctl {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A screen goes out at once: stdio would write it in pieces, and a terminal would show them. Whoever shares the pipe or
// the terminal may have set it O_NONBLOCK.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd, text.data(), text.size());
    if (size < 0 && errno == EAGAIN) {
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (size < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }
  return true;
}

void measure(Output& output) {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return;
  output.width = window.ws_col;
  output.height = window.ws_row;
}

}  // namespace

Output standard_output() {
  Output output;
  output.flush = print;
  output.descriptor = STDOUT_FILENO;
  if (::isatty(STDOUT_FILENO) != 1) return output;
  measure(output);
  const std::string_view terminal = environment("TERM");
  if (terminal.empty() || terminal == "dumb") {
    output.height = 0;
    return output;
  }
  output.colour = environment("NO_COLOR").empty();
  output.measure = measure;
  if (::isatty(STDIN_FILENO) == 1) output.keys = STDIN_FILENO;
  return output;
}

bool print(Output& output) {
  std::fputs(output.errors.c_str(), stderr);
  const bool printed = output.descriptor >= 0 && write_all(output.descriptor, output.text);
  if (!printed && output.descriptor >= 0) std::perror("fabric-agentctl: standard output");
  if (!printed) output.descriptor = -1;
  output.text.clear();
  output.errors.clear();
  return printed;
}

}  // namespace fabric::ctl
