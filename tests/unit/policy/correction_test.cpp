// SPDX-License-Identifier: Apache-2.0
// A rejected value is corrected as its operator meant it, or an example is named as one. Over all keys: a value that
// the key accepts, written as people write it, comes back as the same value or as an example, never as another value.
#include "judge/rule.h"
#include "policy/config.h"
#include "policy/keys.h"
#include "policy/port_entry.h"
#include "policy/rule_keys.h"
#include "support/config.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;

// One key of the configuration: the text before its value and after it.
struct Place {
  std::string key, before, after = "\n";
  std::string example{};  // of the schema
  bool is_dscp = false;
};

Place port_key(std::string_view key) { return {std::string(key), "[[port]]\n" + std::string(key) + " = "}; }

std::vector<Place> all_places() {
  std::vector<Place> out;
  for (const config::Key& key : config::keys()) {
    std::string before = std::string(key.name) + " = ";
    if (!key.section.empty()) before.insert(0, "[" + std::string(key.section) + "]\n");
    out.push_back({std::string(key.name), before, "\n", key.example.substr(key.example.find(" = ") + 3)});
  }
  for (const Setting& setting : kSettings) {
    Place place = port_key(setting.key);
    place.example = config::correctable(setting).example;
    place.is_dscp = setting.key.ends_with("dscp");
    out.push_back(place);
  }
  for (const config::MatchKey& key : config::match_keys())
    out.push_back({std::string(key.name), "[[port]]\nmtu = 9000\nmatch = { " + std::string(key.name) + " = ", " }\n",
                   std::string(key.example.substr(key.example.find(" = ") + 3))});
  for (const char* key : {"traffic", "cnp"}) {
    out.push_back({key, std::string(key) + " = ", "\n[[port]]\nmtu = 9000\n", "{ dscp = 26, priority = 3 }"});
    out.push_back({key, "[[port]]\n" + std::string(key) + " = ", "\n", "{ dscp = 48, priority = 6 }"});
  }
  out.push_back({"front_end", "[[port]]\nmatch = { netdev = \"eth0\" }\nmtu = 9000\nfront_end = "});
  out.push_back(port_key("name"));
  out.push_back({"kernel.numa_balancing", "[sysctl]\n\"kernel.numa_balancing\" = ", "\n", "0"});
  out.push_back({"net.ipv4.tcp_rmem", "[sysctl]\n\"net.ipv4.tcp_rmem\" = ", "\n", "\"4096 131072 67108864\""});
  out.push_back({"mlx5_core", "[driver_version]\nmlx5_core = ", "\n", "\"24.10-*\""});
  for (const RuleRow& row : rule_rows())
    for (const config::RuleValue& each : config::rule_values(row, {}))
      out.push_back(
          {std::string(each.key), "[" + each.section + "]\n" + std::string(each.key) + " = ", "\n", each.toml});
  return out;
}

Result<LoadedConfig> read_at(const Place& place, const std::string& value) {
  return parse_config(place.before + value + place.after, "f.toml", FABRIC_SOURCE_DIR "/etc/profiles", rule_rows());
}

// The policy without the places of its values.
std::string meaning(const Result<LoadedConfig>& loaded) {
  const std::string shown = show_config(loaded->policy, rule_rows());
  std::string out;
  for (const std::string_view line : split(shown, '\n')) out.append(line.substr(0, line.find("# f.toml"))).append("\n");
  return out;
}

struct Advice {
  bool is_certain = false;
  std::string value;
};
Advice advice_of(const Place& place, const std::string& error) {
  std::string key = place.key;
  if (key.find('.') != std::string::npos) key = "\"" + key + "\"";
  for (const bool certain : {true, false}) {
    const std::string head = std::string(certain ? "; write " : "; for example ") + key + " = ";
    if (const size_t at = error.find(head); at != std::string::npos)
      return {certain, error.substr(at + head.size(), error.find(", or leave it out", at) - at - head.size())};
  }
  return {};
}

