// SPDX-License-Identifier: Apache-2.0
// The meaning of a valid configuration: the entry of a port, profiles and the settings derived from traffic and cnp.
// [rules.ID]: every limit has its source and its key and follows the configuration; every rule can be switched off, and
// its severity changed.
#include "policy/policy.h"

#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/report.h"
#include "kernel/capture/root.h"
#include "nic/driver.h"
#include "policy/config.h"
#include "policy/show_config.h"
#include "policy/toml_value.h"
#include "support/config.h"
#include "support/diagnosed.h"
#include "support/healthy_node.h"
#include "support/ports.h"
#include "support/rules.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;
using test::loaded;

// -- Entries and their ports

Port roce_port() {
  return {.rdma = "mlx5_0",
          .netdev = "ens1f0np0",
          .pci = "0000:17:00.0",
          .kernel_driver = "mlx5_core",
          .driver = "mlx5",
          .link_layer = LinkLayer::ethernet};
}

Policy policy_with(Match match) { return {.ports = {{.match = std::move(match)}}}; }

// The name of the entry that has the port; "none".
std::string entry_of(const Policy& policy, const Port& port) {
  const PortPolicy* found = policy_for(policy, port);
  return found == nullptr ? "none" : found->name;
}

bool takes(Match match, const Port& port = roce_port()) {
  return policy_for(policy_with(std::move(match)), port) != nullptr;
}

Match drivers(std::vector<std::string> patterns) { return {.driver = std::move(patterns)}; }

TEST(PolicyFor, AnEntryWithoutMatchTakesEveryRocePort) { EXPECT_TRUE(takes({})); }

TEST(PolicyFor, ADriverIsMatchedByTheKernelsNameAndByOurs) {
  EXPECT_TRUE(takes(drivers({"mlx5_core"})));
  EXPECT_TRUE(takes(drivers({"mlx5"})));
  EXPECT_FALSE(takes(drivers({"bnxt*"})));
}

TEST(PolicyFor, EveryGivenListMustHaveAMatch) {
  Match match{.driver = {"bnxt_en", "mlx5*"}, .rdma = {"mlx5_[01]"}, .netdev = {"ens*"}, .pci = {"0000:17:*"}};
  EXPECT_TRUE(takes(match));
  match.netdev = {"eth*"};
  EXPECT_FALSE(takes(match));
}

TEST(PolicyFor, ANetdevIsMatchedByItsOtherNames) {
  Port port = roce_port();
  port.altnames = {"rail0", "enp23s0f0np0"};
  EXPECT_TRUE(takes({.netdev = {"rail*"}}, port));
  EXPECT_TRUE(takes({.netdev = {"ens1f0np0"}}, port));
  EXPECT_FALSE(takes({.netdev = {"rail1"}}, port));
}

TEST(PolicyFor, APortIsMatchedByWhatItIs) {
  Port port = roce_port();
  port.pci_id = "15b3:1021";
  port.speed = 400'000;
  port.numa = 1;
  port.place = PortPlace::compute;
  Match match{.pci_id = {"15b3:*"}, .speed = {"200000", "400000"}, .numa = {"1"}, .role = {"compute"}};
  EXPECT_TRUE(takes(match, port));
  EXPECT_FALSE(takes(match)) << "what is not known matches nothing";
  match.numa = {"0"};
  EXPECT_FALSE(takes(match, port));
}

// Cisco's VIC is the management NIC of its servers.
TEST(PolicyFor, AUsnicDeviceIsLeftAlone) {
  Port port = roce_port();
  port.transport = RdmaTransport::usnic;
  EXPECT_FALSE(takes({}, port));
}

TEST(RoceTrafficClass, IsThatOfTheUsualDscpWithPfc) {
  PortPolicy entry;
  entry.want.pfc = PrioSet{0x08};
  entry.want.dscp_map = DscpMap{{24, 3}, {26, 3}, {48, 6}};
  EXPECT_EQ(roce_traffic_class(entry), 106U);
  entry.want.dscp_map = DscpMap{{24, 3}, {26, 0}};
  EXPECT_EQ(roce_traffic_class(entry), 98U) << "the first with PFC";
  entry.traffic = Mark{34, 4};
  EXPECT_EQ(roce_traffic_class(entry), 138U);
  entry.want.roce_tos = 104;
  EXPECT_EQ(roce_traffic_class(entry), 104U) << "a byte of its own, without ECT(0)";
}

