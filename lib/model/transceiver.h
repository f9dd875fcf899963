// SPDX-License-Identifier: Apache-2.0
// The part in a port's cage: a cable or an optical module, as its own memory describes it. Units are base units.
// Every value is optional: a cable without monitors has no readings, which is not a reading of zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric {

// The module maker's own limits of one reading. A pair (alarm, warning) that is unset or contradicts itself is absent.
struct ModuleLimits {
  std::optional<double> high_alarm, low_alarm, high_warning, low_warning;
  bool operator==(const ModuleLimits&) const = default;
};

// The module's own verdict on one reading. Latched: true when the limit was passed at any time since the flag was last
// read, by any program, and reading clears it.
struct ModuleFlags {
  bool high_alarm = false, low_alarm = false, high_warning = false, low_warning = false;
  bool operator==(const ModuleFlags&) const = default;
};

struct ModuleReading {
  std::optional<double> value;
  std::optional<ModuleFlags> flags;
  bool operator==(const ModuleReading&) const = default;
};

// One lane of the medium; the numbers are the standard's, from 1. A lane that the module does not have is not listed.
struct ModuleLane {
  unsigned number = 0;
  ModuleReading rx_power, tx_power;    // watts
  ModuleReading tx_bias;               // amperes through the laser
  std::optional<bool> rx_los, rx_lol;  // loss of signal, loss of lock, from the medium
  std::optional<bool> tx_los, tx_lol;  // the same from the host
  std::optional<bool> tx_fault;        // the laser was switched off for a fault
  bool operator==(const ModuleLane&) const = default;
};

enum class Medium : uint8_t { optical, passive_copper, active_copper };
constexpr std::string_view to_text(Medium value) {
  switch (value) {
    case Medium::optical: return "optical";
    case Medium::passive_copper: return "passive copper";
    case Medium::active_copper: break;
  }
  return "active copper";
}

// CMIS 5.0, 6.3.2 Module State Machine; numbers as in lower memory, byte 3.
enum class ModuleState : uint8_t { low_power = 1, powering_up = 2, ready = 3, powering_down = 4, fault = 5 };
constexpr std::string_view to_text(ModuleState value) {
  switch (value) {
    case ModuleState::low_power: return "low power";
    case ModuleState::powering_up: return "powering up";
    case ModuleState::ready: return "ready";
    case ModuleState::powering_down: return "powering down";
    case ModuleState::fault: break;
  }
  return "fault";
}

struct Transceiver {
  uint8_t identifier = 0;   // SFF-8024 table 4-1
  std::string form_factor;  // "QSFP28", of the identifier; empty when not known
  std::string standard;     // "SFF-8472", "SFF-8636", "CMIS 5.0"

  std::string vendor, oui, part_number, revision, serial_number, date;  // empty when the module does not say
  std::string connector;                                                // "LC", "MPO 1x12", "no separable connector"
  std::string technology;                                               // "1310 nm EML", "copper, passive equalized"
  std::optional<Medium> medium;
  std::optional<double> cable_length;  // meters, of a cable that cannot be taken off

  ModuleReading temperature;  // degrees Celsius
  ModuleReading voltage;      // volts
  ModuleLimits temperature_limits, voltage_limits;
  ModuleLimits rx_power_limits, tx_power_limits, tx_bias_limits;  // the same for all lanes
  std::vector<ModuleLane> lanes;

  std::optional<ModuleState> state;  // CMIS only
  std::string fault_cause;           // why it is in the fault state; empty when the module does not say

  // Ranges whose checksum is wrong: "page 00h bytes 128-221". They are reported as they are: some makers never
  // get them right, but a value out of such a range alone is not evidence.
  std::vector<std::string> bad_checksums;
  bool checksum_matched = false;  // of some range; if none matches, nothing in the memory can be relied on
};

}  // namespace fabric
