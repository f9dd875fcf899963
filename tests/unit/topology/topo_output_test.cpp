// SPDX-License-Identifier: Apache-2.0
// The output of `topo` in each format. Whole machines are in tests/golden/topo: the project's own, and those of the
// corpus if it is present. FABRIC_UPDATE_GOLDEN=1 writes the files; look at the difference and at the picture before
// the commit.
#include <set>

#include "base/json.h"
#include "base/parse.h"
#include "ctl/output/table.h"
#include "ctl/topo/topo.h"
#include "node/machine.h"
#include "node/topology.h"
#include "node/topology_xml.h"
#include "support/corpus.h"
#include "support/ctl.h"
#include "support/golden.h"
#include "support/healthy_node.h"
#include "support/machines.h"
#include "support/test.h"
#include "support/tree.h"
#include "topology/pairing.h"

namespace fabric {
namespace {

using test::count_of;
using test::expect_golden;
using test::has;
using test::Healthy;
using test::pci_function;

// GPU0 and mlx5_0 on one switch; GPU1 on another root bus, whose node is not known; eno1 without RDMA.
Topology server() {
  Topology out;
  out.numa_cpus = {{0, "0-15,32-47"}, {1, "16-31,48-63"}};
  out.gpus = {
      Gpu{pci_function("0000:23:00.0", "pci0000:20", {"0000:22:00.0", "0000:21:00.0"}, 0), "GPU0", "NVIDIA H100"},
      Gpu{pci_function("0000:63:00.0", "pci0000:60", {"0000:60:01.0"}, {}), "GPU1", ""}};
  out.nics = {Nic{pci_function("0000:24:00.0", "pci0000:20", {"0000:22:01.0", "0000:21:00.0"}, 0),
                  {"ens24np0"},
                  {"mlx5_0"},
                  "mlx5_0"},
              Nic{pci_function("0000:a1:00.0", "pci0000:a0", {}, 1), {"eno1"}, {}, "eno1"}};
  return out;
}

Node around(Topology topology) {
  Node node;
  node.topology = std::move(topology);
  return node;
}
std::string printed(const char* format, const Node& node, const Policy* policy = nullptr,
                    const char* bootstrap = "eno1") {
  return ctl::find_topo_format(format)->print(ctl::topo_view(node, policy, bootstrap));
}
std::string text_of(Topology topology) { return printed("text", around(std::move(topology))); }

TEST(TopoText, NvidiaSmisMatrix) {
  const std::string text = text_of(server());
  const size_t matrix = text.find("     GPU0");
  EXPECT_EQ(text.substr(matrix, text.find("\nLegend") - matrix),
            "     GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\n"
            "GPU0  X   N/A  PIX  0-15,32-47   0\n"
            "GPU1 N/A   X   N/A  N/A          N/A\n"
            "NIC0 PIX  N/A   X\n");
  EXPECT_TRUE(has(text, "  NIC0: mlx5_0 (ens24np0, 0000:24:00.0)\n")) << text;
  EXPECT_TRUE(has(text, "  GPU0: NVIDIA H100 (0000:23:00.0)\n")) << text;
  EXPECT_TRUE(has(text, "  GPU0: mlx5_0 (PIX)\n  GPU1: unknown\n")) << text;
  EXPECT_TRUE(has(text, "NICs without RDMA: eno1\n")) << text;
}

TEST(TopoText, WithoutRdmaEveryNicIsShown) {
  Topology topology = server();
  topology.nics[0].rdma.clear();
  const std::string text = text_of(topology);
  EXPECT_TRUE(has(text, " NIC0 NIC1 CPU")) << text;
  EXPECT_FALSE(has(text, "without RDMA")) << text;
}

TEST(TopoText, NothingFound) { EXPECT_EQ(text_of({}), "No GPU and no NIC found.\n"); }

TEST(TopoJson, KeepsTheContract) {
  Json json = Json::parse(printed("json", around(server())));
  ASSERT_EQ(json["gpus"].size(), 2u);
  EXPECT_EQ(json["gpus"][0]["pci"], "0000:23:00.0");
  EXPECT_EQ(json["gpus"][0]["name"], "GPU0");
  EXPECT_EQ(json["gpus"][0]["numa"], 0);
  EXPECT_TRUE(json["gpus"][1]["numa"].is_null());
  ASSERT_EQ(json["nics"].size(), 2u) << "those without RDMA, too";
  EXPECT_EQ(json["nics"][0]["rdma"][0], "mlx5_0");
  EXPECT_EQ(json["nics"][0]["netdevs"][0], "ens24np0");
  EXPECT_EQ(json["nics"][1]["rdma"], Json::array());
  ASSERT_EQ(json["paths"].size(), 4u) << "every GPU and NIC";
  Json& first = json["paths"][0];
  EXPECT_EQ(first["gpu"], "0000:23:00.0");
  EXPECT_EQ(first["nic"], "0000:24:00.0");
  EXPECT_EQ(first["class"], "PIX");
  EXPECT_TRUE(json["paths"][2]["class"].is_null());
  ASSERT_EQ(json["pairs"].size(), 2u);
  EXPECT_EQ(json["pairs"][0]["nics"][0], "0000:24:00.0");
  EXPECT_EQ(json["pairs"][1]["nics"], Json::array());
}

TEST(TopoJson, EmptyListsAreLists) {
  Json json = Json::parse(printed("json", {}));
  for (const char* key : {"gpus", "nics", "paths", "pairs"}) EXPECT_EQ(json[key], Json::array()) << key;
}

// Two sockets of four switches, each with a GPU and a NIC: what most GPU servers look like.
Node eight_on_eight() {
  Node node;
  node.hostname = "gpu01";
  Topology& out = node.topology;
  out.numa_cpus = {{0, "0-31,64-95"}, {1, "32-63,96-127"}};
  out.numa_socket = {{0, 0}, {1, 1}};
  for (int i = 0; i < 8; ++i) {
    const std::string bus = "0000:" + std::to_string(i + 1);
    const auto place = [&](const char* slot, const char* port) {
      PciDevice at = pci_function(bus + slot, "pci" + bus + "0", {bus + port, bus + "1:00.0", bus + "0:01.0"}, i / 4);
      at.vendor = slot[1] == '3' ? 0x10de : 0x15b3;
      at.link = {32, 32, 16, 16};
      return at;
    };
    out.gpus.push_back(Gpu{place("3:00.0", "2:00.0"), "GPU" + std::to_string(i), "NVIDIA H100 80GB HBM3"});
    out.gpus.back().minor = static_cast<unsigned>(i);
    const std::string name = "mlx5_" + std::to_string(i), netdev = "ens" + std::to_string(i);
    out.nics.push_back(Nic{place("4:00.0", "2:01.0"), {netdev}, {name}, name, bus});
    for (unsigned core = 0; core < 8; ++core) {
      const unsigned cpu = static_cast<unsigned>(i) * 8 + core;
      out.cores.push_back({{cpu, cpu + 64}, i / 4});
    }
    Port port;
    port.rdma = name;
    port.netdev = netdev;
    port.link_layer = LinkLayer::ethernet;
    port.state = 4;
    port.rate = 50e9;
    port.gids = {{1, "fe80:0000:0000:0000:0a00:00ff:fe00:0001", "RoCE v2", netdev},
                 {3, "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2", netdev}};
    node.ports.push_back(port);
  }
  return node;
}

std::vector<std::string> lines_of(const std::string& text, bool comments = false) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (comments || !line.starts_with('#')) out.push_back(line);
  return out;
}

bool has_line(const std::string& text, const std::string& line) {
  const auto all = lines_of(text, true);
  return std::find(all.begin(), all.end(), line) != all.end();
}

// Every element closed in order, attributes quoted, no stray "<" or "&". Empty if well-formed, else the fault.
std::string xml_fault(const std::string& text) {
  static const std::regex element("<(/?)([a-z]+)((?: [a-zA-Z-]+=\"[^\"<]*\")*)(/?)>");
  static const std::regex entity("&(?!(amp|lt|gt|quot);)");
  if (std::regex_search(text, entity)) return "a bare &";
  std::vector<std::string> open;
  size_t matched = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), element), end; at != end; ++at, ++matched) {
    const std::string name = (*at)[2];
    if ((*at)[1].length() > 0) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if ((*at)[4].length() == 0) {
      open.push_back(name);
    }
  }
  if (!open.empty()) return "<" + open.back() + "> is not closed";
  return matched == count_of(text, "<") ? "" : "a < that opens no element";
}

