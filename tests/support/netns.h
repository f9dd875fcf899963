// SPDX-License-Identifier: Apache-2.0
// A separate network namespace with a pair of veth devices on this kernel; nothing is simulated.
#pragma once

#include <sched.h>
#include <unistd.h>

#include "kernel/kernel.h"
#include "kernel/netlink/rtnl.h"
#include "support/test.h"

namespace fabric::test {

// Moves the test program into a new namespace with "veth0" and "veth1", both up, so that no test finds the state of
// another one. Returns the reason if that failed, or "".
inline std::string enter_netns_with_veth() {
  if (::geteuid() != 0) return "requires root for a network namespace";
  if (::unshare(CLONE_NEWNET) != 0) return std::string("unshare: ") + std::strerror(errno);
  if (std::system("ip link add veth0 type veth peer name veth1 && ip link set veth0 up && ip link set veth1 up && ip "
                  "link set lo up") != 0)
    return "ip link add failed: no veth in this kernel, or no iproute2";
  return "";
}

// The netdev of this name, as it would be read now; the index is 0 if there is none.
inline NetdevId id_of(Netlink& route, const std::string& name) {
  const auto link = rtnl::link(route, name);
  if (!link) return {name, 0};
  return {name, link->ifindex};
}

// A test in that namespace.
class Veth : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string failure = enter_netns_with_veth(); !failure.empty()) GTEST_SKIP() << failure;
    auto opened = open_kernel("/");
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    kernel = std::move(opened).value();
  }
  NetdevId id(const std::string& name) { return id_of(*kernel.route, name); }
  Kernel kernel;
};

}  // namespace fabric::test
