// SPDX-License-Identifier: Apache-2.0
#include "base/fd.h"

#include <sys/resource.h>

#include <algorithm>

namespace fabric {

void close_from(int first) {
  // ENOSYS before Linux 5.9, EPERM by the filters of older container runtimes: then one by one.
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
  constexpr rlim_t kMostFiles = 1U << 20;  // fs.nr_open's default
  rlimit limit{};
  const rlim_t most = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : kMostFiles;
  for (int fd = first; fd < static_cast<int>(std::min(most, kMostFiles)); ++fd) ::close(fd);
}

}  // namespace fabric