// The problems and the pairing of GPUs and NICs come before the matrix: a screen ends before a machine of eight does.
TEST(TopoText, ProblemsAndPairingComeFirst) {
  Node node = eight_on_eight();
  node.ports[2].state = 1;
  const std::string text = printed("text", node);
  EXPECT_TRUE(text.starts_with("Problems (see fabric-agentctl check):\n\n  mlx5_2/1: DOWN")) << text;
  EXPECT_LT(text.find("\nBest pairing:\n"), text.find("     GPU0")) << text;
}

TEST(TopoFormats, EightByEightIsGolden) {
  const Node node = eight_on_eight();
  ctl::TopoView view = ctl::topo_view(node, nullptr, "eno1");
  for (const unsigned width : {80U, 120U}) {
    view.width = width;
    const std::string text = ctl::folded(ctl::find_topo_format("text")->print(view), width);
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), width) << line;
    expect_golden("topo_text_" + std::to_string(width) + ".txt", text);
    if (width == 80)
      expect_golden("screens/topo.ansi", "$ fabric-agentctl topo\n" + text.substr(0, text.find("\nLegend")));
  }
  expect_golden("topo_tree.txt", printed("tree", node));
  expect_golden("topo.svg", printed("svg", node));
  expect_golden("topo.dot", printed("dot", node));
}

// One word for the link of a port in every form.
TEST(TopoTree, ShowsTheLinkAsThePictureDoes) {
  Node node = eight_on_eight();
  node.ports[2].state = 1;  // DOWN
  node.ports[3].state = 2;  // INIT
  node.ports[4].state.reset();
  node.ports[5].carrier = false;  // its RDMA state follows later
  const std::string tree = printed("tree", node), svg = printed("svg", node);
  for (const auto& [port, word] : {std::pair("mlx5_2", "down"), std::pair("mlx5_3", "not active"),
                                   std::pair("mlx5_4", "state not known"), std::pair("mlx5_5", "down")}) {
    const size_t at = tree.find(std::string(port) + " (");
    ASSERT_NE(at, std::string::npos) << tree;
    EXPECT_TRUE(has(tree.substr(at, tree.find('\n', at) - at), std::string("port 1 ") + word)) << tree;
    EXPECT_TRUE(has(svg, std::string(">") + word)) << word;
  }
}

TEST(TopoSvg, ProblemsAreRedAndTextIsEscaped) {
  Node node = eight_on_eight();
  node.hostname = "a<b>&\"c\x01\xff";
  node.topology.gpus[2].model = "<script>alert(1)</script>";
  node.topology.nics[5].link.width = 8;
  const std::string svg = printed("svg", node);
  EXPECT_EQ(xml_fault(svg), "") << svg;
  EXPECT_FALSE(has(svg, "<script"));
  EXPECT_TRUE(has(svg, "⚠ mlx5_5: x8 at 32 GT/s"));
  EXPECT_TRUE(has(svg, "⚠ mlx5_5</text>"));
  EXPECT_FALSE(has(svg, "⚠ mlx5_4</text>"));
}

// A GPU of a virtual machine has no NIC of its host.
TEST(TopoText, GpusOfAVirtualMachineAreNotPaired) {
  Healthy server;
  EXPECT_TRUE(has(printed("text", server.now), "GPU1: mlx5_1 ("));
  server.now.platform.functions[server.now.topology.gpus[1].pci].kernel_driver = "vfio-pci";
  const std::string text = printed("text", server.now);
  EXPECT_TRUE(has(text, "GPU1: none") && has(text, "GPU0: mlx5_0 (") && has(text, "GPU1 belongs to a virtual machine"))
      << text;
}

TEST(TopoNccl, LeavesOutWhatNoProgramCanOpen) {
  Healthy server;
  EXPECT_TRUE(has(printed("nccl", server.now), "NCCL_IB_HCA=="));
  server.now.lacks_verbs = true;
  const std::string text = printed("nccl", server.now);
  EXPECT_FALSE(has(text, "NCCL_IB_HCA==")) << text;
  EXPECT_TRUE(has(text, "ib_uverbs is not loaded")) << text;
}

TEST(TopoNccl, SaysThatGeForceHasNoGpuDirect) {
  Healthy server;
  EXPECT_FALSE(has(printed("nccl", server.now), "GeForce"));
  for (Gpu& gpu : server.now.topology.gpus) gpu.model = "NVIDIA GeForce RTX 5090";
  EXPECT_TRUE(has(printed("nccl", server.now), "does not offer GPUDirect RDMA for GeForce"));
}

// Images of clouds have the tree that their hypervisor hides in a file for NCCL.
TEST(TopoNccl, TheProvidersTopologyFileIsNamed) {
  const Node node = test::cloud_guest();
  const auto file_of = [&](size_t gpus, bool has_nics = true) {
    std::string out = "<system version=\"1\">\n";
    for (size_t i = 0; i < gpus; ++i) out += "<pci busid=\"" + node.topology.gpus[i].pci + "\" class=\"0x030200\"/>\n";
    for (const Nic& nic : node.topology.nics)
      if (has_nics) out += "<pci busid=\"" + nic.pci + "\" class=\"0x020000\"/>\n";
    return out + "</system>\n";
  };
  const size_t all = node.topology.gpus.size();
  test::Tree tree;
  const auto file = [&](const Node& of) { return ctl::provider_topology_file(tree.root(), of); };
  tree.file("opt/microsoft/ndv5-topo.xml", file_of(all / 2));  // of another size of machine
  EXPECT_EQ(file(node), "") << "without some of the GPUs";
  tree.file("opt/microsoft/ndv2-topo.xml", file_of(all, false));  // of another type of machine
  EXPECT_EQ(file(node), "") << "without the NICs";
  tree.file("opt/microsoft/notes.txt", file_of(all));
  EXPECT_EQ(file(node), "");
  tree.file("opt/microsoft/ndv4-topo.xml", file_of(all));
  EXPECT_EQ(file(node), "/opt/microsoft/ndv4-topo.xml");
  EXPECT_EQ(file(eight_on_eight()), "") << "the switches are visible";
  Node azure = test::cloud_guest();  // without EFA, NCCL reads NCCL_IB_HCA
  for (Nic& nic : azure.topology.nics) nic.vendor = 0x15b3;
  ctl::TopoView view = ctl::topo_view(azure);
  const auto nccl = [&] { return ctl::find_topo_format("nccl")->print(view); };
  EXPECT_TRUE(has(nccl(), "to the provider's file") && !has(nccl(), "\nNCCL_TOPO_FILE=")) << nccl();
  view.topology_file = file(node);
  EXPECT_TRUE(has(nccl(), "\nNCCL_TOPO_FILE=" + file(node) + "\n")) << nccl();
  EXPECT_TRUE(has(joined(ctl::topo_notes(view), "\n"), "(NCCL_TOPO_FILE): " + file(node) + "."));
  tree.file("opt/microsoft/ndv4-topo-2.xml", file_of(all));
  EXPECT_EQ(file(node), "") << "two fit";
  EXPECT_EQ(ctl::addresses_in("<pci busid=\"0001:00:00.0\"/><x busid=\"0A:b\"/><y busid=\"&\"/>"),
            (std::set<std::string>{"0001:00:00.0", "0a:b"}));
}

TEST(TopoDot, QuotesWhatEndsAString) {
  Node node = eight_on_eight();
  node.topology.nics[0].netdevs = {"a\"b\\c"};
  const std::string dot = printed("dot", node);
  EXPECT_TRUE(has(dot, "a\\\"b\\\\c")) << dot;
  EXPECT_EQ(count_of(dot, "{"), count_of(dot, "}"));
  EXPECT_EQ(count_of(dot, " -- "), 8u);
}

TEST(TopoNccl, VariablesFollowFromGidsAndPolicy) {
  Policy policy;
  PortPolicy entry;
  entry.want.dscp_map = DscpMap{{26, 3}, {48, 6}};
  entry.want.pfc = PrioSet{8};
  policy.ports = {entry};
  const std::string text = printed("nccl", eight_on_eight(), &policy);
  EXPECT_EQ(lines_of(text), (std::vector<std::string>{
                                "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1",
                                "NCCL_IB_GID_INDEX=3", "NCCL_IB_TC=106", "NCCL_SOCKET_IFNAME==eno1"}));
  policy.ports[0].want.roce_tos = 41;
  policy.ports[0].want.trust = Trust::pcp;
  const std::string by_tos = printed("nccl", eight_on_eight(), &policy);
  EXPECT_TRUE(has_line(by_tos, "NCCL_IB_TC=41")) << by_tos;
  EXPECT_TRUE(has_line(by_tos, "NCCL_IB_SL=3")) << by_tos;
  policy.ports[0].want.pfc.reset();
  policy.ports[0].fabric.kind = FabricKind::lossy;
  policy.ports[0].traffic = Mark{26, 4};
  const std::string lossy = printed("nccl", eight_on_eight(), &policy);
  EXPECT_TRUE(has_line(lossy, "NCCL_IB_SL=4")) << lossy;
}

