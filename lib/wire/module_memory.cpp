// SPDX-License-Identifier: Apache-2.0
#include "wire/module_memory.h"

#include <cmath>

#include "base/find.h"
#include "base/parse.h"

namespace fabric::eeprom {
namespace {

struct Connector {
  uint8_t code;
  std::string_view name;
};
constexpr Connector kConnectors[] = {{0x01, "SC"},
                                     {0x07, "LC"},
                                     {0x0b, "optical pigtail"},
                                     {0x0c, "MPO 1x12"},
                                     {0x0d, "MPO 2x16"},
                                     {0x20, "HSSDC II"},
                                     {0x21, "copper pigtail"},
                                     {0x22, "RJ45"},
                                     {0x23, "no separable connector"},
                                     {0x24, "MXC 2x16"},
                                     {0x25, "CS"},
                                     {0x26, "SN"},
                                     {0x27, "MPO 2x12"},
                                     {0x28, "MPO 1x16"}};

struct Technology {
  std::string_view name;
  Medium medium;
};
// The index is the code.
constexpr Technology kTechnologies[] = {
    {"850 nm VCSEL", Medium::optical},
    {"1310 nm VCSEL", Medium::optical},
    {"1550 nm VCSEL", Medium::optical},
    {"1310 nm FP", Medium::optical},
    {"1310 nm DFB", Medium::optical},
    {"1550 nm DFB", Medium::optical},
    {"1310 nm EML", Medium::optical},
    {"1550 nm EML", Medium::optical},
    {"other", Medium::optical},
    {"1490 nm DFB", Medium::optical},
    {"copper, unequalized", Medium::passive_copper},
    {"copper, passive equalized", Medium::passive_copper},
    {"copper, near and far end limiting equalizers", Medium::active_copper},
    {"copper, far end limiting equalizers", Medium::active_copper},
    {"copper, near end limiting equalizers", Medium::active_copper},
    {"copper, linear equalizers", Medium::active_copper},
    {"C-band tunable laser", Medium::optical},
    {"L-band tunable laser", Medium::optical},
    {"copper, near and far end linear equalizers", Medium::active_copper},
    {"copper, far end linear equalizers", Medium::active_copper},
    {"copper, near end linear equalizers", Medium::active_copper},
};

}  // namespace

std::optional<uint8_t> Registers::u8(unsigned at) const {
  for (const Page& page : pages_) {
    const PageRequest& read = page.request;
    if (read.i2c_address != i2c_address_ || read.page != page_ || read.bank != 0) continue;
    if (at >= read.offset && at - read.offset < page.data.size())
      return std::to_integer<uint8_t>(page.data[at - read.offset]);
  }
  return std::nullopt;
}

std::optional<uint16_t> Registers::u16(unsigned at) const {
  const auto high = u8(at), low = u8(at + 1);
  if (!high || !low) return std::nullopt;
  return static_cast<uint16_t>(*high << 8 | *low);
}

std::optional<bool> Registers::bit(unsigned at, unsigned bit) const {
  const auto byte = u8(at);
  if (!byte) return std::nullopt;
  return (*byte >> bit & 1) != 0;
}

std::string Registers::text(unsigned at, unsigned length) const {
  std::string out;
  for (unsigned i = 0; i < length; ++i) {
    const uint8_t byte = u8(at + i).value_or(0);
    if (byte >= ' ' && byte <= '~') out.push_back(static_cast<char>(byte));
  }
  return std::string(trim(out));
}

std::string Registers::oui(unsigned at) const {
  std::string bytes;
  for (unsigned i = 0; i < 3; ++i) bytes += static_cast<char>(u8(at + i).value_or(0));
  if (bytes == std::string(3, '\0')) return {};
  return hex_digits(bytes, ":");
}

std::optional<double> Registers::value(unsigned at, const RawScale& scale) const {
  const auto raw = u16(at);
  if (!raw) return std::nullopt;
  double x = *raw;
  if (scale.is_signed) x = static_cast<int16_t>(*raw);
  double sum = 0;
  for (size_t i = scale.curve.size(); i-- > 0;) sum = sum * x + scale.curve[i];
  if (!std::isfinite(sum)) return std::nullopt;
  return sum / scale.divisor;
}

ModuleLimits Registers::limits(unsigned at, const RawScale& scale) const {
  ModuleLimits out{value(at, scale), value(at + 2, scale), value(at + 4, scale), value(at + 6, scale)};
  // Limits were never set if the upper one is not above the lower one.
  for (auto [high, low] : {std::pair{&out.high_alarm, &out.low_alarm}, {&out.high_warning, &out.low_warning}})
    if (!*high || !*low || **high <= **low) *high = *low = std::nullopt;
  return out;
}

void Registers::check_sum(unsigned first, unsigned last, unsigned check, Transceiver& out) const {
  unsigned sum = 0;
  for (unsigned at = first; at <= last; ++at) {
    const auto byte = u8(at);
    if (!byte) return;
    sum += *byte;
  }
  const auto expected = u8(check);
  if (!expected) return;
  if ((sum & 0xff) == *expected) {
    out.checksum_matched = true;
    return;
  }
  std::string range = "page " + hex_byte(page_) + "h bytes " + std::to_string(first) + "-" + std::to_string(last);
  if (i2c_address_ != PageRequest{}.i2c_address) range.insert(0, "diagnostics ");
  out.bad_checksums.push_back(std::move(range));
}

std::string hex_byte(uint8_t value) { return hex_digits(std::string(1, static_cast<char>(value))); }

std::string_view connector_name(uint8_t code) {
  const Connector* row = find_where(kConnectors, [=](const Connector& each) { return each.code == code; });
  if (row == nullptr) return {};
  return row->name;
}

void read_technology(uint8_t code, Transceiver& out) {
  if (code >= std::size(kTechnologies)) return;
  out.technology = kTechnologies[code].name;
  out.medium = kTechnologies[code].medium;
}

void drop_flags_without_limits(Transceiver& out) {
  const auto drop = [](ModuleReading& reading, const ModuleLimits& limits) {
    if (!reading.flags) return;
    if (!limits.high_alarm) reading.flags->high_alarm = reading.flags->low_alarm = false;
    if (!limits.high_warning) reading.flags->high_warning = reading.flags->low_warning = false;
  };
  drop(out.temperature, out.temperature_limits);
  drop(out.voltage, out.voltage_limits);
  for (ModuleLane& lane : out.lanes) {
    drop(lane.rx_power, out.rx_power_limits);
    drop(lane.tx_power, out.tx_power_limits);
    drop(lane.tx_bias, out.tx_bias_limits);
  }
}

void drop_unmeasured(Transceiver& out) {
  const auto is_zero = [&](ModuleReading ModuleLane::*reading) {
    for (const ModuleLane& lane : out.lanes)
      if ((lane.*reading).value.value_or(0) != 0) return false;
    return true;
  };
  const bool has_signal = std::ranges::any_of(out.lanes, [](const ModuleLane& lane) { return lane.rx_los == false; });
  if (!has_signal || !is_zero(&ModuleLane::rx_power)) return;
  for (const auto& [reading, limits] : {std::pair{&ModuleLane::rx_power, &Transceiver::rx_power_limits},
                                        {&ModuleLane::tx_power, &Transceiver::tx_power_limits},
                                        {&ModuleLane::tx_bias, &Transceiver::tx_bias_limits}}) {
    if (!is_zero(reading)) continue;
    for (ModuleLane& lane : out.lanes) lane.*reading = {};
    out.*limits = {};
  }
}

}  // namespace fabric::eeprom
