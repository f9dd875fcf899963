// SPDX-License-Identifier: Apache-2.0
// LLDP frames: those of a real lldpd (tests/fuzz/corpus/lldp), and every capture of the corpus.
#include "wire/lldp.h"

#include "base/parse.h"
#include "support/corpus.h"
#include "support/test.h"

namespace fabric::lldp {
namespace {

using test::has;
using test::slurp;

Bytes to_bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text.data(), text.size()));
  return {view.begin(), view.end()};
}

Bytes captured(const std::string& name) { return to_bytes(slurp(FABRIC_SOURCE_DIR "/tests/fuzz/corpus/lldp/" + name)); }

DcbxEts half_and_half() { return {false, 8, {0, 0, 0, 1, 0, 0, 0, 0}, {50, 50}, {2, 2}}; }

TEST(LldpFrame, OfASwitchWithIeeeDcbx) {
  const auto neighbor = parse_frame(captured("ieee-dcbx"));
  ASSERT_TRUE(neighbor) << neighbor.error().text();
  EXPECT_EQ(neighbor->system_name, "leaf1");
  EXPECT_EQ(neighbor->system_description, "SONiC-like");
  EXPECT_EQ(neighbor->port_id, "Ethernet120");
  EXPECT_EQ(neighbor->port_description, "v1");
  EXPECT_EQ(neighbor->chassis_id.size(), 17u) << neighbor->chassis_id;
  EXPECT_EQ(neighbor->ttl, 120u);
  EXPECT_EQ(neighbor->dcbx, "IEEE") << "though it sends CEE behind it";
  EXPECT_EQ(neighbor->pfc, (DcbxPfc{false, false, 8, PrioSet{0x08}}));
  EXPECT_EQ(neighbor->ets, half_and_half());
  EXPECT_EQ(neighbor->ets_recommended, half_and_half());
  EXPECT_EQ(neighbor->app, (std::vector<DcbxApp>{{DcbxApp::udp, 4791, 3}, {DcbxApp::dscp, 26, 3}}));
  ASSERT_EQ(neighbor->management.size(), 1u);
  EXPECT_TRUE(neighbor->management.front().starts_with("fe80::"));
  EXPECT_TRUE(neighbor->malformed.empty());
}

TEST(LldpFrame, OfASwitchWithCee) {
  const auto neighbor = parse_frame(captured("cee-dcbx"));
  ASSERT_TRUE(neighbor) << neighbor.error().text();
  EXPECT_EQ(neighbor->dcbx, "CEE");
  EXPECT_EQ(neighbor->max_frame, 9238u);
  EXPECT_EQ(neighbor->vlan, 100u);
  EXPECT_EQ(neighbor->pfc, (DcbxPfc{false, false, 8, PrioSet{0x08}}));
  EXPECT_EQ(neighbor->ets, (DcbxEts{false, 8, {0, 0, 0, 1, 0, 0, 0, 0}, {50, 50}, {2, 2, 2, 2, 2, 2, 2, 2}}));
  EXPECT_EQ(neighbor->app, (std::vector<DcbxApp>{{DcbxApp::ethertype, 0x8906, 3}}));
  EXPECT_TRUE(neighbor->malformed.empty());
}

TEST(LldpFrame, WhatCeeSaysIsNotEnabledIsNotInUse) {
  const Bytes whole = captured("cee-dcbx");
  const Bytes oui = to_bytes(std::string_view("\x00\x1b\x21\x02", 4));
  const auto start = std::search(whole.begin(), whole.end(), oui.begin(), oui.end());
  ASSERT_NE(start, whole.end());
  Bytes frame = whole;
  size_t features = 0;
  for (size_t at = static_cast<size_t>(start - whole.begin()) + oui.size(); at + 1 < frame.size();) {
    const unsigned type = std::to_integer<unsigned>(frame[at]) >> 1,
                   length = (std::to_integer<unsigned>(frame[at]) & 1) << 8 | std::to_integer<unsigned>(frame[at + 1]);
    if (type < 1 || type > 4) break;
    if (type > 1) ++features, frame[at + 4] &= std::byte{0x7f};
    at += 2 + length;
  }
  ASSERT_EQ(features, 3u);
  const auto neighbor = parse_frame(frame);
  ASSERT_TRUE(neighbor) << neighbor.error().text();
  EXPECT_EQ(neighbor->dcbx, "CEE");
  EXPECT_EQ(neighbor->pfc, (DcbxPfc{false, false, 8, PrioSet{}}));
  EXPECT_FALSE(neighbor->ets || neighbor->app);
  EXPECT_TRUE(neighbor->malformed.empty());
}

TEST(LldpFrame, AFarewellHasNoTimeToLive) {
  const auto neighbor = parse_frame(captured("shutdown"));
  ASSERT_TRUE(neighbor) << neighbor.error().text();
  EXPECT_EQ(neighbor->ttl, 0u);
  EXPECT_EQ(neighbor->port_id, "Ethernet120");
}

