// SPDX-License-Identifier: Apache-2.0
#include "kernel/pci/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/fd.h"

namespace fabric {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(30);

void send(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;
    text.remove_prefix(static_cast<size_t>(size));
  }
}

// First the errno of a failure or 0, then the text.
void answer(int fd, const Result<std::string>& result) {
  const int code = result ? 0 : result.error().code;
  const char failed = result ? 0 : 1;
  send(fd, {&failed, 1});
  send(fd, {reinterpret_cast<const char*>(&code), sizeof code});
  send(fd, result ? *result : result.error().what);
}

// Until the child closes its end; false where it took too long.
bool receive(int fd, std::string& text) {
  const auto deadline = Clock::now() + kPatience;
  std::string chunk(size_t{64} << 10, '\0');
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{fd, POLLIN, 0};
    const int found = left > 0 ? ::poll(&ready, 1, static_cast<int>(left)) : 0;
    if (found == 0) return false;
    if (found < 0) continue;  // EINTR
    const ssize_t size = ::read(fd, chunk.data(), chunk.size());
    if (size == 0) return true;
    if (size > 0) text.append(chunk, 0, static_cast<size_t>(size));
  }
}

}  // namespace

Result<std::string> run_in_child(const std::function<Result<std::string>()>& work, const std::string& what) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return error(errno, what);
  const Fd in(ends[0]);
  Fd out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return error(errno, what);
  if (child == 0) {
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
    answer(out.get(), work());
    ::_exit(0);
  }
  out = Fd();
  std::string text;
  const bool ended = receive(in.get(), text);
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!ended) return error(ETIMEDOUT, what);
  int code = 0;
  if (status != 0 || text.size() < 1 + sizeof code) return error(ECHILD, what);
  std::memcpy(&code, text.data() + 1, sizeof code);
  const bool failed = text.front() != 0;
  text.erase(0, 1 + sizeof code);
  if (failed) return error(code, text);
  return text;
}

}  // namespace fabric
