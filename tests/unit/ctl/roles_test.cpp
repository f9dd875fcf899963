// SPDX-License-Identifier: Apache-2.0
// Each role of an RDMA device as a small tree, and the program's output for it.
#include "base/parse.h"
#include "judge/engine.h"
#include "node/scan.h"
#include "support/ctl.h"
#include "support/drained.h"
#include "support/sim_files.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::add_pci;
using test::has;
using test::ran_on;
using test::Tree;

constexpr const char* kIpv4 = "0000:0000:0000:0000:0000:ffff:0a01:000";
constexpr const char* kLinkLocal = "fe80:0000:0000:0000:ba3f:d2ff:fe00:000";

// A machine of rails: a GPU and a NIC below one PCIe switch each.
struct Machine : testing::Test {
  Machine() {
    tree.file("proc/sys/kernel/hostname", "gpu01\n").file("audit.toml", "mode = \"audit\"\n");
    tree.file("sys/devices/system/node/node0/cpulist", "0-3\n").folder("sys/class/infiniband");
  }

  static std::string below(unsigned rail) {
    const std::string bus = std::to_string(rail + 2);
    return "pci0000:" + bus + "0/0000:" + bus + "0:01.0/0000:" + bus + "1:00.0/0000:" + bus + "2:0";
  }
  static std::string address(unsigned rail, unsigned function = 0) {
    return "0000:" + std::to_string(rail + 2) + "3:00." + std::to_string(function);
  }

  void gpu(unsigned rail) {
    add_pci(tree, {below(rail) + "1.0", "0000:" + std::to_string(rail + 2) + "4:00.0", "0x10de", "0x2330", "0x030200"});
  }

  std::string function(unsigned rail, unsigned number = 0, const char* device = "0x1021", bool infiniband = false) {
    const std::string folder = add_pci(
        tree, {below(rail) + "0.0", address(rail, number), "0x15b3", device, infiniband ? "0x020700" : "0x020000"});
    tree.file(folder + "/max_link_width", "16\n").file(folder + "/current_link_width", "16\n");
    tree.file(folder + "/uevent", "DRIVER=mlx5_core\n");
    return folder;
  }

  // A virtual function of the rail's function 0.
  std::string virtual_function(unsigned rail, unsigned number, bool infiniband = false) {
    const std::string folder = function(rail, number, "0x101e", infiniband);
    tree.link(folder + "/physfn", "../" + address(rail));
    tree.link("sys/devices/" + below(rail) + "0.0/" + address(rail) + "/virtfn" + std::to_string(number - 1),
              "../" + address(rail, number));
    return folder;
  }

  void port(const std::string& name, const std::string& folder, bool infiniband = false, unsigned number = 1) {
    const std::string device = "sys/class/infiniband/" + name;
    tree.link(device + "/device", "../../../" + folder.substr(4)).folder(folder + "/infiniband/" + name);
    tree.file(device + "/node_guid", "b83f:d203:0000:0001\n");
    ports[name] = device + "/ports/" + std::to_string(number);
    state(name, "4: ACTIVE", "5: LinkUp");
    tree.file(ports[name] + "/link_layer", infiniband ? "InfiniBand\n" : "Ethernet\n");
    tree.file(ports[name] + "/rate", "400 Gb/sec (4X NDR)\n").folder(ports[name] + "/gids");
    if (infiniband) gid(name, kLinkLocal, 0, "IB/RoCE v1");
    tree.file(ports[name] + "/hw_counters/packet_seq_err", "0\n");
  }

  void state(const std::string& name, const std::string& logical, const std::string& physical) {
    tree.file(ports[name] + "/state", logical + "\n").file(ports[name] + "/phys_state", physical + "\n");
  }

  void netdev(const std::string& name, const std::string& folder, const std::string& port_name = "",
              const std::string& switch_id = "") {
    const std::string net = "sys/class/net/" + name;
    tree.folder(folder + "/net/" + name).link(net + "/device", "../../../" + folder.substr(4));
    tree.file(net + "/mtu", "9000\n").file(net + "/carrier", "1\n").file(net + "/speed", "400000\n");
    tree.file(net + "/dev_port", "0\n").file(net + "/ifindex", std::to_string(++index) + "\n");
    if (!port_name.empty()) tree.file(net + "/phys_port_name", port_name + "\n");
    if (!switch_id.empty()) tree.file(net + "/phys_switch_id", switch_id + "\n");
  }

  void gid(const std::string& name, const std::string& text, unsigned at, const std::string& type = "RoCE v2",
           const std::string& netdev = "") {
    const std::string number = std::to_string(at);
    tree.file(ports[name] + "/gids/" + number, text + "\n");
    tree.file(ports[name] + "/gid_attrs/types/" + number, type + "\n");
    if (!netdev.empty()) tree.file(ports[name] + "/gid_attrs/ndevs/" + number, netdev + "\n");
  }

  void routable_gid(const std::string& name, unsigned host, const std::string& netdev) {
    gid(name, kIpv4 + std::to_string(host), 3, "RoCE v2", netdev);
  }

