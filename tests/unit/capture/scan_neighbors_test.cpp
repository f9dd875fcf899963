// SPDX-License-Identifier: Apache-2.0
// Where a scan learns who is at the other end: the listener's file, else what firmware keeps of the other end's DCBX.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "kernel/netlink/dcbnl.h"
#include "kernel/netlink/rtnl.h"
#include "node/neighbor_state.h"
#include "node/port_reader.h"
#include "support/netns.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

// A driver that passes on what its DCBX agent was told, as net/dcb/dcbnl.c (dcbnl_ieee_fill, dcbnl_build_peer_app) puts
// it into the answer.
class PeerNetlink final : public Netlink {
 public:
  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8) override {
    EXPECT_EQ(type, RTM_GETDCB);
    ++asked;
    ieee_ets ets{};
    ets.ets_cap = 8;
    ets.prio_tc[3] = 1;
    ets.tc_tx_bw[0] = ets.tc_tx_bw[1] = 50;
    ets.tc_tsa[0] = ets.tc_tsa[1] = IEEE_8021QAZ_TSA_ETS;
    ieee_pfc pfc{};
    pfc.pfc_cap = 4;
    pfc.pfc_en = 0x08;
    const dcb_peer_app_info info{};
    const dcb_app app{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26};
    AttrWriter peer_app;
    peer_app.pod(DCB_ATTR_IEEE_APP_UNSPEC, info).pod(DCB_ATTR_IEEE_APP, app);
    AttrWriter ieee;
    ieee.pod(DCB_ATTR_IEEE_PEER_ETS, ets).pod(DCB_ATTR_IEEE_PEER_PFC, pfc).nest(DCB_ATTR_IEEE_PEER_APP, peer_app);
    const dcbmsg header{AF_UNSPEC, DCB_CMD_IEEE_GET, 0};
    AttrWriter out;
    out.header(header).text(DCB_ATTR_IFNAME, "ens1").nest(DCB_ATTR_IEEE, ieee);
    return std::vector<Message>{{RTM_GETDCB, out.data()}};
  }
  int asked = 0;
};

struct Bed {
  test::Tree tree;
  Kernel kernel{.root = tree.root(), .route = std::make_unique<PeerNetlink>()};
  const PeerNetlink& netlink = static_cast<PeerNetlink&>(*kernel.route);
  ScanOptions options;
  Node node;

  Bed() {
    node.ports = {{.rdma = "mlx5_0", .netdev = "ens1", .link_layer = LinkLayer::ethernet}};
    node.network.interfaces["ens1"] = {};
  }
  void read() {
    scanning::Context context{kernel, options, {}, {}, {}, node.unseen};
    scanning::read_neighbors(context, node);
  }
};

TEST(ScanNeighbors, OfFirmwareWhereNobodyListens) {
  Bed bed;
  bed.read();
  EXPECT_EQ(bed.node.neighbors.source, "");
  EXPECT_TRUE(test::has(bed.node.neighbors.why_none, "fabric-lldp"));
  ASSERT_EQ(bed.node.neighbors.heard.size(), 1u);
  const Neighbor& peer = bed.node.neighbors.heard[0];
  EXPECT_EQ(peer.source, "firmware");
  EXPECT_EQ(peer.netdev, "ens1");
  EXPECT_EQ(peer.pfc, (DcbxPfc{false, false, 4, PrioSet{8}}));
  EXPECT_EQ(peer.ets, (DcbxEts{false, 8, {0, 0, 0, 1, 0, 0, 0, 0}, {50, 50}, {2, 2}}));
  EXPECT_EQ(peer.app, (std::vector<DcbxApp>{{DcbxApp::dscp, 26, 3}}));
}

TEST(ScanNeighbors, OfTheListenerOnThePortsNetdevs) {
  Bed bed;
  Neighbors heard{.listening = {{"ens1", 0}, {"eth0", 0}}};
  for (const char* netdev : {"ens1", "eth0"})
    heard.heard.push_back(
        {.netdev = netdev, .chassis_id = "leaf1", .port_id = "1", .ttl = 120, .heard = 5, .max_frame = 9216});
  ASSERT_TRUE(state::save_neighbors(bed.tree.path(), heard, 10));
  bed.read();
  EXPECT_EQ(bed.node.neighbors.source, "fabric-lldp");
  EXPECT_EQ(bed.node.neighbors.listening, (std::map<std::string, double>{{"ens1", 10}}));
  ASSERT_EQ(bed.node.neighbors.heard.size(), 1u);
  EXPECT_EQ(bed.node.neighbors.heard[0].chassis_id, "leaf1");
  EXPECT_EQ(bed.node.network.interfaces["ens1"].peer_max_frame, 9216u);
  EXPECT_EQ(bed.netlink.asked, 0) << "who is heard needs no firmware";
}

TEST(ScanNeighbors, AFileThatIsBrokenIsTold) {
  Bed bed;
  bed.tree.file("run/fabric-lldp/neighbors.json", "{");
  bed.read();
  EXPECT_EQ(bed.node.neighbors.source, "");
  EXPECT_TRUE(test::has(bed.node.neighbors.why_none, "neighbors.json: "));
}

TEST(ScanNeighbors, OtherNamesOfANetdev) {
  if (const std::string why = test::enter_netns_with_veth(); !why.empty()) GTEST_SKIP() << why;
  if (std::system("ip link property add dev veth0 altname rail0 altname enp1s0") != 0)
    GTEST_SKIP() << "iproute2 or kernel without altnames";
  auto route = open_netlink(NETLINK_ROUTE);
  ASSERT_TRUE(route);
  const auto link = rtnl::link(**route, "veth0");
  ASSERT_TRUE(link) << link.error().text();
  EXPECT_EQ(link->altnames, (std::vector<std::string>{"rail0", "enp1s0"}));
}

}  // namespace
}  // namespace fabric
