// SPDX-License-Identifier: Apache-2.0
// Profiles, and what follows from traffic and cnp.
#include "kernel/capture/root.h"
#include "nic/driver.h"
#include "policy/config.h"
#include "policy/toml_value.h"
#include "support/config.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;
using test::loaded;

const std::string kShipped = FABRIC_SOURCE_DIR "/etc/profiles";

LoadedConfig loaded_from(const std::string& text) { return test::loaded_from(text, kShipped); }

PortPolicy port(const std::string& text) {
  const LoadedConfig config = loaded_from(text);
  return config.policy.ports.empty() ? PortPolicy{} : config.policy.ports.front();
}

bool derived(const PortPolicy& port, std::string_view key) { return port.derived[index(*parse_setting(key))]; }

constexpr const char* kMarks = "traffic = { dscp = 26, priority = 3 }\ncnp = { dscp = 48, priority = 6 }\n";

TEST(Traffic, AllThatDependsOnItFollows) {
  const PortPolicy entry = port("[[port]]\n" + std::string(kMarks));
  const Ets ets{.prio_tc = {0, 0, 0, 1, 0, 0, 2, 0}, .tsa = {Tsa::ets, Tsa::ets, Tsa::strict}, .bw = {50, 50}};
  EXPECT_EQ(entry.want, (Qos{.trust = Trust::dscp,
                             .dscp_map = DscpMap{{26, 3}, {48, 6}},
                             .ets = ets,
                             .pfc = PrioSet{1 << 3},
                             .ecn_rp = PrioSet{0xff},
                             .ecn_np = PrioSet{0xff},
                             .cnp_dscp = 48,
                             .cnp_prio = OrNone{6},
                             .roce_dscp = 26,
                             .roce_prio = 3,
                             .roce_mode = RoceMode::v2,
                             .roce_tos = 106}));
  EXPECT_EQ(entry.want.ets->bw, ets.bw) << "Ets compares what matters";
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
  const auto config = loaded_from("[[port]]\npfc = [3, 4]\nroce_tos = 104\ndscp_map = { 26 = 3, 34 = 4, 48 = 6 }\n" +
                                  std::string(kMarks));
  const PortPolicy& entry = config.policy.ports.at(0);
  EXPECT_EQ(entry.want.pfc, PrioSet{0b11000});
  EXPECT_EQ(entry.want.roce_tos, 104U);
  EXPECT_FALSE(derived(entry, "pfc"));
  EXPECT_EQ(entry.want.ets->prio_tc, (Eight{0, 0, 0, 1, 1, 0, 2, 0})) << "all that is lossless is one class";
  EXPECT_TRUE(config.warnings.empty());
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
  Policy policy =
      loaded_from(
          std::string(kMarks) +
          "[[port]]\nprofile = \"intel-e810\"\nmatch = { speed = [\"100G\", 25000], numa = 1, role = \"compute\", "
          "pci_id = \"8086:159B\" }\n[sysctl]\nnet.ipv4.tcp_ecn = 1\n\"net.ipv4.tcp_rmem\" = \"4096  87380 100000\"\n")
          .policy;
  policy.maintenance = {{0x7f, 60, 120}, {0b1000001, 1380, 30}};
  policy.release = Release::restore;
  const std::string shown = show_config(policy);
  const Policy again = test::good(shown);
  ASSERT_EQ(again.ports.size(), 1U);
  EXPECT_EQ(again.ports[0].want, policy.ports[0].want);
  EXPECT_EQ(again.ports[0].derived, policy.ports[0].derived);
  EXPECT_EQ(again.ports[0].match, policy.ports[0].match);
  EXPECT_EQ(again.ports[0].match.speed, (std::vector<std::string>{"100000", "25000"}));
  EXPECT_EQ(again.ports[0].match.pci_id, std::vector<std::string>{"8086:159b"});
  EXPECT_EQ(again.sysctl, policy.sysctl);
  EXPECT_EQ(policy.sysctl.at("net.ipv4.tcp_rmem"), "4096 87380 100000");
  EXPECT_EQ(again.maintenance, policy.maintenance);
  EXPECT_EQ(again.release, Release::restore);
  EXPECT_TRUE(has(shown, "(from traffic)"));
  EXPECT_TRUE(has(shown, "intel-e810.toml:"));
}

using ProfileFiles = test::ConfigFiles;

TEST_F(ProfileFiles, StandBesideTheMainFileForItsDropInsToo) {
  tree.file("a.toml", "mode = \"audit\"\n");
  tree.file("conf.d/10.toml", "[[port]]\nprofile = \"site\"\n");
  tree.file("profiles/site.toml", "mtu = 4200\n");
  EXPECT_EQ(loaded(load()).policy.ports.at(0).want.mtu, 4200U);
}

TEST_F(ProfileFiles, AFaultInOneIsToldOnceWithItsPlace) {
  tree.file("a.toml",
            "mode = \"audit\"\n[[port]]\nprofile = \"site\"\nmatch = { numa = 0 }\n[[port]]\nprofile = \"site\"\n");
  tree.file("profiles/site.toml", "mtu = 4200\nname = \"x\"\nmtuu = 1\nroce_tos = 3\npfc = [3]\npause = \"rx\"\n");
  const std::string file = tree.path() + "/profiles/site.toml";
  EXPECT_EQ(
      test::refused(load()),
      file + ":2:1: name: a profile has settings only; write name in the [[port]] entry that names the profile\n" +
          file + ":3:1: unknown key \"mtuu\"; did you mean \"mtu\"?\n" + file +
          ":4:12: roce_tos: 3 has both ECN bits set, which marks every packet as congested; for example roce_tos = 106\n" +
          file + ":6:9: pause: global pause and pfc exclude each other (802.1Qbb); write pause = \"off\"");
}