  Node scanned(const std::shared_ptr<BehindFiles>& behind = nullptr) const {
    Kernel kernel = std::move(open_kernel(tree.path())).value();
    if (behind) kernel.root.set_behind(behind);
    return scan(kernel);
  }
  std::string role(const std::string& name) const {
    for (const Port& each : scanned().ports)
      if (each.rdma == name) return std::string(to_text(each.role));
    return "no port";
  }
  // The output as one line.
  std::string run(std::vector<std::string> words) const {
    if (words.front() == "check" || words.front() == "diagnose") words.insert(words.end(), {"--interval", "100ms"});
    words.insert(words.end(), {"--config", tree.path() + "/audit.toml"});
    const std::string said = ran_on(tree, std::move(words)).all();
    std::string out;
    for (const std::string_view word : fabric::words(said)) append_item(out, std::string(word), " ");
    return out;
  }
  std::string check(const char* rule, bool all = false) const {
    std::vector<std::string> words{"check", "--only", rule};
    if (all) words.emplace_back("--verbose");
    return run(std::move(words));
  }
  std::string nccl() const {
    std::string out = run({"topo", "--format", "nccl"}) + " ";
    for (size_t at = 0; (at = out.find(" # ", at)) != std::string::npos;) out.erase(at, 2);
    return out;
  }

  Tree tree;
  std::map<std::string, std::string> ports;
  int index = 0;
};

// Steps that are impossible in a guest or a pod.
void expect_no_advice_for_a_wire(const std::string& said) {
  for (const char* word : {"cable", "transceiver", "module", "ibportstate", "opensm", "sminfo", "switch port"})
    EXPECT_FALSE(has(said, word)) << word << ":\n" << said;
}

// Three uplinks in switchdev mode, each with a representor and a virtual function that has the address.
struct Switchdev : Machine {
  Switchdev() {
    for (unsigned rail = 0; rail < 3; ++rail) {
      const std::string number = std::to_string(rail), id = "a088c2030001020" + number;
      gpu(rail);
      const std::string uplink = function(rail), vf = virtual_function(rail, 1);
      port("mlx5_" + number, uplink);
      netdev("ens" + number + "np0", uplink, "p0", id);
      netdev("eth" + number, uplink, "pf0vf0", id);
      port("mlx5_1" + number, vf);
      netdev("ens" + number + "v0", vf);
      routable_gid("mlx5_1" + number, rail, "ens" + number + "v0");
    }
  }
};

TEST_F(Switchdev, TheUplinkHasNoGidsByDesign) {
  EXPECT_EQ(role("mlx5_0"), "switchdev-uplink");
  EXPECT_EQ(role("mlx5_10"), "virtual-function");
  EXPECT_EQ(scanned().ports.at(0).netdev, "ens0np0") << "the representor's dev_port is the same";
  EXPECT_FALSE(has(check("gid"), "mlx5_0/1")) << check("gid");
  const std::string listed = check("gid", true);
  EXPECT_TRUE(has(listed, "switchdev mode, and RoCE runs over mlx5_10/1")) << listed;
  EXPECT_FALSE(has(listed, "onfigure an IP address")) << listed;
  EXPECT_FALSE(has(listed, "CRITICAL")) << listed;
}

TEST_F(Switchdev, NcclGetsTheFunctionsThatHoldTheGids) {
  const std::string conf = nccl();
  EXPECT_TRUE(has(conf, "NCCL_IB_HCA==mlx5_10:1,mlx5_11:1,mlx5_12:1 ")) << conf;
  EXPECT_TRUE(has(conf, "NCCL_IB_GID_INDEX=3 ")) << conf;
  EXPECT_TRUE(has(conf, "Left out, E-Switch in switchdev mode, whose functions have the GIDs: mlx5_0:1")) << conf;
}

// They carry the jobs of this machine: one that differs from its equals is a fault.
TEST_F(Switchdev, ItsFunctionsAreJudged) {
  EXPECT_FALSE(has(check("port-state"), "CRITICAL"));
  tree.remove(ports["mlx5_11"] + "/gids/3");
  EXPECT_TRUE(has(check("gid"), "CRITICAL gid mlx5_11/1")) << check("gid");
  EXPECT_TRUE(has(nccl(), "Left out, no routable RoCE v2 GID: mlx5_11:1")) << nccl();
  state("mlx5_12", "1: DOWN", "3: Disabled");
  const std::string said = check("port-state");
  EXPECT_TRUE(has(said, "CRITICAL port-state mlx5_12/1")) << said;
  EXPECT_TRUE(has(said, "ip link set ens2np0 vf 0 state auto")) << said;
  EXPECT_FALSE(has(said, "able and the transceiver")) << said;
}

// The functions stay ACTIVE without the wire.
TEST_F(Switchdev, AnUplinkWithoutALinkIsAFault) {
  for (const char* physical : {"3: Disabled", "2: Polling"}) {
    state("mlx5_1", "1: DOWN", physical);
    EXPECT_TRUE(has(check("port-state"), "CRITICAL port-state mlx5_1/1")) << check("port-state");
  }
}

// bnxt_en keeps the RoCE of its physical function.
TEST_F(Switchdev, AnUplinkWithGidsIsAnEndpoint) {
  for (unsigned rail = 0; rail < 3; ++rail)
    routable_gid("mlx5_" + std::to_string(rail), 5 + rail, "ens" + std::to_string(rail) + "np0");
  EXPECT_EQ(role("mlx5_0"), "switchdev-uplink");
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2:1 ")) << nccl();
}

