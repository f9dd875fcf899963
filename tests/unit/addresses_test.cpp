// SPDX-License-Identifier: Apache-2.0
// Addresses of this kernel's own interfaces, in a namespace of the test's.
#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>

#include "exporter/addresses.h"
#include "support/netns.h"

namespace fabric::exporter {
namespace {

using Names = std::set<std::string>;

// What has been heard once `command` is done; notifications are sent before its request is answered.
Names after(AddressWatch& watch, const std::string& command) {
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return watch.drain();
}

TEST(Addresses, ComeAndGoAndAreRenewed) {
  if (const std::string why = test::enter_netns_with_veth(); !why.empty()) GTEST_SKIP() << why;
  ASSERT_EQ(std::system("ip link set veth0 addrgenmode none && ip link set veth1 addrgenmode none"), 0);
  auto watch = AddressWatch::open();
  ASSERT_TRUE(watch) << watch.error().text();
  watch->drain();
  EXPECT_EQ(after(*watch, "ip address add 10.9.0.1/24 dev veth0"), Names{"veth0"});
  EXPECT_EQ(after(*watch, "ip address change 10.9.0.1/24 dev veth0 valid_lft 900 preferred_lft 900"), Names{}) << "a lease renewed";
  EXPECT_EQ(after(*watch, "ip address add 10.9.1.1/24 dev veth1 && ip -6 address add fd00::1/64 dev veth0 nodad"), (Names{"veth0", "veth1"}));
  EXPECT_EQ(after(*watch, "ip address del 10.9.0.1/24 dev veth0"), Names{"veth0"});
  EXPECT_EQ(after(*watch, "ip address add 10.9.0.1/24 dev veth0"), Names{"veth0"}) << "the same once more";
  pollfd waiting{watch->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0) << "all has been read";
}

}  // namespace
}  // namespace fabric::exporter
