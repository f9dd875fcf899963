// SPDX-License-Identifier: Apache-2.0
#include "enforce/reconcile.h"
#include "node/netdev_use.h"
#include "support/sim_nic_bed.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

class Busy : public testing::Test {
 protected:
  void SetUp() override {
    // mlx5_0 is the function itself, mlx5_1 another card, mlx5_2 a virtual function of the first, mlx5_3 a subfunction.
    const std::string pf = test::add_pci(tree_, {"pci0000:20/0000:20:01.0", "0000:24:00.0"});
    const std::string other = test::add_pci(tree_, {"pci0000:40/0000:40:01.0", "0000:41:00.0"});
    const std::string vf = test::add_pci(tree_, {"pci0000:20/0000:20:01.0", "0000:24:00.2"});
    tree_.link(vf + "/physfn", "../0000:24:00.0").folder(pf + "/mlx5_core.sf.4");
    device(0, "mlx5_0", pf);
    device(1, "mlx5_1", other);
    device(2, "mlx5_2", vf);
    device(3, "mlx5_3", pf + "/mlx5_core.sf.4");
  }
  void device(uint32_t index, const std::string& name, const std::string& folder) {
    rdma_->devices[index] = {.name = name, .owners = {{"qp", {}}, {"mr", {}}}};
    tree_.link("sys/class/infiniband/" + name + "/device", "../../../../" + folder);
  }
  // Objects of processes: queue pairs, memory regions.
  uint64_t& pairs(uint32_t index) { return rdma_->devices[index].owners["qp"].user; }
  uint64_t& memory(uint32_t index) { return rdma_->devices[index].owners["mr"].user; }
  bool busy() { return static_cast<bool>(qos::is_in_use(kernel_, port_)); }
  test::Tree tree_;
  Kernel kernel_{.root = tree_.root(), .rdma = std::make_unique<test::SimRdma>()};
  test::SimRdma* rdma_ = static_cast<test::SimRdma*>(kernel_.rdma.get());
  Port port_{.rdma = "mlx5_0", .pci = "0000:24:00.0"};
};

TEST_F(Busy, ByItsOwnQueuePairsAndThoseOfTheFunctionsBelowIt) {
  EXPECT_FALSE(busy());
  for (const uint32_t index : {0U, 2U, 3U}) {
    pairs(index) = 1;
    EXPECT_TRUE(busy()) << rdma_->devices[index].name;
    pairs(index) = 0;
  }
  pairs(1) = 5;
  EXPECT_FALSE(busy()) << "another card";
}

// UCX, IBGDA: their queue pairs are DEVX objects, which no dump lists.
TEST_F(Busy, ByMemoryOfProcessesWhoseQueuePairsAreNotListed) {
  memory(2) = 1;
  EXPECT_TRUE(busy()) << "of the virtual function";
  memory(2) = 0;
  memory(1) = 7;
  EXPECT_FALSE(busy()) << "another card";
  rdma_->owners_errno["mr"] = EINVAL;
  EXPECT_FALSE(busy()) << "a kernel without this dump";
  rdma_->owners_errno["mr"] = ETIMEDOUT;
  EXPECT_TRUE(busy());
}

TEST_F(Busy, ByAGuestOrAContainerWhoseQueuePairsAreNotListed) {
  const std::string pf = "sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0";
  const std::string vf = test::add_pci(tree_, {"pci0000:20/0000:20:01.0", "0000:24:00.3"});
  tree_.link(pf + "/virtfn1", "../0000:24:00.3").link(vf + "/driver", "../../../../bus/pci/drivers/vfio-pci");
  tree_.folder("sys/bus/pci/drivers/vfio-pci").file(vf + "/enable", "0\n");
  EXPECT_FALSE(busy()) << "no guest runs";
  tree_.file(vf + "/enable", "1\n");
  EXPECT_TRUE(busy());
  tree_.remove(vf + "/driver").folder(vf + "/infiniband");
  EXPECT_TRUE(busy()) << "its RDMA device is in another network namespace";
  tree_.folder(vf + "/infiniband/mlx5_4");
  EXPECT_FALSE(busy());
  tree_.folder(pf + "/mlx5_core.sf.4/infiniband");
  EXPECT_TRUE(busy());
  tree_.remove(pf + "/mlx5_core.sf.4/infiniband");
  EXPECT_FALSE(busy());
  // RDMA devices are shared, netdevs are not: the container's TCP sessions are over the same link.
  for (const std::string& function : {vf, pf + "/mlx5_core.sf.4"}) {
    tree_.folder(function + "/net");
    EXPECT_TRUE(busy()) << function << ": its netdev is in another network namespace";
    tree_.folder(function + "/net/eth4");
    EXPECT_FALSE(busy()) << function;
  }
}

