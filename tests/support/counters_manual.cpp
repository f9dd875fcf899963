// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/find.h"
#include "base/parse.h"
#include "metrics/telemetry_metrics.h"
#include "nic/counter_catalogue.h"
#include "support/manuals.h"

namespace fabric::test {
namespace {

constexpr std::string_view kHead = R"(.\" SPDX-License-Identifier: Apache-2.0
.\" Generated from lib/nic/*/counters.cpp: tests/regenerate counter
.TH FABRIC-COUNTERS 7 "2026-11-21" "fabric-agent" "Miscellaneous Information"
.SH NAME
fabric\-counters \- one name for each thing that RDMA NICs count
.SH DESCRIPTION
Drivers name the same thing differently.
.BR fabric\-exporter (8),
.BR fabric\-agentctl (1)
and the checks use the names below for all of them.
Every series has the labels device and port, unless it says otherwise.
.PP
Sources are
.B hw
(RDMA netlink, else
.IR ports/N/hw_counters ;
with port 1 also the device's own
.IR hw_counters ),
.B pma
.RI ( ports/N/counters )
and
.B ethtool
(driver statistics of the netdev).
A # stands for a priority from 0 to 7.
Several sources of one driver with the same labels are parts of one sum.
.PP
The class says what a rise means:
.B loss
(RDMA packets were lost, reordered or answered too late),
.B link
(bits were damaged or the link went down),
.B discard
(a port buffer overran),
.B storm
(this port sends pause frames continuously),
.B receiver
(the receiving host had no buffer posted),
.B pcie
(the PCIe path is slower than the port),
.B request
(one side rejected the other's RDMA request),
.B ecn
(this sender ignores congestion notifications) or
.B none
(traffic and congestion control at work).
Severe: a connection broke or the link went down.
.PP
A counter that was not read has no series.
Counters that the hardware keeps in 32 bits are extended when they wrap; when the driver is reloaded they restart at
zero, as Prometheus expects of a restart.
When fabric-exporter restarts, they start with the hardware's value: rate() over a restart is too high for a counter
that had wrapped.
The narrower counters of the source pma stop at their highest value until they are reset.
Zeros of a priority without traffic are omitted.
So are the zeros of InfiniBand link counters on an Ethernet port; since reading each costs a firmware command, such a
counter is read every 30 s while it is zero.
)";

constexpr std::string_view kTail = R"(.SH SEE ALSO
.BR fabric\-exporter (8),
.BR fabric\-agentctl (1),
.BR fabric\-agent.toml (5)
)";

std::string_view word(CounterSource source) {
  switch (source) {
    case CounterSource::hw: return "hw";
    case CounterSource::pma: return "pma";
    case CounterSource::ethtool: break;
  }
  return "ethtool";
}

std::string_view unit_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kUnits{{{"bytes", "bytes"},
                                                                                         {"seconds", "seconds"},
                                                                                         {"packets", "packets"},
                                                                                         {"frames", "frames"},
                                                                                         {"celsius", "degrees Celsius"},
                                                                                         {"volts", "volts"},
                                                                                         {"watts", "watts"},
                                                                                         {"amperes", "amperes"},
                                                                                         {"meters", "meters"},
                                                                                         {"decibels", "decibels"}}};
  if (name.ends_with("_total")) name.remove_suffix(6);
  for (const auto& [end, unit] : kUnits)
    if (name.ends_with(end)) return unit;
  if (name.ends_with("words")) return "FEC code words";
  return name.ends_with("_info") ? "always 1" : "a number";
}

std::string source_text(const CounterTable& table, const CounterRow& row) {
  std::string out = std::string(word(row.source)) + " " + roff(row.name), notes;
  const auto note = [&](const std::string& text) { notes += (notes.empty() ? "" : ", ") + text; };
  if (!row.label.name.empty()) note(std::string(row.label.name) + " " + std::string(row.label.value));
  if (row.scale.divide == 1e6) note("microseconds");
  if (row.scale.multiply == 4) note("words of 4 bytes");
  if (row.scale.divide == 8) note("bits");
  if (row.bits < 64) note(std::to_string(row.bits) + " bits wide");
  const CounterScope scope = table.scope_of(row);
  if (scope != CounterScope::port) note("of the " + std::string(to_text(scope)));
  return notes.empty() ? out : out + " (" + roff(notes) + ")";
}

std::string class_text(const CounterRow& row) {
  return (row.rise.severe ? "severe " : "") + std::string(to_text(row.rise.kind));
}

struct Entry {
  const Metric* metric = nullptr;
  std::set<std::string> classes;
  std::map<std::string_view, std::vector<std::string>> sources;  // by vendor
  std::vector<std::string> notes;                                // meanings of single sources
};