// Cut off anywhere, it is an error with the place, or ends between two TLVs.
TEST(LldpFrame, CutOffAnywhere) {
  const Bytes whole = captured("ieee-dcbx");
  size_t errors = 0, frames = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto neighbor = parse_frame(View8(whole).first(size));
    if (neighbor) {
      ++frames;
      continue;
    }
    ++errors;
    EXPECT_EQ(neighbor.error().code, EBADMSG);
    const std::string& what = neighbor.error().what;
    ASSERT_TRUE(what.starts_with("LLDP frame: byte ")) << what;
    EXPECT_LE(*parse_number<size_t>(what.substr(17, what.find(':', 17) - 17)), size) << what;
  }
  EXPECT_GT(errors, 150u);
  EXPECT_EQ(frames, 13u) << "between the TLVs behind the third";
}

std::string fault(Bytes frame, size_t at, uint8_t value) {
  frame.at(at) = std::byte{value};
  const auto neighbor = parse_frame(frame);
  return neighbor ? "" : neighbor.error().what;
}

TEST(LldpFrame, FaultsNameTheirByte) {
  const Bytes whole = captured("ieee-dcbx");
  EXPECT_EQ(fault(whole, 12, 0x08), "LLDP frame: byte 12: the EtherType is not that of LLDP");
  EXPECT_EQ(fault(whole, 14, 0x04), "LLDP frame: byte 14: no chassis id but a TLV of type 2");
  EXPECT_EQ(fault(whole, 15, 0x01), "LLDP frame: byte 14: chassis id of 1 bytes");
  EXPECT_EQ(fault(whole, 23, 0x08), "LLDP frame: byte 23: no port id but a TLV of type 4");
  EXPECT_EQ(parse_frame(View8(whole).first(20)).error().what,
            "LLDP frame: byte 14: a TLV of 7 bytes, but only 4 are left");
}

TEST(LldpFrame, ATlvOfTheWrongLengthCostsItselfOnly) {
  Neighbor neighbor;
  const Bytes two(2), one(1), ets(20);
  EXPECT_FALSE(read_organization(0x0080c2, 11, one, neighbor));
  EXPECT_FALSE(read_organization(0x0080c2, 9, ets, neighbor));
  EXPECT_FALSE(read_organization(0x0080c2, 12, two, neighbor));
  EXPECT_FALSE(read_organization(0x00120f, 4, one, neighbor));
  Neighbor cee;
  EXPECT_FALSE(read_organization(0x001b21, 2, one, cee));
  EXPECT_TRUE(read_organization(0x001122, 9, one, neighbor)) << "not ours to judge";
  EXPECT_FALSE(neighbor.pfc || neighbor.ets || neighbor.app || neighbor.max_frame);
  Bytes frame = captured("ieee-dcbx");
  const Bytes pfc = to_bytes(std::string_view("\xfe\x06\x00\x80\xc2\x0b", 6));
  const auto at = std::search(frame.begin(), frame.end(), pfc.begin(), pfc.end());
  ASSERT_NE(at, frame.end());
  const size_t offset = static_cast<size_t>(at - frame.begin());
  at[1] = std::byte{5};
  frame.erase(at + 7);
  const auto read = parse_frame(frame);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_FALSE(read->pfc);
  EXPECT_TRUE(read->ets && read->app);
  EXPECT_EQ(read->malformed,
            (std::vector<std::string>{"byte " + std::to_string(offset) + ": TLV of type 127 with 5 bytes"}));
}

TEST(LldpFrame, TextsArePrintable) {
  EXPECT_EQ(port_id_text(7, to_bytes("a\033[2Jb\n\xff\0\0")), "a?[2Jb ?");
  EXPECT_EQ(port_id_text(5, to_bytes("Größe")), "Größe");
  EXPECT_EQ(chassis_id_text(4, to_bytes(std::string_view("\x00\x1a\x2b\x3c\x4d\x5e", 6))), "00:1a:2b:3c:4d:5e");
  EXPECT_EQ(chassis_id_text(5, to_bytes(std::string_view("\x01\x0a\x00\x00\x01", 5))), "10.0.0.1");
}

// Frames of a pcap file, little or big endian, Ethernet.
std::vector<Bytes> frames_of(const std::string& file) {
  const std::string all = slurp(file);
  const bool little = static_cast<unsigned char>(all.at(0)) == 0xd4;
  const auto u32 = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(all.at(little ? at + 3 - i : at + i));
    return value;
  };
  std::vector<Bytes> out;
  for (size_t at = 24; at + 16 <= all.size();) {
    const uint32_t size = u32(at + 8);
    out.push_back(to_bytes(std::string_view(all).substr(at + 16, size)));
    at += 16 + size;
  }
  return out;
}

bool is_lldp(const Bytes& frame) {
  return frame.size() > 14 && frame[12] == std::byte{0x88} && frame[13] == std::byte{0xcc};
}

class LldpCorpus : public test::OfCorpus {
 protected:
  [[nodiscard]] std::vector<Result<Neighbor>> neighbors(const std::string& name) const {
    std::vector<Result<Neighbor>> out;
    for (const Bytes& frame : frames_of(corpus + "/lldp/" + name))
      if (is_lldp(frame)) out.push_back(parse_frame(frame));
    return out;
  }
};

using Numbers = std::vector<std::string>;

