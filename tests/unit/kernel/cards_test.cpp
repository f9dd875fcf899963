// SPDX-License-Identifier: Apache-2.0
// Cards: their identity (serial number by devlink, else of the VPD, else the address); data of NVIDIA's library about
// GPUs, and of libibverbs about a port's bandwidth; and the maximum read request size, in configuration space as sysfs
// shows it to a privileged and to an unprivileged process.
#include <linux/devlink.h>
#include <linux/genetlink.h>

#include "agentd/pci.h"
#include "enforce/confirm.h"
#include "enforce/sysctl.h"
#include "kernel/pci/pci_config.h"
#include "node/nvml.h"
#include "node/pci_state.h"
#include "node/port_reader.h"
#include "node/scan.h"
#include "node/state.h"
#include "policy/config.h"
#include "support/ports.h"
#include "support/sim_files.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::Bed;
using test::has;
using test::of;
using test::Personality;
using test::SimFiles;

// -- Serial numbers

// The layout of PCI Local Bus Specification 3.0, appendix I: an identifier, read-only fields, the end tag.
std::string vpd_of(const std::string& serial) {
  const auto sized = [](const std::string& text) {
    return std::string{static_cast<char>(text.size()), static_cast<char>(text.size() >> 8)} + text;
  };
  const auto field = [](const std::string& key, const std::string& text) {
    return key + static_cast<char>(text.size()) + text;
  };
  return "\x82" + sized("ConnectX-7") + "\x90" +
         sized(field("PN", "MCX75310AAS") + field("SN", serial) + field("V0", "misc")) + "\x78";
}

TEST(Vpd, HasTheSerialNumberAndNeverMoreThanIsThere) {
  const std::string vpd = vpd_of("MT2244X12345  ");
  EXPECT_EQ(scanning::vpd_serial(vpd), "MT2244X12345");
  for (size_t size = 0; size < vpd.size(); ++size) {
    const std::string cut = scanning::vpd_serial(std::string_view(vpd).substr(0, size));
    EXPECT_TRUE(cut.empty() || std::string_view("MT2244X12345").starts_with(cut)) << size;
  }
  for (const char* none : {"000000000000", "N/A", "", "\x1b[31mred!!"})
    EXPECT_EQ(scanning::vpd_serial(vpd_of(none)), "") << none;
  EXPECT_EQ(scanning::vpd_serial(std::string(4096, '\xff')), "");
  EXPECT_EQ(scanning::vpd_serial("\x90\xff\xff"), "");
}

// Answers the family and the information of one device.
class Devlink final : public Netlink {
 public:
  explicit Devlink(std::string serial) : serial_(std::move(serial)) {}
  unsigned asked = 0;

  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8) override {
    genlmsghdr header{};
    AttrWriter out;
    if (type == GENL_ID_CTRL) {
      header.cmd = CTRL_CMD_NEWFAMILY;
      out.header(header).u16(CTRL_ATTR_FAMILY_ID, 21).text(CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
      return std::vector<Message>{{GENL_ID_CTRL, out.data()}};
    }
    ++asked;
    if (serial_.empty()) return error(EOPNOTSUPP, "devlink");
    header.cmd = DEVLINK_CMD_INFO_GET;
    out.header(header)
        .text(DEVLINK_ATTR_INFO_SERIAL_NUMBER, "00-11-22-33")
        .text(DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, serial_);
    return std::vector<Message>{{21, out.data()}};
  }

 private:
  std::string serial_;
};

struct Cards : testing::Test {
  Port port_at(const std::string& pci, const std::string& address) {
    return {.ifindex = 7, .pci = pci, .card_address = address};
  }
  Port read(Port port, bool wanted = true) {
    const ScanOptions options{.serials = wanted};
    std::vector<std::string> unseen;
    scanning::Context context{kernel, options, {}, {}, {}, unseen};
    read_card(context, port);
    return port;
  }
  test::Tree tree;
  Kernel kernel{tree.root()};
};

