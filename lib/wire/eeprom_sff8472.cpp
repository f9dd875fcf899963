// SPDX-License-Identifier: Apache-2.0
// SFP, SFP+, SFP28, SFP56: SFF-8472 12.4, clauses 5-8 (identity, I2C A0h = 0x50) and 9 (diagnostics, A2h = 0x51).
#include <bit>
#include <limits>

#include "wire/eeprom_memory.h"

namespace fabric::eeprom {
namespace {

constexpr Space kDiagnostics{.i2c_address = 0x51};

// Byte 92 of A0h.
constexpr unsigned kDiagnosticType = 92, kImplemented = 6, kExternallyCalibrated = 4, kAddressChange = 2;
// Byte 65: what it implements in hardware; byte 93: what its registers show.
constexpr unsigned kOptions = 65, kLosBit = 1, kFaultBit = 3;
constexpr unsigned kEnhanced = 93, kFlagsBit = 7, kSoftFaultBit = 5, kSoftLosBit = 4;

constexpr uint8_t kTwistedPair = 0x22;  // RJ45

bool has_diagnostics(const Memory& memory) {
  // Where A2h needs an address change sequence, the kernel's drivers read A0h once more instead.
  return memory.bit(kBase, kDiagnosticType, kImplemented).value_or(false) &&
         !memory.bit(kBase, kDiagnosticType, kAddressChange).value_or(true);
}

struct Units {
  Unit celsius = kCelsius, volts = kVolts, amperes = kAmperes, tx_watts = kWatts, rx_watts = kWatts;
};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // a constant not read: no value comes of it

// Slope: unsigned, eight bits after the point; offset: signed, in raw units (bytes 76-91).
void calibrate_linear(const Memory& memory, unsigned at, Unit& unit) {
  const auto slope = memory.u16(kDiagnostics, at), offset = memory.u16(kDiagnostics, at + 2);
  if (!slope || !offset) {
    unit.curve[0] = kUnknown;
    return;
  }
  unit.curve = {static_cast<double>(static_cast<int16_t>(*offset)), *slope / 256.0, 0, 0, 0};
}

// Receive power: five IEEE 754 numbers, that of the fourth power first (bytes 56-75).
void calibrate_rx(const Memory& memory, Unit& unit) {
  for (unsigned i = 0; i < 5; ++i) {
    const auto high = memory.u16(kDiagnostics, 56 + 4 * i), low = memory.u16(kDiagnostics, 58 + 4 * i);
    unit.curve[4 - i] = high && low ? std::bit_cast<float>(uint32_t{*high} << 16 | *low) : kUnknown;
  }
}

Units units_of(const Memory& memory) {
  Units out;
  if (!memory.bit(kBase, kDiagnosticType, kExternallyCalibrated).value_or(false)) return out;
  calibrate_rx(memory, out.rx_watts);
  calibrate_linear(memory, 76, out.amperes);
  calibrate_linear(memory, 80, out.tx_watts);
  calibrate_linear(memory, 84, out.celsius);
  calibrate_linear(memory, 88, out.volts);
  return out;
}

// Bytes 112 (alarms) and 116 (warnings) hold temperature, voltage, bias and transmit power from bit 7 on, high and low
// of each; 113 and 117 receive power.
std::optional<ModuleFlags> flags_at(const Memory& memory, unsigned offset, unsigned high_bit) {
  if (!memory.bit(kBase, kEnhanced, kFlagsBit).value_or(false)) return std::nullopt;
  const auto alarms = memory.u8(kDiagnostics, 112 + offset), warnings = memory.u8(kDiagnostics, 116 + offset);
  if (!alarms || !warnings) return std::nullopt;
  const auto on = [](unsigned byte, unsigned bit) { return (byte >> bit & 1) != 0; };
  return ModuleFlags{on(*alarms, high_bit), on(*alarms, high_bit - 1), on(*warnings, high_bit),
                     on(*warnings, high_bit - 1)};
}

void read_identity(const Memory& memory, Transceiver& out) {
  out.vendor = memory.text(kBase, 20, 16);
  out.oui = oui_text(memory, kBase, 37);
  out.part_number = memory.text(kBase, 40, 16);
  out.revision = memory.text(kBase, 56, 4);
  out.serial_number = memory.text(kBase, 68, 16);
  out.date = memory.text(kBase, 84, 8);
  out.connector = connector_name(memory.u8(kBase, 2).value_or(0));
  judge_sum(memory, kBase, 0, 62, 63, out);
  judge_sum(memory, kBase, 64, 94, 95, out);
  const auto cable = memory.u8(kBase, 8);  // bit 2: passive, bit 3: active
  if (!cable || memory.u8(kBase, 2) == kTwistedPair) return;
  out.medium = Medium::optical;
  if ((*cable & 4) != 0) out.medium = Medium::passive_copper;
  // An active cable may be one of fibre, too, with "no separable connector"; only those of copper have no laser to
  // measure, and byte 60 of a cable holds compliance codes instead of a wavelength.
  if ((*cable & 8) != 0) out.medium = has_diagnostics(memory) ? Medium::optical : Medium::active_copper;
  const uint8_t length = memory.u8(kBase, 18).value_or(0);  // meters of a cable, else the reach over OM4
  if ((*cable & 0x0c) != 0 && length != 0) out.cable_length = length;
}

ModuleLane only_lane(const Memory& memory, const Units& units) {
  ModuleLane out;
  out.number = 1;
  out.tx_bias = {memory.value(kDiagnostics, 100, units.amperes), flags_at(memory, 0, 3)};
  out.tx_power = {memory.value(kDiagnostics, 102, units.tx_watts), flags_at(memory, 0, 1)};
  out.rx_power = {memory.value(kDiagnostics, 104, units.rx_watts), flags_at(memory, 1, 7)};
  const auto shown = [&](unsigned option, unsigned enhanced) {
    return memory.bit(kBase, kOptions, option).value_or(false) &&
           memory.bit(kBase, kEnhanced, enhanced).value_or(false);
  };
  if (shown(kLosBit, kSoftLosBit)) out.rx_los = memory.bit(kDiagnostics, 110, 1);
  if (shown(kFaultBit, kSoftFaultBit)) out.tx_fault = memory.bit(kDiagnostics, 110, 2);
  return out;
}

void read_monitors(const Memory& memory, Transceiver& out) {
  const Units units = units_of(memory);
  out.temperature = {memory.value(kDiagnostics, 96, units.celsius), flags_at(memory, 0, 7)};
  out.voltage = {memory.value(kDiagnostics, 98, units.volts), flags_at(memory, 0, 5)};
  out.temperature_limits = memory.limits(kDiagnostics, 0, units.celsius);
  out.voltage_limits = memory.limits(kDiagnostics, 8, units.volts);
  if (out.medium != Medium::optical) return;  // no laser, and nothing to measure its light
  out.tx_bias_limits = memory.limits(kDiagnostics, 16, units.amperes);
  out.tx_power_limits = memory.limits(kDiagnostics, 24, units.tx_watts);
  out.rx_power_limits = memory.limits(kDiagnostics, 32, units.rx_watts);
  out.lanes.push_back(only_lane(memory, units));
  drop_unmeasured(out);
}

std::vector<Place> places(const Memory& lower) {
  if (!has_diagnostics(lower)) return {};  // the identity is in the lower half, which is read
  return {{.i2c_address = kDiagnostics.i2c_address}};
}

Transceiver decode(const Memory& memory) {
  Transceiver out;
  out.standard = "SFF-8472";
  read_identity(memory, out);
  if (!has_diagnostics(memory)) return out;
  judge_sum(memory, kDiagnostics, 0, 94, 95, out);
  const bool ready = memory.bit(kDiagnostics, 110, 0) == false;
  if (ready && memory.u16(kDiagnostics, 98).value_or(0) != 0) read_monitors(memory, out);
  if (memory.u8(kDiagnostics, 95)) drop_flags_without_limits(out);
  return out;
}

}  // namespace

const Standard kSff8472{places, decode};

}  // namespace fabric::eeprom