TEST(TopoNccl, SaysWhyAVariableIsMissing) {
  Node node = eight_on_eight();
  node.ports[2].gids[1].index = 5;
  node.ports[6].state = 1;
  const std::string text = printed("nccl", node, nullptr, "");
  EXPECT_FALSE(has(text, "\nNCCL_IB_GID_INDEX=")) << text;
  EXPECT_TRUE(has(text, "mlx5_2:1 5")) << text;
  EXPECT_TRUE(has(text, "# Left out, down: mlx5_6:1.")) << text;
  EXPECT_FALSE(has(lines_of(text).front(), "mlx5_6")) << text;
  for (const char* why : {"# NCCL_IB_TC is not set", "# NCCL_SOCKET_IFNAME is not set"})
    EXPECT_TRUE(has(text, why)) << why;
  for (Port& port : node.ports) port.link_layer = LinkLayer::infiniband;
  EXPECT_TRUE(has(printed("nccl", node), "# InfiniBand: "));
  for (Gpu& gpu : node.topology.gpus) gpu.vendor = 0x1002;
  EXPECT_TRUE(has(printed("nccl", node), "RCCL"));
}

// A site's partition beside a limited membership of the default one: NCCL takes the first P_Key if no index is given.
TEST(TopoNccl, ThePartitionIsTheOneWithFullMembership) {
  Node node = eight_on_eight();
  for (Port& port : node.ports) {
    port.link_layer = LinkLayer::infiniband;
    node.network.pkeys[port.id()] = {0xffff, 0x8001};
  }
  EXPECT_FALSE(has(printed("nccl", node), "NCCL_IB_PKEY")) << "the first one is a full membership";
  for (auto& [port, keys] : node.network.pkeys) keys = {0x7fff, 0, 0x8001};
  const std::string text = printed("nccl", node);
  EXPECT_TRUE(has(text, "\nNCCL_IB_PKEY=2\n") && has(text, "0x7fff") && has(text, "0x8001")) << text;
  for (auto& [port, keys] : node.network.pkeys) keys = {0xffff, 0, 0x8001};
  node.network.pkeys["mlx5_3/1"] = {0x7fff, 0, 0x8001};
  EXPECT_TRUE(has(printed("nccl", node), "\nNCCL_IB_PKEY=2\n") &&
              has(printed("nccl", node), "P_Key of mlx5_3:1 is not"))
      << printed("nccl", node);
  node.network.pkeys["mlx5_3/1"] = {0x7fff, 0x8001};
  EXPECT_FALSE(has(printed("nccl", node), "\nNCCL_IB_PKEY=")) << "another index on one port";
  EXPECT_TRUE(has(printed("nccl", node), "# NCCL_IB_PKEY is not set")) << printed("nccl", node);
  node.network.pkeys.clear();
  EXPECT_FALSE(has(printed("nccl", node), "NCCL_IB_PKEY")) << "not read";
}

// GH200, GB200: each GPU and each NIC is below a root port of the CPU.
TEST(TopoNccl, GpusThatNvlinkJoinsToTheCpuUseGpuDirect) {
  Node node = eight_on_eight();
  for (size_t i = 0; i < node.topology.gpus.size(); ++i) {
    Gpu& gpu = node.topology.gpus[i];
    gpu.root = "pci000" + std::to_string(i) + ":00";
    gpu.bridges = {"000" + std::to_string(i) + ":00:00.0"};
  }
  EXPECT_FALSE(has(printed("nccl", node), "NCCL_NET_GDR_C2C")) << printed("nccl", node);
  EXPECT_TRUE(has(printed("nccl", node), "NCCL_NET_GDR_LEVEL decides")) << printed("nccl", node);
  for (Gpu& gpu : node.topology.gpus) gpu.vendor = kNvidia, gpu.device = 0x2941;
  EXPECT_TRUE(has_line(printed("nccl", node), "NCCL_NET_GDR_C2C=1")) << printed("nccl", node);
  EXPECT_FALSE(has(printed("nccl", node), "NCCL_NET_GDR_LEVEL decides")) << printed("nccl", node);
  Node near = eight_on_eight();
  for (Gpu& gpu : near.topology.gpus) gpu.vendor = kNvidia, gpu.device = 0x31c2;
  EXPECT_FALSE(has(printed("nccl", near), "NCCL_NET_GDR_C2C")) << "at the switch of its NIC";
}

TEST(TopoBind, EveryGpuHasCoresOfItsNodeAndNoneTwice) {
  const Node node = eight_on_eight();
  EXPECT_TRUE(has_line(printed("cpuset", node), "GPU0\t0000:13:00.0\t0-7,64-71\t0xff00000000000000ff"));
  EXPECT_TRUE(has(printed("cpuset", node), "--cpu-bind=mask_cpu:0xff"));
  EXPECT_EQ(ctl::find_topo_format("cpuset")->fold, ctl::TopoFormat::Fold::none) << "a command is one line";
  EXPECT_TRUE(has_line(printed("cpuset", node), "GPU5\t0000:63:00.0\t40-47,104-111\t0xff00000000000000ff0000000000"));
  EXPECT_TRUE(has_line(printed("rankfile", node), "rank 7=+n0 slot=56-63"));
  const std::string slurm = printed("slurm", node);
  EXPECT_TRUE(
      has_line(slurm, "Name=gpu Type=nvidia_h100_80gb_hbm3 File=/dev/nvidia1 Cores=0-31 Links=1,-1,1,1,0,0,0,0"))
      << slurm;
}

// The form of AutoDetect=nvml: a space becomes an underscore, a hyphen stays (Slurm compares the text).
TEST(TopoBind, TheTypeIsAutoDetects) {
  Node node = eight_on_eight();
  node.topology.gpus[0].model = "NVIDIA A100-SXM4-80GB";
  node.topology.gpus[1].model = "AMD, Inc.: Radeon\t(#1) \xc3\xa9";
  const auto lines = lines_of(printed("slurm", node));
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_TRUE(has(lines[0], " Type=nvidia_a100-sxm4-80gb File=")) << lines[0];
  EXPECT_TRUE(has(lines[1], " Type=amd_inc._radeon1_ File=")) << lines[1];
}

TEST(TopoBind, AGpuWhoseNodeIsNotKnownHasAllCores) {
  Node node = eight_on_eight();
  node.topology.gpus[6].numa.reset();
  const std::string slurm = printed("slurm", node);
  EXPECT_TRUE(has(slurm, "File=/dev/nvidia6 Cores=0-63 ")) << slurm;
  EXPECT_TRUE(has(slurm, "# GPU6: NUMA node unknown")) << slurm;
  EXPECT_TRUE(has(slurm, "File=/dev/nvidia7 Cores=32-63 ")) << "numbers of cores, not of their threads: " << slurm;
}

TEST(TopoBind, APartitionedGpuIsSeveralDevices) {
  Node node = eight_on_eight();
  node.topology.gpus.resize(1);
  node.topology.gpus[0].minor.reset();
  node.topology.gpus[0].render_minors = {128, 129};
  const auto lines = lines_of(printed("slurm", node));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(has(lines[1], "File=/dev/dri/renderD129 Cores=0-31 Links=4,-1")) << lines[1];
}

// A site's changes to a rule hold for the problems as for the check.
TEST(TopoProblems, FollowTheSitesRules) {
  constexpr int64_t kEnd = 1'800'000'000;
  Node node = eight_on_eight();
  for (Port& port : node.ports) port.rate = 10e9;  // four lanes are enough for it
  node.topology.nics[3].link.width = 4;
  Policy policy;
  const auto problems_at = [&](int64_t wall) {
    std::string out;
    for (const Finding& each : ctl::topo_view(node, &policy, "", wall).problems)
      out += each.id + " " + each.subject + " " + std::string(to_text(each.status)) + "\n";
    return out;
  };
  EXPECT_EQ(problems_at(kEnd), "pcie mlx5_3 warning\n");
  policy.rules.by_id["pcie"].severity = Status::critical;
  EXPECT_EQ(problems_at(kEnd), "pcie mlx5_3 critical\n");
  policy.rules.by_id["pcie"].enabled = false;
  policy.rules.by_id["pcie"].until = kEnd;
  EXPECT_EQ(problems_at(kEnd - 1), "");
  EXPECT_FALSE(has(ctl::find_topo_format("text")->print(ctl::topo_view(node, &policy, "", kEnd - 1)), "x4 at 32 GT/s"));
  EXPECT_EQ(problems_at(kEnd), "pcie mlx5_3 critical\n") << "the suppression has ended";
}

