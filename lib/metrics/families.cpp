// SPDX-License-Identifier: Apache-2.0
#include "metrics/families.h"

#include <ctime>
#include <limits>

#include "base/find.h"
#include "base/parse.h"
#include "judge/cabling.h"
#include "judge/engine.h"
#include "judge/optics.h"
#include "judge/rule.h"
#include "judge/unseen.h"
#include "metrics/telemetry_metrics.h"
#include "nic/vnic.h"
#include "node/counters.h"
#include "node/signals.h"
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
constexpr Metric kPolicyHash{"fabric_policy_hash",
                             "1; hash: the policy that fabric-agentd has loaded, as fabric-agentctl config check "
                             "prints that of a file. Absent if it is not running."};
constexpr Metric kPolicyInfo{"fabric_policy_info",
                             "1; mode (audit, enforce) and version of fabric-agentd. Absent if it is not running."};
constexpr Metric kNotApplied{
    "fabric_settings_not_applied",
    "Settings of all ports and of the host that fabric-agentd has not brought to the policy's value in enforce mode, "
    "by outcome (pending, unsupported, refused, ignored, unsaved, conflict) and reason: of pending what it waits for "
    "(idle_port, front_end, disruptive, maintenance, other_setting, confirmation), of refused the error. Absent if "
    "none."};
constexpr Metric kInSync{"fabric_setting_in_sync",
                         "1 if the setting matches the policy: the result of its check, for a sysctl that of "
                         "fabric-agentd. 0 for every other result; absent if it could not be read, or is unverified."};
constexpr Metric kUnverified{
    "fabric_setting_unverified",
    "1 if the setting matches the policy, but the driver's answer does not show what the NIC does."};
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
                              "subject covers all subjects that are ok."};
constexpr Metric kCheckPort{"fabric_check_port_info",
                            "A port at fault, of a finding whose subject is not a port: a plane that a GPU has lost; "
                            "always 1. Absent otherwise."};
constexpr Metric kPfcWatchdog{"fabric_pfc_watchdog_seconds",
                              "Time of continuous PFC pause after which the NIC stops sending it; 0: never."};
constexpr Metric kUnjudged{
    "fabric_check_unjudged",
    "1 for a subject that the check cannot judge from here, in whole or in part; its status is 0. Absent otherwise."};
constexpr Metric kElsewhere{"fabric_rdma_devices_elsewhere",
                            "RDMA devices in other network namespaces, which are not judged here."};
constexpr Metric kObservable{
    "fabric_rdma_observable_ratio",
    "Share of the RDMA bytes received since the last scrape that belongs to queue pairs which the RDMA hardware "
    "counters count, at most. Queue pairs that a library makes for GPUs (DEVX) are not counted. Absent with little "
    "traffic, and "
    "for drivers that count all queue pairs alike."};
constexpr Metric kSettingsHash{
    "fabric_settings_hash",
    "Hash of all settings of the port as read: equal on ports whose settings are equal, whatever the policy."};

template <class Number>
void add_if(FamilySet& families, const Metric& metric, const Labels& labels, const std::optional<Number>& value) {
  if (value) families.add(metric, labels, static_cast<double>(*value));
}

// Port::id() as device and port.
Labels id_labels(std::string_view id) {
  size_t slash = id.rfind('/');
  if (slash == std::string_view::npos) return {{"device", id}, {"port", ""}};
  return {{"device", id.substr(0, slash)}, {"port", id.substr(slash + 1)}};
}

// Whether the traffic of each priority is zero; nullopt: the port does not count it.
using Idle = std::array<std::optional<bool>, kPriorities>;

