// SPDX-License-Identifier: Apache-2.0
// QSFP-DD, OSFP, SFP-DD, DSFP: OIF-CMIS 5.0, clauses 8.2 (lower memory), 8.3 (page 00h), 8.4 (01h), 8.5, 8.9 (11h);
// OIF-CMIS 5.4, clause 8.27 (pages 20h-2Fh).
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/find.h"
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

// 8.4, byte 142: optional pages. 8.27: Versatile Diagnostics Monitoring (VDM), in up to four groups: page 2Fh, byte
// 128, bits 1-0: their number less one; from page 20h a group's 64 descriptors, from page 24h its 64 samples, of two
// bytes each. A descriptor has the lane, from 0, in bits 3-0 of its first byte, and the observable in its second one.
constexpr unsigned kOptionalPages = 142, kVdmBit = 6;
constexpr uint8_t kVdmAdvertisement = 0x2f, kVdmDescriptors = 0x20, kVdmSamples = 0x24;
constexpr unsigned kVdmGroups = 128, kInstances = 64;

// The observables that show the side of a fault, by their type (SONiC has the same numbers: sonic-platform-common,
// sonic_xcvr/codes/public/cmis.py, VDM_TYPE). All are basic ones, which the module updates all the time. The statistics
// (9-14: lowest, highest and mean ratio) are of an interval that begins and ends with a write. The thresholds (28h-2Bh)
// and the flags (2Ch), which reading clears, are not read.
struct InputObservable {
  uint8_t type;
  ModuleSide side;
  std::optional<double> ModuleInput::*value;
};
constexpr InputObservable kObservables[]{{5, ModuleSide::medium, &ModuleInput::snr},
                                         {6, ModuleSide::host, &ModuleInput::snr},
                                         {15, ModuleSide::medium, &ModuleInput::error_ratio},
                                         {16, ModuleSide::host, &ModuleInput::error_ratio}};

const InputObservable* find_observable(const Registers& descriptors, unsigned instance) {
  const auto type = descriptors.u8(129 + 2 * instance);
  if (!type) return nullptr;
  return find_where(kObservables, [=](const InputObservable& row) { return row.type == *type; });
}

// F16 (8.27): an exponent of ten in the five high bits, with an offset of 24, and a mantissa of eleven. A ratio above
// 1, such as all ones, is no measurement.
std::optional<double> error_ratio(uint16_t raw) {
  const double ratio = (raw & 0x7ff) / std::pow(10.0, 24 - (raw >> 11));
  if (ratio > 1) return std::nullopt;
  return ratio;
}

// U16 in 1/256 dB. Neither none at all nor all ones is a measurement.
std::optional<double> decibels(uint16_t raw) {
  if (raw == 0 || raw == 0xffff) return std::nullopt;
  return raw / 256.0;
}

// Adds to the inputs what group `group` measures.
void read_inputs(std::span<const Page> pages, unsigned group, std::vector<ModuleInput>& out) {
  const Registers descriptors(pages, static_cast<uint8_t>(kVdmDescriptors + group)),
      samples(pages, static_cast<uint8_t>(kVdmSamples + group));
  for (unsigned i = 0; i < kInstances; ++i) {
    const InputObservable* row = find_observable(descriptors, i);
    const auto raw = samples.u16(128 + 2 * i);
    if (row == nullptr || !raw) continue;
    const bool is_ratio = row->value == &ModuleInput::error_ratio;
    const auto value = is_ratio ? error_ratio(*raw) : decibels(*raw);
    if (!value) continue;
    unsigned lane = (descriptors.u8(128 + 2 * i).value_or(0) & 15u) + 1;
    if (lane > kLanes) lane = 0;  // some modules write 15 for a ratio
    auto input =
        std::ranges::find_if(out, [&](const ModuleInput& each) { return each.side == row->side && each.lane == lane; });
    if (input == out.end()) input = out.insert(out.end(), ModuleInput{.side = row->side, .lane = lane});
    (*input).*row->value = value;
  }
}

bool is_flat(const Registers& base) { return base.bit(2, 7).value_or(true); }

// A module with VDM costs one reading for page 2Fh and one for each group's descriptors when it is plugged in, and each
// time one for each group that measures the inputs: at most four.
std::vector<PageRequest> further_pages(std::span<const Page> read) {
  std::vector<PageRequest> out{{.offset = 128}};
  if (is_flat(Registers(read))) return out;
  out.push_back({.page = kAdvertisement, .offset = 128, .fixed = true});
  out.push_back({.page = kThresholds, .offset = 128, .fixed = true});
  out.push_back({.page = kLaneStatus, .offset = 128});
  if (!Registers(read, kAdvertisement).is_set(kOptionalPages, kVdmBit)) return out;
  out.push_back({.page = kVdmAdvertisement, .offset = 128, .fixed = true});
  const auto last = Registers(read, kVdmAdvertisement).u8(kVdmGroups);
  if (!last) return out;
  const unsigned groups = (*last & 3u) + 1;
  for (unsigned group = 0; group < groups; ++group)
    out.push_back({.page = static_cast<uint8_t>(kVdmDescriptors + group), .offset = 128, .fixed = true});
  for (unsigned group = 0; group < groups; ++group) {
    const Registers descriptors(read, static_cast<uint8_t>(kVdmDescriptors + group));
    bool is_wanted = false;
    for (unsigned i = 0; i < kInstances; ++i) is_wanted = is_wanted || find_observable(descriptors, i) != nullptr;
    if (is_wanted) out.push_back({.page = static_cast<uint8_t>(kVdmSamples + group), .offset = 128});
  }
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
  for (unsigned group = 0; group < kVdmSamples - kVdmDescriptors; ++group) read_inputs(pages, group, out.inputs);
  return out;
}

}  // namespace

const Standard kCmis{further_pages, decode};

}  // namespace fabric::eeprom
