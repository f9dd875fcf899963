// SPDX-License-Identifier: Apache-2.0
#include "node/state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <random>

#include "base/json.h"
#include "support/ports.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::state {
namespace {

namespace fs = std::filesystem;
using test::has;

// Every member, with values that only a driver would show.
Qos odd_qos() {
  Qos qos{
      .dcbx = Dcbx::firmware, .pause = Pause{true, true}, .mtu = 65'536, .trust = Trust::pcp, .dscp_map = DscpMap{}};
  Ets ets;
  ets.prio_tc = {1, 0, 2, 3, 4, 5, 6, 7};
  ets.tsa.fill(Tsa::vendor);
  ets.tsa[6] = Tsa::cb_shaper;
  ets.bw.fill(100);
  qos.ets = ets;
  qos.pfc = PrioSet{0xff};
  qos.cable_length = 0;
  return qos;
}

class StateFiles : public testing::Test {
 protected:
  fs::path path(const char* file) const { return fs::path(tree_.path()) / file; }
  fs::perms mode(const char* file) const { return fs::status(path(file)).permissions(); }
  std::optional<AgentState> state() const { return *load_agent_state(tree_.root()); }
  bool runs() const { return state()->running; }
  Originals saved() const {
    const auto loaded = load_originals(directory_);
    EXPECT_TRUE(loaded.ok()) << loaded.error().text();
    return loaded.ok() ? *loaded : Originals{};
  }
  test::Tree tree_;
  const std::string directory_ = tree_.path();
};

Port port_at(std::string pci, std::string card = {}, std::string address = {}) {
  return {.rdma = "mlx5_0",
          .netdev = "eth0",
          .pci = std::move(pci),
          .card = std::move(card),
          .card_address = std::move(address)};
}
Port board_at(std::string pci, const std::string& serial, std::string address) {
  return port_at(std::move(pci), "serial:" + serial + "/0.1", std::move(address));
}

// Members of a newer release, of any kind and at any depth.
class RandomMembers {
 public:
  explicit RandomMembers(unsigned seed) : random_(seed) {}
  size_t below(size_t count) { return random_() % count; }
  Json value(int depth = 0) {
    switch (below(depth < 3 ? 7 : 5)) {
      case 0: return below(2) == 0;
      case 1: return static_cast<int64_t>(random_()) - (int64_t{1} << 31);
      case 2: return static_cast<double>(random_()) / 7;
      case 3: return text();
      case 4: return UINT64_MAX - random_();
      case 5: {
        Json list = Json::array();
        for (size_t i = below(4); i > 0; --i) list.push_back(value(depth + 1));
        return list;
      }
      default: {
        Json object = Json::object();
        for (size_t i = below(4); i > 0; --i) object[text()] = value(depth + 1);
        return object;
      }
    }
  }
  // Adds members to the object, and returns their keys.
  std::vector<std::string> add_to(Json& object) {
    std::vector<std::string> keys;
    for (size_t i = below(4); i > 0; --i) {
      keys.push_back("x" + text());
      object[keys.back()] = value();
    }
    return keys;
  }

 private:
  std::string text() {
    static constexpr std::string_view kLetters = "abcXYZ0189_-./:\"\\{}[] ,";
    std::string out;
    for (size_t i = 1 + below(8); i > 0; --i) out += kLetters[below(kLetters.size())];
    return "k" + out + "k";
  }
  std::mt19937 random_;
};

// Members of a newer release stay in their place while this release adds, forgets and moves the members that it knows.
TEST_F(StateFiles, MembersOfANewerReleaseAreCarriedThrough) {
  const Port known = board_at("0000:24:00.0", "MT1", "mac:a"), fresh = board_at("0000:25:00.0", "MT2", "mac:b");
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomMembers random(seed);
    Qos before{.mtu = 1500, .trust = Trust::pcp, .pfc = PrioSet{4}};
    before.ets = odd_qos().ets;
    const std::string key = random.below(2) == 0 ? "serial:MT1/0.1" : "mac:a";  // read by a release without serials
    Json file = Json::parse(originals_text({{key, before}, {"mac:elsewhere", Qos{.mtu = 9000}}}));
    // From the inside: ordered_json moves the members of an object that gets another one.
    random.add_to(file["ports"][key]["settings"]["ets"]);
    random.add_to(file["ports"][key]["settings"]);
    random.add_to(file["ports"][key]);
    if (random.below(2) == 0) random.add_to(file["ports"]["mac:elsewhere"]);
    random.add_to(file);
    tree_.file(kOriginalsFile, file.dump());

    Originals originals = saved();
    ASSERT_TRUE(save_original(directory_, originals, fresh, {.mtu = 4200}).ok());
    ASSERT_TRUE(save_original(directory_, originals, known, {.pause = Pause{}, .mtu = 4200}).ok());
    Keys restored;
    for (const SettingId id : {SettingId::mtu, SettingId::trust, SettingId::pfc, SettingId::ets, SettingId::pause})
      if (random.below(2) == 0) restored.set(index(id));
    forget(originals, known, restored);
    forget(originals, fresh, Keys().set());
    ASSERT_TRUE(save_originals(directory_, originals).ok());

    Json expected = file;
    Json wanted = file["ports"][key];
    expected["ports"].erase(key);
    for (const SettingId id : {SettingId::mtu, SettingId::trust, SettingId::pfc, SettingId::ets})
      if (restored[index(id)]) wanted["settings"].erase(std::string(key_text(id)));
    Json now = Json::parse(tree_.content(kOriginalsFile));
    Json& kept = now["ports"]["serial:MT1/0.1"];
    for (const char* ours : {"place", "address"}) kept.erase(ours), wanted.erase(ours);
    if (kept.is_object() && kept.contains("settings")) kept["settings"].erase("pause");
    if (wanted.size() > 1 || !wanted["settings"].empty()) expected["ports"]["serial:MT1/0.1"] = wanted;
    if (kept.is_null()) now["ports"].erase("serial:MT1/0.1");
    if (!restored[index(SettingId::pause)] && !expected["ports"].contains("serial:MT1/0.1"))
      now["ports"].erase("serial:MT1/0.1");  // only the pause that this release has saved is left
    EXPECT_EQ(nlohmann::json(now), nlohmann::json(expected)) << now.dump() << "\n" << expected.dump();
  }
}

// A file of a newer format is whole, whatever it looks like to this release: it is neither written over nor renamed.
TEST_F(StateFiles, AFileOfANewerFormatStays) {
  for (const std::string& text :
       {std::string(R"({"format":2,"ports":{}})"), std::string(R"({"format":3,"cards":[)"),
        std::string(R"({ "format" : 18446744073709551615, "ports": {"a": {"settings": {"mtu": "many"}}}})"),
        std::string(R"({"format":2,"deep":)") + std::string(100, '[') + std::string(100, ']') + "}",
        std::string(R"({"ports":{},"format":2})")}) {
    SCOPED_TRACE(text);
    for (const char* file : {kOriginalsFile, kSelfTestFile}) {
      tree_.file(file, text);
      EXPECT_EQ(load_originals(directory_, file).error().code, kNewerFormat);
      EXPECT_TRUE(has(load_originals(directory_, file).error().what, "written by a newer release"));
      EXPECT_EQ(save_originals(directory_, {}, file).error().code, kNewerFormat);
      Originals none;
      EXPECT_FALSE(file == kOriginalsFile && save_original(directory_, none, port_at("0000:24:00.0"), odd_qos()).ok());
      EXPECT_EQ(tree_.content(file), text);
    }
  }
}

TEST_F(StateFiles, ADamagedFileIsNotWrittenOverEither) {
  for (const char* text : {"[[[", "", R"({"format":0,"ports":{}})", R"({"format":"2"})"}) {
    tree_.file(kOriginalsFile, text);
    EXPECT_EQ(save_originals(directory_, {}).error().code, EBADMSG) << text;
    EXPECT_EQ(tree_.content(kOriginalsFile), text);
  }
}

Port card_of(std::string driver, std::string pci_id, std::string card = {}) {
  Port port = port_at("0000:24:00.0", card, card);
  port.kernel_driver = std::move(driver);
  port.pci_id = std::move(pci_id);
  return port;
}

// A card without an identity of its own is known by its slot, its driver and its model; any other card by itself.
TEST_F(StateFiles, OriginalsOfOneDriverAreNotGivenToAnother) {
  for (const std::string card : {"", "mac:a"}) {
    SCOPED_TRACE(card);
    const Port first = card_of("mlx5_core", "15b3:1021", card), second = card_of("bnxt_en", "14e4:1750", card);
    Originals originals;
    ASSERT_TRUE(save_original(directory_, originals, first, {.mtu = 1500}).ok());
    originals = saved();
    EXPECT_EQ(find_original(originals, second), originals.end());
    EXPECT_EQ(absent_originals(originals, {second}).size(), 1U);
    forget(originals, second, Keys().set());
    EXPECT_EQ(originals.size(), 1U);
    ASSERT_TRUE(save_original(directory_, originals, second, {.mtu = 3000}).ok());
    originals = saved();
    ASSERT_EQ(originals.size(), 2U) << "the first card's are kept";
    EXPECT_EQ(find_original(originals, second)->second.mtu, 3000U);
    EXPECT_EQ(absent_originals(originals, {second}).size(), 1U);
    EXPECT_EQ(find_original(originals, first)->second.mtu, 1500U) << "and found when it returns";
    ASSERT_TRUE(save_original(directory_, originals, first, {.mtu = 9000}).ok());
    EXPECT_EQ(saved().size(), 2U);
    EXPECT_EQ(find_original(originals, first)->second.mtu, 1500U);
    forget(originals, first, Keys().set());
    forget(originals, second, Keys().set());
    EXPECT_TRUE(originals.empty());
    ASSERT_TRUE(save_originals(directory_, originals).ok());
  }
  Originals originals;
  ASSERT_TRUE(save_original(directory_, originals, card_of("mlx5_core", "15b3:1021"), {.mtu = 1500}).ok());
  EXPECT_EQ(find_original(originals, card_of("mlx5_core", "15b3:101d")), originals.end()) << "another model";
  EXPECT_NE(find_original(originals, card_of("mlx5_core", "15b3:1021")), originals.end());
  originals["0000:24:00.0/1"].driver.clear();
  originals["0000:24:00.0/1"].pci_id.clear();
  EXPECT_NE(find_original(originals, card_of("ice", "8086:1592")), originals.end()) << "saved without its driver";
}

// In time that grows with the text alone: quadratic, this would take hours.
TEST_F(StateFiles, ALongListIsReadInLinearTime) {
  std::string text = R"({"format":1,"list":[)";
  while (text.size() < (size_t{1} << 20) - 8) text += "{},";
  const auto read = parse_state(text + "{}]}", "state.json");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_GT(read->at("list").size(), 300'000u);
}

TEST(PortKey, OutlivesRenames) {
  EXPECT_EQ(port_key(port_at("0000:24:00.0")), "0000:24:00.0/1");
  EXPECT_EQ(port_key(port_at("")), "netdev:eth0");
}

// A card takes its originals along; one that replaces it has its own.
TEST_F(StateFiles, OriginalsBelongToTheCard) {
  const Qos first{.mtu = 1500}, second{.mtu = 3000};
  Originals originals;
  ASSERT_TRUE(save_original(directory_, originals, port_at("0000:24:00.0", "mac:a"), first).ok());
  ASSERT_TRUE(save_original(directory_, originals, port_at("0000:24:00.0", "mac:b"), second).ok());
  originals = saved();
  EXPECT_EQ(originals.at("mac:a").place, "0000:24:00.0/1");
  EXPECT_EQ(find_original(originals, port_at("0000:24:00.0", "mac:b"))->second.mtu, 3000U);
  const Port moved = port_at("0000:99:00.0", "mac:a");
  EXPECT_EQ(find_original(originals, moved)->second.mtu, 1500U);
  ASSERT_TRUE(save_original(directory_, originals, moved, second).ok());
  EXPECT_EQ(saved().at("mac:a").mtu, 1500U) << "what it had first";
  EXPECT_EQ(saved().at("mac:a").place, "0000:99:00.0/1");
}

// Two cards exchange their slots: each keeps its own originals. A card that replaces another one starts with its own,
// although it was given the old one's address.
TEST_F(StateFiles, OriginalsFollowTheSerialNumber) {
  Originals originals;
  const Port first = board_at("0000:24:00.0", "MT1", "mac:a"), second = board_at("0000:25:00.0", "MT2", "mac:b");
  ASSERT_TRUE(save_original(directory_, originals, first, {.mtu = 1500}).ok());
  ASSERT_TRUE(save_original(directory_, originals, second, {.mtu = 3000}).ok());
  originals = saved();
  EXPECT_EQ(find_original(originals, board_at("0000:25:00.0", "MT1", "mac:a"))->second.mtu, 1500U);
  EXPECT_EQ(find_original(originals, board_at("0000:24:00.0", "MT2", "mac:b"))->second.mtu, 3000U);
  const Port third = board_at("0000:24:00.0", "MT3", "mac:a");
  EXPECT_EQ(find_original(originals, third), originals.end());
  ASSERT_TRUE(save_original(directory_, originals, third, {.mtu = 9000}).ok());
  EXPECT_EQ(saved().size(), 3U);
  EXPECT_EQ(saved().at("serial:MT1/0.1").mtu, 1500U);
  const auto absent = absent_originals(originals, {second, third});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent.front()->first, "serial:MT1/0.1");
}

TEST_F(StateFiles, OriginalsByAddressBecomeThoseOfTheSerialNumber) {
  tree_.file(kOriginalsFile, R"({"format":1,"ports":{"mac:a":{"place":"0000:24:00.0/1","settings":{"mtu":1500}}}})");
  Originals originals = saved();
  const Port port = board_at("0000:99:00.0", "MT1", "mac:a");
  EXPECT_TRUE(absent_originals(originals, {port}).empty());
  ASSERT_TRUE(save_original(directory_, originals, port, {.mtu = 4200}).ok());
  ASSERT_EQ(saved().size(), 1U);
  EXPECT_EQ(saved().at("serial:MT1/0.1").mtu, 1500U);
  EXPECT_EQ(saved().at("serial:MT1/0.1").place, "0000:99:00.0/1");
}

// A firmware that does not answer for once must not make our settings the originals.
TEST_F(StateFiles, ACardWhoseSerialNumberIsUnreadableKeepsItsOriginals) {
  Originals originals;
  ASSERT_TRUE(save_original(directory_, originals, board_at("0000:24:00.0", "MT1", "mac:a"), {.mtu = 1500}).ok());
  originals = saved();
  const Port mute = port_at("0000:24:00.0", "mac:a", "mac:a");
  EXPECT_TRUE(absent_originals(originals, {mute}).empty());
  ASSERT_TRUE(save_original(directory_, originals, mute, {.mtu = 4200}).ok());
  originals = saved();
  ASSERT_EQ(originals.size(), 1U);
  EXPECT_EQ(originals.at("serial:MT1/0.1").mtu, 1500U);
  forget(originals, mute, Keys().set());
  EXPECT_TRUE(originals.empty());
}

// Cut anywhere, it is not read as one with fewer originals.
TEST_F(StateFiles, ATruncatedFileIsAnError) {
  Originals originals{{"0000:24:00.0/1", odd_qos()}, {"0000:25:00.0/1", odd_qos()}};
  ASSERT_TRUE(save_originals(directory_, originals).ok());
  const auto file = path(kOriginalsFile);
  for (auto size = fs::file_size(file) - 1; size-- > 0;) {
    fs::resize_file(file, size);
    const auto cut = load_originals(directory_);
    EXPECT_FALSE(cut.ok()) << size;
  }
}

TEST_F(StateFiles, OriginalsKeepEveryReadableValue) {
  Originals originals{{"0000:24:00.0/1", odd_qos()}, {"netdev:eth0", Qos{}}};
  originals["0000:25:00.0/1"].dscp_map = DscpMap{{0, 0}, {26, 3}, {63, 7}};
  originals["0000:25:00.0/1"].pause = Pause{false, true};
  originals["0000:25:00.0/1"].pfc = PrioSet{};
  ASSERT_TRUE(save_originals(directory_, originals).ok());
  const Originals loaded = saved();
  EXPECT_EQ(loaded, originals);
  // Ets compares what matters; saved must be all of it.
  const Ets& ets = *loaded.at("0000:24:00.0/1").ets;
  EXPECT_EQ(ets.prio_tc, odd_qos().ets->prio_tc);
  EXPECT_EQ(ets.tsa, odd_qos().ets->tsa);
  EXPECT_EQ(ets.bw, odd_qos().ets->bw);
  EXPECT_EQ(mode(kOriginalsFile), fs::perms(0644));
}

TEST_F(StateFiles, NoFileIsNoOriginals) { EXPECT_TRUE(saved().empty()); }

TEST_F(StateFiles, ACorruptFileIsAnErrorAndIsKeptAside) {
  tree_.file(kOriginalsFile, R"({"format":1,"ports":{"0000:24:00.0/1":{"settings":{"mtu":"many"}}}})");
  auto loaded = load_originals(directory_);
  ASSERT_EQ(test::code_of(loaded), EBADMSG);
  EXPECT_TRUE(
      has(loaded.error().what, "originals.json: ports: settings: mtu: expected an integer from 0 to 4294967295"));
  ASSERT_TRUE(set_originals_aside(directory_).ok());
  tree_.file(kOriginalsFile, "[[[");
  auto second = set_originals_aside(directory_);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, "originals.json.corrupt.2");
  EXPECT_TRUE(tree_.root().exists("var/lib/fabric-agent/originals.json.corrupt"));
  EXPECT_FALSE(tree_.root().exists(kOriginalsFile));
}

