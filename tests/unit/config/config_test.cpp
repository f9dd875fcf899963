// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <unistd.h>

#include "support/config.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::good;

using std::chrono::milliseconds;

std::string bad(const std::string& text) {
  auto loaded = parse_config(text, "f.toml");
  EXPECT_FALSE(loaded.ok()) << text;
  return loaded.ok() ? "" : loaded.error().text();
}

std::vector<ConfigWarning> warnings(const std::string& text) {
  auto loaded = parse_config(text, "f.toml");
  EXPECT_TRUE(loaded.ok()) << loaded.error().text();
  return loaded->warnings;
}

// The error's first line begins with the place and mentions every part.
void expect_error(const std::string& text, const std::string& place, std::initializer_list<std::string> parts) {
  std::string error = bad(text);
  EXPECT_TRUE(error.starts_with(place + ": ")) << error;
  for (const std::string& part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
}

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
compat = ["rdma_exporter", "node_exporter", "rdma_exporter_qp"]
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
  EXPECT_EQ(policy.compat, (std::vector{Compat::rdma_exporter, Compat::node_exporter, Compat::rdma_exporter_qp}));
  ASSERT_EQ(policy.ports.size(), 1U);
  const PortPolicy& port = policy.ports[0];
  EXPECT_EQ(port.name, "rail");
  EXPECT_EQ(port.where, "f.toml:15");
  EXPECT_EQ(port.match, (Match{{"mlx5_core", "bnxt_en"}, {"mlx5_*"}, {"ens*"}, {"0000:17:*"}, {}, {}, {}, {}}));
}