// In legacy mode mlx5 has a switch as well, and no representors.
TEST_F(Switchdev, ASwitchIdAloneProvesNothing) {
  for (unsigned rail = 0; rail < 3; ++rail) {
    const std::string name = "eth" + std::to_string(rail);
    tree.remove("sys/class/net/" + name);
    tree.remove("sys/devices/" + below(rail) + "0.0/" + address(rail) + "/net/" + name);
  }
  EXPECT_EQ(role("mlx5_0"), "physical");
}

// Before the first function is made there is no representor, and devlink requires a privilege. An ACTIVE port has a
// link-local GID in legacy mode at least.
TEST_F(Switchdev, WithoutAnyGidTheModeIsAskedFor) {
  for (unsigned rail = 0; rail < 3; ++rail) {
    const std::string number = std::to_string(rail), nic = "sys/devices/" + below(rail) + "0.0/";
    tree.remove("sys/class/net/eth" + number).remove(nic + address(rail) + "/net/eth" + number);
    tree.remove("sys/class/infiniband/mlx5_1" + number).remove("sys/class/net/ens" + number + "v0");
    tree.remove("sys/bus/pci/devices/" + address(rail, 1)).remove(nic + address(rail, 1));
  }
  const std::string said = check("gid");
  EXPECT_TRUE(has(said, "UNKNOWN gid mlx5_0..2")) << said;
  EXPECT_TRUE(has(said, "devlink dev eswitch show pci/" + address(0))) << said;
  EXPECT_FALSE(has(said, "CRITICAL")) << said;
  gid("mlx5_0", kLinkLocal, 0, "RoCE v2", "ens0np0");
  EXPECT_FALSE(has(check("gid"), "gid mlx5_0/1 In switchdev")) << "a GID proves the legacy mode";
  EXPECT_TRUE(has(check("gid"), "UNKNOWN gid mlx5_1/1, mlx5_2/1")) << check("gid");
}

TEST_F(Switchdev, SubfunctionsAndRepresentors) {
  const std::string uplink = "sys/devices/" + below(0) + "0.0/" + address(0);
  tree.folder(uplink + "/mlx5_core.sf.4");
  port("mlx5_20", uplink + "/mlx5_core.sf.4");
  EXPECT_EQ(role("mlx5_20"), "subfunction");
  port("mlx5_0", uplink, false, 2);  // the E-Switch's port as a port of the uplink's device
  tree.file(ports["mlx5_0"] + "/gid_attrs/ndevs/0", "eth0\n");
  const Node node = scanned();
  ASSERT_EQ(node.ports.at(1).id(), "mlx5_0/2");
  EXPECT_EQ(node.ports[1].role, PortRole::representor);
  EXPECT_FALSE(has(check("gid", true), "mlx5_0/2"));
  EXPECT_FALSE(has(nccl(), "mlx5_0:2"));
}

// InfiniBand NICs, each with an SMI sub-device of four planes on its function.
struct SubDevices : Machine {
  SubDevices() {
    for (unsigned rail = 0; rail < 2; ++rail) {
      const std::string number = std::to_string(rail), nic = function(rail, 0, "0x1023", true);
      gpu(rail);
      port("mlx5_" + number, nic, true);
      for (unsigned plane = 1; plane <= 4; ++plane) {
        port("smi" + number, nic, true, plane);
        tree.remove(ports["smi" + number] + "/gids").remove(ports["smi" + number] + "/gid_attrs");
      }
    }
  }
  void expect_left_out() const {
    EXPECT_EQ(role("mlx5_0"), "physical");
    EXPECT_EQ(role("smi1"), "smi");
    EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1 ")) << nccl();
    EXPECT_FALSE(has(nccl(), "smi")) << nccl();
    const std::string status = run({"status"});
    EXPECT_FALSE(has(status, "smi1/1 - ")) << status;
    EXPECT_TRUE(has(status, "management packets only")) << status;
    const std::string check = run({"check", "--verbose"});
    for (const char* rule : {"gid", "unseen-traffic", "roce-mtu", "rate"})
      EXPECT_FALSE(has(check, rule + std::string(" smi"))) << rule << "\n" << check;
  }
};

TEST_F(SubDevices, WithoutAUverbsDeviceNoProgramOpensThem) {
  for (unsigned rail = 0; rail < 2; ++rail) {
    const std::string number = std::to_string(rail);
    const std::string nic = "sys/devices/" + below(rail) + "0.0/" + address(rail);
    tree.file(nic + "/infiniband_verbs/uverbs" + number + "/ibdev", "mlx5_" + number + "\n");
    gid("smi" + number, kLinkLocal, 0, "IB/RoCE v1");
  }
  expect_left_out();
}

TEST_F(SubDevices, ACaptureWithoutUverbsShowsThemByTheirGids) { expect_left_out(); }

// Functions of an InfiniBand NIC, on its host.
struct InfinibandFunctions : Machine {
  InfinibandFunctions() {
    for (unsigned rail = 0; rail < 2; ++rail) {
      const std::string number = std::to_string(rail), nic = function(rail, 0, "0x1021", true);
      gpu(rail);
      port("mlx5_" + number, nic, true);
      netdev("ib" + number, nic);
      port("mlx5_1" + number, virtual_function(rail, 1, true), true);
      state("mlx5_1" + number, "1: DOWN", "3: Disabled");
    }
  }
};

