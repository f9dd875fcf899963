// SPDX-License-Identifier: Apache-2.0
#include "kernel/host/seccomp.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

namespace fabric {

bool install_filter(const std::vector<sock_filter>& filter) {
  std::vector<sock_filter> copy = filter;
  const sock_fprog program{static_cast<uint16_t>(copy.size()), copy.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace fabric