// A part that is missing or slow is a problem of the topology as it is one of the check.
TEST(TopoProblems, AreThoseOfTheCheck) {
  const auto problems = [](const Node& node) {
    std::set<std::string> out;
    for (const Finding& each : ctl::topo_view(node).problems) out.insert(each.id + " " + each.subject);
    return out;
  };
  const auto found = [](const Node& node) {
    std::set<std::string> out;
    for (const Finding& each : run_rules({.now = node}).findings)
      if (is_fault(each.status) &&
          contains(std::vector<std::string>{"symmetry", "inventory", "rate", "pcie", "port-state"}, each.id))
        out.insert(each.id + " " + each.subject);
    return out;
  };
  Node node = eight_on_eight();
  EXPECT_TRUE(problems(node).empty());
  node.topology.gpus.erase(node.topology.gpus.begin() + 2);
  EXPECT_FALSE(found(node).empty()) << "a GPU is gone";
  EXPECT_EQ(problems(node), found(node));
  node = eight_on_eight();
  node.ports[5].rate = node.ports[5].rate.value_or(50e9) / 2;
  EXPECT_FALSE(found(node).empty()) << "half of the rate";
  EXPECT_EQ(problems(node), found(node));
}

// A machine without one RDMA device, and paths that do not turn in their switch, are problems of the topology, too; one
// that no GPU or NIC has is in the tree all the same.
TEST(TopoProblems, WhatNoGpuOrNicHas) {
  const auto print = [](const Healthy& node, const char* format) { return printed(format, node.now); };
  Healthy bare;
  bare.now.ports.clear();
  for (Nic& nic : bare.now.topology.nics) nic.rdma.clear();
  for (const char* format : {"text", "tree"})
    EXPECT_TRUE(has(print(bare, format), " host: no RDMA device: 4 NICs have the driver mlx5_core")) << format;
  EXPECT_TRUE(has(print(bare, "text"), "Best pairing:\n\n  none: no NIC with RDMA"));
  Healthy redirected;
  const Nic& nic = redirected.now.topology.nics[1];
  redirected.now.pci_settings->functions[nic.bridges.front()].acs = uint16_t{0x05};
  for (const char* format : {"text", "tree"})
    EXPECT_TRUE(has(print(redirected, format), " " + nic.bridges.front() + ": SrcValid+ ReqRedir+; expected ReqRedir-"))
        << format;
  Healthy closed;
  closed.now.platform.gpudirect.nvidia_open = false;
  closed.now.platform.gpudirect.peer_modules.clear();
  EXPECT_TRUE(has(print(closed, "text"), " host: NVIDIA driver ")) << print(closed, "text");
}

TEST(TopoProblems, EqualOnesAreOneLine) {
  Node node = eight_on_eight();
  for (const size_t port : {1U, 2U}) node.ports[port].state = 1;
  EXPECT_TRUE(printed("text", node).starts_with("Problems (see fabric-agentctl check):\n\n  mlx5_1/1, mlx5_2/1: DOWN"))
      << printed("text", node);
  EXPECT_EQ(count_of(printed("svg", node), "⚠ mlx5_1/1, mlx5_2/1: "), 1u) << printed("svg", node);
}

// The affinity is that of GPUs: in a block of its own it has no rows of NICs.
TEST(TopoText, NoRowHasItsNameAlone) {
  const Node node = eight_on_eight();
  ctl::TopoView view = ctl::topo_view(node);
  for (const unsigned width : {40U, 60U, 80U, 200U}) {
    view.width = width;
    for (const std::string& line : lines_of(ctl::find_topo_format("text")->print(view)))
      EXPECT_FALSE(line.starts_with("NIC") && line.find(' ') == std::string::npos) << line;
  }
}

TEST(TopoNotes, WhatTheClassesCannotSay) {
  Node node = eight_on_eight();
  EXPECT_TRUE(ctl::topo_notes(ctl::topo_view(node)).empty());
  node.topology.nics[4].card = node.topology.nics[0].card;
  node.topology.numa_socket = {{0, 0}, {1, 0}};
  node.topology.memory_nodes = {2, 3};
  const std::string text = printed("text", node);
  for (const char* part :
       {"mlx5_0, mlx5_4 are one NIC", "split into 2 NUMA nodes", "without CPUs (memory of GPUs, HBM, CXL): 2, 3"})
    EXPECT_TRUE(has(text, part)) << part;
}

TEST(TopoNotes, SwitchesThatAGuestShowsAreNotHidden) {
  Node node = eight_on_eight();
  node.topology.hypervisor = "Alibaba Cloud";
  const auto text = [&] { return joined(ctl::topo_notes(ctl::topo_view(node)), "\n"); };
  size_t bus = 0x10;
  const auto alone = [&](PciDevice& device) {
    device.root = "pci0000:" + std::to_string(bus);
    device.bridges = {"0000:" + std::to_string(bus + 1) + ":00.0", "0000:" + std::to_string(bus) + ":01.0"};
    bus += 2;
  };
  for (Gpu& gpu : node.topology.gpus) alone(gpu);
  for (Nic& nic : node.topology.nics) alone(nic);
  EXPECT_TRUE(has(text(), "no two devices share one of the PCIe switches that it shows")) << text();
  for (Gpu& gpu : node.topology.gpus) gpu.bridges.clear();
  EXPECT_TRUE(has(text(), "which hides the PCIe switches")) << text();
}

// The GPU of a Grace module is beside the CPU: no switch is between it and the NICs.
TEST(TopoNotes, AGuestHidesNoSwitchesOfGpusAtTheCpu) {
  Node node = eight_on_eight();
  node.topology.hypervisor = "Amazon EC2";
  for (size_t i = 0; i < node.topology.gpus.size(); ++i) {
    Gpu& gpu = node.topology.gpus[i];
    gpu.root = "pci000" + std::to_string(i) + ":00";
    gpu.bridges.clear();
    gpu.vendor = kNvidia;
    gpu.device = 0x2941;
  }
  EXPECT_FALSE(has(joined(ctl::topo_notes(ctl::topo_view(node)), "\n"), "hides the PCIe switches"));
  EXPECT_FALSE(has(printed("nccl", node), "NCCL_TOPO_FILE")) << printed("nccl", node);
  node.topology.gpus.front().device = 0x2330;
  EXPECT_TRUE(has(printed("nccl", node), "NCCL_TOPO_FILE")) << printed("nccl", node);
}

TEST(TopoNotes, AcceleratorsThatAreNotKnown) {
  Node node = eight_on_eight();
  node.topology.unknown_accelerators = {"0000:11:00.0 (1e52:401e, driver tenstorrent)"};
  EXPECT_TRUE(has(printed("text", node), "not known to this program, and have no row: 0000:11:00.0 (1e52:401e"));
}