TEST_F(Cards, AreNamedByDevlinkFirstAndAskedOnce) {
  auto devlink = std::make_unique<Devlink>("P210190123456");
  Devlink& asked = *devlink;
  kernel.generic = std::move(devlink);
  tree.file("sys/bus/pci/devices/0000:24:00.1/vpd", vpd_of("MT2244X12345"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(port_at("0000:24:00.1", "mac:a")).card, "serial:P210190123456/1.1");
  EXPECT_EQ(asked.asked, 1U);
  EXPECT_EQ(read(port_at("0000:24:00.1", "mac:a"), false).card, "mac:a") << "not asked for";
}

TEST_F(Cards, AreNamedByTheirVpdElseByTheirAddress) {
  kernel.generic = std::make_unique<Devlink>("");
  tree.file("sys/bus/pci/devices/0000:24:00.0/vpd", vpd_of("MT2244X12345"));
  EXPECT_EQ(read(port_at("0000:24:00.0", "mac:a")).card, "serial:MT2244X12345/0.1");
  EXPECT_EQ(read(port_at("0000:25:00.0", "mac:b")).card, "mac:b");
  Port virtual_function = port_at("0000:24:00.0", "mac:c");
  test::make_virtual(virtual_function);
  EXPECT_EQ(read(virtual_function).card, "mac:c");
}

// A card in two slots (socket direct) has one serial number for two functions of the same number.
TEST_F(Cards, OfOneSerialNumberAreToldApartByTheirAddresses) {
  for (const char* pci : {"0000:24:00.0", "0000:98:00.0"})
    tree.file(std::string("sys/bus/pci/devices/") + pci + "/vpd", vpd_of("MT2244X12345"));
  std::vector<Port> ports{read(port_at("0000:24:00.0", "mac:a")), read(port_at("0000:98:00.0", "mac:b"))};
  ASSERT_EQ(ports[0].card, ports[1].card);
  scanning::make_cards_unique(ports);
  EXPECT_EQ(ports[0].card, "mac:a");
  EXPECT_EQ(ports[1].card, "mac:b");
}

// -- NVIDIA's library

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) out += part.data();
  return ::pclose(pipe) == 0 ? out : out + "failed";
}

// The output of the probe with the library of this folder in reach, in a mood of fake_nvml.cpp.
std::string probed(const std::string& folder, const std::string& mood = "", const std::string& patience = "60000") {
  return output_of("LD_LIBRARY_PATH='" + folder + "' FAKE_NVML='" + mood + "' '" NVML_PROBE "' " + patience);
}

const std::string kWhole = FABRIC_NVML_DIR "/whole", kPartial = FABRIC_NVML_DIR "/partial";

TEST(Nvml, ListsGpusAsSysfsNamesThem) {
  const std::string first = "0000:3b:00.0\t0\t7\tGPU-0000-0\tNVIDIA Test 0\t35\t0\t4\n";
  const std::string both = first + "0000:af:00.0\t1\t6\tGPU-0000-1\tNVIDIA Test 1\t0\t\t1\n";
  EXPECT_EQ(probed(kWhole), both);
  EXPECT_EQ(probed(kWhole, "mute"), first + "0000:af:00.0\t1\t\t\t\n") << "one GPU is lost";
  const auto parsed = nvml::parse_devices(both);
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(nvml::to_text(parsed), both);
  EXPECT_EQ(parsed[0].load, (GpuLoad{35, 0, 4}));
  EXPECT_EQ(parsed[1].load, (GpuLoad{.busy = 0, .link_generation = 1})) << "the state is unknown";
  EXPECT_FALSE(nvml::parse_devices("0000:3b:00.0\t0\t7\tGPU-a\tA\n").at(0).load) << "an older capture";
  EXPECT_EQ(probed(kWhole, "huge"), probed(kWhole)) << "what has no handle is not there";
}

TEST(Nvml, WhateverIsWrongIsAnOrdinaryAbsence) {
  EXPECT_TRUE(has(probed(kPartial), "ENOSYS"));
  EXPECT_TRUE(has(probed(kWhole, "mismatch"), "nvmlInit says 18"));
  EXPECT_TRUE(has(probed(kWhole, "hang", "50"), "ETIMEDOUT"));
  std::ofstream(kPartial + "/../libnvidia-ml.so.1") << "no library";
  EXPECT_TRUE(has(probed(FABRIC_NVML_DIR), "ELIBACC"));
}