TEST_F(StateFiles, TheFirstOriginalStays) {
  Originals originals;
  const Qos first{.mtu = 1500}, second{.mtu = 9000};
  ASSERT_TRUE(save_original(directory_, originals, port_at("0000:24:00.0"), first).ok());
  ASSERT_TRUE(save_original(directory_, originals, port_at("0000:24:00.0"), second).ok());
  ASSERT_TRUE(save_original(directory_, originals, port_at("0000:25:00.0"), second).ok());
  EXPECT_EQ(saved().at("0000:24:00.0/1").mtu, 1500U);
  EXPECT_EQ(saved().at("0000:25:00.0/1").mtu, 9000U);
}

// A self-test was killed, and its port is not idle since.
TEST_F(StateFiles, TheSettingsFromBeforeASelfTestAreTheOriginals) {
  const Port port = card_of("mlx5_core", "15b3:1021"), other{.netdev = "eth9"};
  ASSERT_TRUE(save_originals(directory_, {{port_key(port), Qos{.mtu = 1500}}}, kSelfTestFile).ok());
  Originals originals;
  ASSERT_TRUE(save_original(directory_, originals, port, {.pause = Pause{}, .mtu = 4200}).ok());
  EXPECT_EQ(find_original(originals, port)->second.mtu, 1500U) << "4200 is a value of the test";
  EXPECT_EQ(find_original(originals, port)->second.pause, Pause{}) << "not tested";
  ASSERT_TRUE(save_original(directory_, originals, other, {.mtu = 9000}).ok());
  EXPECT_EQ(find_original(originals, other)->second.mtu, 9000U);
  // Nothing is known of the settings before the test.
  tree_.file(kSelfTestFile, "{\"format\": 99}");
  EXPECT_EQ(save_original(directory_, originals, port, {.mrrs = 512}).error().code, kNewerFormat);
}