// VF LAG: the packets of a virtual function leave by any member of the bond.
TEST_F(Busy, ByTheFunctionsOfTheOtherMembersOfARoceLag) {
  const std::string other = test::add_pci(tree_, {"pci0000:20/0000:20:01.0", "0000:24:00.1"});
  const std::string vf = test::add_pci(tree_, {"pci0000:20/0000:20:01.0", "0000:24:01.2"});
  tree_.link(vf + "/physfn", "../0000:24:00.1").link(other + "/virtfn0", "../0000:24:01.2");
  tree_.link("sys/class/net/ens1f1/device", "../../../../" + other);
  tree_.file("sys/class/net/bond0/bonding/slaves", "ens1f0 ens1f1\n");
  device(4, "mlx5_4", vf);
  pairs(4) = 1;
  EXPECT_FALSE(busy()) << "without a bond it has the link of its own function";
  for (const PortRole role : {PortRole::bond_member, PortRole::bond}) {
    port_.role = role;
    port_.bond = "bond0";
    EXPECT_TRUE(busy());
  }
  pairs(4) = 0;
  EXPECT_FALSE(busy());
  tree_.folder(vf + "/infiniband");
  EXPECT_TRUE(busy()) << "its RDMA device is in another network namespace";
}

// Two functions of one physical port: a partition of bnxt_en or mlx5 for the other socket, one of i40e. Functions of
// another port of the same card, or without these files, have another link.
TEST_F(Busy, ByTheOtherFunctionsOfItsPhysicalPort) {
  const std::string other = "sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0";
  port_.netdev = "ens1";
  tree_.link("sys/class/net/ens1/device", "../../../../sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0")
      .link("sys/class/net/ens2/device", "../../../../" + other);
  pairs(1) = 1;
  const auto both = [this](const std::string& file, const std::string& own, const std::string& others) {
    tree_.file("sys/class/net/ens1/" + file, own + "\n").file("sys/class/net/ens2/" + file, others + "\n");
  };
  EXPECT_FALSE(busy());
  both("phys_switch_id", "b83fd2000000000a", "b83fd2000000000a");
  EXPECT_FALSE(busy()) << "its port is unknown";
  both("phys_port_name", "p0", "p0");
  EXPECT_TRUE(busy());
  both("phys_port_name", "p0", "p1");
  EXPECT_FALSE(busy()) << "another port of the card";
  both("phys_port_id", "3cfdfe000001", "3cfdfe000001");
  EXPECT_TRUE(busy());
  pairs(1) = 0;
  EXPECT_FALSE(busy());
  tree_.folder(other + "/virtfn0/infiniband");
  EXPECT_TRUE(busy()) << "a container uses a virtual function of the other one";
}

TEST_F(Busy, ByRdmaInSoftwareOnItsNetdev) {
  port_.netdev = "ens1";
  rdma_->devices[4] = {.name = "rxe0", .owners = {{"qp", {.user = 1}}, {"mr", {}}}};
  tree_.file("sys/class/infiniband/rxe0/parent", "ens2\n");
  EXPECT_FALSE(busy()) << "of another netdev";
  tree_.file("sys/class/infiniband/rxe0/parent", "ens1\n");
  EXPECT_TRUE(busy());
}