// By name.
std::map<std::string_view, Entry> entries() {
  std::map<std::string_view, Entry> out;
  for (const CounterTable& table : counter_tables())
    for (const CounterRow& row : table.rows) {
      if (row.metric == nullptr) continue;
      Entry& entry = out[row.metric->name];
      entry.metric = row.metric;
      entry.classes.insert(class_text(row));
      entry.sources[table.vendor].push_back(source_text(table, row));
      if (!row.help.empty()) entry.notes.push_back(roff(row.name) + ": " + roff(row.help));
    }
  return out;
}

std::string entry_text(const Entry& entry) {
  std::string out = ".TP\n.B " + std::string(entry.metric->name) + "\n" + roff(entry.metric->help) + "\n";
  for (const std::string& note : entry.notes) out += note + "\n";
  std::string classes;
  for (const std::string& each : entry.classes) classes += (classes.empty() ? "" : ", ") + each;
  out += ".br\nUnit: " + std::string(unit_of(entry.metric->name)) + ".\nClass: " + classes + ".\n";
  for (const CounterTable& table : counter_tables()) {
    const auto found = entry.sources.find(table.vendor);
    if (found == entry.sources.end()) continue;
    std::string list;
    for (const std::string& source : found->second) list += (list.empty() ? "" : ", ") + source;
    out += ".br\n" + roff(table.vendor) + ": " + list + "\n";
  }
  return out;
}

std::string telemetry_text(const Metric& metric) {
  return ".TP\n.B " + std::string(metric.name) + "\n" + roff(metric.help) +
         "\n.br\nUnit: " + std::string(unit_of(metric.name)) + ".\n";
}

std::string raw_text(const CounterTable& table) {
  std::string out;
  for (const CounterRow& row : table.rows) {
    if (row.metric != nullptr) continue;
    out += ".TP\n.B " + roff(row.name) + "\n" + std::string(word(row.source)) + (row.gauge ? ", gauge" : "") +
           (is_error(row) ? ", class " + class_text(row) : "") +
           (row.bits < 64 ? ", " + std::to_string(row.bits) + " bits wide" : "") +
           (table.scope_of(row) != CounterScope::port ? ", of the " + std::string(to_text(table.scope_of(row))) : "") +
           ".\n" + roff(row.help) + "\n";
  }
  return out.empty() ? out : ".SS " + roff(table.vendor) + "\n" + out;
}

// The origins of the rows of the table, and the events that reset them.
std::string origins_text(const CounterTable& table) {
  std::vector<const CounterOrigin*> origins;
  for (const CounterRow& row : table.rows)
    if (!contains(origins, &row.origin)) origins.push_back(&row.origin);
  std::string out;
  for (const CounterOrigin* origin : origins) {
    std::string names;
    for (const CounterRow& row : table.rows)
      if (&row.origin == origin) append_item(names, roff(row.name), ", ");
    out += ".TP\n.B " + roff(origin->kernel) + "\n" + names + ".\nReset by: " + roff(origin->reset) + ".\n";
  }
  return out.empty() ? out : ".SS " + roff(table.vendor) + "\n" + out;
}

}  // namespace

std::string counters_manual() {
  std::string out(kHead);
  out += ".SH METRICS\n";
  for (const auto& [name, entry] : entries()) out += entry_text(entry);
  out +=
      ".SH OTHER METRICS\nRead from ethtool, devlink and RDMA netlink and from sysfs; module data as published by\n"
      ".BR fabric\\-agentd (8).\nMetrics of a device or of a PCI function have no label port.\n";
  for (const Metric* metric : metrics::kTelemetry) out += telemetry_text(*metric);
  out +=
      ".SH COUNTERS WITHOUT A COMMON NAME\nCounters of the source hw are published as\n.BR "
      "fabric_rdma_hw_counters_total "
      ",\nlabel counter.\n"
      "The others are recorded in captures and used by checks.\nAny statistic of the source ethtool is published as\n"
      ".BR fabric_ethtool_counters ,\nlabel counter, if ethtool in the table [exporter] of\n.BR fabric\\-agent.toml "
      "(5)\nselects it.\n";
  for (const CounterTable& table : counter_tables()) out += raw_text(table);
  out +=
      ".SH KERNEL SOURCES\nFile and function that each counter comes from, below drivers/ of Linux 6.12.\n"
      "Linux 6.1 has no others, and the same widths, unless it says otherwise.\n";
  for (const CounterTable& table : counter_tables()) out += origins_text(table);
  return out + std::string(kTail);
}

}  // namespace fabric::test