void add_named(FamilySet& families, const Port& port, const Published& published, const std::vector<Counter>& counters,
               const Idle& idle = {}) {
  const Labels labels = port_labels(port);
  for (const Counter& counter : counters) {
    const CounterRow* row = counter.row;
    if (row == nullptr || row->metric == nullptr) continue;
    const Metric* metric = row->metric;
    const bool of_casts = metric == &metrics::kPortUnicast || metric == &metrics::kPortMulticast;
    // The bits received are the denominator of the lanes' errors.
    const bool of_lanes = metric == &metrics::kPhyLaneErrors || metric == &metrics::kPhyReceivedBytes;
    if (of_casts && !published.has(SeriesGroup::casts)) continue;
    if (of_lanes && !published.has(SeriesGroup::lanes)) continue;
    const bool is_of_infiniband = row->scope == CounterScope::infiniband_link;
    if (counter.value == 0 && is_of_infiniband && port.link_layer == LinkLayer::ethernet) continue;
    if (is_superseded(counter, counters)) continue;
    Label priority;
    if (counter.priority != 0) {
      if (counter.value == 0 && idle[static_cast<size_t>(counter.priority - '0')] == true) continue;
      priority = {"priority", {&counter.priority, 1}};
    }
    families.accumulate(*metric, labels, {row->label, priority}, row->scale.of(counter.value));
  }
}

}  // namespace

void add_link(FamilySet& families, const Port& port) {
  const bool whole = !port.is_member();  // a bond's member has no RDMA state, and its rate counts for the bond
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
  if (port.state) families.add(kPortUp, labels, is_active(port) && port.carrier.value_or(true) ? 1 : 0);
  add_if(families, kCarrier, labels, port.carrier);
  add_if(families, kCarrierDowns, labels, port.counters.carrier_down);
  if (whole) add_if(families, kRate, labels, port.rate);
  if (whole) add_if(families, kActiveMtu, labels, port.active_mtu);
  if (port.qos.pfc_watchdog) families.add(kPfcWatchdog, labels, *port.qos.pfc_watchdog / 1e3);
  if (keys_of(port.qos) == Keys{}) return;
  std::string settings;
  for (const Setting& setting : kSettings)
    if (has_value(setting, port.qos))
      settings.append(setting.key).append("\n").append(value_text(setting, port.qos)).append("\n");
  families.add(kSettingsHash, labels, static_cast<double>(fnv1a(settings) >> 12));  // the 52 bits that a double holds
}

void add_agent(FamilySet& families, const AgentState& agent) {
  families.add(kAgentUp, {}, agent.running ? 1 : 0);
  families.add(kAgentEnforcing, {}, agent.is_enforcing() ? 1 : 0);
  families.add(kAgentConfig, {}, agent.config_error.empty() ? 1 : 0);
  families.add(kAgentHeld, {}, agent.held.empty() ? 0 : 1);
  if (agent.running) {
    if (!agent.config.empty()) families.add(kPolicyHash, {{"hash", agent.config}}, 1);
    families.add(kPolicyInfo, {{"mode", agent.mode}, {"version", agent.version}}, 1);
  }
  if (agent.is_enforcing())
    for (const auto& [id, settings] : agent.ports)
      for (const auto& [key, state] : settings)
        if (const auto outcome = parse_word<Outcome>(state.outcome); outcome && !is_done(*outcome))
          families.accumulate(kNotApplied, {}, {{"outcome", state.outcome}, {"reason", state.reason}}, 1);
  for (const auto& [id, settings] : agent.ports)
    for (const auto& [key, state] : settings) {
      Labels labels = id_labels(id);
      labels.push_back({"setting", key});
      const bool in_sync = state.outcome == to_text(Outcome::in_sync) || state.outcome == to_text(Outcome::applied);
      // add_report() adds the settings that have a check; a sysctl has none.
      if (agent.running && !parse_setting(key)) families.add(kInSync, labels, in_sync ? 1 : 0);
      if (state.repairs > 0) families.add(kRepairs, labels, static_cast<double>(state.repairs));
      if (const auto when = parse_time(state.last_drift)) families.add(kLastDrift, labels, static_cast<double>(*when));
      for (const auto& [cause, count] : state.drifts)
        families.add(kDrifts, labels, {{"cause", cause}}, static_cast<double>(count));
    }
}

