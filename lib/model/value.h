// SPDX-License-Identifier: Apache-2.0
// The kinds of value that a setting can have. Each kind has: ==, to_text (for people and journal
// fields; also what a metric label or a plan line shows) and to_json. Reading one from TOML stands in config/.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/json.h"

namespace fabric {

// IEEE 802.1Q has eight priorities and eight traffic classes.
inline constexpr int kPriorities = 8;

// A set of priorities; bit p is priority p (as ieee_pfc.pfc_en, linux/dcbnl.h).
struct PrioSet {
  uint8_t bits = 0;
  [[nodiscard]] bool has(int prio) const { return (bits >> prio & 1) != 0; }
  bool operator==(const PrioSet&) const = default;
};

// One small number per priority, or per traffic class.
using Eight = std::array<uint8_t, kPriorities>;

// Which header field decides the priority of a received frame.
enum class Trust : uint8_t { pcp, dscp };

// Who owns DCBX on the port: the host (this agent) or the NIC's firmware.
enum class Dcbx : uint8_t { host, firmware };

// Global (802.3x) pause, each direction.
struct Pause {
  bool rx = false;
  bool tx = false;
  bool operator==(const Pause&) const = default;
};

// DSCP (0..63) -> priority (0..7). Only the listed DSCPs.
using DscpMap = std::map<uint8_t, uint8_t>;

// Transmission selection algorithm of a traffic class (IEEE 802.1Q table 8-5; linux/dcbnl.h IEEE_8021QAZ_TSA_*).
enum class Tsa : uint8_t { strict = 0, cb_shaper = 1, ets = 2, vendor = 255 };

// IEEE 802.1Qaz enhanced transmission selection.
struct Ets {
  Eight prio_tc{};                    // priority -> traffic class
  std::array<Tsa, kPriorities> tsa{}; // per traffic class
  Eight bw{};                         // per traffic class, per cent; has a meaning for Tsa::ets only

  // Equal as far as it matters: bandwidth is compared for ETS classes only (drivers report 0 or 100 for
  // the others, by version), and only classes that some priority maps to count for tsa/bw.
  bool operator==(const Ets& other) const;
};

std::string to_text(bool value);             // "on" / "off"
std::string to_text(uint32_t value);         // "4200"
std::string to_text(PrioSet value);          // "3", "3,4", "none"
std::string to_text(Trust value);            // "dscp"
std::string to_text(Dcbx value);             // "host"
std::string to_text(const Pause& value);     // "off", "rx", "tx", "rx,tx"
std::string to_text(const DscpMap& value);   // "26:3 48:6", ranges of equal priority folded: "0-7:0 8-15:1"; "none"
std::string to_text(const Ets& value);       // "prio-tc 0:0 1:0 ... tsa 0:ets 1:ets 2:strict bw 0:50 1:50" (dcb's words)

Json to_json(bool value);
Json to_json(uint32_t value);
Json to_json(PrioSet value);                 // [3]
Json to_json(Trust value);
Json to_json(Dcbx value);
Json to_json(const Pause& value);            // {"rx": false, "tx": false}
Json to_json(const DscpMap& value);          // {"26": 3}
Json to_json(const Ets& value);              // {"prio_tc": [..8], "tsa": ["ets",..], "bw": [..]}

}  // namespace fabric