// -- libibverbs

std::string by_verbs(const std::string& mood, const char* probe = VERBS_PROBE) {
  return output_of("FAKE_VERBS='" + mood + "' '" + probe + "'");
}

// The netdev and the file `rate` of a function below a RoCE LAG have the speed of one link.
TEST(VerbsLibrary, HasTheBandwidthOfAllLinksIfItIsNewEnough) {
  const std::string others = "firmware 40.48.0302\ngids\nport 1 4 5 4096 Ethernet\n", lag = by_verbs("lag");
  EXPECT_EQ(lag, others + "speed 1 8000\n");
  const auto device = verbs::parse_device(lag);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->ports.at(1).rate, 100e9);
  for (const char* mood : {"down", "old-kernel", "no-driver"}) EXPECT_EQ(by_verbs(mood), others) << mood;
  EXPECT_EQ(by_verbs("lag", OLD_VERBS_PROBE), others) << "an older libibverbs";
}

// -- NVIDIA's library: what it adds

TEST(Nvml, FillsWhatFilesDidNotTell) {
  Topology topology;
  for (const char* pci : {"0000:3b:00.0", "0000:af:00.0", "0000:d8:00.0"})
    topology.gpus.push_back({{.pci = pci, .vendor = 0x10de}});
  topology.gpus[0].model = "as the file says";
  EXPECT_TRUE(nvml::is_wanted(topology));
  nvml::complete({{"0000:3b:00.0", 0, "GPU-a", "as NVML says", 7}, {"0000:af:00.0", 1, "GPU-b", "B", {}}}, topology);
  EXPECT_EQ(topology.gpus[0].model, "as the file says");
  EXPECT_EQ(topology.gpus[0].uuid, "GPU-a");
  EXPECT_EQ(topology.gpus[0].minor, 7u);
  EXPECT_EQ(topology.gpus[1].vendor_index, std::vector<unsigned>{1});
  EXPECT_FALSE(topology.gpus[1].minor);
  EXPECT_EQ(topology.gpus[2].uuid, "") << "not in its list";
  topology.gpus.pop_back();
  EXPECT_FALSE(nvml::is_wanted(topology)) << "all is known, no GPU need wake up";
  topology.gpus[1].vendor = 0x1002;
  topology.gpus[1].uuid.clear();
  EXPECT_FALSE(nvml::is_wanted(topology)) << "AMD's";
}

TEST(Nvml, DecidesIfALinkIsSlowerThanThatOfAnEqualGpu) {
  Topology topology;
  for (const char* pci : {"0000:3b:00.0", "0000:af:00.0"})
    topology.gpus.push_back({{.pci = pci, .vendor = 0x10de, .device = 0x2330, .link = {32, 32, 16, 16}}});
  EXPECT_FALSE(nvml::is_load_wanted(topology)) << "no GPU need wake up";
  topology.gpus[1].link.speed = 5;
  EXPECT_TRUE(nvml::is_load_wanted(topology));
  topology.gpus[1].device = 0x20b0;
  EXPECT_FALSE(nvml::is_load_wanted(topology)) << "another model";
}

// The services run for months in a sandbox without GPUs.
TEST(Nvml, OnlyTheProgramThatAPersonRunsAsks) {
  const std::string source = FABRIC_SOURCE_DIR;
  std::string users;
  for (const char* folder : {"/agent", "/lib"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source + folder))
      if (has(test::slurp(entry.path()), "\"node/nvml.h\"")) users += entry.path().string().substr(source.size()) + " ";
  for (const char* service : {"/agent/exporter", "/agent/agentd", "/lib/node/scan", "/lib/enforce"})
    EXPECT_FALSE(has(users, service));
  EXPECT_TRUE(has(users, "/agent/ctl/machine.cpp"));
}

// -- The maximum read request size

