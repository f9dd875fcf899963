// SPDX-License-Identifier: Apache-2.0
// A capture names no module and no card: the serial number is another's, and everything else is as it was.
#include <linux/devlink.h>
#include <linux/genetlink.h>

#include "kernel/capture/anonymize.h"
#include "kernel/kernel.h"
#include "kernel/netlink/ethtool_link.h"
#include "node/optics_state.h"
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
  anonymize(*tape);
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
  tape.note(Ask::read, state::kOpticsFile, std::vector{state::optics_text(optics, 5)});
  anonymize(tape);
  const auto shown = state::parse_optics((**tape.find(Ask::read, state::kOpticsFile)).front(), "x", {});
  ASSERT_TRUE(shown.ok()) << shown.error().text();
  ASSERT_EQ(shown->modules.size(), 2u);
  EXPECT_NE(shown->modules.at("eth0").serial_number, "SN1");
  EXPECT_NE(shown->modules.at("eth1").serial_number, "SN-2-LONGER");
  EXPECT_EQ(shown->modules.at("eth0").vendor, "Acme");
}

std::string disguised(Ask ask, const std::string& question, const std::string& answer) {
  Tape tape;
  tape.note(ask, question, std::vector{answer});
  anonymize(tape);
  return (**tape.find(ask, question)).front();
}

TEST(Disguise, ACardHasAnotherSerialNumber) {
  AttrWriter info;
  info.header(genlmsghdr{DEVLINK_CMD_INFO_GET, 1, 0})
      .text(DEVLINK_ATTR_BUS_NAME, "pci")
      .text(DEVLINK_ATTR_INFO_DRIVER_NAME, "mlx5_core")
      .text(DEVLINK_ATTR_INFO_SERIAL_NUMBER, "MT2244X12345")
      .text(DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, "212345678901");  // digits of a group's address
  const std::string message = std::string("\x15\0", 2).append(as_text(info.data()));
  const std::string shown = disguised(Ask::generic, "info", message);
  EXPECT_EQ(shown.size(), message.size());
  for (const char* kept : {"pci", "mlx5_core"}) EXPECT_NE(shown.find(kept), std::string::npos) << kept;
  for (const char* hidden : {"MT2244X12345", "212345678901"}) EXPECT_EQ(shown.find(hidden), std::string::npos);

  const std::string vpd = std::string("\x82\x0a\0ConnectX-7\x90\x2d\0", 16) +
                          "PN\x04"
                          "MCX7"
                          "SN\x0c"
                          "MT2244X12345" +
                          "V3\x14"
                          "6f1f9a3c77aa4bcd9e0f" +
                          "\x78";
  const std::string shown_vpd = disguised(Ask::read, "sys/bus/pci/devices/0000:24:00.0/vpd", vpd);
  EXPECT_EQ(shown_vpd.size(), vpd.size());
  for (const char* kept : {"ConnectX-7", "MCX7"}) EXPECT_NE(shown_vpd.find(kept), std::string::npos) << kept;
  for (const char* hidden : {"MT2244X12345", "6f1f9a3c"}) EXPECT_EQ(shown_vpd.find(hidden), std::string::npos);

  const std::string originals =
      R"({"format":1,"ports":{"serial:SN42/0.1":{"place":"0000:24:00.0/1"},"serial:SN43/0.1":{}}})";
  const std::string shown_originals = disguised(Ask::read, "var/lib/fabric-agent/originals.json", originals);
  for (const char* hidden : {"SN42", "SN43"})
    EXPECT_EQ(shown_originals.find(hidden), std::string::npos) << shown_originals;
  EXPECT_NE(shown_originals.find(R"(/0.1":{"place":"0000:24:00.0/1"},"serial:)"), std::string::npos) << shown_originals;
}

}  // namespace
}  // namespace fabric