const char* const kGarbage[] = {"\"none\"",
                                "-1",
                                "99999999",
                                "\"x\"",
                                "true",
                                "false",
                                "[]",
                                "{}",
                                "\"auto\"",
                                "\"0,0,0,1,0,0,0,0\"",
                                "[0,0,0,1,1,0,0,0]",
                                "\"9000\"",
                                "\"5m\"",
                                "96",
                                "104",
                                "200",
                                "1.5",
                                "0.5",
                                "\"ENFORCED\"",
                                "\"1a:00.0\"",
                                "\"26:3,48:6\"",
                                "\"no\"",
                                "\"off\"",
                                "\"on\"",
                                "\"\"",
                                "\" \"",
                                "\"a,b\"",
                                "[\"\"]",
                                "[1, \"x\"]",
                                "{ a = 1 }",
                                "{ dscp = 96, priority = 3 }",
                                "\"0x18\"",
                                "\"AF31\"",
                                "\"9k\"",
                                "\"400Gb/s\"",
                                "\"10%\"",
                                "\"/\"",
                                "\":::\"",
                                "1979-05-27",
                                "\"{\"",
                                "\"{0..3}\"",
                                "\"[3\"",
                                "[[3]]",
                                "\"3-4\"",
                                "\"unmapped mapped\"",
                                "\"-\"",
                                "\"1e3\""};

TEST(Correction, IsAValueThatTheKeyAccepts) {
  size_t certain = 0;
  for (const Place& place : all_places())
    for (const char* value : kGarbage) {
      const auto loaded = read_at(place, value);
      if (loaded.ok()) continue;
      const std::string error = loaded.error().text();
      const Advice advice = advice_of(place, error);
      if (has(error, "a level has no window") || has(error, "give both") || has(error, "unknown host setting"))
        continue;
      ASSERT_FALSE(advice.value.empty()) << place.before << value << "\n" << error;
      const auto corrected = read_at(place, advice.value);
      // A limit alone may contradict the other one of its pair.
      EXPECT_TRUE(corrected.ok() || has(corrected.error().text(), "give both")) << place.before << value << "\n"
                                                                                << error << "\n"
                                                                                << corrected.error().text();
      certain += advice.is_certain ? 1 : 0;
    }
  EXPECT_GT(certain, 200u);
}

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }
bool is_number(const std::string& value) {
  return !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
}

// Values that the key accepts: variations of its example.
std::vector<std::string> valid_values(const Place& place) {
  std::vector<std::string> tried{place.example,
                                 "0",
                                 "1",
                                 "2",
                                 "4",
                                 "5",
                                 "7",
                                 "24",
                                 "26",
                                 "48",
                                 "100",
                                 "256",
                                 "4096",
                                 "9000",
                                 "true",
                                 "false",
                                 "[4]",
                                 "[3, 4]",
                                 "[0, 7]",
                                 "[]",
                                 "{ 26 = 3 }",
                                 "{ 24 = 4, 46 = 5 }",
                                 "{ dscp = 24, priority = 4 }",
                                 "{ dscp = 46, priority = 5 }",
                                 "[0,0,1,2,0,0,0,0]",
                                 "[20000,100000,0,0,0,0,0,0]",
                                 "\"45s\"",
                                 "\"90s\"",
                                 "\"2min\"",
                                 "\"500ms\"",
                                 "\"none\"",
                                 "\"never\"",
                                 "\"0000:1a:00.0\"",
                                 "[\"0000:1a:00.0\", \"0000:2b:00.1\"]",
                                 "\"15b3:1023\"",
                                 "\"200G\"",
                                 "\"Sun 03:00-05:00\"",
                                 "\"3%\"",
                                 "[\"rs\", \"auto\"]",
                                 "[\"pcp\", \"dscp\"]",
                                 "[\"lanes\", \"casts\"]",
                                 "[\"mlx5_1\", \"mlx5_2\"]",
                                 "\"127.0.0.1:9400\""};
  for (const char* word :
       {"audit", "enforce", "idle",     "now", "never", "leave",   "restore",  "host",   "firmware", "rx",
        "tx",    "rx,tx",   "off",      "rs",  "baser", "llrs",    "dscp",     "pcp",    "v1",       "v2",
        "PXB",   "SYS",     "unmapped", "all", "auto",  "warning", "critical", "compute"})
    tried.push_back(in_quotes(word));
  std::vector<std::string> out;
  for (const std::string& value : tried)
    if (!value.empty() && read_at(place, value).ok()) out.push_back(value);
  return out;
}

