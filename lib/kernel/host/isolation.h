// SPDX-License-Identifier: Apache-2.0
// A process that acts on no other process. A uid may signal, renice, limit and trace its other processes without any
// capability (kill(2), prlimit(2), F_SETOWN of fcntl(2)): uid 0 those of root, a user's process those of the same user.
#pragma once

#include "base/result.h"

namespace fabric {

// Forbids the calling thread, and the threads and processes that it starts, to act on other processes (EPERM): to send
// a signal, to change scheduling or limits, to trace, to read or write memory; and to connect a socket, since what
// listens on this machine acts for others. A process may signal itself; a parent cannot signal its children: they end
// with the thread that started them (PR_SET_PDEATHSIG, as in run_in_child()). Irrevocable. By seccomp, which every
// kernel has, and by isolate_by_landlock() if the kernel can.
Result<void> isolate_process();

// Forbids signals and abstract Unix sockets to other processes also by ways that a filter of system calls does not see:
// the kernel compares the domains of both processes (LANDLOCK_SCOPE_*, Linux 6.12). EOPNOTSUPP, ENOSYS: it cannot.
Result<void> isolate_by_landlock();

}  // namespace fabric