TEST_F(Busy, ByAVdpaDevice) {
  const std::string function = "sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0/mlx5_core.sf.4";
  tree_.folder(function + "/vdpa0").link("sys/bus/vdpa/devices/vdpa0", "../../../../" + function + "/vdpa0");
  EXPECT_FALSE(busy()) << "without a driver it serves nothing";
  tree_.folder("sys/bus/vdpa/drivers/vhost_vdpa")
      .link(function + "/vdpa0/driver", "../../../../../../bus/vdpa/drivers/vhost_vdpa");
  EXPECT_TRUE(busy());
  tree_.link("sys/bus/vdpa/devices/vdpa0", "../../../../sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/vdpa0");
  tree_.folder("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/vdpa0");
  EXPECT_FALSE(busy()) << "of another card";
}

TEST_F(Busy, ByADriverOfUserSpace) {
  const std::string vf = test::add_pci(tree_, {"pci0000:20/0000:20:01.0", "0000:24:00.3"});
  tree_.link("sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0/virtfn1", "../0000:24:00.3");
  EXPECT_FALSE(busy()) << "without a driver";
  tree_.folder("sys/bus/pci/drivers/uio_pci_generic")
      .link(vf + "/driver", "../../../../bus/pci/drivers/uio_pci_generic");
  EXPECT_TRUE(busy());
  tree_.folder(vf + "/net/eth4");
  EXPECT_FALSE(busy()) << "a NIC's driver, whose users are listed";
}

TEST_F(Busy, SaysByWhom) {
  EXPECT_EQ(qos::is_in_use(kernel_, port_).why, "");
  pairs(0) = 1;
  EXPECT_EQ(qos::is_in_use(kernel_, port_).why, "a process or the kernel has queue pairs on mlx5_0");
  memory(2) = 1;
  pairs(0) = 0;
  EXPECT_EQ(qos::is_in_use(kernel_, port_).why, "a process has registered memory with mlx5_2");
}

TEST_F(Busy, WhatCannotBeKnownIsBusy) {
  rdma_->devices.erase(0);
  EXPECT_TRUE(busy()) << "its device is not there, or in another network namespace";
  device(0, "mlx5_0", "sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0");
  EXPECT_FALSE(busy());
  // As with EMFILE or EIO: functions that cannot be listed may be used.
  port_.pci = "0000:24:00.7";
  tree_.file("sys/bus/pci/devices/0000:24:00.7", "");
  EXPECT_TRUE(busy());
  EXPECT_TRUE(test::has(qos::is_in_use(kernel_, port_).why, "cannot be determined"));
  kernel_.rdma.reset();
  EXPECT_TRUE(busy());
}

TEST(DefaultRoute, OfAnotherPartitionOfThePhysicalPort) {
  test::FileBed bed{test::Personality::mlx5};
  bed.sim.add_nic("eth1", test::Personality::mlx5).has_default_route = true;
  bed.tree.folder("sys/class/net/eth1/device").file("sys/class/net/eth1/phys_port_id", "3cfdfe000001\n");
  EXPECT_FALSE(default_route_of(bed.kernel, bed.port));
  bed.tree.file("sys/class/net/eth0/phys_port_id", "3cfdfe000001\n");
  EXPECT_EQ(default_route_of(bed.kernel, bed.port).why, "the default route leaves by eth1, on the link of eth0");
}

// The route of a network service that restarts is gone for a moment.
TEST(DefaultRoute, HoldsThePortForAWhileAfterItLeft) {
  Port port;
  port.rdma = "mlx5_0";
  port.netdev = "ens1";
  qos::Use now;
  const qos::UseCheck held = qos::hold_default_route([&](const Port&) { return now; }, std::chrono::seconds(120));
  const qos::UseCheck short_hold = qos::hold_default_route([&](const Port&) { return now; }, std::chrono::seconds(0));
  EXPECT_FALSE(held(port)) << "never seen";
  now = {"a process has queue pairs on mlx5_0"};
  EXPECT_TRUE(held(port));
  now = {};
  EXPECT_FALSE(held(port)) << "a job that ended does not hold the port";
  now = {"the default route leaves by ens1", qos::UseKind::default_route, true};
  EXPECT_EQ(held(port).why, now.why);
  EXPECT_TRUE(short_hold(port));
  now = {};
  EXPECT_EQ(held(port).why, "the default route left by ens1 in the last 120 s");
  EXPECT_EQ(held(port).kind, qos::UseKind::default_route) << "front_end = true allows it, as before";
  EXPECT_FALSE(short_hold(port));
  Port other = port;
  other.netdev = "ens2";
  EXPECT_FALSE(held(other));
  port.rdma = "rocep36s0";
  EXPECT_TRUE(held(port)) << "its RDMA device was renamed";
}

