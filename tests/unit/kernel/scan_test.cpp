// SPDX-License-Identifier: Apache-2.0
// The results of a scan of the machine: RDMA devices and their ports, netdevs and functions. The neighbor of a port:
// from the listener's file, else from the DCBX data of the other end in firmware.
#include "node/scan.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "agentd/pci.h"
#include "base/parse.h"
#include "ctl/topo/view.h"
#include "judge/engine.h"
#include "judge/report.h"
#include "kernel/netlink/dcbnl.h"
#include "kernel/netlink/rtnl.h"
#include "kernel/rdma/infiniband.h"
#include "kernel/rdma/verbs.h"
#include "node/endpoints.h"
#include "node/neighbor_state.h"
#include "node/node.h"
#include "node/port_reader.h"
#include "support/corpus.h"
#include "support/netns.h"
#include "support/sim_files.h"
#include "support/sim_nic.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::add_pci;
using test::has;
using test::Tree;

// -- Files of the RDMA subsystem

TEST(Infiniband, RatesAreBytesPerSecond) {
  EXPECT_EQ(infiniband::parse_rate("400 Gb/sec (4X NDR)\n"), 50e9);
  EXPECT_EQ(infiniband::parse_rate("2.5 Gb/sec (1X SDR)"), 312.5e6);
  for (const char* text : {"", "0 Gb/sec", "400", "400 Mb/sec", "fast Gb/sec", "-1 Gb/sec", "inf Gb/sec", "nan Gb/sec"})
    EXPECT_FALSE(infiniband::parse_rate(text)) << text;
}

TEST(Infiniband, TheWidthIsThatOfTheLink) {
  EXPECT_EQ(infiniband::parse_width("400 Gb/sec (4X NDR)\n"), (IbWidth{4, "NDR"}));
  EXPECT_EQ(infiniband::parse_width("100 Gb/sec (1X NDR)"), (IbWidth{1, "NDR"}));
  for (const char* text : {"", "400 Gb/sec", "400 Gb/sec (4X)", "400 Gb/sec (X NDR)", "400 Gb/sec (0X NDR)",
                           "400 Gb/sec 4X NDR", "400 Gb/sec (4X NDR) more", "400 Gb/sec (4X \x1b[m)"})
    EXPECT_FALSE(infiniband::parse_width(text)) << text;
}

TEST(Infiniband, StatesAreTheirNumbers) {
  EXPECT_EQ(infiniband::parse_state("4: ACTIVE\n"), 4u);
  EXPECT_EQ(infiniband::parse_state("5: LinkUp"), 5u);
  EXPECT_FALSE(infiniband::parse_state("ACTIVE"));
  EXPECT_FALSE(infiniband::parse_state(""));
}