// FEC that was written without a link: what a later link shows is our own mode.
TEST_F(StateFiles, AnUnknownOriginalStaysUnknownUntilItIsForgotten) {
  const Port port = board_at("0000:24:00.0", "MT1", "mac:a");
  Port mute = port;
  mute.card = mute.card_address;
  Originals originals;
  ASSERT_TRUE(save_original(directory_, originals, mute, {.mtu = 1500, .fec = kUnknownFec}).ok());
  originals = saved();
  ASSERT_TRUE(save_original(directory_, originals, port, {.mtu = 9000, .fec = Fec{8}}).ok());
  originals = saved();
  ASSERT_EQ(originals.size(), 1U);
  EXPECT_EQ(originals.begin()->first, port.card);
  EXPECT_EQ(originals.begin()->second.fec, std::nullopt);
  EXPECT_EQ(originals.begin()->second.mtu, 1500U);
  EXPECT_TRUE(has_key(originals.begin()->second.unknown, SettingId::fec));
  forget(originals, port, Keys().set(index(SettingId::mtu)));
  EXPECT_FALSE(is_empty(originals.at(port.card)));
  // The file of a newer release, with a setting that this one does not know.
  Json file = Json::parse(originals_text(originals));
  file["ports"][port.card]["unknown"].push_back("newer");
  tree_.file(kOriginalsFile, file.dump());
  originals = saved();
  forget(originals, port, Keys().set());
  ASSERT_TRUE(save_originals(directory_, originals).ok());
  EXPECT_EQ(Json::parse(tree_.content(kOriginalsFile))["ports"][port.card]["unknown"].dump(), "[\"newer\"]");
}

