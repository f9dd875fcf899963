// SPDX-License-Identifier: Apache-2.0
// The link of a port: the part in its cage, a cable or an optical module, as its own memory describes it, and its
// state. Units are base units. Every value is optional: a cable without monitors has no readings, which is not a
// reading of zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"

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
  // The first host lane, from 1, of its data path (CMIS): a module in a cage of two ports has one for each.
  std::optional<unsigned> path{};
  bool operator==(const ModuleLane&) const = default;
};

enum class Medium : uint8_t { optical, passive_copper, active_copper };
template <>
inline constexpr std::string_view kEnumWords<Medium>[] { "optical", "passive copper", "active copper" };

// CMIS 5.0, 6.3.2 Module State Machine; numbers as in lower memory, byte 3.
enum class ModuleState : uint8_t { low_power = 1, powering_up = 2, ready = 3, powering_down = 4, fault = 5 };
constexpr std::string_view to_text(ModuleState value) {
  constexpr std::string_view kTexts[]{"low power", "powering up", "ready", "powering down"};
  const size_t index = static_cast<size_t>(value) - 1;
  if (index >= std::size(kTexts)) return "fault";
  return kTexts[index];
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

// What the NIC knows of its link beyond up and down. Drivers report very different parts of it.
// LinkStatus::reason of a netdev that is administratively down (no IFF_UP): the only reason that is not from ethtool.
// RoCE drivers report the physical state "Disabled" for every port without a link, whatever the cause
// (mlx5_query_port_roce, bnxt_re_query_port, irdma_query_port, hns_roce_query_port of Linux 6.12).
inline constexpr std::string_view kSwitchedOff = "Switched off";

// The reason for link down. The words are ethtool's: "No cable"; "Autoneg" and "No partner detected".
struct LinkStatus {
  std::optional<bool> up;
  std::string reason, detail;     // empty while the link is up, or when the driver does not say
  std::optional<uint32_t> downs;  // times the physical link went down, as the NIC counts them; Linux 6.2 and later
  bool operator==(const LinkStatus&) const = default;
};

struct FecCount {
  std::optional<uint64_t> total;
  std::vector<uint64_t> lanes;  // from lane 0 of the PCS on; empty when the NIC counts in one sum only
  bool operator==(const FecCount&) const = default;
};

// Forward error correction (IEEE 802.3 clauses 74, 91, 108, 119, 134).
struct FecStatus {
  std::string active;             // "off", "rs", "baser", "llrs"; empty while the link is down
  std::optional<bool> automatic;  // the NIC chooses the mode itself
  FecCount corrected_blocks, uncorrectable_blocks, corrected_bits;
  bool operator==(const FecStatus&) const = default;
};

}  // namespace fabric
