// SPDX-License-Identifier: Apache-2.0
// Module memory as registers, and the parts that the standards share. Only for the decoders of this folder.
#pragma once

#include <array>

#include "wire/eeprom.h"

namespace fabric::eeprom {

// Converts a raw number to the base unit: a polynomial, which is the number itself except for SFF-8472's external
// calibration, over a divisor.
struct RawScale {
  double divisor = 1;
  bool is_signed = false;
  std::array<double, 5> curve{0, 1, 0, 0, 0};  // of x^0, x^1, ...
};
inline constexpr RawScale kCelsius{256, true}, kVolts{1e4}, kAmperes{5e5}, kWatts{1e7};  // 100 uV, 2 uA, 0.1 uW

// The registers of one page of one I2C address. The lower half (bytes 0-127) is the same on all pages and is part of
// page 00h. Numbers are big-endian, and absent if a byte of them was not read.
class Registers {
 public:
  explicit Registers(std::span<const Page> pages, uint8_t page = 0, uint8_t i2c_address = 0x50)
      : pages_(pages), page_(page), i2c_address_(i2c_address) {}

  [[nodiscard]] std::optional<uint8_t> u8(unsigned at) const;
  [[nodiscard]] std::optional<uint16_t> u16(unsigned at) const;
  [[nodiscard]] std::optional<bool> bit(unsigned at, unsigned bit) const;
  [[nodiscard]] bool is_set(unsigned at, unsigned bit) const { return this->bit(at, bit).value_or(false); }
  // The printable ASCII characters, trimmed.
  [[nodiscard]] std::string text(unsigned at, unsigned length) const;
  // Three bytes, "00:1c:73"; empty for 00:00:00.
  [[nodiscard]] std::string oui(unsigned at) const;
  [[nodiscard]] std::optional<double> value(unsigned at, const RawScale& scale) const;
  // Four numbers: high alarm, low alarm, high warning, low warning; all standards have this order.
  [[nodiscard]] ModuleLimits limits(unsigned at, const RawScale& scale) const;
  // Compares the low eight bits of the sum of bytes first..last with byte `check`, if all were read. Adds the range to
  // bad_checksums if they differ.
  void check_sum(unsigned first, unsigned last, unsigned check, Transceiver& out) const;

 private:
  std::span<const Page> pages_;
  uint8_t page_, i2c_address_;
};

std::string hex_byte(uint8_t value);  // "0a"

std::string_view connector_name(uint8_t code);  // SFF-8024 table 4-3
// Sets technology and medium. SFF-8636 6.3 (byte 147, high nibble), CMIS 5.2 8.3 (byte 212). Ignores unknown codes.
void read_technology(uint8_t code, Transceiver& out);

// Clears flags of readings that have no limits: limits that were never set (all zero) raise the flags of every reading.
// Call it only if the limits were read.
void drop_flags_without_limits(Transceiver& out);
// Removes readings that the module does not measure. A module that reports no light on all lanes but a signal on some
// does not measure light (active optical cables); SFF-8636 and SFF-8472 have no other flag for this. Other values that
// are zero on all its lanes are not measured either.
void drop_unmeasured(Transceiver& out);

// Each standard has one file. further_pages() has the pages after kFirstPage, as far as those that were `read` show
// them; with more pages read, it may only grow at its end.
struct Standard {
  std::vector<PageRequest> (*further_pages)(std::span<const Page> read);
  Transceiver (*decode)(std::span<const Page> pages);
};
extern const Standard kSff8472, kSff8636, kCmis;

}  // namespace fabric::eeprom
