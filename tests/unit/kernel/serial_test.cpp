// SPDX-License-Identifier: Apache-2.0
// What identifies a card: its serial number by devlink, else of its VPD, else its address.
#include <linux/devlink.h>
#include <linux/genetlink.h>

#include "node/port_reader.h"
#include "support/ports.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::scanning {
namespace {

// As PCI Local Bus Specification 3.0, appendix I: an identifier, read-only fields, the end tag.
std::string vpd_of(const std::string& serial) {
  const auto sized = [](const std::string& text) {
    return std::string{static_cast<char>(text.size()), static_cast<char>(text.size() >> 8)} + text;
  };
  const auto field = [](const std::string& key, const std::string& text) {
    return key + static_cast<char>(text.size()) + text;
  };
  return "\x82" + sized("ConnectX-7") + "\x90" +
         sized(field("PN", "MCX75310AAS") + field("SN", serial) + field("V0", "misc")) + "\x78";
}

TEST(Vpd, HasTheSerialNumberAndNeverMoreThanIsThere) {
  const std::string vpd = vpd_of("MT2244X12345  ");
  EXPECT_EQ(vpd_serial(vpd), "MT2244X12345");
  for (size_t size = 0; size < vpd.size(); ++size) {
    const std::string cut = vpd_serial(std::string_view(vpd).substr(0, size));
    EXPECT_TRUE(cut.empty() || std::string_view("MT2244X12345").starts_with(cut)) << size;
  }
  for (const char* none : {"000000000000", "N/A", "", "\x1b[31mred!!"}) EXPECT_EQ(vpd_serial(vpd_of(none)), "") << none;
  EXPECT_EQ(vpd_serial(std::string(4096, '\xff')), "");
  EXPECT_EQ(vpd_serial("\x90\xff\xff"), "");
}

// Answers the family and the information of one device.
class Devlink final : public Netlink {
 public:
  explicit Devlink(std::string serial) : serial_(std::move(serial)) {}
  unsigned asked = 0;

  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8) override {
    genlmsghdr header{};
    AttrWriter out;
    if (type == GENL_ID_CTRL) {
      header.cmd = CTRL_CMD_NEWFAMILY;
      out.header(header).u16(CTRL_ATTR_FAMILY_ID, 21).text(CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
      return std::vector<Message>{{GENL_ID_CTRL, out.data()}};
    }
    ++asked;
    if (serial_.empty()) return error(EOPNOTSUPP, "devlink");
    header.cmd = DEVLINK_CMD_INFO_GET;
    out.header(header)
        .text(DEVLINK_ATTR_INFO_SERIAL_NUMBER, "00-11-22-33")
        .text(DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, serial_);
    return std::vector<Message>{{21, out.data()}};
  }

 private:
  std::string serial_;
};

struct Cards : testing::Test {
  Port port_at(const std::string& pci, const std::string& address) {
    return {.ifindex = 7, .pci = pci, .card_address = address};
  }
  Port read(Port port, bool wanted = true) {
    const ScanOptions options{.serials = wanted};
    std::vector<std::string> unseen;
    Context context{kernel, options, {}, {}, {}, unseen};
    read_card(context, port);
    return port;
  }
  test::Tree tree;
  Kernel kernel{tree.root()};
};

TEST_F(Cards, AreNamedByDevlinkFirstAndAskedOnce) {
  auto devlink = std::make_unique<Devlink>("P210190123456");
  Devlink& asked = *devlink;
  kernel.generic = std::move(devlink);
  tree.file("sys/bus/pci/devices/0000:24:00.1/vpd", vpd_of("MT2244X12345"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(port_at("0000:24:00.1", "mac:a")).card, "serial:P210190123456/1.1");
  EXPECT_EQ(asked.asked, 1U);
  EXPECT_EQ(read(port_at("0000:24:00.1", "mac:a"), false).card, "mac:a") << "not asked for";
}

TEST_F(Cards, AreNamedByTheirVpdElseByTheirAddress) {
  kernel.generic = std::make_unique<Devlink>("");
  tree.file("sys/bus/pci/devices/0000:24:00.0/vpd", vpd_of("MT2244X12345"));
  EXPECT_EQ(read(port_at("0000:24:00.0", "mac:a")).card, "serial:MT2244X12345/0.1");
  EXPECT_EQ(read(port_at("0000:25:00.0", "mac:b")).card, "mac:b");
  Port virtual_function = port_at("0000:24:00.0", "mac:c");
  test::make_virtual(virtual_function);
  EXPECT_EQ(read(virtual_function).card, "mac:c");
}

// A card in two slots (socket direct) has one serial number for two functions of the same number.
TEST_F(Cards, OfOneSerialNumberAreToldApartByTheirAddresses) {
  for (const char* pci : {"0000:24:00.0", "0000:98:00.0"})
    tree.file(std::string("sys/bus/pci/devices/") + pci + "/vpd", vpd_of("MT2244X12345"));
  std::vector<Port> ports{read(port_at("0000:24:00.0", "mac:a")), read(port_at("0000:98:00.0", "mac:b"))};
  ASSERT_EQ(ports[0].card, ports[1].card);
  make_cards_unique(ports);
  EXPECT_EQ(ports[0].card, "mac:a");
  EXPECT_EQ(ports[1].card, "mac:b");
}

}  // namespace
}  // namespace fabric::scanning
