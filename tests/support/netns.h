// SPDX-License-Identifier: Apache-2.0
// A network namespace of the test's own, with a pair of veth devices: this kernel, nothing simulated.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace fabric::test {

// Moves the whole test program into a new namespace with "veth0" and "veth1", once. Returns why it could not, or "".
inline std::string enter_netns_with_veth() {
  static const std::string failure = [] {
    if (::geteuid() != 0) return std::string("needs root for a network namespace");
    if (::unshare(CLONE_NEWNET) != 0) return std::string("unshare: ") + std::strerror(errno);
    if (std::system("ip link add veth0 type veth peer name veth1 && ip link set veth0 up && ip link set veth1 up") != 0)
      return std::string("ip link add failed: no veth in this kernel, or no iproute2");
    return std::string();
  }();
  return failure;
}

}  // namespace fabric::test
