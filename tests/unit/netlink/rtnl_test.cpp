// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/rtnl.h"

#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>

#include "enforce/reconcile.h"
#include "kernel/kernel.h"
#include "kernel/netlink/dcbnl.h"
#include "support/netns.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::rtnl {
namespace {

constexpr uint8_t kAddress[] = {0xb8, 0x3f, 0xd2, 0, 0, 0x0a};

Bytes link_message() {
  ifinfomsg header{};
  header.ifi_index = 7;
  AttrWriter info, out;
  info.text(IFLA_INFO_KIND, "veth");
  out.header(header).text(IFLA_IFNAME, "ens1f0np0").u32(IFLA_MTU, 4200).u32(IFLA_MIN_MTU, 68).u32(IFLA_MAX_MTU, 9978);
  out.u8(IFLA_CARRIER, 1)
      .u32(IFLA_CARRIER_DOWN_COUNT, 5)
      .u32(IFLA_MASTER, 3)
      .text(56, "0000:17:00.0")
      .bytes(54, std::as_bytes(std::span(kAddress)))
      .nest(IFLA_LINKINFO, info);
  return out.data();
}

TEST(ParseLink, TakesWhatIsThere) {
  auto link = parse_link(link_message());
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->ifindex, 7);
  EXPECT_EQ(link->name, "ens1f0np0");
  EXPECT_EQ(link->mtu, 4200u);
  EXPECT_EQ(link->max_mtu, 9978u);
  EXPECT_EQ(link->carrier, true);
  EXPECT_EQ(link->carrier_down_count, 5u);
  EXPECT_EQ(link->master, 3);
  EXPECT_EQ(link->parent, "0000:17:00.0");
  EXPECT_EQ(link->kind, "veth");
  EXPECT_EQ(link->permanent, "b8:3f:d2:00:00:0a");
}

// A container's macvlan over a netdev of the host. The other end of a veth pair is below nothing.
TEST(ParseLink, KnowsTheDeviceBelowInAnotherNamespace) {
  const auto parsed = [](const char* kind, bool is_elsewhere) {
    AttrWriter info, out;
    info.text(IFLA_INFO_KIND, kind);
    out.header(ifinfomsg{}).text(IFLA_IFNAME, "net1").u32(IFLA_LINK, 7).nest(IFLA_LINKINFO, info);
    if (is_elsewhere) out.u32(IFLA_LINK_NETNSID, 1);
    return *parse_link(out.data());
  };
  EXPECT_EQ(parsed("macvlan", true).lower_elsewhere, 7);
  EXPECT_FALSE(parsed("macvlan", true).lower);
  EXPECT_EQ(parsed("macvlan", false).lower, 7);
  EXPECT_FALSE(parsed("macvlan", false).lower_elsewhere);
  for (const char* kind : {"veth", "netkit"}) EXPECT_FALSE(parsed(kind, true).lower_elsewhere) << kind;
}

// Network namespaces with ids 0 and 4: id 4 is gone when its links are listed.
TEST(Namespaces, AreListedAndTheirLinksToo) {
  class Kernel final : public Netlink {
   public:
    Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
      if (flags != NLM_F_DUMP) return error(EINVAL, "simulated");
      if (type == RTM_GETNSID) {
        std::vector<Message> ids;
        for (const uint32_t id : {0u, 4u})
          ids.push_back({RTM_NEWNSID, AttrWriter().header(rtgenmsg{}).u32(NETNSA_NSID, id).data()});
        return ids;
      }
      if (value_of<uint32_t>(parse_attributes(payload, sizeof(ifinfomsg)), IFLA_TARGET_NETNSID) != 0u)
        return error(EINVAL, "simulated");
      return std::vector{Message{RTM_NEWLINK, link_message()}};
    }
  } kernel;
  const auto ids = namespaces(kernel);
  ASSERT_TRUE(ids.ok()) << ids.error().text();
  EXPECT_EQ(*ids, (std::vector<int>{0, 4}));
  EXPECT_EQ(links_in(kernel, 0)->at(0).name, "ens1f0np0");
  EXPECT_EQ(links_in(kernel, 4).error().code, EINVAL);
}