TEST(RocePriorities, AreThoseWithPfcAndOnALossyFabricThatOfTraffic) {
  PortPolicy entry;
  EXPECT_EQ(roce_priorities(entry), PrioSet{});
  entry.traffic = Mark{26, 3};
  EXPECT_EQ(roce_priorities(entry), PrioSet{}) << "PFC is not wanted";
  entry.fabric.kind = FabricKind::lossy;
  EXPECT_EQ(roce_priorities(entry), PrioSet{0x08});
  entry.want.pfc = PrioSet{0x10};
  EXPECT_EQ(roce_priorities(entry), PrioSet{0x18});
}

TEST(Window, PastMidnightBelongsToTheDayOnWhichItBegins) {
  const std::vector<Window> windows{{1U << 6, 1380, 60}};  // Sat 23:00-01:00
  EXPECT_TRUE(in_window(windows, 6, 1380));
  EXPECT_TRUE(in_window(windows, 0, 59));
  EXPECT_FALSE(in_window(windows, 0, 60));
  EXPECT_FALSE(in_window(windows, 0, 1380));
  EXPECT_FALSE(in_window(windows, 6, 30));
  EXPECT_TRUE(in_window({}, 3, 0)) << "no window at all is no limit";
}

TEST(PolicyFor, TheFirstMatchWins) {
  Policy policy = policy_with(drivers({"bnxt_en"}));
  for (const char* name : {"second", "third"}) policy.ports.emplace_back().name = name;
  EXPECT_EQ(entry_of(policy, roce_port()), "second");
}

// A link that is down has no speed: an entry that matches one may be the port's, and no later one is.
TEST(PolicyFor, WithoutASpeedWhatAsksForOneIsUndecided) {
  const Policy policy{
      .ports = {{.name = "fast", .match = {.driver = {"mlx5_core"}, .speed = {"400000"}}}, {.name = "rest"}}};
  Port port = roce_port();
  EXPECT_EQ(entry_of(policy, port), "rest") << "one that never says its speed";
  port.carrier = false;
  EXPECT_EQ(entry_of(policy, port), "none");
  EXPECT_TRUE(test::has(why_unmanaged(policy, port), "fast"));
  port.speed = 100'000;
  EXPECT_EQ(entry_of(policy, port), "rest");
  port.speed.reset();
  port.kernel_driver = port.driver = "bnxt_en";
  EXPECT_EQ(entry_of(policy, port), "rest") << "no speed would make it the first one's";
}

TEST(PolicyFor, ThatTheRoleAloneDiffersIsSaid) {
  Policy policy{.ports = {{.name = "gpus", .match = {.driver = {"mlx5_core"}, .role = {"compute"}}}}};
  Port port = roce_port();
  EXPECT_EQ(why_unmanaged(policy, port), "no [[port]] entry matches") << "the topology was not read";
  port.place = PortPlace::host;
  EXPECT_EQ(why_unmanaged(policy, port),
            "no [[port]] entry matches: \"gpus\" is for the role compute, and this port has the role host");
  ASSERT_NE(entry_but_for_role(policy, port), nullptr);
  port.kernel_driver = port.driver = "bnxt_en";
  EXPECT_EQ(why_unmanaged(policy, port), "no [[port]] entry matches");
  port.kernel_driver = "mlx5_core";
  policy.ports.emplace_back().name = "rest";
  EXPECT_EQ(entry_but_for_role(policy, port), nullptr) << "managed by another one";
}

TEST(PolicyFor, APortThatIsNoEthernetPortHasNoPhysicalFunctionToSet) {
  Port port{.rdma = "rdmap19s0", .pci = "0000:13:00.0", .role = PortRole::guest_function, .kernel_driver = "efa"};
  EXPECT_EQ(why_unmanaged({}, port), "no Ethernet port (efa), it has none of these settings");
  port.kernel_driver = "mlx5_core";
  EXPECT_TRUE(test::has(why_unmanaged({}, port), "physical function"));
}

TEST(PolicyFor, PortsWhoseSettingsAreNotTheirOwnAreLeftAlone) {
  Port infiniband = roce_port(), function = roce_port(), bare = roce_port();
  infiniband.link_layer = LinkLayer::infiniband;
  test::make_virtual(function);
  bare.netdev.clear();
  for (const Port& port : {infiniband, function, bare}) EXPECT_FALSE(takes({}, port)) << port.netdev;
}

