// SPDX-License-Identifier: Apache-2.0
#include "metrics/families.h"

#include <ctime>

#include "base/parse.h"
#include "nic/counter_catalogue.h"
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
    if (counter.name.text().find("pri") == std::string::npos) continue;  // most of a thousand are of queues
    const auto match = find_counter(CounterSource::ethtool, counter.name, port.kernel_driver);
    if (!match || match->priority == 0) continue;
    const Metric* traffic = match->row->metric;
    if (traffic != &metrics::kPriorityBytes && traffic != &metrics::kPriorityQueueBytes &&
        traffic != &metrics::kPriorityPackets)
      continue;
    std::optional<bool>& known = idle[static_cast<size_t>(match->priority - '0')];
    known = known.value_or(true) && counter.value == 0;
  }
  return idle;
}

void add_named(FamilySet& families, const Port& port, const Published& published, CounterSource source,
               const std::vector<Counter>& counters, const Idle& idle = {}) {
  const Labels labels = port_labels(port);
  for (const Counter& counter : counters) {
    auto match = find_counter(source, counter.name, port.kernel_driver);
    if (!match || is_left_out(match->row->metric, published)) continue;
    const bool is_of_infiniband = match->row->scope == CounterScope::infiniband_link;
    if (counter.value == 0 && is_of_infiniband && port.link_layer == LinkLayer::ethernet) continue;
    if (is_superseded(*match->row, counters)) continue;
    Label priority;
    if (match->priority != 0) {
      if (counter.value == 0 && idle[static_cast<size_t>(match->priority - '0')] == true) continue;
      priority = {"priority", {&match->priority, 1}};
    }
    const Scale& scale = match->row->scale;
    families.accumulate(*match->row->metric, labels, {match->row->label, priority},
                        static_cast<double>(counter.value) * scale.multiply / scale.divide);
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
    if (!watched.contains(id) || port.virtual_function) continue;
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
  add_named(families, port, published, CounterSource::hw, port.counters.hw);
  add_named(families, port, published, CounterSource::ethtool, port.counters.ethtool, idle_priorities(port));
  add_named(families, port, published, CounterSource::pma, port.counters.pma);
}

void add_raw_counters(FamilySet& families, const Port& port, RawCounters raw) {
  const auto add = [&, labels = port_labels(port)](const Metric& metric, const Counter& counter) {
    families.add(metric, labels, {{"counter", counter.name}}, static_cast<double>(counter.value));
  };
  for (const Counter& counter : port.counters.pma)  // one that is known and has no metric repeats another counter
    if (!describe_counter(CounterSource::pma, counter.name, port.kernel_driver)) add(metrics::kPortOther, counter);
  for (const Counter& counter : port.counters.hw)
    if (raw == RawCounters::all || !find_counter(CounterSource::hw, counter.name, port.kernel_driver))
      add(metrics::kHwCounter, counter);
}

void add_node(FamilySet& families, const Node& node, const Report& report, const Published& published) {
  for (const Port& port : node.ports) add_link(families, port);
  if (node.agent) add_agent(families, *node.agent);
  add_report(families, report, published);
  // Virtual functions last: their counters must not displace those of a physical port.
  const auto each = [&](bool of_guests, const auto& add) {
    for (const Port& port : node.ports)
      if (port.virtual_function == of_guests) add(port);
  };
  const auto counters = [&](const Port& port) { add_counters(families, port, published); };
  const auto raw_counters = [&](const Port& port) { add_raw_counters(families, port, published.raw); };
  each(false, counters);
  add_telemetry(families, node, published);
  each(false, raw_counters);
  each(true, counters);
  each(true, raw_counters);
}

}  // namespace fabric
