// SPDX-License-Identifier: Apache-2.0
// Module memory: every one of the corpus against its expected answer; and memories laid out by the standards, for the
// parts that the captures lack (flags, external calibration, cut pages).
#include "wire/eeprom.h"

#include <bit>

#include "support/corpus.h"
#include "support/module_image.h"
#include "support/test.h"

namespace fabric::eeprom {
namespace {

using test::has;
using test::slurp;
using Image = test::ModuleImage;

// -- The corpus

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

// -- The standards

constexpr unsigned kDegrees40 = 40 * 256, kVolts33 = 33000;

Image qsfp28() {
  Image image;
  image.at(0, 0) = 0x11;
  image.put16(0, 22, kDegrees40);
  image.put16(0, 26, kVolts33);
  for (unsigned lane = 0; lane < 4; ++lane) {
    image.put16(0, 34 + 2 * lane, 5000 + lane);
    image.put16(0, 42 + 2 * lane, 20000 + lane);
    image.put16(0, 50 + 2 * lane, 9000 + lane);
  }
  image.at(0, 128) = 0x11;
  image.at(0, 130) = 0x07;
  image.at(0, 146) = 50;
  image.at(0, 147) = 0x40;
  image.text(0, 148, "Vendor          ");
  image.text(0, 196, "SN1             ");
  image.at(0, 194) = 1 << 5 | 1 << 4;
  image.at(0, 195) = 1 << 3 | 1 << 1;
  image.at(0, 220) = 1 << 3 | 1 << 2;
  image.seal(0, 128, 190);
  image.seal(0, 192, 222);
  const unsigned limits[] = {9000, 1000, 8000, 2000};
  for (unsigned base : {128u, 144u, 176u, 184u, 192u})
    for (unsigned i = 0; i < 4; ++i) image.put16(3, base + 2 * i, limits[i]);
  return image;
}

Image osfp() {
  Image image;
  image.at(0, 0) = 0x19;
  image.at(0, 1) = 0x52;
  image.at(0, 3) = 3 << 1;
  image.put16(0, 14, kDegrees40);
  image.put16(0, 16, kVolts33);
  const uint8_t application[] = {0x51, 0x1c, 0x88, 0x01, 0xff};
  for (unsigned i = 0; i < sizeof application; ++i) image.at(0, 86 + i) = application[i];
  image.at(0, 203) = 0x0c;
  image.at(0, 212) = 0x06;
  image.seal(0, 128, 221);
  image.at(1, 157) = 0x07;
  image.at(1, 158) = 0x06;
  image.at(1, 159) = 0x03;
  image.at(1, 160) = 0x07;
  image.at(1, 176) = 0x01;
  image.seal(1, 130, 254);
  const unsigned limits[] = {9000, 1000, 8000, 2000};
  for (unsigned base : {128u, 136u, 176u, 184u, 192u})
    for (unsigned i = 0; i < 4; ++i) image.put16(2, base + 2 * i, limits[i]);
  image.seal(2, 128, 254);
  for (unsigned lane = 0; lane < 8; ++lane) {
    image.put16(0x11, 154 + 2 * lane, 9000 + lane);
    image.put16(0x11, 170 + 2 * lane, 20000 + lane);
    image.put16(0x11, 186 + 2 * lane, 5000 + lane);
  }
  return image;
}

// Observable `type` of a lane, from 0, as instance `at` of group `group`.
void observe(Image& image, unsigned group, unsigned at, unsigned lane, unsigned type, unsigned sample) {
  image.put16(0x20 + group, 128 + 2 * at, lane << 8 | type);
  image.put16(0x24 + group, 128 + 2 * at, sample);
}

constexpr unsigned f16(unsigned mantissa, unsigned exponent) { return exponent << 11 | mantissa; }

// Two groups of Versatile Diagnostics Monitoring.
Image osfp_with_vdm() {
  Image image = osfp();
  image.at(1, 142) = 1 << 6;
  image.seal(1, 130, 254);
  image.put16(0x2f, 128, 0x0175);
  image.at(0x2f, 255) = 0;
  for (unsigned page : {0x20u, 0x21u, 0x24u, 0x25u}) image.at(page, 255) = 0;
  observe(image, 0, 0, 0, 5, 22 * 256 + 128);
  observe(image, 0, 1, 0x10, 6, 20 * 256);        // with threshold set 1
  observe(image, 0, 2, 0x20, 15, f16(320, 17));   // 320e-7
  observe(image, 0, 3, 0x20, 13, f16(2047, 22));  // a statistic
  observe(image, 1, 62, 0x04, 16, f16(1, 15));    // 1e-9
  observe(image, 1, 63, 0x0f, 15, f16(742, 14));  // 7.42e-8, of no lane
  return image;
}

constexpr unsigned kA2 = 0x51;

Image sfp28() {
  Image image;
  image.at(0, 0) = 0x03;
  image.at(0, 2) = 0x07;
  image.at(0, 18) = 10;
  image.text(0, 20, "Vendor          ");
  image.text(0, 40, "PN-25G          ");
  image.at(0, 65) = 1 << 1 | 1 << 3;
  image.at(0, 92) = 1 << 6 | 1 << 5;
  image.at(0, 93) = 1 << 7 | 1 << 5 | 1 << 4;
  image.seal(0, 0, 62);
  image.seal(0, 64, 94);
  const unsigned limits[] = {9000, 1000, 8000, 2000};
  for (unsigned base : {0u, 8u, 16u, 24u, 32u})
    for (unsigned i = 0; i < 4; ++i) image.put16(0, base + 2 * i, limits[i], kA2);
  image.put16(0, 96, kDegrees40, kA2);
  image.put16(0, 98, kVolts33, kA2);
  image.put16(0, 100, 3000, kA2);
  image.put16(0, 102, 6000, kA2);
  image.put16(0, 104, 4000, kA2);
  image.seal(0, 0, 94, kA2);
  return image;
}

TEST(Sff8472, ReadsBothAddresses) {
  const Transceiver module = sfp28().decoded();
  EXPECT_EQ(module.standard, "SFF-8472");
  EXPECT_EQ(module.form_factor, "SFP");
  EXPECT_EQ(module.vendor, "Vendor");
  EXPECT_EQ(module.part_number, "PN-25G");
  EXPECT_EQ(module.connector, "LC");
  EXPECT_EQ(module.medium, Medium::optical);
  EXPECT_FALSE(module.cable_length) << "10 is its reach over OM4";
  EXPECT_EQ(module.temperature.value, 40.0);
  EXPECT_DOUBLE_EQ(module.voltage.value.value_or(0), 3.3);
  ASSERT_EQ(module.lanes.size(), 1u);
  EXPECT_DOUBLE_EQ(module.lanes[0].tx_bias.value.value_or(0), 6e-3);
  EXPECT_DOUBLE_EQ(module.lanes[0].tx_power.value.value_or(0), 6e-4);
  EXPECT_DOUBLE_EQ(module.lanes[0].rx_power.value.value_or(0), 4e-4);
  EXPECT_DOUBLE_EQ(module.rx_power_limits.high_alarm.value_or(0), 9e-4);
  EXPECT_TRUE(module.bad_checksums.empty());
}

TEST(Sff8472, ExternalCalibrationIsApplied) {
  Image image = sfp28();
  image.at(0, 92) = 1 << 6 | 1 << 4;
  const float rx[] = {0, 0, 0, 2.0F, 100.0F};  // fourth power first
  for (unsigned i = 0; i < 5; ++i) image.put32(0, 56 + 4 * i, std::bit_cast<uint32_t>(rx[i]), kA2);
  for (unsigned at : {76u, 80u, 84u, 88u}) image.put32(0, at, 0x0180'fff6, kA2);  // slope 1.5, offset -10
  const Transceiver module = image.decoded();
  EXPECT_DOUBLE_EQ(module.lanes.at(0).rx_power.value.value_or(0), (4000 * 2 + 100) / 1e7);
  EXPECT_DOUBLE_EQ(module.lanes.at(0).tx_power.value.value_or(0), (6000 * 1.5 - 10) / 1e7);
  EXPECT_DOUBLE_EQ(module.lanes.at(0).tx_bias.value.value_or(0), (3000 * 1.5 - 10) / 5e5);
  EXPECT_DOUBLE_EQ(module.temperature.value.value_or(0), (kDegrees40 * 1.5 - 10) / 256);
  EXPECT_DOUBLE_EQ(module.voltage.value.value_or(0), (kVolts33 * 1.5 - 10) / 1e4);
  EXPECT_DOUBLE_EQ(module.temperature_limits.low_alarm.value_or(0), (1000 * 1.5 - 10) / 256);
}

TEST(Sff8472, APassiveCableHasALengthAndNoMonitors) {
  Image image = sfp28();
  image.at(0, 8) = 1 << 2;
  image.at(0, 18) = 3;
  image.at(0, 92) = 0;
  EXPECT_EQ(image.pages().size(), 1u) << "A2h is not read where it is not implemented";
  const Transceiver cable = image.decoded();
  EXPECT_EQ(cable.medium, Medium::passive_copper);
  EXPECT_EQ(cable.cable_length, 3.0);
  EXPECT_TRUE(cable.lanes.empty());
}

TEST(Sff8472, ACableOfCopperThatMeasuresHasNoLight) {
  Image image = sfp28();
  image.at(0, 8) = 1 << 2;
  for (unsigned at : {100u, 102u, 104u}) image.put16(0, at, 0, kA2);
  const Transceiver cable = image.decoded();
  EXPECT_EQ(cable.medium, Medium::passive_copper);
  EXPECT_EQ(cable.temperature.value, 40.0);
  EXPECT_TRUE(cable.lanes.empty()) << "0 W are not a loss of light";
  EXPECT_EQ(cable.rx_power_limits, ModuleLimits{});
  image.at(0, 8) = 0;
  image.at(0, 2) = 0x22;
  EXPECT_TRUE(image.decoded().lanes.empty()) << "nor has one of twisted pairs";
}

// ionic before Linux 6.13, and i40e for a module that names no revision of SFF-8472, have the kernel read A0h twice.
TEST(Sff8472, TheIdentityInPlaceOfTheDiagnosticsIsNone) {
  Image image = sfp28();
  for (unsigned at = 96; at < 128; ++at) image.at(0, at) = 0x41;  // the maker's own bytes
  for (unsigned at = 0; at < 128; ++at) image.at(0, at, kA2) = image.at(0, at);
  const Transceiver module = image.decoded();
  EXPECT_EQ(module.vendor, "Vendor");
  EXPECT_EQ(module.temperature, ModuleReading{});
  EXPECT_TRUE(module.lanes.empty());
  EXPECT_TRUE(module.bad_checksums.empty()) << module.bad_checksums.front();
}

TEST(Cmis, BiasCountsInItsOwnScaleAndSoDoItsLimits) {
  Image image = osfp();
  image.at(1, 160) = 0x07 | 2 << 3;
  const Transceiver module = image.decoded();
  EXPECT_DOUBLE_EQ(module.lanes.at(7).tx_bias.value.value_or(0), 20007 * 8e-6);
  EXPECT_DOUBLE_EQ(module.tx_bias_limits.high_alarm.value_or(0), 9000 * 8e-6);
  EXPECT_DOUBLE_EQ(module.lanes.at(7).tx_power.value.value_or(0), 9007 / 1e7) << "power does not";
}

TEST(Cmis, LanesThatAreAllMissingAreNot) {
  Image image = osfp();
  const size_t lanes = image.decoded().lanes.size();
  ASSERT_GT(lanes, 0u);
  image.at(0, 210) = 0xff;
  EXPECT_EQ(image.decoded().lanes.size(), lanes);
  image.at(0, 210) = 0x80;
  EXPECT_EQ(image.decoded().lanes.size(), lanes - 1);
}

std::string paths_of(const Image& image) {
  std::string out;
  for (const ModuleLane& lane : image.decoded().lanes) out += lane.path ? std::to_string(*lane.path) : "-";
  return out;
}

TEST(Cmis, TheDataPathsOfTheLanes) {
  Image image = osfp();
  EXPECT_EQ(paths_of(image), "--------") << "no application in use";
  for (unsigned lane = 0; lane < 8; ++lane) image.at(0x11, 206 + lane) = 0x10;
  EXPECT_EQ(paths_of(image), "11111111");
  image.at(0, 88) = 0x44, image.at(0, 89) = image.at(1, 176) = 0x11;
  for (unsigned lane = 4; lane < 8; ++lane) image.at(0x11, 206 + lane) = 0x18;
  EXPECT_EQ(paths_of(image), "11115555") << "two ports of four lanes";
  image.at(0, 88) = 0x42, image.at(1, 176) = 0x05;
  EXPECT_EQ(paths_of(image), "1155") << "with half as many lanes in the medium";
  for (unsigned lane = 4; lane < 8; ++lane) image.at(0x11, 206 + lane) = 0x08;
  EXPECT_EQ(paths_of(image), "11--") << "the other one is not set up";
  for (unsigned lane = 0; lane < 8; ++lane) image.at(0x11, 206 + lane) = 0xff;
  EXPECT_EQ(paths_of(image), "----") << "an application without a descriptor";
}

std::string inputs_of(const Image& image) {
  std::string out;
  for (const ModuleInput& input : image.decoded().inputs) {
    out += std::string(to_text(input.side)) + " " + std::to_string(input.lane);
    char number[32];
    std::snprintf(number, sizeof number, ", %g", input.error_ratio.value_or(-1));
    if (input.error_ratio) out += number;
    if (input.snr) out += ", " + std::to_string(static_cast<int>(*input.snr * 10)) + "/10 dB";
    out += "; ";
  }
  return out;
}

TEST(Cmis, WhatArrivesAtEachSide) {
  const Image image = osfp_with_vdm();
  EXPECT_EQ(inputs_of(image), "medium 1, 3.2e-05, 225/10 dB; host 1, 200/10 dB; host 5, 1e-09; medium 0, 7.42e-08; ");
  EXPECT_EQ(image.pages().size(), 10u) << "five, page 2Fh, and descriptors and samples of two groups";
}

// The byte that advertises VDM decides, not the contents of its pages.
TEST(Cmis, AModuleWithoutVdmIsNotAskedForIt) {
  Image image = osfp_with_vdm();
  image.at(1, 142) = 0xbf;
  EXPECT_EQ(inputs_of(image), "");
  EXPECT_EQ(image.pages().size(), 5u);
  image.at(1, 142) = 0x40;
  image.at(0x2f, 128) = 0;
  EXPECT_EQ(inputs_of(image), "medium 1, 3.2e-05, 225/10 dB; host 1, 200/10 dB; ") << "one group";
  for (unsigned at = 0; at < 4; ++at) image.at(0x20, 129 + 2 * at) = 1;  // the age of a laser
  EXPECT_EQ(image.pages().size(), 7u) << "samples that say nothing of the inputs are not read";
}

TEST(Cmis, AnInputThatIsNotMeasuredIsAbsent) {
  const auto sample = [](unsigned type, unsigned raw) {
    Image image = osfp_with_vdm();
    for (unsigned at = 0; at < 64; ++at) image.put16(0x20, 128 + 2 * at, 0), image.put16(0x21, 128 + 2 * at, 0);
    observe(image, 0, 9, 2, type, raw);
    return inputs_of(image);
  };
  EXPECT_EQ(sample(15, 0xffff), "");
  EXPECT_EQ(sample(15, f16(11, 23)), "") << "1.1 of the bits";
  EXPECT_EQ(sample(15, f16(1, 24)), "medium 3, 1; ");
  EXPECT_EQ(sample(15, 29'167), "medium 3, 4.95e-08; ");
  EXPECT_EQ(sample(15, f16(2047, 0)), "medium 3, 2.047e-21; ");
  EXPECT_EQ(sample(16, 0), "host 3, 0; ") << "no bit was damaged";
  EXPECT_EQ(sample(6, 0xffff), "");
  EXPECT_EQ(sample(6, 0), "");
}

TEST(Cmis, StateAndFaultCause) {
  Image image = osfp();
  EXPECT_EQ(image.decoded().state, ModuleState::ready);
  image.at(0, 41) = 1;
  EXPECT_EQ(image.decoded().fault_cause, "") << "an old cause is none while it is ready";
  image.at(0, 3) = 5 << 1;
  EXPECT_EQ(image.decoded().state, ModuleState::fault);
  EXPECT_EQ(image.decoded().fault_cause, "TEC runaway");
  image.at(0, 41) = 40;
  EXPECT_EQ(image.decoded().fault_cause, "code 40");
  image.at(0, 3) = 7 << 1;
  EXPECT_FALSE(image.decoded().state);
}

TEST(Cmis, WhatIsNotAdvertisedIsAbsent) {
  Image image = osfp();
  for (unsigned at = 157; at <= 160; ++at) image.at(1, at) = 0;
  const Transceiver module = image.decoded();
  EXPECT_FALSE(module.temperature.value || module.temperature.flags || module.voltage.value);
  EXPECT_EQ(module.rx_power_limits, ModuleLimits{});
  for (const ModuleLane& lane : module.lanes) {
    ModuleLane empty;
    empty.number = lane.number;
    EXPECT_EQ(lane, empty);
  }
}

TEST(Sff8636, NotReadyYetIsNotZero) {
  Image image = qsfp28();
  image.at(0, 2) = 1;
  EXPECT_FALSE(image.decoded().temperature.value);
  EXPECT_EQ(image.decoded().serial_number, "SN1");
}

TEST(Sff8636, AFlagThatIsNotImplementedIsAbsent) {
  Image image = qsfp28();
  image.at(0, 194) = image.at(0, 195) = 0;
  const Transceiver module = image.decoded();
  ASSERT_EQ(module.lanes.size(), 4u);
  for (const ModuleLane& lane : module.lanes) {
    EXPECT_FALSE(lane.rx_lol || lane.tx_lol || lane.tx_los || lane.tx_fault)
        << "no retimer, so no loss of lock is reported";
    EXPECT_EQ(lane.rx_los, false);
  }
  image.at(0, 194) = 1 << 4;
  EXPECT_EQ(image.decoded().lanes[0].rx_lol, false);
  EXPECT_FALSE(image.decoded().lanes[0].tx_lol);
}

// A cable that has a memory chip only: bytes that were never written are all ones.
TEST(Sff8636, AnEmptyChipMeasuresNothing) {
  Image image = qsfp28();
  for (unsigned at = 3; at < 127; ++at) image.at(0, at) = 0xff;
  image.at(0, 2) = 2;
  image.at(0, 147) = 0xa0;
  image.seal(0, 128, 190);
  const Transceiver cable = image.decoded();
  EXPECT_EQ(cable.medium, Medium::passive_copper);
  EXPECT_EQ(cable.temperature, ModuleReading{});
  EXPECT_EQ(cable.voltage, ModuleReading{});
}

// It answers with page 00h instead.
TEST(Sff8636, APageThatIsNotThereHasNoLimits) {
  Image image = qsfp28();
  for (unsigned at = 128; at < 256; ++at) image.at(3, at) = image.at(0, at);
  const Transceiver module = image.decoded();
  EXPECT_EQ(module.temperature.value, 40.0);
  EXPECT_EQ(module.lanes.size(), 4u);
  for (const ModuleLimits* limits :
       {&module.temperature_limits, &module.voltage_limits, &module.rx_power_limits, &module.tx_bias_limits})
    EXPECT_EQ(*limits, ModuleLimits{});
  image.at(0, 9) = 0x40;
  EXPECT_TRUE(image.decoded().lanes[0].rx_power.flags->low_alarm) << "it may have limits that it does not show";
}

TEST(Limits, ThatContradictThemselvesAreNone) {
  Image image = qsfp28();
  image.put16(3, 128, 0);  // high alarm of the temperature below the low one
  const ModuleLimits limits = image.decoded().temperature_limits;
  EXPECT_FALSE(limits.high_alarm || limits.low_alarm);
  EXPECT_TRUE(limits.high_warning && limits.low_warning);
}

// -- One bit, one flag

std::vector<std::string> raised(const std::string& what, const std::optional<ModuleFlags>& flags) {
  std::vector<std::string> out;
  if (!flags) return out;
  if (flags->high_alarm) out.push_back(what + " high alarm");
  if (flags->low_alarm) out.push_back(what + " low alarm");
  if (flags->high_warning) out.push_back(what + " high warning");
  if (flags->low_warning) out.push_back(what + " low warning");
  return out;
}

std::vector<std::string> raised(const Transceiver& module) {
  std::vector<std::string> out;
  auto add = [&](std::vector<std::string> more) { out.insert(out.end(), more.begin(), more.end()); };
  add(raised("temperature", module.temperature.flags));
  add(raised("voltage", module.voltage.flags));
  for (const ModuleLane& lane : module.lanes) {
    const std::string number = std::to_string(lane.number);
    add(raised("rx power " + number, lane.rx_power.flags));
    add(raised("tx power " + number, lane.tx_power.flags));
    add(raised("tx bias " + number, lane.tx_bias.flags));
    if (lane.rx_los.value_or(false)) out.push_back("rx los " + number);
    if (lane.rx_lol.value_or(false)) out.push_back("rx lol " + number);
    if (lane.tx_los.value_or(false)) out.push_back("tx los " + number);
    if (lane.tx_lol.value_or(false)) out.push_back("tx lol " + number);
    if (lane.tx_fault.value_or(false)) out.push_back("tx fault " + number);
  }
  return out;
}

// Makers that leave the limits at zero have every reading above its high limit.
TEST(Limits, ThatWereNeverSetRaiseNoFlags) {
  Image optic = qsfp28(), cable = osfp(), small = sfp28();
  for (unsigned at = 128; at < 255; ++at) optic.at(3, at) = cable.at(2, at) = 0;
  for (unsigned at = 0; at < 56; ++at) small.at(0, at, kA2) = 0;
  optic.at(0, 6) = optic.at(0, 7) = 0xa0;
  for (unsigned at = 9; at <= 14; ++at) optic.at(0, at) = 0xaa;
  cable.at(0, 9) = 0x55;
  for (unsigned at : {139u, 141u, 143u, 145u, 149u, 151u}) cable.at(0x11, at) = 0xff;
  for (unsigned at : {112u, 113u, 116u, 117u}) small.at(0, at, kA2) = 0xaa;
  for (const Image* each : {&optic, &cable, &small}) EXPECT_EQ(raised(each->decoded()), std::vector<std::string>{});
  optic.put16(3, 128, 20000), optic.put16(3, 130, 1000);  // alarms of the temperature alone
  EXPECT_EQ(raised(optic.decoded()), std::vector<std::string>{"temperature high alarm"});
}

// An active optical cable that measures itself and not the light: zeros, while its receivers hear the far end.
TEST(Unmeasured, IsNotDark) {
  Image cable = qsfp28(), small = sfp28();
  for (unsigned at = 34; at < 58; ++at) cable.at(0, at) = 0;
  for (unsigned at = 9; at <= 14; ++at) cable.at(0, at) = 0x55;
  cable.at(0, 3) = 0x0e;  // three receivers without a signal
  for (unsigned at = 100; at < 106; ++at) small.at(0, at, kA2) = 0;
  for (const Transceiver& module : {cable.decoded(), small.decoded()}) {
    EXPECT_EQ(module.temperature.value, 40.0);
    EXPECT_EQ(module.rx_power_limits, ModuleLimits{}) << "nothing is compared with them";
    for (const ModuleLane& lane : module.lanes) {
      EXPECT_EQ(lane.rx_power, ModuleReading{}) << module.standard;
      EXPECT_EQ(lane.tx_power, ModuleReading{});
      EXPECT_EQ(lane.tx_bias, ModuleReading{});
      EXPECT_TRUE(lane.rx_los);
    }
  }
  cable.put16(0, 42, 20000);
  EXPECT_DOUBLE_EQ(cable.decoded().lanes.at(0).tx_bias.value.value_or(0), 0.04) << "the current is measured";
  cable.at(0, 3) = 0x0f;
  EXPECT_EQ(cable.decoded().lanes.at(0).rx_power.value, 0.0) << "no lane hears anything: it is dark";
  small.at(0, 110, kA2) = 1 << 1;
  EXPECT_EQ(small.decoded().lanes.at(0).rx_power.value, 0.0);
}

// CMIS 5.2 names linear equalizers as well; later technologies are not known to be copper.
TEST(Cmis, ATechnologyThatIsNotKnownHasNoMedium) {
  Image image = osfp();
  image.at(0, 85) = 4;
  image.at(0, 212) = 0x13;
  EXPECT_EQ(image.decoded().medium, Medium::active_copper);
  EXPECT_EQ(image.decoded().technology, "copper, far end linear equalizers");
  image.at(0, 212) = 0x15;
  EXPECT_FALSE(image.decoded().medium);
  EXPECT_EQ(image.decoded().technology, "");
}

struct FlagBit {
  unsigned page, byte, bit;
  const char* flag;
  unsigned i2c = 0x50;
};

void expect_flags(const Image& image, std::initializer_list<FlagBit> bits) {
  EXPECT_TRUE(raised(image.decoded()).empty());
  for (const FlagBit& bit : bits) {
    Image one = image;
    one.at(bit.page, bit.byte, bit.i2c) |= static_cast<uint8_t>(1u << bit.bit);
    EXPECT_EQ(raised(one.decoded()), std::vector<std::string>{bit.flag}) << bit.flag;
  }
}

TEST(Flags, OfSff8636) {
  expect_flags(qsfp28(), {{0, 6, 7, "temperature high alarm"},
                          {0, 6, 6, "temperature low alarm"},
                          {0, 6, 5, "temperature high warning"},
                          {0, 6, 4, "temperature low warning"},
                          {0, 7, 7, "voltage high alarm"},
                          {0, 7, 4, "voltage low warning"},
                          {0, 9, 7, "rx power 1 high alarm"},
                          {0, 9, 2, "rx power 2 low alarm"},
                          {0, 10, 4, "rx power 3 low warning"},
                          {0, 10, 1, "rx power 4 high warning"},
                          {0, 11, 6, "tx bias 1 low alarm"},
                          {0, 12, 0, "tx bias 4 low warning"},
                          {0, 13, 3, "tx power 2 high alarm"},
                          {0, 14, 5, "tx power 3 high warning"},
                          {0, 3, 0, "rx los 1"},
                          {0, 3, 3, "rx los 4"},
                          {0, 3, 4, "tx los 1"},
                          {0, 4, 2, "tx fault 3"},
                          {0, 5, 1, "rx lol 2"},
                          {0, 5, 7, "tx lol 4"}});
}

TEST(Flags, OfCmis) {
  expect_flags(osfp(), {{0, 9, 0, "temperature high alarm"},
                        {0, 9, 1, "temperature low alarm"},
                        {0, 9, 2, "temperature high warning"},
                        {0, 9, 3, "temperature low warning"},
                        {0, 9, 4, "voltage high alarm"},
                        {0, 9, 7, "voltage low warning"},
                        {0x11, 0x8b, 0, "tx power 1 high alarm"},
                        {0x11, 0x8e, 7, "tx power 8 low warning"},
                        {0x11, 0x90, 1, "tx bias 2 low alarm"},
                        {0x11, 0x91, 6, "tx bias 7 high warning"},
                        {0x11, 0x95, 2, "rx power 3 high alarm"},
                        {0x11, 0x96, 3, "rx power 4 low alarm"},
                        {0x11, 0x97, 4, "rx power 5 high warning"},
                        {0x11, 0x98, 5, "rx power 6 low warning"},
                        {0x11, 0x87, 0, "tx fault 1"},
                        {0x11, 0x88, 1, "tx los 2"},
                        {0x11, 0x89, 2, "tx lol 3"},
                        {0x11, 0x93, 7, "rx los 8"},
                        {0x11, 0x94, 4, "rx lol 5"}});
}

TEST(Flags, OfSff8472) {
  expect_flags(sfp28(), {{0, 112, 7, "temperature high alarm", kA2},
                         {0, 112, 6, "temperature low alarm", kA2},
                         {0, 116, 7, "temperature high warning", kA2},
                         {0, 112, 5, "voltage high alarm", kA2},
                         {0, 116, 4, "voltage low warning", kA2},
                         {0, 112, 3, "tx bias 1 high alarm", kA2},
                         {0, 116, 2, "tx bias 1 low warning", kA2},
                         {0, 112, 0, "tx power 1 low alarm", kA2},
                         {0, 116, 1, "tx power 1 high warning", kA2},
                         {0, 113, 7, "rx power 1 high alarm", kA2},
                         {0, 117, 6, "rx power 1 low warning", kA2},
                         {0, 110, 1, "rx los 1", kA2},
                         {0, 110, 2, "tx fault 1", kA2}});
}

// -- Hostile memory

TEST(Decode, WhatItCannotReadItNames) {
  EXPECT_EQ(decode({}).error().code, EBADMSG);
  Image image;
  image.at(0, 0) = 0x06;  // an X2
  auto module = decode(image.pages());
  EXPECT_EQ(module.error().code, EOPNOTSUPP);
  EXPECT_TRUE(has(module.error().what, "0x06"));
}

// Every number of a module, by name.
std::map<std::string, double> numbers(const Transceiver& module) {
  std::map<std::string, double> out;
  auto put = [&](const std::string& name, const std::optional<double>& value) {
    if (value) out[name] = *value;
  };
  put("temperature", module.temperature.value);
  put("voltage", module.voltage.value);
  put("length", module.cable_length);
  const ModuleLimits* limits[] = {&module.temperature_limits, &module.voltage_limits, &module.rx_power_limits,
                                  &module.tx_power_limits, &module.tx_bias_limits};
  for (size_t i = 0; i < std::size(limits); ++i) {
    put("high alarm " + std::to_string(i), limits[i]->high_alarm);
    put("low warning " + std::to_string(i), limits[i]->low_warning);
  }
  for (const ModuleLane& lane : module.lanes) {
    const std::string number = std::to_string(lane.number);
    out["lane " + number] = 1;
    put("rx power " + number, lane.rx_power.value);
    put("tx power " + number, lane.tx_power.value);
    put("tx bias " + number, lane.tx_bias.value);
  }
  for (const ModuleInput& input : module.inputs) {
    const std::string name = std::string(to_text(input.side)) + " " + std::to_string(input.lane);
    put("errors of " + name, input.error_ratio);
    put("snr of " + name, input.snr);
  }
  return out;
}

TEST(Decode, WhatIsCutOffIsAbsentAndNeverSomethingElse) {
  Image calibrated = sfp28();
  calibrated.at(0, 92) = 1 << 6 | 1 << 4;
  for (unsigned at : {76u, 80u, 84u, 88u}) calibrated.put32(0, at, 0x0180'fff6, kA2);
  calibrated.put32(0, 68, std::bit_cast<uint32_t>(2.0F), kA2);
  Image four = osfp();  // of its eight lanes an application uses four
  four.at(0, 88) = 0x84;
  for (const Image& image : {qsfp28(), osfp(), sfp28(), calibrated, four, osfp_with_vdm()}) {
    const std::vector<Page> whole = image.pages();
    const auto all = numbers(*decode(whole));
    ASSERT_GT(all.size(), 10u);
    for (size_t page = 0; page < whole.size(); ++page)
      for (size_t length = page == 0 ? 1 : 0; length < whole[page].data.size(); ++length) {
        std::vector<Page> cut = whole;
        cut[page].data.resize(length);
        auto module = decode(cut);
        ASSERT_TRUE(module.ok());
        for (const auto& [name, value] : numbers(*module)) {
          const auto there = all.find(name);
          ASSERT_TRUE(there != all.end() && there->second == value)
              << name << " of page " << page << " cut to " << length;
        }
      }
  }
}

TEST(FurtherPages, KeepToWhatOneRequestMayRead) {
  for (unsigned identifier = 0; identifier < 256; ++identifier)
    for (unsigned fill = 0; fill < 256; ++fill) {
      const auto pages = read_pages([&](const PageRequest& request) {
        Bytes data(128, static_cast<std::byte>(fill));
        if (request == kFirstPage) data[0] = static_cast<std::byte>(identifier);
        return data;
      });
      for (const auto& [request, data] : pages) {
        ASSERT_TRUE(request.length >= 1 && request.length <= 128);
        ASSERT_EQ(request.offset / 128, (request.offset + request.length - 1) / 128) << "in one half";
        ASSERT_TRUE(request.page == 0 || request.offset >= 128);
        ASSERT_LE(request.i2c_address, 0x7f);
      }
    }
  EXPECT_EQ(read_pages([](const PageRequest&) { return Bytes(); }).size(), 1u) << "no module";
}

}  // namespace
}  // namespace fabric::eeprom