TEST_F(StateFiles, WhatCouldNotBeSavedIsNotRemembered) {
  tree_.file("var", "a file where a directory should be");
  Originals originals;
  EXPECT_FALSE(save_original(directory_, originals, port_at("0000:24:00.0"), odd_qos()).ok());
  EXPECT_TRUE(originals.empty());
}

TEST_F(StateFiles, StateReadsBackTheSame) {
  AgentState state{.mode = Mode::enforce,
                   .updated = "2026-01-02T03:04:05Z",
                   .config_error = "a.toml:1:2: \"x\" is\nwrong",
                   .held = "an apply awaits confirmation"};
  state.ports["mlx5_0/1"] = {{"pfc", {Outcome::refused, "a \\ \"detail\"", 7, "2026-01-02T03:04:04Z"}},
                             {"mtu", {Outcome::in_sync, "", 0, ""}},
                             {"ets",
                              {.drifts = {{"process", 3}, {"driver", 1}},
                               .last_drift = "2026-01-02T03:04:00Z",
                               .drift_from = "tsa 0:ets \"x\"",
                               .drift_to = "none",
                               .drift_by = "lldpad (pid 812)",
                               .reason = "EINVAL"}}};
  state.version = "1.0.0";
  state.ports["mlx5_1/1"] = {};
  state.lost_originals = {"/var/lib/a.json: written by a newer release\n/var/lib/b.json", "/var/lib/a.json", true};
  ASSERT_TRUE(save_agent_state(directory_, state).ok());
  EXPECT_EQ(this->state(), state);
}

