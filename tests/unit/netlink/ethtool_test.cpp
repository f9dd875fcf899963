// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <unistd.h>

#include "base/fd.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "support/netns.h"
#include "support/sim_nic.h"
#include "support/test.h"

namespace fabric::ethtool {
namespace {

using test::Veth;

AttrWriter reply() { return AttrWriter().header(genlmsghdr{}); }

TEST(ParseFamily, FindsTheMonitorGroupAmongOthers) {
  AttrWriter other, monitor, groups;
  other.u32(CTRL_ATTR_MCAST_GRP_ID, 5).text(CTRL_ATTR_MCAST_GRP_NAME, "other");
  monitor.text(CTRL_ATTR_MCAST_GRP_NAME, "monitor").u32(CTRL_ATTR_MCAST_GRP_ID, 6);
  groups.nest(1, other).nest(2, monitor);
  auto family = parse_family(reply().u16(CTRL_ATTR_FAMILY_ID, 21).nest(CTRL_ATTR_MCAST_GROUPS, groups).data());
  ASSERT_TRUE(family.ok());
  EXPECT_EQ(family->id, 21);
  EXPECT_EQ(family->monitor_group, 6u);
  EXPECT_FALSE(parse_family(reply().data()).ok());
}

TEST(ParsePause, WantsBothDirections) {
  EXPECT_EQ(parse_pause(reply().u8(ETHTOOL_A_PAUSE_RX, 1).u8(ETHTOOL_A_PAUSE_TX, 0).data()), (Pause{true, false}));
  EXPECT_FALSE(parse_pause(reply().u8(ETHTOOL_A_PAUSE_RX, 1).data())) << "absent is not off";
  EXPECT_FALSE(parse_pause({}));
}

TEST(ParsePrivateFlags, ReadsTheVerboseBitset) {
  AttrWriter on, off, bits, bitset;
  on.u32(ETHTOOL_A_BITSET_BIT_INDEX, 0)
      .text(ETHTOOL_A_BITSET_BIT_NAME, "fw-lldp-agent")
      .flag(ETHTOOL_A_BITSET_BIT_VALUE);
  off.u32(ETHTOOL_A_BITSET_BIT_INDEX, 1).text(ETHTOOL_A_BITSET_BIT_NAME, "legacy-rx");
  bits.nest(ETHTOOL_A_BITSET_BITS_BIT, on).nest(ETHTOOL_A_BITSET_BITS_BIT, off);
  bitset.u32(ETHTOOL_A_BITSET_SIZE, 2).nest(ETHTOOL_A_BITSET_BITS, bits);
  const std::vector<std::pair<std::string, bool>> expected{{"fw-lldp-agent", true}, {"legacy-rx", false}};
  EXPECT_EQ(parse_private_flags(reply().nest(ETHTOOL_A_PRIVFLAGS_FLAGS, bitset).data()), expected);
  EXPECT_TRUE(parse_private_flags(reply().data()).empty());
}

TEST(Pause, IsSetWithoutAutonegAndReadBack) {
  test::SimKernel sim;
  auto& nic = sim.add_nic("eth0", test::Personality::mlx5);  // refuses an autoneg of 1
  Kernel kernel = sim.kernel();
  ASSERT_TRUE(kernel.ethtool);
  ASSERT_TRUE(set_pause(*kernel.generic, *kernel.ethtool, {"eth0", nic.ifindex}, Pause{false, true}).ok());
  EXPECT_EQ(nic.pause, (Pause{false, true}));
  EXPECT_EQ(*get_pause(*kernel.generic, *kernel.ethtool, "eth0"), (Pause{false, true}));
  EXPECT_EQ(get_pause(*kernel.generic, *kernel.ethtool, "nosuch").error().code, ENODEV);
}

TEST(PrivateFlag, IsSetAloneAndByName) {
  test::SimKernel sim;
  auto& nic = sim.add_nic("eth0", test::Personality::ice);
  nic.firmware_agent = true;
  nic.ethtool.private_flags["legacy-rx"] = true;
  Kernel kernel = sim.kernel();
  auto set = [&](const char* name, bool on) {
    return set_private_flag(*kernel.generic, *kernel.ethtool, {"eth0", nic.ifindex}, name, on);
  };
  ASSERT_TRUE(set("fw-lldp-agent", false).ok());
  EXPECT_FALSE(nic.firmware_agent);
  const std::vector<std::pair<std::string, bool>> expected{{"fw-lldp-agent", false}, {"legacy-rx", true}};
  EXPECT_EQ(*get_private_flags(*kernel.generic, *kernel.ethtool, "eth0"), expected);
  ASSERT_TRUE(set("fw-lldp-agent", false).ok());
  EXPECT_EQ(nic.calls["setprivflag"], 1u) << "the kernel asks the driver only where something changes";
  auto unknown = set("no-such-flag", true);
  EXPECT_EQ(unknown.error().code, EOPNOTSUPP);
  EXPECT_TRUE(test::has(unknown.error().what, "eth0: set private flag no-such-flag"));
}

TEST(PairStatistics, TakesNamesOf32BytesWithAndWithoutTheirNul) {
  Bytes names(3 * ETH_GSTRING_LEN);
  const std::string full(ETH_GSTRING_LEN, 'x');
  std::memcpy(names.data(), "rx_prio3_pause", 14);
  std::memcpy(names.data() + ETH_GSTRING_LEN, full.data(), full.size());
  const std::array<uint64_t, 3> values{11, 22, 33};
  auto counters = pair_statistics(names, values);
  ASSERT_EQ(counters.size(), 3u);
  EXPECT_EQ(counters[0], (Counter{"rx_prio3_pause", 11}));
  EXPECT_EQ(counters[1], (Counter{full, 22}));
  EXPECT_EQ(counters[2], (Counter{"", 33}));
  EXPECT_EQ(pair_statistics(names, std::span(values).first(1)).size(), 1u);
  EXPECT_EQ(pair_statistics(View8(names).first(40), values).size(), 1u) << "half a name is none";
}

Bytes names_of(const std::vector<std::string>& names) {
  Bytes out(names.size() * ETH_GSTRING_LEN);
  for (size_t i = 0; i < names.size(); ++i)
    std::memcpy(out.data() + i * ETH_GSTRING_LEN, names[i].data(), names[i].size());
  return out;
}

TEST(Selection, LooksAtTheNamesOnlyWhenTheyAreOthers) {
  unsigned looked = 0;
  Selection selection([&](Counter& each) { return ++looked, each.name.text().starts_with("rx"); });
  const std::array<uint64_t, 3> first{1, 2, 3}, second{4, 5, 6};
  const Bytes names = names_of({"rx_a", "tx_a", "rx_b"});
  EXPECT_EQ(selection.of(names, first), (std::vector<Counter>{{"rx_a", 1}, {"rx_b", 3}}));
  EXPECT_EQ(looked, 3u);
  EXPECT_EQ(selection.of(names, second), (std::vector<Counter>{{"rx_a", 4}, {"rx_b", 6}}));
  EXPECT_EQ(looked, 3u);
  EXPECT_EQ(selection.total(), 3u);
  ASSERT_EQ(selection.positions().size(), 2u);
  EXPECT_EQ(selection.positions()[1].at, 2u);
  EXPECT_EQ(selection.of(names_of({"rx_a", "rx_c", "rx_b"}), second).size(), 3u)
      << "another name at the same number of them";
  EXPECT_EQ(looked, 6u);
  EXPECT_EQ(selection.of(names_of({"tx_a", "rx_b"}), std::span(second).first(2)), (std::vector<Counter>{{"rx_b", 5}}));
  EXPECT_EQ(selection.of({}, {}), std::vector<Counter>{});
  EXPECT_EQ(selection.total(), 0u);
}

TEST(Selection, OfAReadingThatHasItsNamesAlready) {
  Selection selection([](Counter& each) { return each.name != "b"; });
  EXPECT_EQ(selection.of(std::vector<Counter>{{"a", 1}, {"b", 2}, {"c", 3}}),
            (std::vector<Counter>{{"a", 1}, {"c", 3}}));
  EXPECT_EQ(selection.total(), 3u);
  ASSERT_EQ(selection.positions().size(), 2u);
  EXPECT_EQ(selection.positions()[1].at, 2u);
  const std::array<uint64_t, 3> values{7, 8, 9};
  EXPECT_EQ(selection.of(names_of({"a", "c", "b"}), values), (std::vector<Counter>{{"a", 7}, {"c", 8}}))
      << "another order";
}

TEST(Guarded, EndsWhereTheKernelCannotWrite) {
  const Fd zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(zeros);
  for (size_t size : {size_t{1}, size_t{8}, size_t{4096}, size_t{32 * 1500}, size_t{24}}) {
    const Guarded<ethtool_stats> room(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(room.get()) % alignof(uint64_t), 0u);
    auto* data = const_cast<std::byte*>(room.trailing());
    EXPECT_EQ(::read(zeros.get(), data, size), static_cast<ssize_t>(size));
    EXPECT_EQ(::read(zeros.get(), data + (size + 7) / 8 * 8, 1), -1);
    EXPECT_EQ(errno, EFAULT);
  }
}

TEST_F(Veth, ThisKernelsFamilyIsFound) {
  ASSERT_TRUE(kernel.ethtool) << "no ethtool family: a kernel before 5.6?";
  EXPECT_GE(kernel.ethtool->id, GENL_MIN_ID);
  EXPECT_NE(kernel.ethtool->monitor_group, 0u);
}

TEST_F(Veth, OffersNoPauseAndNoPrivateFlags) {
  ASSERT_TRUE(kernel.ethtool);
  EXPECT_EQ(get_pause(*kernel.generic, *kernel.ethtool, "veth0").error().code, EOPNOTSUPP);
  EXPECT_EQ(set_pause(*kernel.generic, *kernel.ethtool, id("veth0"), {}).error().code, EOPNOTSUPP);
  EXPECT_EQ(get_private_flags(*kernel.generic, *kernel.ethtool, "veth0").error().code, EOPNOTSUPP);
}

TEST_F(Veth, HasNoTunables) {
  EXPECT_EQ(kernel.tunables->pfc_prevention("veth0").error().code, EOPNOTSUPP);
  EXPECT_EQ(kernel.tunables->set_pfc_prevention("veth0", 100).error().code, EOPNOTSUPP);
  EXPECT_EQ(kernel.tunables->pfc_prevention("nosuch").error().code, ENODEV);
}

TEST_F(Veth, HasStatisticsForThoseWhoWantSome) {
  auto all = kernel.statistics->read("veth0");
  ASSERT_TRUE(all.ok()) << all.error().text();
  unsigned looked = 0;
  Selection selection([&](Counter& each) { return ++looked, each.name == "peer_ifindex"; });
  for (int reading = 0; reading < 3; ++reading) {
    auto some = kernel.statistics->read("veth0", selection);
    ASSERT_TRUE(some.ok()) << some.error().text();
    ASSERT_EQ(some->size(), 1u);
    EXPECT_EQ(some->front(), (*all)[selection.positions()[0].at]);
    EXPECT_EQ(selection.total(), all->size());
  }
  EXPECT_EQ(looked, all->size());
  EXPECT_EQ(kernel.statistics->read("lo", selection).error().code, EOPNOTSUPP);
}

TEST_F(Veth, HasStatisticsByName) {
  auto counters = kernel.statistics->read("veth0");
  ASSERT_TRUE(counters.ok()) << counters.error().text();
  auto peer = std::ranges::find(*counters, "peer_ifindex", &Counter::name);
  ASSERT_NE(peer, counters->end());
  EXPECT_NE(peer->value, 0u);
  auto values = kernel.statistics->values("veth0", counters->size());
  ASSERT_TRUE(values.ok()) << values.error().text();
  ASSERT_EQ(values->size(), counters->size());
  EXPECT_EQ((*values)[static_cast<size_t>(peer - counters->begin())], peer->value) << "in the order of the names";
  for (size_t wrong : {counters->size() - 1, counters->size() + 1, size_t{1'000'000}})
    EXPECT_EQ(kernel.statistics->values("veth0", wrong).error().code, EAGAIN) << wrong;
  EXPECT_EQ(kernel.statistics->values("nosuch", 3).error().code, ENODEV);
  EXPECT_EQ(kernel.statistics->read("lo").error().code, EOPNOTSUPP);
  EXPECT_EQ(kernel.statistics->read("nosuch").error().code, ENODEV);
  EXPECT_EQ(kernel.statistics->read("a-name-longer-than-any-netdev").error().code, ENODEV);
}

}  // namespace
}  // namespace fabric::ethtool