TEST(Config, OpticsAndRawCounters) {
  const auto loaded =
      parse_config("optics = \"2min\"\n[exporter]\nraw = \"all\"\ngroups = [\"lanes\", \"casts\"]\n", "f.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.optics, milliseconds(120'000));
  EXPECT_EQ(loaded->policy.published.raw, RawCounters::all);
  EXPECT_EQ(loaded->policy.published.groups, (std::vector{SeriesGroup::lanes, SeriesGroup::casts}));
  const auto again = parse_config(show_config(loaded->policy), "shown.toml");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->policy.optics, milliseconds(120'000));
  EXPECT_EQ(again->policy.published.raw, RawCounters::all);
  EXPECT_EQ(again->policy.published.groups, loaded->policy.published.groups);
  EXPECT_EQ(good("").published.raw, RawCounters::unmapped);
  const auto never = parse_config("optics = 0\n", "f.toml");
  ASSERT_TRUE(never.ok()) << never.error().text();
  EXPECT_EQ(never->policy.optics, milliseconds(0));
}

TEST(Config, StatisticsAreAskedForByName) {
  EXPECT_TRUE(good("").ethtool.empty());
  const auto loaded =
      parse_config("[exporter]\nethtool = [\"rx_out_of_buffer\", \"*_xdp_drop\", \"no[tT]hing\"]\n", "f.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.ethtool, (std::vector<std::string>{"rx_out_of_buffer", "*_xdp_drop", "no[tT]hing"}));
  EXPECT_EQ(loaded->policy.origin.at("exporter.ethtool"), "f.toml:2");
  EXPECT_EQ(good(show_config(loaded->policy)).ethtool, loaded->policy.ethtool);
  EXPECT_EQ(good("[exporter]\nethtool = \"module_*\"\n").ethtool, std::vector<std::string>{"module_*"});
}

TEST(Config, ReadsEverySetting) {
  const PortPolicy port = good(kWhole).ports.at(0);
  EXPECT_EQ(port.want.dcbx, Dcbx::host);
  EXPECT_EQ(port.want.pause, (Pause{false, false}));
  EXPECT_EQ(port.want.mtu, 4200U);
  EXPECT_EQ(port.want.trust, Trust::dscp);
  EXPECT_EQ(port.want.dscp_map, (DscpMap{{26, 3}, {48, 6}}));
  ASSERT_TRUE(port.want.ets);
  EXPECT_EQ(port.want.ets->prio_tc, (Eight{0, 0, 0, 1, 0, 0, 2, 0}));
  EXPECT_EQ(port.want.ets->tsa[1], Tsa::ets);
  EXPECT_EQ(port.want.ets->tsa[7], Tsa::strict);
  EXPECT_EQ(port.want.ets->bw, (Eight{50, 50, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(port.want.pfc, PrioSet{0b1000});
  EXPECT_EQ(port.want.cable_length, 30U);
  EXPECT_EQ(port.origin[index(SettingId::pfc)], "f.toml:24");
}

TEST(Config, AnEmptyFileIsAuditWithoutPorts) {
  Policy policy = good("");
  EXPECT_EQ(policy.mode, Mode::audit);
  EXPECT_TRUE(policy.ports.empty());
}

TEST(Config, NamesThePlaceAndTheNearestKey) {
  expect_error("[[port]]\npcf = [3]\n", "f.toml:2:1", {"\"pcf\"", "did you mean \"pfc\"?"});
  expect_error("mode = \"audit\"\nreraed = 3\n", "f.toml:2:1", {"did you mean \"reread\"?"});
  expect_error("[conflict]\nwindows = 3\n", "f.toml:2:1", {"did you mean \"window\"?"});
  expect_error("[[port]]\nmatch = { drivers = \"x\" }\n", "f.toml:2:11", {"did you mean \"driver\"?"});
  expect_error("zzzzzzzzzzzz = 1\n", "f.toml:1:1", {"known here:", "mode", "port", "exporter"});
  expect_error("pfc = [3]\n", "f.toml:1:1", {"\"pfc\""});
}

TEST(Config, NamesWhatIsWrongAndWhatToWriteInstead) {
  expect_error("mode = \"on\"\n", "f.toml:1:8",
               {"\"audit\" or \"enforce\"", "the string \"on\"", "write mode = \"audit\""});
  expect_error("mode = audit\n", "f.toml:1:8", {"into quotes"});
  expect_error("mode = \"audit\"\nmode = \"enforce\"\n", "f.toml:2:8", {"'mode'", "keep one of the two"});
  expect_error("reread = 0\n", "f.toml:1:10", {"from 1s to 1h", "not 0", "write reread = \"30s\""});
  expect_error("reread = \"30 parsecs\"\n", "f.toml:1:10", {"time span"});
  expect_error("[conflict]\nrounds = true\n", "f.toml:2:10", {"an integer from 1 to 1000", "true"});
  expect_error("[exporter]\nlisten = [\":80\"]\n", "f.toml:2:10", {"numeric ADDRESS:PORT"});
  expect_error("[exporter]\nlisten = [\"[::]:99999\"]\n", "f.toml:2:10", {"numeric ADDRESS:PORT"});
  expect_error("exporter = 3\n", "f.toml:1:12", {"write [exporter]"});
  expect_error("[port]\npfc = [3]\n", "f.toml:1:1", {"two brackets"});
  expect_error("[[port]]\nmatch = \"mlx5\"\n", "f.toml:2:9", {"match = {"});
  expect_error("[[port]]\nmatch = { rdma = [\"\"] }\n", "f.toml:2:19", {"a pattern"});
}

struct BadSetting {
  const char* line;
  int column;
  const char* says;
};
class ConfigSetting : public testing::TestWithParam<BadSetting> {};

TEST_P(ConfigSetting, OutOfItsRangeIsAnError) {
  const BadSetting& one = GetParam();
  expect_error("[[port]]\n" + std::string(one.line) + "\n", "f.toml:2:" + std::to_string(one.column),
               {one.says, "; write "});
}

INSTANTIATE_TEST_SUITE_P(
    All, ConfigSetting,
    testing::Values(
        BadSetting{"dcbx = \"none\"", 8, "\"host\" or \"firmware\""}, BadSetting{"pause = false", 9, "\"off\""},
        BadSetting{"mtu = 67", 7, "from 68 to 65535"}, BadSetting{"mtu = 70000", 7, "from 68 to 65535"},
        BadSetting{"mtu = -1", 7, "not -1"}, BadSetting{"mtu = 4200.0", 7, "floating-point"},
        BadSetting{"cable_length = 0", 16, "from 1 to 999"}, BadSetting{"cable_length = 1000", 16, "from 1 to 999"},
        BadSetting{"trust = \"both\"", 9, "\"dscp\" or \"pcp\""}, BadSetting{"pfc = 3", 7, "an array of priorities"},
        BadSetting{"pfc = [8]", 8, "from 0 to 7"}, BadSetting{"pfc = [3, 3]", 11, "listed twice"},
        BadSetting{"dscp_map = { 64 = 3 }", 19, "from 0 to 63"}, BadSetting{"dscp_map = { 26 = 8 }", 19, "from 0 to 7"},
        BadSetting{"dscp_map = { x = 1 }", 18, "\"x\""}, BadSetting{"dscp_map = { 01 = 1, 1 = 2 }", 26, "once"},
        BadSetting{"dscp_map = [26]", 12, "a table"},
        BadSetting{"ets = { prio_tc = [0,0,0,0,0,0,0,0] }", 7, "tsa is missing"},
        BadSetting{"ets = { tsa = [\"ets\"], bw = [100] }", 7, "prio_tc is missing"},
        BadSetting{"ets = { prio_tc = [0,0], tsa = [\"ets\"], bw = [100] }", 19, "eight"},
        BadSetting{"ets = { prio_tc = [0,0,0,8,0,0,0,0], tsa = [\"ets\"], bw = [100] }", 26, "from 0 to 7"},
        BadSetting{"ets = { prio_tc = [0,0,0,1,0,0,0,0], tsa = [\"ets\"], bw = [100] }", 44,
                   "priority 3 goes to traffic class 1"},
        BadSetting{"ets = { prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"ets\"], bw = [99] }", 58, "add up to 99"},
        BadSetting{"ets = { prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"ets\"] }", 7, "add up to 0"},
        BadSetting{"ets = { prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"ets\", \"strict\"], bw = [90, 10] }", 68,
                   "must be 0"},
        BadSetting{"ets = { prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"vendor\"] }", 45, "every driver has"},
        BadSetting{"ets = { prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"strict\"], weight = [1] }", 65,
                   "prio_tc, tsa and bw"}));

TEST(Config, AllStrictEtsNeedsNoBandwidth) {
  EXPECT_TRUE(
      good("[[port]]\nets = { prio_tc = [0,0,0,1,0,0,0,0], tsa = [\"strict\", \"strict\"] }\n").ports.at(0).want.ets);
}

TEST(Config, AnEmptyListIsAWish) {
  const Qos want = good("[[port]]\npfc = []\ndscp_map = {}\n").ports.at(0).want;
  EXPECT_EQ(want.pfc, PrioSet{});
  EXPECT_EQ(want.dscp_map, DscpMap{});
}

TEST(Config, ValuesThatExcludeEachOtherAreErrors) {
  expect_error("[[port]]\npfc = [3]\npause = \"rx,tx\"\n", "f.toml:3:9",
               {"exclude each other", "write pause = \"off\""});
  expect_error("[[port]]\ntrust = \"pcp\"\ndscp_map = { 26 = 3 }\n", "f.toml:2:9", {"no effect"});
}

TEST(Config, DoubtfulValuesAreWarnings) {
  auto told = warnings("[[port]]\nmtu = 1500\npfc = [3, 4]\ntrust = \"dscp\"\ndscp_map = { 26 = 3 }\n");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].where, "f.toml:2:7");
  EXPECT_NE(told[0].what.find("path MTU"), std::string::npos);
  EXPECT_EQ(told[1].where, "f.toml:3:7");
  EXPECT_NE(told[1].what.find("priority 4"), std::string::npos);
}

TEST(Config, AnEntryBehindOneThatTakesAllIsAWarning) {
  auto told = warnings("[[port]]\nmtu = 9000\n[[port]]\nmatch = { rdma = \"mlx5_0\" }\nmtu = 4200\n");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].what.find("never reached"), std::string::npos);
}

TEST(Config, AnEntryBehindAWiderOneIsAWarning) {
  const auto behind = [](const std::string& early, const std::string& late) {
    return warnings("[[port]]\nmatch = { " + early + " }\nmtu = 9000\n[[port]]\nmatch = { " + late + " }\nmtu = 4200\n")
        .size();
  };
  EXPECT_EQ(behind("rdma = \"mlx5_*\"", "rdma = \"mlx5_0\""), 1U);
  EXPECT_EQ(behind("driver = \"mlx5_core\"", "driver = \"mlx5_core\", rdma = \"mlx5_0\""), 1U);
  EXPECT_EQ(behind("rdma = [\"mlx5_0\", \"mlx5_1\"]", "rdma = [\"mlx5_1\", \"mlx5_0\"]"), 1U);
  EXPECT_EQ(behind("rdma = \"mlx5_0\"", "rdma = \"mlx5_*\""), 0U);
  EXPECT_EQ(behind("rdma = \"mlx5_?\"", "rdma = \"mlx5_*\""), 0U) << "mlx5_10";
  EXPECT_EQ(behind("rdma = \"mlx5_*\"", "driver = \"mlx5_core\""), 0U) << "it may be called otherwise";
  EXPECT_EQ(behind("rdma = \"mlx5_*\", numa = 0", "rdma = \"mlx5_0\""), 0U);
}

TEST(Config, EntriesHaveDifferentNames) {
  expect_error("[[port]]\nname = \"a\"\nmatch = { rdma = \"x\" }\nmtu = 9000\n[[port]]\nname = \"a\"\nmtu = 9000\n",
               "f.toml:5:1", {"taken by the entry at f.toml:1"});
}

TEST(Config, ShowsAllFaultsUpToTen) {
  std::string text = "[[port]]\n";
  for (int i = 0; i < 12; ++i) text += "wrong" + std::to_string(i) + " = 1\n";
  std::string error = bad(text);
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 10);
  EXPECT_NE(error.find("and 2 more"), std::string::npos);
}

TEST(Config, BytesThatAreNoTomlAreErrorsWithAPlace) {
  EXPECT_TRUE(bad("mode = \"audit\"\n[[port]\n").starts_with("f.toml:2:"));
  EXPECT_TRUE(bad("[[[\n").starts_with("f.toml:1:3"));
  EXPECT_TRUE(bad(std::string("mode = \"audit\"\nx\0y", 18)).starts_with("f.toml:2:2: a NUL byte"));
  std::string parts(1, 'a');  // some 20000 exhausted the stack
  for (int i = 0; i < 200'000; ++i) parts += ".a";
  EXPECT_TRUE(bad(parts + " = 1\n").starts_with("f.toml:1:35: a key of too many parts")) << bad(parts + " = 1\n");
  EXPECT_TRUE(bad("[" + parts + "]\n").starts_with("f.toml:1:36: a key of too many parts"));
  EXPECT_TRUE(bad("mode = \u201caudit\u201d\n").starts_with("f.toml:1:8: a character beyond ASCII"));
  EXPECT_TRUE(bad("[[port]]\ncl\u00e9 = 3\n").starts_with("f.toml:2:3: a character beyond ASCII"));
  // Where toml++'s own tables of white space end in undefined behaviour.
  EXPECT_TRUE(bad("reread = 8(8\"\u00e9\"\"8").starts_with("f.toml:1:11: "));
  EXPECT_TRUE(bad("mode = \"\xff\xfe\"\n").starts_with("f.toml:1:"));
  EXPECT_TRUE(bad("mode = \"audit\"\nmode = \"enforce\"\n").starts_with("f.toml:2:"));
  EXPECT_NE(bad(std::string(2'000'000, '#')).find("1 MiB"), std::string::npos);
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
  EXPECT_EQ(again.reread, policy.reread);
  EXPECT_EQ(again.max_age, policy.max_age);
  EXPECT_EQ(again.listen, policy.listen);
  // Everything else, too: shown again, only the comments differ.
  auto without_comments = [](const std::string& text) {
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find('#')) + "\n";
    return out;
  };
  EXPECT_EQ(without_comments(show_config(again)), without_comments(shown));
  EXPECT_NE(shown.find("# f.toml:23"), std::string::npos) << shown;
  EXPECT_NE(show_config(good("")).find("# default"), std::string::npos);
}

TEST(Config, ReadsWhatAPortIsMatchedBy) {
  const Match match = good(
                          "[[port]]\nmtu = 9000\nmatch = { pci_id = \"15B3:*\", speed = [\"400G\", \"2.5G\", 100000, "
                          "\"25000\"], numa = [0, 1], "
                          "role = [\"compute\", \"host\"], pci = \"*:17:00.?\" }\n")
                          .ports.at(0)
                          .match;
  EXPECT_EQ(match.pci_id, std::vector<std::string>{"15b3:*"});
  EXPECT_EQ(match.speed, (std::vector<std::string>{"400000", "2500", "100000", "25000"}));
  EXPECT_EQ(match.numa, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(match.role, (std::vector<std::string>{"compute", "host"}));
  EXPECT_EQ(match.pci, std::vector<std::string>{"*:17:00.?"});
}

// As many entries as a file can hold: no step may look at all pairs of them.
TEST(Config, ManyEntriesAreRead) {
  std::string text;
  for (int i = 0; i < 9'000; ++i)
    text += "[[port]]\nmatch = { rdma = \"mlx5_" + std::to_string(i) + "\" }\nmtu = 9000\npfc = [3]\n";
  const auto loaded = parse_config(text, "f.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.ports.size(), 9'000U);
  EXPECT_EQ(loaded->policy.ports.back().name, "port#9000");
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

class ConfigFiles : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fabric-config-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    std::filesystem::create_directory(directory_ / "conf.d");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void put(const std::string& name, const std::string& text) { std::ofstream(directory_ / name) << text; }
  Result<LoadedConfig> load() { return load_config((directory_ / "a.toml").string()); }
  std::filesystem::path directory_;
};

TEST_F(ConfigFiles, LaterFilesWin) {
  put("a.toml", "mode = \"audit\"\nreread = \"10s\"\n[[port]]\nname = \"all\"\nmtu = 4200\n");
  put("conf.d/20.toml", "mode = \"enforce\"\n[[port]]\nname = \"late\"\nmatch = { rdma = \"mlx5_1\" }\nmtu = 9000\n");
  put("conf.d/10.toml", "mode = \"audit\"\n[[port]]\nname = \"early\"\nmatch = { rdma = \"mlx5_2\" }\nmtu = 9000\n");
  put("conf.d/.hidden.toml", "nonsense");
  put("conf.d/30.toml.dpkg-old", "nonsense");
  auto loaded = load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.mode, Mode::enforce);
  EXPECT_EQ(loaded->policy.reread, milliseconds(10'000));
  ASSERT_EQ(loaded->policy.ports.size(), 3U);
  EXPECT_EQ(loaded->policy.ports[0].name, "late");
  EXPECT_EQ(loaded->policy.ports[1].name, "early");
  EXPECT_EQ(loaded->policy.ports[2].name, "all");
  EXPECT_TRUE(loaded->warnings.empty());
  EXPECT_EQ(loaded->policy.origin.at("mode"), (directory_ / "conf.d/20.toml").string() + ":1");
}

TEST_F(ConfigFiles, AListReplacesTheOneBefore) {
  put("a.toml", "mode = \"audit\"\n[exporter]\nethtool = [\"rx_*\", \"tx_*\"]\nexclude = [\"mlx5_0\"]\n");
  put("conf.d/10.toml", "[exporter]\nethtool = [\"module_*\"]\n");
  auto loaded = load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.ethtool, std::vector<std::string>{"module_*"});
  EXPECT_EQ(loaded->policy.exclude, std::vector<std::string>{"mlx5_0"});
  put("conf.d/20.toml", "[exporter]\nethtool = []\n");
  loaded = load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_TRUE(loaded->policy.ethtool.empty());
}

TEST_F(ConfigFiles, FaultsOfEveryFileAreShown) {
  put("a.toml", "mdoe = 1\n");
  put("conf.d/10.toml", "[[port]]\npfc = [9]\n");
  auto loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().text().find("a.toml:1:1"), std::string::npos);
  EXPECT_NE(loaded.error().text().find("conf.d/10.toml:2:8"), std::string::npos);
}

// ENOENT would say that there is no configuration, and the exporter would go on without one.
TEST_F(ConfigFiles, WithDropInsAMissingFileIsAFault) {
  put("a.toml", "mode = \"audit\"\n");
  std::filesystem::create_symlink("nowhere", directory_ / "conf.d/10.toml");
  auto loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, 0);
  EXPECT_NE(loaded.error().text().find("conf.d/10.toml: cannot read the configuration: No such file"),
            std::string::npos)
      << loaded.error().text();
  std::filesystem::remove(directory_ / "a.toml");
  std::filesystem::remove(directory_ / "conf.d/10.toml");
  put("conf.d/10.toml", "[exporter]\nexclude = [\"mlx5_0\"]\n");
  loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, 0);
  EXPECT_NE(loaded.error().text().find("a.toml: cannot read the configuration"), std::string::npos)
      << loaded.error().text();
  EXPECT_NE(loaded.error().text().find("create it, with mode at least"), std::string::npos) << loaded.error().text();
  put("a.toml", std::string((1 << 20) + 1, '#'));
  loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().text().find("create it"), std::string::npos)
      << "nobody is told to write over a file that is there: " << loaded.error().text();
}

