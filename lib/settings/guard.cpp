// SPDX-License-Identifier: Apache-2.0
// The process that is still there when the shell is not.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"
#include "settings/confirm.h"

namespace fabric::confirm {
namespace {

constexpr std::chrono::seconds kPace{1};

void guard(const std::string& directory, const std::string& id, const std::function<bool()>& act) {
  for (;; std::this_thread::sleep_for(kPace)) {
    const auto root = Root::open(directory);
    const auto record = load(directory);
    if (!root || !record) continue;  // repaired meanwhile, or not repairable
    if (!*record || (*record)->id != id || !is_pending(**record)) return;
    if (is_due(**record, this_moment(*root)) && act()) return;
  }
}

// Nothing of the starter's stays open, its lock least of all, but the pipe.
void leave(int pipe) {
  ::setsid();
  for (int signal : {SIGHUP, SIGPIPE, SIGINT}) ::signal(signal, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  ::dup2(pipe, 3);
  close_from(4);
  (void)!::chdir("/");
}

[[noreturn]] void child(int pipe, const std::string& directory, const std::string& id,
                        const std::function<void()>& detach, const std::function<bool()>& act) {
  leave(pipe);
  if (::fork() != 0) ::_exit(0);  // so that the starter has no child to wait for
  if (detach) detach();
  (void)!::write(3, "r", 1);
  ::close(3);
  guard(directory, id, act);
  ::_exit(0);
}

}  // namespace

Result<void> start_guard(const std::string& directory, const std::string& id, const std::function<void()>& detach,
                         const std::function<bool()>& act) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return error(errno, "the guard of apply --confirm: pipe");
  const pid_t first = ::fork();
  if (first < 0) return error(errno, "the guard of apply --confirm: fork");
  if (first == 0) child(ends[1], directory, id, detach, act);
  ::close(ends[1]);
  ::waitpid(first, nullptr, 0);
  char ready = 0;
  const bool stands = ::read(ends[0], &ready, 1) == 1;
  ::close(ends[0]);
  if (!stands) return error(ESRCH, "the guard of apply --confirm ended at once");
  return {};
}

}  // namespace fabric::confirm