TEST(Infiniband, DevicesAndPortsInNaturalOrder) {
  Tree tree;
  EXPECT_TRUE(infiniband::devices(tree.root())->empty());
  for (const char* port : {"mlx5_10/ports/1", "mlx5_2/ports/2", "mlx5_2/ports/1", "mlx5_2/ports/x"})
    tree.folder(std::string("sys/class/infiniband/") + port);
  EXPECT_EQ(*infiniband::devices(tree.root()), (std::vector<std::string>{"mlx5_2", "mlx5_10"}));
  EXPECT_EQ(*infiniband::ports(tree.root(), "mlx5_2"), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(infiniband::ports(tree.root(), "none").error().code, ENOENT);
}

void gid(Tree& tree, unsigned index, const std::string& text) {
  const std::string slot = "/" + std::to_string(index);
  const std::string port = "sys/class/infiniband/rxe0/ports/1";
  tree.file(port + "/gids" + slot, text + "\n");
  if (text.find_first_not_of("0:") == std::string::npos) return;  // the kernel refuses the attributes of an empty slot
  tree.file(port + "/gid_attrs/types" + slot, "RoCE v2\n").file(port + "/gid_attrs/ndevs" + slot, "eth0\n");
}

// As fabric-exporter and `check` read them: one function for both.
TEST(Infiniband, PartitionKeysArePartOfTheNetwork) {
  test::Tree tree;
  const std::string folder = "sys/class/infiniband/mlx5_0/ports/1/pkeys/";
  tree.file(folder + "0", "0x7fff\n").file(folder + "1", "0x8001\n").file(folder + "2", "0x0000\n");
  Kernel kernel = std::move(open_kernel(tree.path())).value();
  Node node;
  node.ports.resize(2);
  node.ports[0].rdma = "mlx5_0";
  node.ports[1].rdma = "mlx5_1";  // a capture without the table
  for (Port& port : node.ports) port.link_layer = LinkLayer::infiniband;
  scanning::read_network(kernel, node);
  ASSERT_EQ(node.network.pkeys.size(), 1U);
  EXPECT_EQ(node.network.pkeys.at("mlx5_0/1"), (std::vector<uint16_t>{0x7fff, 0x8001, 0}));
  tree.file(folder + "1", "");
  EXPECT_EQ(test::code_of(infiniband::pkeys(tree.root(), "mlx5_0", 1)), EINVAL) << "unreadable is not empty";
}

// cp -r of /sys without the option for links: not a machine without NICs.
TEST(ScanOfATree, WithoutItsLinksIsTold) {
  test::Tree tree;
  Kernel kernel = std::move(open_kernel(tree.path())).value();
  EXPECT_EQ(scan(kernel, {}).rdma_unread, "") << "no PCI device";
  tree.file("sys/devices/pci0000:10/0000:10:01.0/vendor", "0x15b3\n");
  EXPECT_TRUE(has(scan(kernel, {}).rdma_unread, "without its symbolic links"));
  tree.folder("sys/bus/pci/devices/0000:10:01.0");
  EXPECT_EQ(scan(kernel, {}).rdma_unread, "") << "a machine without RDMA";
}

TEST(ScanOfATree, OfANewerReleaseIsTold) {
  test::Tree tree;
  Kernel kernel = std::move(open_kernel(tree.path())).value();
  for (const bool is_newer : {false, true}) {
    const std::string text = is_newer ? R"({"format": 7, "node": []})" : R"({"format": )";
    for (const char* file : {"run/fabric-agent/state.json", "var/lib/fabric-agent/inventory.json"})
      tree.file(file, text);
    const Node node = scan(kernel, {.topology = true});
    EXPECT_FALSE(node.agent_unread.empty() || node.inventory_unread.empty());
    EXPECT_EQ(node.agent_is_newer, is_newer) << node.agent_unread;
    EXPECT_EQ(node.inventory_is_newer, is_newer) << node.inventory_unread;
  }
}

TEST(Infiniband, LidsArePartOfTheNetwork) {
  test::Tree tree;
  const auto lid = [&](const std::string& device, const std::string& own, const std::string& manager) {
    const std::string folder = "sys/class/infiniband/" + device + "/ports/1/";
    tree.file(folder + "lid", own + "\n").file(folder + "sm_lid", manager + "\n");
  };
  lid("mlx5_0", "0x1f", "0x1");
  lid("mlx5_1", "0xffff", "0x0");
  Kernel kernel = std::move(open_kernel(tree.path())).value();
  Node node;
  node.ports.resize(4);
  for (size_t i = 0; i < node.ports.size(); ++i) {
    node.ports[i].rdma = "mlx5_" + std::to_string(i);  // the third: a capture without the files
    node.ports[i].link_layer = i < 3 ? LinkLayer::infiniband : LinkLayer::ethernet;
  }
  lid("mlx5_3", "0x0", "0x0");
  node.ports[0].state = kPortActive;
  node.ports[1].state = kPortInit;
  scanning::read_network(kernel, node);
  ASSERT_EQ(node.network.lids.size(), 2U);
  EXPECT_EQ(node.network.lids.at("mlx5_0/1").own, 0x1fU);
  EXPECT_EQ(node.network.lids.at("mlx5_0/1").subnet_manager, 1U);
  EXPECT_EQ(node.network.lids.at("mlx5_1/1").own, 0xffffU);
  EXPECT_TRUE(node.network.lids.at("mlx5_0/1").active && !node.network.lids.at("mlx5_1/1").active);
  EXPECT_TRUE(node.unseen.empty()) << node.unseen.front();
  lid("mlx5_0", "nonsense", "0x1");
  EXPECT_EQ(test::code_of(infiniband::lids(tree.root(), "mlx5_0", 1)), EINVAL);
}

TEST(Infiniband, GidsInUse) {
  Tree tree;
  const std::string zero = "0000:0000:0000:0000:0000:0000:0000:0000",
                    mapped = "0000:0000:0000:0000:0000:ffff:0a01:0001";
  gid(tree, 0, "fe80:0000:0000:0000:5054:00ff:fe12:3456");
  gid(tree, 1, zero);
  gid(tree, 2, mapped);
  for (unsigned i = 3; i < 80; ++i) gid(tree, i, zero);
  gid(tree, 80, mapped);
  const auto gids = infiniband::gids(tree.root(), "rxe0", 1);
  ASSERT_TRUE(gids);
  ASSERT_EQ(gids->size(), 2u) << "64 empty slots in a row end the search";
  EXPECT_EQ((*gids)[1].index, 2u);
  EXPECT_EQ((*gids)[1].gid, mapped);
  EXPECT_EQ((*gids)[1].type, "RoCE v2");
  EXPECT_EQ((*gids)[1].netdev, "eth0");
  EXPECT_EQ(infiniband::gids(tree.root(), "none", 1).error().code, ENOENT) << "no table is not an empty one";
}

TEST(Infiniband, CapturedMachines) {
  const auto corpus = test::corpus_directory();
  if (!corpus) GTEST_SKIP() << "no corpus: set FABRIC_CORPUS";
  const test::Unpacked tree(*corpus + "/ib-sysfs/procfs-fixtures-sys.tar.gz");
  const Root root = *Root::open(tree.root());
  EXPECT_EQ(*infiniband::devices(root), (std::vector<std::string>{"hfi1_0", "mlx4_0", "mlx5_0"}));
  EXPECT_EQ(infiniband::ports(root, "mlx4_0")->size(), 2u);
}

TEST(Verbs, AttributesAsRecorded) {
  const auto device = verbs::parse_device(
      "firmware 28.39.1002\ngids\nport 1 4 5 4096 Ethernet\nspeed 1 8000\n"
      "gid 1 0 fe80:0000:0000:0000:0a00:27ff:fe00:0001 v1 ens1\ngid 1 3 0000:0000:0000:0000:0000:ffff:0a01:0001 v2 \n"
      "port 2 1 3 0 unknown\n");
  ASSERT_TRUE(device && device->has_gid_table && device->ports.size() == 2 && device->ports.at(1).gids.size() == 2);
  EXPECT_EQ(device->firmware, "28.39.1002");
  const verbs::PortAttributes& port = device->ports.at(1);
  EXPECT_EQ(std::tuple(port.state, port.phys_state, port.active_mtu, port.link_layer),
            std::tuple(4U, 5U, 4096U, LinkLayer::ethernet));
  EXPECT_EQ(port.gids[0].type + " " + port.gids[0].netdev, "IB/RoCE v1 ens1");
  EXPECT_EQ(port.gids[1].type + " " + port.gids[1].netdev, "RoCE v2 ");
  EXPECT_EQ(device->ports.at(2).link_layer, LinkLayer::unknown);
  EXPECT_EQ(port.rate, 100e9) << "800 Gb/s";
  EXPECT_FALSE(device->ports.at(2).rate);
  EXPECT_TRUE(verbs::parse_device("")->ports.empty());
  for (const char* bad : {"port 1 4 5", "port x 4 5 4096 Ethernet", "gid 1 0 fe80:: v2 eth0", "firmware", "4096",
                          "speed 1 8000", "port 1 4 5 4096 Ethernet\nspeed 1 0"})
    EXPECT_FALSE(verbs::parse_device(bad)) << bad;
  EXPECT_FALSE(verbs::query("no-such-device0"));
}

// -- Scans

std::string add_rdma(Tree& tree, const std::string& device, const std::string& function) {
  const std::string folder = "sys/class/infiniband/" + device;
  const std::string port = folder + "/ports/1";
  if (!function.empty()) tree.link(folder + "/device", "../../../" + function.substr(4));
  tree.file(port + "/state", "4: ACTIVE\n").file(port + "/phys_state", "5: LinkUp\n");
  tree.file(port + "/link_layer", "Ethernet\n").file(port + "/rate", "100 Gb/sec (4X EDR)\n");
  return folder;
}

// A ConnectX on a PCI function, with its netdev.
void add_connectx(Tree& tree) {
  tree.file("sys/devices/system/node/node0/cpulist", "0-3\n").file("sys/devices/system/node/node1/cpulist", "4-7\n");
  const auto function = add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:24:00.0", "0x15b3", "0x1021", "0x020000", "1"});
  tree.folder("sys/bus/pci/drivers/mlx5_core").link(function + "/driver", "../../../../bus/pci/drivers/mlx5_core");
  tree.folder(function + "/net/eth0");
  const auto device = add_rdma(tree, "mlx5_0", function);
  tree.file(device + "/fw_ver", "28.41.1000\n")
      .file(device + "/board_id", "MT_0000000838\n")
      .file(device + "/hca_type", "MT4129\n");
  tree.file("sys/class/net/eth0/mtu", "4200\n")
      .file("sys/class/net/eth0/carrier", "1\n")
      .file("sys/class/net/eth0/speed", "400000\n");
  tree.file("sys/class/net/eth0/carrier_down_count", "3\n").file("sys/class/net/eth0/ifindex", "7\n");
  tree.file(device + "/ports/1/gids/0", "0000:0000:0000:0000:0000:ffff:0a01:0001\n");
  tree.file(device + "/ports/1/gid_attrs/types/0", "RoCE v2\n").file(device + "/ports/1/gid_attrs/ndevs/0", "eth0\n");
  tree.file(device + "/ports/1/hw_counters/np_cnp_sent", "12\n").file(device + "/ports/1/hw_counters/lifespan", "10\n");
  tree.file(device + "/ports/1/counters/port_rcv_data", "99\n")
      .file(device + "/ports/1/counters/link_downed", "N/A (no PMA)\n");
  tree.file("proc/sys/kernel/hostname", "gpu-1\n");
}

struct Scan : testing::Test {
  Node scanned(const ScanOptions& options = {}) const {
    Kernel kernel = std::move(open_kernel(tree.path())).value();
    return scan(kernel, options);
  }
  Tree tree;
};
struct ScanOfANic : Scan {
  ScanOfANic() { add_connectx(tree); }
};

TEST_F(ScanOfANic, AMemberOfABondOrTeamHasNoMacAddressOfItsOwn) {
  const auto mac = [&] { return scanned().network.interfaces.at("eth0").mac; };
  EXPECT_EQ(mac(), "");
  tree.file("sys/class/net/eth0/address", "b8:3f:d2:00:00:01\n");
  EXPECT_EQ(mac(), "b8:3f:d2:00:00:01");
  tree.file("sys/class/net/team0/address", "b8:3f:d2:00:00:02\n").link("sys/class/net/eth0/master", "../team0");
  EXPECT_EQ(mac(), "b8:3f:d2:00:00:01") << "a VRF";
  tree.file("sys/class/net/team0/address", "b8:3f:d2:00:00:01\n");
  EXPECT_EQ(mac(), "");
}

const std::vector<std::string> kPortState{"port-state"};

// An absent class is a machine without RDMA; a class that cannot be listed is unknown, with the errno, and not a
// container's.
TEST_F(ScanOfANic, DevicesThatCannotBeListedAreUnknown) {
  tree.folder("sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0/infiniband");
  Kernel kernel = std::move(open_kernel(tree.path())).value();
  const auto files = std::make_shared<test::SimFiles>(tree);
  kernel.root.set_behind(files);
  for (const char* folder : {"sys/class/infiniband", "sys/class/infiniband/mlx5_0/ports"})
    for (const int code : {EACCES, EIO, EMFILE}) {
      files->heal();
      files->unreadable(folder, code);
      const Node node = scan(kernel, {});
      EXPECT_TRUE(has(node.rdma_unread, std::string(folder) + ": ")) << node.rdma_unread;
      EXPECT_TRUE(has(node.rdma_unread, errno_name(code))) << node.rdma_unread;
      EXPECT_TRUE(has(joined(unseen_lines(node)), errno_name(code)));
      EXPECT_FALSE(has(joined(node.unseen), errno_name(code))) << "once";
      const Report report = run_rules({.now = node, .no_policy = {}}, kPortState);
      ASSERT_EQ(report.findings.size(), 1U);
      EXPECT_EQ(report.findings.front().status, Status::unknown);
      EXPECT_TRUE(has(report.findings.front().meaning, errno_name(code))) << report.findings.front().meaning;
      EXPECT_FALSE(has(report.findings.front().meaning, "container"));
      EXPECT_TRUE(has(joined(ctl::topo_notes(ctl::topo_view(node, nullptr, "")), "\n"), errno_name(code)));
    }
  files->heal();
  EXPECT_EQ(scan(kernel, {}).rdma_unread, "");
  files->unreadable("sys/class/infiniband", ENOENT);
  EXPECT_EQ(scan(kernel, {}).rdma_unread, "");
}

// Ports that cannot be listed for a moment did not disappear.
TEST_F(ScanOfANic, DevicesThatCannotBeListedAreNotGone) {
  const Node before = scanned();
  Node now = before;
  now.ports.clear();
  const auto findings_of = [&] { return run_rules({.now = now, .before = &before, .no_policy = {}}, kPortState); };
  EXPECT_EQ(findings_of().findings.front().status, Status::critical);
  now.rdma_unread = "/sys/class/infiniband: Input/output error (EIO)";
  for (const Finding& finding : findings_of().findings) EXPECT_EQ(finding.status, Status::unknown) << finding.meaning;
}

TEST_F(ScanOfANic, CapturedTree) {
  const Node node = scanned();
  EXPECT_EQ(node.hostname, "gpu-1");
  ASSERT_EQ(node.topology.nics.size(), 1u);
  EXPECT_EQ(node.topology.nics[0].name, "mlx5_0");
  ASSERT_EQ(node.ports.size(), 1u);
  const Port& port = node.ports[0];
  EXPECT_EQ(port.id(), "mlx5_0/1");
  EXPECT_EQ(port.netdev, "eth0");
  EXPECT_EQ(port.ifindex, 7);
  EXPECT_EQ(port.pci, "0000:24:00.0");
  EXPECT_EQ(port.kernel_driver, "mlx5_core");
  EXPECT_EQ(port.driver, "mlx5");
  EXPECT_EQ(port.firmware, "28.41.1000");
  EXPECT_EQ(port.board_id, "MT_0000000838");
  EXPECT_EQ(port.numa, 1);
  EXPECT_EQ(port.link_layer, LinkLayer::ethernet);
  EXPECT_EQ(port.state, 4u);
  EXPECT_EQ(port.phys_state, 5u);
  EXPECT_EQ(port.rate, 50e9) << "the netdev's 400 Gb/s, not the InfiniBand class";
  EXPECT_EQ(port.carrier, true);
  EXPECT_EQ(port.active_mtu, 4096u);
  EXPECT_EQ(port.qos.mtu, 4200u);
  ASSERT_EQ(port.gids.size(), 1u);
  EXPECT_EQ(port.gids[0].type, "RoCE v2");
  EXPECT_EQ(port.counters.hw, (std::vector<Counter>{{"np_cnp_sent", 12}}));
  EXPECT_EQ(port.counters.pma, (std::vector<Counter>{{"port_rcv_data", 99}}));
  EXPECT_EQ(port.counters.carrier_down, 3u);
  EXPECT_EQ(port.role, PortRole::physical);
  EXPECT_EQ(port.unread, std::vector<UnreadPart>{});
  EXPECT_EQ(node.unseen, std::vector<std::string>{});
  EXPECT_FALSE(node.agent);
}

// sysfs has a link from the netdev to a VLAN; of a container's macvlan, only the GID table has the name.
TEST_F(ScanOfANic, GidsOfVlansAreToldFromThoseOfContainers) {
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
  for (const auto& [index, netdev] : {std::pair{"1", "roce100"}, {"2", "net1"}}) {
    tree.file(port + "/gids/" + index, "0000:0000:0000:0000:0000:ffff:0a63:000" + std::string(index) + "\n");
    tree.file(port + "/gid_attrs/types/" + index, "RoCE v2\n")
        .file(port + "/gid_attrs/ndevs/" + index, std::string(netdev) + "\n");
  }
  tree.folder("sys/class/net/roce100").link("sys/class/net/roce100/lower_eth0", "../eth0");
  const auto gids = scanned().ports.at(0).gids;
  ASSERT_EQ(gids.size(), 3u);
  EXPECT_FALSE(gids[0].above) << "its own";
  EXPECT_TRUE(gids[1].above);
  EXPECT_FALSE(gids[2].above);
}

TEST_F(ScanOfANic, TheKindOfANetdevShowsGidsOfTunnels) {
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
  unsigned index = 1;
  for (const char* kind : {"vxlan", "vlan", "geneve"}) {
    const std::string number = std::to_string(index++), netdev = std::string(kind) + "0";
    tree.file(port + "/gids/" + number, "0000:0000:0000:0000:0000:ffff:0a63:000" + number + "\n");
    tree.file(port + "/gid_attrs/types/" + number, "RoCE v2\n");
    tree.file(port + "/gid_attrs/ndevs/" + number, netdev + "\n");
    tree.file("sys/class/net/" + netdev + "/uevent", "DEVTYPE=" + std::string(kind) + "\nINTERFACE=" + netdev + "\n");
  }
  const Node node = scanned();
  const auto& gids = node.ports.at(0).gids;
  ASSERT_EQ(gids.size(), 4u);
  EXPECT_FALSE(gids[0].overlay || gids[2].overlay);
  EXPECT_TRUE(gids[1].overlay && gids[3].overlay);
  EXPECT_FALSE(is_here(node, node.ports[0], gids[1]));
}

TEST_F(ScanOfANic, AGidTableIsFullIfEachEntryHasAGid) {
  const std::string gids = "sys/class/infiniband/mlx5_0/ports/1/gids/", some = "0000:0000:0000:0000:0000:ffff:0a63:000";
  tree.file(gids + "1", some + "1\n").file(gids + "2", "0000:0000:0000:0000:0000:0000:0000:0000\n");
  EXPECT_EQ(scanned().ports.at(0).full_gid_table, 0u) << "a free entry at the end";
  tree.file(gids + "2", some + "2\n");
  EXPECT_EQ(scanned().ports.at(0).full_gid_table, 3u);
  tree.file(gids + "1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
  EXPECT_EQ(scanned().ports.at(0).full_gid_table, 0u) << "a free entry between";
}

TEST_F(ScanOfANic, OnlyWhatIsAskedFor) {
  const Node node = scanned({.topology = false, .settings = false, .counters = false, .gids = false});
  EXPECT_TRUE(node.topology.nics.empty());
  ASSERT_EQ(node.ports.size(), 1u);
  EXPECT_TRUE(node.ports[0].gids.empty() && node.ports[0].counters.hw.empty() && !node.ports[0].qos.mtu);
  EXPECT_EQ(node.ports[0].state, 4u);
}

// All but counters takes its time to be read; a rate is counters between the moments of two scans.
class SlowButForCounters final : public BehindFiles {
 public:
  std::optional<Result<void>> act(Act, const std::string& file, std::string_view) override {
    if (file.ends_with("/gids/0") || file == "sys/bus/pci/devices")
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
    if (file.find("/hw_counters/") != std::string::npos) counted = std::chrono::steady_clock::now();
    return std::nullopt;
  }
  std::chrono::steady_clock::time_point counted;
};

TEST_F(ScanOfANic, TheCountersAreOfTheMomentThatIsTold) {
  tree.file(add_rdma(tree, "mlx5_1", "") + "/ports/1/hw_counters/np_cnp_sent", "12\n");
  Kernel kernel = std::move(open_kernel(tree.path())).value();
  const auto slow = std::make_shared<SlowButForCounters>();
  kernel.root.set_behind(slow);
  auto nearest = std::chrono::steady_clock::duration::max();  // this thread, too, may be kept waiting
  for (int i = 0; i < 5; ++i) {
    const Node node = scan(kernel);
    ASSERT_EQ(node.ports.size(), 2u);
    EXPECT_EQ(node.ports[0].gids.size(), 1u);
    nearest = std::min(nearest, slow->counted - node.taken);
  }
  EXPECT_LT(nearest, std::chrono::milliseconds(50));
}

TEST_F(ScanOfANic, ExcludedDevicesAreNotOpened) {
  // Opening these would fail, and be noted.
  tree.folder("sys/class/infiniband/mlx5_bad/ports/1/state");
  EXPECT_EQ(scanned().ports.size(), 2u);
  const Node node = scanned({.exclude = {"mlx5_b*"}});
  ASSERT_EQ(node.ports.size(), 1u);
  EXPECT_EQ(node.ports[0].rdma, "mlx5_0");
}

TEST_F(Scan, PortsInNaturalOrder) {
  for (const char* device : {"mlx5_10", "mlx5_9", "bnxt_re0"}) add_rdma(tree, device, "");
  tree.folder("sys/class/infiniband/mlx5_9/ports/2");
  std::vector<std::string> ids;
  for (const Port& port : scanned().ports) ids.push_back(port.id());
  EXPECT_EQ(ids, (std::vector<std::string>{"bnxt_re0/1", "mlx5_9/1", "mlx5_9/2", "mlx5_10/1"}));
}

TEST_F(Scan, PortsBetweenAcceleratorsOfABoardAreLeftOut) {
  const auto device = add_rdma(tree, "hbl_0", "");
  for (const char* port : {"2", "3", "4"}) tree.folder(device + "/ports/" + port);
  tree.file(device + "/ports_mask", "b1\n")
      .file(device + "/ext_ports_mask", "90\n");  // ports 0, 4, 5 and 7 of the chip
  std::vector<std::string> ids;
  for (const Port& port : scanned().ports) ids.push_back(port.id());
  EXPECT_EQ(ids, (std::vector<std::string>{"hbl_0/2", "hbl_0/4"}));
}

TEST_F(Scan, WithoutMasksAPortOfAGaudiNeedsAGidToBeListed) {
  const auto device = add_rdma(tree, "hlib_0", "");
  for (const char* port : {"2", "3"}) tree.folder(device + "/ports/" + port);
  tree.file(device + "/device/vendor", "0x1da3\n")
      .file(device + "/ports/1/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000\n")
      .file(device + "/ports/2/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000\n")
      .file(device + "/ports/3/gids/0", "fe80:0000:0000:0000:b2fd:0bff:fed5:0001\n");
  std::vector<std::string> ids;
  for (const Port& port : scanned().ports) ids.push_back(port.id());
  EXPECT_EQ(ids, (std::vector<std::string>{"hlib_0/3"}));
}

TEST_F(Scan, ADeviceWithoutPortsIsNamed) {
  tree.folder("sys/class/infiniband/mlx5_0");
  const Node node = scanned();
  EXPECT_TRUE(node.ports.empty());
  ASSERT_EQ(node.unseen.size(), 1u);
  EXPECT_TRUE(has(node.unseen[0], "mlx5_0"));
}

TEST_F(Scan, SoftwareDevices) {
  const auto device = add_rdma(tree, "rxe0", "");
  tree.file(device + "/parent", "eth1\n").file(device + "/fw_ver", "\n");
  tree.file("sys/class/net/eth1/mtu", "1500\n")
      .file("sys/class/net/eth1/speed", "-1\n")
      .file("sys/class/net/eth1/carrier", "1\n");
  const Node node = scanned();
  ASSERT_EQ(node.ports.size(), 1u);
  const Port& port = node.ports[0];
  EXPECT_EQ(port.netdev, "eth1");
  EXPECT_EQ(port.kernel_driver, "rxe");
  EXPECT_TRUE(port.pci.empty());
  EXPECT_FALSE(port.numa);
  EXPECT_FALSE(port.speed) << "-1 is no speed";
  EXPECT_EQ(port.rate, 12.5e9) << "by the InfiniBand rate then";
  EXPECT_EQ(port.active_mtu, 1024u);
}

TEST_F(Scan, NetdevOfAFunctionWithSeveral) {
  const auto function = add_pci(tree, {"pci0000:20", "0000:20:02.0"});
  const auto device = add_rdma(tree, "mlx4_0", function);
  tree.folder(device + "/ports/2").file(device + "/ports/2/link_layer", "Ethernet\n");
  for (const char* port : {"0", "1"})
    tree.folder(function + "/net/eth" + port)
        .file(std::string("sys/class/net/eth") + port + "/dev_port", std::string(port) + "\n");
  const Node node = scanned();
  ASSERT_EQ(node.ports.size(), 2u);
  EXPECT_EQ(node.ports[0].netdev, "eth0");
  EXPECT_EQ(node.ports[1].netdev, "eth1");
}

TEST_F(Scan, InfinibandHasItsOwnRateAndNoNetdev) {
  const auto function = add_pci(tree, {"pci0000:20", "0000:20:02.0", "0x15b3", "0x1021", "0x020700"});
  const auto device = add_rdma(tree, "mlx5_0", function);
  tree.folder(function + "/net/ib0").file(device + "/ports/1/link_layer", "InfiniBand\n");
  const Node node = scanned();
  EXPECT_EQ(node.ports.at(0).netdev, "");
  EXPECT_EQ(node.ports.at(0).rate, 12.5e9);
  EXPECT_FALSE(node.ports.at(0).active_mtu);
}

TEST_F(Scan, VirtualFunctionsAreMarked) {
  const auto function = add_pci(tree, {"pci0000:20", "0000:20:02.3"});
  add_pci(tree, {"pci0000:20", "0000:20:02.0"});
  tree.link(function + "/physfn", "../0000:20:02.0");
  add_rdma(tree, "mlx5_4", function);
  const Port port = scanned().ports.at(0);
  EXPECT_EQ(port.role, PortRole::virtual_function);
  EXPECT_EQ(why_unmanageable(port), "virtual function: set on its physical function 0000:20:02.0");
}

TEST_F(Scan, AFunctionAndItsPortHaveOneRole) {
  const auto function = add_pci(tree, {"pci0000:20", "0000:20:02.3"});
  add_pci(tree, {"pci0000:20", "0000:20:02.0"});
  tree.link(function + "/physfn", "../0000:20:02.0");
  add_rdma(tree, "mlx5_4", function);
  const Node node = scanned();
  EXPECT_EQ(node.ports.at(0).role, PortRole::virtual_function);
  const Nic* nic = nic_at(node.topology, "0000:20:02.3");
  ASSERT_NE(nic, nullptr);
  EXPECT_EQ(nic->role, FunctionRole::virtual_function);
}

// The exporter scans each device by itself, without the topology.
TEST_F(Scan, DeviceFilesOfVerbsAreReadWithTheTopology) {
  tree.file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n").file("dev/infiniband/uverbs0", "");
  EXPECT_EQ(scanned().verbs_files.size(), 1U);
  EXPECT_TRUE(scanned({.topology = false}).verbs_files.empty());
}

// The file has the rate of one link.
TEST_F(Scan, AVirtualFunctionHasTheBandwidthOfTheLagBelowIt) {
  const auto physical = add_pci(tree, {"pci0000:20", "0000:20:02.0"}),
             function = add_pci(tree, {"pci0000:20", "0000:20:02.3"});
  tree.link(function + "/physfn", "../0000:20:02.0");
  add_rdma(tree, "mlx5_0", physical);
  add_rdma(tree, "mlx5_4", function);
  Kernel kernel = std::move(open_kernel(tree.path())).value();
  kernel.verbs = true;
  kernel.tape = std::make_shared<Tape>(true);
  for (const char* device : {"mlx5_0", "mlx5_4"})
    kernel.tape->note(Ask::query, std::string("verbs ") + device,
                      std::vector<std::string>{"port 1 4 5 4096 Ethernet\nspeed 1 2000\n"});
  const Node node = scan(kernel, {.topology = false});
  ASSERT_EQ(node.ports.size(), 2u);
  EXPECT_EQ(node.ports[0].rate, 12.5e9);
  EXPECT_EQ(node.ports[1].rate, 25e9);
}

TEST_F(Scan, SubfunctionsBelongToTheirFunction) {
  const auto function = add_pci(tree, {"pci0000:20", "0000:24:00.0"});
  tree.folder(function + "/mlx5_core.sf.4");
  add_rdma(tree, "mlx5_4", function + "/mlx5_core.sf.4");
  const Port port = scanned().ports.at(0);
  EXPECT_EQ(port.role, PortRole::subfunction);
  EXPECT_EQ(why_unmanageable(port), "subfunction (mlx5_core.sf.4): set on its function 0000:24:00.0");
}

TEST_F(ScanOfANic, ItServesGpusBelowAGpusHostBridge) {
  // The NIC is below pci0000:20.
  const auto other = add_pci(tree, {"pci0000:40", "0000:41:00.0", "0x15b3", "0x1019", "0x020000", "1"});
  add_rdma(tree, "mlx5_1", other);
  add_pci(tree, {"pci0000:20/0000:20:03.0", "0000:25:00.0", "0x10de", "0x2330", "0x030200", "1"});
  const Node node = scanned();
  ASSERT_EQ(node.ports.size(), 2u);
  EXPECT_EQ(node.ports[0].pci_id, "15b3:1021");
  EXPECT_EQ(node.ports[0].place, PortPlace::compute);
  EXPECT_EQ(node.ports[1].pci_id, "15b3:1019");
  EXPECT_EQ(node.ports[1].place, PortPlace::host) << "the same socket is no shared host bridge";
  EXPECT_EQ(scanned({.topology = false}).ports[0].place, std::nullopt);
}

// The files of bond_set_slave_link and of mlx5's lag in sysfs.
struct ScanOfABond : Scan {
  ScanOfABond() {
    for (int i = 0; i < 2; ++i) {
      const std::string n = std::to_string(i), member = "ens1f" + n + "np" + n;
      functions[i] = add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:24:00." + n, "0x15b3", "0x1021", "0x020000", "1"});
      tree.file(functions[i] + "/uevent", "DRIVER=mlx5_core\n");
      tree.file("sys/class/net/" + member + "/ifindex", std::to_string(5 + i) + "\n")
          .file("sys/class/net/" + member + "/mtu", "9000\n")
          .link("sys/class/net/" + member + "/master", "../bond0");
      tree.link("sys/class/net/" + member + "/device", "../../../../" + functions[i]);
      tree.folder("sys/class/net/" + member + "/ecn");  // OFED's
    }
    const auto device = add_rdma(tree, "mlx5_bond_0", functions[0]);
    tree.file(device + "/ports/1/gid_attrs/ndevs/0", "bond0\n")
        .file("sys/class/net/bond0/ifindex", "9\n")
        .file("sys/class/net/bond0/mtu", "9000\n");
    tree.file("sys/class/net/bond0/bonding/slaves", "ens1f0np0 ens1f1np1 eth7\n")
        .file("sys/class/net/eth7/ifindex", "7\n");
  }
  // RDMA netlink names the active member (mlx5_lag_get_roce_netdev() in mlx5/core/lag/lag.c).
  Node by_netlink() const {
    Kernel kernel = std::move(open_kernel(tree.path())).value();
    auto rdma = std::make_unique<test::SimRdma>();
    rdma->devices[3] = {"mlx5_bond_0", "28.41.1000", "roce", {}};
    rdma->devices[3].ports[1].netdev = "ens1f0np0";
    kernel.rdma = std::move(rdma);
    return scan(kernel, {.members = true});
  }
  std::string functions[2];
};

TEST_F(ScanOfABond, TheMembersArePortsOfTheirOwn) {
  EXPECT_EQ(scanned().ports.size(), 1u) << "for who counts packets, it is one port";
  for (const Node& node : {scanned({.members = true}), by_netlink()}) {
    ASSERT_EQ(node.ports.size(), 3u) << "a member without RDMA is none of ours";
    EXPECT_EQ(node.ports[0].id(), "mlx5_bond_0/1");
    EXPECT_EQ(node.ports[0].role, PortRole::bond);
    EXPECT_EQ(node.ports[0].bond, "bond0");
    EXPECT_EQ(node.ports[0].netdev, "bond0");
    EXPECT_EQ(node.ports[2].role, PortRole::bond_member);
    EXPECT_EQ(node.ports[2].id(), "mlx5_bond_0/1@ens1f1np1");
    EXPECT_EQ(node.ports[2].pci, "0000:24:00.1");
    EXPECT_EQ(node.ports[2].ifindex, 6);
    EXPECT_EQ(node.ports[2].qos.mtu, 9000u);
    for (const Port& port : node.ports) {
      EXPECT_EQ(port.active_mtu, 4096u) << port.id() << ": the path MTU is the bond's";
      EXPECT_EQ(port.driver, "mlx5_ofed") << port.id();
    }
    const Keys of_bond = qos::own_keys(node.ports[0]), of_member = qos::own_keys(node.ports[2]);
    EXPECT_TRUE(of_bond[index(SettingId::mtu)] && of_bond[index(SettingId::roce_tos)] &&
                !of_bond[index(SettingId::pfc)]);
    EXPECT_TRUE((of_bond & of_member).none() && (of_bond | of_member).all()) << "each setting has one owner";
  }
  Kernel kernel{tree.root()};
  EXPECT_EQ(agentd::real_pci_environment(kernel).scan({}).ports.size(), 3u) << "as fabric-agentd has them";
}

TEST_F(ScanOfABond, MembersHaveTheirAggregatorOfLacp) {
  EXPECT_FALSE(scanned({.members = true}).ports.at(2).aggregator) << "another mode";
  tree.file("sys/class/net/bond0/bonding/ad_aggregator", "1\n")
      .file("sys/class/net/ens1f0np0/bonding_slave/ad_aggregator_id", "1\n")
      .file("sys/class/net/ens1f1np1/bonding_slave/ad_aggregator_id", "2\n");
  const Node node = scanned({.members = true});
  EXPECT_FALSE(node.ports.at(0).aggregator);
  EXPECT_EQ(node.ports.at(1).aggregator, (Aggregator{1, 1}));
  EXPECT_EQ(node.ports.at(2).aggregator, (Aggregator{2, 1}));
  tree.file("sys/class/net/bond0/bonding/ad_select", "bandwidth 1\n");
  EXPECT_FALSE(scanned({.members = true}).ports.at(2).aggregator) << "the others are in reserve, on purpose";
  tree.file("sys/class/net/bond0/bonding/ad_select", "stable 0\n");
  EXPECT_TRUE(scanned({.members = true}).ports.at(2).aggregator);
  tree.file("sys/class/net/bond0/bonding/ad_aggregator", "\n")
      .file("sys/class/net/ens1f1np1/bonding_slave/ad_aggregator_id", "N/A\n");
  EXPECT_FALSE(scanned({.members = true}).ports.at(2).aggregator);
}

TEST_F(ScanOfABond, OfNetdevsWithRdmaDevicesOfTheirOwnIsNoneOfRdma) {
  tree.folder(functions[1] + "/infiniband");
  const Node node = by_netlink();
  ASSERT_EQ(node.ports.size(), 1u);
  EXPECT_EQ(node.ports[0].netdev, "ens1f0np0");
  EXPECT_EQ(node.ports[0].bond, "");
}

TEST_F(ScanOfANic, WithoutALinkTheInfinibandRateIsFiction) {
  tree.file("sys/class/net/eth0/carrier", "0\n").file("sys/class/net/eth0/speed", "-1\n");
  const Node node = scanned();
  EXPECT_FALSE(node.ports.at(0).rate || node.ports.at(0).speed);
  EXPECT_EQ(node.ports.at(0).carrier, false);
}

bool names(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::any_of(list, [&](const std::string& text) { return has(text, word); });
}

bool names(const std::vector<UnreadPart>& list, const std::string& word) {
  return std::ranges::any_of(list, [&](const UnreadPart& each) { return test::has(each.why, word); });
}

// The words of a reason are not its part: "/sys/.../hca_type: ... rate" is not about the rate.
TEST(UnreadParts, AreNotFoundByTheWordsOfAReason) {
  Port port;
  port.unread = {{PortPart::other, "HCA type: gid rate state mtu settings"}, {PortPart::speed, "speed, rate: EIO"}};
  for (const PortPart part : {PortPart::gids, PortPart::state, PortPart::mtu, PortPart::settings})
    EXPECT_FALSE(is_unread(port, part));
  EXPECT_EQ(why_unread(port, PortPart::rate), "speed, rate: EIO");
}

TEST_F(ScanOfANic, BrokenFilesCostThemselvesOnly) {
  const std::string port_folder = "sys/class/infiniband/mlx5_0/ports/1/";
  tree.remove(port_folder + "phys_state").folder(port_folder + "phys_state");
  tree.remove(port_folder + "gids/0").folder(port_folder + "gids/0");
  ASSERT_EQ(::mkfifo((tree.path() + "/" + port_folder + "hw_counters/stuck").c_str(), 0600), 0)
      << "which is not waited for";
  tree.folder(port_folder + "hw_counters/broken");
  add_rdma(tree, "mlx5_1", "");
  const Node node = scanned();
  ASSERT_EQ(node.ports.size(), 2u);
  const Port& port = node.ports[0];
  EXPECT_FALSE(port.phys_state);
  EXPECT_TRUE(names(port.unread, "state: ")) << "with the reason";
  EXPECT_TRUE(names(port.unread, "gids: "));
  EXPECT_TRUE(names(port.unread, "hw counters: "));
  EXPECT_EQ(port.counters.hw, (std::vector<Counter>{{"np_cnp_sent", 12}}));
  EXPECT_EQ(port.state, 4u);
  ASSERT_EQ(node.ports[1].unread.size(), 1u) << "a RoCE port without a GID table is no port without GIDs";
  EXPECT_TRUE(names(node.ports[1].unread, "gids: "));
}

// The E-Switch's ports for virtual functions show up as ports of the PF's device; their settings belong to the PF.
TEST_F(ScanOfANic, RepresentorsAndIwarpAreTold) {
  tree.file("sys/class/net/eth0/phys_port_name", "p0\n");
  EXPECT_EQ(scanned().ports.at(0).role, PortRole::physical);
  EXPECT_EQ(scanned().ports.at(0).transport, RdmaTransport::infiniband);
  tree.file("sys/class/net/eth0/phys_port_name", "c1pf0vf3\n");
  tree.file("sys/class/infiniband/mlx5_0/node_type", "4: RNIC\n");
  EXPECT_EQ(scanned().ports.at(0).role, PortRole::representor);
  EXPECT_EQ(scanned().ports.at(0).transport, RdmaTransport::iwarp);
  tree.file("sys/class/infiniband/mlx5_0/node_type", "6: UNKNOWN\n");
  EXPECT_EQ(scanned().ports.at(0).role, PortRole::representor);
  tree.remove("sys/class/net/eth0/phys_port_name");
  EXPECT_TRUE(names({why_unmanageable(scanned().ports.at(0))}, "usNIC"));
}

// The same NIC with netlink: the kernel's answers take precedence over the files.
struct ScanWithNetlink : ScanOfANic {
  ScanWithNetlink() {
    sim.add_nic("eth0", test::Personality::mlx5).mtu = 9000;
    kernel = sim.kernel(tree.path());
    auto socket = std::make_unique<test::SimRdma>();
    rdma = socket.get();
    rdma->devices[3] = {"mlx5_0", "28.41.1000", "roce", {}};
    rdma->devices[3].ports[1] = {1, 2, "eth0", {{"rx_write_requests", 5}, {"cc_rx_cnp_pkts", 6}}, 0};
    kernel.rdma = std::move(socket);
  }
  test::SimKernel sim;
  Kernel kernel;
  test::SimRdma* rdma = nullptr;
};

TEST_F(ScanWithNetlink, StateCountersSettingsAndMtu) {
  const Node node = scan(kernel);
  ASSERT_EQ(node.ports.size(), 1u);
  const Port& port = node.ports[0];
  EXPECT_EQ(port.state, 1u);
  EXPECT_EQ(port.phys_state, 2u);
  EXPECT_EQ(port.netdev, "eth0");
  EXPECT_EQ(port.ifindex, sim.nic("eth0").ifindex);
  EXPECT_EQ(port.counters.hw, (std::vector<Counter>{{"rx_write_requests", 5}, {"cc_rx_cnp_pkts", 6}}));
  EXPECT_EQ(port.counters.pma.size(), 1u) << "netlink does not have these";
  EXPECT_EQ(port.active_mtu, 4096u);
  EXPECT_EQ(port.qos.mtu, 9000u);
  EXPECT_TRUE(port.qos.pfc && port.qos.ets && port.qos.pause);
  EXPECT_EQ(port.unread, std::vector<UnreadPart>{});
}

TEST_F(ScanWithNetlink, WithoutStatisticsSysfsAnswers) {
  rdma->devices[3].ports[1].statistics_errno = EMSGSIZE;
  EXPECT_EQ(scan(kernel).ports.at(0).counters.hw, (std::vector<Counter>{{"np_cnp_sent", 12}}));
}

// RDMA_NLDEV_ATTR_DEV_TYPE of Linux 6.11.
TEST_F(ScanWithNetlink, ASubDeviceIsKnownByItsType) {
  add_rdma(tree, "smi1", "sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0");
  rdma->devices[4] = {.name = "smi1", .protocol = "ib", .parent = "mlx5_0"};
  rdma->devices[4].ports[1] = {4, 5, "", {}, EINVAL};
  const Node node = scan(kernel);
  ASSERT_EQ(node.ports.size(), 2u);
  EXPECT_EQ(node.ports[0].role, PortRole::physical);
  EXPECT_EQ(node.ports[1].role, PortRole::smi);
  EXPECT_EQ(node.ports[1].owner, "mlx5_0");
  ASSERT_EQ(node.topology.nics.size(), 1u);
  EXPECT_EQ(node.topology.nics[0].rdma, std::vector<std::string>{"mlx5_0"}) << "no pairing and no list has it";
}

TEST_F(ScanWithNetlink, RefusedNetlinkIsSaidOnceAndSysfsAnswers) {
  rdma->failure = EPERM;
  const Node node = scan(kernel, {.network = false});
  EXPECT_EQ(node.ports.at(0).state, 4u);
  ASSERT_EQ(node.unseen.size(), 1u);
  EXPECT_TRUE(has(node.unseen[0], "EPERM"));
}

TEST_F(ScanWithNetlink, ANetdevThatIsNotOfThisNamespaceIsLeftAlone) {
  sim.nic("eth0").present = false;
  const Node node = scan(kernel);
  ASSERT_EQ(node.ports.size(), 1u);
  EXPECT_EQ(node.ports[0].netdev, "") << "one of that name here would be another";
  EXPECT_EQ(node.ports[0].role, PortRole::netdev_elsewhere);
  EXPECT_TRUE(has(why_unmanageable(node.ports[0]), "another network namespace"));
  EXPECT_EQ(node.ports[0].counters.hw.size(), 2u);
}

TEST_F(ScanWithNetlink, ADriverThatNamesNoNetdevHasItsFunctions) {
  rdma->devices[3].ports[1].netdev.clear();
  EXPECT_EQ(scan(kernel).ports.at(0).netdev, "eth0");
}

// The kernel names the netdevs of the device's other ports, so this one has none here: not that of its function. With
// representors it is the E-Switch's port for a function (hw/mlx5/ib_rep.c).
TEST_F(ScanWithNetlink, APortBesideThoseThatAreNamedHasNoNetdev) {
  tree.file("sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
  rdma->devices[3].ports[2] = {1, 3, "", {}, 0};
  ASSERT_EQ(scan(kernel).ports.size(), 2u);
  EXPECT_EQ(scan(kernel).ports[0].netdev, "eth0");
  EXPECT_EQ(scan(kernel).ports[1].netdev, "");
  EXPECT_EQ(scan(kernel).ports[1].role, PortRole::netdev_elsewhere);
  tree.folder("sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0/net/pf0vf0");
  tree.file("sys/class/net/pf0vf0/phys_port_name", "pf0vf0\n");
  const Node node = scan(kernel);
  EXPECT_EQ(node.ports.at(0).role, PortRole::switchdev_uplink);
  EXPECT_EQ(node.ports.at(1).netdev, "");
  EXPECT_EQ(node.ports.at(1).role, PortRole::representor);
}

// RDMA devices are shared with all namespaces by default: one whose netdev a container has as eth0 stays, and its GID
// table names that (core/sysfs.c, show_gid_attr: the name alone), while RDMA netlink and its function do not
// (core/nldev.c, fill_port_info).
TEST_F(ScanWithNetlink, ANetdevThatAContainerHasIsNotTheOneOfThatNameHere) {
  rdma->devices[3].ports[1].netdev.clear();
  tree.remove("sys/devices/pci0000:20/0000:20:01.0/0000:24:00.0/net");
  const Port port = scan(kernel).ports.at(0);
  EXPECT_EQ(port.netdev, "")
      << "eth0 of this namespace is the management network's, and nothing is written or read of it";
  EXPECT_FALSE(port.qos.pfc || port.carrier);
  EXPECT_TRUE(has(why_unmanageable(port), "another network namespace"));
}

TEST_F(Scan, TheRunningMachineWhateverItHas) {
  auto kernel = open_kernel("/");
  if (!kernel) GTEST_SKIP() << kernel.error().text();
  const Node node = scan(*kernel);
  EXPECT_FALSE(node.hostname.empty());
  for (const Port& port : node.ports) EXPECT_FALSE(port.rdma.empty());
}

// -- Neighbors

// A driver that reports the data of its DCBX agent's peer, in the format of net/dcb/dcbnl.c (dcbnl_ieee_fill,
// dcbnl_build_peer_app).
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

// -- Virtual functions

class VfNetlink final : public Netlink {
 public:
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    const auto attributes = parse_attributes(payload, sizeof(ifinfomsg));
    if (type != RTM_GETLINK || (flags & NLM_F_DUMP) == NLM_F_DUMP) return std::vector<Message>{};
    asked.push_back(text_of(attributes, IFLA_IFNAME));
    AttrWriter list, out;
    for (uint32_t number = 0; number < 3; ++number) {
      AttrWriter info;
      info.pod(IFLA_VF_VLAN, ifla_vf_vlan{number, 0, 0})
          .pod(IFLA_VF_RATE, ifla_vf_rate{number, 0, 1000 * number})
          .pod(IFLA_VF_LINK_STATE, ifla_vf_link_state{number, IFLA_VF_LINK_STATE_AUTO});
      list.nest(IFLA_VF_INFO, info);
    }
    out.header(ifinfomsg{}).nest(IFLA_VFINFO_LIST, list);
    return std::vector<Message>{{RTM_NEWLINK, out.data()}};
  }
  std::vector<std::string> asked;
};

TEST(Functions, AreReadWithTheirLimitsAndUsers) {
  Tree tree;
  const std::string pf = "sys/bus/pci/devices/0000:17:00.0";
  tree.file(pf + "/sriov_numvfs", "3\n").folder(pf + "/net/eth0").folder(pf + "/net/eth0_0");
  tree.file("sys/class/net/eth0_0/phys_port_name", "pf0vf0\n");
  for (int i = 0; i < 3; ++i) tree.link(pf + "/virtfn" + std::to_string(i), "../0000:17:00." + std::to_string(i + 1));
  const std::string functions = "sys/bus/pci/devices/0000:17:00.";
  tree.folder(functions + "1/infiniband/mlx5_4").folder(functions + "1/net/eth4");
  tree.folder(functions + "2/infiniband").folder(functions + "2/net");
  tree.folder("sys/bus/pci/drivers/vfio-pci").folder(functions + "3");
  tree.link(functions + "3/driver", "../../drivers/vfio-pci");
  tree.file("sys/bus/pci/devices/0000:18:00.0/sriov_numvfs", "0\n");  // no function: nothing is asked
  Kernel kernel = std::move(open_kernel(tree.path())).value();
  auto netlink = std::make_unique<VfNetlink>();
  const VfNetlink& route = *netlink;
  kernel.route = std::move(netlink);
  Node node;
  node.ports.resize(3);
  const char* places[]{"0000:17:00.0", "0000:17:00.1", "0000:18:00.0"};
  for (size_t i = 0; i < 3; ++i) {
    node.ports[i].rdma = "mlx5_" + std::to_string(i);
    node.ports[i].pci = places[i];
  }
  node.ports[1].role = PortRole::virtual_function;
  scanning::read_network(kernel, node);
  EXPECT_EQ(route.asked, (std::vector<std::string>{"eth0"})) << "not the representor";
  const auto& physical = node.network.physical_functions;
  ASSERT_EQ(physical.size(), 1U);
  const PhysicalFunction& read = physical.at("0000:17:00.0");
  EXPECT_EQ(read.netdev, "eth0");
  ASSERT_EQ(read.functions.size(), 3U);
  EXPECT_TRUE(read.functions[0].has_rdma && !read.functions[0].elsewhere && !read.functions[0].given_away);
  EXPECT_TRUE(!read.functions[1].has_rdma && read.functions[1].elsewhere) << "of a pod";
  EXPECT_TRUE(read.functions[2].given_away && !read.functions[2].elsewhere);
  EXPECT_EQ(read.functions[2].limits.max_tx_rate, 2000U);
  EXPECT_EQ(find_function(physical, "0000:17:00.2"), &read.functions[1]);
  EXPECT_EQ(find_function(physical, "0000:17:00.7"), nullptr);
  EXPECT_EQ(find_function(physical, ""), nullptr);
}

}  // namespace
}  // namespace fabric