TEST(Policy, ChangesNothingUnlessToldTo) {
  EXPECT_EQ(Policy{}.mode, Mode::audit);
  EXPECT_EQ(Policy{}.disruptive, Disruptive::idle);
  EXPECT_EQ(to_text(Mode::enforce), "enforce");
  EXPECT_EQ(to_text(Disruptive::never), "never");
}

// -- Profiles, and the settings derived from traffic and cnp

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

TEST(FabricKind, OfTheEntryComesBeforeTheSiteBeforeTheProfile) {
  const std::string marks(kMarks), lossy = "[fabric]\nkind = \"lossy\"\n", entry = "[[port]]\nmtu = 9000\n";
  const PortPolicy lossless = port(marks + entry), site = port(marks + lossy + entry);
  EXPECT_EQ(lossless.want.pfc, PrioSet{1 << 3});
  EXPECT_EQ(site.want.pfc, PrioSet{});
  EXPECT_EQ(site.want.ecn_rp, PrioSet{0xff});
  EXPECT_TRUE(derived(site, "pfc"));
  EXPECT_EQ(site.origin[index(SettingId::pfc)], "f.toml:4 (from fabric)");
  const PortPolicy own = port(marks + lossy + entry + "fabric = { kind = \"scheduled\", spraying = true }\n");
  EXPECT_EQ(own.fabric, (Fabric{FabricKind::scheduled, false, true}));
  EXPECT_EQ(own.want.pfc, PrioSet{1 << 3});
  EXPECT_FALSE(own.want.ecn_rp || own.want.ecn_np) << "credits control congestion";
  EXPECT_EQ(port("[fabric]\nkind = \"lossless\"\n[[port]]\nprofile = \"nvidia-lossy\"\n").want.pfc, PrioSet{1 << 3});
  EXPECT_EQ(port("[fabric]\nspraying = true\n[[port]]\nprofile = \"nvidia-lossy\"\n").fabric,
            (Fabric{FabricKind::lossy, false, true}));
  EXPECT_EQ(port("[[port]]\nprofile = \"nvidia-spectrum-x\"\n").fabric, (Fabric{.adaptive_routing = true}));
  EXPECT_FALSE(
      port("[[port]]\nprofile = \"nvidia-spectrum-x\"\nfabric = { adaptive_routing = false }\n").fabric.reorders());
  EXPECT_EQ(port(lossy + "[[port]]\nname = \"storage\"\n").want, Qos{}) << "an entry without settings";
}

TEST(FabricKind, ReadsBackAndWarns) {
  const Policy policy =
      loaded_from("[fabric]\nadaptive_routing = true\n" + std::string("[[port]]\nprofile = \"nvidia-lossy\"\n")).policy;
  const Policy again = test::good(show_config(policy));
  EXPECT_EQ(again.fabric, policy.fabric);
  EXPECT_EQ(again.ports.at(0).fabric, policy.ports.at(0).fabric);
  EXPECT_EQ(again.ports.at(0).want, policy.ports.at(0).want);
  const auto config = loaded_from("[[port]]\nfabric = { kind = \"lossy\" }\npfc = [3]\n");
  ASSERT_EQ(config.warnings.size(), 1U);
  EXPECT_TRUE(has(config.warnings[0].what, "write pfc = []")) << config.warnings[0].what;
  const auto text = [](const std::string& entry) {
    return joined(loaded_from(entry).warnings, "\n", [](const ConfigWarning& each) { return each.what; });
  };
  EXPECT_TRUE(has(text("[[port]]\nfabric = { kind = \"lossy\" }\ncc = false\n"), "packets that are lost"));
  EXPECT_EQ(text("[[port]]\nfabric = { kind = \"scheduled\" }\ncc = false\n"), "");
  EXPECT_TRUE(has(text("[[port]]\nfabric = { kind = \"scheduled\" }\nrpg_ai_rate = 500\n"), "more aggressive"));
}

