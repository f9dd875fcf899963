// SPDX-License-Identifier: Apache-2.0
// The platform's facts, from trees as kernels show them, and from trees that no kernel shows.
#include "node/platform.h"

#include "node/pci_state.h"
#include "node/scan.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::add_pci;
using test::has;
using test::Tree;

// As drivers/pci/pcie/aer.c prints them.
constexpr const char* kCorrectable =
    "RxErr 0\nBadTLP 3\nBadDLLP 0\nRollover 0\nTimeout 1\nNonFatalErr 0\nCorrIntErr 0\nHeaderOF 0\nTOTAL_ERR_COR 4\n";
constexpr const char* kFatal =
    "Undefined 0\nDLP 1\nSDES 0\nTLP 0\nFCP 0\nCmpltTO 0\nCmpltAbrt 0\nUnxCmplt 0\nRxOF 0\nMalfTLP 0\nECRC 0\nUnsupReq "
    "0\n"
    "ACSViol 0\nUncorrIntErr 0\nBlockedTLP 0\nAtomicOpBlocked 0\nTLPBlockedErr 0\nPoisonTLPBlocked 0\nTOTAL_ERR_FATAL "
    "1\n";

TEST(Aer, KindsThatHappenedAndTheTotal) {
  EXPECT_EQ(platform::parse_aer(kCorrectable), (AerCounts{4, {{"BadTLP", 3}, {"Timeout", 1}}}));
  EXPECT_EQ(platform::parse_aer(kFatal), (AerCounts{1, {{"DLP", 1}}}));
  EXPECT_EQ(platform::parse_aer("TOTAL_ERR_COR 0\n"), (AerCounts{0, {}}));
  EXPECT_EQ(platform::parse_aer("RxErr 2\nBad"), (AerCounts{{}, {{"RxErr", 2}}})) << "cut short: no total";
}

TEST(Aer, NonsenseIsPassedOver) {
  EXPECT_EQ(platform::parse_aer(""), AerCounts{});
  EXPECT_EQ(
      platform::parse_aer("N/A\nBadTLP\nBadTLP -1\nBadTLP 1 2\nBad/../TLP 4\nTOTAL_ERR_COR 99999999999999999999999\n"),
      AerCounts{});
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "Kind" + std::to_string(i) + " 1\n";
  EXPECT_EQ(platform::parse_aer(many).kinds.size(), 64u);
}

// An H100's: BAR0 16 MiB, BAR2 128 GiB, BAR4 32 MiB (64-bit ones leave every second line empty).
constexpr const char* kResource =
    "0x00000000b6000000 0x00000000b6ffffff 0x0000000000040200\n"
    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    "0x000021a000000000 0x000021bfffffffff 0x000000000014220c\n"
    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    "0x000021c042000000 0x000021c043ffffff 0x000000000014220c\n"
    "0x0000000000003000 0x000000000000307f 0x0000000000040101\n"
    "0x00000000fff00000 0x00000000ffffffff 0x0000000000042200\n";

