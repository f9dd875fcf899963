// SPDX-License-Identifier: Apache-2.0
#include "ctl/watch.h"

#include <cerrno>
#include <ctime>
#include <string>

#include "base/parse.h"

namespace fabric::ctl {

Watch::Watch() {
  ::sigemptyset(&ends_);
  for (int signal : {SIGINT, SIGTERM}) ::sigaddset(&ends_, signal);
  ::pthread_sigmask(SIG_BLOCK, &ends_, &before_);
}

Watch::~Watch() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool Watch::next(Output& output, std::chrono::steady_clock::time_point until) {
  if (output.flush && !output.flush(output)) return false;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now()).count();
    const timespec wait{left > 0 ? left / 1'000'000'000 : 0, left > 0 ? left % 1'000'000'000 : 0};
    if (::sigtimedwait(&ends_, nullptr, &wait) > 0) return false;
    if (errno == EAGAIN) return true;
  }
}

std::string screen(const std::string& text, const Output& output) {
  if (output.height == 0) return text + "\n";
  // Home, each line to its end, and the rest of the screen: without a blank screen in between, which flickers.
  std::string out = "\033[H";
  unsigned lines = 1;
  for (std::string_view line : split(text, '\n')) {
    if (++lines > output.height) break;
    out.append(line).append("\033[K\n");
  }
  return out + "\033[J";
}

}  // namespace fabric::ctl
