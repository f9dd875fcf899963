// SPDX-License-Identifier: Apache-2.0
// QSFP, QSFP+, QSFP28, QSFP56: SFF-8636 2.11, clauses 6.2 (lower memory), 6.3 (page 00h), 6.6 (page 03h).
#include "wire/eeprom_memory.h"

namespace fabric::eeprom {
namespace {

constexpr Space kThresholds{.page = 0x03};
constexpr unsigned kLanes = 4;

// 6.2: a lane's monitors, and its four flags: two lanes in a byte, the odd one (lane 1, 3) in the high nibble.
constexpr unsigned kRxPower = 34, kTxBias = 42, kTxPower = 50;
constexpr unsigned kRxPowerFlags = 9, kTxBiasFlags = 11, kTxPowerFlags = 13;

// 6.3, bytes 194 and 195: what the module implements; byte 220: what it measures.
constexpr unsigned kLockOptions = 194, kTxLolBit = 5, kRxLolBit = 4;
constexpr unsigned kOptions = 195, kTxFaultBit = 3, kTxLosBit = 1;
constexpr unsigned kMeasures = 220, kTxPowerBit = 2;

std::optional<ModuleFlags> lane_flags(const Memory& memory, unsigned at, unsigned lane) {
  const auto pair = memory.u8(kBase, at + lane / 2);
  if (!pair) return std::nullopt;
  return flags_of_nibble(lane % 2 == 0 ? *pair >> 4 : *pair & 15u);
}

ModuleLane lane_of(const Memory& memory, unsigned lane) {
  ModuleLane out;
  out.number = lane + 1;
  out.rx_power = {memory.value(kBase, kRxPower + 2 * lane, kWatts), lane_flags(memory, kRxPowerFlags, lane)};
  out.tx_bias = {memory.value(kBase, kTxBias + 2 * lane, kAmperes), lane_flags(memory, kTxBiasFlags, lane)};
  out.tx_power = {memory.value(kBase, kTxPower + 2 * lane, kWatts), lane_flags(memory, kTxPowerFlags, lane)};
  // Modules measure transmit power without saying so, but where they do not say so, nothing is not a reading.
  if (!memory.bit(kBase, kMeasures, kTxPowerBit).value_or(false) && out.tx_power.value == 0) out.tx_power = {};
  const auto flag = [&](unsigned options, unsigned option, unsigned at, unsigned bit) {
    return memory.bit(kBase, options, option).value_or(false) ? memory.bit(kBase, at, bit) : std::nullopt;
  };
  out.rx_los = memory.bit(kBase, 3, lane);
  out.rx_lol = flag(kLockOptions, kRxLolBit, 5, lane);
  out.tx_lol = flag(kLockOptions, kTxLolBit, 5, lane + 4);
  out.tx_los = flag(kOptions, kTxLosBit, 3, lane + 4);
  out.tx_fault = flag(kOptions, kTxFaultBit, 4, lane);
  return out;
}

void read_identity(const Memory& memory, Transceiver& out) {
  out.vendor = memory.text(kBase, 148, 16);
  out.oui = oui_text(memory, kBase, 165);
  out.part_number = memory.text(kBase, 168, 16);
  out.revision = memory.text(kBase, 184, 2);
  out.serial_number = memory.text(kBase, 196, 16);
  out.date = memory.text(kBase, 212, 8);
  out.connector = connector_name(memory.u8(kBase, 130).value_or(0));
  judge_sum(memory, kBase, 128, 190, 191, out);
  judge_sum(memory, kBase, 192, 222, 223, out);
  const auto technology = memory.u8(kBase, 147);
  if (!technology) return;
  read_technology(*technology >> 4, out);
  // Byte 146 is the length of a cable, but the reach over OM4 of a module with a connector.
  const uint8_t length = memory.u8(kBase, 146).value_or(0);
  const bool cable = *out.medium != Medium::optical || memory.u8(kBase, 130) == 0x23;
  if (cable && length != 0) out.cable_length = length;
}

void read_monitors(const Memory& memory, Transceiver& out) {
  out.temperature.value = memory.value(kBase, 22, kCelsius);
  out.voltage.value = memory.value(kBase, 26, kVolts);
  if (const auto flags = memory.u8(kBase, 6)) out.temperature.flags = flags_of_nibble(*flags >> 4);
  if (const auto flags = memory.u8(kBase, 7)) out.voltage.flags = flags_of_nibble(*flags >> 4);
  out.temperature_limits = memory.limits(kThresholds, 128, kCelsius);
  out.voltage_limits = memory.limits(kThresholds, 144, kVolts);
  if (out.medium != Medium::optical) return;  // no laser, and nothing to measure its light
  out.rx_power_limits = memory.limits(kThresholds, 176, kWatts);
  out.tx_bias_limits = memory.limits(kThresholds, 184, kAmperes);
  out.tx_power_limits = memory.limits(kThresholds, 192, kWatts);
  for (unsigned lane = 0; lane < kLanes; ++lane) out.lanes.push_back(lane_of(memory, lane));
  drop_unmeasured(out);
}

std::vector<Place> places(const Memory& lower) {
  std::vector<Place> out{{.offset = 128}};
  const bool flat = lower.bit(kBase, 2, 2).value_or(true);
  if (!flat) out.push_back({.page = 0x03, .offset = 128, .fixed = true});
  return out;
}

Transceiver decode(const Memory& memory) {
  Transceiver out;
  out.standard = "SFF-8636";
  read_identity(memory, out);
  // A module that measures 0 V for its own supply does not measure, nor does a memory chip left at all ones, as in
  // cables of copper; byte 2, bit 0: it has not measured yet.
  const bool ready = memory.bit(kBase, 2, 0) == false;
  const unsigned supply = memory.u16(kBase, 26).value_or(0);
  const bool measures = supply != 0 && supply != 0xffff;
  if (ready && measures) read_monitors(memory, out);
  if (memory.u8(kThresholds, 199)) drop_flags_without_limits(out);
  return out;
}

}  // namespace

const Standard kSff8636{places, decode};

}  // namespace fabric::eeprom
