// SPDX-License-Identifier: Apache-2.0
// SFP, SFP+, SFP28, SFP56: SFF-8472 12.4, clauses 5-8 (identity, I2C A0h = 0x50) and 9 (diagnostics, A2h = 0x51).
#include <bit>
#include <limits>

#include "wire/module_memory.h"

namespace fabric::eeprom {
namespace {

constexpr uint8_t kDiagnostics = 0x51;

// Byte 92 of A0h.
constexpr unsigned kDiagnosticType = 92, kImplemented = 6, kExternallyCalibrated = 4, kAddressChange = 2;
// Byte 65: signals implemented in hardware; byte 93: signals that the registers show.
constexpr unsigned kOptions = 65, kLosBit = 1, kFaultBit = 3;
constexpr unsigned kEnhanced = 93, kFlagsBit = 7, kSoftFaultBit = 5, kSoftLosBit = 4;

constexpr uint8_t kTwistedPair = 0x22;  // RJ45

// If A2h requires an address change sequence, the kernel's drivers read A0h instead.
bool has_diagnostics(const Registers& identity) {
  return identity.is_set(kDiagnosticType, kImplemented) &&
         !identity.bit(kDiagnosticType, kAddressChange).value_or(true);
}

std::vector<PageRequest> further_pages(std::span<const Page> first) {
  if (!has_diagnostics(Registers(first))) return {};  // `first` has the identity
  return {{.i2c_address = kDiagnostics}};
}

// A constant that was not read: Registers::value() returns nothing then.
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// External calibration (bytes 76-91). Slope: unsigned, with eight fractional bits; offset: signed, in raw units.
void calibrate(const Registers& diagnostics, unsigned at, RawScale& scale) {
  const auto slope = diagnostics.u16(at), offset = diagnostics.u16(at + 2);
  scale.curve[0] = kUnknown;
  if (slope && offset) scale.curve = {static_cast<double>(static_cast<int16_t>(*offset)), *slope / 256.0, 0, 0, 0};
}

// Bytes 112 (alarms) and 116 (warnings) have, from bit 7 down, the high and low flags of temperature, voltage, bias and
// transmit power. Bytes 113 and 117 have those of receive power.
std::optional<ModuleFlags> flags_at(const Registers& diagnostics, unsigned offset, unsigned high_bit) {
  const auto alarms = diagnostics.u8(112 + offset), warnings = diagnostics.u8(116 + offset);
  if (!alarms || !warnings) return std::nullopt;
  const auto on = [](unsigned byte, unsigned bit) { return (byte >> bit & 1) != 0; };
  return ModuleFlags{on(*alarms, high_bit), on(*alarms, high_bit - 1), on(*warnings, high_bit),
                     on(*warnings, high_bit - 1)};
}

Transceiver decode(std::span<const Page> pages) {
  const Registers identity(pages), diagnostics(pages, 0, kDiagnostics);
  Transceiver out;
  out.standard = "SFF-8472";

  out.vendor = identity.text(20, 16);
  out.oui = identity.oui(37);
  out.part_number = identity.text(40, 16);
  out.revision = identity.text(56, 4);
  out.serial_number = identity.text(68, 16);
  out.date = identity.text(84, 8);
  out.connector = connector_name(identity.u8(2).value_or(0));
  identity.check_sum(0, 62, 63, out);
  identity.check_sum(64, 94, 95, out);
  const auto cable = identity.u8(8);
  if (cable && identity.u8(2) != kTwistedPair) {
    const bool is_passive = (*cable & 4) != 0, is_active = (*cable & 8) != 0;
    out.medium = Medium::optical;
    if (is_passive) out.medium = Medium::passive_copper;
    // An active cable may also be optical, with "no separable connector". Only a copper cable has no laser to measure.
    // Byte 60 does not help: in a cable it has compliance codes instead of a wavelength.
    if (is_active && has_diagnostics(identity)) out.medium = Medium::optical;
    if (is_active && !has_diagnostics(identity)) out.medium = Medium::active_copper;
    const uint8_t length = identity.u8(18).value_or(0);  // meters of a cable, else the reach over OM4
    if ((is_passive || is_active) && length != 0) out.cable_length = length;
  }

  if (!has_diagnostics(identity)) return out;
  diagnostics.check_sum(0, 94, 95, out);
  const bool is_ready = diagnostics.bit(110, 0) == false;
  if (!is_ready || diagnostics.u16(98).value_or(0) == 0) return out;
  RawScale celsius = kCelsius, volts = kVolts, amperes = kAmperes, tx_watts = kWatts, rx_watts = kWatts;
  if (identity.is_set(kDiagnosticType, kExternallyCalibrated)) {
    // Receive power: five IEEE 754 coefficients, beginning with that of the fourth power (bytes 56-75).
    for (unsigned i = 0; i < 5; ++i) {
      const auto high = diagnostics.u16(56 + 4 * i), low = diagnostics.u16(58 + 4 * i);
      rx_watts.curve[4 - i] = kUnknown;
      if (high && low) rx_watts.curve[4 - i] = std::bit_cast<float>(uint32_t{*high} << 16 | *low);
    }
    calibrate(diagnostics, 76, amperes);
    calibrate(diagnostics, 80, tx_watts);
    calibrate(diagnostics, 84, celsius);
    calibrate(diagnostics, 88, volts);
  }
  out.temperature.value = diagnostics.value(96, celsius);
  out.voltage.value = diagnostics.value(98, volts);
  out.temperature_limits = diagnostics.limits(0, celsius);
  out.voltage_limits = diagnostics.limits(8, volts);
  const bool has_flags = identity.is_set(kEnhanced, kFlagsBit);
  if (has_flags) {
    out.temperature.flags = flags_at(diagnostics, 0, 7);
    out.voltage.flags = flags_at(diagnostics, 0, 5);
  }

  if (out.medium == Medium::optical) {  // copper has no laser and no light to measure
    out.tx_bias_limits = diagnostics.limits(16, amperes);
    out.tx_power_limits = diagnostics.limits(24, tx_watts);
    out.rx_power_limits = diagnostics.limits(32, rx_watts);
    ModuleLane lane{.number = 1};
    lane.tx_bias.value = diagnostics.value(100, amperes);
    lane.tx_power.value = diagnostics.value(102, tx_watts);
    lane.rx_power.value = diagnostics.value(104, rx_watts);
    if (has_flags) {
      lane.tx_bias.flags = flags_at(diagnostics, 0, 3);
      lane.tx_power.flags = flags_at(diagnostics, 0, 1);
      lane.rx_power.flags = flags_at(diagnostics, 1, 7);
    }
    if (identity.is_set(kOptions, kLosBit) && identity.is_set(kEnhanced, kSoftLosBit))
      lane.rx_los = diagnostics.bit(110, 1);
    if (identity.is_set(kOptions, kFaultBit) && identity.is_set(kEnhanced, kSoftFaultBit))
      lane.tx_fault = diagnostics.bit(110, 2);
    out.lanes.push_back(lane);
    drop_unmeasured(out);
  }
  if (diagnostics.u8(95)) drop_flags_without_limits(out);
  return out;
}

}  // namespace

const Standard kSff8472{further_pages, decode};

}  // namespace fabric::eeprom
