// SPDX-License-Identifier: Apache-2.0
// The group "platform" and PCIe links: a defect in a healthy node gives its finding and no other; harmless platforms
// are silent.
#include "node/topology.h"
#include "support/planted_defect.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

constexpr const char *kGpu = "0000:23:00.0", *kNic = "0000:24:00.0", *kBelowGpu = "0000:22:03.0",
                     *kBelowNic = "0000:22:04.0", *kUpstream = "0000:21:00.0",
                     *kRootPort = "0000:20:01.0";  // GPU1 and mlx5_1

PlatformFunction& at(Healthy& node, const std::string& pci) { return node.now.platform.functions.at(pci); }
PciSettings& settings(Healthy& node, const std::string& pci) { return node.now.pci_settings->functions.at(pci); }
void link(Healthy& node, const PcieLink& value) { at(node, kUpstream).link = at(node, kRootPort).link = value; }
void groups(Healthy& node, const std::string& type) {
  for (auto& [number, each] : node.now.platform.iommu_groups) each = type;
}

// The NIC is behind the CPU, and reaches its GPU by a Data Direct function (ConnectX-8 of GB300).
void reach_directly(Healthy& node) {
  Nic& nic = node.now.topology.nics[1];
  nic.direct = nic;
  nic.direct->device = 0x2100;
  nic.root = "pci0002:00";
  nic.bridges = {"0002:02:00.0", "0002:01:00.0", "0002:00:00.0"};
  settings(node, kBelowNic).acs = uint16_t{0x19};
  settings(node, kBelowGpu).acs = uint16_t{0x15};
}

const PlantedDefects& platform_defects() {
  constexpr auto C = Status::critical, W = Status::warning, U = Status::unknown;
  static const PlantedDefects all{
      {"acs_redirects_requests", [](Healthy& n) { settings(n, kBelowNic).acs = uint16_t{0x05}; },
       saying("acs", kBelowNic, W, "SrcValid+ ReqRedir+|GPU1 and mlx5_1")},
      {"acs_redirects_completions", [](Healthy& n) { settings(n, kBelowGpu).acs = uint16_t{0x08}; },
       saying("acs", kBelowGpu, W, "CmpltRedir+|GPU1 and mlx5_1")},
      {"acs_redirects_requests_of_data_direct",
       [](Healthy& n) {
         reach_directly(n);
         settings(n, kBelowNic).acs = uint16_t{0x1d};
       },
       {{.id = "acs",
         .subject = kBelowNic,
         .status = W,
         .observed = "ReqRedir+",
         .remedy = "rdma_topo write-grub-acs"}}},
      {"acs_redirects_completions_to_data_direct",
       [](Healthy& n) {
         reach_directly(n);
         settings(n, kBelowGpu).acs = uint16_t{0x1d};
       },
       {{.id = "acs",
         .subject = kBelowGpu,
         .status = W,
         .observed = "CmpltRedir+",
         .remedy = "rdma_topo write-grub-acs"}}},
      {"acs_of_a_bridge_unread",
       [](Healthy& n) {
         settings(n, kBelowNic).acs.reset();
         settings(n, kBelowNic).unread = "ACS: its extended capability list is damaged";
       },
       saying("acs", "host", U, kBelowNic + std::string("|list is damaged"))},
      {"acs_of_a_new_bridge", [](Healthy& n) { n.now.pci_settings->functions.erase(kBelowNic); },
       saying("acs", "host", U, kBelowNic)},
      {"iommu_translates_for_one_nic", [](Healthy& n) { n.now.platform.iommu_groups[at(n, kNic).iommu_group] = "DMA"; },
       saying("iommu", "host", W, "strict (DMA): mlx5_1|identity")},
      {"damage_received_by_the_port_above",
       [](Healthy& n) {
         *at(n, kBelowNic).correctable.total += 30;
         at(n, kBelowNic).correctable.kinds["RxErr"] += 30;
       },
       saying("aer", kBelowNic, W, "RxErr +30|packets from mlx5_1 (0000:24:00.0) arrive damaged")},
      {"replays",
       [](Healthy& n) {
         *at(n, kUpstream).correctable.total += 4;
         at(n, kUpstream).correctable.kinds["Timeout"] = 4;
       },
       saying("aer", kUpstream, W, "Timeout +4|packets to 0000:20:01.0 are repeated|GPU1, mlx5_1")},
      {"refused_requests",
       [](Healthy& n) {
         at(n, kBelowGpu).nonfatal = {2, {{"ACSViol", 2}}};
       },
       {{.id = "aer",
         .subject = kBelowGpu,
         .status = C,
         .meaning = "the link is sound",
         .remedy = "TLP header|" + std::string(kBelowGpu)}}},
      {"odd_payload", [](Healthy& n) { settings(n, kNic).max_payload = 128; },
       saying("pci-tuning", "mlx5_1", W, "MPS 128|0000:22:04.0 above it: MPS 512|(MPS)")},
      {"odd_tags", [](Healthy& n) { settings(n, kNic).ten_bit_tags = false; },
       saying("pci-tuning", "mlx5_1", W, "10-bit tags off")},
      {"gpu_asleep",
       [](Healthy& n) {
         at(n, kGpu).power_state = "D3cold";
         at(n, kGpu).power_control = "auto";
       },
       saying("pci-power", "GPU1", W, "D3cold, power/control auto")},
      {"switch_lost_speed",
       [](Healthy& n) {
         link(n, {16, 32, 16, 16});
         for (Port& port : n.now.ports) port.rate = 12.5e9;
       },
       saying("pcie", kUpstream, W, "x16 at 16 GT/s|GPU1, mlx5_1")},
      {"slot_of_fewer_lanes_than_the_port_needs",
       [](Healthy& n) {
         n.now.topology.nics[1].link = {32, 32, 8, 16};
         at(n, kNic).link = {32, 32, 8, 16};
         at(n, kBelowNic).link = {32, 32, 8, 8};
       },
       saying("pcie", "mlx5_1", C, "x8 at 32 GT/s")},
  };
  return all;
}

