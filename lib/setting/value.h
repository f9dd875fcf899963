// SPDX-License-Identifier: Apache-2.0
// The kinds of value that a setting can have. Each kind has ==, to_text() (for people, journal fields and plans) and
// to_json(). policy/toml_value.h reads them from TOML.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/words.h"

namespace fabric {

// IEEE 802.1Q has eight priorities and eight traffic classes.
inline constexpr int kPriorities = 8;

// A set of priorities; bit p is priority p (as ieee_pfc.pfc_en, linux/dcbnl.h).
struct PrioSet {
  uint8_t bits = 0;
  [[nodiscard]] bool has(size_t prio) const { return (bits >> prio & 1) != 0; }
  void add(size_t prio) { bits = static_cast<uint8_t>(bits | 1U << prio); }
  [[nodiscard]] PrioSet without(PrioSet others) const { return {static_cast<uint8_t>(bits & ~others.bits)}; }
  bool operator==(const PrioSet&) const = default;
};

// One small number per priority, or per traffic class.
using Eight = std::array<uint8_t, kPriorities>;

// The header field that decides the priority of a received frame.
enum class Trust : uint8_t { dscp, pcp };
template <>
inline constexpr std::string_view kEnumWords<Trust>[] { "dscp", "pcp" };

// The owner of DCBX on the port: the host (this agent) or the NIC's firmware.
enum class Dcbx : uint8_t { host, firmware };
template <>
inline constexpr std::string_view kEnumWords<Dcbx>[] { "host", "firmware" };

// Global (802.3x) pause, each direction.
struct Pause {
  bool rx = false;
  bool tx = false;
  bool operator==(const Pause&) const = default;
};

// DSCP (0..63) -> priority (0..7). Only the listed DSCPs.
using DscpMap = std::map<uint8_t, uint8_t>;

// Transmission selection algorithm of a traffic class (802.1Qaz; linux/dcbnl.h IEEE_8021QAZ_TSA_*).
enum class Tsa : uint8_t { strict = 0, cb_shaper = 1, ets = 2, vendor = 255 };

// IEEE 802.1Qaz enhanced transmission selection.
struct Ets {
  Eight prio_tc{};                     // priority -> traffic class
  std::array<Tsa, kPriorities> tsa{};  // per traffic class
  Eight bw{};                          // per traffic class, percent; only for Tsa::ets

  // Compares what matters: tsa and bw only of classes that a priority maps to, and bw only of ETS classes (drivers
  // report 0 or 100 for the others, depending on the version).
  bool operator==(const Ets& other) const;
};

// Precedence of the header fields by which frames are classified (dcbnl APP_TRUST_TABLE, linux/dcbnl.h), as selectors.
struct AppTrust {
  static constexpr uint8_t kDscp = 5, kPcp = 255;  // IEEE_8021QAZ_APP_SEL_DSCP, DCB_APP_SEL_PCP (linux/dcbnl.h)
  std::vector<uint8_t> selectors;
  bool operator==(const AppTrust&) const = default;
};

// Sizes of the port's eight receive buffers in bytes (dcbnl_buffer.buffer_size).
struct Buffers {
  bool automatic = false;  // only in a policy: the sizes are computed from cable, speed and MTU
  std::array<uint32_t, kPriorities> bytes{};
  // Treats sizes as equal that differ by less than a cell, because drivers round down to cells (mlx5: 128 bytes; at
  // most 288).
  bool operator==(const Buffers& other) const;
};

// Rate limit of each traffic class, kbit/s; 0: none (ieee_maxrate.tc_maxrate).
struct Rates {
  std::array<uint64_t, kPriorities> kbit{};
  bool operator==(const Rates&) const = default;
};

// The RoCE version of rdma_cm connections whose program does not choose one.
enum class RoceMode : uint8_t { v2, v1 };
template <>
inline constexpr std::string_view kEnumWords<RoceMode>[] { "v2", "v1" };

// A number or none. None forces no traffic class on queue pairs (OFED), or lets the NIC choose the CNP's priority
// (mlx5).
struct OrNone {
  std::optional<uint32_t> value;
  bool operator==(const OrNone&) const = default;
};

// Configured FEC modes, as ETHTOOL_FEC_* bits (linux/ethtool.h): auto 2, off 4, rs 8, baser 16, llrs 32.
struct Fec {
  uint8_t bits = 0;
  bool operator==(const Fec&) const = default;
};
inline constexpr uint8_t kFecOff = 4;
// Read while the link is down, from drivers that show only the mode in use: the configured mode is unknown. A policy
// never asks for it.
inline constexpr Fec kUnknownFec{};

// Names of the optional RDMA counters that are on. {"*"}, only in a policy: all that the device has.
struct Names {
  std::set<std::string> names;
  bool operator==(const Names&) const = default;
};

std::string to_text(bool value);            // "on" / "off"
std::string to_text(uint32_t value);        // "4200"
std::string to_text(PrioSet value);         // "3", "3,4", "none"
std::string to_text(const Pause& value);    // "off", "rx", "tx", "rx,tx"
std::string to_text(const DscpMap& value);  // "26:3 48:6", ranges of equal priority folded: "0-7:0 8-15:1"; "none"
std::string to_text(const Ets& value);      // "prio-tc 0:0 1:0 ... tsa 0:ets 1:ets 2:strict bw 0:50 1:50" (dcb's words)
std::string to_text(const Eight& value);    // "0:0 1:0 2:0 3:1 ..."
std::string to_text(const AppTrust& value);  // "dscp,pcp", "none"
std::string to_text(const Buffers& value);   // "auto"; "0:20480 3:180608", empty buffers left out; "none"
std::string to_text(const Rates& value);     // "3:100gbit 6:2500mbit" (dcb's words), unlimited left out; "none"
std::string to_text(const OrNone& value);    // "106", "none"
std::string to_text(Fec value);              // "rs", "auto,rs"
std::string to_text(const Names& value);     // "a,b", "none", "all"

std::vector<int> to_list(PrioSet value);
Json to_json(PrioSet value);  // [3]
void from_json(const Json& json, PrioSet& value);

// The setting's value as JSON, by its kind; null if absent.
struct Setting;
struct Qos;
Json value_json(const Setting& setting, const Qos& qos);
// The settings that have a value, by key: {"mtu": 4200, "pfc": [3]}. Omits a value that from_json() would reject (a
// DSCP with priority 9).
void to_json(Json& json, const Qos& qos);
void from_json(const Json& json, Qos& qos);

// The words of the kinds; TOML has the same.
std::optional<uint8_t> parse_selector(std::string_view text);  // "dscp" 5, "pcp" 255, others the number
std::vector<std::string> fec_words(Fec value);                 // {"auto", "rs"}
std::optional<uint8_t> parse_fec_word(std::string_view text);  // the bit

}  // namespace fabric