TEST_F(InfinibandFunctions, AHostListsThoseThatAreDown) {
  const std::string said = check("port-state");
  EXPECT_FALSE(has(said, "WARNING")) << said;
  EXPECT_FALSE(has(said, "CRITICAL")) << said;
  EXPECT_TRUE(has(check("port-state", true), "2 VFs or subfunctions are DOWN")) << check("port-state", true);
  EXPECT_TRUE(has(run({"status"}), "mlx5_10/1: unmanaged: InfiniBand, virtual function of " + address(0)))
      << run({"status"});
  const std::string all = run({"diagnose"});
  EXPECT_TRUE(has(all, "2 ports without symptoms, and 2 DOWN")) << all;
}

TEST_F(InfinibandFunctions, ANamedOneIsNeverWithoutSymptoms) {
  const std::string said = run({"diagnose", "mlx5_10"});
  EXPECT_FALSE(has(said, "without symptoms")) << said;
  EXPECT_TRUE(has(said, "virtual function")) << said;
  EXPECT_TRUE(has(said, "ip link set ib0 vf 0 state auto")) << said;
  EXPECT_TRUE(has(said, "port_guid")) << said;
  EXPECT_FALSE(has(said, "cable")) << said;
  state("mlx5_0", "1: DOWN", "2: Polling");
  EXPECT_TRUE(has(run({"diagnose", "mlx5_10"}), "fabric-agentctl diagnose mlx5_0/1"));
}

// A second port that is not in use, of a NIC.
TEST_F(Machine, ANamedUnusedPortIsNeverWithoutSymptoms) {
  for (unsigned rail = 0; rail < 2; ++rail) {
    const std::string number = std::to_string(rail);
    gpu(rail);
    const std::string first = function(rail), second = function(rail, 1);
    port("mlx5_" + number, first);
    netdev("eth" + number, first);
    routable_gid("mlx5_" + number, rail, "eth" + number);
    port("mlx5_1" + number, second);
    netdev("eth1" + number, second);
    state("mlx5_1" + number, "1: DOWN", "3: Disabled");
    tree.file("sys/class/net/eth1" + number + "/carrier", "0\n");
  }
  EXPECT_TRUE(has(check("port-state", true), "unused")) << check("port-state", true);
  EXPECT_FALSE(has(check("port-state"), "CRITICAL"));
  EXPECT_FALSE(has(run({"diagnose", "mlx5_10"}), "without symptoms"));
  EXPECT_TRUE(has(run({"diagnose", "mlx5_0"}), "without symptoms"));
}

// In a guest only the ids show it.
struct Guest : Machine {
  void make(bool infiniband) {
    for (unsigned rail = 0; rail < 2; ++rail) {
      const std::string number = std::to_string(rail), vf = function(rail, 0, "0x101e", infiniband);
      gpu(rail);
      port("mlx5_" + number, vf, infiniband);
      if (!infiniband) netdev("eth" + number, vf);
      if (!infiniband) routable_gid("mlx5_" + number, rail, "eth" + number);
    }
  }
};

TEST_F(Guest, ItsNicsAreItsOwn) {
  make(false);
  EXPECT_EQ(role("mlx5_0"), "guest-function");
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1 ")) << nccl();
  EXPECT_FALSE(has(run({"check"}), "CRITICAL")) << run({"check"});
}

TEST_F(Guest, WithoutALinkTheHostDecides) {
  for (const bool infiniband : {false, true}) {
    make(infiniband);
    for (const auto& [logical, physical] :
         {std::pair("1: DOWN", "3: Disabled"), {"1: DOWN", "2: Polling"}, {"2: INIT", "5: LinkUp"}}) {
      state("mlx5_0", logical, physical);
      for (const std::string& said : {check("port-state"), run({"diagnose", "mlx5_0"})}) {
        EXPECT_TRUE(has(said, "n the host")) << said;
        EXPECT_TRUE(has(said, "CRITICAL")) << said;
        EXPECT_FALSE(has(said, "without symptoms")) << said;
        expect_no_advice_for_a_wire(said);
      }
    }
    tree.remove("sys/class/infiniband");
  }
}

// A virtual function to which the host has given no GUID, of an id that is in no table.
TEST_F(Guest, NoGuidAndNoLid) {
  const std::string vf = function(0, 0, "0x10ff", true);
  port("mlx5_0", vf, true);
  EXPECT_EQ(role("mlx5_0"), "physical");
  tree.file("sys/class/infiniband/mlx5_0/node_guid", "0000:0000:0000:0000\n");
  tree.file(ports["mlx5_0"] + "/lid", "0xffff\n");
  state("mlx5_0", "2: INIT", "5: LinkUp");
  EXPECT_EQ(role("mlx5_0"), "guest-function");
  expect_no_advice_for_a_wire(run({"check", "--only", "port-state"}));
}

// On Ethernet the GUID alone shows it with mlx5: physical functions of EFA have none either.
TEST_F(Guest, NoGuidOnEthernet) {
  const std::string vf = function(0, 0, "0x10ff");
  port("mlx5_0", vf);
  netdev("eth0", vf);
  EXPECT_EQ(role("mlx5_0"), "physical");
  tree.file("sys/class/infiniband/mlx5_0/node_guid", "0000:0000:0000:0000\n");
  EXPECT_EQ(role("mlx5_0"), "guest-function");
  state("mlx5_0", "1: DOWN", "3: Disabled");
  for (const std::string& said : {check("port-state"), run({"diagnose", "mlx5_0"})}) {
    EXPECT_TRUE(has(said, "n the host")) << said;
    expect_no_advice_for_a_wire(said);
  }
  tree.file(vf + "/vendor", "0x1d0f\n").file(vf + "/uevent", "DRIVER=efa\n");
  EXPECT_EQ(role("mlx5_0"), "physical");
}

