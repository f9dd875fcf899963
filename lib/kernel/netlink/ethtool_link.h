// SPDX-License-Identifier: Apache-2.0
// The link's health by ethtool netlink, read only: the reason for link down, FEC, and the module's memory
// (linux/ethtool_netlink.h; net/ethtool/linkstate.c, fec.c, eeprom.c of Linux 6.12).
#pragma once

#include "kernel/netlink/ethtool.h"
#include "wire/eeprom.h"
#include "wire/transceiver.h"

namespace fabric::ethtool {

// ETHTOOL_MSG_LINKSTATE_GET. Needs no privilege. Linux before 6.2 refuses the request for the number of link
// downs, which is absent then.
Result<LinkStatus> get_link_status(Netlink& generic, const Family& family, const std::string& netdev);
LinkStatus parse_link_status(View8 payload);  // of the reply; no I/O, as in the other parsers here

// ETHTOOL_MSG_FEC_GET with statistics. Needs no privilege. EOPNOTSUPP: the driver has no FEC.
Result<FecStatus> get_fec_status(Netlink& generic, const Family& family, const std::string& netdev);
FecStatus parse_fec_status(View8 payload);

// Parses an ETHTOOL_MSG_MODULE_EEPROM_GET reply. EBADMSG: it has no data.
Result<Bytes> parse_module_page(View8 payload);

// Reads the pages of a port's module that its kind has. Fixed pages are read once per module, as soon as they were
// complete and had the right checksums. Not thread-safe.
class ModuleReader {
 public:
  // The bytes come from outside the machine: a privileged process uses state::decode_apart(), not eeprom::decode().
  using Decode = std::function<Result<Transceiver>(std::span<const eeprom::Page>)>;
  explicit ModuleReader(Decode decode) : decode_(std::move(decode)) {}

  // Errors are those of the first page: EOPNOTSUPP: the driver or the kernel cannot read modules; EPERM: no
  // CAP_NET_ADMIN; EIO, ENODEV, ETIMEDOUT and others: no module in the cage. The result lacks other pages that cannot
  // be read.
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