TEST_F(ConfigFiles, WhatOnlyAnotherMayReadSaysWhatToDo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to be somebody else";
  put("a.toml", "mode = \"audit\"\n");
  std::filesystem::permissions(directory_, std::filesystem::perms(0755));
  std::filesystem::permissions(directory_ / "a.toml", std::filesystem::perms(0600));
  ASSERT_EQ(::seteuid(65534), 0);
  const auto loaded = load();
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, EACCES);
  EXPECT_NE(loaded.error().text().find("chown root"), std::string::npos) << loaded.error().text();
}

TEST_F(ConfigFiles, AMissingFileIsNamed) {
  auto loaded = load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ENOENT);
  EXPECT_NE(loaded.error().text().find((directory_ / "a.toml").string()), std::string::npos);
}

// Nothing that lost its end is read as a configuration that asks for less.
TEST_F(ConfigFiles, ATruncatedFileIsRefusedOrMeansTheSame) {
  std::vector<std::string> names{"a.toml"};
  std::filesystem::copy(FABRIC_SOURCE_DIR "/etc/profiles", directory_ / "profiles");
  for (const auto& each : std::filesystem::directory_iterator(directory_ / "profiles"))
    names.push_back("profiles/" + each.path().filename().string());
  std::map<std::string, std::string> texts;
  for (const std::string& name : names)
    texts[name] = test::slurp(FABRIC_SOURCE_DIR "/etc/" + (name == "a.toml" ? "fabric-agent.toml" : name));
  put("a.toml", texts["a.toml"]);
  put("conf.d/oci.toml", "mode = \"enforce\"\n[[port]]\nname = \"oci\"\nmatch = { numa = 9 }\nprofile = \"oci\"\n");
  const auto whole = load();
  ASSERT_TRUE(whole.ok()) << whole.error().text();
  std::string meaning = show_config(whole->policy);
  for (const auto& [name, text] : texts) {
    if (name != "a.toml") {
      put("a.toml", "mode = \"audit\"\n");
      meaning = show_config(load()->policy);
    }
    std::set<size_t> cuts;
    for (size_t at = 0; at < text.size(); at += 64) cuts.insert(at);
    for (size_t at = 0; at < text.size(); ++at)
      if (text[at] == '\n') cuts.insert(at + 1);  // the cuts that leave valid TOML
    for (size_t at : cuts) {
      put(name, text.substr(0, at));
      const auto cut = load();
      if (cut) {
        EXPECT_EQ(show_config(cut->policy), meaning) << name << " cut at " << at;
      }
    }
    put(name, text);
  }
}