constexpr size_t kExpress = 0x60, kControl = kExpress + 8;

void put(std::string& config, size_t at, uint32_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) config[at + i] = static_cast<char>(value >> 8 * i & 0xff);
}

// A function with power management at 0x40, PCI Express at 0x60, and behind AER an ACS capability, if wanted.
std::string config_space(uint16_t device_control, std::optional<uint16_t> acs = {}) {
  std::string out(4096, '\0');
  put(out, 0, 0x102115b3, 4);
  put(out, 6, 0x0010, 2);
  put(out, 0x34, 0x40, 1);
  put(out, 0x40, 0x01 | kExpress << 8, 2);
  put(out, kExpress, 0x10, 2);
  put(out, kControl, device_control, 2);
  put(out, 0x100, 0x0001 | 1u << 16 | (acs ? 0x148u : 0u) << 20, 4);
  if (!acs) return out;
  put(out, 0x148, 0x000d | 1u << 16, 4);
  put(out, 0x148 + 6, *acs, 2);
  return out;
}

TEST(DeviceControl, IsFoundBehindOtherCapabilities) {
  auto control = pci::parse_device_control(config_space(0x2936));
  ASSERT_TRUE(control.ok()) << control.error().text();
  EXPECT_EQ(control->offset, kControl);
  EXPECT_EQ(control->mrrs(), 512u);
  EXPECT_EQ(control->max_payload(), 256u);
  EXPECT_TRUE(control->relaxed_ordering());
  for (uint32_t bytes : {128u, 256u, 512u, 1024u, 2048u, 4096u}) {
    EXPECT_TRUE(pci::is_mrrs(bytes));
    pci::DeviceControl changed{0, control->with_mrrs(bytes)};
    EXPECT_EQ(changed.mrrs(), bytes);
    EXPECT_EQ(changed.value & 0x8fff, 0x0936) << "the other bits stay";
  }
  for (uint32_t bytes : {0u, 64u, 129u, 384u, 8192u}) EXPECT_FALSE(pci::is_mrrs(bytes));
}

TEST(DeviceControl, SaysWhyThereIsNone) {
  const std::string whole = config_space(0x2936);
  EXPECT_EQ(pci::parse_device_control(std::string(4096, '\xff')).error().code, ENODEV);
  EXPECT_EQ(pci::parse_device_control(std::string(64, '\xff')).error().code, ENODEV);
  EXPECT_EQ(pci::parse_device_control(whole.substr(0, 64)).error().code, EACCES);
  EXPECT_EQ(pci::parse_device_control("").error().code, EBADMSG);
  EXPECT_EQ(pci::parse_device_control(whole.substr(0, kControl + 1)).error().code, EBADMSG);
  std::string conventional = whole, none = whole, loop = whole;
  put(conventional, 0x40, 0x01, 2);
  EXPECT_EQ(pci::parse_device_control(conventional).error().code, EOPNOTSUPP);
  put(none, 6, 0, 2);
  EXPECT_EQ(pci::parse_device_control(none).error().code, EOPNOTSUPP);
  put(loop, 0x40, 0x01 | 0x40 << 8, 2);
  EXPECT_EQ(pci::parse_device_control(loop).error().code, EBADMSG);
}

TEST(AcsControl, IsReadWhereThereIsOne) {
  EXPECT_EQ(*pci::parse_acs_control(config_space(0x2936, 0x1d)), 0x1d);
  EXPECT_EQ(*pci::parse_acs_control(config_space(0x2936, 0)), 0) << "all off is not absent";
  EXPECT_FALSE(*pci::parse_acs_control(config_space(0x2936)));
  EXPECT_EQ(pci::parse_acs_control(config_space(0x2936, 0x1d).substr(0, 256)).error().code, ENODATA)
      << "out of reach is not absent";
  EXPECT_EQ(pci::parse_acs_control(config_space(0x2936, 0x1d).substr(0, 64)).error().code, EACCES);
  std::string loop = config_space(0x2936);
  put(loop, 0x100, 0x0001 | 1u << 16 | 0x100u << 20, 4);
  EXPECT_EQ(pci::parse_acs_control(loop).error().code, EBADMSG);
}

