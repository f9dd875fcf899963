// SPDX-License-Identifier: Apache-2.0
// Every module memory of the corpus against its expected answer.
#include "support/corpus.h"
#include "support/module_image.h"
#include "support/test.h"
#include "wire/eeprom.h"

namespace fabric::eeprom {
namespace {

using test::slurp;

using Image = test::ModuleImage;

class Corpus : public test::OfCorpus {
 protected:
  [[nodiscard]] Image load(const std::string& name) const {
    Image image;
    auto put = [&](const std::string& file, unsigned page, unsigned first) {
      for (char c : slurp(corpus + "/eeprom/" + file)) image.at(page, first++) = static_cast<uint8_t>(c);
    };
    put(name + ".page00.bin", 0, 0);
    for (unsigned page = 1; page < 0x30; ++page) {
      char file[64];
      std::snprintf(file, sizeof file, "%s.page%02x.upper.bin", name.c_str(), page);
      put(file, page, 128);
    }
    return image;
  }
};

// The expected texts contain bytes that are not ASCII, which the decoder leaves out.
std::string printable(const std::string& text) {
  std::string out;
  for (char c : text)
    if (static_cast<unsigned char>(c) < 0x80) out.push_back(c);
  return out;
}

// Equal, or both "there is none" (the expected answer writes that as 0). Returns whether there was a value.
bool same(const std::optional<double>& got, double want, const std::string& what) {
  EXPECT_NEAR(got.value_or(0), want, 1e-9) << what;
  return got.has_value();
}

using Pick = std::function<std::optional<double>(const ModuleLane&)>;

int compare_lanes(const Transceiver& module, Json& want, double unit, const Pick& pick, const std::string& what) {
  if (want.is_null()) return 0;
  int found = 0;
  for (unsigned i = 0; i < want.size(); ++i) {
    std::optional<double> got;
    for (const ModuleLane& lane : module.lanes)
      if (lane.number == i + 1) got = pick(lane);
    if (got) got = *got / unit;
    found += same(got, want[i], what + " lane " + std::to_string(i + 1));
  }
  return found;
}

void compare_limits(const ModuleLimits& got, Json& want, const std::string& what) {
  if (want.is_null()) return;
  EXPECT_NEAR(got.high_alarm.value_or(NAN), want[0].get<double>(), 1e-9) << what;
  EXPECT_NEAR(got.low_alarm.value_or(NAN), want[1].get<double>(), 1e-9) << what;
  EXPECT_NEAR(got.high_warning.value_or(NAN), want[2].get<double>(), 1e-9) << what;
  EXPECT_NEAR(got.low_warning.value_or(NAN), want[3].get<double>(), 1e-9) << what;
}

void compare_identity(const Transceiver& module, Json& want, const std::string& name) {
  EXPECT_EQ(module.identifier, std::stoi(want["identifier"].get<std::string>(), nullptr, 16)) << name;
  std::string standard = want["standard"];
  if (!want["cmis_rev"].is_null()) standard += " " + want["cmis_rev"].get<std::string>();
  EXPECT_EQ(module.standard, standard) << name;
  EXPECT_EQ(module.vendor, want["vendor"]) << name;
  EXPECT_EQ(module.oui, want["oui"] == "00:00:00" ? "" : want["oui"].get<std::string>()) << name;
  EXPECT_EQ(module.part_number, want["pn"]) << name;
  EXPECT_EQ(module.revision, want["rev"]) << name;
  EXPECT_EQ(module.serial_number, printable(want["sn"])) << name;
  EXPECT_EQ(module.date, want["date"]) << name;
  if (want["module_state"].is_null()) return;
  EXPECT_EQ(module.state, static_cast<ModuleState>(want["module_state"].get<int>())) << name;
}

TEST_F(Corpus, EveryCaptureSaysWhatIsExpectedOfIt) {
  int values = 0;
  Json expected = Json::parse(slurp(corpus + "/eeprom/EXPECTED.json"));
  for (const auto& [name, want] : expected.items()) {
    const Image image = load(name);
    EXPECT_EQ(image.pages().size() == 2, want["flat_mem"].get<bool>())
        << name << ": flat memory has two halves and no more";
    const Transceiver module = image.decoded();
    compare_identity(module, want, name);
    values += same(module.temperature.value, want["temperature_c"], name + " temperature");
    values += same(module.voltage.value, want["vcc_v"], name + " voltage");
    values += compare_lanes(
        module, want["rx_power_mw"], 1e-3, [](auto& lane) { return lane.rx_power.value; }, name + " rx power");
    values += compare_lanes(
        module, want["tx_power_mw"], 1e-3, [](auto& lane) { return lane.tx_power.value; }, name + " tx power");
    values += compare_lanes(
        module, want["tx_bias_ma"], 1e-3, [](auto& lane) { return lane.tx_bias.value; }, name + " tx bias");
    compare_limits(module.temperature_limits, want["temp_thresholds_ha_la_hw_lw"], name + " temperature limits");
    compare_limits(module.voltage_limits, want["vcc_thresholds_ha_la_hw_lw"], name + " voltage limits");
    compare_limits(module.voltage_limits, want["vcc_thresholds"], name + " voltage limits");
  }
  // Five of seven measure temperature and voltage; four have lasers: 4, 4, 4 and 8 lanes of three readings.
  EXPECT_EQ(values, 5 * 2 + (4 + 4 + 4 + 8) * 3);
}

TEST_F(Corpus, CablesAreToldFromOptics) {
  const Transceiver dac = load("sff8636_dac_100g").decoded();
  EXPECT_EQ(dac.medium, Medium::passive_copper);
  EXPECT_EQ(dac.cable_length, 2.0);
  EXPECT_EQ(dac.connector, "no separable connector");
  EXPECT_TRUE(dac.lanes.empty());
  EXPECT_FALSE(dac.temperature.value || dac.voltage.value) << "a cable without monitors is not at 0 degrees";

  const Transceiver aec = load("cmis_credo_800g_aec").decoded();
  EXPECT_EQ(aec.medium, Medium::active_copper);
  EXPECT_EQ(aec.cable_length, 1.5);
  ASSERT_EQ(aec.lanes.size(), 8u);
  EXPECT_FALSE(aec.lanes[0].rx_power.value) << "it advertises no power monitors";
  EXPECT_EQ(aec.lanes[0].rx_los, false) << "but loss of signal";

  const Transceiver optic = load("cmis_arista_2x400g_xdr4").decoded();
  EXPECT_EQ(optic.medium, Medium::optical);
  EXPECT_EQ(optic.form_factor, "OSFP");
  EXPECT_EQ(optic.technology, "1310 nm EML");
  EXPECT_EQ(optic.connector, "MPO 1x12");
  EXPECT_FALSE(optic.cable_length) << "its fibre can be taken off";
  EXPECT_NEAR(optic.rx_power_limits.low_warning.value_or(0), 0x05a5 / 1e7, 1e-12);
}

TEST_F(Corpus, WhatArrivesAtEachSideOfAModuleWithVdm) {
  std::string inputs;
  for (const ModuleInput& input : load("cmis_400g_lr4").decoded().inputs) {
    char line[80];
    std::snprintf(line, sizeof line, "%s %u %.4g %.4g\n", to_text(input.side).data(), input.lane,
                  input.error_ratio.value_or(-1), input.snr.value_or(-1));
    inputs += line;
  }
  EXPECT_EQ(inputs,
            "medium 1 -1 21.19\nmedium 2 -1 22.95\nmedium 3 -1 22.05\nmedium 4 -1 21.41\n"
            "medium 0 7.42e-08 -1\nhost 0 1.741e-08 -1\n");
  for (const char* without : {"cmis_200g_fr4", "cmis_arista_2x400g_xdr4", "cmis_credo_800g_aec"}) {
    EXPECT_EQ(load(without).pages().size(), 5u) << without;
    EXPECT_TRUE(load(without).decoded().inputs.empty()) << without;
  }
}

TEST_F(Corpus, WrongChecksumsAreNamed) {
  for (const char* sound : {"cmis_200g_fr4", "cmis_400g_lr4", "cmis_arista_2x400g_xdr4", "sff8636_cwdm4_100g"})
    EXPECT_EQ(load(sound).decoded().bad_checksums, std::vector<std::string>{}) << sound;
  using Names = std::vector<std::string>;
  EXPECT_EQ(load("sff8636_dac_100g").decoded().bad_checksums,
            (Names{"page 00h bytes 128-190", "page 00h bytes 192-222"}));
  EXPECT_FALSE(load("sff8636_dac_100g").decoded().checksum_matched);
  EXPECT_EQ(load("cmis_credo_800g_aec").decoded().bad_checksums, Names{"page 00h bytes 128-221"});
  EXPECT_TRUE(load("cmis_credo_800g_aec").decoded().checksum_matched);
}

}  // namespace
}  // namespace fabric::eeprom