// A virtual function of a host in legacy mode is this host's if it has an address here.
TEST_F(Machine, AVirtualFunctionWithAnAddressIsJudged) {
  for (unsigned rail = 0; rail < 2; ++rail) {
    const std::string number = std::to_string(rail);
    gpu(rail);
    const std::string nic = function(rail), vf = virtual_function(rail, 1);
    port("mlx5_" + number, nic);
    netdev("eth" + number, nic);
    routable_gid("mlx5_" + number, rail, "eth" + number);
    port("mlx5_1" + number, vf);
    netdev("eth1" + number, vf);
    gid("mlx5_1" + number, kLinkLocal + number, 1, "RoCE v2", "eth1" + number);
    tree.file("sys/class/net/eth1" + number + "/mtu", "1500\n");
  }
  EXPECT_EQ(role("mlx5_10"), "virtual-function");
  EXPECT_FALSE(has(check("roce-mtu", true), "mlx5_10")) << "it waits for a guest";
  EXPECT_FALSE(has(check("gid", true), "mlx5_10/1")) << check("gid", true);
  routable_gid("mlx5_10", 5, "eth10");
  EXPECT_TRUE(has(check("roce-mtu"), "roce-mtu mlx5_10/1")) << check("roce-mtu");
  EXPECT_FALSE(has(check("roce-mtu", true), "mlx5_11/1")) << check("roce-mtu", true);
  EXPECT_TRUE(has(check("gid", true), "mlx5_10/1")) << check("gid", true);
}

// A pod sees the physical function on the bus, and its devices not.
TEST_F(Guest, APod) {
  const std::string nic = function(0), vf = virtual_function(0, 1);
  gpu(0);
  tree.folder(nic + "/infiniband").folder(nic + "/net");
  port("mlx5_10", vf);
  netdev("eth0", vf);
  EXPECT_EQ(role("mlx5_10"), "guest-function");
  EXPECT_TRUE(has(check("gid"), "CRITICAL gid mlx5_10/1")) << check("gid");
  routable_gid("mlx5_10", 1, "eth0");
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_10:1 ")) << nccl();
  state("mlx5_10", "1: DOWN", "3: Disabled");
  expect_no_advice_for_a_wire(check("port-state"));
  const std::string others = check("other-namespaces");
  EXPECT_TRUE(has(others, "This is a container") && has(others, "on the host")) << others;
  EXPECT_FALSE(has(others, "/proc/PID/root")) << others;
  // The class of verbs has no namespace, and names the device.
  tree.file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
  tree.link("sys/class/infiniband_verbs/uverbs0/device", "../../../" + nic.substr(4));
  for (const char* name : {"mlx5_0", "mlx5_0/1"})
    EXPECT_TRUE(has(run({"diagnose", name}), "mlx5_0 (" + address(0) + ") is in another network namespace"))
        << run({"diagnose", name});
  EXPECT_TRUE(has(run({"diagnose", "mlx5_7"}), "unknown port"));
}

// By default all namespaces see all devices and their GIDs: the pod's are those whose netdev it has.
TEST_F(Guest, APodThatSeesAllDevicesUsesItsOwn) {
  for (unsigned rail = 0; rail < 2; ++rail) {
    const std::string number = std::to_string(rail), nic = function(rail), vf = virtual_function(rail, 1);
    gpu(rail);
    tree.folder(nic + "/net").folder(vf + "/net");
    port("mlx5_" + number, nic);
    routable_gid("mlx5_" + number, rail, "ens" + number + "np0");
    port("mlx5_1" + number, vf);
    // Without RDMA netlink the first GID has the netdev's name, in whichever namespace it is.
    gid("mlx5_1" + number, kLinkLocal, 0, "RoCE v2", "net" + number);
    routable_gid("mlx5_1" + number, 5 + rail, "net" + number);
  }
  netdev("net0", "sys/devices/" + below(0) + "0.0/" + address(0, 1));
  EXPECT_EQ(role("mlx5_10"), "guest-function");
  for (const auto& [format, line] : {std::pair("nccl", "NCCL_IB_HCA==mlx5_10:1 "),
                                     {"ucx", "UCX_NET_DEVICES=mlx5_10:1 "},
                                     {"nvshmem", "NVSHMEM_HCA_LIST=mlx5_10:1 "}}) {
    const std::string file = run({"topo", "--format", format});
    EXPECT_TRUE(has(file, line)) << file;
    EXPECT_TRUE(has(file, "netdev in another network namespace: mlx5_1:1.")) << file;
  }
  const std::string listed = check("gid", true);
  EXPECT_TRUE(has(listed, "mlx5_0/1 none in this network namespace")) << listed;
  EXPECT_TRUE(has(listed, "mlx5_11/1 none in this network namespace")) << "of another pod: " << listed;
  state("mlx5_11", "1: DOWN", "3: Disabled");
  EXPECT_FALSE(has(check("port-state"), "CRITICAL")) << check("port-state");
  // A macvlan of the pod above the physical function's netdev, which is the host's.
  tree.file("sys/class/net/net2/ifindex", "9\n");
  gid("mlx5_1", kIpv4 + std::string("9"), 5, "RoCE v2", "net2");
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_10:1,mlx5_1:1 ")) << nccl();
  EXPECT_TRUE(has(nccl(), "(mlx5_10:1 3, mlx5_1:1 5)")) << "index 3 of mlx5_1 is the host's: " << nccl();
}

