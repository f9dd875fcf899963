// SPDX-License-Identifier: Apache-2.0
// Profiles, and what follows from traffic and cnp.
#include "config/config.h"
#include "kernel/capture/root.h"
#include "store/toml_value.h"
#include "support/test.h"
#include "vendor/driver.h"

namespace fabric {
namespace {

const std::string kShipped = FABRIC_SOURCE_DIR "/etc/profiles";

LoadedConfig loaded_from(const std::string& text, const std::string& profiles = kShipped) {
  auto loaded = parse_config(text, "f.toml", profiles);
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().text());
  return loaded.ok() ? *std::move(loaded) : LoadedConfig{};
}

PortPolicy port(const std::string& text) {
  const auto loaded = loaded_from(text);
  return loaded.policy.ports.empty() ? PortPolicy{} : loaded.policy.ports.front();
}

bool derived(const PortPolicy& port, std::string_view key) { return port.derived[index(*parse_setting(key))]; }

constexpr const char* kMarks = "traffic = { dscp = 26, priority = 3 }\ncnp = { dscp = 48, priority = 6 }\n";

TEST(Traffic, AllThatDependsOnItFollows) {
  const PortPolicy entry = port("[[port]]\n" + std::string(kMarks));
  EXPECT_EQ(entry.want.trust, Trust::dscp);
  EXPECT_EQ(entry.want.dscp_map, (DscpMap{{26, 3}, {48, 6}}));
  EXPECT_EQ(entry.want.pfc, PrioSet{1 << 3});
  ASSERT_TRUE(entry.want.ets);
  EXPECT_EQ(entry.want.ets->prio_tc, (Eight{0, 0, 0, 1, 0, 0, 2, 0}));
  EXPECT_EQ(entry.want.ets->bw, (Eight{50, 50, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(entry.want.ets->tsa[2], Tsa::strict);
  EXPECT_EQ(entry.want.ecn_rp, PrioSet{1 << 3});
  EXPECT_EQ(entry.want.ecn_np, PrioSet{1 << 3});
  EXPECT_EQ(entry.want.cnp_dscp, 48U);
  EXPECT_EQ(entry.want.cnp_prio, OrNone{6});
  EXPECT_EQ(entry.want.roce_tos, 106U);
  EXPECT_EQ(entry.want.roce_dscp, 26U);
  EXPECT_EQ(entry.want.roce_prio, 3U);
  EXPECT_EQ(entry.want.roce_mode, RoceMode::v2);
  EXPECT_EQ(entry.derived, keys_of(entry.want)) << "nothing else is given";
  EXPECT_EQ(entry.origin[index(SettingId::pfc)], "f.toml:2 (from traffic)");
  EXPECT_EQ(entry.origin[index(SettingId::cnp_dscp)], "f.toml:3 (from cnp)");
}

TEST(Traffic, AnotherMarkChangesAll) {
  const PortPolicy entry = port("[[port]]\ntraffic = { dscp = 10, priority = 4 }\n");
  EXPECT_EQ(entry.want.dscp_map, (DscpMap{{10, 4}}));
  EXPECT_EQ(entry.want.pfc, PrioSet{1 << 4});
  EXPECT_EQ(entry.want.ets->prio_tc, (Eight{0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(entry.want.roce_tos, 42U);
  EXPECT_FALSE(entry.want.cnp_dscp);
}

TEST(Traffic, WhatIsGivenStays) {
  const auto loaded = loaded_from("[[port]]\npfc = [3, 4]\nroce_tos = 104\ndscp_map = { 26 = 3, 34 = 4, 48 = 6 }\n" +
                                  std::string(kMarks));
  const PortPolicy& entry = loaded.policy.ports.at(0);
  EXPECT_EQ(entry.want.pfc, PrioSet{0b11000});
  EXPECT_EQ(entry.want.roce_tos, 104U);
  EXPECT_FALSE(derived(entry, "pfc"));
  EXPECT_EQ(entry.want.ets->prio_tc, (Eight{0, 0, 0, 1, 1, 0, 2, 0})) << "all that is lossless is one class";
  EXPECT_EQ(entry.want.ecn_rp, PrioSet{0b11000});
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(Traffic, OfTheEntryComesBeforeTheTopBeforeTheProfile) {
  const std::string entry = "[[port]]\nprofile = \"broadcom-thor2\"\n";
  const std::string top = "traffic = { dscp = 24, priority = 2 }\n";
  const PortPolicy profiles = port(entry);
  EXPECT_EQ(profiles.traffic, (Mark{26, 3}));
  EXPECT_EQ(profiles.cnp, (Mark{48, 7}));
  EXPECT_EQ(profiles.want.dscp_map, (DscpMap{{26, 3}, {48, 7}}));
  const PortPolicy tops = port(top + entry);
  EXPECT_EQ(tops.traffic, (Mark{24, 2}));
  EXPECT_EQ(tops.cnp, (Mark{48, 7})) << "one of the two may stand at the top";
  EXPECT_EQ(port(top + entry + "traffic = { dscp = 8, priority = 1 }\n").traffic, (Mark{8, 1}));
  const PortPolicy none = port(top + entry + "traffic = \"none\"\n");
  EXPECT_FALSE(none.traffic);
  EXPECT_FALSE(none.want.pfc);
}

TEST(Traffic, DoesNotReachAnEntryThatLeavesItsPortsAlone) {
  EXPECT_EQ(port(std::string(kMarks) + "[[port]]\nname = \"storage\"\nmatch = { netdev = \"eno*\" }\n").want, Qos{});
  EXPECT_EQ(port(std::string(kMarks) + "[[port]]\nmtu = 9000\n").want.pfc, PrioSet{1 << 3});
}

TEST(Traffic, WhereThePriorityTagDecidesThereIsNoMap) {
  const PortPolicy entry = port("[[port]]\ntrust = \"pcp\"\n" + std::string(kMarks));
  EXPECT_FALSE(entry.want.dscp_map);
  EXPECT_FALSE(entry.want.roce_tos);
  EXPECT_EQ(entry.want.pfc, PrioSet{1 << 3});
}

TEST(Profile, TheEntrysOwnValuesComeFirst) {
  const PortPolicy entry = port("[[port]]\nprofile = \"nvidia-dcqcn\"\nmtu = 4200\n");
  EXPECT_EQ(entry.want.mtu, 4200U);
  EXPECT_EQ(entry.origin[index(SettingId::mtu)], "f.toml:3");
  EXPECT_EQ(entry.want.dcbx, Dcbx::host);
  EXPECT_TRUE(entry.origin[index(SettingId::dcbx)].starts_with(kShipped + "/nvidia-dcqcn.toml:"))
      << entry.origin[index(SettingId::dcbx)];
  EXPECT_EQ(entry.profile, "nvidia-dcqcn");
  EXPECT_FALSE(derived(entry, "dcbx"));
}

TEST(Profile, ShownWithItReadsBackWithoutIt) {
  const auto loaded = loaded_from(
      std::string(kMarks) +
      "[[port]]\nprofile = \"intel-e810\"\nmatch = { speed = [\"100G\", 25000], numa = 1, role = \"compute\", "
      "pci_id = \"8086:159B\" }\n[sysctl]\nnet.ipv4.tcp_ecn = 1\n\"net.ipv4.tcp_rmem\" = \"4096  87380 100000\"\n");
  Policy policy = loaded.policy;
  policy.maintenance = {{0x7f, 60, 120}, {0b1000001, 1380, 30}};
  policy.release = Release::restore;
  const std::string shown = show_config(policy);
  const auto again = loaded_from(shown, "");
  ASSERT_EQ(again.policy.ports.size(), 1U);
  EXPECT_EQ(again.policy.ports[0].want, policy.ports[0].want);
  EXPECT_EQ(again.policy.ports[0].derived, policy.ports[0].derived);
  EXPECT_EQ(again.policy.ports[0].match, policy.ports[0].match);
  EXPECT_EQ(again.policy.ports[0].match.speed, (std::vector<std::string>{"100000", "25000"}));
  EXPECT_EQ(again.policy.ports[0].match.pci_id, std::vector<std::string>{"8086:159b"});
  EXPECT_EQ(again.policy.sysctl, policy.sysctl);
  EXPECT_EQ(policy.sysctl.at("net.ipv4.tcp_rmem"), "4096 87380 100000");
  EXPECT_EQ(again.policy.maintenance, policy.maintenance);
  EXPECT_EQ(again.policy.release, Release::restore);
  EXPECT_NE(shown.find("(from traffic)"), std::string::npos) << shown;
  EXPECT_NE(shown.find("intel-e810.toml:"), std::string::npos) << shown;
}

class ProfileFiles : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fabric-profile-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    std::filesystem::create_directories(folder_ / "profiles");
    std::filesystem::create_directories(folder_ / "conf.d");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  Result<LoadedConfig> load() { return load_config((folder_ / "a.toml").string()); }
  std::filesystem::path folder_;
};

TEST_F(ProfileFiles, StandBesideTheMainFileForItsDropInsToo) {
  put("a.toml", "mode = \"audit\"\n");
  put("conf.d/10.toml", "[[port]]\nprofile = \"site\"\n");
  put("profiles/site.toml", "mtu = 4200\n");
  const auto loaded = load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.ports.at(0).want.mtu, 4200U);
}

TEST_F(ProfileFiles, AFaultInOneIsToldOnceWithItsPlace) {
  put("a.toml", "mode = \"audit\"\n[[port]]\nprofile = \"site\"\nmatch = { numa = 0 }\n[[port]]\nprofile = \"site\"\n");
  put("profiles/site.toml", "mtu = 4200\nname = \"x\"\nmtuu = 1\nroce_tos = 3\npfc = [3]\npause = \"rx\"\n");
  const auto loaded = load();
  ASSERT_FALSE(loaded.ok());
  const std::string file = (folder_ / "profiles/site.toml").string();
  EXPECT_EQ(
      loaded.error().text(),
      file + ":3:1: unknown key \"mtuu\"; did you mean \"mtu\"?\n" + file +
          ":2:1: name: a profile has settings only; write name in the [[port]] entry that names the profile\n" + file +
          ":4:12: roce_tos: 3 has both ECN bits set, which marks every packet as congested; write roce_tos = 106\n" +
          file + ":6:9: pause: global pause and pfc exclude each other (802.1Qbb); write pause = \"off\"");
}

// In a captured tree, where the package's folder is the tree's.
TEST_F(ProfileFiles, OfThePackageAreUsedUnlessTheOperatorHasOne) {
  const std::string shipped = "usr/share/fabric-agent/profiles", own = "etc/fabric-agent";
  std::filesystem::create_directories(folder_ / shipped);
  std::filesystem::create_directories(folder_ / own / "profiles");
  put(own + "/fabric-agent.toml", "mode = \"audit\"\n[[port]]\nprofile = \"site\"\n");
  put(shipped + "/site.toml", "mtu = 4200\n");
  const auto root = Root::open(folder_.string());
  ASSERT_TRUE(root.ok());
  auto loaded = load_config(*root, "");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.ports.at(0).want.mtu, 4200U);

  put(own + "/profiles/site.toml", "mtu = 9000\n");
  loaded = load_config(*root, "");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.ports.at(0).want.mtu, 9000U);

  put(own + "/profiles/other.toml", "mtu = 9000\n");
  put(own + "/fabric-agent.toml", "mode = \"audit\"\n[[port]]\nprofile = \"sit\"\n");
  const std::string text = load_config(*root, "").error().text();
  EXPECT_NE(text.find("write \"other\" or \"site\""), std::string::npos) << text;
}

TEST_F(ProfileFiles, OnesThatNobodyNamesAreNotRead) {
  put("a.toml", "mode = \"audit\"\n[[port]]\nmtu = 9000\n");
  put("profiles/broken.toml", "[[[");
  EXPECT_TRUE(load().ok());
}

// The kernel driver that each shipped profile is for.
const std::map<std::string, std::string> kDriverOf{{"nvidia-dcqcn", "mlx5_core"},
                                                   {"oci", "mlx5_core"},
                                                   {"broadcom-thor2", "bnxt_en"},
                                                   {"amd-pollara", "ionic"},
                                                   {"intel-e810", "ice"}};

TEST(ShippedProfile, AsksForNothingThatItsDriverCannotDo) {
  size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(kShipped)) {
    const std::string name = each.path().stem().string();
    SCOPED_TRACE(name);
    ++files;
    ASSERT_TRUE(kDriverOf.contains(name));
    const auto loaded = loaded_from("[[port]]\nprofile = \"" + name + "\"\n");
    EXPECT_TRUE(loaded.warnings.empty()) << loaded.warnings.front().where << loaded.warnings.front().what;
    ASSERT_EQ(loaded.policy.ports.size(), 1U);
    const PortPolicy& entry = loaded.policy.ports[0];
    EXPECT_TRUE(entry.traffic && entry.cnp);
    const Driver& driver = driver_for(kDriverOf.at(name));
    const Keys own = keys_of(entry.want) & ~entry.derived;
    for (size_t row = 0; row < kSettingCount; ++row) {
      const bool offered = op_of(driver, kSettings[row].id).write != nullptr;
      EXPECT_TRUE(offered || !own[row]) << kSettings[row].key;
    }
  }
  EXPECT_EQ(files, kDriverOf.size());
}

// Every setting that a port gets, in the file's own form.
std::string wanted(const PortPolicy& entry) {
  std::string out;
  for (const Setting& setting : kSettings)
    if (has_value(setting, entry.want))
      out += std::string(setting.key) + " = " + setting_toml(setting, entry.want) + "\n";
  return out;
}

std::string oci_map() {
  std::string out;
  for (int dscp = 0; dscp < 64; ++dscp)
    out += (dscp == 0 ? "" : ", ") + std::to_string(dscp) + " = " + (dscp == 10 ? "0" : dscp == 46 ? "6" : "1");
  return "dscp_map = { " + out + " }\n";
}

// In ets of all: 50 % for the rest (class 0) and for the lossless priority (class 1).
std::string ets(const std::string& prio_tc) {
  return "ets = { prio_tc = [" + prio_tc +
         "], tsa = [\"ets\", \"ets\", \"strict\", \"strict\", \"strict\", \"strict\", \"strict\", \"strict\"], "
         "bw = [50, 50, 0, 0, 0, 0, 0, 0] }\n";
}

// The vendors' values (sources: the comments of the profiles), whole: those of the sample must not replace them.
const std::map<std::string, std::string> kWantedOf{
    {"nvidia-dcqcn",
     "dcbx = \"host\"\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\ndscp_map = { 26 = 3, 48 = 6 }\n" +
         ets("0, 0, 0, 1, 0, 0, 2, 0") +
         "pfc = [3]\necn_rp = [3]\necn_np = [3]\ncnp_dscp = 48\ncnp_prio = 6\nroce_dscp = 26\nroce_prio = 3\n"
         "roce_mode = \"v2\"\nroce_tos = 106\n"},
    {"oci", "dcbx = \"host\"\npause = \"off\"\ntrust = \"dscp\"\n" + oci_map() + ets("1, 0, 0, 0, 0, 0, 2, 0") +
                "pfc = [0]\necn_rp = [0]\necn_np = [0]\ncnp_dscp = 46\ncnp_prio = 6\nroce_dscp = 10\nroce_prio = 0\n"
                "roce_mode = \"v2\"\nroce_tos = 42\n"},
    {"broadcom-thor2",
     "dcbx = \"host\"\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\ndscp_map = { 26 = 3, 48 = 7 }\n" +
         ets("0, 0, 0, 1, 0, 0, 0, 2") +
         "pfc = [3]\necn_rp = [3]\necn_np = [3]\ncnp_dscp = 48\ncnp_prio = 7\nroce_dscp = 26\nroce_prio = 3\n"
         "roce_mode = \"v2\"\nroce_tos = 106\n"},
    {"amd-pollara",
     "mtu = 9000\ntrust = \"dscp\"\ndscp_map = { 24 = 3, 46 = 6 }\n" + ets("0, 0, 0, 1, 0, 0, 2, 0") +
         "pfc = [3]\necn_rp = [3]\necn_np = [3]\ncnp_dscp = 46\ncnp_prio = 6\nroce_dscp = 24\nroce_prio = 3\n"
         "roce_mode = \"v2\"\nroce_tos = 98\n"},
    {"intel-e810",
     "dcbx = \"host\"\nfw_lldp = false\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\n"
     "dscp_map = { 26 = 3, 48 = 6 }\n" +
         ets("0, 0, 0, 1, 0, 0, 2, 0") +
         "pfc = [3]\necn_rp = [3]\necn_np = [3]\ncnp_dscp = 48\ncnp_prio = 6\nroce_dscp = 26\nroce_prio = 3\n"
         "roce_mode = \"v2\"\nroce_tos = 106\n"}};

TEST(ShippedProfile, EverySettingHasItsVendorsValue) {
  for (const auto& [name, want] : kWantedOf) {
    EXPECT_EQ(wanted(port("[[port]]\nprofile = \"" + name + "\"\n")), want) << name;
  }
}

TEST(ShippedProfile, TheSampleLeavesItsValuesAsTheyAre) {
  const auto sample = load_config(FABRIC_SOURCE_DIR "/etc/fabric-agent.toml");
  ASSERT_TRUE(sample.ok()) << sample.error().text();
  size_t profiles = 0;
  for (const PortPolicy& entry : sample->policy.ports) {
    if (entry.profile.empty()) continue;
    ++profiles;
    EXPECT_EQ(wanted(entry), kWantedOf.at(entry.profile)) << entry.name;
  }
  EXPECT_EQ(profiles, 4U);
}

}  // namespace
}  // namespace fabric
