// SPDX-License-Identifier: Apache-2.0
// The configuration: its files, the same configuration from config show, the plan of cables, and a documentation that
// matches the keys.
#include "policy/config.h"

#include <unistd.h>

#include <cctype>

#include "agentd/messages.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/rule.h"
#include "nic/driver.h"
#include "policy/cabling.h"
#include "policy/last_good.h"
#include "policy/reader.h"
#include "policy/rule_keys.h"
#include "policy/show_config.h"
#include "policy/span.h"
#include "setting/change.h"
#include "support/config.h"
#include "support/golden.h"
#include "support/rules.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using std::chrono::milliseconds;
using test::ConfigFiles;
using test::good;
using test::has;
using test::loaded;
using test::of_source;
using test::refused;

std::string bad(const std::string& text) { return refused(parse_config(text, "f.toml")); }

constexpr const char* kWhole = R"(mode = "enforce"
disruptive = "never"
reread = "1min 30s"
[conflict]
rounds = 3
window = 20
[exporter]
listen = "127.0.0.1:9000"
max_age = "500ms"
exclude = ["mlx5_bond_*"]
series_limit = 900
sample_interval = "10ms"
sample_cpu_budget = "0.5%"
[[port]]
name = "rail"
match = { driver = ["mlx5_core", "bnxt_en"], rdma = "mlx5_*", netdev = "ens*", pci = ["0000:17:*"] }
dcbx = "host"
pause = "off"
mtu = 4200
trust = "dscp"
dscp_map = { 26 = 3, 48 = 6 }
ets = { prio_tc = [0,0,0,1,0,0,2,0], tsa = ["ets", "ets", "strict"], bw = [50, 50] }
pfc = [3]
cable_length = 30
)";

