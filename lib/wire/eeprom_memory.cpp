// SPDX-License-Identifier: Apache-2.0
#include "wire/eeprom_memory.h"

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
constexpr Technology kTechnologies[] = {
    // by code
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

std::optional<uint8_t> Memory::u8(Space space, unsigned at) const {
  for (const Page& page : pages_) {
    const Place& place = page.place;
    if (place.i2c_address != space.i2c_address || place.page != space.page || place.bank != 0) continue;
    if (at >= place.offset && at - place.offset < page.data.size())
      return std::to_integer<uint8_t>(page.data[at - place.offset]);
  }
  return std::nullopt;
}

std::optional<uint16_t> Memory::u16(Space space, unsigned at) const {
  const auto high = u8(space, at), low = u8(space, at + 1);
  if (!high || !low) return std::nullopt;
  return static_cast<uint16_t>(*high << 8 | *low);
}

std::optional<bool> Memory::bit(Space space, unsigned at, unsigned bit) const {
  const auto byte = u8(space, at);
  if (!byte) return std::nullopt;
  return (*byte >> bit & 1) != 0;
}

std::string Memory::text(Space space, unsigned at, unsigned length) const {
  std::string out;
  for (unsigned i = 0; i < length; ++i) {
    const uint8_t byte = u8(space, at + i).value_or(0);
    if (byte >= ' ' && byte <= '~') out.push_back(static_cast<char>(byte));
  }
  return std::string(trim(out));
}

std::optional<double> Memory::value(Space space, unsigned at, const Unit& unit) const {
  const auto raw = u16(space, at);
  if (!raw) return std::nullopt;
  const double x = unit.is_signed ? static_cast<double>(static_cast<int16_t>(*raw)) : static_cast<double>(*raw);
  double sum = 0;
  for (size_t i = unit.curve.size(); i-- > 0;) sum = sum * x + unit.curve[i];
  if (!std::isfinite(sum)) return std::nullopt;
  return sum / unit.divisor;
}

ModuleLimits Memory::limits(Space space, unsigned at, const Unit& unit) const {
  ModuleLimits out{value(space, at, unit), value(space, at + 2, unit), value(space, at + 4, unit),
                   value(space, at + 6, unit)};
  // Limits of which the upper does not lie above the lower were never set.
  for (auto [high, low] : {std::pair{&out.high_alarm, &out.low_alarm}, {&out.high_warning, &out.low_warning}})
    if (!*high || !*low || **high <= **low) *high = *low = std::nullopt;
  return out;
}

std::optional<bool> Memory::sum_matches(Space space, unsigned first, unsigned last, unsigned check) const {
  unsigned sum = 0;
  for (unsigned at = first; at <= last; ++at) {
    const auto byte = u8(space, at);
    if (!byte) return std::nullopt;
    sum += *byte;
  }
  const auto wanted = u8(space, check);
  if (!wanted) return std::nullopt;
  return (sum & 0xff) == *wanted;
}

std::string hex_byte(uint8_t value) { return hex_digits(std::string(1, static_cast<char>(value))); }

std::string oui_text(const Memory& memory, Space space, unsigned at) {
  std::string bytes;
  for (unsigned i = 0; i < 3; ++i) bytes += static_cast<char>(memory.u8(space, at + i).value_or(0));
  return bytes == std::string(3, '\0') ? "" : hex_digits(bytes, ":");
}

void judge_sum(const Memory& memory, Space space, unsigned first, unsigned last, unsigned check, Transceiver& out) {
  const auto matches = memory.sum_matches(space, first, last, check);
  if (!matches) return;
  out.checksum_matched = out.checksum_matched || *matches;
  if (*matches) return;
  const std::string where = space.i2c_address == kBase.i2c_address ? "page " : "diagnostics page ";
  out.bad_checksums.push_back(where + hex_byte(space.page) + "h bytes " + std::to_string(first) + "-" +
                              std::to_string(last));
}

ModuleFlags flags_of_nibble(unsigned nibble) {
  return {(nibble & 8) != 0, (nibble & 4) != 0, (nibble & 2) != 0, (nibble & 1) != 0};
}

std::string_view connector_name(uint8_t code) {
  const Connector* row = find_where(kConnectors, [=](const Connector& each) { return each.code == code; });
  return row == nullptr ? "" : row->name;
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
  const auto reads_nothing = [&](ModuleReading ModuleLane::*reading) {
    return std::ranges::all_of(out.lanes,
                               [&](const ModuleLane& lane) { return (lane.*reading).value.value_or(0) == 0; });
  };
  const bool hears = std::ranges::any_of(out.lanes, [](const ModuleLane& lane) { return lane.rx_los == false; });
  if (!hears || !reads_nothing(&ModuleLane::rx_power)) return;
  for (const auto& [reading, limits] : {std::pair{&ModuleLane::rx_power, &Transceiver::rx_power_limits},
                                        {&ModuleLane::tx_power, &Transceiver::tx_power_limits},
                                        {&ModuleLane::tx_bias, &Transceiver::tx_bias_limits}}) {
    if (!reads_nothing(reading)) continue;
    for (ModuleLane& lane : out.lanes) lane.*reading = {};
    out.*limits = {};
  }
}

}  // namespace fabric::eeprom