// The value as people write it, who use another tool or another language.
std::vector<std::string> spellings(const Place& place, const std::string& value) {
  std::vector<std::string> out;
  if (is_number(value)) {
    for (const char* form : {"\"%\"", "\" % \"", "%.0", "[%]", "\"+%\""}) {
      std::string text = form;
      out.push_back(text.replace(text.find('%'), 1, value));
    }
    for (const char* unit : {"m", " m", " meters", "B", " bytes", "us", "%", " Mb/s", "Mbps"})
      out.push_back(in_quotes(value + unit));
    if (place.is_dscp && std::stoi(value) > 15 && std::stoi(value) < 64)
      for (const int ecn : {0, 1, 2}) out.push_back(std::to_string(std::stoi(value) * 4 + ecn));
    if (place.is_dscp && value == "26") out.insert(out.end(), {"\"AF31\"", "\"af31\"", "\"DSCP 26\""});
    if (place.is_dscp && value == "48") out.insert(out.end(), {"\"CS6\"", "\"cs6\""});
  }
  if (value.starts_with('"')) {
    const std::string text = value.substr(1, value.size() - 2);
    out.insert(out.end(), {in_quotes(upper(text)), in_quotes(" " + text), in_quotes(text + " "), "[" + value + "]"});
    if (text.size() > 4) out.insert(out.end(), {in_quotes(text + "d"), in_quotes(text.substr(0, text.size() - 1))});
    if (text.starts_with("0000:")) out.insert(out.end(), {in_quotes(text.substr(5)), in_quotes("0000" + upper(text))});
    if (text == "15b3:1023") out.insert(out.end(), {"\"[15b3:1023]\"", "\"0x15b3:0x1023\""});
    if (text == "200G") out.insert(out.end(), {"200", "\"200\"", "\"200Gb/s\"", "\"200 Gbps\"", "\"200gbit\""});
    if (text.ends_with('s') && is_digit(text.front())) out.push_back(in_quotes(text + "ec"));
    if (text == "90s") out.push_back("\"1.5min\"");
  }
  if (value == "true") out.insert(out.end(), {"\"true\"", "\"on\"", "\"yes\"", "1", "\"enabled\""});
  if (value == "false") out.insert(out.end(), {"\"false\"", "\"off\"", "\"no\"", "0", "\"disabled\""});
  if (value.starts_with("[") && value != "[]") {
    std::string inside = value.substr(1, value.size() - 2);
    std::erase(inside, '"');
    out.insert(out.end(), {in_quotes(inside), in_quotes("[" + inside + "]")});
    std::string blanks = inside;
    std::erase(blanks, ',');
    if (inside.find(", ") != std::string::npos) out.push_back(in_quotes(blanks));
  }
  if (value == "[4]")
    out.insert(out.end(), {"4", "\"4\"", "[0,0,0,0,1,0,0,0]", "\"0,0,0,0,1,0,0,0\"", "[\"4\"]", "\"4:on\"",
                           "[false,false,false,false,true,false,false,false]", "\"0x10\""});
  if (value == "[3, 4]")
    out.insert(out.end(), {"[0,0,0,1,1,0,0,0]", "\"0,0,0,1,1,0,0,0\"", "\"0 0 0 1 1 0 0 0\"", "\"3-4\"", "\"0x18\"",
                           "\"0:off 1:off 2:off 3:on 4:on 5:off 6:off 7:off\"", "\"all:off 3:on 4:on\"", "[3, 4, 4]"});
  if (value == "[]") out.insert(out.end(), {"\"none\"", "false", "[0,0,0,0,0,0,0,0]", "\"0,0,0,0,0,0,0,0\""});
  if (value == "{ 24 = 4, 46 = 5 }")
    out.insert(out.end(), {"\"24:4,46:5\"", "\"24:4 46:5\"", "[\"24:4\", \"46:5\"]", "{ 96 = 4, 184 = 5 }",
                           "{ CS3 = 4, EF = 5 }", "{ 24 = \"4\", 46 = \"5\" }"});
  if (value == "{ dscp = 24, priority = 4 }")
    out.insert(out.end(), {"{ dscp = 96, priority = 4 }", "{ dscp = \"CS3\", priority = 4 }",
                           "{ dscp = \"24\", priority = \"4\" }", "\"24:4\"", "{ tos = 98, prio = 4 }"});
  return out;
}