// In a captured tree, where the package's folder is the tree's.
TEST_F(ProfileFiles, OfThePackageAreUsedUnlessTheOperatorHasOne) {
  const std::string shipped = "usr/share/fabric-agent/profiles", own = "etc/fabric-agent";
  tree.file(own + "/fabric-agent.toml", "mode = \"audit\"\n[[port]]\nprofile = \"site\"\n");
  tree.file(shipped + "/site.toml", "mtu = 4200\n");
  const auto load = [this] { return load_config(tree.root(), ""); };
  EXPECT_EQ(loaded(load()).policy.ports.at(0).want.mtu, 4200U);
  tree.file(own + "/profiles/site.toml", "mtu = 9000\n");
  EXPECT_EQ(loaded(load()).policy.ports.at(0).want.mtu, 9000U);

  tree.file(own + "/profiles/other.toml", "mtu = 9000\n");
  tree.file(own + "/fabric-agent.toml", "mode = \"audit\"\n[[port]]\nprofile = \"sit\"\n");
  EXPECT_TRUE(has(test::refused(load()), "it has \"other\", \"site\""));
}

TEST_F(ProfileFiles, OnesThatNobodyNamesAreNotRead) {
  tree.file("a.toml", "mode = \"audit\"\n[[port]]\nmtu = 9000\n");
  tree.file("profiles/broken.toml", "[[[");
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
    const auto config = loaded_from("[[port]]\nprofile = \"" + name + "\"\n");
    EXPECT_TRUE(config.warnings.empty()) << config.warnings.front().where << config.warnings.front().what;
    ASSERT_EQ(config.policy.ports.size(), 1U);
    const PortPolicy& entry = config.policy.ports[0];
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

const std::string kEcnOnAll = "ecn_rp = [0, 1, 2, 3, 4, 5, 6, 7]\necn_np = [0, 1, 2, 3, 4, 5, 6, 7]\n";

// The vendors' values (sources: the comments of the profiles), whole: those of the sample must not replace them.
const std::map<std::string, std::string> kWantedOf{
    {"nvidia-dcqcn", "dcbx = \"host\"\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\ndscp_map = { 26 = 3, 48 = 6 }\n" +
                         ets("0, 0, 0, 1, 0, 0, 2, 0") + "pfc = [3]\n" + kEcnOnAll +
                         "cnp_dscp = 48\ncnp_prio = 6\nroce_dscp = 26\nroce_prio = 3\n"
                         "roce_mode = \"v2\"\nroce_tos = 106\n"},
    {"oci", "dcbx = \"host\"\npause = \"off\"\ntrust = \"dscp\"\n" + oci_map() + ets("1, 0, 0, 0, 0, 0, 2, 0") +
                "pfc = [0]\n" + kEcnOnAll +
                "cnp_dscp = 46\ncnp_prio = 6\nroce_dscp = 10\nroce_prio = 0\n"
                "roce_mode = \"v2\"\nroce_tos = 42\n"},
    {"broadcom-thor2",
     "dcbx = \"host\"\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\ndscp_map = { 26 = 3, 48 = 7 }\n" +
         ets("0, 0, 0, 1, 0, 0, 0, 2") + "pfc = [3]\n" + kEcnOnAll +
         "cnp_dscp = 48\ncnp_prio = 7\nroce_dscp = 26\nroce_prio = 3\n"
         "roce_mode = \"v2\"\nroce_tos = 106\n"},
    {"amd-pollara", "mtu = 9000\ntrust = \"dscp\"\ndscp_map = { 24 = 3, 46 = 6 }\n" + ets("0, 0, 0, 1, 0, 0, 2, 0") +
                        "pfc = [3]\n" + kEcnOnAll +
                        "cnp_dscp = 46\ncnp_prio = 6\nroce_dscp = 24\nroce_prio = 3\n"
                        "roce_mode = \"v2\"\nroce_tos = 98\n"},
    {"intel-e810",
     "dcbx = \"host\"\nfw_lldp = false\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\n"
     "dscp_map = { 26 = 3, 48 = 6 }\n" +
         ets("0, 0, 0, 1, 0, 0, 2, 0") + "pfc = [3]\n" + kEcnOnAll +
         "cnp_dscp = 48\ncnp_prio = 6\nroce_dscp = 26\nroce_prio = 3\n"
         "roce_mode = \"v2\"\nroce_tos = 106\n"}};

TEST(ShippedProfile, EverySettingHasItsVendorsValue) {
  for (const auto& [name, want] : kWantedOf) {
    EXPECT_EQ(wanted(port("[[port]]\nprofile = \"" + name + "\"\n")), want) << name;
  }
}

TEST(ShippedProfile, TheSampleLeavesItsValuesAsTheyAre) {
  const Policy sample = loaded(load_config(FABRIC_SOURCE_DIR "/etc/fabric-agent.toml")).policy;
  size_t profiles = 0;
  for (const PortPolicy& entry : sample.ports) {
    if (entry.profile.empty()) continue;
    ++profiles;
    EXPECT_EQ(wanted(entry), kWantedOf.at(entry.profile)) << entry.name;
  }
  EXPECT_EQ(profiles, 4U);
}

}  // namespace
}  // namespace fabric
