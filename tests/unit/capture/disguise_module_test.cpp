// SPDX-License-Identifier: Apache-2.0
// A capture names no module: its serial number is another's, and everything else of it is as it was.
#include "kernel/capture/anonymize.h"
#include "kernel/kernel.h"
#include "kernel/netlink/ethtool_link.h"
#include "store/optics_state.h"
#include "support/sim_cage.h"
#include "support/test.h"

namespace fabric {
namespace {

constexpr ethtool::Family kFamily{21, 0};

struct Captured {
  Transceiver real, shown;
};

Captured captured(const test::ModuleImage& image) {
  auto tape = std::make_shared<Tape>();
  auto cage = std::make_unique<test::SimCage>();
  cage->module = image;
  auto recorded = on_tape(std::move(cage), Ask::generic, tape);
  auto real = ethtool::ModuleReader(eeprom::decode).read(*recorded, kFamily, "eth0");
  EXPECT_TRUE(real.ok()) << real.error().text();
  disguise(*tape, true);
  auto replayed = std::make_shared<Tape>(true);
  replayed->answers = tape->answers;
  auto shown = ethtool::ModuleReader(eeprom::decode)
                   .read(*on_tape(std::unique_ptr<Netlink>(), Ask::generic, replayed), kFamily, "eth0");
  EXPECT_TRUE(shown.ok()) << shown.error().text();
  return real && shown ? Captured{*real, *shown} : Captured{};
}

void expect_hidden(const Captured& module, const std::string& serial, size_t wrong_checksums) {
  EXPECT_EQ(module.real.serial_number, serial);
  EXPECT_NE(module.shown.serial_number, serial);
  EXPECT_EQ(module.shown.serial_number.size(), serial.size());
  EXPECT_EQ(module.shown.vendor, "Acme");
  EXPECT_EQ(module.shown.bad_checksums, module.real.bad_checksums);
  EXPECT_EQ(module.shown.bad_checksums.size(), wrong_checksums);
}

test::ModuleImage qsfp() {
  test::ModuleImage image;
  image.at(0, 0) = image.at(0, 128) = 0x11;
  image.at(0, 2) = 0x04;  // flat memory
  image.text(0, 148, "Acme            ");
  image.text(0, 196, "SN12345         ");
  image.seal(0, 128, 190);
  image.seal(0, 192, 222);
  return image;
}

TEST(Disguise, AQsfpHasAnotherSerialNumber) { expect_hidden(captured(qsfp()), "SN12345", 0); }

TEST(Disguise, AChecksumThatIsWrongStaysWrong) {
  test::ModuleImage image = qsfp();
  image.at(0, 223) = static_cast<uint8_t>(image.at(0, 223) + 1);
  expect_hidden(captured(image), "SN12345", 1);
}

TEST(Disguise, ACmisModuleHasAnotherSerialNumber) {
  test::ModuleImage image;
  image.at(0, 0) = image.at(0, 128) = 0x18;
  image.at(0, 1) = 0x50;
  image.at(0, 2) = 0x80;  // flat memory
  image.text(0, 129, "Acme            ");
  image.text(0, 166, "CM99            ");
  image.seal(0, 128, 221);
  expect_hidden(captured(image), "CM99", 0);
}

TEST(Disguise, AnSfpHasAnotherSerialNumber) {
  for (const uint8_t identifier : {uint8_t{0x03}, uint8_t{0x0b}}) {  // SFP, and for one of many wavelengths
    test::ModuleImage image;
    image.at(0, 0) = identifier;
    image.text(0, 20, "Acme            ");
    image.text(0, 68, "SFP0001         ");
    image.seal(0, 0, 62);
    image.seal(0, 64, 94);
    expect_hidden(captured(image), "SFP0001", 0);
  }
}

TEST(Disguise, SoHasWhatIsPublished) {
  state::Optics optics;
  optics.modules["eth0"].serial_number = "SN1";
  optics.modules["eth0"].vendor = "Acme";
  optics.modules["eth1"].serial_number = "SN-2-LONGER";
  Tape tape;
  tape.note(Ask::read, state::kOpticsFile, std::vector{state::optics_toml(optics, 5)});
  disguise(tape, true);
  const auto shown = state::parse_optics((**tape.find(Ask::read, state::kOpticsFile)).front(), "x", {});
  ASSERT_TRUE(shown.ok()) << shown.error().text();
  ASSERT_EQ(shown->modules.size(), 2u);
  EXPECT_NE(shown->modules.at("eth0").serial_number, "SN1");
  EXPECT_NE(shown->modules.at("eth1").serial_number, "SN-2-LONGER");
  EXPECT_EQ(shown->modules.at("eth0").vendor, "Acme");
}

}  // namespace
}  // namespace fabric