TEST(Correction, MeansWhatTheOperatorMeant) {
  size_t tried = 0, certain = 0;
  for (const Place& place : all_places())
    for (const std::string& value : valid_values(place)) {
      const std::string meant = meaning(read_at(place, value));
      for (const std::string& spelling : spellings(place, value)) {
        const auto loaded = read_at(place, spelling);
        if (loaded.ok()) continue;  // another value, or the same
        ++tried;
        const Advice advice = advice_of(place, loaded.error().text());
        if (!advice.is_certain) continue;
        ++certain;
        const auto corrected = read_at(place, advice.value);
        ASSERT_TRUE(corrected.ok()) << place.before << spelling << "\n" << loaded.error().text();
        EXPECT_EQ(meaning(corrected), meant) << place.before << spelling << "\n" << loaded.error().text();
      }
    }
  EXPECT_GT(certain, tried / 2) << tried;
}

struct Case {
  std::string section, key, value;
  const char* write;  // null: an example
};
// clang-format off
const Case kCases[] = {
    {"[[port]]\n", "pfc", "[0,0,0,1,1,0,0,0]", "[3, 4]"},
    {"[[port]]\n", "pfc", "\"0,0,0,0,1,0,0,0\"", "[4]"},
    {"[[port]]\n", "pfc", "[0,0,0,1]", nullptr},
    {"[[port]]\n", "pfc", "8", nullptr},
    {"[[port]]\n", "pfc", "\"0x03\"", nullptr},
    {"[[port]]\n", "pfc", "5", "[5]"},
    {"[[port]]\n", "mtu", "\"9000\"", "9000"},
    {"[[port]]\n", "mtu", "\"9k\"", nullptr},
    {"[[port]]\n", "mtu", "70000", nullptr},
    {"[[port]]\n", "mrrs", "\"4k\"", "4096"},
    {"[[port]]\n", "cable_length", "\"5m\"", "5"},
    {"[[port]]\n", "cable_length", "\"2 km\"", nullptr},
    {"[[port]]\n", "cable_length", "\"500cm\"", "5"},
    {"[[port]]\n", "cnp_dscp", "192", "48"},
    {"[[port]]\n", "cnp_dscp", "99", nullptr},
    {"[[port]]\n", "roce_dscp", "\"AF31\"", "26"},
    {"[[port]]\n", "roce_tos", "107", "106"},
    {"[[port]]\n", "traffic_class", "99", "98"},
    {"[[port]]\n", "traffic_class", "3", nullptr},
    {"[[port]]\n", "traffic_class", "\"AF31\"", nullptr},
    {"[[port]]\n", "traffic_class", "\"None\"", "\"none\""},
    {"[[port]]\n", "trust", "\"both\"", nullptr},
    {"[[port]]\n", "trust", "\"L3\"", "\"dscp\""},
    {"[[port]]\n", "fec", "\"RS-FEC\"", "\"rs\""},
    {"[[port]]\n", "fec", "\"auto,rs\"", "[\"auto\", \"rs\"]"},
    {"[[port]]\n", "pause", "\"both\"", "\"rx,tx\""},
    {"[[port]]\n", "roce_mode", "2", "\"v2\""},
    {"[[port]]\n", "dscp_map", "{ 104 = 3, 48 = 6 }", nullptr},
    {"[[port]]\n", "dscp_map", "{ 104 = 3, 192 = 6 }", "{ 26 = 3, 48 = 6 }"},
    {"[[port]]\n", "maxrate", "[\"100gbit\",0,0,0,0,0,0,0]", "[100000000, 0, 0, 0, 0, 0, 0, 0]"},
    {"[[port]]\n", "maxrate", "\"100GB/s,0,0,0,0,0,0,0\"", nullptr},
    {"", "mode", "\"enforced\"", "\"enforce\""},
    {"", "mode", "\"on\"", nullptr},
    {"", "disruptive", "\"no\"", nullptr},
    {"", "disruptive", "\"Never\"", "\"never\""},
    {"", "traffic", "{ dscp = 96, priority = 3 }", "{ dscp = 24, priority = 3 }"},
    {"", "reread", "\"0.5min\"", "\"30s\""},
    {"", "reread", "30000", nullptr},
    {"", "optics", "\"off\"", "0"},
    {"", "maintenance", "\"Saturday 2:00-4:00\"", "\"Sat 02:00-04:00\""},
    {"", "maintenance", "\"02:00-04:00\"", "\"daily 02:00-04:00\""},
    {"[exporter]\n", "raw", "\"mapped\"", nullptr},
    {"[exporter]\n", "listen", "\":9400\"", "[\"0.0.0.0:9400\", \"[::]:9400\"]"},
    {"[exporter]\n", "exclude", "\"mlx5_{0,1}\"", "[\"mlx5_0\", \"mlx5_1\"]"},
    {"[exporter]\n", "max_age", "\"never\"", nullptr},
    {"[expect]\n", "speed", "400", "\"400G\""},
    {"[expect]\n", "class", "\"pxb\"", "\"PXB\""},
};
// clang-format on

