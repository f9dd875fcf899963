// SPDX-License-Identifier: Apache-2.0
#include "metrics/families.h"

#include "base/parse.h"
#include "judge/rule.h"
#include "judge/unseen.h"
#include "metrics/counters.h"
#include "metrics/port_labels.h"
#include "metrics/telemetry.h"
#include "nic/capabilities.h"
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
    "(certain, likely; absent if unknown). Without symptoms culprit and rule are none; a "
    "cause that the configuration suppresses is left out."};
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
  if (port.state) families.add(kPortUp, labels, is_up(port) ? 1 : 0);
  add_if(families, kCarrier, labels, port.carrier);
  add_if(families, kCarrierDowns, labels, port.counters.carrier_down);
  if (whole) add_if(families, kRate, labels, port.rate);
  if (whole) add_if(families, kActiveMtu, labels, port.active_mtu);
  if (port.qos.pfc_watchdog && *port.qos.pfc_watchdog != kAutomaticPfcWatchdog)
    families.add(kPfcWatchdog, labels, *port.qos.pfc_watchdog / 1e3);
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
    families.add(kPolicyInfo, {{"mode", agent.mode ? to_text(*agent.mode) : ""}, {"version", agent.version}}, 1);
  }
  if (agent.is_enforcing())
    for (const auto& [id, settings] : agent.ports)
      for (const auto& [key, state] : settings)
        if (state.outcome && !is_done(*state.outcome))
          families.accumulate(kNotApplied, {}, {{"outcome", to_text(*state.outcome)}, {"reason", state.reason}}, 1);
  for (const auto& [id, settings] : agent.ports)
    for (const auto& [key, state] : settings) {
      Labels labels = id_labels(id);
      labels.push_back({"setting", key});
      const bool in_sync = state.outcome == Outcome::in_sync || state.outcome == Outcome::applied;
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
      if (!each.culprit || each.suppressed || each.subject != id) continue;
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

}  // namespace fabric