// Differences from nvidia-smi's words, and facts that its table cannot show.
TEST(TopoNotes, WhereNvidiaSmiReadsOtherwise) {
  const auto notes = [](const Node& node) { return joined(ctl::topo_notes(ctl::topo_view(node)), "\n"); };
  const auto says = [&](const Node& node, const char* what) { return notes(node).find(what) != std::string::npos; };
  Node node = eight_on_eight();
  EXPECT_EQ(notes(node), "");
  node.topology.gpus[3].numa.reset();
  EXPECT_TRUE(
      says(node, "NUMA node of GPU3 unknown (numa_node -1): N/A without a shared bridge; nvidia-smi prints SYS"))
      << notes(node);
  node = eight_on_eight();
  for (Gpu& gpu : node.topology.gpus) gpu.numa_assumed = true;
  EXPECT_TRUE(says(node, "NODE, while nvidia-smi prints SYS")) << notes(node);
  node.topology.gpus.resize(1);
  node.topology.nics.resize(1);
  EXPECT_EQ(notes(node), "") << "no path is NODE";
  node = eight_on_eight();
  Gpu& deep = node.topology.gpus[2];
  deep.bridges.insert(deep.bridges.begin(), {"0000:39:00.0", "0000:38:00.0"});
  EXPECT_TRUE(says(node, "PXB of GPU2 counts bridges above this device only")) << notes(node);
  // A switch on the way is that of another NIC, too: the path would be PXB without the bridges of the GPU.
  Nic &near = node.topology.nics[2], &beside = node.topology.nics[3];
  near.bridges.insert(near.bridges.begin() + 1, {"0000:3b:00.0", "0000:3a:00.0"});
  beside.bridges = near.bridges;
  beside.bridges.front() = "0000:3b:01.0";
  beside.root = near.root;
  EXPECT_FALSE(says(node, "counts bridges above this device only")) << notes(node);
  node = eight_on_eight();
  for (size_t i = 0; i < 8; ++i)
    node.topology.nics[i].root = "pci000" + std::to_string(i) + ":00", node.topology.nics[i].bridges.clear();
  EXPECT_TRUE(says(node, "No GPU shares a PCIe switch or host bridge with a NIC")) << notes(node);
  // A NIC that is near and down is not of the compute network now; "Nearest NICs" shows it.
  node = eight_on_eight();
  for (size_t i = 0; i < 8; ++i) node.ports[i].state = kPortDown;
  Nic far = node.topology.nics[0];
  far.pci = "0000:f1:00.0", far.name = "mlx5_8", far.rdma = {"mlx5_8"}, far.netdevs = {"ens8np0"};
  far.root = "pci0000:f0", far.bridges.clear();
  Port up = node.ports[0];
  up.rdma = "mlx5_8", up.pci = far.pci, up.netdev = "ens8np0", up.state = kPortActive;
  node.topology.nics.push_back(far);
  node.ports.push_back(up);
  EXPECT_FALSE(says(node, "No GPU shares a PCIe switch")) << notes(node);
  node.topology.hypervisor = "QEMU";
  for (Gpu& gpu : node.topology.gpus) gpu.bridges.clear();
  EXPECT_TRUE(says(node, "This is a virtual machine of QEMU, which hides")) << notes(node);
  EXPECT_FALSE(says(node, "No GPU shares")) << "one reason is enough";
  node = eight_on_eight();
  for (Gpu& gpu : node.topology.gpus) gpu.vendor = 0x10de;
  node.ports[0].kernel_driver = "siw";
  EXPECT_TRUE(says(node, "nvidia-smi topo -m fails while the soft-iWARP device mlx5_0 exists")) << notes(node);
}

// More than any machine has: an answer all the same, and not a large one where people read it.
TEST(TopoBounds, EveryFormatOfHundredsOfGpusAndThousandsOfNics) {
  Node node;
  for (int i = 0; i < 128; ++i) {
    char bus[8];
    std::snprintf(bus, sizeof bus, "%02x", i);
    const std::string root = "pci0000:" + std::string(1, bus[0]) + "0",
                      port = "0000:" + std::string(1, bus[0]) + "0:01.0";
    const auto at = [&](int slot) {
      return pci_function("0000:" + std::string(bus) + ":0" + std::to_string(slot) + ".0", root, {port}, i / 64);
    };
    node.topology.gpus.push_back(Gpu{at(1), "GPU" + std::to_string(i), "<model>"});
    node.topology.nics.push_back(Nic{at(2), {}, {"mlx5_" + std::to_string(i)}, "mlx5_" + std::to_string(i)});
  }
  const auto square = ctl::topo_view(node);
  for (const ctl::TopoFormat& format : ctl::topo_formats()) {
    const std::string text = format.print(square);
    EXPECT_NE(text, "") << format.name;
    if (format.name == std::string_view("text")) EXPECT_TRUE(has(text, "GPU127"));
  }
  node.topology.gpus.resize(8);
  for (int i = 0; i < 2'000; ++i) {
    Nic vf = node.topology.nics[static_cast<size_t>(i) % 64];
    vf.name = "vf" + std::to_string(i);
    vf.rdma = {vf.name};
    vf.role = FunctionRole::virtual_function;
    node.topology.nics.push_back(vf);
  }
  const auto wide = ctl::topo_view(node);
  for (const char* format : {"text", "svg", "dot", "nccl"}) {
    const std::string text = ctl::find_topo_format(format)->print(wide);
    EXPECT_LT(text.size(), size_t{2} << 20) << format;
    EXPECT_FALSE(has(text, "vf7")) << format;
    if (format == std::string_view("text")) EXPECT_TRUE(has(text, "2000 more NICs: see --json"));
  }
}
using TopoCorpus = test::OfCorpus;

// Every machine of the corpus in every format.
TEST_F(TopoCorpus, EveryFormatOfEveryMachine) {
  int machines = 0;
  for (const auto& [name, machine] : test::oracle_of(corpus, "hwloc-xml")) {
    SCOPED_TRACE(name);
    const Node node = around(*load_topology_xml(corpus + "/" + machine["file"].get<std::string>()));
    const std::string svg = printed("svg", node), dot = printed("dot", node), tree = printed("tree", node);
    EXPECT_EQ(xml_fault(svg), "");
    EXPECT_EQ(count_of(dot, "{"), count_of(dot, "}"));
    for (const Gpu& gpu : node.topology.gpus)
      for (const std::string* text : {&svg, &dot, &tree}) EXPECT_TRUE(has(*text, gpu.pci)) << gpu.name;
    for (const Nic& nic : node.topology.nics) EXPECT_GE(count_of(tree, nic.pci), 1u) << nic.name;
    for (const char* format : {"cpuset", "rankfile"}) {  // some files hold NUMA nodes alone, and that is said
      const std::string text = printed(format, node);
      EXPECT_EQ(lines_of(text).size(), node.topology.cores.empty() ? 0 : node.topology.gpus.size()) << format;
      EXPECT_EQ(text.find("are unknown") != std::string::npos, node.topology.cores.empty()) << format;
    }
    EXPECT_NE(printed("nccl", node), "");
    ++machines;
  }
  EXPECT_GT(machines, 20);
}

// -- The environment of jobs: variables of NCCL, UCX and NVSHMEM, and those that require evidence

Ip ip(const char* text) { return *parse_ip(text); }
TEST(NcclGidIndex, IsOfOneFamilyAndAsPinned) {
  Healthy node;
  const auto printed = [&] { return fabric::printed("nccl", node.now, &node.policy); };
  EXPECT_TRUE(has(printed(), "\nNCCL_IB_GID_INDEX=3\n")) << printed();
  for (Port& port : node.now.ports) port.gids.push_back({1, gid_text(ip("10.9.0.1")), "RoCE v2", "v" + port.netdev});
  EXPECT_TRUE(has(printed(), "\nNCCL_IB_GID_INDEX=3\n")) << "the port's own before that of a VLAN: " << printed();
  node.policy.expect.gid_index = 1;
  EXPECT_TRUE(has(printed(), "\nNCCL_IB_GID_INDEX=1\n")) << printed();
  node.policy.expect.gid_index.reset();
  for (Port& port : node.now.ports) port.gids[2].type = "IB/RoCE v1";
  EXPECT_TRUE(has(printed(), "\nNCCL_IB_GID_INDEX=1\n")) << "there is no other: " << printed();
  for (Port& port : node.now.ports) port.gids[2].type = "RoCE v2";
  node.now.ports[1].gids = {{3, gid_text(ip("fd00::1")), "RoCE v2", "ens1"}};  // same index, other family
  EXPECT_FALSE(has(printed(), "\nNCCL_IB_GID_INDEX=")) << printed();
  EXPECT_TRUE(has(printed(), "(IPv4) on all ports (mlx5_0:1 1/3, mlx5_1:1 none")) << printed();
}

// A VXLAN netdev above the port has the same address, and its GIDs come first.
TEST(JobEnv, AGidOfATunnelIsNotUsed) {
  Healthy node;
  for (Port& port : node.now.ports) {
    Gid& tunnel = port.gids.emplace_back(port.gids[2]);
    tunnel.index = 2;
    tunnel.netdev = "vxlan100";
    tunnel.above = tunnel.overlay = true;
  }
  node.policy.expect.gid_index = 2;
  for (const auto& [format, line] : {std::pair("nccl", "\nNCCL_IB_GID_INDEX=3\n"),
                                     {"ucx", "\nUCX_IB_GID_INDEX=3\n"},
                                     {"nvshmem", "\nNVSHMEM_IB_GID_INDEX=3\n"}}) {
    const std::string file = printed(format, node.now, &node.policy);
    EXPECT_TRUE(has(file, line)) << file;
    EXPECT_TRUE(has(file, "without those of tunnels (vxlan100)")) << file;
  }
  for (Port& port : node.now.ports) port.gids.erase(port.gids.begin(), port.gids.end() - 1);
  EXPECT_TRUE(has(printed("nccl", node.now, &node.policy), "# Left out, no routable RoCE v2 GID: mlx5_0:1"))
      << "no other address";
}