// The agent is restarted directly after the route left.
TEST(DefaultRoute, HoldsThePortUnderTheNextAgent) {
  test::Tree tree;
  Port port;
  port.netdev = "ens1";
  Port other = port;
  other.netdev = "ens2";
  qos::Use now{
      .why = "the default route leaves by ens1", .kind = qos::UseKind::default_route, .has_default_route = true};
  const qos::UseCheck ask = [&](const Port& of) { return of.netdev == "ens1" ? now : qos::Use{}; };
  const auto start = [&](std::chrono::milliseconds hold) { return qos::hold_default_route(ask, hold, tree.path()); };
  EXPECT_TRUE(start(std::chrono::minutes(2))(port));
  now = {};
  const qos::UseCheck next = start(std::chrono::minutes(2));
  EXPECT_TRUE(next(port).has_default_route);
  EXPECT_FALSE(next(other)) << "never had the route";
  EXPECT_FALSE(start(std::chrono::milliseconds(0))(port)) << "the time is over";
  EXPECT_FALSE(start(std::chrono::minutes(2))(port)) << "that is recorded";
  tree.file(qos::kHeldPortsFile, "[[[");
  EXPECT_TRUE(test::has(start(std::chrono::minutes(2))(other).why, "cannot be determined"))
      << "a damaged file may have had it";
  EXPECT_TRUE(test::has(start(std::chrono::minutes(2))(other).held, "cannot be determined")) << "and stays";
  EXPECT_FALSE(start(std::chrono::milliseconds(0))(other)) << "the time is over";
  EXPECT_FALSE(start(std::chrono::minutes(2))(other)) << "that agent has replaced the file";
}

// The next agent cannot read the file once: for want of memory or descriptors, or because the call was interrupted.
TEST(DefaultRoute, IsReadAgainAfterAFailure) {
  test::Tree tree;
  Port port;
  port.netdev = "ens1";
  Port other = port;
  other.netdev = "ens2";
  qos::Use now{
      .why = "the default route leaves by ens1", .kind = qos::UseKind::default_route, .has_default_route = true};
  const qos::UseCheck ask = [&](const Port& of) { return of.netdev == "ens1" ? now : qos::Use{}; };
  const auto start = [&] { return qos::hold_default_route(ask, std::chrono::minutes(2), tree.path()); };
  EXPECT_TRUE(start()(port));
  now = {};
  const std::string text = tree.root().read(qos::kHeldPortsFile).value_or("");
  tree.file(qos::kHeldPortsFile, "[[[");
  const qos::UseCheck next = start();
  EXPECT_TRUE(test::has(next(other).held, "cannot be determined"));
  tree.file(qos::kHeldPortsFile, text);
  EXPECT_FALSE(next(other)) << "it never had the route";
  EXPECT_EQ(next(port).held, "the default route left by ens1 in the last 120 s");
  EXPECT_TRUE(start()(port)) << "the file still has it";
}

