// SPDX-License-Identifier: Apache-2.0
#include "metrics/telemetry.h"

#include "base/find.h"
#include "judge/optics.h"
#include "metrics/port_labels.h"
#include "metrics/telemetry_metrics.h"
#include "nic/vnic.h"

namespace fabric {
namespace {

using namespace metrics;

void add_fec_count(FamilySet& families, const Labels& port, const FecCount& count, const Metric& sum,
                   const Metric& lane, bool each_lane) {
  // A counter of the port with the same meaning takes precedence.
  if (count.total) families.add_missing(sum, port, static_cast<double>(*count.total));
  if (!each_lane) return;
  for (size_t i = 0; i < count.lanes.size(); ++i)
    families.add(lane, port, {{"lane", std::to_string(i)}}, static_cast<double>(count.lanes[i]));
}

struct LaneRow {
  ModuleReading ModuleLane::*reading;
  const Metric* metric;
  const Metric* lowest;  // the lowest of all lanes; null: not published
  std::string_view name;
};
constexpr std::array<LaneRow, 3> kLaneRows{{{&ModuleLane::rx_power, &kModuleRxPower, &kModuleRxPowerLowest, "rx_power"},
                                            {&ModuleLane::tx_power, &kModuleTxPower, &kModuleTxPowerLowest, "tx_power"},
                                            {&ModuleLane::tx_bias, &kModuleTxBias, nullptr, "tx_bias"}}};

constexpr std::pair<ModuleLimits Transceiver::*, const Metric*> kLimits[]{
    {&Transceiver::temperature_limits, &kModuleTemperatureLimit},
    {&Transceiver::voltage_limits, &kModuleVoltageLimit},
    {&Transceiver::rx_power_limits, &kModuleRxPowerLimit},
    {&Transceiver::tx_power_limits, &kModuleTxPowerLimit},
    {&Transceiver::tx_bias_limits, &kModuleTxBiasLimit}};
constexpr std::pair<std::optional<double> ModuleLimits::*, std::string_view> kBounds[]{
    {&ModuleLimits::high_alarm, "high_alarm"},
    {&ModuleLimits::high_warning, "high_warning"},
    {&ModuleLimits::low_warning, "low_warning"},
    {&ModuleLimits::low_alarm, "low_alarm"}};

void add_flag(FamilySet& families, const Labels& port, std::string_view reading, const std::optional<int>& worst) {
  if (worst) families.add(kModuleFlag, port, {{"reading", reading}}, *worst);
}

std::optional<int> flag_of(const ModuleReading& reading) {
  if (!reading.flags) return std::nullopt;
  if (reading.flags->high_alarm || reading.flags->low_alarm) return 2;
  if (reading.flags->high_warning || reading.flags->low_warning) return 1;
  return 0;
}

// Counts a lane if one of the two conditions is true. `count` stays nullopt while both are unknown on every lane.
void count_lane(std::optional<unsigned>& count, const std::optional<bool>& first,
                const std::optional<bool>& second = std::nullopt) {
  if (!first && !second) return;
  count = count.value_or(0);
  if (first.value_or(false) || second.value_or(false)) ++*count;
}

void add_module(FamilySet& families, const Port& port, const Published& published) {
  if (!port.module) return;
  const Transceiver& module = *port.module;
  const Labels labels = port_labels(port);
  families.add(kModuleInfo, labels,
               {{"form_factor", module.form_factor},
                {"vendor", module.vendor},
                {"part_number", module.part_number},
                {"serial_number", module.serial_number},
                {"medium", module.medium ? to_text(*module.medium) : ""},
                {"technology", module.technology}},
               1);
  if (module.state) families.add(kModuleState, labels, static_cast<double>(*module.state));
  if (module.cable_length) families.add(kModuleLength, labels, *module.cable_length);
  if (module.temperature.value) families.add(kModuleTemperature, labels, *module.temperature.value);
  add_flag(families, labels, "temperature", flag_of(module.temperature));
  add_flag(families, labels, "voltage", flag_of(module.voltage));

  for (const LaneRow& row : kLaneRows) {
    std::optional<int> worst;
    std::optional<double> lowest;
    for (const ModuleLane& lane : module.lanes) {
      const ModuleReading& reading = lane.*row.reading;
      if (reading.value && published.has(SeriesGroup::lanes))
        families.add(*row.metric, labels, {{"lane", std::to_string(lane.number)}}, *reading.value);
      if (is_up(port) && reading.value.value_or(kDark) < kDark) continue;
      if (reading.value) lowest = std::min(lowest.value_or(*reading.value), *reading.value);
      worst = std::max(worst, flag_of(reading));
    }
    if (lowest && row.lowest != nullptr) families.add(*row.lowest, labels, *lowest);
    add_flag(families, labels, row.name, worst);
  }

  std::optional<unsigned> lost_from_cable, lost_from_nic, transmit_faults;
  for (const ModuleLane& lane : module.lanes) {
    count_lane(lost_from_cable, lane.rx_los, lane.rx_lol);
    count_lane(lost_from_nic, lane.tx_los, lane.tx_lol);
    count_lane(transmit_faults, lane.tx_fault);
  }
  if (lost_from_cable) families.add(kModuleLanesLost, labels, {{"side", "medium"}}, *lost_from_cable);
  if (lost_from_nic) families.add(kModuleLanesLost, labels, {{"side", "host"}}, *lost_from_nic);
  if (transmit_faults) families.add(kModuleTxFaults, labels, *transmit_faults);

  const InputErrors arrived = input_errors(port);
  for (const ModuleSide side : {ModuleSide::medium, ModuleSide::host}) {
    const std::optional<double>& errors = side == ModuleSide::medium ? arrived.from_cable : arrived.from_nic;
    if (errors) families.add(kModuleInputErrors, labels, {{"side", to_text(side)}}, *errors);
    std::optional<double> snr;
    for (const ModuleInput& input : module.inputs)
      if (input.side == side && input.snr) snr = std::min(snr.value_or(*input.snr), *input.snr);
    if (snr) families.add(kModuleInputSnr, labels, {{"side", to_text(side)}}, *snr);
  }

  if (!published.has(SeriesGroup::module_limits)) return;
  if (module.voltage.value) families.add(kModuleVoltage, labels, *module.voltage.value);
  for (const auto& [limits, metric] : kLimits)
    for (const auto& [member, name] : kBounds)
      if (const auto& bound = (module.*limits).*member) families.add(*metric, labels, {{"limit", name}}, *bound);
}

// A counter that the device does not have is absent from the sum.
void add_vnic(FamilySet& families, const Labels& labels, const HealthReporter& vnic, RawCounters raw) {
  for (const VnicFault& fault : kVnicFaults)
    if (const auto* count = find_in(vnic.diagnosis, std::string(fault.counter)); count != nullptr && !fault.is_level)
      families.accumulate(kQueueFaults, labels, {}, static_cast<double>(*count));
  for (const auto& [name, value] : vnic.diagnosis)
    if (raw == RawCounters::all) families.add(kVnicCounters, labels, {{"counter", name}}, static_cast<double>(value));
}

// `device` is the first port of the device.
void add_device(FamilySet& families, const Port& device, const Platform& platform, const Published& published) {
  const Labels labels{{"device", device.rdma}};
  constexpr std::string_view kKinds[] = {"qp", "cq", "mr", "ctx"};  // PDs, SRQs and CM identifiers follow these
  for (const ResourceCount& count : device.resources) {
    if (!count.owner.empty() || !contains(kKinds, count.kind)) continue;
    families.add(kResources, labels, {{"kind", count.kind}}, static_cast<double>(count.count));
    if (count.most && published.has(SeriesGroup::owners))  // its share is judged by the check rdma-resources
      families.add(kResourcesMost, labels, {{"kind", count.kind}}, static_cast<double>(*count.most));
  }
  for (const ResourceCount& count : device.resources)
    if (!count.owner.empty() && published.has(SeriesGroup::owners))
      families.add(kResourcesByOwner, labels, {{"kind", count.kind}, {"owner", count.owner}},
                   static_cast<double>(count.count));
  const bool healthy = std::ranges::all_of(device.reporters, [](const HealthReporter& each) { return each.healthy; });
  if (!device.reporters.empty()) families.add(kDeviceHealthy, labels, healthy ? 1 : 0);
  for (const HealthReporter& reporter : device.reporters) {
    if (reporter.name == kVnicReporter) {  // counts faults of queues, never errors of the device
      add_vnic(families, labels, reporter, published.raw);
      continue;
    }
    families.add(kDeviceErrors, labels, {{"reporter", reporter.name}}, static_cast<double>(reporter.errors));
    families.accumulate(kDeviceRecoveries, labels, {}, static_cast<double>(reporter.recoveries));
  }
  const auto function = platform.functions.find(device.pci);
  if (function == platform.functions.end()) return;
  for (const auto& [name, counts] : {std::pair{"correctable", &function->second.correctable},
                                     {"nonfatal", &function->second.nonfatal},
                                     {"fatal", &function->second.fatal}})
    if (counts->total) families.add(kPcieErrors, labels, {{"severity", name}}, static_cast<double>(*counts->total));
}

}  // namespace

void add_telemetry(FamilySet& families, const Node& node, const Published& published) {
  for (const Port& port : node.ports) {
    if (!port.link_status) continue;
    const LinkStatus& link = *port.link_status;
    const Labels labels = port_labels(port);
    if (!link.reason.empty())
      families.add(kLinkDownReason, labels, {{"reason", link.reason}, {"detail", link.detail}}, 1);
    if (link.downs) families.add_missing(kPhyLinkDowns, labels, *link.downs);
  }
  const bool lanes = published.has(SeriesGroup::lanes);
  for (const Port& port : node.ports) {
    if (!port.fec) continue;
    const FecStatus& fec = *port.fec;
    const Labels labels = port_labels(port);
    std::string mode(to_text(fec.active));
    if (fec.active == FecCode::other) mode = "link mode " + std::to_string(fec.link_mode);
    if (fec.active != FecCode::none) families.add(kFecMode, labels, {{"mode", mode}}, 1);
    add_fec_count(families, labels, fec.corrected_bits, kPhyCorrectedBits, kFecLaneBits, lanes);
    add_fec_count(families, labels, fec.corrected_blocks, kPhyCorrectedWords, kFecLaneCorrected, lanes);
    add_fec_count(families, labels, fec.uncorrectable_blocks, kPhyUncorrectableWords, kFecLaneUncorrectable, lanes);
    // A series for each code: with another speed the port may have another one, whose count is not the same.
    if (const auto words = fec_words(port))
      families.add(kFecNearLimit, labels, {{"correctable", std::to_string(words->limit)}},
                   static_cast<double>(words->near_limit));
    for (const FecBin& bin : fec.histogram)
      if (lanes)
        families.add(kFecWords, labels, {{"symbols", std::to_string(bin.high)}}, static_cast<double>(bin.words));
  }
  std::set<std::string> seen;
  for (const Port& port : node.ports)
    if (seen.insert(port.rdma).second) add_device(families, port, node.platform, published);
  for (const Port& port : node.ports) add_module(families, port, published);
}

}  // namespace fabric