TEST(NcclSocket, IsTheInterfaceOfTheDefaultRouteOfEitherFamily) {
  test::Tree tree;
  test::add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:21:00.0"});
  const std::string none(32, '0'), rest = " 00 " + none + " 00 fe800000000000000000000000000001 ";
  const std::string last = " 00000001 00000000 00450003 ";
  tree.file("proc/net/ipv6_route", none + rest + "00000400" + last + "    eno2\n" + none + rest + "00000064" + last +
                                       "    eno1\n" + none + rest + "00000001" + last + "      lo\n");
  const auto printed = [&] { return test::ran_on(tree, {"topo", "--format", "nccl"}).text; };
  EXPECT_TRUE(has(printed(), "\nNCCL_SOCKET_IFNAME==eno1\n")) << printed();
  tree.file("proc/net/route",
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
            "*\t00000000\t00000000\t0201\t0\t0\t1\t00000000\n"
            "eno3\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\n");
  EXPECT_TRUE(has(printed(), "\nNCCL_SOCKET_IFNAME==eno3\n")) << printed();
}

std::string printed_for(const Healthy& node, const char* format) { return printed(format, node.now, &node.policy); }

// NAME of each line NAME=VALUE; each must have a comment above it.
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> out;
  bool explained = false;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty() && line.front() != '#') {
      EXPECT_TRUE(explained) << line;
      out.emplace(line.substr(0, line.find('=')));
    }
    explained = line.starts_with("#");
  }
  return out;
}

TEST(JobEnv, SetsNothingWithoutEvidence) {
  Healthy node;
  node.policy = {};
  using Names = std::set<std::string>;
  EXPECT_EQ(names_in(printed_for(node, "nccl")), (Names{"NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_SOCKET_IFNAME"}));
  EXPECT_EQ(names_in(printed_for(node, "ucx")), (Names{"UCX_NET_DEVICES", "UCX_IB_GID_INDEX"}));
  EXPECT_EQ(names_in(printed_for(node, "nvshmem")), (Names{"NVSHMEM_HCA_LIST", "NVSHMEM_IB_GID_INDEX"}));
  EXPECT_TRUE(has(printed_for(node, "ucx"), "106 (DSCP 26)")) << "what UCX does by itself";
}

TEST(JobEnv, EveryLibraryHasTheSamePortsIndexAndClass) {
  Healthy node;
  for (PortPolicy& entry : node.policy.ports) entry.traffic = Mark{24, 3};
  const std::string ports = "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1\n";
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_IB_HCA==" + ports)) << printed_for(node, "nccl");
  EXPECT_TRUE(has(printed_for(node, "ucx"), "\nUCX_NET_DEVICES=" + ports)) << printed_for(node, "ucx");
  EXPECT_TRUE(has(printed_for(node, "nvshmem"), "\nNVSHMEM_HCA_LIST=" + ports)) << printed_for(node, "nvshmem");
  for (const auto& [format, prefix] :
       {std::pair("nccl", "NCCL_IB_TC="), {"ucx", "UCX_IB_TRAFFIC_CLASS="}, {"nvshmem", "NVSHMEM_IB_TRAFFIC_CLASS="}})
    EXPECT_EQ(names_in(printed_for(node, format)).size(), format == std::string_view("nccl") ? 4u : 3u) << prefix;
}

// NCCL connects queue pairs by verbs alone, and takes every port that is active, whatever its transport.
TEST(JobEnv, ATransportThatNcclCannotUseIsLeftOut) {
  Healthy node;
  node.now.ports[1].transport = RdmaTransport::iwarp;
  std::string text = printed_for(node, "nccl");
  EXPECT_TRUE(has(text, "# Left out, iWARP, whose queue pairs rdma_cm alone connects: mlx5_1.\n")) << text;
  EXPECT_TRUE(has(text, "\nNCCL_IB_HCA==mlx5_0:1,mlx5_2:1,mlx5_3:1\n")) << text;
  for (Port& port : node.now.ports) port.transport = RdmaTransport::usnic;
  text = printed_for(node, "nccl");
  EXPECT_TRUE(has(text, "NCCL_IB_HCA is not set: no port is left.")) << text;
  EXPECT_TRUE(has(text, "\nNCCL_IB_DISABLE=1\n")) << text;
  EXPECT_FALSE(has(text, "routable")) << text;
  EXPECT_TRUE(has(printed_for(node, "ucx"), "Left out, usNIC")) << printed_for(node, "ucx");
}

// Software RDMA is used if there is no NIC for it, and said to be software.
TEST(JobEnv, SoftwareDevicesComeAfterNics) {
  Healthy node;
  Port soft = node.now.ports[0];
  soft.rdma = "rxe0", soft.pci.clear(), soft.kernel_driver = "rxe";
  node.now.ports.push_back(soft);
  std::string text = printed_for(node, "nccl");
  EXPECT_TRUE(has(text, "# Left out, software, not a NIC: rxe0:1.\n")) << text;
  EXPECT_FALSE(has(text, ",rxe0:1")) << text;
  node.now.ports = {soft};
  node.now.topology.nics.clear();
  text = printed_for(node, "nccl");
  EXPECT_TRUE(has(text, "\nNCCL_IB_HCA==rxe0:1\n")) << text;
  EXPECT_TRUE(has(text, "# Software RDMA, not a NIC")) << text;
  node.now.ports[0].transport = RdmaTransport::iwarp, node.now.ports[0].kernel_driver = "siw";
  text = printed_for(node, "nccl");
  EXPECT_TRUE(has(text, "\nNCCL_IB_DISABLE=1\n")) << text;
  node.now.ports.clear();
  EXPECT_TRUE(has(printed_for(node, "nccl"), "NCCL_IB_HCA is not set: this machine has no RDMA device."));
}

TEST(JobEnv, PortsThatAreLeftOutAreOneLine) {
  Healthy node;
  for (size_t port = 1; port < 4; ++port) test::down(node, port, 2);
  EXPECT_TRUE(has(printed_for(node, "nccl"), "# Left out, down: mlx5_1:1, mlx5_2:1, mlx5_3:1.\n"))
      << printed_for(node, "nccl");
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_IB_HCA==mlx5_0:1\n")) << printed_for(node, "nccl");
  Healthy many(12);
  for (size_t port = 1; port < 12; ++port) test::down(many, port, 2);
  EXPECT_TRUE(has(printed_for(many, "nccl"), "# Left out, down: mlx5_1..11.\n")) << printed_for(many, "nccl");
  // A second port of each NIC, which is down, too.
  for (size_t nic = 0; nic < 12; ++nic) {
    Port second = many.now.ports[nic];
    second.number = 2;
    many.now.ports.push_back(second);
    test::down(many, many.now.ports.size() - 1, 2);
  }
  EXPECT_TRUE(has(printed_for(many, "nccl"), "# Left out, down: mlx5_1..11, mlx5_0..11:2.\n"))
      << printed_for(many, "nccl");
}

// A NIC of the same model in a slot of the CPU: for storage, or a GPU's own in the wrong slot.
TEST(JobEnv, ANicOfAnotherSlotTakesNoLostOnesPlace) {
  Healthy node(8);
  Nic& nic = node.now.topology.nics[1];
  nic.bridges = {"0000:f7:01.0"};
  nic.root = "pci0000:f7";
  EXPECT_EQ(doubtful_nics(node.now.topology, ctl::topo_view(node.now).pairing), std::vector<size_t>{1});
  for (const char* format : {"nccl", "ucx", "nvshmem"}) {
    EXPECT_TRUE(has(printed_for(node, format), "mlx5_0:1,mlx5_2:1")) << printed_for(node, format);
    EXPECT_TRUE(has(printed_for(node, format), "# Left out, in a slot of the CPU, while "))
        << printed_for(node, format);
  }
  node.now.inventory.emplace();
  EXPECT_TRUE(has(printed_for(node, "nccl"), "mlx5_0:1,mlx5_1:1,mlx5_2:1")) << "the operator has recorded the machine";
  node.now.inventory.reset();
  node = Healthy(8);
  EXPECT_TRUE(doubtful_nics(node.now.topology, ctl::topo_view(node.now).pairing).empty());
  for (Nic& each : node.now.topology.nics) each.bridges = {"0000:f7:01.0"}, each.root = "pci0000:f7";
  EXPECT_TRUE(doubtful_nics(node.now.topology, ctl::topo_view(node.now).pairing).empty()) << "built so";
}

