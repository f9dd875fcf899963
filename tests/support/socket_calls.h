// SPDX-License-Identifier: Apache-2.0
// Which system calls for sending, receiving and waiting something makes, counted by the kernel (ptrace(2)).
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace fabric::test {

// Those of the second time that `act` is done, in a process of its own. Nothing where that must not be watched.
inline std::optional<std::vector<long>> socket_calls(const std::function<void()>& act) {
  static constexpr std::array kKinds{long{SYS_sendto},  long{SYS_sendmsg},  long{SYS_recvfrom},
                                     long{SYS_recvmsg}, long{SYS_recvmmsg}, long{SYS_ppoll},
#ifdef SYS_poll  // not on every architecture
                                     long{SYS_poll}
#endif
  };
  const pid_t child = ::fork();
  if (child == 0) {
    act();
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::raise(SIGSTOP);
    act();
    ::_exit(0);
  }
  int status = 0;
  std::vector<long> calls;
  const auto stops = [&] { return ::waitpid(child, &status, 0) == child && WIFSTOPPED(status); };
  if (!stops()) return std::nullopt;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 && stops()) {
    __ptrace_syscall_info info{};
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY)
      continue;
    const long call = static_cast<long>(info.entry.nr);
    if (std::find(kKinds.begin(), kKinds.end(), call) != kKinds.end()) calls.push_back(call);
  }
  return calls;
}

}  // namespace fabric::test
