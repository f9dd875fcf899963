// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"

#include <algorithm>
#include <utility>

#include "checks/checks.h"
#include "checks/rows.h"
#include "health/health.h"

namespace fabric {
namespace {

constexpr Check kSite[] = {
    {"expect", group::topology, "Is the machine what [expect] of the configuration says?",
     "Pins of the site: how many GPUs and compute NICs there are, how near each GPU's NIC is at worst (PIX PXB PHB "
     "NODE SYS), the speed of compute ports. Nothing is "
     "asked where nothing is pinned. Look: fabric-agentctl topo, lspci -nn, the kernel's log. If the machine is right, "
     "correct [expect] in fabric-agent.toml.",
     ask_expect},
    {"agent", group::agent, "Does the agent run, in the mode that is in the file?",
     "Without the agent nobody repairs settings after a reboot, a driver reload or another tool's write. Start it with "
     "systemctl enable "
     "--now fabric-agent; after a change of the configuration, systemctl reload fabric-agent.",
     ask_agent},
    {"kept", group::agent, "Which ports are left alone, and why?",
     "Settings of a virtual function, a subfunction or a representor belong to the physical function; InfiniBand has "
     "none of them; a netdev in another network namespace is its owner's. A port that no [[port]] entry matches is "
     "left "
     "alone on purpose. Never a fault: listed with --verbose and in the JSON.",
     ask_kept},
};

template <size_t Row>
void ask_setting_row(const View& view, Findings& findings) {
  ask_setting(Row, view, findings);
}
template <size_t Row>
void ask_health_row(const View& view, Findings& findings) {
  ask_health(kHealthChecks[Row].id, view, findings);
}

using Table = std::vector<Check>;

template <size_t... Row>
void append_settings(Table& table, std::index_sequence<Row...>) {
  (table.push_back({kSettings[Row].key, group::settings, kSettings[Row].help, setting_runbook(kSettings[Row].id),
                    ask_setting_row<Row>}),
   ...);
}
template <size_t... Row>
void append_health(Table& table, std::index_sequence<Row...>) {
  (table.push_back({kHealthChecks[Row].id, kHealthChecks[Row].group, kHealthChecks[Row].question,
                    kHealthChecks[Row].runbook,
                    kHealthChecks[Row].id == "congestion" ? ask_congestion : ask_health_row<Row>}),
   ...);
}

// As people read a node, from the wire up.
Table make_table() {
  Table table;
  const auto append = [&](std::span<const Check> rows) { table.insert(table.end(), rows.begin(), rows.end()); };
  append(link_rows());
  append_settings(table, std::make_index_sequence<kSettingCount>());
  for (const auto rows :
       {settings_rows(), topology_rows(), platform_rows(), cabling_rows(), host_rows(), network_rows()})
    append(rows);
  append(kSite);
  append_health(table, std::make_index_sequence<std::tuple_size_v<decltype(kHealthChecks)>>());
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