void add_report(FamilySet& families, const Report& report, const Published& published) {
  // From the check's finding, so that metric and check never differ. Unknown has no series.
  for (const Finding& finding : report.findings) {
    if (!parse_setting(finding.id) || finding.status == Status::unknown) continue;
    Labels labels = id_labels(finding.subject);
    labels.push_back({"setting", finding.id});
    const double matches = finding.status == Status::ok && !is_audited(finding);
    if (is_unverified(finding)) families.add(kUnverified, labels, matches);
    else families.add(kInSync, labels, matches);
  }
  std::set<std::string_view> ok;  // checks with subjects that have no series of their own
  for (const Finding& finding : report.findings) {
    if (const Rule* rule = find_rule(finding.id); rule != nullptr && rule->is_cause()) continue;  // fabric_diagnosis
    if (finding.status == Status::ok && !published.has(SeriesGroup::checks)) {
      ok.insert(finding.id);
      continue;
    }
    families.add(kCheckStatus, {}, {{"check", finding.id}, {"subject", finding.subject}},
                 static_cast<double>(finding.status));
  }
  for (const std::string_view check : ok) families.add(kCheckStatus, {}, {{"check", check}}, 0);
  for (const Finding& finding : report.findings)
    for (const std::string& port : finding.ports)
      families.add(kCheckPort, id_labels(port), {{"check", finding.id}, {"subject", finding.subject}}, 1);
  for (const Finding& finding : report.findings)
    if (finding.unjudged) families.add(kUnjudged, {}, {{"check", finding.id}, {"subject", finding.subject}}, 1);
}

void add_observable(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                    const RulePolicy& rules) {
  for (const Port& port : node.ports) {
    const Signals* signals = find_in(watched, port.id());
    if (signals == nullptr || port.is_member()) continue;
    if (const auto seen = observable_rdma(rules, port, *signals))
      families.add(kObservable, port_labels(port), seen->ratio);
  }
}

void add_diagnoses(FamilySet& families, const Node& node, const std::map<std::string, Signals>& watched,
                   const Report& report) {
  for (const Port& port : node.ports) {
    const std::string id = port.id();
    if (!watched.contains(id) || (is_virtual(port) && !is_endpoint(port))) continue;
    const Labels labels = port_labels(port);
    bool is_healthy = true;
    for (const Finding& each : report.findings) {
      if (!each.culprit || each.subject != id) continue;
      Labels cause = labels;
      cause.push_back({"culprit", to_text(*each.culprit)});
      cause.push_back({"rule", each.id});
      if (each.certainty) cause.push_back({"certainty", to_text(*each.certainty)});
      families.add(kDiagnosis, cause, 1);
      is_healthy = false;
    }
    if (is_healthy) families.add(kDiagnosis, labels, {{"culprit", "none"}, {"rule", "none"}}, 1);
  }
}

void add_counters(FamilySet& families, const Port& port, const Published& published) {
  Idle idle{};
  for (const Counter& counter : port.counters.ethtool) {
    if (counter.priority == 0) continue;
    const Metric* traffic = counter.row->metric;
    if (traffic != &metrics::kPriorityBytes && traffic != &metrics::kPriorityQueueBytes &&
        traffic != &metrics::kPriorityPackets)
      continue;
    std::optional<bool>& is_idle = idle[static_cast<size_t>(counter.priority - '0')];
    is_idle = is_idle.value_or(true) && counter.value == 0;
  }
  add_named(families, port, published, port.counters.hw);
  add_named(families, port, published, port.counters.ethtool, idle);
  add_named(families, port, published, port.counters.pma);
}