// Its digest tells whether two nodes, or a node before and after a reload, have one policy.
TEST(WantedConfig, DoesNotDependOnThePlaceOfAKey) {
  const std::string entry =
      "[[port]]\nname = \"rail\"\nmatch = { netdev = \"eth0\" }\nfront_end = true\nprofile = \"nvidia-lossy\"\n"
      "fabric = { kind = \"lossy\" }\ntraffic = { dscp = 26, priority = 3 }\ncnp = { dscp = 48, priority = 6 }\nmtu = "
      "9000\n";
  const std::string text = wanted_config(loaded_from(entry).policy);
  EXPECT_TRUE(has(text, "lossy")) << text;
  EXPECT_EQ(wanted_config(loaded_from("# a comment\n" + entry).policy), text);
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
  EXPECT_EQ(test::refused(load()),
            file +
                ":2:1: name: a profile has settings only; write name in the [[port]] entry that names the profile\n" +
                file + ":3:1: unknown key \"mtuu\"; did you mean \"mtu\"?\n" + file +
                ":4:12: roce_tos: 3 has both ECN bits set, which marks every packet as congested; for example roce_tos "
                "= 106\n" +
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
const std::map<std::string, std::string> kDriverOf{
    {"nvidia-dcqcn", "mlx5_core"},      {"oci", "mlx5_core"},
    {"nvidia-lossy", "mlx5_core"},      {"nvidia-scheduled", "mlx5_core"},
    {"nvidia-spectrum-x", "mlx5_core"}, {"broadcom-thor2", "bnxt_en"},
    {"amd-pollara", "ionic"},           {"intel-e810", "ice"}};

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
  for (int dscp = 0; dscp < 64; ++dscp) {
    int priority = 1;
    if (dscp == 10) priority = 0;
    if (dscp == 46) priority = 6;
    out += (dscp == 0 ? "" : ", ") + std::to_string(dscp) + " = " + std::to_string(priority);
  }
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
    {"nvidia-lossy", "dcbx = \"host\"\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\ndscp_map = { 26 = 3, 48 = 6 }\n" +
                         ets("0, 0, 0, 1, 0, 0, 2, 0") + "pfc = []\n" + kEcnOnAll +
                         "cnp_dscp = 48\ncnp_prio = 6\nroce_dscp = 26\nroce_prio = 3\n"
                         "roce_mode = \"v2\"\nroce_tos = 106\n"},
    {"nvidia-scheduled",
     "dcbx = \"host\"\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\ndscp_map = { 26 = 3, 48 = 6 }\n" +
         ets("0, 0, 0, 1, 0, 0, 2, 0") +
         "pfc = [3]\ncnp_dscp = 48\ncnp_prio = 6\nroce_dscp = 26\nroce_prio = 3\n"
         "roce_mode = \"v2\"\nroce_tos = 106\n"},
    {"nvidia-spectrum-x",
     "dcbx = \"host\"\npause = \"off\"\nmtu = 9000\ntrust = \"dscp\"\ndscp_map = { 26 = 3, 48 = 6 }\n" +
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

// -- [rules.ID]

Result<LoadedConfig> configured(const std::string& text) { return parse_config(text, "test", {}, rule_rows()); }

Result<LoadedConfig> configured(const Limit& row, double value) {
  return configured("[rules." + std::string(row.rule) + "]\n" + std::string(row.key) + " = " + test::number(value) +
                    "\n");
}

TEST(Limit, HasSourceKeyRangeAndARow) {
  std::set<const Limit*> used;
  for (const Rule& rule : rules()) used.insert(rule.limits.begin(), rule.limits.end());
  used.erase(nullptr);
  const auto all = test::limits();
  EXPECT_EQ(used, std::set<const Limit*>(all.begin(), all.end())) << "a limit is named by the rule that its key has";
  std::set<std::string> names;
  for (const Limit* row : all) {
    EXPECT_TRUE(names.insert(row->name()).second) << row->name();
    EXPECT_FALSE(row->unit.empty() || row->source.empty()) << row->name();
    EXPECT_TRUE(row->least <= row->value && row->value <= row->most && row->least < row->most) << row->name();
  }
}

TEST(Limit, FollowsTheConfigurationWithinItsRange) {
  test::Healthy machine;
  for (const Limit* row : test::limits()) {
    EXPECT_EQ(limit_of(machine.view(), *row), row->value) << row->name();
    const double other = row->value == row->most ? row->least : row->most;
    const auto loaded = configured(*row, other);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    machine.policy.rules = loaded->policy.rules;
    EXPECT_DOUBLE_EQ(limit_of(machine.view(), *row), other) << row->name();
    const auto again = configured(show_config(loaded->policy, rule_rows()));
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_DOUBLE_EQ(limit_of(again->policy.rules, *row), other);
    machine.policy.rules.by_id.clear();
    for (const double wrong : {row->most * 2, -1.0}) {
      const auto rejected = configured(*row, wrong);
      ASSERT_FALSE(rejected.ok()) << row->name() << " " << wrong;
      EXPECT_TRUE(test::has(rejected.error().text(),
                            "expected a number from " + test::number(row->least) + " to " + test::number(row->most)));
    }
  }
}

TEST(Limit, ChangesAVerdict) {
  test::Healthy machine;
  const std::vector<std::string> only{"nofile"};
  EXPECT_EQ(worst(run_rules(machine.view(), only)), Status::ok);
  RuleSettings& nofile = machine.policy.rules.by_id["nofile"];
  nofile.limits = {{"limit", 1e9}};
  const Report report = run_rules(machine.view(), only);
  EXPECT_EQ(worst(report), Status::warning);
  EXPECT_EQ(report.findings.at(0).expected, "at least 1000000000 (hard limit)");
  nofile.severity = Status::critical;
  EXPECT_EQ(worst(run_rules(machine.view(), only)), Status::critical);
  nofile.enabled = false;
  EXPECT_EQ(worst(run_rules(machine.view(), only)), Status::ok);
}

constexpr int64_t kFebruary = 1'801'440'000;  // 2027-02-01T00:00:00Z

TEST(Suppression, HasAReasonAndAnEndOrNeither) {
  const auto loaded = configured(
      "[rules.nofile]\nenabled = false\nreason = \"TICKET-1: \\\"new\\\" image\"\nuntil = 2027-01-31\n"
      "[rules.memlock]\nenabled = false\n[rules.hugepages]\nenabled = true\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const RulePolicy& rules = loaded->policy.rules;
  EXPECT_TRUE(rules.is_suppressed("nofile", 0)) << "the time is unknown";
  EXPECT_TRUE(rules.is_suppressed("nofile", kFebruary - 1)) << "the last day counts";
  EXPECT_FALSE(rules.is_suppressed("nofile", kFebruary));
  EXPECT_TRUE(rules.has_ended("nofile", kFebruary));
  EXPECT_TRUE(rules.is_suppressed("memlock", kFebruary)) << "without an end";
  EXPECT_FALSE(rules.is_suppressed("hugepages", 0));
  EXPECT_EQ(suppression_text(rules, "nofile"), "until 2027-01-31: TICKET-1: \"new\" image");
  EXPECT_EQ(suppression_text(rules, "memlock"), "without an end: no reason given");
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_TRUE(test::has(loaded->warnings[0].what, "rules.memlock: suppressed without a reason"));

  const auto again = configured(show_config(loaded->policy, rule_rows()));
  ASSERT_TRUE(again.ok()) << again.error().text();
  for (const std::string_view id : {"nofile", "memlock", "hugepages"}) {
    const RuleSettings &one = again->policy.rules.of(id), &other = rules.of(id);
    EXPECT_EQ(one.enabled, other.enabled) << id << ": also of the last valid configuration";
    EXPECT_EQ(one.reason, other.reason) << id;
    EXPECT_EQ(one.until, other.until) << id;
  }
}

TEST(Suppression, RejectsWhatSuppressesNothing) {
  for (const auto& [text, says] : {
           std::pair("[rules.nofile]\nuntil = 2027-01-31\n",
                     "rules.nofile.until: suppresses nothing by itself; add enabled"),
           {"[rules.nofile]\nreason = \"x\"\n", "rules.nofile.reason: suppresses nothing by itself; add enabled"},
           {"[rules.nofile]\nenabled = false\nreason = \"\"\n", "for example reason = \"TICKET-1: new switches\""},
           {"[rules.nofile]\nenabled = false\nuntil = \"2027-01-31\"\n", "expected a date without quotes"},
           {"[rules.nofile]\nenabled = false\nuntil = 2027-01-31T10:00:00Z\n", "expected a date without quotes"},
           {"[rules.nofile]\nenabled = false\nuntil = 30\n", "for example until = 2027-01-31"},
       }) {
    const auto loaded = configured(text);
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_TRUE(test::has(loaded.error().text(), says)) << loaded.error().text();
  }
}

TEST(Suppression, ItsEndIsAWarningAndTheRuleCountsAgain) {
  test::Healthy machine;
  RuleSettings& nofile = machine.policy.rules.by_id["nofile"];
  nofile.limits = {{"limit", 1e9}};
  EXPECT_EQ(test::said(machine.view(), {"suppressions"}), "") << "there is none";
  nofile.enabled = false;
  nofile.reason = "TICKET-1";
  nofile.until = kFebruary;
  View view = machine.view();
  view.wall = kFebruary - 1;
  const Report during = run_rules(view);
  EXPECT_EQ(worst(during), Status::ok);
  EXPECT_TRUE(test::has(counts_text(during, true), " suppressed"));
  EXPECT_EQ(during.findings.at(0).suppression, "until 2027-01-31: TICKET-1");
  view.wall = kFebruary;
  EXPECT_EQ(worst(run_rules(view, std::vector<std::string>{"nofile"})), Status::warning);
  const auto ended = test::complaints_of(view, {"suppressions"});
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(test::describe(ended), "suppressions host warning: ended: nofile until 2027-01-31: TICKET-1\n");
  EXPECT_TRUE(test::has(ended[0].remedy, "[rules.nofile]: remove enabled = false"));
}

TEST(RulesTable, EveryRuleCanBeSwitchedOffAndItsSeverityChanged) {
  for (const Rule& rule : rules()) {
    const auto loaded = configured("[rules." + std::string(rule.id) + "]\nenabled = false\nseverity = \"critical\"\n");
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    EXPECT_FALSE(loaded->policy.rules.is_enabled(rule.id));
    EXPECT_EQ(loaded->policy.rules.of(rule.id).severity, Status::critical);
    const auto again = configured(show_config(loaded->policy, rule_rows()));
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_FALSE(again->policy.rules.is_enabled(rule.id));
    EXPECT_EQ(again->policy.rules.of(rule.id).severity, Status::critical);
  }
}

// Its finding is suppressed, and the symptoms that it explains do not come back as unexplained ones.
TEST(RulesTable, ADisabledCauseStillExplainsItsSymptoms) {
  test::Healthy node;
  test::hold(node, 0.9);
  ASSERT_EQ(test::rules_of(test::ask(node)), std::set<std::string>{"slow-host"});
  node.policy.rules.by_id["slow-host"].enabled = false;
  EXPECT_EQ(test::rules_of(test::ask(node)), std::set<std::string>{"slow-host"});
}

TEST(RulesTable, RejectsWhatARuleDoesNotHave) {
  for (const auto& [text, says] : {
           std::pair("[rules.link-flip]\nenabled = false\n", "unknown rule \"link-flip\"; did you mean \"link-flap\"?"),
           {"[rules.bit_errors_slow]\nwindow = \"1h\"\n",
            "unknown rule \"bit_errors_slow\"; write [rules.link-errors] with bit_errors_slow = { ... }"},
           {"[rules]\nlane_power = { clear = \"5s\" }\n", "unknown rule \"lane_power\"; write [rules.optics]"},
           {"[rules.zzzzzzzzzzzzzzzzzz]\n", "unknown rule \"zzzzzzzzzzzzzzzzzz\"; see fabric-agent.toml(5)"},
           {"[rules.link-flap]\nenabled = 0\n", "expected true or false"},
           {"[rules.link-flap]\nseverity = \"bad\"\n", "expected \"warning\" or \"critical\""},
           {"[rules.link-flap]\nwarnings = 2\n", "did you mean \"warning\"?"},
           {"[rules.link-flap]\nwarning = 9\n", "warning is above critical"},
           {"[rules.optics]\nwindow = \"1h\"\n", "a level has no window"},
           {"[rules.link-errors]\nwarning = 1\n", "unknown key"},
           {"[rules.link-errors.bit_errors]\nlimit = 1\n", "unknown key"},
           {"[rules]\nlink-flap = 3\n", "expected a table"},
       }) {
    const auto loaded = configured(text);
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_TRUE(test::has(loaded.error().text(), says)) << loaded.error().text();
  }
}

}  // namespace
}  // namespace fabric
