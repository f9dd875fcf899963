// SPDX-License-Identifier: Apache-2.0
// QSFP-DD, OSFP, SFP-DD, DSFP: OIF-CMIS 5.0, clauses 8.2 (lower memory), 8.3 (page 00h), 8.4 (01h), 8.5, 8.9 (11h).
#include <bit>

#include "wire/eeprom_memory.h"

namespace fabric::eeprom {
namespace {

constexpr Space kAdvertisement{.page = 0x01}, kThresholds{.page = 0x02}, kLaneStatus{.page = 0x11};
constexpr unsigned kLanes = 8;

// 8.2: application descriptors of four bytes: host interface (FFh ends the list), media interface, lane counts (media
// in the low nibble), host lanes on which it may begin, bit by bit; 8.4: the media lanes on which it may begin.
constexpr unsigned kApplications = 8, kDescriptor = 86, kMediaStarts = 176;

// 8.4: what the module measures and flags at all.
constexpr unsigned kTxFlags = 157, kTxFaultBit = 0, kTxLosBit = 1, kTxLolBit = 2;
constexpr unsigned kRxFlags = 158, kRxLosBit = 1, kRxLolBit = 2;
constexpr unsigned kModuleMonitors = 159, kTemperatureBit = 0, kVoltageBit = 1;
constexpr unsigned kLaneMonitors = 160, kTxBiasBit = 0, kTxPowerBit = 1, kRxPowerBit = 2;

bool advertises(const Memory& memory, unsigned at, unsigned bit) {
  return memory.bit(kAdvertisement, at, bit).value_or(false);
}

bool is_flat(const Memory& memory) { return memory.bit(kBase, 2, 7).value_or(true); }

// A lane that no advertised application uses is not there (a module of four lanes has the registers of eight).
unsigned lanes_in_use(const Memory& memory) {
  constexpr unsigned kEnd = 0xff, kMissing = 210;
  if (!memory.u8(kAdvertisement, kMediaStarts + kApplications - 1) ||
      !memory.u8(kBase, kDescriptor + 4 * kApplications - 1) || !memory.u8(kBase, kMissing))
    return 0;  // not read so far: not known
  unsigned used = 0;
  for (unsigned i = 0; i < kApplications; ++i) {
    const unsigned host = memory.u8(kBase, kDescriptor + 4 * i).value_or(kEnd);
    if (host == kEnd || host == 0) break;
    const unsigned count = memory.u8(kBase, kDescriptor + 4 * i + 2).value_or(0) & 15u;
    const unsigned starts = memory.u8(kAdvertisement, kMediaStarts + i).value_or(0);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if ((starts >> lane & 1) != 0) used |= ((1u << count) - 1) << lane;
  }
  const unsigned missing = memory.u8(kBase, kMissing).value_or(0);  // 8.3: lanes without a medium at this end
  const unsigned lanes = used == 0 ? 0xffu : used & 0xffu;
  return (lanes & ~missing) == 0 ? lanes : lanes & ~missing;  // some makers write FFh
}

// 8.9, bytes 206-213: the application that each host lane uses (high nibble, from 1; 0: none) and the first host lane
// of its data path (bits 3-1). The n-th place of an application among the host lanes has its n-th among the media
// lanes.
using Paths = std::array<std::optional<unsigned>, kLanes>;
Paths paths_of(const Memory& memory) {
  constexpr unsigned kActive = 206;
  Paths out{};
  for (unsigned host = 0; host < kLanes; ++host) {
    const unsigned active = memory.u8(kLaneStatus, kActive + host).value_or(0), application = active >> 4;
    if (application == 0 || application > kApplications || (active >> 1 & 7) != host) continue;
    const unsigned at = kDescriptor + 4 * (application - 1);
    const unsigned count = memory.u8(kBase, at + 2).value_or(0) & 15u, places = memory.u8(kBase, at + 3).value_or(0);
    unsigned starts = memory.u8(kAdvertisement, kMediaStarts + application - 1).value_or(0);
    for (int before = std::popcount(places & ((1u << host) - 1)); before > 0; --before) starts &= starts - 1;
    if (starts == 0) continue;
    const auto first = static_cast<unsigned>(std::countr_zero(starts));
    for (unsigned lane = first; lane < std::min(first + count, kLanes); ++lane) out[lane] = host + 1;
  }
  return out;
}

Unit amperes_of(const Memory& memory) {
  Unit out = kAmperes;
  // 8.4, byte 160, bits 4-3: the bias and its limits count 2, 4 or 8 uA.
  out.divisor /= 1u << (memory.u8(kAdvertisement, kLaneMonitors).value_or(0) >> 3 & 3u);
  return out;
}

// 8.9: four bytes, one per kind of flag (high alarm, low alarm, high warning, low warning), one bit per lane.
std::optional<ModuleFlags> lane_flags(const Memory& memory, unsigned at, unsigned lane) {
  const auto high_alarm = memory.bit(kLaneStatus, at, lane), low_alarm = memory.bit(kLaneStatus, at + 1, lane),
             high_warning = memory.bit(kLaneStatus, at + 2, lane), low_warning = memory.bit(kLaneStatus, at + 3, lane);
  if (!high_alarm || !low_alarm || !high_warning || !low_warning) return std::nullopt;
  return ModuleFlags{*high_alarm, *low_alarm, *high_warning, *low_warning};
}

ModuleLane lane_of(const Memory& memory, unsigned lane, const Unit& amperes) {
  ModuleLane out;
  out.number = lane + 1;
  const auto reading = [&](unsigned bit, unsigned at, const Unit& unit, unsigned flags) {
    if (!advertises(memory, kLaneMonitors, bit)) return ModuleReading{};
    return ModuleReading{memory.value(kLaneStatus, at + 2 * lane, unit), lane_flags(memory, flags, lane)};
  };
  out.tx_power = reading(kTxPowerBit, 154, kWatts, 139);
  out.tx_bias = reading(kTxBiasBit, 170, amperes, 143);
  out.rx_power = reading(kRxPowerBit, 186, kWatts, 149);
  const auto flag = [&](unsigned advertisement, unsigned bit, unsigned at) {
    return advertises(memory, advertisement, bit) ? memory.bit(kLaneStatus, at, lane) : std::nullopt;
  };
  out.tx_fault = flag(kTxFlags, kTxFaultBit, 135);
  out.tx_los = flag(kTxFlags, kTxLosBit, 136);
  out.tx_lol = flag(kTxFlags, kTxLolBit, 137);
  out.rx_los = flag(kRxFlags, kRxLosBit, 147);
  out.rx_lol = flag(kRxFlags, kRxLolBit, 148);
  return out;
}

// 8.2, byte 9: temperature in the low nibble, voltage in the high one, the bits in the other order than SFF-8636's.
ModuleFlags module_flags(unsigned nibble) {
  return {(nibble & 1) != 0, (nibble & 2) != 0, (nibble & 4) != 0, (nibble & 8) != 0};
}

// 8.3, byte 202: a mantissa of six bits; the two high bits choose 0.1, 1, 10 or 100 m. Zero: not a cable.
std::optional<double> cable_length(const Memory& memory) {
  constexpr double kTenths[] = {1, 10, 100, 1000};
  const auto byte = memory.u8(kBase, 202);
  if (!byte || (*byte & 0x3f) == 0) return std::nullopt;
  return (*byte & 0x3f) * kTenths[*byte >> 6] / 10;
}

// 8.2, byte 41.
std::string fault_cause(const Memory& memory) {
  switch (const uint8_t code = memory.u8(kBase, 41).value_or(0)) {
    case 0: return {};
    case 1: return "TEC runaway";
    case 2: return "data memory corrupted";
    case 3: return "program memory corrupted";
    default: return "code " + std::to_string(code);
  }
}

void read_status(const Memory& memory, Transceiver& out) {
  const unsigned revision = memory.u8(kBase, 1).value_or(0);
  out.standard = "CMIS " + std::to_string(revision >> 4) + "." + std::to_string(revision & 15);
  const unsigned state = memory.u8(kBase, 3).value_or(0) >> 1 & 7u;
  if (state >= 1 && state <= 5) out.state = static_cast<ModuleState>(state);
  if (out.state == ModuleState::fault) out.fault_cause = fault_cause(memory);
}

void read_identity(const Memory& memory, Transceiver& out) {
  out.vendor = memory.text(kBase, 129, 16);
  out.oui = oui_text(memory, kBase, 145);
  out.part_number = memory.text(kBase, 148, 16);
  out.revision = memory.text(kBase, 164, 2);
  out.serial_number = memory.text(kBase, 166, 16);
  out.date = memory.text(kBase, 182, 8);
  out.cable_length = cable_length(memory);
  out.connector = connector_name(memory.u8(kBase, 203).value_or(0));
  if (const auto technology = memory.u8(kBase, 212)) read_technology(*technology, out);
  if (memory.u8(kBase, 85) == 3) out.medium = Medium::passive_copper;  // 8.2: the media type says so outright
  judge_sum(memory, kBase, 128, 221, 222, out);
}

void read_monitors(const Memory& memory, Transceiver& out) {
  const auto flags = memory.u8(kBase, 9);
  if (advertises(memory, kModuleMonitors, kTemperatureBit)) {
    out.temperature.value = memory.value(kBase, 14, kCelsius);
    if (flags) out.temperature.flags = module_flags(*flags & 15u);
    out.temperature_limits = memory.limits(kThresholds, 128, kCelsius);
  }
  if (advertises(memory, kModuleMonitors, kVoltageBit)) {
    out.voltage.value = memory.value(kBase, 16, kVolts);
    if (flags) out.voltage.flags = module_flags(*flags >> 4);
    out.voltage_limits = memory.limits(kThresholds, 136, kVolts);
  }
}

void read_lanes(const Memory& memory, Transceiver& out) {
  const Unit amperes = amperes_of(memory);
  if (advertises(memory, kLaneMonitors, kTxPowerBit)) out.tx_power_limits = memory.limits(kThresholds, 176, kWatts);
  if (advertises(memory, kLaneMonitors, kTxBiasBit)) out.tx_bias_limits = memory.limits(kThresholds, 184, amperes);
  if (advertises(memory, kLaneMonitors, kRxPowerBit)) out.rx_power_limits = memory.limits(kThresholds, 192, kWatts);
  const unsigned used = lanes_in_use(memory);
  const Paths paths = paths_of(memory);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((used >> lane & 1) == 0) continue;
    out.lanes.push_back(lane_of(memory, lane, amperes));
    out.lanes.back().path = paths[lane];
  }
}

std::vector<Place> places(const Memory& lower) {
  std::vector<Place> out{{.offset = 128}};
  if (is_flat(lower)) return out;
  for (const Space& space : {kAdvertisement, kThresholds})
    out.push_back({.page = space.page, .offset = 128, .fixed = true});
  out.push_back({.page = kLaneStatus.page, .offset = 128});
  return out;
}

Transceiver decode(const Memory& memory) {
  Transceiver out;
  read_status(memory, out);
  read_identity(memory, out);
  if (is_flat(memory)) return out;  // no monitors and no lanes
  judge_sum(memory, kAdvertisement, 130, 254, 255, out);
  judge_sum(memory, kThresholds, 128, 254, 255, out);
  read_monitors(memory, out);
  read_lanes(memory, out);
  if (memory.u8(kThresholds, 199)) drop_flags_without_limits(out);
  return out;
}

}  // namespace

const Standard kCmis{places, decode};

}  // namespace fabric::eeprom