TEST_F(StateFiles, AWordOfANewerReleaseIsUnknown) {
  const auto state =
      parse_agent_state(R"({"format":1,"mode":"later","ports":{"a/1":{"pfc":{"outcome":"later","repairs":2}}}})", "x");
  ASSERT_TRUE(state.ok()) << state.error().text();
  EXPECT_FALSE(state->mode);
  EXPECT_FALSE(state->ports.at("a/1").at("pfc").outcome);
  EXPECT_EQ(state->ports.at("a/1").at("pfc").repairs, 2U);
}

TEST_F(StateFiles, TheAgentSaysWhichConfigurationAndDevicesItHas) {
  EXPECT_FALSE(agent_devices(tree_.root()).ok()) << "no file";
  AgentState state;
  state.config = "abc";
  state.ports["mlx5_0/1"] = {};
  const Devices devices{{"mlx5_0/1", 7}, {"mlx5_bond_0/1@ens1f0", 9}};
  ASSERT_TRUE(save_agent_state(directory_, state, devices).ok());
  EXPECT_EQ(this->state()->config, "abc") << "for the metric";
  EXPECT_EQ(*agent_devices(tree_.root()), devices);
  ASSERT_TRUE(save_agent_state(directory_, state).ok());
  EXPECT_EQ(*agent_devices(tree_.root()), Devices()) << "an older agent";
}