// The tables that tcpdump shows under a heading: TLV by TLV, the numbers of each of its "Value" lines.
std::vector<std::vector<Numbers>> tables_under(const std::string& decoded, std::string_view heading) {
  std::vector<std::vector<Numbers>> out;
  bool inside = false;
  std::istringstream lines(decoded);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("TLV (") != std::string::npos) inside = false;
    if (line.find(heading) != std::string::npos) {
      inside = true;
      out.emplace_back();
    }
    if (!inside || line.find("Value ") == std::string::npos) continue;
    Numbers numbers;
    for (const std::string_view word : words(std::string_view(line).substr(line.find(':') + 1)))
      numbers.emplace_back(word);
    out.back().push_back(numbers);
  }
  return out;
}

Numbers numbers_of(const Eight& eight) {
  Numbers out;
  for (const uint8_t number : eight) out.push_back(std::to_string(number));
  return out;
}

TEST_F(LldpCorpus, EtsOfEveryFrameAsTcpdumpReadsIt) {
  const std::string decoded = slurp(corpus + "/lldp/tcpdump_dcb_ets.out");
  const auto configuration = tables_under(decoded, "ETS Configuration Subtype"),
             recommendation = tables_under(decoded, "ETS Recommendation Subtype");
  size_t frames = 0, configured = 0, recommended = 0;
  const auto compare = [](const DcbxEts& ets, const std::vector<Numbers>& truth) {
    EXPECT_EQ(truth, (std::vector<Numbers>{numbers_of(ets.prio_tc), numbers_of(ets.bw), numbers_of(ets.tsa)}));
  };
  for (const auto& neighbor : neighbors("tcpdump_dcb_ets.pcap")) {
    ASSERT_TRUE(neighbor) << neighbor.error().text();
    EXPECT_TRUE(neighbor->malformed.empty());
    EXPECT_EQ(neighbor->chassis_id.size(), 17u);
    ++frames;
    if (neighbor->ets) compare(*neighbor->ets, configuration.at(configured++));
    if (neighbor->ets_recommended) compare(*neighbor->ets_recommended, recommendation.at(recommended++));
  }
  EXPECT_EQ(frames, 31u);
  EXPECT_EQ(configured, configuration.size());
  EXPECT_EQ(recommended, recommendation.size());
  EXPECT_GT(configured, 0u);
}

TEST_F(LldpCorpus, PfcAndApplicationPriorities) {
  const auto all = neighbors("tcpdump_lldp-app-priority.pcap");
  ASSERT_EQ(all.size(), 1u);
  ASSERT_TRUE(all.front()) << all.front().error().text();
  const Neighbor& neighbor = *all.front();
  const std::string decoded = slurp(corpus + "/lldp/tcpdump_lldp-app-priority.out");
  ASSERT_TRUE(neighbor.pfc);
  Numbers enabled;
  for (int prio = 0; prio < kPriorities; ++prio) enabled.push_back(neighbor.pfc->enabled.has(prio) ? "1" : "0");
  const auto truth = tables_under(decoded, "Priority Flow Control Configuration Subtype");
  ASSERT_EQ(truth.size(), 1u);
  EXPECT_EQ(truth.front(), (std::vector<Numbers>{enabled}));
  ASSERT_TRUE(neighbor.app);
  for (const DcbxApp& app : *neighbor.app)
    EXPECT_TRUE(has(decoded, "Priority: " + std::to_string(app.priority) + ", RES: 0, Sel: " +
                                 std::to_string(app.selector) + ", Protocol ID: " + std::to_string(app.protocol)));
  EXPECT_FALSE(neighbor.app->empty());
}

TEST_F(LldpCorpus, FramesOfSwitchesAndCards) {
  const auto connectx = neighbors("lldpd_connectx.pcap");
  ASSERT_EQ(connectx.size(), 1u);
  ASSERT_TRUE(connectx.front()) << connectx.front().error().text();
  EXPECT_NE(connectx.front()->port_id, "");
  for (const char* file :
       {"lldpd_sg200.pcap", "pypacker_lldp_extreme.pcap", "tcpdump_LLDP_and_CDP.pcap", "tcpdump_lldp_mudurl.pcap"}) {
    const auto all = neighbors(file);
    EXPECT_FALSE(all.empty()) << file;
    for (const auto& neighbor : all) {
      ASSERT_TRUE(neighbor) << file << ": " << neighbor.error().text();
      EXPECT_NE(neighbor->chassis_id, "") << file;
      EXPECT_GT(neighbor->ttl, 0u) << file;
    }
  }
  for (const auto& neighbor : neighbors("pypacker_lldp_extreme.pcap")) EXPECT_EQ(neighbor->max_frame, 1522u);
}

TEST_F(LldpCorpus, MalformedOnesAreErrorsOrBounded) {
  for (const Bytes& frame : frames_of(corpus + "/lldp/tcpdump_lldp_asan.pcap")) (void)parse_frame(frame);
  (void)parse_frame(to_bytes(slurp(corpus + "/lldp/lldpd_fuzzseed_lldp.0.raw")));
}

}  // namespace
}  // namespace fabric::lldp