// A process that writes once (fabric-agentctl apply) has seen no route itself.
TEST(DefaultRoute, HoldsThePortForProcessesBesideTheAgent) {
  test::Tree tree;
  Port port;
  port.netdev = "ens1";
  Port other = port;
  other.netdev = "ens2";
  const std::chrono::minutes hold{2};
  qos::Use now{
      .why = "the default route leaves by ens1", .kind = qos::UseKind::default_route, .has_default_route = true};
  const qos::UseCheck ask = [&](const Port& of) { return of.netdev == "ens1" ? now : qos::Use{}; };
  const qos::UseCheck beside = qos::hold_as_agent([](const Port&) { return false; }, hold, tree.path());
  EXPECT_FALSE(beside(port)) << "there is no agent";
  EXPECT_TRUE(qos::hold_default_route(ask, hold, tree.path())(port));
  EXPECT_EQ(beside(port).kind, qos::UseKind::default_route) << "front_end = true allows it";
  EXPECT_TRUE(beside(port).has_default_route);
  EXPECT_FALSE(beside(other));
  const auto seen = [&](const std::string& moment) {
    const std::string key = "\"" + state::port_key(port) + "\"";
    tree.file(qos::kHeldPortsFile, R"({"format":1,"seen":{)" + key + ":" + moment + "}}");
    return qos::hold_as_agent([](const Port&) { return false; }, hold, tree.path())(port).has_default_route;
  };
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch() - std::chrono::seconds(1));
  EXPECT_TRUE(seen(std::to_string(milliseconds.count())));
  EXPECT_FALSE(seen(std::to_string((milliseconds - hold).count()))) << "the time is over, and the agent was not asked";
  EXPECT_FALSE(seen("9223372036854775807")) << "no time of this boot";
  EXPECT_FALSE(seen("-9223372036854775808"));
  EXPECT_TRUE(seen("[")) << "a damaged file may name any port";
  EXPECT_FALSE(seen(std::to_string((milliseconds - hold).count())));
  // The next agent holds the port from its start on, and so do the others.
  now = {};
  EXPECT_TRUE(qos::hold_default_route(ask, hold, tree.path())(port));
  EXPECT_TRUE(beside(port));
}

// Only the agent writes the file.
TEST(DefaultRoute, OfAProcessBesideTheAgentIsNotRecorded) {
  test::Tree tree;
  Port port;
  port.netdev = "ens1";
  qos::Use now{.why = "the default route leaves by ens1", .has_default_route = true};
  const qos::UseCheck held = qos::hold_as_agent([&](const Port&) { return now; }, std::chrono::minutes(2), tree.path());
  EXPECT_TRUE(held(port));
  now = {};
  EXPECT_TRUE(held(port)) << "the process itself remembers it";
  EXPECT_FALSE(tree.root().exists(qos::kHeldPortsFile));
}

// The address goes with the route, and with the address the operator's session: it was named as the user until then.
TEST(DefaultRoute, HoldsThePortAlsoIfASessionCameFirst) {
  Port port;
  port.rdma = "mlx5_0";
  port.netdev = "ens1";
  qos::Use now{.why = "a TCP session of this host (10.0.0.1) uses ens1", .has_default_route = true};
  const qos::UseCheck held = qos::hold_default_route([&](const Port&) { return now; }, std::chrono::seconds(120));
  EXPECT_FALSE(held(port).is_front_end()) << "a session is no reason to write";
  now = {};
  EXPECT_EQ(held(port).kind, qos::UseKind::default_route);
  now = {.why = "a process has queue pairs on mlx5_0"};
  EXPECT_FALSE(held(port).is_front_end()) << "a job has begun since";
  EXPECT_TRUE(held(port).has_default_route);
}

// Even with disruptive = "now", the link of a port is not stopped while its default route has just left.
TEST(DefaultRoute, HoldsThePortFromDisruptiveNow) {
  test::FileBed bed{test::Personality::mlx5};
  qos::Use use;
  bed.terms.in_use = qos::hold_default_route([&](const Port&) { return use; }, std::chrono::seconds(120));
  bed.terms.disruptive = Disruptive::now;
  const Qos want{.dcbx = Dcbx::host, .pfc = PrioSet{0x08}};
  use = {"a process has queue pairs on mlx5_0"};
  bed.nic.has_default_route = true;
  use.has_default_route = true;
  EXPECT_TRUE(test::has_outcome(bed.apply(want), "pfc", Outcome::pending, "front_end = true allows it"));
  bed.nic.has_default_route = use.has_default_route = false;
  EXPECT_TRUE(
      test::has_outcome(bed.apply(want), "pfc", Outcome::pending, "the default route left by eth0 in the last"));
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
  bed.terms.front_end = true;
  bed.apply(want);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0x08);
}

}  // namespace
}  // namespace fabric
