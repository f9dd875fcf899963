// SPDX-License-Identifier: Apache-2.0
// The link of a port: the cable or optical module in its cage, as its memory describes it, and the state of the link.
// Units are base units. Every value is optional: a cable without monitors has no readings, which is not a reading of
// zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace fabric {

// The vendor's limits of one reading. A pair (alarm, warning) that is unset or contradicts itself is absent.
struct ModuleLimits {
  std::optional<double> high_alarm, low_alarm, high_warning, low_warning;
  bool operator==(const ModuleLimits&) const = default;
};

// The module's own flags for one reading. They are latched: true if the value has passed the limit at any time since a
// program last read the flag. Reading clears them.
struct ModuleFlags {
  bool high_alarm = false, low_alarm = false, high_warning = false, low_warning = false;
  bool operator==(const ModuleFlags&) const = default;
};

struct ModuleReading {
  std::optional<double> value;
  std::optional<ModuleFlags> flags;
  bool operator==(const ModuleReading&) const = default;
};

// One lane of the medium, with its number in the standard, from 1.
struct ModuleLane {
  unsigned number = 0;
  ModuleReading rx_power, tx_power;    // watts
  ModuleReading tx_bias;               // amperes through the laser
  std::optional<bool> rx_los, rx_lol;  // loss of signal, loss of lock, from the medium
  std::optional<bool> tx_los, tx_lol;  // loss of signal, loss of lock, from the host
  std::optional<bool> tx_fault;        // the laser was switched off because of a fault
  // The first host lane, from 1, of its data path (CMIS). A module in a cage of two ports has one data path for each.
  std::optional<unsigned> path{};
  bool operator==(const ModuleLane&) const = default;
};

enum class ModuleSide : uint8_t { medium, host };
template <>
inline constexpr std::string_view kEnumWords<ModuleSide>[] { "medium", "host" };

// The signal that arrives at one side of the module, as its receivers measure it (CMIS, Versatile Diagnostics
// Monitoring): from the cable at the side of the medium, from the NIC at the side of the host. Errors made after the
// module, on the way to the NIC or to the far end, are not in it.
struct ModuleInput {
  ModuleSide side = ModuleSide::medium;
  unsigned lane = 0;  // of its side, from 1: the lane, and for a ratio the first lane of the data path; 0: not stated
  std::optional<double> error_ratio;  // damaged bits per bit, before FEC
  std::optional<double> snr;          // signal to noise, decibels
  bool operator==(const ModuleInput&) const = default;
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
  std::string form_factor;  // "QSFP28", by the identifier; empty if unknown
  std::string standard;     // "SFF-8472", "SFF-8636", "CMIS 5.0"

  std::string vendor, oui, part_number, revision, serial_number, date;  // empty if the module does not have it
  std::string connector;                                                // "LC", "MPO 1x12", "no separable connector"
  std::string technology;                                               // "1310 nm EML", "copper, passive equalized"
  std::optional<Medium> medium;
  std::optional<double> cable_length;  // meters, of a cable with fixed ends

  ModuleReading temperature;  // degrees Celsius
  ModuleReading voltage;      // volts
  ModuleLimits temperature_limits, voltage_limits;
  ModuleLimits rx_power_limits, tx_power_limits, tx_bias_limits;  // the same for all lanes
  std::vector<ModuleLane> lanes;
  std::vector<ModuleInput> inputs;  // CMIS only; empty if the module does not measure them

  std::optional<ModuleState> state;  // CMIS only
  std::string fault_cause;           // why it is in the fault state; empty if the module does not report it

  // Ranges whose checksum is wrong: "page 00h bytes 128-221". Their values are reported nevertheless, because some
  // vendors never write correct checksums, but a value from such a range alone is not evidence.
  std::vector<std::string> bad_checksums;
  bool checksum_matched = false;  // a range matched; if none does, no value in the memory is reliable
};

// LinkStatus::reason of a netdev that is administratively down (no IFF_UP): the only reason that is not from ethtool.
// RoCE drivers report the physical state "Disabled" for every port without a link, whatever the cause
// (mlx5_query_port_roce, bnxt_re_query_port, irdma_query_port, hns_roce_query_port of Linux 6.12).
inline constexpr std::string_view kSwitchedOff = "Switched off";

// The NIC's view of its link. Drivers report different parts of it. The reason for link down is in ethtool's words: "No
// cable"; "Autoneg" and "No partner detected".
struct LinkStatus {
  std::optional<bool> up;
  std::string reason, detail;     // empty while the link is up, or if the driver reports none
  std::optional<uint32_t> downs;  // the NIC's count of times the physical link went down; Linux 6.2 and later
  bool operator==(const LinkStatus&) const = default;
};

struct FecCount {
  std::optional<uint64_t> total;
  std::vector<uint64_t> lanes;  // from lane 0 of the PCS on; empty if the NIC has only the total
  bool operator==(const FecCount&) const = default;
};

// Code words by the number of symbols that FEC corrected in them, `low` to `high`.
struct FecBin {
  uint32_t low = 0, high = 0;
  uint64_t words = 0;
  bool operator==(const FecBin&) const = default;
};

// The code of forward error correction (IEEE 802.3 clauses 74, 91, 108, 119, 134). none: the link is down.
enum class FecCode : uint8_t { none, off, rs, baser, llrs, other };
template <>
inline constexpr std::string_view kEnumWords<FecCode>[] { "", "off", "rs", "baser", "llrs", "other" };

struct FecStatus {
  FecCode active = FecCode::none;
  std::optional<bool> automatic;  // the NIC chooses the mode
  FecCount corrected_blocks, uncorrectable_blocks, corrected_bits;
  std::vector<FecBin> histogram{};  // mlx5 since Linux 6.18, bnxt_en since 7.0; empty: not reported
  uint32_t link_mode = 0;           // of FecCode::other: the bit of the mode
  bool operator==(const FecStatus&) const = default;
};

}  // namespace fabric