TEST(PlatformDefect, GivesItsFindingAlone) {
  expect_each(platform_defects(), [](Healthy& n) { n.before.taken = n.now.taken - std::chrono::seconds(2); });
}

void in_a_guest(Healthy& node) { node.now.topology.hypervisor = "QEMU"; }

const PlantedDefects& harmless_platforms() {
  static const PlantedDefects all{
      {"nothing", [](Healthy&) {}},
      {"platform_unread",
       [](Healthy& n) {
         n.now.platform = {};
         n.now.pci_settings.reset();
       }},
      {"acs_on_a_port_that_no_pair_crosses",
       [](Healthy& n) {
         settings(n, kRootPort).acs = uint16_t{0x1d};
         settings(n, kUpstream).acs = uint16_t{0x1d};
       }},
      {"acs_on_a_bridge_of_the_nics_own_board",
       [](Healthy& n) {
         Nic& nic = n.now.topology.nics[1];
         for (const char* own : {"0000:25:00.0", "0000:26:00.0"}) {
           nic.bridges.insert(nic.bridges.begin(), own);
           n.now.pci_settings->functions[own].acs = uint16_t{0x1d};
         }
       }},
      {"acs_as_data_direct_needs_it", reach_directly},
      {"acs_without_redirect", [](Healthy& n) { settings(n, kBelowNic).acs = uint16_t{0x11}; }},
      {"acs_with_direct_translated", [](Healthy& n) { settings(n, kBelowNic).acs = uint16_t{0x5d}; }},
      {"a_bridge_without_acs", [](Healthy& n) { settings(n, kBelowNic).acs.reset(); }},
      {"acs_in_a_guest",
       [](Healthy& n) {
         in_a_guest(n);
         settings(n, kBelowNic).acs = uint16_t{0x1d};
       }},
      {"acs_unknown_in_a_guest",
       [](Healthy& n) {
         in_a_guest(n);
         n.now.pci_settings.reset();
       }},
      {"acs_unknown_where_no_pair_shares_a_switch",
       [](Healthy& n) {
         n.now.pci_settings.reset();
         for (Gpu& gpu : n.now.topology.gpus) gpu.bridges = {"0000:" + gpu.pci.substr(5, 1) + "0:05.0"};
       }},
      {"iommu_of_a_guest",
       [](Healthy& n) {
         in_a_guest(n);
         groups(n, "DMA");
       }},
      {"iommu_off",
       [](Healthy& n) {
         n.now.platform.iommu_groups.clear();
         n.now.platform.iommu = false;
       }},
      {"iommu_of_another_kind", [](Healthy& n) { groups(n, "blocked"); }},
      {"devices_of_guests",
       [](Healthy& n) {
         at(n, kGpu).kernel_driver = "vfio-pci";
         at(n, kGpu).power_state = "D3hot";
         settings(n, kBelowGpu).acs = uint16_t{0x1d};
         n.now.platform.iommu_groups[at(n, kGpu).iommu_group] = "DMA";
       }},
      {"errors_of_the_past",
       [](Healthy& n) {
         for (Node* node : {&n.before, &n.now}) node->platform.functions.at(kNic).fatal = {3, {{"DLP", 3}}};
       }},
      {"errors_read_once",
       [](Healthy& n) {
         n.before.platform = {};
         at(n, kNic).nonfatal.total = 3;
       }},
      {"counters_that_were_reset",
       [](Healthy& n) {
         at(n, kNic).correctable = {1, {{"BadTLP", 1}}};
       }},
      {"correctable_errors_of_other_kinds_than_the_link",
       [](Healthy& n) {
         *at(n, kNic).correctable.total += 900;
         at(n, kNic).correctable.kinds["NonFatalErr"] = 600;
         at(n, kNic).correctable.kinds["CorrIntErr"] = 300;
       }},
      {"no_error_reporting",
       [](Healthy& n) {
         for (auto& [pci, function] : n.now.platform.functions)
           function.correctable = function.nonfatal = function.fatal = {};
       }},
      {"bars_of_one_size_on_all_gpus",
       [](Healthy& n) {
         for (const Gpu& gpu : n.now.topology.gpus) at(n, gpu.pci).bars[1] = {1, 256u << 20, true, {}};
       }},
      {"peer_module",
       [](Healthy& n) {
         n.now.platform.gpudirect.nvidia_open = false;
         n.now.platform.gpudirect.peer_modules = {"nvidia_peermem"};
       }},
      {"peer_memory_client",
       [](Healthy& n) {
         n.now.platform.gpudirect.nvidia_open = false;
         n.now.platform.gpudirect.memory_peers = {"nv_mem_nc"};
       }},
      {"no_gpu_driver", [](Healthy& n) { n.now.platform.gpudirect = {}; }},
      {"ordering_off_everywhere",
       [](Healthy& n) {
         for (auto& [pci, function] : n.now.pci_settings->functions) function.relaxed_ordering = false;
       }},
      {"an_unused_nic_asleep",
       [](Healthy& n) {
         at(n, kNic).power_state = "D3hot";
         n.policy.ports.clear();
         n.plan.clear();
         for (Node* node : {&n.before, &n.now}) {
           node->ports.erase(node->ports.begin() + 1);
           node->topology.nics[1].rdma.clear();
         }
         n.now.topology.nics[1].netdevs.clear();
         n.now.topology.gpus.clear();
       }},
      {"an_idle_gpu_that_its_driver_suspends",
       [](Healthy& n) {
         n.now.topology.gpus[1].vendor = kAmd;
         at(n, kGpu).kernel_driver = "amdgpu";
         at(n, kGpu).power_state = "D3hot";
         at(n, kGpu).power_control = "auto";
       }},
      {"gpu_without_driver_asleep",
       [](Healthy& n) {
         at(n, kGpu).power_state = "D3hot";
         at(n, kGpu).kernel_driver.clear();
       }},
      {"an_idle_switch_of_gpus",  // at a lower speed, with all lanes
       [](Healthy& n) {
         link(n, {2.5, 32, 16, 16});
         n.now.topology.nics[1].bridges = {"0000:20:02.0"};
         n.now.topology.gpus[1].bridges = {kBelowGpu, kUpstream, kRootPort, "0000:20:03.0"};
         for (Gpu& gpu : n.now.topology.gpus) gpu.root = "pci0000:20", gpu.numa = 0;
         for (Nic& nic : n.now.topology.nics) nic.root = "pci0000:20", nic.numa = 0;
         for (size_t i = 0; i < 4; ++i) n.now.topology.nics[i].bridges = {"0000:20:1" + std::to_string(i) + ".0"};
       }},
      {"all_switches_below_their_maximum",
       [](Healthy& n) {
         for (const char* digit : {"1", "2", "3", "4"})
           for (const char* bridge : {"1:00.0", "0:01.0"})
             at(n, std::string("0000:") + digit + bridge).link = {16, 32, 16, 16};
       }},
      {"an_idle_gpu_alone_in_a_small_slot",
       [](Healthy& n) {
         n.now.topology.gpus[1].device = 0x2331;
         n.now.topology.gpus[1].link = at(n, kGpu).link = {2.5, 32, 8, 16};
         at(n, kBelowGpu).link = {2.5, 32, 8, 8};
       }},
      {"a_slower_root_port",
       [](Healthy& n) {
         at(n, kUpstream).link = {16, 32, 16, 16};
         at(n, kRootPort).link = {16, 16, 16, 16};
       }},
      {"two_ends_that_disagree_about_their_link",
       [](Healthy& n) {
         at(n, kRootPort).link = {16, 32, 8, 16};
       }},
  };
  return all;
}