TEST(TenBitTags, AreToldWhereTheFunctionCanSendThem) {
  std::string config = config_space(0x2936);
  EXPECT_FALSE(*pci::parse_ten_bit_tags(config)) << "version 0 of the capability has no such register";
  put(config, kExpress + 2, 0x0002, 2);
  EXPECT_FALSE(*pci::parse_ten_bit_tags(config));
  put(config, kExpress + 0x24, 0x00020000, 4);
  EXPECT_EQ(*pci::parse_ten_bit_tags(config), false);
  put(config, kExpress + 0x28, 0x1000, 2);
  EXPECT_EQ(*pci::parse_ten_bit_tags(config), true);
  EXPECT_EQ(pci::parse_ten_bit_tags(config.substr(0, kExpress + 0x28)).error().code, EBADMSG);
  EXPECT_EQ(pci::parse_ten_bit_tags(config.substr(0, 64)).error().code, EACCES);
}

TEST(Lockdown, IsTheWordInBrackets) {
  test::Tree tree;
  EXPECT_EQ(pci::lockdown(tree.root()), "");
  tree.file("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  EXPECT_EQ(pci::lockdown(tree.root()), "");
  tree.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_EQ(pci::lockdown(tree.root()), "integrity");
}

class Mrrs : public testing::Test {
 protected:
  Mrrs() {
    file = "sys/bus/pci/devices/" + bed.port.pci + "/config";
    tree.file(file, config_space(0x2936));
    bed.kernel.root = tree.root();
  }
  static Qos want(uint32_t bytes) { return {.mrrs = bytes}; }
  // Puts a simulated kernel behind the files.
  std::shared_ptr<SimFiles> sim_files() {
    const auto files = std::make_shared<SimFiles>(tree);
    bed.kernel.root.set_behind(files);
    return files;
  }
  Change apply(uint32_t bytes) { return of(bed.apply(want(bytes)), "mrrs"); }
  uint16_t control() const { return pci::parse_device_control(tree.content(file))->value; }

  Bed bed{Personality::full};
  test::Tree tree;
  std::string file;
};

TEST_F(Mrrs, ChangesThreeBitsAndReadsThemBack) {
  const std::string before = tree.content(file);
  auto change = apply(4096);
  EXPECT_EQ(change.outcome, Outcome::applied) << change.detail;
  EXPECT_EQ(change.from, "512");
  EXPECT_EQ(control(), 0x5936);
  std::string after = tree.content(file);
  after.replace(kControl, 2, before, kControl, 2);
  EXPECT_EQ(after, before) << "two bytes and no others";
  EXPECT_EQ(apply(4096).outcome, Outcome::in_sync);
}

TEST_F(Mrrs, OtherSizesAreImpossible) {
  auto change = apply(768);
  EXPECT_EQ(change.outcome, Outcome::unsupported);
  EXPECT_EQ(change.detail, "one of 128, 256, 512, 1024, 2048 and 4096 bytes");
  EXPECT_EQ(control(), 0x2936);
}

TEST_F(Mrrs, LockdownIsNamed) {
  tree.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  sim_files()->on_write("*/config", test::refuse_text(EPERM));
  auto change = apply(4096);
  EXPECT_EQ(change.outcome, Outcome::refused);
  EXPECT_EQ(change.code, EPERM);
  EXPECT_TRUE(has(change.detail, "kernel lockdown (integrity)"));
  EXPECT_FALSE(has(change.detail, "fabric-agent-pci")) << change.detail << "\nit is root, too";
}

// fabric-agentd has no privilege to read the register.
TEST_F(Mrrs, LockdownIsNamedWithoutPrivilege) {
  tree.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  tree.file(file, config_space(0x2936).substr(0, 64));
  PciState published;
  published.functions[bed.port.pci].mrrs = 512;
  ASSERT_TRUE(state::save_pci_state(tree.path(), published).ok());
  const auto change = apply(4096);
  EXPECT_TRUE(has(change.detail, "kernel lockdown (integrity)")) << change.detail;
  EXPECT_FALSE(has(change.detail, "fabric-agent-pci")) << change.detail;
}

TEST_F(Mrrs, ADeviceThatIsGoneIsNotWritten) {
  tree.file(file, std::string(4096, '\xff'));
  auto change = apply(4096);
  EXPECT_EQ(change.outcome, Outcome::unsupported);
  EXPECT_TRUE(has(change.detail, "all ones"));
  EXPECT_EQ(tree.content(file), std::string(4096, '\xff'));
  EXPECT_EQ(pci::write_mrrs(tree.root(), bed.port.pci, 512).error().code, ENODEV);
}

TEST_F(Mrrs, WithoutPrivilegeThePublishedValueCounts) {
  tree.file(file, config_space(0x2936).substr(0, 64));
  auto change = apply(512);
  EXPECT_EQ(change.outcome, Outcome::unsupported);
  EXPECT_TRUE(has(change.detail, "systemctl restart fabric-agent-pci"));

  PciState published;
  published.functions[bed.port.pci].mrrs = 512;
  ASSERT_TRUE(state::save_pci_state(tree.path(), published).ok());
  EXPECT_EQ(apply(512).outcome, Outcome::in_sync);
  change = apply(4096);
  EXPECT_EQ(change.outcome, Outcome::refused);
  EXPECT_EQ(change.code, EACCES);
  EXPECT_TRUE(has(change.detail, "systemctl restart fabric-agent-pci"));
  published.functions[bed.port.pci] = {.unread = "not PCI Express (EOPNOTSUPP)"};
  ASSERT_TRUE(state::save_pci_state(tree.path(), published).ok());
  EXPECT_TRUE(has(apply(512).detail, "not PCI Express"));
}

TEST_F(Mrrs, IsReadOnlyWhenWanted) {
  const auto files = sim_files();
  bed.apply({.mtu = bed.nic.mtu});
  for (const std::string& read : files->reads) EXPECT_NE(read, file);
}

TEST(PciState, ReadsBackAsWritten) {
  PciState state{"2026-11-21T10:00:00Z", {}};
  state.functions["0000:17:00.0"] = {512, 256, true, {}, ""};
  state.functions["0000:16:00.0"] = {128, 128, false, uint16_t{0x1d}, ""};
  state.functions["0000:19:00.0"].ten_bit_tags = true;
  state.functions["0000:1a:00.0"].ten_bit_tags = false;
  state.functions["0000:18:00.0"].unread = "configuration space reads all ones: No such device (ENODEV)";
  EXPECT_EQ(*state::parse_pci_state(state::pci_state_text(state), "f"), state);
  EXPECT_EQ(state::parse_pci_state("{\"functions\":[", "f").error().code, EBADMSG);
  test::Tree tree;
  EXPECT_FALSE(*state::load_pci_state(tree.root())) << "not run yet";
}

// Without the service's file, the values that this process may read itself.
TEST(PciState, IsReadFromConfigurationSpaceWhereNobodyPublishedIt) {
  test::Tree tree;
  tree.file("sys/bus/pci/devices/0000:a1:00.0/config", config_space(0x2036, 0x1d));
  tree.file("sys/bus/pci/devices/0000:b1:00.0/config", config_space(0x2936));
  tree.file("sys/bus/pci/devices/0000:b2:00.0/config", config_space(0x2936))
      .file("sys/bus/pci/devices/0000:b2:00.0/power_state", "D3hot\n");
  Node node;
  for (const char* pci : {"0000:b1:00.0", "0000:b2:00.0"})
    node.topology.nics.push_back({{.pci = pci, .bridges = {"0000:a1:00.0"}}});
  scanning::read_platform(tree.root(), node);
  ASSERT_TRUE(node.pci_settings);
  EXPECT_EQ(node.pci_settings->functions["0000:a1:00.0"].acs, 0x1d);
  EXPECT_EQ(node.pci_settings->functions["0000:b1:00.0"].mrrs, 512u);
  EXPECT_EQ(node.pci_settings->functions["0000:b2:00.0"].unread, "it sleeps (D3hot)") << "and is not woken";

  ASSERT_TRUE(state::save_pci_state(tree.path(), PciState{"2026-11-21T10:00:00Z", {}}).ok());
  scanning::read_platform(tree.root(), node);
  EXPECT_TRUE(node.pci_settings && node.pci_settings->functions.empty()) << "published data takes precedence";

  tree.remove("run");
  for (const char* pci : {"a1", "b1", "b2"})
    tree.file(std::string("sys/bus/pci/devices/0000:") + pci + ":00.0/config",
              config_space(0x2936, 0x1d).substr(0, 64));
  scanning::read_platform(tree.root(), node);
  EXPECT_FALSE(node.pci_settings) << "only root can read it";
}

// The oneshot service.
class KeepPci : public Mrrs {
 protected:
  KeepPci() {
    tree.file("sys/bus/pci/devices/0000:a0:00.0/config", config_space(0x0020, 0x1d));
    tree.file("sys/bus/pci/devices/0000:a1:00.0/config", config_space(0x0020, 0x00));
    tree.file("sys/bus/pci/devices/0000:b0:00.0/config", config_space(0x5030));
  }
  Node scanned() const {
    Node node{.ports = {bed.port}};
    node.topology.nics.push_back({{.pci = bed.port.pci, .bridges = {"0000:a1:00.0", "0000:a0:00.0"}}});
    node.topology.gpus.push_back({{.pci = "0000:b0:00.0", .bridges = {"0000:a0:00.0"}}});
    return node;
  }
  agentd::PciEnvironment environment{.kernel = bed.kernel,
                                     .directory = tree.path(),
                                     .log = [this](const agentd::JournalEntry& entry) { log += entry.message + "\n"; },
                                     .scan = [this](const Policy&) { return scanned(); }};
  Policy policy{.mode = Mode::enforce, .ports = {{.want = {.mtu = 9000, .mrrs = 4096}}}};
  std::string log;
};

TEST_F(KeepPci, WritesMrrsAloneAndPublishesWhatItRead) {
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 0) << log;
  EXPECT_EQ(control(), 0x5936);
  EXPECT_EQ(bed.nic.log, std::vector<std::string>{}) << "no other setting";
  EXPECT_TRUE(has(log, "mrrs set: 512 -> 4096"));
  auto state = state::load_pci_state(tree.root());
  ASSERT_TRUE(state.ok() && *state);
  EXPECT_FALSE((*state)->updated.empty());
  std::map<std::string, PciSettings> expected;
  expected[bed.port.pci] = {4096, 256, true, {}, ""};
  expected["0000:a0:00.0"] = {128, 256, false, uint16_t{0x1d}, ""};
  expected["0000:a1:00.0"] = {128, 256, false, uint16_t{0}, ""};
  expected["0000:b0:00.0"] = {4096, 256, true, {}, ""};
  EXPECT_EQ((*state)->functions, expected);
  auto originals = state::load_originals(tree.path());
  ASSERT_TRUE(originals.ok());
  EXPECT_EQ(originals->at(state::port_key(bed.port)).mrrs, 512u);
}

