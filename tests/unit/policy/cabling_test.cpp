// SPDX-License-Identifier: Apache-2.0
// The site's plan of cables, as NetBox exports it.
#include "policy/cabling.h"

#include "policy/config.h"
#include "support/config.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

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

}  // namespace
}  // namespace fabric