TEST(PlatformDefect, HarmlessPlatformsAreSilent) {
  for (const PlantedDefect& planted : harmless_platforms()) {
    Healthy node;
    node.before.taken = node.now.taken - std::chrono::seconds(2);
    planted.plant(node);
    EXPECT_EQ(said(node.view(), {"platform", "pcie"}), "") << planted.name;
  }
}

TEST(Acs, OneKernelOptionNamesAllPorts) {
  Healthy node;
  settings(node, kBelowNic).acs = settings(node, kBelowGpu).acs = uint16_t{0x1d};
  const auto found = complaints_of(node.view(), {"acs"});
  ASSERT_EQ(found.size(), 2u) << describe(found);
  for (const Finding& each : found)
    EXPECT_TRUE(has(each.remedy, "pci=disable_acs_redir=0000:22:03.0;0000:22:04.0 to the kernel")) << each.remedy;
}

TEST(PciTuning, ReadRequestsOfOneSizeMayBeTooSmallForAll) {
  Healthy node;
  for (auto& [pci, function] : node.now.pci_settings->functions) function.mrrs = 256;
  EXPECT_EQ(complaints_of(node.view(), {"pci-tuning"}).size(), 4u);
  node.policy.ports[0].want.mrrs = 256;
  EXPECT_EQ(said(node.view(), {"pci-tuning"}), "") << "the policy wants this size";
}