TEST_F(ConfigFiles, WhatCanBeAPartOfAFileIsRefused) {
  const std::string mode = "mode = \"audit\"\n", port = "[[port]]\nmtu = 9000\n";
  for (const std::string& text : {std::string(), std::string("\n"), std::string("# mode = \"audit\"\n"), port,
                                  mode + "[[port]]\nmtu = 900", "last_line = \"# end\"\n" + mode + port,
                                  "last_line = \"end\"\n" + mode + "end\n", "last_line = 1\n" + mode + port}) {
    put("a.toml", text);
    EXPECT_FALSE(load().ok()) << text;
  }
  put("a.toml", port);
  EXPECT_NE(load().error().text().find("write mode = \"audit\" or mode = \"enforce\""), std::string::npos);
  put("conf.d/10.toml", "mode = \"audit\"\n");
  EXPECT_TRUE(load().ok()) << "any of the files may give it";
  put("conf.d/20.toml", "");
  EXPECT_NE(load().error().text().find("20.toml:1:1: no key"), std::string::npos) << load().error().text();
  put("conf.d/20.toml", "last_line = \"# end\"\nreread = \"10s\"\n# end\n\n");
  EXPECT_TRUE(load().ok()) << load().error().text();
  put("conf.d/20.toml", "last_line = \"# end\"\nreread = \"10s\"\n# end\n[[port]]\nmtu = 9000\n");
  EXPECT_TRUE(load().ok()) << "lines were appended: " << load().error().text();
}