// A subfunction stays on the bus of the pod, and the devices of its function are the host's.
TEST_F(Guest, ASubfunctionOfAPod) {
  const std::string nic = function(0), device = nic + "/mlx5_core.sf.4";
  gpu(0);
  tree.folder(nic + "/infiniband").folder(nic + "/net").folder(device);
  port("mlx5_20", device);
  netdev("eth0", device);
  EXPECT_EQ(role("mlx5_20"), "guest-function");
  EXPECT_TRUE(has(check("gid"), "CRITICAL gid mlx5_20/1")) << check("gid");
  EXPECT_TRUE(has(run({"status"}), "subfunction (mlx5_core.sf.4): set on its function, on the host"));
  routable_gid("mlx5_20", 1, "eth0");
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_20:1 ")) << nccl();
  state("mlx5_20", "1: DOWN", "3: Disabled");
  const std::string said = check("port-state");
  EXPECT_TRUE(has(said, "CRITICAL port-state mlx5_20/1") && has(said, "On the host: devlink port show")) << said;
  expect_no_advice_for_a_wire(said);
}

// The functions of a host may be waiting for a pod, and their NICs have no address then.
TEST_F(Guest, AHostWithoutAddressesGivesItsFunctionsAway) {
  for (unsigned rail = 0; rail < 2; ++rail) {
    const std::string number = std::to_string(rail), nic = function(rail), vf = virtual_function(rail, 1);
    gpu(rail);
    port("mlx5_" + number, nic);
    netdev("eth" + number, nic);
    gid("mlx5_" + number, kLinkLocal, 0, "RoCE v2", "eth" + number);
    port("mlx5_1" + number, vf);
    netdev("eth1" + number, vf);
  }
  const std::string said = check("gid", true);
  EXPECT_FALSE(has(said, "CRITICAL")) << said;
  EXPECT_FALSE(has(said, "WARNING")) << said;
  EXPECT_TRUE(has(said, "jobs use its virtual functions")) << said;
  EXPECT_TRUE(has(check("port-state", true), "2 VFs or subfunctions are ACTIVE, for a guest or pod"));
  routable_gid("mlx5_0", 1, "eth0");
  EXPECT_TRUE(has(check("gid"), "gid mlx5_1/1")) << "an equal NIC has one";
}

// A host that has configured its virtual functions, and not the physical ones.
TEST_F(Machine, NcclGetsTheFunctionsThatHaveTheAddresses) {
  for (unsigned rail = 0; rail < 2; ++rail) {
    const std::string number = std::to_string(rail), nic = function(rail), vf = virtual_function(rail, 1);
    gpu(rail);
    port("mlx5_" + number, nic);
    netdev("eth" + number, nic);
    gid("mlx5_" + number, kLinkLocal, 0, "RoCE v2", "eth" + number);
    port("mlx5_1" + number, vf);
    netdev("eth1" + number, vf);
  }
  EXPECT_FALSE(has(nccl(), "mlx5_10:1")) << "it waits for a guest: " << nccl();
  for (unsigned rail = 0; rail < 2; ++rail)
    routable_gid("mlx5_1" + std::to_string(rail), rail, "eth1" + std::to_string(rail));
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_10:1,mlx5_11:1 ")) << nccl();
  for (unsigned rail = 0; rail < 2; ++rail)
    routable_gid("mlx5_" + std::to_string(rail), 4 + rail, "eth" + std::to_string(rail));
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1 ")) << "one of the two that share a wire: " << nccl();
}

// A NIC with a function below each socket, and one netdev for both: that of the first function.
struct SocketDirect : Machine {
  SocketDirect() {
    for (unsigned rail = 0; rail < 2; ++rail) {
      const std::string name = "mlx5_" + std::to_string(rail);
      gpu(rail);
      functions.push_back(function(rail));
      port(name, functions.back());
      tree.file("sys/class/infiniband/" + name + "/sys_image_guid", "b83f:d203:0000:0001\n");
    }
    netdev("eth2", functions[0]);
    routable_gid("mlx5_0", 1, "eth2");
    state("mlx5_1", "1: DOWN", "3: Disabled");
    tree.folder(functions[1] + "/net");
  }
  std::vector<std::string> functions;
};

TEST_F(SocketDirect, TheSecondaryFunctionIsSilentByDesign) {
  EXPECT_EQ(role("mlx5_0"), "physical");
  EXPECT_EQ(role("mlx5_1"), "multi-pf-secondary");
  const std::string said = run({"check", "--only", "port-state,gid,other-namespaces,symmetry,pairing"});
  for (const char* word : {"mlx5_1", "CRITICAL", "WARNING", "UNKNOWN", "NOT JUDGED"})
    EXPECT_FALSE(has(said, word)) << word << "\n" << said;
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_0:1 ")) << nccl();
  EXPECT_FALSE(has(nccl(), "mlx5_1:")) << nccl();
  EXPECT_TRUE(has(run({"status"}), "set on its primary function " + address(0))) << run({"status"});
}