// A container's eth0 is not the one of this namespace, which has another address.
TEST(JobEnv, AGidOfAnotherNamespaceDoesNotCount) {
  Healthy node;
  Port& port = node.now.ports[2];
  const auto addresses = node.now.network.interfaces.at(port.netdev).addresses;
  node.now.topology.nics[2].netdev_elsewhere = true;
  node.now.topology.nics[2].netdevs.clear();
  port.netdev.clear();
  port.role = PortRole::netdev_elsewhere;
  for (Gid& gid : port.gids) gid.netdev = "eth0";
  for (const char* format : {"nccl", "ucx", "nvshmem"}) {
    node.now.network.interfaces.erase("eth0");
    EXPECT_TRUE(has(printed_for(node, format), "# Left out, netdev in another network namespace: mlx5_2:1.\n"))
        << printed_for(node, format);
    node.now.network.interfaces["eth0"].addresses.emplace();
    EXPECT_TRUE(has(printed_for(node, format), "mlx5_0:1,mlx5_1:1,mlx5_3:1\n")) << printed_for(node, format);
    node.now.network.interfaces["eth0"].addresses = addresses;
    EXPECT_TRUE(has(printed_for(node, format), "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1\n")) << "a macvlan of this one";
  }
}

// EFA is reached by libfabric: verbs' variables would do nothing, and a missing plugin is not an error of NCCL.
TEST(JobEnv, EfaHasNoVariablesOfVerbs) {
  Healthy node;
  for (Nic& nic : node.now.topology.nics) nic.vendor = kAmazon;
  for (Port& port : node.now.ports) {
    port.link_layer = LinkLayer::unknown;
    port.gids.clear();
  }
  using Names = std::set<std::string>;
  EXPECT_EQ(names_in(printed_for(node, "nccl")), (Names{"NCCL_NET_PLUGIN", "NCCL_SOCKET_IFNAME"}));
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_NET_PLUGIN=ofi\n")) << printed_for(node, "nccl");
  EXPECT_EQ(names_in(printed_for(node, "nvshmem")), (Names{"NVSHMEM_LIBFABRIC_PROVIDER", "NVSHMEM_REMOTE_TRANSPORT"}));
  EXPECT_TRUE(has(printed_for(node, "nvshmem"), "\nNVSHMEM_LIBFABRIC_PROVIDER=efa\n")) << printed_for(node, "nvshmem");
}

// Only the policy knows how switches choose paths.
TEST(JobEnv, AdaptiveRoutingIsThePolicys) {
  Healthy node;
  EXPECT_FALSE(has(printed_for(node, "nccl"), "\nNCCL_IB_ADAPTIVE_ROUTING="));
  for (PortPolicy& entry : node.policy.ports) entry.fabric.adaptive_routing = true;
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_IB_ADAPTIVE_ROUTING=1\n")) << printed_for(node, "nccl");
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_IB_SPLIT_DATA_ON_QPS=0\n")) << printed_for(node, "nccl");
  EXPECT_TRUE(has(printed_for(node, "ucx"), "\nUCX_IB_AR_ENABLE=try\n")) << printed_for(node, "ucx");
}

// NCCL_IB_HCA is compared with the names of RDMA devices; NAME_dma would match none of them.
TEST(JobEnv, DataDirectIsNamedButNotInTheList) {
  Healthy node;
  for (Nic& nic : node.now.topology.nics) nic.direct = PciDevice{.pci = "0001:03:00.0"};
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1\n"));
  EXPECT_TRUE(has(printed_for(node, "nccl"), "NAME_dma")) << printed_for(node, "nccl");
  EXPECT_TRUE(has(printed_for(node, "ucx"), "UCX_IB_DIRECT_NIC")) << printed_for(node, "ucx");
}

TEST(JobEnv, ABondNeedsAQueuePairForEachMember) {
  Healthy node;
  node.now.ports[0].role = PortRole::bond;
  node.now.ports[0].bond = node.now.ports[0].netdev;
  const std::string text = printed_for(node, "nccl");
  EXPECT_TRUE(has(text, "\nNCCL_IB_QPS_PER_CONNECTION=2\n")) << text;
  EXPECT_TRUE(has(text, "\nNCCL_IB_SPLIT_DATA_ON_QPS=0\n")) << text;
  // A bond over two NICs has no LAG: each device sends by its own port.
  node.now.ports[1].role = PortRole::bond;
  node.now.ports[1].bond = node.now.ports[0].bond;
  EXPECT_FALSE(has(printed_for(node, "nccl"), "NCCL_IB_QPS_PER_CONNECTION=")) << printed_for(node, "nccl");
}

// NCCL compares domain and bus of functions: a guest may have cards of their own on one bus.
TEST(JobEnv, CardsOnOneBusOfAGuestAreKeptApart) {
  Healthy node;
  EXPECT_FALSE(has(printed_for(node, "nccl"), "NCCL_IB_MERGE_VFS")) << printed_for(node, "nccl");
  auto& nics = node.now.topology.nics;
  for (size_t i = 0; i < nics.size(); ++i) {
    nics[i].pci = "0000:00:1" + std::to_string(i) + ".0";
    node.now.ports[i].pci = nics[i].pci;
  }
  EXPECT_FALSE(has(printed_for(node, "nccl"), "NCCL_IB_MERGE_VFS")) << "functions of one card, whose GUID is not known";
  node.now.topology.hypervisor = "Cloud Hypervisor";
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_IB_MERGE_VFS=0\n")) << printed_for(node, "nccl");
  for (Nic& nic : nics) nic.card = "5aa2:e103:0000:0001";  // virtual functions of one card
  EXPECT_FALSE(has(printed_for(node, "nccl"), "NCCL_IB_MERGE_VFS")) << printed_for(node, "nccl");
}

TEST(JobEnv, DevicesThatAContainerWasNotGiven) {
  Healthy node;
  for (Port& port : node.now.ports) port.link_layer = LinkLayer::infiniband;
  node.now.verbs_files = {{"mlx5_0", {"uverbs0", 0666}}, {"mlx5_2", {"uverbs2", 0666}}};
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1\n")) << "a host";
  node.now.has_container_processes = true;
  const std::string text = printed_for(node, "nccl");
  EXPECT_TRUE(has(text, "\nNCCL_IB_HCA==mlx5_0:1,mlx5_2:1\n")) << text;
  EXPECT_TRUE(has(text, "not given to this container: mlx5_1:1, mlx5_3:1.")) << text;
  const std::string printed = printed_for(node, "text"), pairing = printed.substr(0, printed.find("Legend:"));
  EXPECT_TRUE(has(pairing, "GPU1: mlx5_") && !has(pairing, "GPU1: mlx5_1 (")) << printed;
  node.now.verbs_files.clear();
  EXPECT_TRUE(has(printed_for(node, "nccl"), "mlx5_1:1")) << "no file could be seen";
}

TEST(TopoOutput, GpusThatAContainerWasNotGivenHaveNoNic) {
  Healthy node;
  const auto pairs = [&] {
    const std::string text = printed_for(node, "text");
    return text.substr(0, text.find("Legend:"));
  };
  for (Gpu& gpu : node.now.topology.gpus) {
    gpu.vendor_index.clear();
    gpu.minor.reset();
    node.now.platform.functions[gpu.pci].kernel_driver = "nvidia";
  }
  node.now.topology.gpus[0].vendor_index = {0};
  EXPECT_TRUE(has(pairs(), "GPU1: mlx5_1 (")) << pairs();
  node.now.has_container_processes = true;
  EXPECT_TRUE(has(pairs(), "GPU0: mlx5_0 (") && !has(pairs(), "GPU1: mlx5_")) << pairs();
  EXPECT_FALSE(has(pairs(), "shared by")) << pairs();
  EXPECT_TRUE(has(printed_for(node, "text"), "were not given to this container")) << printed_for(node, "text");
  node.now.topology.gpus[1].minor = 1;
  EXPECT_TRUE(has(pairs(), "GPU1: mlx5_1 (")) << "excluded by a parameter of the driver";
  node.now.topology.gpus[0].vendor_index.clear();
  EXPECT_TRUE(has(pairs(), "GPU2: mlx5_2 (")) << "the runtime lists none: nothing is known";
}