TEST(Correction, OfKnownMistakes) {
  for (const Case& each : kCases) {
    const Place place{each.key, each.section + each.key + " = "};
    const auto loaded = read_at(place, each.value);
    ASSERT_FALSE(loaded.ok()) << each.key << " = " << each.value;
    const Advice advice = advice_of(place, loaded.error().text());
    EXPECT_EQ(advice.is_certain, each.write != nullptr) << loaded.error().text();
    if (each.write != nullptr) EXPECT_EQ(advice.value, each.write) << loaded.error().text();
  }
}

std::string match_advice(const std::string& match) {
  const auto loaded = parse_config("[[port]]\nmtu = 9000\nmatch = { " + match + " }\n", "f.toml");
  if (!loaded) return loaded.error().text();
  return joined(loaded->warnings, "\n", [](const ConfigWarning& each) { return each.what; });
}

TEST(Correction, OfWhatAnEntryMatches) {
  for (const auto& [match, write] : std::vector<std::pair<std::string, std::string>>{
           {"pci = \"1a:00.0\"", "; write pci = \"0000:1a:00.0\""},
           {"pci = \"00000000:1A:00.0\"", "; write pci = \"0000:1a:00.0\""},
           {"pci = \"17:*\"", "; write pci = \"0000:17:*\""},
           {"pci = \"0000:17:00\"", "; write pci = \"0000:17:00.*\""},
           {"pci_id = \"[15b3:1021]\"", "; write pci_id = \"15b3:1021\""},
           {"netdev = \"ens{1,2}np0\"", "; write netdev = [\"ens1np0\", \"ens2np0\"]"},
           {"rdma = \"mlx5_0/1\"", "; write rdma = \"mlx5_0\""},
           {"speed = 400", "; write speed = \"400G\""},
           {"numa = \"node1\"", "; write numa = 1"},
           {"driver = \"bnxt_re\"", "; write driver = \"bnxt_en\""},
           {"driver = \"mlx5_ib\"", "; write driver = \"mlx5_core\""},
           {"driver = \"irdma\"", "; write driver = [\"ice\", \"i40e\"]"},
           {"driver = \"mlx5_0\"", "; write rdma = \"mlx5_0\""},
           {"rdma = \"ens1f0np0\"", "; write netdev = \"ens1f0np0\""},
           {"netdev = \"mlx5_*\"", "; write rdma = \"mlx5_*\""},
           {"speed = \"400GbE\"", "; write speed = \"400G\""},
           {"driver = \"mlx5_cor\"", "; write driver = \"mlx5_core\""},
           {"rdma = \"mlx5_0,mlx5_1\"", "; write rdma = [\"mlx5_0\", \"mlx5_1\"]"},
           {"netdev = \"ens1 ens2\"", "; write netdev = [\"ens1\", \"ens2\"]"},
           {"rdma = \"mlx5_.*\"", "; write rdma = \"mlx5_*\""},
           {"rdma = \"^mlx5_[0-3]$\"", "; write rdma = \"mlx5_[0-3]\""},
           {"netdev = \"ens1|ens2\"", "; write netdev = [\"ens1\", \"ens2\"]"}})
    EXPECT_TRUE(has(match_advice(match), write)) << match << "\n" << match_advice(match);
  for (const char* good : {"driver = \"bnxt_en\"", "driver = \"bnxt*\"", "driver = \"*\"", "driver = \"hns3\"",
                           "driver = \"efa\"", "netdev = \"ens1.*\"", "netdev = \"ens1.100\"", "pci = \"0000:1a:00.*\"",
                           "rdma = \"mlx5_[0,1]\"", "pci = \"10000:1a:00.0\""})
    EXPECT_EQ(match_advice(good), "") << good;
}