// The kernel keeps the link-local GIDs of a netdev that is in another network namespace.
TEST_F(SocketDirect, AFunctionWhoseNetdevAContainerHasIsNotSecondary) {
  gid("mlx5_1", kLinkLocal, 0, "RoCE v2", "eth0");
  EXPECT_EQ(role("mlx5_1"), "netdev-elsewhere");
}

TEST_F(SocketDirect, AFunctionOfAnotherNicIsNotSecondary) {
  tree.file("sys/class/infiniband/mlx5_1/sys_image_guid", "b83f:d203:0000:0002\n");
  EXPECT_EQ(role("mlx5_1"), "netdev-elsewhere");
}

TEST_F(SocketDirect, RootReadsWhichFunctionIsSecondary) {
  const std::string debug = "sys/kernel/debug/mlx5/";
  tree.folder(debug + address(0)).folder(debug + address(1));
  EXPECT_EQ(role("mlx5_1"), "netdev-elsewhere") << "the driver has made no such netdev";
  tree.file("sys/class/infiniband/mlx5_1/sys_image_guid", "b83f:d203:0000:0002\n");
  tree.file(debug + address(0) + "/multi-pf/primary", address(0) + " vhca 0x0\n")
      .file(debug + address(0) + "/multi-pf/secondary_0", address(1) + " vhca 0x2\n");
  EXPECT_EQ(role("mlx5_1"), "multi-pf-secondary");
  EXPECT_EQ(role("mlx5_0"), "physical");
}

TEST_F(Machine, PlanesOfAMultiportDevice) {
  const std::string nic = function(0, 0, "0x1023");
  for (unsigned number = 1; number <= 4; ++number) port("mlx5_0", nic, false, number);
  netdev("eth0", nic);
  tree.file("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n");
  EXPECT_EQ(scanned().ports.at(0).role, PortRole::plane);
  EXPECT_TRUE(is_judged(scanned().ports.at(0)));
}

TEST_F(Machine, TheCauseOfALostPlaneHasItsMeaning) {
  const std::string nic = function(0, 0, "0x1023"), folder = "sys/class/infiniband/mlx5_0/ports/";
  gpu(0);
  for (unsigned number = 1; number <= 4; ++number) {
    const std::string name = "eth0p" + std::to_string(number);
    port("mlx5_0", nic, false, number);
    netdev(name, nic);
    routable_gid("mlx5_0", number, name);
    tree.file(folder + std::to_string(number) + "/gid_attrs/ndevs/0", name + "\n");
  }
  tree.file(folder + "3/state", "1: DOWN\n").file(folder + "3/phys_state", "2: Polling\n");
  const std::string said = run({"diagnose"});
  EXPECT_TRUE(has(said, "mlx5_0/3 cable port-state The port receives no signal")) << said;
}

TEST_F(Machine, FunctionsThatLeadToNoNetwork) {
  for (unsigned rail = 0; rail < 2; ++rail) {
    gpu(rail);
    port("mlx5_" + std::to_string(rail), function(rail, 0, "0x1021", true), true);
  }
  const std::string management = function(2, 0, "0x1021", true);
  tree.file(management + "/max_link_width", "2\n").file(management + "/current_link_width", "2\n");
  port("mlx5_2", management, true);
  state("mlx5_2", "1: DOWN", "2: Polling");
  port("mlx5_3", function(3, 0, "0x2100"));
  EXPECT_EQ(role("mlx5_2"), "nvlink-management");
  EXPECT_EQ(role("mlx5_3"), "data-direct");
  const std::string said = run({"check", "--verbose"});
  for (const char* status : {"WARNING", "CRITICAL"}) EXPECT_FALSE(has(said, status)) << said;
  for (const char* rule : {"gid", "unseen-traffic", "rate"})
    for (const char* port : {"mlx5_2/1", "mlx5_3/1"})
      EXPECT_FALSE(has(said, rule + std::string(" ") + port)) << rule << " " << port << "\n" << said;
  EXPECT_FALSE(has(run({"diagnose", "mlx5_2"}), "without symptoms"));
  // A GPU that loses its NIC does not get a management function.
  tree.remove("sys/class/infiniband/mlx5_1")
      .remove("sys/devices/" + below(1) + "0.0")
      .remove("sys/bus/pci/devices/" + address(1));
  EXPECT_FALSE(has(nccl(), "mlx5_2")) << nccl();
}

// Only the VPD, which requires root, distinguishes a management function of four lanes from a NIC.
TEST_F(Machine, AManagementFunctionMayHaveNoCable) {
  for (unsigned rail = 0; rail < 3; ++rail) {
    const std::string nic = function(rail, 0, "0x1021", true);
    tree.file(nic + "/max_link_speed", "32.0 GT/s PCIe\n").file(nic + "/current_link_speed", "32.0 GT/s PCIe\n");
    port("mlx5_" + std::to_string(rail), nic, true);
    if (rail < 2) gpu(rail);
    else tree.file(nic + "/max_link_width", "4\n").file(nic + "/current_link_width", "4\n");
  }
  state("mlx5_2", "1: DOWN", "2: Polling");
  EXPECT_EQ(role("mlx5_2"), "physical");
  const std::string said = run({"diagnose", "mlx5_2"});
  EXPECT_TRUE(has(said, "SW_MNG") && has(said, "lspci -vv -s " + address(2))) << said;
  EXPECT_FALSE(has(said, "mlx5_2/1 cable")) << said;
  state("mlx5_1", "1: DOWN", "2: Polling");
  EXPECT_FALSE(has(run({"diagnose", "mlx5_1"}), "SW_MNG"));
}

