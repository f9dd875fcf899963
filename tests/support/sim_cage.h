// SPDX-License-Identifier: Apache-2.0
// A driver that reads the memory of its module under the rules of net/ethtool/eeprom.c and mlx5 in Linux 6.12.
#pragma once

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "kernel/netlink/netlink.h"
#include "support/module_image.h"

namespace fabric::test {

class SimCage : public Netlink {
 public:
  ModuleImage module;
  std::vector<eeprom::PageRequest> reads{};
  std::optional<eeprom::PageRequest> broken{};  // this read fails with EIO
  std::optional<unsigned> cut{};                // page 02h has only so many bytes: mlx5e_get_module_eeprom_by_page()
  int failure = 0;                              // errno of every read

  Result<std::vector<Message>> talk(uint16_t type, uint16_t, View8 payload) override {
    if (failure != 0) return error(failure, "fake");
    genlmsghdr header;
    std::memcpy(&header, payload.data(), sizeof header);
    if (header.cmd != ETHTOOL_MSG_MODULE_EEPROM_GET) return error(EOPNOTSUPP, "fake");
    const auto asked = parse_attributes(payload, sizeof header);
    const auto first = value_of<uint32_t>(asked, ETHTOOL_A_MODULE_EEPROM_OFFSET),
               count = value_of<uint32_t>(asked, ETHTOOL_A_MODULE_EEPROM_LENGTH);
    const auto page = value_of<uint8_t>(asked, ETHTOOL_A_MODULE_EEPROM_PAGE),
               address = value_of<uint8_t>(asked, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS);
    if (!first || !count || !page || !address) return error(EINVAL, "fake");  // eeprom_parse_request
    if (*count == 0 || *count > 128 || (*first < 128 && *first + *count > 128) || *first + *count > 256 ||
        (*page != 0 && *first < 128))
      return error(EINVAL, "fake");
    reads.push_back({*address, 0, *page, static_cast<uint8_t>(*first), static_cast<uint8_t>(*count)});
    auto read = module.read(reads.back());
    if (!read || (broken && broken->page == *page && broken->offset == *first)) return error(EIO, "fake");
    if (cut && *page == 2) read->data.resize(*cut);
    AttrWriter out;
    out.header(genlmsghdr{}).bytes(ETHTOOL_A_MODULE_EEPROM_DATA, read->data);
    return std::vector{Message{type, out.data()}};
  }
};

}  // namespace fabric::test
