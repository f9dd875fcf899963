// SPDX-License-Identifier: Apache-2.0
// QSFP, QSFP+, QSFP28, QSFP56: SFF-8636 2.11, clauses 6.2 (lower memory), 6.3 (page 00h), 6.6 (page 03h).
#include "wire/module_memory.h"

namespace fabric::eeprom {
namespace {

constexpr uint8_t kThresholds = 0x03;
constexpr unsigned kLanes = 4;

// 6.3, bytes 194 and 195: the signals that the module implements; byte 220: the values that it measures.
constexpr unsigned kLockOptions = 194, kTxLolBit = 5, kRxLolBit = 4;
constexpr unsigned kOptions = 195, kTxFaultBit = 3, kTxLosBit = 1;
constexpr unsigned kMeasures = 220, kTxPowerBit = 2;

std::vector<PageRequest> further_pages(std::span<const Page> first) {
  std::vector<PageRequest> out{{.offset = 128}};
  const bool flat = Registers(first).bit(2, 2).value_or(true);
  if (!flat) out.push_back({.page = kThresholds, .offset = 128, .fixed = true});
  return out;
}

// 6.2, bits 3..0: high alarm, low alarm, high warning, low warning.
ModuleFlags flags_of_nibble(unsigned nibble) {
  return {(nibble & 8) != 0, (nibble & 4) != 0, (nibble & 2) != 0, (nibble & 1) != 0};
}

// 6.2: the four flags of a lane. Each byte has two lanes, the odd one (lane 1, 3) in the high nibble. `lane` is from 0.
std::optional<ModuleFlags> lane_flags(const Registers& base, unsigned at, unsigned lane) {
  const auto pair = base.u8(at + lane / 2);
  if (!pair) return std::nullopt;
  if (lane % 2 == 0) return flags_of_nibble(*pair >> 4);
  return flags_of_nibble(*pair & 15u);
}

Transceiver decode(std::span<const Page> pages) {
  const Registers base(pages), thresholds(pages, kThresholds);
  Transceiver out;
  out.standard = "SFF-8636";

  out.vendor = base.text(148, 16);
  out.oui = base.oui(165);
  out.part_number = base.text(168, 16);
  out.revision = base.text(184, 2);
  out.serial_number = base.text(196, 16);
  out.date = base.text(212, 8);
  out.connector = connector_name(base.u8(130).value_or(0));
  base.check_sum(128, 190, 191, out);
  base.check_sum(192, 222, 223, out);
  if (const auto technology = base.u8(147)) {
    read_technology(*technology >> 4, out);
    // Byte 146 is the length of a cable, but the reach over OM4 of a module with a connector.
    const uint8_t length = base.u8(146).value_or(0);
    const bool is_cable = out.medium != Medium::optical || base.u8(130) == 0x23;
    if (is_cable && length != 0) out.cable_length = length;
  }

  // A module whose own supply reads 0 V or all ones does not measure: copper cables have a memory chip in its initial
  // state. Byte 2, bit 0: the module has not measured yet.
  const bool is_ready = base.bit(2, 0) == false;
  const unsigned supply = base.u16(26).value_or(0);
  if (!is_ready || supply == 0 || supply == 0xffff) return out;
  out.temperature.value = base.value(22, kCelsius);
  out.voltage.value = base.value(26, kVolts);
  if (const auto flags = base.u8(6)) out.temperature.flags = flags_of_nibble(*flags >> 4);
  if (const auto flags = base.u8(7)) out.voltage.flags = flags_of_nibble(*flags >> 4);
  out.temperature_limits = thresholds.limits(128, kCelsius);
  out.voltage_limits = thresholds.limits(144, kVolts);

  if (out.medium == Medium::optical) {  // copper has no laser and no light to measure
    out.rx_power_limits = thresholds.limits(176, kWatts);
    out.tx_bias_limits = thresholds.limits(184, kAmperes);
    out.tx_power_limits = thresholds.limits(192, kWatts);
    for (unsigned i = 0; i < kLanes; ++i) {
      ModuleLane lane{.number = i + 1};
      lane.rx_power = {base.value(34 + 2 * i, kWatts), lane_flags(base, 9, i)};
      lane.tx_bias = {base.value(42 + 2 * i, kAmperes), lane_flags(base, 11, i)};
      lane.tx_power = {base.value(50 + 2 * i, kWatts), lane_flags(base, 13, i)};
      // Some modules measure transmit power without setting the bit. Without the bit, zero is not a reading.
      if (!base.is_set(kMeasures, kTxPowerBit) && lane.tx_power.value == 0) lane.tx_power = {};
      lane.rx_los = base.bit(3, i);
      if (base.is_set(kLockOptions, kRxLolBit)) lane.rx_lol = base.bit(5, i);
      if (base.is_set(kLockOptions, kTxLolBit)) lane.tx_lol = base.bit(5, i + 4);
      if (base.is_set(kOptions, kTxLosBit)) lane.tx_los = base.bit(3, i + 4);
      if (base.is_set(kOptions, kTxFaultBit)) lane.tx_fault = base.bit(4, i);
      out.lanes.push_back(lane);
    }
    drop_unmeasured(out);
  }
  if (thresholds.u8(199)) drop_flags_without_limits(out);
  return out;
}

}  // namespace

const Standard kSff8636{further_pages, decode};

}  // namespace fabric::eeprom