TEST(GpuBar, ResizableBarThatIsSmallOnEveryGpu) {
  Healthy node;
  for (const Gpu& gpu : node.now.topology.gpus) {
    Bar& bar = node.now.platform.functions.at(gpu.pci).bars[1];
    bar.size = 256u << 20;
    bar.resizable = 0xff00;  // 256 MiB to 32 GiB
  }
  const auto found = complaints_of(node.view(), {"gpu-bar"});
  ASSERT_EQ(found.size(), 4u) << describe(found);
  EXPECT_EQ(found[0].expected, "32 GiB, which the GPU offers (Resizable BAR)");
}

TEST(Gpudirect, AmdNeedsPeerMemoryOrDmaBuf) {
  Healthy node;
  for (Gpu& gpu : node.now.topology.gpus) gpu.vendor = 0x1002;
  GpuDirect& has = node.now.platform.gpudirect;
  has = {};
  has.amdgpu = true;
  std::vector<std::string> only{"gpudirect"};
  EXPECT_TRUE(run_rules(node.view(), only).findings.empty()) << "the kernel's configuration is not readable";
  has.pci_p2pdma = true;
  has.dmabuf_move_notify = false;
  const auto found = complaints_of(node.view(), {"gpudirect"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].observed, "kernel without CONFIG_DMABUF_MOVE_NOTIFY, no peer memory client");
  has.memory_peers = {"amdkfd"};
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "");
  has.memory_peers.clear();
  has.dmabuf_move_notify = true;
  EXPECT_EQ(said(node.view(), {"gpudirect"}), "");
}