TEST_F(StateFiles, SaysWhichMemberIsWrong) {
  const auto fault = [](const std::string& text) {
    const auto state = parse_agent_state(text, "state.json");
    return state ? std::string() : state.error().what;
  };
  EXPECT_EQ(fault(R"({"format":1,"mode":7})"), "state.json: mode: type must be string, but is number");
  EXPECT_EQ(fault(R"({"format":1,"ports":{"a/1":{"pfc":{"repairs":-1}}}})"),
            "state.json: ports: repairs: expected an integer from 0 to 18446744073709551615");
  EXPECT_EQ(fault(R"({"mode":"audit"})"), "state.json: format is missing");
  EXPECT_EQ(fault(R"({"format":2})"), "state.json: written by a newer release; this release reads format 1");
  EXPECT_EQ(fault(R"({"format":1,"ports":{"a\u001b":{}}})"), "state.json: a key with a character that cannot be shown");
  EXPECT_EQ(fault(R"({"format":1,"x":)" + std::string(20, '[') + std::string(20, ']') + "}"),
            "state.json: more than 16 levels");
  EXPECT_EQ(fault(R"({"format":1,"unknown":[{}],"mode":null})"), "") << "of another release, or absent";
}

TEST_F(StateFiles, NoStateFileIsNoState) { EXPECT_EQ(state(), std::nullopt); }

