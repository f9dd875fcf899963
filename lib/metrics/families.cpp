// SPDX-License-Identifier: Apache-2.0
#include "metrics/families.h"

#include <ctime>

#include "base/find.h"
#include "base/parse.h"
#include "judge/engine.h"
#include "metrics/telemetry_metrics.h"
#include "node/counters.h"
#include "setting/change.h"
#include "setting/setting_table.h"

namespace fabric {
namespace {

constexpr Metric kPortInfo{"fabric_port_info", "Identity of the port; always 1."};
constexpr Metric kPortUp{"fabric_port_up", "1 if the port is ACTIVE and its netdev, if any, has carrier."};
constexpr Metric kPortState{"fabric_port_state", "Port state: 1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE, 5 ACTIVE_DEFER."};
constexpr Metric kPhysicalState{"fabric_port_physical_state",
                                "Physical state: 1 Sleep, 2 Polling, 3 Disabled, 4 PortConfigurationTraining, 5 "
                                "LinkUp, 6 LinkErrorRecovery, 7 Phy Test."};
constexpr Metric kRate{"fabric_port_rate_bytes_per_second", "Data rate of the link."};
constexpr Metric kActiveMtu{"fabric_port_active_mtu_bytes", "Path MTU that RDMA can use on the port."};
constexpr Metric kCarrier{"fabric_port_carrier", "1 if the netdev has carrier."};
constexpr Metric kCarrierDowns{"fabric_port_carrier_downs_total", "Times the netdev lost carrier."};

constexpr Metric kAgentUp{"fabric_agent_up", "1 if fabric-agentd is running."};
constexpr Metric kAgentEnforcing{
    "fabric_agent_enforcing",
    "1 if fabric-agentd writes settings, 0 if it only reports (mode audit) or is not running."};
constexpr Metric kAgentConfig{"fabric_agent_config_valid",
                              "0 if the configuration is invalid and the last valid one is in use."};
constexpr Metric kInSync{"fabric_setting_in_sync",
                         "1 if the setting matches the policy: the result of its check, for a sysctl that of "
                         "fabric-agentd. 0 for every other result; absent if it could not be read, or is unverified."};
constexpr Metric kUnverified{
    "fabric_setting_unverified",
    "1 if the setting reads as the policy wants, but the driver's answer does not show what the NIC does."};
constexpr Metric kRepairs{
    "fabric_setting_repairs_total",
    "Times fabric-agentd restored the setting since it began to enforce it. Absent until the first repair."};
constexpr Metric kDrifts{
    "fabric_setting_drifts_total",
    "Times the setting had changed after it was in sync, by likely cause: driver (loaded or reset), link (retrained), "
    "firmware, process (another program), unnotified (without a notification). Absent until the first drift."};
constexpr Metric kLastDrift{"fabric_setting_last_drift_timestamp_seconds", "Time of the last drift."};
constexpr Metric kAgentHeld{"fabric_agent_held",
                            "1 while enforcement is suspended because an apply was not confirmed."};
constexpr Metric kDiagnosis{
    "fabric_diagnosis",
    "1 for a cause of the port's symptoms, by culprit (host, cable, network, peer, unknown, none), rule, and certainty "
    "(certain, likely; absent if unknown). Without symptoms culprit and rule are none."};
constexpr Metric kCheckStatus{"fabric_check_status",
                              "Status of the check: 0 ok, 1 warning, 2 critical, 3 unknown. The series without a "
                              "subject stands for all subjects that are ok."};
constexpr Metric kSettingsHash{
    "fabric_settings_hash",
    "Hash of all settings of the port as read: equal on ports whose settings are equal, whatever the policy."};

template <class Number>
void add_if(FamilySet& families, const Metric& metric, const Labels& labels, const std::optional<Number>& value) {
  if (value) families.add(metric, labels, static_cast<double>(*value));
}

// Of the texts of all settings, cut to the 52 bits that a double holds.
double settings_hash(const Qos& qos) {
  std::string all;
  for (const Setting& setting : kSettings)
    if (has_value(setting, qos)) all.append(setting.key).append("\n").append(value_text(setting, qos)).append("\n");
  return static_cast<double>(fnv1a(all) >> 12);
}

// Detail that is published on request.
bool is_left_out(const Metric* metric, const Published& published) {
  if (metric == &metrics::kPortUnicast || metric == &metrics::kPortMulticast) return !published.has(SeriesGroup::casts);
  const bool of_lanes =
      metric == &metrics::kPhyLaneErrors || metric == &metrics::kPhyReceivedBytes;  // what to divide by
  return of_lanes && !published.has(SeriesGroup::lanes);
}

// "mlx5_0/1" as device and port.
Labels id_labels(std::string_view id) {
  size_t slash = id.rfind('/');
  if (slash == std::string_view::npos) return {{"device", id}, {"port", ""}};
  return {{"device", id.substr(0, slash)}, {"port", id.substr(slash + 1)}};
}

// "2026-11-21T14:30:00Z", as agentd writes it.
std::optional<double> unix_seconds(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (text.empty() || end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<double>(::timegm(&parts));
}

// By priority, whether its traffic is zero; nullopt: the port does not count it.
using Idle = std::array<std::optional<bool>, kPriorities>;
Idle idle_priorities(const Port& port) {
  Idle idle{};
  for (const Counter& counter : port.counters.ethtool) {
    if (counter.priority == 0) continue;
    const Metric* traffic = counter.row->metric;
    if (traffic != &metrics::kPriorityBytes && traffic != &metrics::kPriorityQueueBytes &&
        traffic != &metrics::kPriorityPackets)
      continue;
    std::optional<bool>& known = idle[static_cast<size_t>(counter.priority - '0')];
    known = known.value_or(true) && counter.value == 0;
  }
  return idle;
}

void add_named(FamilySet& families, const Port& port, const Published& published, const std::vector<Counter>& counters,
               const Idle& idle = {}) {
  const Labels labels = port_labels(port);
  for (const Counter& counter : counters) {
    const CounterRow* row = counter.row;
    if (row == nullptr || row->metric == nullptr || is_left_out(row->metric, published)) continue;
    const bool is_of_infiniband = row->scope == CounterScope::infiniband_link;
    if (counter.value == 0 && is_of_infiniband && port.link_layer == LinkLayer::ethernet) continue;
    if (is_superseded(counter, counters)) continue;
    Label priority;
    if (counter.priority != 0) {
      if (counter.value == 0 && idle[static_cast<size_t>(counter.priority - '0')] == true) continue;
      priority = {"priority", {&counter.priority, 1}};
    }
    families.accumulate(*row->metric, labels, {row->label, priority},
                        static_cast<double>(counter.value) * row->scale.multiply / row->scale.divide);
  }
}

}  // namespace

void add_link(FamilySet& families, const Port& port) {
  const bool whole = !port.is_member();  // a member has no RDMA state, and sums are of whole ports
  const Labels labels = port_labels(port);
  families.add(kPortInfo, labels,
               {{"driver", port.kernel_driver},
                {"firmware", port.firmware},
                {"netdev", port.netdev},
                {"pci", port.pci},
                {"numa", port.numa ? std::to_string(*port.numa) : ""},
                {"link_layer", to_text(port.link_layer)},
                {"board", port.board_id},
                {"hca_type", port.hca_type}},
               1);
  if (whole) add_if(families, kPortState, labels, port.state);
  if (whole) add_if(families, kPhysicalState, labels, port.phys_state);
  if (port.state) families.add(kPortUp, labels, *port.state == 4 && port.carrier.value_or(true) ? 1 : 0);
  add_if(families, kCarrier, labels, port.carrier);
  add_if(families, kCarrierDowns, labels, port.counters.carrier_down);
  if (whole) add_if(families, kRate, labels, port.rate);
  if (whole) add_if(families, kActiveMtu, labels, port.active_mtu);
  if (keys_of(port.qos) != Keys{}) families.add(kSettingsHash, labels, settings_hash(port.qos));
}

void add_agent(FamilySet& families, const AgentState& agent) {
  families.add(kAgentUp, {}, agent.running ? 1 : 0);
  families.add(kAgentEnforcing, {}, agent.running && agent.mode == "enforce" ? 1 : 0);
  families.add(kAgentConfig, {}, agent.config_error.empty() ? 1 : 0);
  families.add(kAgentHeld, {}, agent.held.empty() ? 0 : 1);
  for (const auto& [id, settings] : agent.ports)
    for (const auto& [key, state] : settings) {
      Labels labels = id_labels(id);
      labels.push_back({"setting", key});
      const bool in_sync = state.outcome == to_text(Outcome::in_sync) || state.outcome == to_text(Outcome::applied);
      if (agent.running && !parse_setting(key)) families.add(kInSync, labels, in_sync ? 1 : 0);  // a sysctl: no check
      if (state.repairs > 0) families.add(kRepairs, labels, static_cast<double>(state.repairs));
      if (const auto when = unix_seconds(state.last_drift)) families.add(kLastDrift, labels, *when);
      for (const auto& [cause, count] : state.drifts)
        families.add(kDrifts, labels, {{"cause", cause}}, static_cast<double>(count));
    }
}

void add_report(FamilySet& families, const Report& report, const Published& published) {
  // Of the check itself, so that the two never differ. Unknown has no series.
  for (const Finding& finding : report.findings) {
    if (!parse_setting(finding.id) || finding.status == Status::unknown) continue;
    Labels labels = id_labels(finding.subject);
    labels.push_back({"setting", finding.id});
    families.add(finding.unverified ? kUnverified : kInSync, labels, finding.status == Status::ok ? 1 : 0);
  }
  std::set<std::string_view> ok;  // checks that have a subject without a series of its own
  for (const Finding& finding : report.findings)
    if (finding.culprit) continue;  // fabric_diagnosis
    else if (finding.status == Status::ok && !published.has(SeriesGroup::checks)) ok.insert(finding.id);
    else
      families.add(kCheckStatus, {}, {{"check", finding.id}, {"subject", finding.subject}},
                   static_cast<double>(finding.status));
  for (const std::string_view check : ok) families.add(kCheckStatus, {}, {{"check", check}}, 0);
}

void add_diagnoses(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                   const Report& report) {
  for (const Port& port : node.ports) {
    const std::string id = port.id();
    if (!watched.contains(id) || is_virtual(port)) continue;
    const Labels labels = port_labels(port);
    bool quiet = true;
    for (const Finding& each : report.findings) {
      if (!each.culprit || each.subject != id) continue;
      Labels cause = labels;
      cause.push_back({"culprit", to_text(*each.culprit)});
      cause.push_back({"rule", each.id});
      if (each.certainty) cause.push_back({"certainty", to_text(*each.certainty)});
      families.add(kDiagnosis, cause, 1);
      quiet = false;
    }
    if (quiet) families.add(kDiagnosis, labels, {{"culprit", "none"}, {"rule", "none"}}, 1);
  }
}

void add_counters(FamilySet& families, const Port& port, const Published& published) {
  add_named(families, port, published, port.counters.hw);
  add_named(families, port, published, port.counters.ethtool, idle_priorities(port));
  add_named(families, port, published, port.counters.pma);
}

void add_raw_counters(FamilySet& families, const Port& port, RawCounters raw) {
  const auto add = [&, labels = port_labels(port)](const Metric& metric, const Counter& counter) {
    families.add(metric, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
  };
  for (const Counter& counter : port.counters.pma)  // one that is known and has no metric repeats another counter
    if (counter.row == nullptr) add(metrics::kPortOther, counter);
  for (const Counter& counter : port.counters.hw)
    if (raw == RawCounters::all || counter.row == nullptr || counter.row->metric == nullptr)
      add(metrics::kHwCounter, counter);
}

void add_node(FamilySet& families, const Node& node, const Report& report, const Published& published) {
  for (const Port& port : node.ports) add_link(families, port);
  if (node.agent) add_agent(families, *node.agent);
  add_report(families, report, published);
  // Virtual functions last: their counters must not displace those of a physical port.
  const auto each = [&](bool of_guests, const auto& add) {
    for (const Port& port : node.ports)
      if (is_virtual(port) == of_guests) add(port);
  };
  const auto counters = [&](const Port& port) { add_counters(families, port, published); };
  const auto raw_counters = [&](const Port& port) { add_raw_counters(families, port, published.raw); };
  each(false, counters);
  add_telemetry(families, node, published);
  each(false, raw_counters);
  each(true, counters);
  each(true, raw_counters);
}

// Telemetry other than counters.

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

// nullopt: neither is known.
std::optional<bool> either(const std::optional<bool>& one, const std::optional<bool>& other) {
  if (one && other) return *one || *other;
  if (one) return one;
  return other;
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
  constexpr std::string_view kKinds[] = {"qp", "cq", "mr", "ctx"};  // PDs, SRQs and CM identifiers follow these
  for (const ResourceCount& count : device.resources)
    if (count.owner.empty() && contains(kKinds, count.kind))
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
  for (const Port& port : node.ports) {
    if (!port.link_status) continue;
    const LinkStatus& link = *port.link_status;
    const Labels labels = port_labels(port);
    if (!link.reason.empty())
      families.add(kLinkDownReason, labels, {{"reason", link.reason}, {"detail", link.detail}}, 1);
    if (link.downs) families.add_missing(kPhyLinkDowns, labels, *link.downs);
  }
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

// Bursts.

namespace {

using Clock = BurstRecord::Clock;

constexpr MetricKind kHistogram = MetricKind::histogram;

constexpr Metric kPause{
    "fabric_burst_pause_ratio",
    "Share of each sample paused by PFC, by direction and priority (rx: the peer paused this port).", kHistogram};
constexpr Metric kLoad{"fabric_burst_link_utilization_ratio",
                       "RDMA traffic of each sample as a share of the line rate, by direction; port traffic if the "
                       "driver does not count RDMA bytes.",
                       kHistogram};
constexpr Metric kEventsPerSecond{"fabric_burst_events_per_second",
                                  "Rate within each sample, by event (cnp_sent, cnp_handled, ecn_marked, "
                                  "out_of_sequence, rx_discards, tx_discards). Absent until the first event.",
                                  kHistogram};
constexpr Metric kPausePeak{
    "fabric_burst_pause_ratio_peak",
    "Highest share of a sample paused by PFC in the last 60 to 70 seconds, by direction and priority."};
constexpr Metric kFramesPeak{"fabric_burst_pause_frames_per_second_peak",
                             "Highest rate of PFC frames within a sample in the last 60 to 70 seconds, by direction "
                             "and priority; only if the NIC does not count paused time."};
constexpr Metric kBytesPeak{"fabric_burst_bytes_per_second_peak",
                            "Highest rate of RDMA traffic within a sample in the last 60 to 70 seconds, by direction; "
                            "port traffic if the driver does not count RDMA bytes."};
constexpr Metric kEventsPeak{
    "fabric_burst_events_per_second_peak",
    "Highest rate within a sample in the last 60 to 70 seconds, by event. Absent until the first event."};

// Writes one port's series.
struct Publisher {
  FamilySet& families;
  const PortBursts& port;
  const Labels labels;
  Clock::time_point now;

  void histogram(const Metric& metric, const BurstTrack& track, std::span<const double> bounds,
                 std::initializer_list<Label> of) {
    const auto end = track.counts.begin() + static_cast<ptrdiff_t>(bounds.size()) + 1;
    families.add(metric, {{labels, of}, bounds, {track.counts.begin(), end}, track.sum});
  }
  void peak(const Metric& metric, const BurstTrack& track, std::initializer_list<Label> of) {
    if (auto highest = port.record.peak(track, now)) families.add(metric, labels, of, *highest);
  }
  // Priorities that are lossless or were paused in either direction.
  void priorities(const std::array<BurstTrack, 16>& tracks, auto&& with) const {
    for (size_t i = 0; i < tracks.size(); ++i) {
      const bool shown = (port.record.lossless >> (i % 8) & 1) != 0 || tracks[i % 8].moved || tracks[i % 8 + 8].moved;
      if (tracks[i].seen && shown)
        with(tracks[i], {{"direction", i < 8 ? "rx" : "tx"}, {"priority", std::to_string(i % 8)}});
    }
  }
  static void directions(const std::array<BurstTrack, 2>& tracks, auto&& with) {
    for (size_t i = 0; i < tracks.size(); ++i)
      if (tracks[i].seen) with(tracks[i], {{"direction", i == 0 ? "rx" : "tx"}});
  }
  void events(auto&& with) const {
    for (size_t i = 0; i < kBurstEvents; ++i)
      if (port.record.events[i].moved) with(port.record.events[i], {{"event", to_text(static_cast<BurstEvent>(i))}});
  }
};

}  // namespace

void add_bursts(FamilySet& families, const PortBursts& port, Clock::time_point now, const Published& published) {
  const bool all = published.has(SeriesGroup::bursts);
  const std::string number = std::to_string(port.port) + (port.member.empty() ? "" : "@" + port.member);
  Publisher out{families, port, {{"device", port.device}, {"port", number}}, now};
  const BurstRecord& record = port.record;
  using Of = std::initializer_list<Label>;
  out.priorities(record.pause, [&](const BurstTrack& track, Of of) {
    out.histogram(kPause, track, kPauseBounds, of);
    out.peak(kPausePeak, track, of);
  });
  out.priorities(record.pause_frames, [&](const BurstTrack& track, Of of) { out.peak(kFramesPeak, track, of); });
  out.directions(record.bytes, [&](const BurstTrack& track, Of of) { out.peak(kBytesPeak, track, of); });
  out.directions(record.load, [&](const BurstTrack& track, Of of) {
    if (all) out.histogram(kLoad, track, kLoadBounds, of);
  });
  if (!all) return;
  out.events([&](const BurstTrack& track, Of of) {
    out.histogram(kEventsPerSecond, track, kEventBounds, of);
    out.peak(kEventsPeak, track, of);
  });
}

}  // namespace fabric
