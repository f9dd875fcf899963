// SPDX-License-Identifier: Apache-2.0
#include "metrics/manual.h"

#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "counters/catalogue.h"
#include "metrics/telemetry_metrics.h"

namespace fabric {
namespace {

struct Vendor {
  std::string_view title;
  std::span<const CounterRow> (*rows)();
};
constexpr std::array<Vendor, 8> kVendors{{{"NVIDIA mlx5", mlx5_rows},
                                          {"Broadcom bnxt_re, bnxt_en", bnxt_rows},
                                          {"Intel irdma, ice, i40e", ice_irdma_rows},
                                          {"AMD ionic", ionic_rows},
                                          {"HiSilicon hns_roce, hns3", hns_rows},
                                          {"Amazon EFA", efa_rows},
                                          {"soft-RoCE", rxe_rows},
                                          {"all drivers", pma_rows}}};

constexpr std::string_view kHead = R"(.\" SPDX-License-Identifier: Apache-2.0
.\" Made from the tables in lib/counter: FABRIC_UPDATE_GOLDEN=1 counter_manual_test writes it anew.
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
A counter that was not read has no series.
Counters that the hardware keeps in 32 bits (the queue counters of mlx5, and of its statistics rx_out_of_buffer,
dev_internal_queue_oob, link_down_events_phy and those of PCIe) are continued when they wrap; when the driver is loaded again they begin at zero, as Prometheus expects of a restart.
When fabric-exporter is started again they begin with what the hardware holds: of one that had wrapped, the first rate() over
that moment is too high.
What is zero of a priority that has carried no traffic is left out, and so are the error counters of the source pma while
they are zero on an Ethernet port: they are of InfiniBand's link, and each costs a command of the firmware, so that such a
zero may be 30 s old.
)";

constexpr std::string_view kTail = R"(.SH SEE ALSO
.BR fabric\-exporter (8),
.BR fabric\-agentctl (1),
.BR fabric\-agent.toml (5)
)";

std::string_view word(CounterSource source) {
  return source == CounterSource::hw ? "hw" : source == CounterSource::pma ? "pma" : "ethtool";
}

// Minus signs, and a control character at the start of a line, are not for roff to interpret.
std::string roff(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '-') out += '\\';
    out += letter;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string_view unit_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kUnits{{{"bytes", "bytes"},
                                                                                        {"seconds", "seconds"},
                                                                                        {"packets", "packets"},
                                                                                        {"frames", "frames"},
                                                                                        {"celsius", "degrees Celsius"},
                                                                                        {"volts", "volts"},
                                                                                        {"watts", "watts"},
                                                                                        {"amperes", "amperes"},
                                                                                        {"meters", "metres"}}};
  if (name.ends_with("_total")) name.remove_suffix(6);
  for (const auto& [end, unit] : kUnits)
    if (name.ends_with(end)) return unit;
  if (name.ends_with("words")) return "FEC code words";
  return name.ends_with("_info") ? "always 1" : "a number";
}

std::string source_text(const CounterRow& row) {
  std::string out = std::string(word(row.source)) + " " + roff(row.name), notes;
  const auto note = [&](const std::string& text) { notes += (notes.empty() ? "" : ", ") + text; };
  if (!row.label.name.empty()) note(std::string(row.label.name) + " " + std::string(row.label.value));
  if (row.scale.divide == 1e6) note("microseconds");
  if (row.scale.multiply == 4) note("words of 4 bytes");
  if (row.scale.divide == 8) note("bits");
  return notes.empty() ? out : out + " (" + roff(notes) + ")";
}

struct Entry {
  const Metric* metric = nullptr;
  bool trouble = false;
  std::map<std::string_view, std::vector<std::string>> sources;  // by vendor
  std::vector<std::string> notes;                                // own meanings of a source
};

// By name.
std::map<std::string_view, Entry> entries() {
  std::map<std::string_view, Entry> out;
  for (const Vendor& vendor : kVendors)
    for (const CounterRow& row : vendor.rows()) {
      if (row.metric == nullptr) continue;
      Entry& entry = out[row.metric->name];
      entry.metric = row.metric;
      entry.trouble = entry.trouble || means_trouble(row);
      entry.sources[vendor.title].push_back(source_text(row));
      if (!row.help.empty()) entry.notes.push_back(roff(row.name) + ": " + roff(row.help));
    }
  return out;
}

std::string entry_text(const Entry& entry) {
  std::string out = ".TP\n.B " + std::string(entry.metric->name) + "\n" + roff(entry.metric->help) + "\n";
  for (const std::string& note : entry.notes) out += note + "\n";
  out +=
      ".br\nUnit: " + std::string(unit_of(entry.metric->name)) + ".\nError: " + (entry.trouble ? "yes" : "no") + ".\n";
  for (const Vendor& vendor : kVendors) {
    const auto found = entry.sources.find(vendor.title);
    if (found == entry.sources.end()) continue;
    std::string list;
    for (const std::string& source : found->second) list += (list.empty() ? "" : ", ") + source;
    out += ".br\n" + roff(vendor.title) + ": " + list + "\n";
  }
  return out;
}

std::string telemetry_text(const Metric& metric) {
  return ".TP\n.B " + std::string(metric.name) + "\n" + roff(metric.help) +
         "\n.br\nUnit: " + std::string(unit_of(metric.name)) + ".\n";
}

std::string raw_text(const Vendor& vendor) {
  std::string out;
  for (const CounterRow& row : vendor.rows()) {
    if (row.metric != nullptr) continue;
    out += ".TP\n.B " + roff(row.name) + "\n" + std::string(word(row.source)) +
           (row.gauge ? ", a number at this moment" : "") + (means_trouble(row) ? ", an error" : "") + ".\n" +
           roff(row.help) + "\n";
  }
  return out.empty() ? out : ".SS " + roff(vendor.title) + "\n" + out;
}

}  // namespace

std::string counters_manual() {
  std::string out(kHead);
  out += ".SH METRICS\n";
  for (const auto& [name, entry] : entries()) out += entry_text(entry);
  out +=
      ".SH BESIDE THE COUNTERS\nRead by ethtool and devlink netlink, RDMA netlink, from sysfs, and, of the modules, "
      "as\n"
      ".BR fabric\\-agentd (8)\npublishes it.\nThose that tell of a device or of its function have no label port.\n";
  for (const Metric* metric : metrics::kTelemetry) out += telemetry_text(*metric);
  out +=
      ".SH COUNTERS WITHOUT A COMMON NAME\nThose of the source hw are published as\n.BR fabric_rdma_hw_counters_total "
      ",\nlabel counter.\n"
      "The others stand in captures and are for checks.\nStatistics of the source ethtool, whether they stand in this "
      "page or not, are published as\n"
      ".BR fabric_ethtool_counters ,\nlabel counter, where ethtool in the table [exporter] of\n.BR fabric\\-agent.toml "
      "(5)\nasks for them.\n";
  for (const Vendor& vendor : kVendors) out += raw_text(vendor);
  return out + std::string(kTail);
}

}  // namespace fabric