TEST(Config, ReadsEveryKey) {
  Policy policy = good(kWhole);
  EXPECT_EQ(policy.mode, Mode::enforce);
  EXPECT_EQ(policy.disruptive, Disruptive::never);
  EXPECT_EQ(policy.reread, milliseconds(90'000));
  EXPECT_EQ(policy.conflict.rounds, 3U);
  EXPECT_EQ(policy.conflict.window, milliseconds(20'000));
  EXPECT_EQ(policy.listen, std::vector<std::string>{"127.0.0.1:9000"});
  EXPECT_EQ(policy.max_age, milliseconds(500));
  EXPECT_EQ(policy.exclude, std::vector<std::string>{"mlx5_bond_*"});
  EXPECT_EQ(policy.series_limit, 900U);
  EXPECT_EQ(policy.sample_interval, std::chrono::milliseconds(10));
  EXPECT_EQ(policy.sample_cpu_budget, 0.005);
  ASSERT_EQ(policy.ports.size(), 1U);
  const PortPolicy& port = policy.ports[0];
  EXPECT_EQ(port.name, "rail");
  EXPECT_EQ(port.where, "f.toml:14");
  EXPECT_EQ(port.match, (Match{{"mlx5_core", "bnxt_en"}, {"mlx5_*"}, {"ens*"}, {"0000:17:*"}, {}, {}, {}, {}}));
}

TEST(Config, OpticsAndRawCounters) {
  const Policy policy = good("optics = \"2min\"\n[exporter]\nraw = \"all\"\ngroups = [\"lanes\", \"casts\"]\n");
  for (const Policy& each : {policy, good(show_config(policy))}) {
    EXPECT_EQ(each.optics, milliseconds(120'000));
    EXPECT_EQ(each.published.raw, RawCounters::all);
    EXPECT_EQ(each.published.groups, (std::vector{SeriesGroup::lanes, SeriesGroup::casts}));
  }
  EXPECT_EQ(good("").published.raw, RawCounters::unmapped);
  EXPECT_EQ(good("optics = 0\n").optics, milliseconds(0));
}

TEST(Config, StatisticsAreAskedForByName) {
  EXPECT_TRUE(good("").ethtool.empty());
  const Policy policy = good("[exporter]\nethtool = [\"rx_out_of_buffer\", \"*_xdp_drop\", \"no[tT]hing\"]\n");
  EXPECT_EQ(policy.ethtool, (std::vector<std::string>{"rx_out_of_buffer", "*_xdp_drop", "no[tT]hing"}));
  EXPECT_EQ(policy.origin.at("exporter.ethtool"), "f.toml:2");
  EXPECT_EQ(good(show_config(policy)).ethtool, policy.ethtool);
  EXPECT_EQ(good("[exporter]\nethtool = \"module_*\"\n").ethtool, std::vector<std::string>{"module_*"});
}

TEST(Config, ReadsEverySetting) {
  const PortPolicy port = good(kWhole).ports.at(0);
  const Ets ets{.prio_tc = {0, 0, 0, 1, 0, 0, 2, 0}, .tsa = {Tsa::ets, Tsa::ets}, .bw = {50, 50}};
  EXPECT_EQ(port.want, (Qos{.dcbx = Dcbx::host,
                            .pause = Pause{},
                            .mtu = 4200,
                            .trust = Trust::dscp,
                            .dscp_map = DscpMap{{26, 3}, {48, 6}},
                            .ets = ets,
                            .pfc = PrioSet{0b1000},
                            .cable_length = 30}));
  // Ets compares what matters.
  EXPECT_EQ(port.want.ets->tsa, ets.tsa);
  EXPECT_EQ(port.want.ets->bw, ets.bw);
  EXPECT_EQ(port.origin[index(SettingId::pfc)], "f.toml:23");
}

TEST(Config, AnEmptyFileIsAuditWithoutPorts) {
  Policy policy = good("");
  EXPECT_EQ(policy.mode, Mode::audit);
  EXPECT_TRUE(policy.ports.empty());
}

TEST(Config, AllStrictEtsNeedsNoBandwidth) {
  EXPECT_TRUE(
      good("[[port]]\nets = { prio_tc = [0,0,0,1,0,0,0,0], tsa = [\"strict\", \"strict\"] }\n").ports.at(0).want.ets);
}

TEST(Config, AnEmptyListIsAWish) {
  const Qos want = good("[[port]]\npfc = []\ndscp_map = {}\n").ports.at(0).want;
  EXPECT_EQ(want.pfc, PrioSet{});
  EXPECT_EQ(want.dscp_map, DscpMap{});
}

TEST(Config, APlaneInMaintenanceThatNoMachineHasIsAWarning) {
  const auto warned = [](const std::string& cabling) {
    std::string out;
    for (const ConfigWarning& each : test::loaded_from("[cabling]\n" + cabling).warnings) out += each.what + "\n";
    return out;
  };
  const std::string planes = "planes = { \"ens*f0np0\" = \"A\", \"ens*f1np1\" = \"B\" }\n";
  EXPECT_EQ(warned(planes + "maintenance = [\"B\"]\n"), "");
  EXPECT_EQ(warned(planes + "maintenance = [\"1\"]\n"), "") << "a plane without a name";
  EXPECT_EQ(warned("maintenance = [\"1\"]\n"), "");
  EXPECT_TRUE(test::has(warned(planes + "maintenance = [\"C\"]\n"), "\"C\" is no plane")) << warned(planes);
  EXPECT_TRUE(test::has(warned("maintenance = [\"B\"]\n"), "\"B\" is no plane"));
  EXPECT_TRUE(test::has(warned("planes = { \"ens1,ens2\" = \"A\" }\n"), "cabling.planes: ")) << "no pattern of a name";
}

TEST(Config, AnEntryBehindAWiderOneIsAWarning) {
  const auto behind = [](const std::string& early, const std::string& late) {
    const auto entry = [](const std::string& match, const char* mtu) {
      return "[[port]]\nmatch = { " + match + " }\nmtu = " + mtu + "\n";
    };
    return test::loaded_from(entry(early, "9000") + entry(late, "4200")).warnings.size();
  };
  EXPECT_EQ(behind("rdma = \"mlx5_*\"", "rdma = \"mlx5_0\""), 1U);
  EXPECT_EQ(behind("driver = \"mlx5_core\"", "driver = \"mlx5_core\", rdma = \"mlx5_0\""), 1U);
  EXPECT_EQ(behind("rdma = [\"mlx5_0\", \"mlx5_1\"]", "rdma = [\"mlx5_1\", \"mlx5_0\"]"), 1U);
  EXPECT_EQ(behind("rdma = \"mlx5_0\"", "rdma = \"mlx5_*\""), 0U);
  EXPECT_EQ(behind("rdma = \"mlx5_?\"", "rdma = \"mlx5_*\""), 0U) << "mlx5_10";
  EXPECT_EQ(behind("rdma = \"mlx5_*\"", "driver = \"mlx5_core\""), 0U) << "it may be called otherwise";
  EXPECT_EQ(behind("rdma = \"mlx5_*\", numa = 0", "rdma = \"mlx5_0\""), 0U);
}

TEST(Config, ShowsAllFaultsUpToTen) {
  std::string text = "[[port]]\n";
  for (int i = 0; i < 12; ++i) text += "wrong" + std::to_string(i) + " = 1\n";
  std::string error = bad(text);
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 10);
  EXPECT_TRUE(has(error, "and 2 more"));
}

TEST(Config, BytesThatAreNoTomlAreErrorsWithAPlace) {
  EXPECT_TRUE(bad("mode = \"audit\"\n[[port]\n").starts_with("f.toml:2:"));
  EXPECT_TRUE(bad("[[[\n").starts_with("f.toml:1:3"));
  EXPECT_TRUE(bad(std::string("mode = \"audit\"\nx\0y", 18)).starts_with("f.toml:2:"));
  std::string parts(1, 'a');  // some 20000 exhausted the stack
  for (int i = 0; i < 200'000; ++i) parts += ".a";
  EXPECT_TRUE(bad(parts + " = 1\n").starts_with("f.toml:1:1: more than 512 dots in one line"));
  EXPECT_TRUE(bad("[" + parts + "]\n").starts_with("f.toml:1:1: more than 512 dots in one line"));
  // The greatest depth that is allowed together: tables in arrays, each of a key with as many dots.
  parts.resize(2 * 512 + 1);
  std::string deep = "[" + parts + "]\n";
  for (int i = 0; i < 4; ++i) deep += parts + " = [\n{";
  EXPECT_TRUE(has(bad(deep + parts + " = 1" + joined(std::vector<std::string>(4, "}]"), "") + "\n"), "f.toml:"));
  EXPECT_TRUE(has(bad("mtu = " + std::string(100'000, '[') + "\n"), "TOML_MAX_NESTED_VALUES"));
  EXPECT_TRUE(bad("[[port]]\ncl\u00e9 = 3\n").starts_with("f.toml:2:3: "));
  // toml++'s own tables of white space end in undefined behaviour here.
  EXPECT_TRUE(bad("reread = 8(8\"\u00e9\"\"8").starts_with("f.toml:1:11: "));
  EXPECT_TRUE(bad("mode = \"\xff\xfe\"\n").starts_with("f.toml:1:"));
  EXPECT_TRUE(has(bad(std::string(2'000'000, '#')), "1 MiB"));
}

TEST(Config, StringsAndCommentsMayHaveAnyLetters) {
  const char* text =
      "\ufeff# caf\u00e9 \"'\n[[port]]\nname = \"\u00e9\\\"\u00e9\" # \u00e9\nmatch = { rdma = '\u00e9\\', netdev = "
      "\"\"\"\u00e9\" \u00e9\"\"\"\"\", "
      "driver = '''\u00e9 '\u00e9''' }\nmtu = 9000 # \ufd7f\n";
  Policy policy = good(text);
  ASSERT_EQ(policy.ports.size(), 1U);
  EXPECT_EQ(policy.ports[0].name, "\u00e9\"\u00e9");
  EXPECT_EQ(policy.ports[0].match.netdev, std::vector<std::string>{"\u00e9\" \u00e9\"\""});
  EXPECT_EQ(policy.ports[0].match.driver, std::vector<std::string>{"\u00e9 '\u00e9"});
}

TEST(Config, ShownPolicyReadsBackTheSame) {
  Policy policy = good(kWhole);
  std::string shown = show_config(policy);
  Policy again = good(shown);
  EXPECT_EQ(again.ports.at(0).want, policy.ports.at(0).want);
  EXPECT_EQ(again.ports.at(0).match, policy.ports.at(0).match);
  EXPECT_EQ(again.ports.at(0).name, policy.ports.at(0).name);
  // Everything else, too: shown again, only the comments differ.
  auto without_comments = [](const std::string& text) {
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find('#')) + "\n";
    return out;
  };
  EXPECT_EQ(without_comments(show_config(again)), without_comments(shown));
  EXPECT_TRUE(has(shown, "# f.toml:23"));
  EXPECT_TRUE(has(show_config(good("")), "# default"));
}

TEST(Config, ReadsWhatAPortIsMatchedBy) {
  const Policy policy = good(
      "[[port]]\nmtu = 9000\nmatch = { pci_id = \"15B3:*\", speed = [\"400G\", \"2.5G\", 100000, \"25000\"], "
      "numa = [0, 1], role = [\"compute\", \"host\"], pci = \"*:17:00.?\" }\n");
  EXPECT_EQ(policy.ports.at(0).match, (Match{.pci = {"*:17:00.?"},
                                             .pci_id = {"15b3:*"},
                                             .speed = {"400000", "2500", "100000", "25000"},
                                             .numa = {"0", "1"},
                                             .role = {"compute", "host"}}));
}

TEST(Config, APatternIsAsGlobHasIt) {
  for (const char* pattern : {"mlx5_[!0-3]", "mlx5_[^0-3]", "[]x]*", "[!]]?", "a\\\\[b", "a\\\\{b", "x]"})
    EXPECT_EQ(good("[[port]]\nmatch = { rdma = \"" + std::string(pattern) + "\" }\nmtu = 9000\n").ports.size(), 1u);
}

// The maximum number of entries of a file: no step may look at all pairs of them.
TEST(Config, ManyEntriesAreRead) {
  std::string text;
  for (int i = 0; i < 9'000; ++i)
    text += "[[port]]\nmatch = { rdma = \"mlx5_" + std::to_string(i) + "\" }\nmtu = 9000\npfc = [3]\n";
  const Policy policy = good(text);
  ASSERT_EQ(policy.ports.size(), 9'000U);
  EXPECT_EQ(policy.ports.back().name, "port#9000");
}

// The processor time of load_config() for so many drop-ins, each with an entry of its own.
double seconds_for_drop_ins(unsigned count) {
  test::Tree tree;
  tree.file("a.toml", "mode = \"enforce\"\n");
  for (unsigned i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    tree.file("conf.d/" + number + ".toml", "[[port]]\nname = \"" + number + "\"\nprofile = \"p" + number +
                                                "\"\nmatch = { rdma = \"mlx5_" + number + "\" }\nmtu = 9000\n");
    tree.file("profiles/p" + number + ".toml", "pfc = [3]\ntrust = \"pcp\"\n");
  }
  const std::clock_t start = std::clock();
  const Policy policy = loaded(load_config(tree.path() + "/a.toml")).policy;
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(policy.ports.size(), count);
  EXPECT_EQ(policy.ports.back().name, "0");  // of the first file
  return seconds;
}

// No step may look at all pairs of files, of entries or of profiles.
TEST(Config, TenTimesTheDropInsTakeTenTimesAsLong) {
  const double few = seconds_for_drop_ins(500), many = seconds_for_drop_ins(5'000);
  EXPECT_LT(many, 30 * few)  // pairs would take a hundred times as long
      << few << " s, " << many << " s";
}

TEST(Config, MaintenanceReleaseAndHostSettings) {
  const Policy policy =
      good("maintenance = \"Sat 02:00-04:00\"\nrelease = \"restore\"\n[sysctl]\n\"kernel.numa_balancing\" = 0\n");
  EXPECT_EQ(policy.maintenance, (std::vector<Window>{{0b1000000, 120, 240}}));
  EXPECT_EQ(policy.release, Release::restore);
  EXPECT_EQ(policy.sysctl.at("kernel.numa_balancing"), "0");
  EXPECT_EQ(policy.sysctl_origin.at("kernel.numa_balancing"), "f.toml:4");
}

TEST(MaintenanceWindow, IsWrittenAsSystemdWritesDays) {
  EXPECT_EQ(parse_window("daily 03:00-04:00"), (Window{0x7f, 180, 240}));
  EXPECT_EQ(parse_window("Mon-Fri 23:00-01:00"), (Window{0b0111110, 1380, 60}));
  EXPECT_EQ(parse_window("Sat-Mon,Wed 00:00-24:00"), (Window{0b1001011, 0, 1440}));
  for (const char* text :
       {"", "Sat", "02:00-04:00", "Sat 2:00-4:00", "Sat 02:00", "Sat 02:60-04:00", "Sat 24:00-01:00", "Sat 02:00-02:00",
        "sat 02:00-04:00", "Sat-Sun-Mon 02:00-04:00", "Sat, 02:00-04:00", "Sat 02:00-04:00 UTC", "Sat 02:00-24:01"})
    EXPECT_FALSE(parse_window(text)) << text;
  for (const char* text : {"daily 03:00-04:00", "Sun,Wed,Sat 23:00-01:00", "Mon 00:00-24:00"})
    EXPECT_EQ(window_text(*parse_window(text)), text);
}

TEST(Span, IsWrittenAsSystemdWritesIt) {
  EXPECT_EQ(parse_span("500ms"), milliseconds(500));
  EXPECT_EQ(parse_span("1min 30s"), milliseconds(90'000));
  EXPECT_EQ(parse_span("2h"), milliseconds(7'200'000));
  EXPECT_EQ(parse_span("7"), milliseconds(7'000));
  EXPECT_EQ(parse_span("7d"), std::chrono::hours(7 * 24));
  for (const char* text : {"1w", "1 week", "7days", "6day 24hours", "6d 23hour 59minutes 60seconds"})
    EXPECT_EQ(parse_span(text), parse_span("168h")) << text;
  for (const char* text : {"", "s", "-1s", "1.5s", "1x", "99999999999999999999s", "400000000h", "367d"})
    EXPECT_FALSE(parse_span(text)) << text;
  EXPECT_EQ(span_text(milliseconds(90'500)), "1min 30s 500ms");
  EXPECT_EQ(parse_span(span_text(milliseconds(3'725'001))), milliseconds(3'725'001));
}

TEST_F(ConfigFiles, LaterFilesWin) {
  tree.file("a.toml", "mode = \"audit\"\nreread = \"10s\"\n[[port]]\nname = \"all\"\nmtu = 4200\n");
  tree.file("conf.d/20.toml",
            "mode = \"enforce\"\n[[port]]\nname = \"late\"\nmatch = { rdma = \"mlx5_1\" }\nmtu = 9000\n");
  tree.file("conf.d/10.toml",
            "mode = \"audit\"\n[[port]]\nname = \"early\"\nmatch = { rdma = \"mlx5_2\" }\nmtu = 9000\n");
  tree.file("conf.d/.hidden.toml", "nonsense");
  tree.file("conf.d/30.toml.dpkg-old", "nonsense");
  const LoadedConfig config = loaded(load());
  EXPECT_EQ(config.policy.mode, Mode::enforce);
  EXPECT_EQ(config.policy.reread, milliseconds(10'000));
  std::vector<std::string> names;
  for (const PortPolicy& entry : config.policy.ports) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"late", "early", "all"}));
  EXPECT_TRUE(config.warnings.empty());
  EXPECT_EQ(config.policy.origin.at("mode"), tree.path() + "/conf.d/20.toml:1");
}

TEST_F(ConfigFiles, AListReplacesTheOneBefore) {
  tree.file("a.toml", "mode = \"audit\"\n[exporter]\nethtool = [\"rx_*\", \"tx_*\"]\nexclude = [\"mlx5_0\"]\n");
  tree.file("conf.d/10.toml", "[exporter]\nethtool = [\"module_*\"]\n");
  const Policy policy = loaded(load()).policy;
  EXPECT_EQ(policy.ethtool, std::vector<std::string>{"module_*"});
  EXPECT_EQ(policy.exclude, std::vector<std::string>{"mlx5_0"});
  tree.file("conf.d/20.toml", "[exporter]\nethtool = []\n");
  EXPECT_TRUE(loaded(load()).policy.ethtool.empty());
}

TEST_F(ConfigFiles, FaultsOfEveryFileAreShown) {
  tree.file("a.toml", "mdoe = 1\n");
  tree.file("conf.d/10.toml", "[[port]]\npfc = [9]\n");
  for (const char* place : {"a.toml:1:1", "conf.d/10.toml:2:8"}) EXPECT_TRUE(has(refused(load()), place));
}

TEST_F(ConfigFiles, WhatAFileThatIsNotTomlWouldSayIsNotCalledMissing) {
  tree.file("a.toml", "mode = \"audit\"\nreread = 10;\n");
  EXPECT_TRUE(has(refused(load()), "a.toml:2:"));
  EXPECT_FALSE(has(refused(load()), "mode: not set")) << refused(load());
}

// ENOENT would mean that there is no configuration, and the exporter would continue without one.
TEST_F(ConfigFiles, WithDropInsAMissingFileIsAFault) {
  tree.file("a.toml", "mode = \"audit\"\n");
  tree.link("conf.d/10.toml", "nowhere");
  EXPECT_TRUE(has(refused(load()), "conf.d/10.toml: cannot read the configuration: No such file"));
  EXPECT_EQ(load().error().code, 0);
  tree.remove("a.toml").remove("conf.d/10.toml");
  tree.file("conf.d/10.toml", "[exporter]\nexclude = [\"mlx5_0\"]\n");
  EXPECT_TRUE(has(refused(load()), "a.toml: cannot read the configuration"));
  EXPECT_TRUE(has(refused(load()), "create it, with mode at least"));
  EXPECT_EQ(load().error().code, 0);
  tree.file("a.toml", std::string((1 << 20) + 1, '#'));
  EXPECT_FALSE(has(refused(load()), "create it")) << "no advice to overwrite an existing file";
}

TEST_F(ConfigFiles, WhatOnlyAnotherMayReadSaysWhatToDo) {
  if (::geteuid() != 0) GTEST_SKIP() << "requires root, to become another user";
  tree.file("a.toml", "mode = \"audit\"\n");
  std::filesystem::permissions(tree.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(file(), std::filesystem::perms(0600));
  ASSERT_EQ(::seteuid(65534), 0);
  const auto config = load();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(has(refused(config), "chown root"));
  EXPECT_EQ(config.error().code, EACCES);
}

// The folder's mode with root's umask 077.
TEST_F(ConfigFiles, AFolderThatOnlyRootMayReadSaysWhatToDo) {
  if (::geteuid() != 0) GTEST_SKIP() << "requires root, to become another user";
  tree.file("a.toml", "mode = \"audit\"\n").folder("conf.d");
  std::filesystem::permissions(tree.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(tree.path() + "/conf.d", std::filesystem::perms(0700));
  ASSERT_EQ(::seteuid(65534), 0);
  const auto config = load();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(has(refused(config), "conf.d: cannot list the files (make it root's and readable by all"));
}

TEST_F(ConfigFiles, AMissingFileIsNamed) {
  EXPECT_TRUE(has(refused(load()), file()));
  EXPECT_EQ(load().error().code, ENOENT);
}

TEST_F(ConfigFiles, WhatCanBeAPartOfAFileIsRefused) {
  const std::string mode = "mode = \"audit\"\n", port = "[[port]]\nmtu = 9000\n";
  for (const std::string& text : {std::string(), std::string("\n"), std::string("# mode = \"audit\"\n"), port,
                                  mode + "[[port]]\nmtu = 900", std::string("mode = \"enforce\"\n")}) {
    tree.file("a.toml", text);
    EXPECT_FALSE(load().ok()) << text;
  }
  tree.file("a.toml", port);
  EXPECT_TRUE(has(refused(load()), "write mode = \"audit\" or mode = \"enforce\""));
  tree.file("conf.d/10.toml", "mode = \"audit\"\n");
  EXPECT_TRUE(load().ok()) << "any of the files may give it";
  for (const char* text : {"", "\n", "# mode\n"}) {
    tree.file("conf.d/20.toml", text);
    EXPECT_TRUE(has(refused(load()), "20.toml:1:1: no key"));
  }
  tree.remove("conf.d");
  tree.file("a.toml", "mode = \"enforce\"\n");
  EXPECT_TRUE(has(refused(load()), "a.toml:1:1: mode: \"enforce\" with neither a [[port]] entry nor [sysctl]"));
  tree.file("conf.d/10.toml", "[sysctl]\n\"net.ipv4.tcp_ecn\" = 1\n");
  EXPECT_TRUE(load().ok()) << load().error().text();
}

// Why the last valid configuration is in use; empty: that of the files is.
std::string fault_text(const Result<ConfigInUse>& config) { return config->error ? config->error->text() : ""; }

class LastGood : public ConfigFiles {
 protected:
  Result<ConfigInUse> in_use() const { return load_config_in_use(tree.path(), file(), rule_rows()); }
  void save(const LoadedConfig& config) { EXPECT_TRUE(save_last_good(tree.path(), config, rule_rows()).ok()); }
};

TEST_F(LastGood, IsUsedWhileTheFilesAreInvalid) {
  tree.file("a.toml", "mode = \"enforce\"\n[[port]]\nprofile = \"site\"\ncnp = { dscp = 48, priority = 6 }\n");
  tree.file("profiles/site.toml", "mtu = 4200\n");
  EXPECT_TRUE(fault_text(in_use()).empty());
  save(in_use()->config);
  tree.remove("profiles");
  for (const char* text : {"", "mode = \"enforce\"", "mode = \"enforce\"\n", "[[port]]\nmtu = 1\n",
                           "mode = \"enforce\"\n[[port]]\nmtuu = 4200\n"}) {
    tree.file("a.toml", text);
    const auto last = in_use();
    ASSERT_TRUE(last.ok()) << last.error().text();
    EXPECT_TRUE(has(fault_text(last), "a.toml:"));
    EXPECT_EQ(last->config.policy.mode, Mode::enforce);
    EXPECT_EQ(last->config.policy.ports.at(0).want.mtu, 4200U);
    EXPECT_EQ(last->config.policy.ports.at(0).want.cnp_dscp, 48U);
  }
  tree.remove("a.toml");
  EXPECT_TRUE(in_use().ok());
  EXPECT_FALSE(load_config_in_use(tree.path(), tree.path() + "/b.toml", rule_rows()).ok()) << "that of another file";
}

TEST_F(LastGood, IsUsedWhileADropInIsGone) {
  tree.file("a.toml", "mode = \"audit\"\n[[port]]\nmtu = 1500\n");
  tree.file("conf.d/10-site.toml", "mode = \"enforce\"\n[[port]]\nprofile = \"site\"\n");
  tree.file("profiles/site.toml", "mtu = 9000\ntraffic = { dscp = 26, priority = 3 }\n");
  save(loaded(load()));
  tree.remove("conf.d/10-site.toml");
  const auto last = in_use();
  ASSERT_TRUE(last.ok()) << last.error().text();
  EXPECT_EQ(last->config.policy.mode, Mode::enforce);
  EXPECT_EQ(last->config.policy.ports.at(0).want.mtu, 9000U);
  const std::string site = tree.path() + "/conf.d/10-site.toml";
  EXPECT_EQ(
      fault_text(last),
      site +
          ": gone, which changes the policy; restore it, or, if it is to go (see fabric-rollout(7)), leave a link "
          "to /dev/null in its place for one reload: ln -s /dev/null " +
          site + " && systemctl reload fabric-agent");
  tree.file("conf.d/20-other.toml", "reread = \"30s\"\n");
  EXPECT_FALSE(fault_text(in_use()).empty()) << "another file does not stand for it";
}

TEST_F(LastGood, ALinkToDevNullAcceptsTheRemoval) {
  tree.file("a.toml", "mode = \"audit\"\n");
  tree.file("conf.d/10-site.toml", "mode = \"enforce\"\n[[port]]\nmtu = 9000\n");
  save(loaded(load()));
  tree.remove("conf.d/10-site.toml");
  EXPECT_EQ(in_use()->config.policy.mode, Mode::enforce);
  tree.link("conf.d/10-site.toml", "/dev/null");
  const auto accepted = in_use();
  ASSERT_TRUE(accepted.ok()) << accepted.error().text();
  EXPECT_EQ(accepted->config.policy.mode, Mode::audit);
  EXPECT_EQ(fault_text(accepted), "");
  EXPECT_TRUE(accepted->config.warnings.empty());
  save(accepted->config);
  EXPECT_FALSE(has(tree.content(kLastGoodFile), "# And")) << "the list of files does not grow";
  tree.remove("conf.d").file("a.toml", "mode = \"audit\"\nreread = \"30s\"\n");
  EXPECT_EQ(fault_text(in_use()), "") << "the link may be deleted at any time, also with another change";
}

TEST_F(LastGood, ADropInThatIsThereIsNotGone) {
  tree.file("a.toml", "mode = \"audit\"\n");
  tree.file("conf.d/10-site.toml", "mode = \"enforce\"\n[[port]]\nmtu = 9000\n");
  save(loaded(load()));
  const auto kept_with = [&](const char* fault) {
    const auto last = in_use();
    ASSERT_TRUE(last.ok()) << last.error().text();
    EXPECT_EQ(last->config.policy.mode, Mode::enforce) << fault;
    EXPECT_TRUE(has(fault_text(last), fault)) << fault_text(last);
    EXPECT_FALSE(has(fault_text(last), "gone")) << fault_text(last);
  };
  for (const char* text : {"", "\n", "# moved\n"}) {
    tree.file("conf.d/10-site.toml", text);
    kept_with("10-site.toml:1:1: no key: the file is empty or truncated");
  }
  tree.remove("conf.d/10-site.toml").folder("conf.d/10-site.toml");
  kept_with("not a regular file");
  for (const char* target : {"/dev/zero", "null", "missing"}) {
    tree.remove("conf.d/10-site.toml").link("conf.d/10-site.toml", target);
    kept_with(target == std::string("/dev/zero") ? "not a regular file" : "cannot read the configuration");
  }
  tree.remove("conf.d/10-site.toml").file("conf.d/10-site.toml", "[rules]\n");
  EXPECT_EQ(fault_text(in_use()), "") << "a file that sets nothing is a change, as a ConfigMap needs it";
  EXPECT_EQ(in_use()->config.policy.mode, Mode::audit);
  save(in_use()->config);
  tree.remove("conf.d");
  EXPECT_EQ(fault_text(in_use()), "") << "and may go";
}

// Below a root, as for --root: its links do not leave it, and it may have no /dev.
TEST_F(LastGood, BelowARoot) {
  struct Refusing final : BehindFiles {
    std::string name{};
    std::optional<Result<void>> act(Act act, const std::string& file, std::string_view /*text*/) override {
      if (act != Act::read || name.empty() || !file.ends_with(name)) return std::nullopt;
      return Result<void>(error(EIO, file));
    }
  };
  const std::string folder = "etc/fabric-agent/conf.d", drop_in = folder + "/10-site.toml";
  tree.file(kConfigFile, "mode = \"audit\"\n").file(drop_in, "mode = \"enforce\"\n[[port]]\nmtu = 9000\n");
  Root root = tree.root();
  const auto before = load_config(root, {}, rule_rows());
  ASSERT_TRUE(before.ok()) << before.error().text();
  save(*before);
  const auto refusing = std::make_shared<Refusing>();
  root.set_behind(refusing);
  for (const std::string& name : {drop_in, folder}) {
    refusing->name = name;
    const auto last = load_config_in_use(root, {}, rule_rows());
    ASSERT_TRUE(last.ok()) << last.error().text();
    EXPECT_EQ(last->config.policy.mode, Mode::enforce);
    EXPECT_TRUE(has(fault_text(last), "Input/output error")) << fault_text(last);
    EXPECT_FALSE(has(fault_text(last), "gone")) << fault_text(last);
  }
  refusing->name.clear();
  tree.remove(drop_in);
  EXPECT_TRUE(has(fault_text(load_config_in_use(root, {}, rule_rows())), "10-site.toml: gone"));
  for (const char* target : {"/dev/null", "../../../dev/null", "../../../../../../dev/null"}) {
    tree.remove(drop_in).link(drop_in, target);
    const auto accepted = load_config_in_use(root, {}, rule_rows());
    ASSERT_TRUE(accepted.ok()) << accepted.error().text();
    EXPECT_EQ(fault_text(accepted), "") << target;
    EXPECT_EQ(accepted->config.policy.mode, Mode::audit) << target;
  }
  // A copy from elsewhere.
  tree.remove(drop_in);
  const std::string mark = "# And ", kept = tree.content(kLastGoodFile);
  for (const std::string& name :
       {std::string("x"), std::string(), "/" + drop_in, root.name_of(folder) + "/\x1b[2J.toml"}) {
    const size_t at = kept.find(mark);
    ASSERT_NE(at, std::string::npos);
    std::string changed = kept;
    changed.replace(at, kept.find('\n', at) - at, mark + name);
    tree.file(kLastGoodFile, changed);
    const auto present = load_config_in_use(root, {}, rule_rows());
    EXPECT_TRUE(present.ok() && fault_text(present).empty()) << name;
  }
}

TEST_F(LastGood, SeveralRemovalsHaveOneCommand) {
  tree.file("a.toml", "mode = \"audit\"\n");
  tree.file("conf.d/10.toml", "reread = \"30s\"\n").file("conf.d/20 it's.toml", "[[port]]\nmtu = 9000\n");
  save(loaded(load()));
  const std::string folder = tree.path() + "/conf.d";
  const std::string files = "ln -s /dev/null " + folder + "/10.toml && ln -s /dev/null '" + folder +
                            "/20 it'\\''s.toml' && systemctl reload fabric-agent";
  tree.remove("conf.d/10.toml").remove("conf.d/20 it's.toml");
  EXPECT_EQ(fault_text(in_use()),
            folder + "/10.toml, " + folder +
                "/20 it's.toml: gone, which changes the policy; restore them, or, if they are to go (see "
                "fabric-rollout(7)), leave links to /dev/null in their place for one reload: " +
                files);
  tree.remove("conf.d");
  EXPECT_EQ(fault_text(in_use()),
            folder +
                ": gone, with 10.toml, 20 it's.toml, which changes the policy; restore it, or, if it is to go (see "
                "fabric-rollout(7)), leave it with links to /dev/null for one reload: mkdir " +
                folder + " && " + files);
}

TEST_F(LastGood, IsUsedWhileTheMainFileIsGone) {
  tree.file("a.toml", "mode = \"enforce\"\n").file("conf.d/10.toml", "[[port]]\nmtu = 9000\n");
  save(loaded(load()));
  tree.remove("a.toml");
  EXPECT_EQ(in_use()->config.policy.mode, Mode::enforce);
  EXPECT_TRUE(has(fault_text(in_use()), "restore it, or create it, with mode at least")) << fault_text(in_use());
  tree.remove("conf.d");
  EXPECT_EQ(in_use()->config.policy.mode, Mode::enforce);
  EXPECT_TRUE(has(fault_text(in_use()), "a.toml: cannot read the configuration")) << fault_text(in_use());
  EXPECT_TRUE(
      fault_text(in_use()).ends_with("; restore it, and " + tree.path() +
                                     "/conf.d/10.toml; a link to /dev/null accepts the removal of a drop-in only"))
      << fault_text(in_use());
  tree.file("a.toml", "");
  EXPECT_TRUE(has(fault_text(in_use()), "a.toml:1:1: no key")) << fault_text(in_use());
  tree.remove("a.toml").link("a.toml", "/dev/null");
  EXPECT_TRUE(has(fault_text(in_use()), "a.toml:1:1: not a regular file")) << fault_text(in_use());
  EXPECT_EQ(in_use()->config.policy.mode, Mode::enforce);
}

TEST_F(LastGood, WithoutItTheFilesThatAreLeftAreUsed) {
  tree.file("a.toml", "mode = \"audit\"\n").link("conf.d/10.toml", "/dev/null");
  EXPECT_EQ(fault_text(in_use()), "");
  tree.remove("conf.d").file("conf.d/10.toml", "");
  ASSERT_FALSE(in_use().ok());
  EXPECT_TRUE(has(in_use().error().text(), "10.toml:1:1: no key"));
}

TEST_F(LastGood, AChangeOfFilesThatAreThereIsAChange) {
  tree.file("a.toml", "mode = \"audit\"\n");
  tree.file("conf.d/10-site.toml", "mode = \"enforce\"\n[[port]]\nmtu = 9000\n");
  save(loaded(load()));
  tree.file("conf.d/10-site.toml", "mode = \"audit\"\n").file("conf.d/20.toml", "[[port]]\nmtu = 4200\n");
  EXPECT_EQ(in_use()->config.policy.mode, Mode::audit);
  EXPECT_EQ(in_use()->config.policy.ports.at(0).want.mtu, 4200U);
  EXPECT_TRUE(fault_text(in_use()).empty());
}

TEST_F(LastGood, DropInsMayBeRenamedAndMerged) {
  const std::string site =
      "mode = \"enforce\"\nfabric = { kind = \"lossless\" }\n"
      "[[port]]\nprofile = \"site\"\ncnp = { dscp = 48, priority = 6 }\n[sysctl]\n\"net.ipv4.tcp_ecn\" = 1\n";
  const std::string rules = "[rules.mtu-chain]\nenabled = false\nreason = \"a # in it\"\n";
  tree.file("a.toml", "reread = \"30s\"\n");
  tree.file("profiles/site.toml", "mtu = 4200\ntraffic = { dscp = 26, priority = 3 }\n");
  tree.file("conf.d/10.toml", site).file("conf.d/20.toml", rules);
  const auto before = in_use();
  ASSERT_TRUE(before.ok()) << before.error().text();
  save(before->config);
  tree.remove("conf.d/10.toml").file("conf.d/15.toml", "# moved\n" + site);
  EXPECT_TRUE(fault_text(in_use()).empty()) << fault_text(in_use());
  tree.remove("conf.d").file("a.toml", "reread = \"30s\"\n" + site + rules);
  EXPECT_TRUE(fault_text(in_use()).empty()) << fault_text(in_use());
  tree.file("a.toml", "reread = \"20s\"\n" + site + rules);
  EXPECT_FALSE(fault_text(in_use()).empty()) << "and what else changed meanwhile is not in use either";
}

// An exporter without an agent has a copy of its own. A drop-in that one of the copies lacks is not a lost one.
TEST_F(LastGood, TheCopyOfAProgramKnowsTheDropInsToo) {
  tree.file("a.toml", "mode = \"audit\"\n").file("conf.d/10.toml", "reread = \"20s\"\n");
  const std::string own = tree.path() + "/own";
  tree.folder("own");
  const auto root = Root::open(tree.path());
  ASSERT_TRUE(root.ok() && save_last_good(own, loaded(load()), rule_rows(), kOwnLastGood).ok());
  tree.remove("conf.d");
  EXPECT_TRUE(
      fault_text(load_config_in_use(*root, file(), rule_rows(), own)).ends_with("systemctl reload fabric-exporter"));
  EXPECT_TRUE(fault_text(load_config_in_use(*root, file(), rule_rows())).empty());
  save(loaded(load()));
  EXPECT_TRUE(fault_text(load_config_in_use(*root, file(), rule_rows(), own)).empty()) << "accepted";
}

TEST(PortEntry, AFrontEndIsNamedAndShown) {
  const Policy policy = good("[[port]]\nmatch = { netdev = \"eno1\" }\nfront_end = true\nmtu = 9000\n");
  EXPECT_TRUE(policy.ports.at(0).front_end);
  const std::string text = show_config(policy);
  EXPECT_TRUE(has(text, "\nfront_end = true")) << text;
  EXPECT_TRUE(good(text).ports.at(0).front_end);
  EXPECT_FALSE(good("[[port]]\nmtu = 9000\n").ports.at(0).front_end);
  for (const char* match : {"netdev = \"eno*\"", "netdev = \"*0\"", "netdev = \"[ae]n?\"",
                            "netdev = \"*\", pci = \"0000:18:*\"", "netdev = \"[[:alpha:]]0\""})
    EXPECT_TRUE(
        good("[[port]]\nmatch = { " + std::string(match) + " }\nfront_end = true\nmtu = 9000\n").ports.at(0).front_end)
        << match;
}

TEST_F(ConfigFiles, WhatIsNoFileIsRefused) {
  tree.folder("a.toml");
  EXPECT_TRUE(has(refused(load()), "not a regular file"));
  tree.remove("a.toml");
  tree.file("a.toml", std::string(10'000'000, '\n'));
  EXPECT_TRUE(has(refused(load()), "1 MiB"));
}

// -- [expect], [firmware] and [driver_version]

constexpr const char* kText = R"([expect]
gpus = 8
compute_nics = 16
class = "PXB"
gid_index = 3
speed = "400G"
[firmware]
MT_0000000838 = ["28.39.1002", "28.42.*"]
"15B3:1021" = "28.*"
[driver_version]
"mlx5_*" = "24.10-*"
)";

TEST(Expect, ReadsEveryPin) {
  const Policy policy = good(kText);
  EXPECT_EQ(policy.expect, (Expect{8, 16, PathClass::PXB, 3, 400'000}));
  EXPECT_EQ(policy.firmware, (Versions{{"MT_0000000838", {"28.39.1002", "28.42.*"}}, {"15b3:1021", {"28.*"}}}));
  EXPECT_EQ(policy.driver_version, (Versions{{"mlx5_*", {"24.10-*"}}}));
}

TEST(Expect, NothingIsPinnedByDefault) {
  const Policy policy = good("");
  EXPECT_EQ(policy.expect, Expect{});
  const std::string shown = show_config(policy);
  for (const char* table : {"[expect]", "[firmware]", "[driver_version]"}) EXPECT_FALSE(has(shown, table));
}

TEST(Expect, IsShownAsItWasGiven) {
  const Policy policy = good(kText), again = good(show_config(policy));
  EXPECT_EQ(again.expect, policy.expect);
  EXPECT_EQ(again.firmware, policy.firmware);
  EXPECT_EQ(again.driver_version, policy.driver_version);
  const std::string shown = show_config(policy);
  EXPECT_TRUE(has(shown, "class = \"PXB\""));
  EXPECT_TRUE(has(shown, "# f.toml:4"));
  EXPECT_TRUE(has(shown, "\"15b3:1021\" = [\"28.*\"]"));
  EXPECT_TRUE(has(shown, "# f.toml:9"));
  // A single pin brings its table, and no other line.
  EXPECT_TRUE(has(show_config(good("[expect]\ngid_index = 0\n")), "\n[expect]\ngid_index = 0 "));
}

// -- The plan of cables, as NetBox exports it

std::string seed(const std::string& name) { return test::of_source("tests/fuzz/corpus/cabling/" + name); }

// "ens0=leaf1:Ethernet1 ..."
std::string cables_in(std::string_view text, const std::string& host = "gpu01") {
  const auto cables = parse_cabling(text, "plan", host);
  if (!cables) return cables.error().text();
  std::string out;
  for (const Cable& cable : *cables)
    out += (out.empty() ? "" : " ") + cable.port + "=" + cable.peer.device + ":" + cable.peer.port;
  return out;
}

TEST(Cabling, CsvOfTheImportForm) {
  EXPECT_EQ(cables_in(seed("import.csv")), "ens0=leaf1:Ethernet1/1") << "a planned one is not there yet";
  EXPECT_EQ(cables_in(seed("import.csv"), "leaf1"), "Ethernet1/1=gpu01:ens0");
  EXPECT_EQ(cables_in(seed("import.csv"), "gpu02"), "");
  EXPECT_EQ(parse_cabling(seed("import.csv"), "plan", "gpu01")->front().where, "plan:2");
}

TEST(Cabling, CsvOfTheTableWithABreakoutQuotesAndSemicolons) {
  EXPECT_EQ(cables_in(seed("export.csv")), "ens0=leaf1:Ethernet1 ens1=leaf1:Ethernet1");
}

TEST(Cabling, OtherHeadings) {
  for (const char* header : {"Device A,Interface A,Device B,Interface B",
                             "Termination A Device,Termination A Name,Termination B Device,Termination B Name",
                             "Side A,Termination A,Side B,Termination B",
                             "termination_a_device\ttermination_a_name\ttermination_b_device\ttermination_b_name"}) {
    const bool tabs = std::string_view(header).find('\t') != std::string_view::npos;
    EXPECT_EQ(cables_in(std::string("\xef\xbb\xbf") + header +
                        (tabs ? "\r\ngpu01\tens0\tleaf1\t1\r\n" : "\r\ngpu01,ens0,leaf1,1\r\n")),
              "ens0=leaf1:1")
        << header;
  }
}

TEST(Cabling, JsonOfTheApi) {
  EXPECT_EQ(cables_in(seed("api.json")), "ens0=leaf1:Ethernet1/1");
  EXPECT_EQ(parse_cabling(seed("api.json"), "plan", "gpu01")->front().where, "plan: cable 1");
  EXPECT_EQ(
      cables_in(
          R"([{"termination_a": {"device": {"name": "leaf1"}, "name": "1"}, "termination_b": {"device": {"name": "gpu01"}, "name": "ens0"}},
                          {"a_terminations": [], "b_terminations": null, "status": {"value": "planned"}}])"),
      "ens0=leaf1:1")
      << "before NetBox 3.3";
}

TEST(Cabling, PatchPanelsAndPowerAreNoSwitches) {
  EXPECT_EQ(cables_in("side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name\n"
                      "gpu01,dcim.interface,ens0,leaf1,dcim.interface,swp1\n"
                      "gpu01,dcim.interface,ens1,panel1,dcim.frontport,7\n"
                      "pdu1,dcim.poweroutlet,3,gpu01,dcim.powerport,PSU1\n"),
            "ens0=leaf1:swp1");
  EXPECT_EQ(
      cables_in(
          R"([{"a_terminations": [{"object_type": "dcim.interface", "object": {"device": {"name": "gpu01"}, "name": "ens0"}}],
                           "b_terminations": [{"object_type": "dcim.frontport", "object": {"device": {"name": "panel1"}, "name": "7"}}]},
                          {"termination_a_type": "dcim.interface", "termination_a": {"device": {"name": "gpu01"}, "name": "ens1"},
                           "termination_b_type": "dcim.rearport", "termination_b": {"device": {"name": "panel1"}, "name": "8"}}])"),
      "");
}

TEST(Cabling, FaultsNameTheLine) {
  EXPECT_EQ(cables_in(""), "plan:1: empty; expected a header line and one line for each cable");
  EXPECT_EQ(cables_in("Device A,Interface A,Device B\n"),
            "plan:1: no column for the port of end B (\"Termination B\", \"side_b_name\") in the header");
  EXPECT_EQ(cables_in("Device A,Interface A,Device B,Interface B\ngpu01,\"a\nb\",leaf1,1\ngpu01,ens0,leaf1\n"),
            "plan:4: 3 fields, but the header has 4");
  EXPECT_EQ(cables_in("Device A,Interface A,Device B,Interface B\ngpu01,\"a\n"), "plan:2: unterminated quote");
  EXPECT_EQ(cables_in("{\n\"results\": [\n{]}"), "plan:3: invalid JSON");
  EXPECT_EQ(cables_in("{\"count\": 3}"), "plan:1: neither a list of cables nor one in \"results\"");
  EXPECT_EQ(cables_in("{\"next\": \"http\", \"results\": []}"),
            "plan:1: only one page of several; query the API with ?limit=0");
  EXPECT_EQ(cables_in(std::string(100'000, '[')), "plan:1: invalid JSON");
  EXPECT_EQ(cables_in("[1]"), "plan: cable 1: not a JSON object");
}

TEST(Cabling, OfTheConfiguration) {
  test::Tree tree;
  tree.file("etc/hostname", "GPU01.example.com\n").file("etc/fabric-agent/cabling.csv", seed("import.csv"));
  Policy policy =
      test::good("[cabling]\nfile = \"/etc/fabric-agent/cabling.csv\"\nports = { \"Slot 1\" = \"mlx5_0\" }\n");
  load_cabling(tree.root(), policy);
  EXPECT_EQ(policy.cabling.problem, "");
  EXPECT_EQ(policy.cabling.host, "GPU01.example.com");
  ASSERT_EQ(policy.cabling.cables.size(), 1u);
  EXPECT_EQ(policy.cabling.cables[0].where, "/etc/fabric-agent/cabling.csv:2");
  EXPECT_EQ(policy.cabling.ports.at("Slot 1"), "mlx5_0");

  Policy missing = test::good("[cabling]\nfile = \"/etc/none.csv\"\nhost = \"leaf1\"\n");
  load_cabling(tree.root(), missing);
  EXPECT_TRUE(test::has(missing.cabling.problem, "ENOENT"));
  EXPECT_EQ(missing.cabling.host, "leaf1");

  Policy folder = test::good("[cabling]\nfile = \"/\"\n");
  load_cabling(tree.root(), folder);
  EXPECT_TRUE(test::has(folder.cabling.problem, "EISDIR"));

  EXPECT_TRUE(
      test::has(test::refused(parse_config("[cabling]\nfile = \"cabling.csv\"\n", "test.toml")), "test.toml:2:"));
  EXPECT_FALSE(parse_config("[cabling]\nports = { a = 1 }\n", "test.toml"));
}

// -- Documentation: sample configuration, man pages, tables

const std::string kSource = FABRIC_SOURCE_DIR;
const std::string kTomlPage = "agent/agentd/fabric-agent.toml.5", kSample = "etc/fabric-agent.toml";

// A line "#key = value" or "#[section]" is a default that can be switched on by removing the "#".
std::string with_defaults_switched_on(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    bool is_default = line.size() > 1 && line[0] == '#' &&
                      (std::islower(static_cast<unsigned char>(line[1])) || line[1] == '[' || line[1] == '"');
    out += (is_default ? line.substr(1) : line) + "\n";
  }
  return out;
}

TEST(SampleConfiguration, IsAuditWithAProfileForEveryRocePort) {
  const LoadedConfig sample = test::loaded(load_config(kSource + "/etc/fabric-agent.toml"));
  EXPECT_EQ(sample.policy.mode, Mode::audit);
  EXPECT_TRUE(sample.warnings.empty()) << sample.warnings.front().what;
  Port port{.rdma = "rocep1s0", .netdev = "ens1", .place = PortPlace::host, .kernel_driver = "unheard_of"};
  EXPECT_EQ(policy_for(sample.policy, port), nullptr) << "not near a GPU: it may carry management or storage";
  port.place = PortPlace::compute;
  const PortPolicy* entry = policy_for(sample.policy, port);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->want.pfc, PrioSet{1 << 3});
  for (const char* driver : {"mlx5_core", "bnxt_en", "ionic", "ice"}) {
    port.kernel_driver = driver;
    entry = policy_for(sample.policy, port);
    ASSERT_NE(entry, nullptr);
    EXPECT_FALSE(entry->profile.empty()) << driver;
    EXPECT_FALSE(entry->front_end) << driver;
  }
}

TEST(SampleConfiguration, ItsCommentedDefaultsAreTheDefaults) {
  Policy sample = test::loaded(parse_config(with_defaults_switched_on(of_source(kSample)), "sample",
                                            kSource + "/etc/profiles", rule_rows()))
                      .policy;
  for (const Limit* row : test::limits()) {
    const double* value = find_in(sample.rules.of(row->rule).limits, row->key);
    EXPECT_TRUE(value != nullptr && *value == row->value)
        << kSample << ": " << row->name() << " is out of date: tests/regenerate writes it";
  }
  const Policy defaults;
  for (const RuleWindow& rule : rule_windows())
    EXPECT_EQ(limits_of(sample.rules, rule), limits_of(defaults.rules, rule)) << rule.key;
  // Excluded: values without a default, and the places of all values.
  sample.ports.clear(), sample.firmware.clear(), sample.driver_version.clear(), sample.sysctl.clear();
  sample.expect = {}, sample.cabling = {};
  sample.rules = {}, sample.origin.clear();
  EXPECT_EQ(show_config(sample), show_config(defaults));
}

TEST(SampleConfiguration, GivesEveryKey) {
  std::string text = of_source(kSample);
  for (const std::string& key : config_keys()) {
    std::string last = key.substr(key.rfind('.') + 1);
    if (last == "sysctl" || last == "firmware" || last == "driver_version") {
      EXPECT_TRUE(has(text, "[" + last + "]"));
      continue;
    }
    EXPECT_TRUE(std::regex_search(text, std::regex("(^|\\n)#?([a-z_]+ = \\{.*)?\\b" + last + " = ")))
        << kSample << " lacks a line for " << key << ": write one; those of [rules.ID] tests/regenerate writes";
  }
}

// The entry of a key, from its heading to the next one.
std::string entry_of(const std::string& page, const std::string& key) {
  const size_t head = page.find("\n.It Cm " + key + "\n");
  EXPECT_NE(head, std::string::npos) << kTomlPage << " lacks an entry .It Cm " << key << ": write one";
  return head == std::string::npos ? "" : page.substr(head + 1, page.find("\n.It Cm ", head + 1) - head);
}

// The table of a window: "rules.link-flap", or "rules.link-errors.bit_errors" of a rule with several.
std::string key_of(const RuleRow& row, const WindowRow& window) {
  const std::string rule = "rules." + std::string(row.id);
  return row.windows.size() == 1 ? rule : rule + "." + std::string(window.key);
}

TEST(ManualPage, HeadsEveryKeyAndNoOther) {
  std::string page = of_source(kTomlPage);
  std::set<std::string> headed;
  std::regex heading("\\n\\.It Cm ([a-z0-9_.-]+)");
  for (std::sregex_iterator match(page.begin(), page.end(), heading), end; match != end; ++match)
    headed.insert((*match)[1]);
  for (const std::string& key : config_keys())
    EXPECT_EQ(headed.erase(key), 1u) << kTomlPage << " lacks an entry .It Cm " << key
                                     << ": write one; those of [rules.ID] tests/regenerate writes";
  for (const RuleRow& row : rule_rows()) {
    for (const WindowRow& window : row.windows)
      EXPECT_EQ(headed.erase(key_of(row, window)), 1u)
          << kTomlPage << " lacks an entry .It Cm " << key_of(row, window) << ": describe the measurement";
    for (const Limit* limit : row.limits) EXPECT_EQ(headed.erase("rules." + limit->name()), 1u) << limit->name();
  }
  EXPECT_EQ(headed, std::set<std::string>()) << kTomlPage << " has entries that are no keys";
}

// Ranges in the page are those of the table.
TEST(ManualPage, GivesTheRangeOfEveryNumber) {
  const std::string page = of_source(kTomlPage);
  for (const Setting& setting : kSettings) {
    if (!std::holds_alternative<std::optional<uint32_t> Qos::*>(setting.member)) continue;
    const std::string entry = entry_of(page, "port." + std::string(setting.key));
    EXPECT_TRUE(has(entry, std::to_string(setting.min) + " to " + std::to_string(setting.max)))
        << kTomlPage << ": port." << setting.key << " gives another range than lib/setting/setting_table.h";
  }
}

std::set<std::string> words_of(const std::string& text) {
  const std::regex word("[a-z0-9_]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), word), std::sregex_token_iterator()};
}

// "Drivers: mlx5_core, bnxt_en": those that the page names are those that offer the setting. "All" names none, or some
// of them.
TEST(ManualPage, NamesTheDriversThatOfferASetting) {
  const std::string page = of_source(kTomlPage);
  for (const Setting& setting : kSettings) {
    const std::string entry = entry_of(page, "port." + std::string(setting.key));
    const size_t at = entry.find("\nDrivers: ");
    if (at == std::string::npos || entry.compare(at, 13, "\nDrivers: all") == 0) continue;
    const auto named = words_of(entry.substr(at, entry.find(".\n", at) - at));
    std::set<std::string> offer, written;
    for (const Driver* driver : drivers()) {
      const std::string name(driver->kernel_names.front());
      if (name.empty()) continue;
      if (named.contains(name)) written.insert(name);
      for (const SettingOp& each : driver->ops)
        if (each.setting == setting.id && each.op.write != nullptr) offer.insert(name);
    }
    EXPECT_EQ(written, offer) << kTomlPage << ": \"Drivers:\" of port." << setting.key
                              << " lists drivers by their names in the kernel";
  }
}

// "Used by: nofile, slow-host."
std::string users_of(const Limit& row) {
  std::string out;
  const auto add = [&](const auto& each) {
    if (std::ranges::find(each.limits, &row) == each.limits.end()) return;
    out.append(out.empty() ? "" : ", ").append(each.id);
  };
  for (const Rule& each : test::checks()) add(each);
  for (const Rule& each : test::causes()) add(each);
  return out;
}

std::string limits_text(const WindowRow& window, const char* between) {
  std::string out;
  for (const config::RuleValue& each : config::rule_values({"x", {window}, {}}, {}))
    out += (out.empty() ? "" : between) + std::string(each.key) + " = " + each.toml;
  return out;
}

// "#[rules.nofile]\n#limit = 65535\n"
std::string sample_of(const RuleRow& row) {
  std::string out;
  for (const Limit* limit : row.limits)
    out += "#" + std::string(limit->key) + " = " + test::number(limit->value) + "\n";
  for (const WindowRow& window : row.windows)
    out += "#" +
           (row.windows.size() == 1 ? limits_text(window, "\n#")
                                    : std::string(window.key) + " = { " + limits_text(window, ", ") + " }") +
           "\n";
  return out.empty() ? "" : "#[rules." + std::string(row.id) + "]\n" + out;
}

TEST(Generated, LimitsAreInThePageAndInTheSample) {
  std::string page, sample;
  for (const Limit* row : test::limits())
    page += ".It Cm rules." + row->name() + "\n" + test::number(row->value) + " " + std::string(row->unit) +
            ".\nRange: " + test::number(row->least) + " to " + test::number(row->most) +
            ".\nSource: " + std::string(row->source) + ".\nUsed by: " + users_of(*row) + ".\n";
  for (const RuleRow& row : rule_rows()) sample += sample_of(row);
  test::expect_golden_between(kTomlPage, ".\\\" Generated: tests/regenerate config\n", ".\\\" End of generated text\n",
                              page);
  test::expect_golden_between(kSample, "#reload_grace = \"2min\"\n", "\n# The hardware", sample);
}

TEST(ManualPage, NamesTheRulesThatDoNotCountAfterTheBoot) {
  const std::string entry = entry_of(of_source(kTomlPage), "rules.boot_grace");
  for (const RuleWindow& rule : rule_windows())
    EXPECT_EQ(has(entry, ".Cm " + std::string(rule.rule) + " "), rule.graced) << rule.key;
}

TEST(ManualPage, NamesEveryDriverThatAnEntryMayMatch) {
  const auto named = words_of(entry_of(of_source(kTomlPage), "port.match.driver"));
  for (const Driver* driver : drivers())
    EXPECT_TRUE(named.contains(std::string(driver->name)))
        << kTomlPage << ": port.match.driver does not name " << driver->name;
}

TEST(ManualPage, ListsEveryMessageId) {
  std::string page = of_source("agent/agentd/fabric-agentd.8");
  namespace id = agentd::message_id;
  for (std::string_view one : {id::applied, id::repaired, id::differs, id::pending, id::not_set, id::conflict,
                               id::in_sync, id::configuration, id::port, id::reverted, id::trouble})
    EXPECT_TRUE(has(page, ".It Li " + std::string(one))) << one;
}

// "fabric-exporter(8)", as a page, a unit, a message or the sample refers to it, is a page that there is.
TEST(ManualPage, EveryReferenceIsToAPage) {
  namespace fs = std::filesystem;
  std::set<std::string> pages, referred;
  const std::regex reference(R"((fabric-[a-z]+(?:\.toml)?)(?: ?\(| )([1-8])\b)");
  for (const char* folder : {"agent", "lib", "etc", "systemd"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(kSource) / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string name = entry.path().filename().string(), extension = entry.path().extension().string();
      if (extension.size() == 2 && std::isdigit(static_cast<unsigned char>(extension[1]))) pages.insert(name);
      std::string text = of_source(fs::relative(entry.path(), kSource).string());
      std::erase(text, '\\');
      for (std::sregex_iterator match(text.begin(), text.end(), reference), end; match != end; ++match)
        referred.insert((*match)[1].str() + "." + (*match)[2].str());
    }
  EXPECT_TRUE(referred.contains("fabric-exporter.8"));
  for (const std::string& page : referred) EXPECT_TRUE(pages.contains(page)) << page;
}

TEST(ManualPage, NamesEveryOutcome) {
  std::string page = of_source("agent/agentd/fabric-agentd.8");
  for (const Outcome outcome : kValues<Outcome>)
    EXPECT_TRUE(has(page, ".It " + std::string(to_text(outcome)))) << to_text(outcome);
}

}  // namespace
}  // namespace fabric