TEST_F(KeepPci, OnlyPublishesInAuditMode) {
  policy.mode = Mode::audit;
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 1);
  EXPECT_EQ(control(), 0x2936);
  EXPECT_TRUE(has(log, "mrrs is 512, want 4096"));
  EXPECT_EQ((*state::load_pci_state(tree.root()))->functions.at(bed.port.pci).mrrs, 512u);
}

TEST_F(KeepPci, WritesTheFunctionsOfABondsMembers) {
  Port bond = bed.port;
  test::make_bond(bond);
  test::make_member(bed.port);
  environment.scan = [&](const Policy&) {
    Node node = scanned();
    node.ports.insert(node.ports.begin(), bond);
    return node;
  };
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 0) << log;
  EXPECT_EQ(control(), 0x5936);
  EXPECT_TRUE(has(log, bed.port.id() + ": mrrs set: 512 -> 4096")) << log;
  const auto originals = state::load_originals(tree.path());
  ASSERT_TRUE(originals.ok() && originals->size() == 1);
  EXPECT_EQ(originals->begin()->second.mrrs, 512u);
}

// At boot no link is up yet, and this is the one time that it is written.
TEST_F(KeepPci, WritesWhatAllEntriesWantThatAPortWithoutALinkMayHave) {
  bed.port.carrier = false;
  PortPolicy fast = policy.ports[0];
  fast.match.speed = {"400000"};
  fast.want.mtu = 4200;
  policy.ports.insert(policy.ports.begin(), fast);
  policy.ports[0].want.mrrs = 2048;
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 1);
  EXPECT_EQ(control(), 0x2936) << "which of them is not known";
  EXPECT_TRUE(has(log, "mrrs waits: its link is down"));
  policy.ports[0].want.mrrs = 4096;
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 0) << log;
  EXPECT_EQ(control(), 0x5936);
}