class LastGood : public ConfigFiles {
 protected:
  std::string root() { return directory_.string(); }
  std::string file() { return (directory_ / "a.toml").string(); }
  Result<ConfigInUse> in_use() { return load_config_in_use(root(), file()); }
};

TEST_F(LastGood, IsUsedWhileTheFilesAreInvalid) {
  put("a.toml", "mode = \"enforce\"\n[[port]]\nprofile = \"site\"\ncnp = { dscp = 48, priority = 6 }\n");
  std::filesystem::create_directories(directory_ / "profiles");
  put("profiles/site.toml", "mtu = 4200\n");
  EXPECT_TRUE(in_use()->error.empty());
  ASSERT_TRUE(save_last_good(root(), in_use()->config).ok());
  const std::string wanted = wanted_config(load()->policy);
  std::filesystem::remove_all(directory_ / "profiles");
  for (const char* text : {"", "mode = \"enforce\"", "[[port]]\nmtu = 1\n"}) {
    put("a.toml", text);
    const auto last = in_use();
    ASSERT_TRUE(last.ok()) << last.error().text();
    EXPECT_NE(last->error.find("a.toml:"), std::string::npos) << last->error;
    EXPECT_EQ(last->config.policy.mode, Mode::enforce);
    EXPECT_EQ(last->config.policy.ports.at(0).want.mtu, 4200U);
    EXPECT_EQ(last->config.policy.ports.at(0).want.cnp_dscp, 48U);
  }
  std::filesystem::remove(directory_ / "a.toml");
  EXPECT_TRUE(in_use().ok());
  EXPECT_FALSE(load_config_in_use(root(), (directory_ / "b.toml").string()).ok()) << "that of another file";
  // Cut anywhere, it is not used either.
  const auto path = directory_ / kLastGoodFile;
  const auto size = std::filesystem::file_size(path);
  for (size_t at = size - 2; at > 64; at -= 64) {
    std::filesystem::resize_file(path, at);
    EXPECT_FALSE(in_use().ok()) << at;
  }
}

