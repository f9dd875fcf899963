// SPDX-License-Identifier: Apache-2.0
// Addresses of this kernel's own interfaces, in a namespace of the test's.
#include <poll.h>

#include "exporter/uevent.h"
#include "support/netns.h"
#include "support/test.h"

namespace fabric::exporter {
namespace {

using Names = std::set<std::string>;

// What has been heard once `command` is done and `expected` has come: IPv6 tells from a work queue, after the request's
// answer.
Names after(AddressWatch& watch, const std::string& command, const Names& expected) {
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  Names heard = watch.drain();
  pollfd waiting{watch.fd(), POLLIN, 0};
  while (!std::ranges::includes(heard, expected) && ::poll(&waiting, 1, 10000) > 0) heard.merge(watch.drain());
  return heard;
}

TEST(Addresses, ComeAndGoAndAreRenewed) {
  if (const std::string why = test::enter_netns_with_veth(); !why.empty()) GTEST_SKIP() << why;
  // Down and up, for the link-local addresses that the pair was born with: their DAD would end at any time.
  ASSERT_EQ(std::system("for i in veth0 veth1; do ip address flush dev $i && ip link set $i down && ip link set $i "
                        "addrgenmode none; done"),
            0);
  ASSERT_EQ(std::system("ip link set veth0 up && ip link set veth1 up"), 0);
  auto watch = AddressWatch::open();
  ASSERT_TRUE(watch) << watch.error().text();
  watch->drain();
  const auto says = [&watch](const std::string& command, const Names& expected, const char* what = "") {
    EXPECT_EQ(after(*watch, command, expected), expected) << command << ": " << what;
  };
  says("ip address add 10.9.0.1/24 dev veth0", {"veth0"});
  says("ip address change 10.9.0.1/24 dev veth0 valid_lft 900 preferred_lft 900", {}, "a lease renewed");
  says("ip address add 10.9.1.1/24 dev veth1 && ip -6 address add fd00::1/64 dev veth0 nodad", {"veth0", "veth1"});
  says("ip address del 10.9.0.1/24 dev veth0", {"veth0"});
  says("ip address add 10.9.0.1/24 dev veth0", {"veth0"}, "the same once more");
  pollfd waiting{watch->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0) << "all has been read";
}

}  // namespace
}  // namespace fabric::exporter
