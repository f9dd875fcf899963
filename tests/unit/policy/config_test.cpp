// SPDX-License-Identifier: Apache-2.0
#include "policy/config.h"

#include <unistd.h>

#include "judge/rule.h"
#include "support/config.h"
#include "support/test.h"

namespace fabric {
namespace {

using std::chrono::milliseconds;
using test::ConfigFiles;
using test::good;
using test::has;
using test::loaded;
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
  // As deep as they may be together: tables in arrays, each of a key with as many dots.
  parts.resize(2 * 512 + 1);
  std::string deep = "[" + parts + "]\n";
  for (int i = 0; i < 4; ++i) deep += parts + " = [\n{";
  EXPECT_TRUE(has(bad(deep + parts + " = 1" + joined(std::vector<std::string>(4, "}]"), "") + "\n"), "f.toml:"));
  EXPECT_TRUE(has(bad("mtu = " + std::string(100'000, '[') + "\n"), "TOML_MAX_NESTED_VALUES"));
  EXPECT_TRUE(bad("[[port]]\ncl\u00e9 = 3\n").starts_with("f.toml:2:3: "));
  // Where toml++'s own tables of white space end in undefined behaviour.
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

// As many entries as a file can hold: no step may look at all pairs of them.
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
  EXPECT_LT(many, 15 * few) << few << " s, " << many << " s";
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

// ENOENT would say that there is no configuration, and the exporter would go on without one.
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
  EXPECT_FALSE(has(refused(load()), "create it")) << "nobody is told to write over a file that is there";
}

TEST_F(ConfigFiles, WhatOnlyAnotherMayReadSaysWhatToDo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to be somebody else";
  tree.file("a.toml", "mode = \"audit\"\n");
  std::filesystem::permissions(tree.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(file(), std::filesystem::perms(0600));
  ASSERT_EQ(::seteuid(65534), 0);
  const auto config = load();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(has(refused(config), "chown root"));
  EXPECT_EQ(config.error().code, EACCES);
}

// Of root's umask 077.
TEST_F(ConfigFiles, AFolderThatOnlyRootMayReadSaysWhatToDo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to be somebody else";
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
  tree.file("conf.d/20.toml", "");
  EXPECT_TRUE(has(refused(load()), "20.toml:1:1: no key"));
  tree.remove("conf.d");
  tree.file("a.toml", "mode = \"enforce\"\n");
  EXPECT_TRUE(has(refused(load()), "a.toml:1:1: mode: \"enforce\" with neither a [[port]] entry nor [sysctl]"));
  tree.file("conf.d/10.toml", "[sysctl]\n\"net.ipv4.tcp_ecn\" = 1\n");
  EXPECT_TRUE(load().ok()) << load().error().text();
}

class LastGood : public ConfigFiles {
 protected:
  Result<ConfigInUse> in_use() const { return load_config_in_use(tree.path(), file(), rule_rows()); }
  void save(const LoadedConfig& config) { EXPECT_TRUE(save_last_good(tree.path(), config, rule_rows()).ok()); }
};

TEST_F(LastGood, IsUsedWhileTheFilesAreInvalid) {
  tree.file("a.toml", "mode = \"enforce\"\n[[port]]\nprofile = \"site\"\ncnp = { dscp = 48, priority = 6 }\n");
  tree.file("profiles/site.toml", "mtu = 4200\n");
  EXPECT_TRUE(in_use()->error.empty());
  save(in_use()->config);
  tree.remove("profiles");
  for (const char* text : {"", "mode = \"enforce\"", "mode = \"enforce\"\n", "[[port]]\nmtu = 1\n",
                           "mode = \"enforce\"\n[[port]]\nmtuu = 4200\n"}) {
    tree.file("a.toml", text);
    const auto last = in_use();
    ASSERT_TRUE(last.ok()) << last.error().text();
    EXPECT_TRUE(has(last->error, "a.toml:"));
    EXPECT_EQ(last->config.policy.mode, Mode::enforce);
    EXPECT_EQ(last->config.policy.ports.at(0).want.mtu, 4200U);
    EXPECT_EQ(last->config.policy.ports.at(0).want.cnp_dscp, 48U);
  }
  tree.remove("a.toml");
  EXPECT_TRUE(in_use().ok());
  EXPECT_FALSE(load_config_in_use(tree.path(), tree.path() + "/b.toml", rule_rows()).ok()) << "that of another file";
}

TEST_F(LastGood, ADropInThatVanishedIsNotPartOfTheConfiguration) {
  tree.file("a.toml", "mode = \"audit\"\n");
  tree.file("conf.d/10-site.toml", "mode = \"enforce\"\n[[port]]\nmtu = 9000\n");
  save(loaded(load()));
  tree.remove("conf.d");
  EXPECT_EQ(in_use()->config.policy.mode, Mode::audit);
  EXPECT_TRUE(in_use()->error.empty());
}

TEST(PortEntry, AFrontEndIsNamedAndShown) {
  const Policy policy = good("[[port]]\nmatch = { netdev = \"eno1\" }\nfront_end = true\nmtu = 9000\n");
  EXPECT_TRUE(policy.ports.at(0).front_end);
  const std::string text = show_config(policy);
  EXPECT_TRUE(has(text, "\nfront_end = true")) << text;
  EXPECT_TRUE(good(text).ports.at(0).front_end);
  EXPECT_FALSE(good("[[port]]\nmtu = 9000\n").ports.at(0).front_end);
}

TEST_F(ConfigFiles, WhatIsNoFileIsRefused) {
  tree.folder("a.toml");
  EXPECT_TRUE(has(refused(load()), "not a regular file"));
  tree.remove("a.toml");
  tree.file("a.toml", std::string(10'000'000, '\n'));
  EXPECT_TRUE(has(refused(load()), "1 MiB"));
}

}  // namespace
}  // namespace fabric
