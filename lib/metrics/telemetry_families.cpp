// SPDX-License-Identifier: Apache-2.0
#include "judge/engine.h"
#include "metrics/families.h"
#include "metrics/telemetry_metrics.h"

namespace fabric {
namespace {

using namespace metrics;

// Untyped, as in node_exporter's ethtool collector: drivers mix gauges with counters and do not mark them.
constexpr Metric kEthtool{"fabric_ethtool_counters",
                          "Driver statistics of the netdev (ethtool -S) under the driver's names, in its units, "
                          "selected by the configuration.",
                          MetricKind::untyped};

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
  const Metric* lowest;  // of all lanes; null: not published
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
  return reading.flags->high_warning || reading.flags->low_warning ? 1 : 0;
}

void add_lanes(FamilySet& families, const Port& port, const Labels& labels, bool each_lane) {
  const bool is_up = is_active(port) && port.carrier.value_or(true);
  for (const LaneRow& row : kLaneRows) {
    std::optional<int> worst;
    std::optional<double> lowest;
    for (const ModuleLane& lane : port.module->lanes) {
      const ModuleReading& reading = lane.*row.reading;
      if (reading.value && each_lane)
        families.add(*row.metric, labels, {{"lane", std::to_string(lane.number)}}, *reading.value);
      if (is_up && reading.value.value_or(kDark) < kDark) continue;
      if (reading.value) lowest = std::min(lowest.value_or(*reading.value), *reading.value);
      worst = std::max(worst, flag_of(reading));
    }
    if (lowest && row.lowest != nullptr) families.add(*row.lowest, labels, *lowest);
    add_flag(families, labels, row.name, worst);
  }
}

// Number of lanes for which `says` is true; absent if unknown for all.
template <class Says>
void add_count(FamilySet& families, const Metric& metric, const Labels& labels, std::initializer_list<Label> more,
               const Transceiver& module, Says&& says) {
  std::optional<unsigned> count;
  for (const ModuleLane& lane : module.lanes)
    if (const std::optional<bool> said = says(lane)) count = count.value_or(0) + (*said ? 1u : 0u);
  if (count) families.add(metric, labels, more, *count);
}

std::optional<bool> either(const std::optional<bool>& one, const std::optional<bool>& other) {
  return one && other ? *one || *other : one ? one : other;
}

// Protection domains, shared receive queues and CM identifiers follow these kinds.
bool is_worth_a_series(const std::string& kind) {
  return kind == "qp" || kind == "cq" || kind == "mr" || kind == "ctx";
}

void add_link_status(FamilySet& families, const Port& port) {
  if (!port.link_status) return;
  const LinkStatus& link = *port.link_status;
  const Labels labels = port_labels(port);
  if (!link.reason.empty())
    families.add(kLinkDownReason, labels, {{"reason", link.reason}, {"detail", link.detail}}, 1);
  if (link.downs) families.add_missing(kPhyLinkDowns, labels, *link.downs);
}

void add_fec(FamilySet& families, const Port& port, const Published& published) {
  if (!port.fec) return;
  const Labels labels = port_labels(port);
  const bool lanes = published.has(SeriesGroup::lanes);
  if (!port.fec->active.empty()) families.add(kFecMode, labels, {{"mode", port.fec->active}}, 1);
  add_fec_count(families, labels, port.fec->corrected_bits, kPhyCorrectedBits, kFecLaneBits, lanes);
  add_fec_count(families, labels, port.fec->corrected_blocks, kPhyCorrectedWords, kFecLaneCorrected, lanes);
  add_fec_count(families, labels, port.fec->uncorrectable_blocks, kPhyUncorrectableWords, kFecLaneUncorrectable, lanes);
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
  add_lanes(families, port, labels, published.has(SeriesGroup::lanes));
  add_count(families, kModuleLanesLost, labels, {{"side", "medium"}}, module,
            [](const ModuleLane& lane) { return either(lane.rx_los, lane.rx_lol); });
  add_count(families, kModuleLanesLost, labels, {{"side", "host"}}, module,
            [](const ModuleLane& lane) { return either(lane.tx_los, lane.tx_lol); });
  add_count(families, kModuleTxFaults, labels, {}, module, [](const ModuleLane& lane) { return lane.tx_fault; });
  if (!published.has(SeriesGroup::module_limits)) return;
  if (module.voltage.value) families.add(kModuleVoltage, labels, *module.voltage.value);
  for (const auto& [limits, metric] : kLimits)
    for (const auto& [member, name] : kBounds)
      if (const auto& bound = (module.*limits).*member) families.add(*metric, labels, {{"limit", name}}, *bound);
}

// `device` is the first port of the device.
void add_device(FamilySet& families, const Port& device, const Platform& platform, const Published& published) {
  const Labels labels{{"device", device.rdma}};
  for (const ResourceCount& count : device.resources)
    if (count.owner.empty() && is_worth_a_series(count.kind))
      families.add(kResources, labels, {{"kind", count.kind}}, static_cast<double>(count.count));
  for (const ResourceCount& count : device.resources)
    if (!count.owner.empty() && published.has(SeriesGroup::owners))
      families.add(kResourcesByOwner, labels, {{"kind", count.kind}, {"owner", count.owner}},
                   static_cast<double>(count.count));
  const bool healthy = std::ranges::all_of(device.reporters, [](const HealthReporter& each) { return each.healthy; });
  if (!device.reporters.empty()) families.add(kDeviceHealthy, labels, healthy ? 1 : 0);
  for (const HealthReporter& reporter : device.reporters) {
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

Labels port_labels(const Port& port) {
  return {{"device", port.rdma}, {"port", std::to_string(port.number) + (port.is_member() ? "@" + port.netdev : "")}};
}

void add_telemetry(FamilySet& families, const Node& node, const Published& published) {
  for (const Port& port : node.ports) add_link_status(families, port);
  for (const Port& port : node.ports) add_fec(families, port, published);
  std::set<std::string> seen;
  for (const Port& port : node.ports)
    if (seen.insert(port.rdma).second) add_device(families, port, node.platform, published);
  for (const Port& port : node.ports) add_module(families, port, published);
}

void add_ethtool(FamilySet& families, const Node& node, std::span<const std::string> globs) {
  if (globs.empty()) return;
  std::unordered_map<const char*, bool> asked;  // by where the name is kept, once for all ports
  for (const Port& port : node.ports) {
    const Labels labels = port_labels(port);
    for (const Counter& counter : port.counters.ethtool) {
      const auto [known, is_new] = asked.try_emplace(counter.name.text().data());
      if (is_new) known->second = matches_any(globs, counter.name);
      if (known->second)
        families.accumulate(kEthtool, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
    }
  }
}

}  // namespace fabric