void add_raw_counters(FamilySet& families, const Port& port, RawCounters raw) {
  const Labels labels = port_labels(port);
  for (const Counter& counter : port.counters.pma)  // a known one without a metric repeats another counter
    if (counter.row == nullptr)
      families.add(metrics::kPortOther, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
  for (const Counter& counter : port.counters.hw)
    if (raw == RawCounters::all || counter.row == nullptr || counter.row->metric == nullptr)
      families.add(metrics::kHwCounter, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
}

void add_node(FamilySet& families, const Node& node, const Report& report, const Published& published) {
  for (const Port& port : node.ports)
    if (port.role != PortRole::smi) add_link(families, port);
  if (node.agent) add_agent(families, *node.agent);
  add_report(families, report, published);
  if (!node.topology.nics.empty()) families.add(kElsewhere, {}, static_cast<double>(devices_elsewhere(node).size()));
  // Virtual functions last: their counters must not displace those of a physical port.
  for (const Port& port : node.ports)
    if (!is_virtual(port)) add_counters(families, port, published);
  add_telemetry(families, node, published);
  for (const Port& port : node.ports)
    if (!is_virtual(port)) add_raw_counters(families, port, published.raw);
  for (const Port& port : node.ports)
    if (is_virtual(port) && port.role != PortRole::smi) add_counters(families, port, published);
  for (const Port& port : node.ports)
    if (is_virtual(port) && port.role != PortRole::smi) add_raw_counters(families, port, published.raw);
}

// ---- telemetry other than counters

namespace {

using namespace metrics;

// Untyped, as in node_exporter's ethtool collector: drivers mix gauges and counters without marking them.
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

  const bool is_up = is_active(port) && port.carrier.value_or(true);
  for (const LaneRow& row : kLaneRows) {
    std::optional<int> worst;
    std::optional<double> lowest;
    for (const ModuleLane& lane : module.lanes) {
      const ModuleReading& reading = lane.*row.reading;
      if (reading.value && published.has(SeriesGroup::lanes))
        families.add(*row.metric, labels, {{"lane", std::to_string(lane.number)}}, *reading.value);
      if (is_up && reading.value.value_or(kDark) < kDark) continue;
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

Labels port_labels(const Port& port) { return id_labels(port.id()); }

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
    if (!fec.active.empty()) families.add(kFecMode, labels, {{"mode", fec.active}}, 1);
    add_fec_count(families, labels, fec.corrected_bits, kPhyCorrectedBits, kFecLaneBits, lanes);
    add_fec_count(families, labels, fec.corrected_blocks, kPhyCorrectedWords, kFecLaneCorrected, lanes);
    add_fec_count(families, labels, fec.uncorrectable_blocks, kPhyUncorrectableWords, kFecLaneUncorrectable, lanes);
    if (const auto words = fec_words(fec)) families.add(kFecNearLimit, labels, static_cast<double>(words->near_limit));
    for (const FecBin& bin : fec.histogram)
      if (lanes)
        families.add(kFecWords, labels, {{"symbols", std::to_string(bin.high)}}, static_cast<double>(bin.words));
  }
  std::set<std::string> seen;
  for (const Port& port : node.ports)
    if (seen.insert(port.rdma).second) add_device(families, port, node.platform, published);
  for (const Port& port : node.ports) add_module(families, port, published);
}

void add_ethtool(FamilySet& families, const Node& node, std::span<const std::string> globs) {
  if (globs.empty()) return;
  std::unordered_map<const char*, bool> is_selected;  // by the address of the name, which all ports share
  for (const Port& port : node.ports) {
    const Labels labels = port_labels(port);
    for (const Counter& counter : port.counters.ethtool) {
      const auto [known, is_new] = is_selected.try_emplace(counter.name.text().data());
      if (is_new) known->second = matches_any(globs, counter.name);
      if (known->second)
        families.accumulate(kEthtool, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
    }
  }
}

// ---- bursts

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

// Adds series of one port.
struct BurstWriter {
  FamilySet& families;
  const BurstRecord& record;
  const Labels labels;
  Clock::time_point now;

  void histogram(const Metric& metric, const BurstTrack& track, std::span<const double> bounds,
                 std::initializer_list<Label> more) {
    const auto end = track.counts.begin() + static_cast<ptrdiff_t>(bounds.size()) + 1;
    families.add(metric, {{labels, more}, bounds, {track.counts.begin(), end}, track.sum});
  }
  void peak(const Metric& metric, const BurstTrack& track, std::initializer_list<Label> more) {
    if (auto highest = record.peak(track, now)) families.add(metric, labels, more, *highest);
  }
};

constexpr std::string_view kDirections[] = {"rx", "tx"};

// Whether the track of a priority and direction was sampled, and the priority is lossless or was paused in either
// direction.
bool is_published(const BurstRecord& record, const std::array<BurstTrack, 16>& tracks, size_t i) {
  const size_t priority = i % 8;
  const bool is_lossless = (record.lossless >> priority & 1) != 0;
  return tracks[i].seen && (is_lossless || tracks[priority].moved || tracks[priority + 8].moved);
}

}  // namespace

void add_bursts(FamilySet& families, const PortBursts& port, Clock::time_point now, const Published& published) {
  const BurstRecord& record = port.record;
  BurstWriter out{families, record, id_labels(port.id), now};
  for (size_t i = 0; i < record.pause.size(); ++i) {
    if (!is_published(record, record.pause, i)) continue;
    const std::string priority = std::to_string(i % 8);
    const std::string_view direction = kDirections[i / 8];
    out.histogram(kPause, record.pause[i], kPauseBounds, {{"direction", direction}, {"priority", priority}});
    out.peak(kPausePeak, record.pause[i], {{"direction", direction}, {"priority", priority}});
  }
  for (size_t i = 0; i < record.pause_frames.size(); ++i)
    if (is_published(record, record.pause_frames, i))
      out.peak(kFramesPeak, record.pause_frames[i],
               {{"direction", kDirections[i / 8]}, {"priority", std::to_string(i % 8)}});
  for (size_t i = 0; i < record.bytes.size(); ++i)
    if (record.bytes[i].seen) out.peak(kBytesPeak, record.bytes[i], {{"direction", kDirections[i]}});
  if (!published.has(SeriesGroup::bursts)) return;
  for (size_t i = 0; i < record.load.size(); ++i)
    if (record.load[i].seen) out.histogram(kLoad, record.load[i], kLoadBounds, {{"direction", kDirections[i]}});
  for (size_t i = 0; i < kBurstEvents; ++i) {
    if (!record.events[i].moved) continue;
    const std::string_view event = to_text(static_cast<BurstEvent>(i));
    out.histogram(kEventsPerSecond, record.events[i], kEventBounds, {{"event", event}});
    out.peak(kEventsPeak, record.events[i], {{"event", event}});
  }
}

// ---- health rules, and the cable's other end

namespace {

constexpr Metric kValue{"fabric_health_value",
                        "Measured value of a health rule that is not ok, in the rule's unit (fabric-agent.toml(5), "
                        "[rules.ID]). Absent while ok."};
constexpr Metric kPhase{
    "fabric_health_phase",
    "Phase of a health rule: 1 pending (not yet raised), 2 raised, 3 clearing (ok, not yet cleared). Absent while ok."};
constexpr Metric kSince{"fabric_health_since_timestamp_seconds",
                        "Time at which the rule's finding was raised. Absent without a finding."};
constexpr Metric kEvents{"fabric_events_total",
                         "Findings of health rules that have begun, by event (the key of the rule) and port; of a PCI "
                         "function, device is its address."};
constexpr Metric kAcknowledged{
    "fabric_check_acknowledged",
    "1 for a finding that an operator has acknowledged (fabric-agentctl ack). Absent otherwise."};

constexpr Metric kSuppressed{
    "fabric_check_suppressed",
    "1 for a finding that the configuration suppresses ([rules.ID] enabled = false). Absent otherwise."};
constexpr Metric kSuppressionEnd{
    "fabric_suppression_end_timestamp_seconds",
    "End of the suppression of a rule, by rule and reason; +Inf without an end. Absent for rules that are not "
    "suppressed by the configuration; a suppression that has ended has no effect."};

constexpr double kFirstZero = 60;  // the longest scrape interval that sees the 0 of a series that starts with an event

constexpr Metric kNeighbor{
    "fabric_neighbor_info",
    "The switch and its port at the other end of the cable, by LLDP, else by the cable plan; always 1."};
constexpr Metric kRail{
    "fabric_rail_info",
    "The rail, plane and leaf switch of the port, by [cabling], else by its GPU and by LLDP; always 1."};

}  // namespace

void add_events(FamilySet& families, const Health& health, const RulePolicy& rules) {
  for (const auto& [key, subjects] : health.rules) {
    const RuleWindow* rule = find_window(key);
    if (rule == nullptr || rule->is_slow) continue;  // its window is two hours, so that no scrape misses it
    if (rules.is_suppressed(rule->rule, health.wall)) continue;
    for (const auto& [subject, state] : subjects) {
      const size_t slash = subject.rfind('/');
      const bool is_port = slash != std::string::npos;
      // increase() needs a value from before the event. Rules that count events of a port therefore have a series, with
      // 0, from the first reading on. For levels and ratios, and for PCI functions, that would be too many series:
      // theirs start with the first event, and are 0 for a minute.
      auto count = static_cast<double>(state.onsets);
      if (!is_port || rule->measure != Measure::count) {
        if (!state.first_onset) continue;
        if (health.now - *state.first_onset < kFirstZero) count = 0;
      }
      Label device, port;
      if (subject != kHostSubject) device = {"device", std::string_view(subject).substr(0, slash)};
      if (is_port) port = {"port", std::string_view(subject).substr(slash + 1)};
      families.add(kEvents, {}, {{"event", key}, device, port}, count);
    }
  }
}

void add_health(FamilySet& families, const Health& health) {
  for (const auto& [rule, subjects] : health.rules)
    for (const auto& [subject, state] : subjects) {
      if (state.phase() == HealthPhase::ok) continue;
      const Labels labels{{"rule", rule}, {"subject", subject}};
      families.add(kValue, labels, state.value);
      families.add(kPhase, labels, static_cast<double>(state.phase()));
      if (state.status() != Status::ok)
        families.add(kSince, labels, static_cast<double>(health.wall) - std::max(0.0, health.now - state.since()));
    }
}

void add_acknowledged(FamilySet& families, const Report& report) {
  for (const Finding& finding : report.findings)
    if (finding.acknowledged) families.add(kAcknowledged, {{"check", finding.id}, {"subject", finding.subject}}, 1);
}

void add_suppressed(FamilySet& families, const Report& report, const RulePolicy& rules) {
  for (const Finding& finding : report.findings)
    if (finding.suppressed) families.add(kSuppressed, {{"check", finding.id}, {"subject", finding.subject}}, 1);
  for (const auto& [id, enabled] : rules.enabled) {
    if (enabled) continue;
    const std::string* reason = find_in(rules.reason, id);
    const int64_t* until = find_in(rules.until, id);
    families.add(kSuppressionEnd, {{"rule", id}, {"reason", reason != nullptr ? *reason : ""}},
                 until != nullptr ? static_cast<double>(*until) : std::numeric_limits<double>::infinity());
  }
}

void add_neighbors(FamilySet& families, const Node& node, const Policy* policy,
                   const std::map<std::string, Rail>& rails) {
  for (const Port& port : node.ports) {
    if (const auto peer = peer_of(node, policy, port))
      families.add(kNeighbor, port_labels(port), {{"switch", peer->device}, {"switch_port", peer->port}}, 1);
    const auto& [rail, plane, leaf] = rail_place(node, policy, port, rails);
    if (!rail.empty() || !leaf.empty())
      families.add(kRail, port_labels(port), {{"rail", rail}, {"plane", plane}, {"leaf", leaf}}, 1);
  }
}

}  // namespace fabric
