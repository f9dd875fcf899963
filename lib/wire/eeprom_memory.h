// SPDX-License-Identifier: Apache-2.0
// Module memory as a map of bytes, and what the standards have in common. For the eeprom*.cpp files only.
#pragma once

#include <array>

#include "wire/eeprom.h"

namespace fabric::eeprom {

// One page of one I2C address. The lower half (bytes 0-127) is the same on all pages and is part of page 0.
struct Space {
  uint8_t i2c_address = 0x50;
  uint8_t page = 0;
};
inline constexpr Space kBase{};

// Raw number -> base unit: a polynomial (SFF-8472's external calibration; else the number itself) over a divisor.
struct Unit {
  double divisor = 1;
  bool is_signed = false;
  std::array<double, 5> curve{0, 1, 0, 0, 0};  // of x^0, x^1, ...
};
inline constexpr Unit kCelsius{256, true}, kVolts{1e4}, kAmperes{5e5}, kWatts{1e7};  // 100 uV, 2 uA, 0.1 uW

// Reads are big-endian, and absent where the page was not read that far.
class Memory {
 public:
  explicit Memory(std::span<const Page> pages) : pages_(pages) {}

  [[nodiscard]] std::optional<uint8_t> u8(Space space, unsigned at) const;
  [[nodiscard]] std::optional<uint16_t> u16(Space space, unsigned at) const;
  [[nodiscard]] std::optional<bool> bit(Space space, unsigned at, unsigned bit) const;
  // Printable ASCII without the blanks around it.
  [[nodiscard]] std::string text(Space space, unsigned at, unsigned length) const;
  [[nodiscard]] std::optional<double> value(Space space, unsigned at, const Unit& unit) const;
  // Four numbers: high alarm, low alarm, high warning, low warning; all standards have this order.
  [[nodiscard]] ModuleLimits limits(Space space, unsigned at, const Unit& unit) const;
  // Whether the low eight bits of the sum of bytes first..last stand in byte `check`.
  [[nodiscard]] std::optional<bool> sum_matches(Space space, unsigned first, unsigned last, unsigned check) const;

 private:
  std::span<const Page> pages_;
};

std::string hex_byte(uint8_t value);  // "0a"
// "00:1c:73"; empty for 00:00:00.
std::string oui_text(const Memory& memory, Space space, unsigned at);
// Adds the range to bad_checksums when it is there whole and wrong.
void judge_sum(const Memory& memory, Space space, unsigned first, unsigned last, unsigned check, Transceiver& out);

// Bits 3..0: high alarm, low alarm, high warning, low warning (SFF-8636's and SFF-8472's order).
ModuleFlags flags_of_nibble(unsigned nibble);

std::string_view connector_name(uint8_t code);  // SFF-8024 table 4-3
// SFF-8636 6.3 (byte 147, high nibble), CMIS 5.2 8.3 (byte 212). Absent for a code that is not there yet.
void read_technology(uint8_t code, Transceiver& out);

// For a module whose limits were read: limits that were never set (all zero) raise the flags of every reading.
void drop_flags_without_limits(Transceiver& out);
// A module that reports no light on all lanes but a signal on some does not measure light (active optical cables).
// SFF-8636 and SFF-8472 have no other flag for this. Other values that are zero on all lanes are not measured either.
void drop_unmeasured(Transceiver& out);

struct Standard {
  std::vector<Place> (*places)(const Memory& lower);
  Transceiver (*decode)(const Memory& memory);
};
extern const Standard kSff8472, kSff8636, kCmis;

}  // namespace fabric::eeprom