TEST(Bars, SizesAndKinds) {
  EXPECT_EQ(platform::parse_bars(kResource),
            (std::vector<Bar>{{0, 16u << 20, false}, {2, uint64_t{128} << 30, true}, {4, 32u << 20, true}}));
  EXPECT_TRUE(platform::parse_bars("").empty());
  EXPECT_TRUE(platform::parse_bars("0x10 0x1 0x200\nx y z\n0x0 0xffffffffffffffff 0x2200\n0x1 0x2\n").empty());
  EXPECT_TRUE(platform::parse_bars(std::string(100'000, '\n') + kResource).empty()) << "no BAR has number 100,000";
}

TEST(CommandLine, WordsAboutIommuAndPci) {
  EXPECT_EQ(platform::parse_command_line("BOOT_IMAGE=/vmlinuz root=/dev/sda1 intel_iommu=on iommu=pt pci=realloc=on "
                                         "iommu.strict=0 quiet password=iommu=secret\n"),
            (std::vector<std::string>{"intel_iommu=on", "iommu=pt", "pci=realloc=on", "iommu.strict=0"}));
  EXPECT_TRUE(platform::parse_command_line("pci=" + std::string(5000, 'x')).empty());
  EXPECT_EQ(
      platform::parse_command_line(
          "\"intel_iommu=on\" dyndbg=\"file drivers/usb/* +p; iommu=off\" pci=\"nommconf\" iommu=\"pt\" -- iommu=soft"),
      (std::vector<std::string>{"intel_iommu=on", "pci=nommconf", "iommu=pt"}));
  EXPECT_EQ(platform::parse_command_line("iommu=pt \"amd_iommu=on quiet"),
            (std::vector<std::string>{"iommu=pt", "amd_iommu=on quiet"}))
      << "a quote left open";
}

TEST(NvidiaVersion, OpenOrClosed) {
  const auto parsed = [](const char* text) {
    const auto driver = platform::parse_nvidia_version(text);
    return driver ? driver->version + (driver->open ? " open" : " closed") : "none";
  };
  EXPECT_EQ(parsed("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"
                   "GCC version:  gcc version 12.2.0\n"),
            "535.129.03 closed");
  EXPECT_EQ(parsed("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  "
                   "(dvs-builder@U22)\n"),
            "570.86.15 open");
  for (const char* none : {"", "NVRM version: \n12.1", "12.1 Open Kernel Module"}) EXPECT_EQ(parsed(none), "none");
}

TEST(KernelConfig, OptionsByTheirWholeName) {
  constexpr std::string_view kConfig =
      "CONFIG_PCI_P2PDMA_X=y\nCONFIG_PCI_P2PDMA=y\n# CONFIG_DMABUF_MOVE_NOTIFY is not set\nCONFIG_A=\"y\"";
  EXPECT_EQ(platform::parse_kernel_option(kConfig, "CONFIG_PCI_P2PDMA"), true);
  EXPECT_EQ(platform::parse_kernel_option(kConfig, "CONFIG_DMABUF_MOVE_NOTIFY"), false);
  EXPECT_EQ(platform::parse_kernel_option(kConfig, "CONFIG_A"), false);
  EXPECT_EQ(platform::parse_kernel_option(kConfig, "CONFIG_B"), std::nullopt);
}

constexpr const char *kPort = "0000:20:01.0", *kGpu = "0000:21:00.0", *kNicPort = "0000:20:02.0",
                     *kNic = "0000:22:00.0";

// A GPU and a NIC, each on its root port.
void add_machine(Tree& tree) {
  tree.file("sys/devices/system/node/node0/cpulist", "0-7\n");
  const auto port = add_pci(tree, {"pci0000:20", kPort, "0x8086", "0x352a", "0x060400", "0"});
  const auto gpu = add_pci(tree, {std::string("pci0000:20/") + kPort, kGpu, "0x10de", "0x2330", "0x030200", "0"});
  add_pci(tree, {"pci0000:20", kNicPort, "0x8086", "0x352b", "0x060400", "0"});
  const auto nic = add_pci(tree, {std::string("pci0000:20/") + kNicPort, kNic, "0x15b3", "0x1021", "0x020000", "0"});
  tree.file(port + "/current_link_speed", "32.0 GT/s PCIe\n").file(port + "/current_link_width", "16\n");
  tree.file(port + "/max_link_speed", "32.0 GT/s PCIe\n").file(port + "/max_link_width", "16\n");
  tree.file(gpu + "/power_state", "D0\n").file(gpu + "/power/control", "on\n");
  tree.file(gpu + "/resource", kResource).file(gpu + "/resource2_resize", "000000000003ff00\n");
  tree.file(nic + "/aer_dev_correctable", kCorrectable).file(nic + "/aer_dev_fatal", kFatal);
  tree.folder("sys/bus/pci/drivers/mlx5_core").link(nic + "/driver", "../../../../bus/pci/drivers/mlx5_core");
  tree.file("sys/kernel/iommu_groups/37/type", "identity\n")
      .link(nic + "/iommu_group", "../../../../kernel/iommu_groups/37");
  tree.folder("sys/class/iommu/dmar0");
  tree.file("proc/cmdline", "BOOT_IMAGE=/vmlinuz intel_iommu=on iommu=pt\n");
  tree.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  tree.file("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release\n");
  tree.folder("sys/module/nvidia_peermem").folder("sys/kernel/mm/memory_peers/nv_mem");
  tree.file("proc/sys/kernel/osrelease", "6.1.0-28-amd64\n")
      .file("boot/config-6.1.0-28-amd64", "CONFIG_PCI_P2PDMA=y\n");
}

struct PlatformOf : testing::Test {
  PlatformOf() { add_machine(tree); }
  Node scanned(const ScanOptions& options = {}) const {
    Kernel kernel = std::move(open_kernel(tree.path())).value();
    return scan(kernel, options);
  }
  Tree tree;
};

TEST_F(PlatformOf, ACapturedMachine) {
  const Node node = scanned();
  const Platform& has = node.platform;
  ASSERT_EQ(has.functions.size(), 3u) << "of the NIC's root port nothing is told";
  EXPECT_EQ(has.functions.at(kPort).link, (PcieLink{32, 32, 16, 16}));
  const PlatformFunction& gpu = has.functions.at(kGpu);
  EXPECT_EQ(gpu.power_state, "D0");
  EXPECT_EQ(gpu.power_control, "on");
  ASSERT_EQ(gpu.bars.size(), 3u);
  EXPECT_EQ(gpu.bars[1].resizable, 0x3ff00u);
  EXPECT_EQ(gpu.bars[2].resizable, std::nullopt);
  EXPECT_EQ(gpu.correctable.total, std::nullopt);
  const PlatformFunction& nic = has.functions.at(kNic);
  EXPECT_EQ(nic.kernel_driver, "mlx5_core");
  EXPECT_EQ(nic.iommu_group, "37");
  EXPECT_EQ(nic.correctable.total, 4u);
  EXPECT_EQ(nic.fatal.kinds.at("DLP"), 1u);
  EXPECT_TRUE(nic.bars.empty());
  EXPECT_EQ(has.iommu_groups, (std::map<std::string, std::string>{{"37", "identity"}}));
  EXPECT_EQ(has.iommu, true);
  EXPECT_EQ(has.command_line, (std::vector<std::string>{"intel_iommu=on", "iommu=pt"}));
  EXPECT_EQ(has.lockdown, "integrity");
  GpuDirect expected{"570.86.15", true, {"nvidia_peermem"}, {"nv_mem"}, false, true, false};
  EXPECT_EQ(has.gpudirect, expected);
  EXPECT_FALSE(node.pci_settings);
}

TEST_F(PlatformOf, WhatWasPublishedOfConfigurationSpace) {
  PciState state{"2026-01-01T00:00:00Z", {}};
  state.functions[kNic] = {4096, 512, true, {}, "", true};
  ASSERT_TRUE(state::save_pci_state(tree.path(), state).ok());
  EXPECT_EQ(scanned().pci_settings, state);
  tree.file("run/fabric-agent/pci.json", "{\"functions\":[");
  const Node node = scanned();
  EXPECT_FALSE(node.pci_settings);
  ASSERT_FALSE(node.unseen.empty());
  EXPECT_TRUE(has(node.unseen.back(), "pci.json: "));
}

// Of kernels that always have it, no configuration mentions it.
TEST_F(PlatformOf, AnOptionThatIsGoneIsNotMissing) {
  tree.file("proc/sys/kernel/osrelease", "7.1.0-5-amd64\n").file("boot/config-7.1.0-5-amd64", "CONFIG_PCI_P2PDMA=y\n");
  EXPECT_EQ(scanned().platform.gpudirect.dmabuf_move_notify, std::nullopt);
  tree.file("boot/config-7.1.0-5-amd64", "CONFIG_PCI_P2PDMA=y\n# CONFIG_DMABUF_MOVE_NOTIFY is not set\n");
  EXPECT_EQ(scanned().platform.gpudirect.dmabuf_move_notify, false);
}

TEST_F(PlatformOf, ASleepingGpuIsNotWoken) {
  tree.file("sys/devices/pci0000:20/0000:20:01.0/0000:21:00.0/power_state", "D3cold\n");
  const Node node = scanned();
  EXPECT_EQ(node.platform.functions.at(kGpu).bars.at(1).resizable, std::nullopt);
}

// One broken file takes nothing else down.
TEST_F(PlatformOf, ATreeOfNonsense) {
  const std::string gpu = "sys/devices/pci0000:20/0000:20:01.0/0000:21:00.0",
                    nic = "sys/devices/pci0000:20/0000:20:02.0/0000:22:00.0";
  tree.file(nic + "/aer_dev_correctable", std::string(2u << 20, '1'))
      .file(nic + "/aer_dev_fatal", std::string("DLP \0 1\n", 8));
  tree.remove(nic + "/iommu_group").link(nic + "/iommu_group", "iommu_group");
  tree.file(gpu + "/resource", "0xffffffffffffffff 0x0 0x2200\nshort\n")
      .remove(gpu + "/power_state")
      .folder(gpu + "/power_state");
  tree.file("proc/cmdline", std::string(2u << 20, 'i')).file("proc/driver/nvidia/version", "\n\n\n");
  tree.file("proc/sys/kernel/osrelease", "../../etc/passwd\n").file("sys/class/iommu/x", "").remove("sys/class/iommu");
  const Node node = scanned();
  EXPECT_EQ(node.platform.functions.at(kPort).link, (PcieLink{32, 32, 16, 16}));
  EXPECT_EQ(node.platform.functions.at(kNic).correctable, AerCounts{});
  EXPECT_EQ(node.platform.functions.at(kNic).kernel_driver, "mlx5_core");
  EXPECT_EQ(node.platform.functions.at(kNic).iommu_group, "");
  EXPECT_TRUE(node.platform.functions.at(kGpu).bars.empty());
  EXPECT_EQ(node.platform.functions.at(kGpu).power_state, "");
  EXPECT_TRUE(node.platform.command_line.empty());
  EXPECT_EQ(node.platform.gpudirect.nvidia_driver, "");
  EXPECT_EQ(node.platform.gpudirect.pci_p2pdma, std::nullopt);
  EXPECT_EQ(node.platform.iommu, std::nullopt);
}

TEST_F(PlatformOf, IsNotReadWhereNobodyAsks) {
  EXPECT_EQ(scanned({.platform = false}).platform, Platform{});
  EXPECT_EQ(scanned({.topology = false}).platform, Platform{});
}

TEST(Platform, ManyThousandFunctionsAreBounded) {
  Tree tree;
  Topology topology;
  for (int i = 0; i < 4'200; ++i) {
    char address[32];
    std::snprintf(address, sizeof address, "%04x:%02x:00.0", i / 256, i % 256);
    topology.nics.push_back({{.pci = address, .bridges = {"not an address", "../../../etc"}}});
    tree.file(std::string("sys/bus/pci/devices/") + address + "/power_state", "D0\n");
  }
  EXPECT_EQ(platform::read(tree.root(), topology).functions.size(), 4096u);
}

}  // namespace
}  // namespace fabric