// Two GPUs and a card with a port for each below one switch; and one GPU with two NICs.
TEST(JobEnv, MergeLevelFollowsFromTheCardsAndPlanes) {
  Healthy node;
  auto& nics = node.now.topology.nics;
  const std::string card = nics[0].pci.substr(0, nics[0].pci.size() - 1);
  nics[1].pci = card + "1";
  node.now.ports[1].pci = nics[1].pci;
  EXPECT_TRUE(has(printed_for(node, "nccl"), "\nNCCL_NET_MERGE_LEVEL=LOC\n")) << printed_for(node, "nccl");
  const std::vector<Gid> gids = std::exchange(node.now.ports[1].gids, {});
  EXPECT_FALSE(has(printed_for(node, "nccl"), "NCCL_NET_MERGE_LEVEL")) << "the list has one of the two";
  node.now.ports[1].gids = gids;
  node.now.verbs_files = {{"mlx5_0", {"uverbs0", 0666}}, {"mlx5_1", {"uverbs1", 0666}}};
  node.now.has_container_processes = true;
  EXPECT_TRUE(has(printed_for(node, "nccl"), "# NCCL_NET_MERGE_LEVEL is not set"))
      << "which GPUs the container has is unknown: " << printed_for(node, "nccl");

  Healthy cards;  // named in natural order, whatever the order of the addresses
  for (size_t i = 0; i < 4; ++i) {
    cards.now.topology.nics[i].pci = (i < 2 ? "0000:f0:00." : "0000:e0:00.") + std::to_string(i % 2);
    cards.now.ports[i].pci = cards.now.topology.nics[i].pci;
  }
  const std::string of_cards = printed_for(cards, "nccl");
  EXPECT_LT(of_cards.find("mlx5_0 and mlx5_1"), of_cards.find("mlx5_2 and mlx5_3")) << of_cards;

  Healthy planes;
  auto& gpus = planes.now.topology.gpus;
  gpus.erase(gpus.begin() + 1, gpus.end());
  auto& two = planes.now.topology.nics;
  two.resize(2);
  two[1].bridges = two[0].bridges;
  two[1].root = two[0].root;
  two[1].numa = two[0].numa;
  planes.now.ports.resize(2);
  EXPECT_FALSE(has(printed_for(planes, "nccl"), "\nNCCL_NET_MERGE_LEVEL=")) << "two cards, which nothing calls planes";
  EXPECT_TRUE(has(printed_for(planes, "nccl"), "# NCCL_NET_MERGE_LEVEL is not set")) << printed_for(planes, "nccl");
  planes.policy.cabling.planes = {{"mlx5_0", "A"}, {"mlx5_1", "B"}};
  EXPECT_TRUE(has(printed_for(planes, "nccl"), "\nNCCL_NET_MERGE_LEVEL=PIX\n")) << printed_for(planes, "nccl");
}

// The IBGDA transport skips devices without "mlx5" in their names.
TEST(JobEnv, NvshmemNeedsThePrefixOfRenamedDevices) {
  Healthy node;
  EXPECT_FALSE(has(printed_for(node, "nvshmem"), "NVSHMEM_HCA_PREFIX="));
  for (size_t i = 0; i < node.now.ports.size(); ++i) {
    node.now.ports[i].rdma = "rocep" + std::to_string(i) + "s0";
    node.now.topology.nics[i].rdma = {node.now.ports[i].rdma};
  }
  EXPECT_TRUE(has(printed_for(node, "nvshmem"), "\nNVSHMEM_HCA_PREFIX=rocep\n")) << printed_for(node, "nvshmem");
}

// -- Slurm and Open MPI, read back by the rules of their manuals: gres.conf(5), mpirun(1)

// The lines that a program reads.
std::vector<std::vector<std::string>> words_of(const std::string& text) {
  std::vector<std::vector<std::string>> out;
  for (const std::string_view line : split(text, '\n'))
    if (const auto parts = words(line.substr(0, line.find('#'))); !parts.empty())
      out.emplace_back(parts.begin(), parts.end());
  return out;
}

std::string value_of(const std::vector<std::string>& parts, std::string_view key) {
  for (const std::string& part : parts)
    if (part.starts_with(key)) return part.substr(key.size());
  return {};
}

// Cores of two threads each, as many on each NUMA node.
Healthy machine_with(unsigned cores) {
  Healthy node;
  for (unsigned i = 0; i < cores; ++i)
    node.now.topology.cores.push_back({{i, i + cores}, static_cast<int>(i / (cores / 2))});
  unsigned minor = 7;
  for (Gpu& gpu : node.now.topology.gpus) gpu.minor = minor--;  // the driver counts as it likes
  return node;
}

TEST(Gres, CoresAreLogicalAndLinksGoByThePciAddress) {
  const Healthy node = machine_with(64);
  const auto& gpus = node.now.topology.gpus;
  const auto lines = words_of(printed_for(node, "slurm"));
  ASSERT_EQ(lines.size(), gpus.size());
  std::vector<std::vector<std::string>> links;
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i][0], "Name=gpu");
    EXPECT_EQ(value_of(lines[i], "File="), "/dev/nvidia" + std::to_string(*gpus[i].minor));
    EXPECT_EQ(value_of(lines[i], "Cores="), gpus[i].numa == 0 ? "0-31" : "32-63");
    auto& row = links.emplace_back();
    const std::string list = value_of(lines[i], "Links=");
    for (const std::string_view each : split(list, ',')) row.emplace_back(each);
    ASSERT_EQ(row.size(), gpus.size());
    EXPECT_EQ(row[i], "-1") << "itself";
    EXPECT_TRUE(i == 0 || gpus[i - 1].pci < gpus[i].pci);
  }
  for (size_t i = 0; i < links.size(); ++i)
    for (size_t j = 0; j < links.size(); ++j) {
      EXPECT_EQ(links[i][j], links[j][i]);
      EXPECT_EQ(links[i][j] == "-1", i == j);
    }
}

// slurmd compares the file with its detection, and drains the node if they differ.
TEST(Gres, WhoDetectsWritesNothing) {
  EXPECT_TRUE(has(printed_for(machine_with(64), "slurm"), "# With AutoDetect=nvml or rsmi leave Cores and Links out"));
}

TEST(Rankfile, EachRankHasCoresOfItsOwn) {
  const Healthy node = machine_with(64);
  const std::string text = printed_for(node, "rankfile");
  const auto lines = words_of(text);
  ASSERT_EQ(lines.size(), node.now.topology.gpus.size());
  std::set<unsigned> taken;
  for (size_t rank = 0; rank < lines.size(); ++rank) {
    ASSERT_EQ(lines[rank].size(), 3u);
    EXPECT_EQ(lines[rank][0], "rank");
    EXPECT_EQ(lines[rank][1], std::to_string(rank) + "=+n0");
    const auto cores = machine::parse_cpus(value_of(lines[rank], "slot="));
    ASSERT_TRUE(cores && !cores->empty());
    for (const unsigned core : *cores) {
      EXPECT_TRUE(taken.insert(core).second) << "core " << core << " twice";
      EXPECT_EQ(node.now.topology.cores.at(core).numa, node.now.topology.gpus[rank].numa);
    }
  }
  EXPECT_FALSE(has(text, "overload"));
}

// mpirun refuses ranks that share cores, unless an option allows it.
TEST(Rankfile, SharedCoresAreTold) {
  EXPECT_TRUE(
      has(printed_for(machine_with(2), "rankfile"), "# Some ranks share cores: add --bind-to core:overload-allowed"));
  Healthy node = machine_with(64);
  node.now.topology.gpus[1].numa.reset();
  EXPECT_TRUE(has(printed_for(node, "rankfile"), "overload-allowed"));
}

// -- Whole machines

void expect_both(const std::string& name, const Node& node) {
  ctl::TopoView view = ctl::topo_view(node);
  view.width = 120;
  test::expect_golden("topo/" + name + ".txt", ctl::folded(ctl::find_topo_format("text")->print(view), 120));
  test::expect_golden("topo/" + name + ".svg", ctl::find_topo_format("svg")->print(view));
}

TEST(TopoGolden, OwnMachines) {
  expect_both("snc_server", test::snc_server());
  expect_both("broken_server", test::broken_server());
  expect_both("mi300x_server", test::mi300x_server());
  expect_both("grace_server", test::grace_server());
  expect_both("cloud_guest", test::cloud_guest());
}

class TopoGoldenCorpus : public test::OfCorpus, public ::testing::WithParamInterface<const char*> {};

TEST_P(TopoGoldenCorpus, TextAndPicture) {
  const auto topology = load_topology_xml(corpus + "/hwloc-xml/" + GetParam() + ".xml");
  if (!topology && topology.error().code == ENOENT) GTEST_SKIP() << "not in this corpus";
  ASSERT_TRUE(topology) << topology.error().text();
  Node node;
  node.topology = *topology;
  expect_both(GetParam(), node);
}

INSTANTIATE_TEST_SUITE_P(Corpus, TopoGoldenCorpus,
                         ::testing::Values("psmgmt__jwb0001", "psmgmt__jwb0004", "psmgmt__dp-dam01", "psmgmt__j3c053",
                                           "mpibind__coral-lassen", "fluxcore__sierra", "mpibind__cts1-pascal",
                                           "fluxcore__tuo.SPX", "mpibind__epyc-corona", "mpibind__g4dnmetal",
                                           "nixl__p4d.24xl", "nixl__p5.48xl", "nixl__g5.48xl", "hwloc__nvidiaDGX2",
                                           "hwloc__24em64t-2n6c2t-pci", "psmgmt__mel3001"),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace fabric
