// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <algorithm>
#include <utility>

#include "check/checks.h"

namespace fabric {
namespace {

constexpr std::string_view kLink = "link", kSettingsGroup = "settings", kTopology = "topology", kAgent = "agent",
                           kCounters = "counters";

constexpr Check kPlain[] = {
    {"port-state", kLink, "Is every RDMA port ACTIVE and its link up?",
     "A port that is not ACTIVE carries no RDMA. Its physical state tells the culprit: Disabled is this host (ip link "
     "set up), Polling is "
     "no signal (cable, transceiver, switch port), training or recovery is a bad cable or unequal speed and FEC; INIT "
     "on InfiniBand is a "
     "missing subnet manager.",
     ask_port_state},
    {"rate", kLink, "Does every port run at the speed of its twins?",
     "Ports of the same adapter at the same place are compared with each other; one that runs slower has lost lanes or "
     "speed. Compare "
     "speed and FEC with the switch port, then replace cable or transceiver.",
     ask_rate},
    {"roce-mtu", kLink, "Is the MTU large enough for the RoCE path MTU 4096?",
     "RoCE needs 96 bytes around its payload: a netdev MTU of 4192 or more gives 4096, 1500 gives 1024. A smaller path "
     "MTU means more "
     "packets and lower throughput. An MTU that the policy asks for is not reported.",
     ask_roce_mtu},
    {"gid", kLink, "Has every RoCE port a RoCE v2 GID of a routable address?",
     "The GID table follows the IP addresses of the netdev. Without a RoCE v2 GID no connection can be made; a "
     "link-local one does not "
     "cross routers. Give the netdev an address.",
     ask_gid},
    {"pfc-and-pause", kSettingsGroup, "Is global pause off where PFC is on?",
     "Global (802.3x) pause and PFC exclude each other: with both, pause stops every priority and PFC may be ignored. "
     "Switch global pause "
     "off (ethtool -A DEV rx off tx off) and keep it off with pause = \"off\".",
     ask_pfc_and_pause},
    {"locality", kTopology, "Is every GPU as near to a NIC as its siblings?",
     "The nearest NIC of each GPU is compared with that of the machine's other GPUs, in nvidia-smi's classes (PIX PXB "
     "PHB NODE SYS). A GPU "
     "that is farther away has lost its NIC, or a card sits in the wrong slot. See fabric-agentctl topo.",
     ask_locality},
    {"pairing", kTopology, "Has every GPU a NIC of its own, as the GPUs beside it?",
     "GPUs and NICs are paired as well as the machine allows; a NIC that then breaks the symmetry of the others is "
     "reported: it serves more GPUs than they do (a NIC is missing), sits on a NUMA node without a GPU while GPUs share "
     "(wrong slot), or has no RDMA device. Groups of NICs that differ as a whole are taken as built so. See "
     "fabric-agentctl topo.",
     ask_pairing},
    {"pcie", kTopology, "Do the PCIe links of NICs and GPUs run at full width and speed?",
     "Present width and speed are compared with devices of the same model, then with the device's own maximum. A NIC "
     "whose slot is slower "
     "than its port is critical. Idle GPUs lower their speed, so only their width is judged. Reseat the card or its "
     "riser.",
     ask_pcie},
    {"agent", kAgent, "Does the agent run, with the configuration that is in the file?",
     "Without the agent nobody repairs settings after a reboot, a driver reload or another tool's write. Start it with "
     "systemctl enable "
     "--now fabric-agent; after a change of the configuration, systemctl reload fabric-agent.",
     ask_agent},
    {"kept", kAgent, "Which ports are left alone, and why?",
     "Settings of a virtual function, a subfunction or a representor belong to the physical function; InfiniBand has "
     "none of them; a netdev in another network namespace is its owner's. A port that no [[port]] entry matches is left "
     "alone on purpose. Never a fault: listed with --verbose and in the JSON.",
     ask_kept},
};
constexpr size_t kPlainCount = std::size(kPlain);
constexpr size_t kBeforeSettings = 4;  // the rows of the link group come first, as people read a node from the wire up

template <size_t Row>
void ask_setting_row(const View& view, Findings& findings) {
  ask_setting(Row, view, findings);
}
template <size_t Row>
void ask_counter_row(const View& view, Findings& findings) {
  ask_counters(kCounterClasses[Row], view, findings);
}

using Table = std::vector<Check>;

template <size_t... Row>
void append_settings(Table& table, std::index_sequence<Row...>) {
  (table.push_back({kSettings[Row].key, kSettingsGroup, kSettings[Row].help, setting_runbook(kSettings[Row].key),
                    ask_setting_row<Row>}),
   ...);
}
template <size_t... Row>
void append_counters(Table& table, std::index_sequence<Row...>) {
  (table.push_back({kCounterChecks[Row].id, kCounters, kCounterChecks[Row].question, kCounterChecks[Row].runbook,
                    ask_counter_row<Row>}),
   ...);
}

Table make_table() {
  Table table(kPlain, kPlain + kBeforeSettings);
  append_settings(table, std::make_index_sequence<kSettingCount>());
  table.insert(table.end(), kPlain + kBeforeSettings, kPlain + kPlainCount);
  append_counters(table, std::make_index_sequence<kCounterClasses.size()>());
  return table;
}

bool is_wanted(const Check& check, std::span<const std::string> only) {
  return only.empty() || std::any_of(only.begin(), only.end(),
                                     [&](const std::string& name) { return name == check.id || name == check.group; });
}

}  // namespace

std::span<const Check> checks() {
  static const Table table = make_table();
  return table;
}

const Check* find_check(std::string_view id) {
  for (const Check& check : checks())
    if (check.id == id) return &check;
  return nullptr;
}

bool names_check(std::string_view name) {
  const auto all = checks();
  return std::any_of(all.begin(), all.end(),
                     [&](const Check& check) { return name == check.id || name == check.group; });
}

Report run_checks(const View& view, std::span<const std::string> only) {
  Report report;
  for (const Check& check : checks()) {
    if (!is_wanted(check, only)) continue;
    const size_t first = report.findings.size();
    check.ask(view, report.findings);
    for (size_t i = first; i < report.findings.size(); ++i) report.findings[i].id = check.id;
  }
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return rank(a.status) < rank(b.status); });
  return report;
}

}  // namespace fabric