TEST(ParseLink, LeavesAbsentWhatIsNot) {
  auto link = parse_link(AttrWriter().header(ifinfomsg{}).text(IFLA_IFNAME, "lo").data());
  ASSERT_TRUE(link.ok());
  EXPECT_FALSE(link->mtu || link->carrier || link->carrier_down_count || link->master);
  EXPECT_EQ(link->kind, "");
}

TEST(ParseLink, RefusesLessThanAHeaderAndSurvivesAnyCut) {
  const Bytes whole = link_message();
  for (size_t size = 0; size <= whole.size(); ++size)
    EXPECT_EQ(parse_link(View8(whole).first(size)).ok(), size >= sizeof(ifinfomsg));
}

class RxeOnVeth : public test::Veth {
 protected:
  void SetUp() override {
    Veth::SetUp();
    if (IsSkipped()) return;
    const auto found = link(*kernel.route, "veth0");
    ASSERT_TRUE(found.ok());
    port = {.rdma = "rxe0", .netdev = "veth0", .ifindex = found->ifindex, .kernel_driver = "rxe"};
  }
  Port port;
};

TEST_F(RxeOnVeth, IsListedWithItsKind) {
  auto all = links(*kernel.route);
  ASSERT_TRUE(all.ok());
  auto veth = std::ranges::find(*all, "veth0", &Link::name);
  ASSERT_NE(veth, all->end());
  EXPECT_EQ(veth->kind, "veth");
  EXPECT_TRUE(veth->carrier_down_count.has_value());
  EXPECT_GT(veth->max_mtu.value_or(0), 1500u);
}

TEST_F(RxeOnVeth, TakesAnMtu) {
  ASSERT_TRUE(set_mtu(*kernel.route, id("veth0"), 4200).ok());
  EXPECT_EQ(link(*kernel.route, "veth0")->mtu, 4200u);
}

TEST_F(RxeOnVeth, RefusesAnMtuInTheKernelsWords) {
  auto refused = set_mtu(*kernel.route, id("veth0"), 12);
  ASSERT_EQ(test::code_of(refused), EINVAL);
  EXPECT_TRUE(test::has(refused.error().what, "mtu less than device minimum")) << refused.error().text();
  EXPECT_EQ(set_mtu(*kernel.route, {"nosuch", 4711}, 4200).error().code, ENODEV);
}

TEST_F(RxeOnVeth, HasNoDcbnl) {
  EXPECT_EQ(dcbnl::get(*kernel.route, "veth0").error().code, EOPNOTSUPP);
  EXPECT_EQ(dcbnl::set_pfc(*kernel.route, id("veth0"), {}).error().code, EOPNOTSUPP);
  EXPECT_EQ(dcbnl::get(*kernel.route, "nosuch").error().code, ENODEV);
}

TEST_F(RxeOnVeth, IsReconciledAsFarAsItGoes) {
  ASSERT_TRUE(set_mtu(*kernel.route, id("veth0"), 1500).ok());
  Qos want{.mtu = 4200, .pfc = PrioSet{8}};
  auto changes = qos::reconcile(kernel, port, want, test::free_terms(), test::kSaveNowhere);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].outcome, Outcome::applied);
  EXPECT_EQ(changes[1].outcome, Outcome::unsupported);
  EXPECT_EQ(link(*kernel.route, "veth0")->mtu, 4200u);
  EXPECT_EQ(port.qos.mtu, 4200u);

  want.mtu = 1'000'000;
  const auto too_large = qos::reconcile(kernel, port, want, test::free_terms(), test::kSaveNowhere);
  EXPECT_EQ(too_large[0].outcome, Outcome::unsupported)
      << "the kernel is not asked for what it has refused by its maximum";
  EXPECT_TRUE(test::has(too_large[0].detail, "65535"));
  port.ifindex += 1000;  // the name belongs to another device now
  EXPECT_EQ(qos::reconcile(kernel, port, want, test::free_terms(), test::kSaveNowhere)[0].code, ENODEV);
}

}  // namespace
}  // namespace fabric::rtnl