TEST_F(KeepPci, WritesHostSettingsThatTakeItsPowerAndNoOthers) {
  tree.file("proc/sys/kernel/numa_balancing", "1\n").file("proc/sys/net/ipv4/tcp_ecn", "2\n");
  policy.sysctl = {{"kernel.numa_balancing", "0"}, {"net.ipv4.tcp_ecn", "1"}};
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 0) << log;
  EXPECT_EQ(tree.content("proc/sys/kernel/numa_balancing").substr(0, 1), "0");
  EXPECT_EQ(tree.content("proc/sys/net/ipv4/tcp_ecn"), "2\n");
  EXPECT_EQ(*qos::load_sysctl_originals(tree.path()), (qos::SysctlValues{{"kernel.numa_balancing", "1"}}));
}

TEST_F(KeepPci, WritesNothingBesideAFileOfANewerRelease) {
  tree.file("proc/sys/kernel/numa_balancing", "1\n");
  policy.sysctl = {{"kernel.numa_balancing", "0"}};
  for (const char* kept : {confirm::kFile, state::kOriginalsFile, qos::kSysctlOriginalsFile, state::kSelfTestFile}) {
    const std::string newer = R"({"format":2,"a":{}})";
    tree.file(kept, newer);
    log.clear();
    EXPECT_EQ(agentd::reconcile_pci(environment, policy), 2) << kept;
    EXPECT_EQ(control(), 0x2936) << kept;
    EXPECT_EQ(tree.content("proc/sys/kernel/numa_balancing"), "1\n") << kept;
    EXPECT_TRUE(has(log, "newer release") && has(log, "nstall that release again")) << log;
    EXPECT_EQ(tree.content(kept), newer);
    tree.remove(kept);
  }
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 0) << log;
  EXPECT_EQ(control(), 0x5936);
}

// Its previous settings are in a file of their own.
TEST_F(KeepPci, RevertsAnUnconfirmedApplyBesideOriginalsOfANewerRelease) {
  confirm::Record record{.id = "a", .boot_id = "an earlier boot"};
  state::original_of(record.before, bed.port).mrrs = 256;
  ASSERT_TRUE(confirm::save(tree.path(), record).ok());
  tree.file(state::kOriginalsFile, R"({"format":2,"a":{}})");
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 2);
  EXPECT_EQ(control(), 0x1936) << "256 bytes; 4096 are not written\n" << log;
  EXPECT_TRUE(has(log, "newer release")) << log;
}

TEST_F(KeepPci, PublishesAlsoWhereNothingIsWantedOrAWriteIsRefused) {
  policy.ports.clear();
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 0);
  EXPECT_EQ((*state::load_pci_state(tree.root()))->functions.size(), 4u);
  policy.ports.emplace_back().want = want(4096);
  sim_files()->on_write("*/config", test::refuse_text(EPERM));
  EXPECT_EQ(agentd::reconcile_pci(environment, policy), 2);
  EXPECT_EQ((*state::load_pci_state(tree.root()))->functions.at(bed.port.pci).mrrs, 512u);
}

}  // namespace
}  // namespace fabric
