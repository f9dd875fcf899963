// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/test.h"
#include "wire/eeprom.h"

namespace fabric::test {

// The whole memory of a module.
class ModuleImage {
 public:
  uint8_t& at(unsigned page, unsigned offset, unsigned i2c = 0x50) {
    if (offset < 128) page = 0;
    auto& half = halves_[{i2c, page, offset / 128}];
    half.resize(128);
    return reinterpret_cast<uint8_t&>(half[offset % 128]);
  }
  void put16(unsigned page, unsigned offset, unsigned value, unsigned i2c = 0x50) {
    at(page, offset, i2c) = static_cast<uint8_t>(value >> 8);
    at(page, offset + 1, i2c) = static_cast<uint8_t>(value);
  }
  void put32(unsigned page, unsigned offset, uint32_t value, unsigned i2c) {
    put16(page, offset, value >> 16, i2c);
    put16(page, offset + 2, value & 0xffff, i2c);
  }
  void text(unsigned page, unsigned offset, const std::string& value) {
    for (char c : value) at(page, offset++) = static_cast<uint8_t>(c);
  }
  // Writes the check byte over first..last.
  void seal(unsigned page, unsigned first, unsigned last, unsigned i2c = 0x50) {
    unsigned sum = 0;
    for (unsigned i = first; i <= last; ++i) sum += at(page, i, i2c);
    at(page, last + 1, i2c) = static_cast<uint8_t>(sum);
  }
  [[nodiscard]] std::optional<eeprom::Page> read(const eeprom::PageRequest& request) const {
    auto half = halves_.find({request.i2c_address, request.page, request.offset / 128u});
    if (half == halves_.end()) return std::nullopt;
    const auto first = half->second.begin() + request.offset % 128;
    return eeprom::Page{request, Bytes(first, first + request.length)};
  }
  // The pages that a reader gets.
  [[nodiscard]] std::vector<eeprom::Page> pages() const {
    return eeprom::read_pages([&](const eeprom::PageRequest& request) {
      auto page = read(request);
      EXPECT_TRUE(page) << "asked for page " << +request.page << " which the module does not have";
      return page ? std::move(page->data) : Bytes{};
    });
  }
  [[nodiscard]] Transceiver decoded() const {
    auto module = eeprom::decode(pages());
    EXPECT_TRUE(module.ok()) << module.error().text();
    return module.ok() ? std::move(module).value() : Transceiver{};
  }

 private:
  std::map<std::array<unsigned, 3>, Bytes> halves_;
};

}  // namespace fabric::test