TEST_F(LastGood, ADropInThatVanishedIsRefusedUntilItIsAccepted) {
  put("a.toml", "mode = \"audit\"\n");
  put("conf.d/10-site.toml", "mode = \"enforce\"\n[[port]]\nmtu = 9000\n");
  ASSERT_TRUE(save_last_good(root(), *load()).ok());
  for (const char* gone : {"conf.d/10-site.toml", "conf.d"}) {
    std::filesystem::remove(directory_ / gone);
    const auto refused = load_whole_config(root(), file());
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().text().find("10-site.toml: missing"), std::string::npos) << refused.error().text();
    EXPECT_NE(refused.error().text().find("fabric-agentctl config accept"), std::string::npos);
    EXPECT_EQ(in_use()->config.policy.mode, Mode::enforce);
  }
  ASSERT_TRUE(save_last_good(root(), *load()).ok());
  EXPECT_EQ(load_whole_config(root(), file())->policy.mode, Mode::audit);
}

// Without last_line, a file that is cut at the end of a line is valid and asks for less.
TEST_F(LastGood, TheBeginningOfTheLastFileIsRefusedUntilItIsAccepted) {
  const std::string whole = "mode = \"enforce\"\n# a site\n[[port]]\nmtu = 4200\npfc = [3]\n";
  put("a.toml", whole);
  ASSERT_TRUE(save_last_good(root(), *load()).ok());
  size_t cuts = 0;
  for (size_t at = whole.find('\n') + 1; at < whole.size(); at = whole.find('\n', at) + 1, ++cuts) {
    put("a.toml", whole.substr(0, at));
    const auto refused = load_whole_config(root(), file());
    ASSERT_FALSE(refused.ok()) << at;
    if (!load().ok()) continue;
    EXPECT_NE(refused.error().text().find("the file in use has 5 lines"), std::string::npos) << refused.error().text();
    EXPECT_EQ(in_use()->config.policy.ports.at(0).want.pfc, PrioSet{1 << 3});
  }
  EXPECT_EQ(cuts, 4U);
  for (const std::string& other : {whole, whole + "mtu_ = 1\n", std::string("mode = \"audit\"\n")}) {
    put("a.toml", other);
    const auto loaded = load_whole_config(root(), file());
    EXPECT_TRUE(loaded.ok() || loaded.error().text().find("truncated") == std::string::npos) << other;
  }
  put("a.toml", whole.substr(0, whole.find("[[port]]")));
  ASSERT_TRUE(save_last_good(root(), *load()).ok());
  EXPECT_TRUE(load_whole_config(root(), file()).ok());
}

TEST_F(ConfigFiles, WhatIsNoFileIsRefused) {
  std::filesystem::create_directory(directory_ / "a.toml");
  EXPECT_NE(load().error().text().find("not a regular file"), std::string::npos);
  std::filesystem::remove(directory_ / "a.toml");
  put("a.toml", std::string(10'000'000, '\n'));
  EXPECT_NE(load().error().text().find("1 MiB"), std::string::npos);
}

}  // namespace
}  // namespace fabric