TEST_F(StateFiles, TheAgentRunsWhileItsLockIsHeld) {
  ASSERT_TRUE(save_agent_state(directory_, {}).ok());
  auto lock = take_lock(directory_, {}, kAgentLockFile);
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(runs());
  EXPECT_EQ(tree_.content(kAgentLockFile), std::to_string(::getpid()) + "\n");
  lock->reset();
  EXPECT_FALSE(runs());
}

TEST_F(StateFiles, WhoAsksAgainHearsWhatIsNew) {
  const Root root = tree_.root();
  AgentStateReader reader;
  const auto read = [&] { return *reader.load(root); };
  EXPECT_EQ(read(), nullptr);
  AgentState state;
  state.updated = "2026-01-02T03:04:05Z";
  ASSERT_TRUE(save_agent_state(directory_, state).ok());
  EXPECT_EQ(read()->updated, "2026-01-02T03:04:05Z");
  EXPECT_EQ(read(), read()) << "the same one";
  auto lock = take_lock(directory_, {}, kAgentLockFile);
  EXPECT_TRUE(read()->running) << "the file is the same, whether the agent runs is not";
  lock->reset();
  EXPECT_FALSE(read()->running);
  state.updated = "2026-01-02T03:04:06Z";
  ASSERT_TRUE(save_agent_state(directory_, state).ok());
  EXPECT_EQ(read()->updated, "2026-01-02T03:04:06Z");
  tree_.file(kStateFile, "[");
  EXPECT_EQ(reader.load(root).error().code, EBADMSG);
  EXPECT_EQ(reader.load(root).error().code, EBADMSG) << "and not forgotten";
  tree_.remove(kStateFile);
  EXPECT_EQ(read(), nullptr);
}

TEST_F(StateFiles, ASecondHolderIsRefusedAndToldTheFirst) {
  auto first = take_lock(directory_);
  ASSERT_TRUE(first.ok());
  auto second = take_lock(directory_);
  ASSERT_EQ(test::code_of(second), EWOULDBLOCK);
  EXPECT_EQ(take_lock(directory_, std::chrono::milliseconds(30)).error().code, EWOULDBLOCK) << "not for ever";
  EXPECT_TRUE(has(second.error().what, std::to_string(::getpid())));
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first->reset();
  });
  EXPECT_TRUE(take_lock(directory_, std::chrono::minutes(1)).ok()) << "as soon as it is free";
  holder.join();
}

