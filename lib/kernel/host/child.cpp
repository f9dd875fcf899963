// SPDX-License-Identifier: Apache-2.0
#include "kernel/host/child.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "kernel/host/seccomp.h"

namespace fabric {
namespace {

using Clock = std::chrono::steady_clock;

#if defined(__has_feature)
#define FABRIC_HAS_ASAN __has_feature(address_sanitizer)
#else
#define FABRIC_HAS_ASAN 0
#endif

constexpr long kComputing[] = {
#if defined(__SANITIZE_ADDRESS__) || FABRIC_HAS_ASAN
    SYS_pipe2,       SYS_close, SYS_sigaltstack,  // the sanitizers' own
#endif
    SYS_read,        SYS_write, SYS_exit,        SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_futex,
    SYS_sched_yield, SYS_brk,   SYS_mmap,        SYS_munmap,     SYS_mremap,       SYS_mprotect,       SYS_madvise};

// Irrevocable: the next system call that is not one of kComputing kills the process.
bool confine() {
  std::vector<sock_filter> filter = {load_word(offsetof(seccomp_data, arch)), skip_if_equal(kSeccompArchitecture, 1),
                                     answer_with(SECCOMP_RET_KILL_PROCESS), load_word(offsetof(seccomp_data, nr))};
  for (const long call : kComputing) {
    filter.push_back(skip_unless_equal(static_cast<uint32_t>(call), 1));
    filter.push_back(answer_with(SECCOMP_RET_ALLOW));
  }
  filter.push_back(answer_with(SECCOMP_RET_KILL_PROCESS));
  return install_filter(filter);
}

// Writes whether the work failed (one byte, 0 or 1), then the errno, then the text.
void answer(int fd, const Result<std::string>& result) {
  int code = 0;
  std::string text(1, '\0');
  if (!result) {
    code = result.error().code;
    text[0] = '\1';
  }
  text.append(reinterpret_cast<const char*>(&code), sizeof code);
  text.append(result ? *result : result.error().what);
  (void)write_all(fd, text);
}

}  // namespace

Result<std::string> run_in_child(const std::function<Result<std::string>()>& work, const std::string& what,
                                 const ChildLimits& limits) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return error(errno, what);
  const Fd in(ends[0]);
  Fd out(ends[1]);
  pid_t pid = -1;
  int failure = 0;
  std::string text;
  const auto fork_and_read = [&] {
    pid = ::fork();
    if (pid < 0) failure = errno;
    if (pid == 0) {
      const rlimit none{};
      ::setrlimit(RLIMIT_CORE, &none);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      int to = out.get();
      if (limits.confined) {
        to = ::dup2(to, STDIN_FILENO);
        ::closefrom(STDIN_FILENO + 1);
      }
      if (limits.confined && !confine()) answer(to, error(errno, what + ": cannot be confined"));
      else answer(to, work());
      ::_exit(0);
    }
    out = Fd();
    // Reads until the child closes its end.
    const auto deadline = Clock::now() + limits.patience;
    std::string chunk(size_t{64} << 10, '\0');
    while (failure == 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd ready{in.get(), POLLIN, 0};
      int found = 0;
      if (left > 0) found = ::poll(&ready, 1, static_cast<int>(left));
      if (found == 0) failure = ETIMEDOUT;
      if (found <= 0) continue;  // negative: EINTR
      const ssize_t size = ::read(in.get(), chunk.data(), chunk.size());
      if (size == 0) break;
      if (size > 0) text.append(chunk, 0, static_cast<size_t>(size));
      if (text.size() > limits.most) failure = EFBIG;
    }
  };
  // The child's parent is the thread that forks: the kernel kills the child when this thread ends. A process that may
  // not send signals (isolate_process()) has no other way to end a child that hangs.
  try {
    std::thread(fork_and_read).join();
  } catch (const std::system_error& failed) {
    return error(failed.code().value(), what);
  }
  if (pid < 0) return error(failure, what);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (failure != 0) return error(failure, what);
  int code = 0;
  if (status != 0 || text.size() < 1 + sizeof code) return error(ECHILD, what);
  std::memcpy(&code, text.data() + 1, sizeof code);
  const bool failed = text.front() != 0;
  text.erase(0, 1 + sizeof code);
  if (failed) return error(code, text);
  return text;
}

}  // namespace fabric