// The kernel answers EOPNOTSUPP: the Arm cores own the E-Switch.
TEST_F(Machine, AHostsFunctionOfADpu) {
  const std::string nic = function(0, 0, "0xa2dc");
  port("mlx5_0", nic);
  netdev("eth0", nic, "p0", "a088");
  EXPECT_EQ(role("mlx5_0"), "physical") << "in NIC mode the host owns it";
  const auto files = std::make_shared<test::SimFiles>(tree);
  files->unreadable("sys/class/net/eth0/phys_switch_id", EOPNOTSUPP);
  const Port port = scanned(files).ports.at(0);
  EXPECT_EQ(port.role, PortRole::dpu_owned);
  EXPECT_TRUE(is_audit_only(port) && is_judged(port) && is_endpoint(port));
  const auto state_of = [&] {
    const Node node = scanned(files);
    return run_rules({.now = node, .no_policy = {}}, std::vector<std::string>{"port-state"}).findings.at(0);
  };
  EXPECT_TRUE(has(state_of().observed, "a DPU owns its settings")) << state_of().observed;
  state("mlx5_0", "1: DOWN", "2: Polling");
  EXPECT_TRUE(has(state_of().meaning, "A DPU owns it")) << state_of().meaning;
  for (const char* word : {"cable", "transceiver", "switch"})
    EXPECT_FALSE(has(state_of().remedy, word)) << state_of().remedy;
}

// Two NICs, their netdevs in one bond that is not active-backup: both RDMA devices have the bond's GIDs.
struct BondOfTwoNics : Machine {
  BondOfTwoNics() {
    tree.file("sys/class/net/bond0/bonding/slaves", "eth0 eth1\n").file("sys/class/net/bond0/carrier", "1\n");
    for (unsigned rail = 0; rail < 2; ++rail) {
      const std::string number = std::to_string(rail), nic = function(rail);
      gpu(rail);
      port("mlx5_" + number, nic);
      netdev("eth" + number, nic);
      tree.link("sys/class/net/eth" + number + "/master", "../bond0");
      gid("mlx5_" + number, kLinkLocal, 0, "RoCE v2", "eth" + number);
      routable_gid("mlx5_" + number, 1, "bond0");
    }
  }
};

TEST_F(BondOfTwoNics, AnswersReachTheWrongOne) {
  const std::string said = check("gid");
  EXPECT_TRUE(has(said, "CRITICAL gid mlx5_0") && has(said, "RoCE LAG") && has(said, "bond0")) << said;
  EXPECT_TRUE(has(said, "nomaster")) << said;
  EXPECT_EQ(test::undrained_command(said), "") << said;
  size_t findings = 0;
  const Node node = scanned();
  const std::vector<std::string> only{"gid"};
  for (const Finding& each : run_rules({.now = node, .no_policy = {}}, only).findings)
    findings += each.status == Status::critical ? 1 : 0;
  EXPECT_EQ(findings, 2u) << "one on both";
}

// Jobs run over one of the NICs, and end at a failover.
TEST_F(BondOfTwoNics, TheActiveOneOfABackupHasThem) {
  tree.remove(ports["mlx5_1"] + "/gids/3").remove(ports["mlx5_1"] + "/gids/0");
  const std::string said = check("gid");
  EXPECT_FALSE(has(said, "CRITICAL")) << said;
  EXPECT_TRUE(has(said, "WARNING gid mlx5_0/1, mlx5_1/1 bond0 is active-backup over two")) << said;
  EXPECT_TRUE(has(said, "mlx5_1/1: none: mlx5_0/1 is the active member")) << said;
  EXPECT_TRUE(has(nccl(), "NCCL_IB_HCA==mlx5_0:1 ")) << nccl();
  EXPECT_TRUE(has(nccl(), "Left out, no routable RoCE v2 GID: mlx5_1:1")) << nccl();
}

// Storage and management need no more of a bond than its active member.
TEST_F(BondOfTwoNics, ABackupOfNicsThatServeNoGpuIsNoFault) {
  tree.remove(ports["mlx5_1"] + "/gids/3").remove(ports["mlx5_1"] + "/gids/0");
  for (unsigned rail = 0; rail < 2; ++rail)
    tree.remove("sys/bus/pci/devices/0000:" + std::to_string(rail + 2) + "4:00.0");
  for (unsigned rail = 2; rail < 4; ++rail) {
    const std::string number = std::to_string(rail), nic = function(rail);
    gpu(rail);
    port("mlx5_" + number, nic);
    netdev("eth" + number, nic);
    routable_gid("mlx5_" + number, rail, "eth" + number);
  }
  EXPECT_FALSE(has(check("gid"), "WARNING")) << check("gid");
  EXPECT_TRUE(has(check("gid", true), "serves no GPU")) << check("gid", true);
}

}  // namespace
}  // namespace fabric