TEST(Aer, PastErrorsAreShown) {
  Healthy node;
  node.now.platform.functions.at(kNic).fatal.total = 3;
  std::vector<std::string> only{"aer"};
  View view = node.view();
  view.before = nullptr;
  const Report report = run_rules(view, only);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].subject, kNic);
  EXPECT_EQ(report.findings[0].observed, "3 fatal and 0 non-fatal since mlx5_1 (0000:24:00.0) came up");
}

// 1,000 NICs, half of them with all platform data: the rules end within the time that the suite allows.
TEST(PlatformDefect, AnAbsurdMachineIsCheckedInTime) {
  Healthy node;
  const Nic model = node.now.topology.nics[0];
  for (int i = 0; i < 1'000; ++i) {
    Nic nic = model;
    nic.pci = "a" + std::to_string(i);
    nic.name = nic.rdma[0] = "mlx5_" + std::to_string(i + 4);
    nic.bridges.insert(nic.bridges.begin(), {"b" + std::to_string(i), "c" + std::to_string(i)});
    for (const std::string& pci : {nic.pci, nic.bridges[0], nic.bridges[1]}) {
      if (i < 500) node.now.platform.functions[pci] = node.now.platform.functions.at(model.pci);
      node.now.pci_settings->functions[pci] = node.now.pci_settings->functions.at(model.pci);
    }
    node.now.topology.nics.push_back(std::move(nic));
  }
  for (auto& [pci, function] : node.now.platform.functions) function.fatal.total = 1;
  std::vector<std::string> only{"platform", "pcie"};
  EXPECT_FALSE(run_rules(node.view(), only).findings.empty());
}

TEST(PciePath, LinksAndSwitchesAlternate) {
  PciDevice device;
  device.pci = "d";
  EXPECT_TRUE(hops_above(device).empty());
  device.bridges = {"p"};
  EXPECT_EQ(hops_above(device), (std::vector<PcieHop>{{"d", "p"}}));
  device.bridges = {"down", "up", "port"};
  EXPECT_EQ(hops_above(device), (std::vector<PcieHop>{{"d", "down"}, {"up", "port"}}));
  device.bridges = {"down", "up"};
  EXPECT_EQ(hops_above(device), (std::vector<PcieHop>{{"d", "down"}}));
}

TEST(PciePath, TwoDevicesTurnAtThePortsOfTheirSharedSwitch) {
  PciDevice gpu, nic;
  gpu.bridges = {"a", "up", "port"};
  nic.bridges = {"c", "b", "up", "port"};
  EXPECT_EQ(turning_ports(gpu, nic), (std::vector<std::string>{"a", "b"}));
  nic.bridges = {"up", "port"};
  EXPECT_EQ(turning_ports(gpu, nic), (std::vector<std::string>{"a"}));
  nic.bridges = {"x"};
  EXPECT_TRUE(turning_ports(gpu, nic).empty());
}

}  // namespace
}  // namespace fabric