// 26 is DSCP 6 if it is a type of service.
TEST(Correction, TellsDscpFromTypeOfService) {
  const auto warns = [](const std::string& text) {
    const auto loaded = test::loaded_from("[[port]]\n" + text);
    return std::ranges::any_of(loaded.warnings, [](const ConfigWarning& each) { return has(each.what, "DSCP x 4"); });
  };
  for (const char* text :
       {"traffic_class = 26\n", "roce_tos = 24\n", "roce_tos = 46\n",
        "traffic = { dscp = 40, priority = 3 }\nroce_tos = 40\n", "dscp_map = { 48 = 3 }\ntraffic_class = 48\n"})
    EXPECT_TRUE(warns(text)) << text;
  for (const char* text : {"traffic_class = 106\n", "roce_tos = 41\n", "roce_tos = 32\n", "traffic_class = 0\n",
                           "traffic = { dscp = 6, priority = 3 }\nroce_tos = 26\n", "traffic_class = \"none\"\n"})
    EXPECT_FALSE(warns(text)) << text;
}

TEST(Correction, PutsTheOperatorsOwnValueIntoQuotes) {
  for (const auto& [text, write] : std::vector<std::pair<std::string, std::string>>{
           {"mode = enforce\n", "write mode = \"enforce\""},
           {"mode = Enforced  # soon\n", "write mode = \"enforce\""},
           {"disruptive = idle\n", "write disruptive = \"idle\""},
           {"mode = \"audit\"\n[[port]]\nmtu = 9000\ncable_length = 5m\n", "write cable_length = 5"},
           {"[exporter]\nmax_age = 5s\n", "write max_age = \"5s\""},
           {"mode = \u201caudit\u201d\n", "write mode = \"audit\""}}) {
    const std::string error = test::refused(parse_config(text, "f.toml"));
    EXPECT_TRUE(has(error, write)) << error;
  }
  EXPECT_FALSE(has(test::refused(parse_config("[[port]]\nmatch = { pci = 0000:17:00.0 }\n", "f.toml")), "write "));
}

}  // namespace
}  // namespace fabric
