// SPDX-License-Identifier: Apache-2.0
// The memory of cables and optical modules: which pages to read, and what they say. Pure functions over bytes; who
// reads them from the module is ethtool_link.h. Sources: SFF-8024 4.11 (codes), SFF-8472 12.4 (SFP), SFF-8636 2.11
// (QSFP), OIF-CMIS 5.0 (QSFP-DD, OSFP, SFP-DD); offsets held against ethtool 6.x (cmis.h, qsfp.h, sfpdiag.c).
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "wire/transceiver.h"

namespace fabric::eeprom {

// A stretch of module memory that one request can read: at most 128 bytes, all in one half (0-127 or 128-255), and a
// page other than 0 in the upper half alone (net/ethtool/eeprom.c of Linux 6.12).
struct PageRequest {
  uint8_t i2c_address = 0x50;
  uint8_t bank = 0;
  uint8_t page = 0;
  uint8_t offset = 0;
  uint8_t length = 128;
  bool fixed = false;  // says the same as long as page 00h does, that is, the same module is plugged: read it once
  bool operator==(const PageRequest&) const = default;
};

struct Page {
  PageRequest request;
  Bytes data;  // may be shorter than request.length; missing bytes are absent in the result
};

// The first page to read of every module; it lists the others.
inline constexpr PageRequest kFirstPage{};
// The other pages that this module has and decode() uses, given the bytes of kFirstPage. Empty when the identifier is
// unknown. Lanes beyond the eighth (banks other than 0) are not read.
std::vector<PageRequest> further_pages(View8 first);

// What the pages say; those missing or cut short cost the values in them. EBADMSG when the identifier is not there,
// EOPNOTSUPP when it is of none of the standards above.
Result<Transceiver> decode(std::span<const Page> pages);

}  // namespace fabric::eeprom