// A process that may read the agent's lock may lock it for reading. That does not stop the agent, and does not count as
// an agent.
TEST_F(StateFiles, AReadersLockDoesNotKeepTheAgentFromStarting) {
  ASSERT_TRUE(save_agent_state(directory_, {}).ok());
  ASSERT_TRUE(take_lock(directory_, {}, kAgentLockFile).ok());
  const Fd reader(::open(path(kAgentLockFile).c_str(), O_RDONLY | O_CLOEXEC));
  struct flock held {};
  held.l_type = F_RDLCK;
  ASSERT_EQ(::fcntl(reader.get(), F_OFD_SETLK, &held), 0);
  EXPECT_FALSE(runs());
  auto lock = take_lock(directory_, {}, kAgentLockFile);
  ASSERT_TRUE(lock.ok()) << lock.error().text();
  EXPECT_TRUE(runs());
  EXPECT_EQ(mode(kAgentLockFile), fs::perms(0644));
  auto second = take_lock(directory_, {}, kAgentLockFile);
  ASSERT_EQ(test::code_of(second), EWOULDBLOCK) << "an agent's lock is not shed";
  EXPECT_EQ(tree_.content(kAgentLockFile), std::to_string(::getpid()) + "\n");
}

// If /run is full, the lock's file has no pid, and the lock is still taken.
TEST_F(StateFiles, ALockNeedsNoRoom) {
  ASSERT_TRUE(take_lock(directory_).ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  auto lock = take_lock(directory_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_TRUE(lock.ok()) << lock.error().text();
  EXPECT_EQ(take_lock(directory_).error().code, EWOULDBLOCK);
}

// Hardened hosts give root a mask of 027 or 077. The exporter and unprivileged users must still be able to read root's
// files.
TEST_F(StateFiles, EverybodyMayReadWhateverTheUmask) {
  const mode_t before = ::umask(077);
  const bool saved = save_agent_state(directory_, {}).ok() && take_lock(directory_, {}, kAgentLockFile).ok();
  ::umask(before);
  ASSERT_TRUE(saved);
  for (fs::path at = path(kStateFile).parent_path(); at != directory_; at = at.parent_path())
    EXPECT_EQ(fs::status(at).permissions(), fs::perms(0755)) << at;
  EXPECT_EQ(mode(kStateFile), fs::perms(0644));
  EXPECT_EQ(mode(kAgentLockFile), fs::perms(0644));
}

// A read lock takes no more than to open the file, and holds up those who write.
TEST_F(StateFiles, NobodyElseCanHoldUpWhoWrites) {
  const mode_t before = ::umask(0);
  const bool taken = take_lock(directory_).ok();
  ::umask(before);
  ASSERT_TRUE(taken);
  EXPECT_EQ(mode(kLockFile), fs::perms(0600));
  fs::permissions(path(kLockFile), fs::perms(0644));  // as those before made it
  ASSERT_TRUE(take_lock(directory_).ok());
  EXPECT_EQ(mode(kLockFile), fs::perms(0600));
}

TEST_F(StateFiles, ALockDiesWithItsHolder) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t child = ::fork();
  if (child == 0) {
    auto lock = take_lock(directory_);
    char byte = lock.ok() ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_FALSE(take_lock(directory_).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(take_lock(directory_).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

// Killed at any instant: the file on disk is always a whole one.
TEST_F(StateFiles, AKilledWriterLeavesAWholeFile) {
  Originals small{{"0000:24:00.0/1", odd_qos()}}, large;
  for (int i = 0; i < 64; ++i) large["0000:24:00." + std::to_string(i) + "/1"] = odd_qos();
  ASSERT_TRUE(save_originals(directory_, small).ok());
  for (int round = 0; round < 20; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      for (bool flip = false;; flip = !flip) (void)save_originals(directory_, flip ? small : large).ok();
    }
    ::usleep(static_cast<useconds_t>(500 + round * 400));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto loaded = load_originals(directory_);
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    EXPECT_TRUE(*loaded == small || *loaded == large);
  }
}

}  // namespace
}  // namespace fabric::state
