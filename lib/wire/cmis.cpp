// SPDX-License-Identifier: Apache-2.0
// QSFP-DD, OSFP, SFP-DD, DSFP: OIF-CMIS 5.0, clauses 8.2 (lower memory), 8.3 (page 00h), 8.4 (01h), 8.5, 8.9 (11h).
#include <algorithm>
#include <bit>

#include "wire/module_memory.h"

namespace fabric::eeprom {
namespace {

constexpr uint8_t kAdvertisement = 0x01, kThresholds = 0x02, kLaneStatus = 0x11;
constexpr unsigned kLanes = 8;

// 8.2: application descriptors of four bytes: host interface (FFh ends the list), media interface, lane counts (media
// in the low nibble), a bit mask of the host lanes on which it may begin. 8.4: a bit mask of the media lanes on which
// it may begin.
constexpr unsigned kApplications = 8, kDescriptor = 86, kMediaStarts = 176;

// 8.4: the values and flags that the module supports.
constexpr unsigned kTxFlags = 157, kTxFaultBit = 0, kTxLosBit = 1, kTxLolBit = 2;
constexpr unsigned kRxFlags = 158, kRxLosBit = 1, kRxLolBit = 2;
constexpr unsigned kModuleMonitors = 159, kTemperatureBit = 0, kVoltageBit = 1;
constexpr unsigned kLaneMonitors = 160, kTxBiasBit = 0, kTxPowerBit = 1, kRxPowerBit = 2;

bool is_flat(const Registers& base) { return base.bit(2, 7).value_or(true); }

std::vector<PageRequest> further_pages(std::span<const Page> first) {
  std::vector<PageRequest> out{{.offset = 128}};
  if (is_flat(Registers(first))) return out;
  out.push_back({.page = kAdvertisement, .offset = 128, .fixed = true});
  out.push_back({.page = kThresholds, .offset = 128, .fixed = true});
  out.push_back({.page = kLaneStatus, .offset = 128});
  return out;
}

// A bit mask of the lanes that exist. A module of four lanes has the registers of eight: a lane that no advertised
// application uses does not exist. 0: the registers were not read.
unsigned lanes_in_use(const Registers& base, const Registers& advertised) {
  constexpr unsigned kEnd = 0xff, kMissing = 210;
  if (!advertised.u8(kMediaStarts + kApplications - 1) || !base.u8(kDescriptor + 4 * kApplications - 1) ||
      !base.u8(kMissing))
    return 0;
  unsigned used = 0;
  for (unsigned i = 0; i < kApplications; ++i) {
    const unsigned host = base.u8(kDescriptor + 4 * i).value_or(kEnd);
    if (host == kEnd || host == 0) break;
    const unsigned count = base.u8(kDescriptor + 4 * i + 2).value_or(0) & 15u;
    const unsigned starts = advertised.u8(kMediaStarts + i).value_or(0);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if ((starts >> lane & 1) != 0) used |= ((1u << count) - 1) << lane;
  }
  used &= 0xffu;
  if (used == 0) used = 0xffu;
  const unsigned missing = base.u8(kMissing).value_or(0);  // 8.3: lanes without a medium at this end
  if ((used & ~missing) == 0) return used;                 // some vendors write FFh
  return used & ~missing;
}

// The first host lane, from 1, of each media lane's data path. 8.9, bytes 206-213: the application that each host lane
// uses (high nibble, from 1; 0: none) and the first host lane of its data path (bits 3-1). The n-th possible start of
// an application among the host lanes belongs to its n-th possible start among the media lanes.
std::array<std::optional<unsigned>, kLanes> data_paths(const Registers& base, const Registers& advertised,
                                                       const Registers& status) {
  constexpr unsigned kActive = 206;
  std::array<std::optional<unsigned>, kLanes> out{};
  for (unsigned host = 0; host < kLanes; ++host) {
    const unsigned active = status.u8(kActive + host).value_or(0), application = active >> 4;
    if (application == 0 || application > kApplications || (active >> 1 & 7) != host) continue;
    const unsigned at = kDescriptor + 4 * (application - 1);
    const unsigned count = base.u8(at + 2).value_or(0) & 15u, host_starts = base.u8(at + 3).value_or(0);
    unsigned starts = advertised.u8(kMediaStarts + application - 1).value_or(0);
    // Removes the starts of the paths before this one.
    for (int before = std::popcount(host_starts & ((1u << host) - 1)); before > 0; --before) starts &= starts - 1;
    if (starts == 0) continue;
    const auto first = static_cast<unsigned>(std::countr_zero(starts));
    for (unsigned lane = first; lane < std::min(first + count, kLanes); ++lane) out[lane] = host + 1;
  }
  return out;
}

// 8.9: four bytes, one per kind of flag (high alarm, low alarm, high warning, low warning), one bit per lane.
std::optional<ModuleFlags> lane_flags(const Registers& status, unsigned at, unsigned lane) {
  const auto high_alarm = status.bit(at, lane), low_alarm = status.bit(at + 1, lane),
             high_warning = status.bit(at + 2, lane), low_warning = status.bit(at + 3, lane);
  if (!high_alarm || !low_alarm || !high_warning || !low_warning) return std::nullopt;
  return ModuleFlags{*high_alarm, *low_alarm, *high_warning, *low_warning};
}

// 8.2, byte 9: temperature in the low nibble, voltage in the high one. The order of the bits is the reverse of
// SFF-8636.
ModuleFlags module_flags(unsigned nibble) {
  return {(nibble & 1) != 0, (nibble & 2) != 0, (nibble & 4) != 0, (nibble & 8) != 0};
}

// 8.2, byte 41.
std::string fault_cause(uint8_t code) {
  switch (code) {
    case 0: return {};
    case 1: return "TEC runaway";
    case 2: return "data memory corrupted";
    case 3: return "program memory corrupted";
    default: return "code " + std::to_string(code);
  }
}

Transceiver decode(std::span<const Page> pages) {
  const Registers base(pages), advertised(pages, kAdvertisement), thresholds(pages, kThresholds),
      status(pages, kLaneStatus);
  Transceiver out;
  const unsigned revision = base.u8(1).value_or(0);
  out.standard = "CMIS " + std::to_string(revision >> 4) + "." + std::to_string(revision & 15);
  const unsigned state = base.u8(3).value_or(0) >> 1 & 7u;
  if (state >= 1 && state <= 5) out.state = static_cast<ModuleState>(state);
  if (out.state == ModuleState::fault) out.fault_cause = fault_cause(base.u8(41).value_or(0));

  out.vendor = base.text(129, 16);
  out.oui = base.oui(145);
  out.part_number = base.text(148, 16);
  out.revision = base.text(164, 2);
  out.serial_number = base.text(166, 16);
  out.date = base.text(182, 8);
  // 8.3, byte 202: a mantissa of six bits; the two high bits select 0.1, 1, 10 or 100 m. A mantissa of zero: not a
  // cable.
  if (const unsigned length = base.u8(202).value_or(0); (length & 0x3f) != 0) {
    constexpr double kTenths[] = {1, 10, 100, 1000};
    out.cable_length = (length & 0x3f) * kTenths[length >> 6] / 10;
  }
  out.connector = connector_name(base.u8(203).value_or(0));
  if (const auto technology = base.u8(212)) read_technology(*technology, out);
  if (base.u8(85) == 3) out.medium = Medium::passive_copper;  // 8.2: media type
  base.check_sum(128, 221, 222, out);
  if (is_flat(base)) return out;  // no monitors and no lanes
  advertised.check_sum(130, 254, 255, out);
  thresholds.check_sum(128, 254, 255, out);

  const auto flags = base.u8(9);
  if (advertised.is_set(kModuleMonitors, kTemperatureBit)) {
    out.temperature.value = base.value(14, kCelsius);
    if (flags) out.temperature.flags = module_flags(*flags & 15u);
    out.temperature_limits = thresholds.limits(128, kCelsius);
  }
  if (advertised.is_set(kModuleMonitors, kVoltageBit)) {
    out.voltage.value = base.value(16, kVolts);
    if (flags) out.voltage.flags = module_flags(*flags >> 4);
    out.voltage_limits = thresholds.limits(136, kVolts);
  }

  const bool has_tx_power = advertised.is_set(kLaneMonitors, kTxPowerBit),
             has_tx_bias = advertised.is_set(kLaneMonitors, kTxBiasBit),
             has_rx_power = advertised.is_set(kLaneMonitors, kRxPowerBit);
  // 8.4, byte 160, bits 4-3: the unit of the bias and its limits is 2, 4 or 8 uA.
  RawScale amperes = kAmperes;
  amperes.divisor /= 1u << (advertised.u8(kLaneMonitors).value_or(0) >> 3 & 3u);
  if (has_tx_power) out.tx_power_limits = thresholds.limits(176, kWatts);
  if (has_tx_bias) out.tx_bias_limits = thresholds.limits(184, amperes);
  if (has_rx_power) out.rx_power_limits = thresholds.limits(192, kWatts);
  const unsigned used = lanes_in_use(base, advertised);
  const auto paths = data_paths(base, advertised, status);
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((used >> i & 1) == 0) continue;
    ModuleLane lane{.number = i + 1};
    if (has_tx_power) lane.tx_power = {status.value(154 + 2 * i, kWatts), lane_flags(status, 139, i)};
    if (has_tx_bias) lane.tx_bias = {status.value(170 + 2 * i, amperes), lane_flags(status, 143, i)};
    if (has_rx_power) lane.rx_power = {status.value(186 + 2 * i, kWatts), lane_flags(status, 149, i)};
    if (advertised.is_set(kTxFlags, kTxFaultBit)) lane.tx_fault = status.bit(135, i);
    if (advertised.is_set(kTxFlags, kTxLosBit)) lane.tx_los = status.bit(136, i);
    if (advertised.is_set(kTxFlags, kTxLolBit)) lane.tx_lol = status.bit(137, i);
    if (advertised.is_set(kRxFlags, kRxLosBit)) lane.rx_los = status.bit(147, i);
    if (advertised.is_set(kRxFlags, kRxLolBit)) lane.rx_lol = status.bit(148, i);
    lane.path = paths[i];
    out.lanes.push_back(lane);
  }
  if (thresholds.u8(199)) drop_flags_without_limits(out);
  return out;
}

}  // namespace

const Standard kCmis{further_pages, decode};

}  // namespace fabric::eeprom
