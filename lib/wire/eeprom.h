// SPDX-License-Identifier: Apache-2.0
// The memory of cables and optical modules: selects the pages to read and decodes them. Pure functions over bytes;
// ethtool_link.h reads the bytes. Sources: SFF-8024 4.11 (codes), SFF-8472 12.4 (SFP), SFF-8636 2.11 (QSFP),
// OIF-CMIS 5.0 (QSFP-DD, OSFP, SFP-DD); offsets compared with ethtool 6.x (cmis.h, qsfp.h, sfpdiag.c).
#pragma once

#include <functional>

#include "base/bytes.h"
#include "base/result.h"
#include "wire/transceiver.h"

namespace fabric::eeprom {

// A part of module memory that one request can read: at most 128 bytes, within one half (0-127 or 128-255). Only the
// upper half has pages other than 0 (net/ethtool/eeprom.c of Linux 6.12).
struct PageRequest {
  uint8_t i2c_address = 0x50;
  uint8_t bank = 0;
  uint8_t page = 0;
  uint8_t offset = 0;
  uint8_t length = 128;
  bool fixed = false;  // constant while page 00h is, that is, while the same module is plugged in: needs one reading
  bool operator==(const PageRequest&) const = default;
};

struct Page {
  PageRequest request;
  Bytes data;  // may be shorter than request.length; the values in missing bytes are absent
};

// The page to read first from every module: it shows which other pages exist.
inline constexpr PageRequest kFirstPage{};
// Reads the pages that the module has and decode() uses, kFirstPage first, because each one may show that further ones
// exist. `read` returns the bytes of a page; empty: it could not be read, and the values in it are absent. Reads no
// other page if the identifier is unknown, nor lanes beyond the eighth (banks other than 0). Never writes.
std::vector<Page> read_pages(const std::function<Bytes(const PageRequest&)>& read);

// Decodes the pages. Values in missing or short pages are absent. EBADMSG if the identifier is missing, EOPNOTSUPP if
// it belongs to none of the standards above.
Result<Transceiver> decode(std::span<const Page> pages);

}  // namespace fabric::eeprom
