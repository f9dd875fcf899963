// SPDX-License-Identifier: Apache-2.0
// The link's health by ethtool netlink, read only: why it is down, FEC, and the module's memory
// (linux/ethtool_netlink.h; net/ethtool/linkstate.c, fec.c, eeprom.c of Linux 6.12).
#pragma once

#include "kernel/netlink/ethtool.h"
#include "wire/eeprom.h"
#include "wire/transceiver.h"

namespace fabric::ethtool {

// ETHTOOL_MSG_LINKSTATE_GET. No privilege. Linux before 6.2 refuses the request for the count of downs: then without.
Result<LinkStatus> get_link_status(Netlink& generic, const Family& family, const std::string& netdev);
LinkStatus parse_link_status(View8 payload);  // of the reply. Pure, as the other parsers here.

// ETHTOOL_MSG_FEC_GET with statistics. No privilege. EOPNOTSUPP where the driver has no FEC.
Result<FecStatus> get_fec_status(Netlink& generic, const Family& family, const std::string& netdev);
FecStatus parse_fec_status(View8 payload);

// ETHTOOL_MSG_MODULE_EEPROM_GET: one read over I2C by the firmware, some milliseconds. Needs CAP_NET_ADMIN (EPERM).
Result<Bytes> get_module_page(Netlink& generic, const Family& family, const std::string& netdev,
                              const eeprom::PageRequest& page);
// EBADMSG without data.
Result<Bytes> parse_module_page(View8 payload);

// Reads a port's module: those pages alone that its kind has, and of these the fixed ones once per module, as soon as
// they came whole and with the right checksums. Not thread-safe.
class ModuleReader {
 public:
  // The bytes come from outside the machine: state::decode_apart(), not eeprom::decode() in a process with privileges.
  using Decode = std::function<Result<Transceiver>(std::span<const eeprom::Page>)>;
  explicit ModuleReader(Decode decode) : decode_(std::move(decode)) {}

  // The error of the first page: EOPNOTSUPP where the driver or the kernel cannot read modules, EPERM without
  // CAP_NET_ADMIN, EIO, ENODEV, ETIMEDOUT ... with no module in the cage. Other pages that cannot be read are absent in
  // the result.
  Result<Transceiver> read(Netlink& generic, const Family& family, const std::string& netdev);

 private:
  struct Known {
    Bytes identity;                   // upper half of page 00h
    std::vector<eeprom::Page> fixed;  // of the module with that identity
  };
  Decode decode_;
  std::map<std::string, Known> known_;  // by netdev
};

}  // namespace fabric::ethtool
