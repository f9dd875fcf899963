// SPDX-License-Identifier: Apache-2.0
// The family that yuuki/rdma_exporter publishes with --collector.qp-counters: what `rdma statistic qp` shows of each
// kind of queue pair.
#include <algorithm>

#include "metrics/compat.h"

namespace fabric {
namespace {

constexpr MetricKind kGauge = MetricKind::gauge;
constexpr Metric kMode{"rdma_qp_counter_mode",
                       "1 for the active mode of binding queue pairs to counters (a name of rdma_exporter).", kGauge};
constexpr Metric kMask{"rdma_qp_auto_mask",
                       "1 if the automatic mode groups queue pairs by this criterion (a name of rdma_exporter).",
                       kGauge};
constexpr Metric kStatus{"rdma_qp_scrape_status",
                         "1 for the result of the last reading of queue pair counters (a name of rdma_exporter).",
                         kGauge};

constexpr std::string_view kHelp =
    "Of users' queue pairs of this kind that live now; the port's counter of that name has it, too (a name of "
    "rdma_exporter).";
struct Value {
  std::string_view raw;
  Metric metric;
};
constexpr Value kValues[] = {
    {"duplicate_request", {"rdma_qp_duplicate_request_total", kHelp}},
    {"implied_nak_seq_err", {"rdma_qp_implied_nak_seq_err_total", kHelp}},
    {"local_ack_timeout_err", {"rdma_qp_local_ack_timeout_err_total", kHelp}},
    {"packet_seq_err", {"rdma_qp_packet_seq_err_total", kHelp}},
    {"rnr_nak_retry_err", {"rdma_qp_rnr_nak_retry_err_total", kHelp}},
    {"out_of_buffer", {"rdma_qp_out_of_buffer_total", kHelp}},
    {"rx_write_requests", {"rdma_qp_rx_write_requests_total", kHelp}},
    {"rx_read_requests", {"rdma_qp_rx_read_requests_total", kHelp}},
    {"rx_atomic_requests", {"rdma_qp_rx_atomic_requests_total", kHelp}},
    {"rdma_rx_bytes", {"rdma_qp_rx_bytes_total", kHelp}},
    {"rdma_tx_bytes", {"rdma_qp_tx_bytes_total", kHelp}},
    {"rdma_rx_packets", {"rdma_qp_rx_packets_total", kHelp}},
    {"rdma_tx_packets", {"rdma_qp_tx_packets_total", kHelp}},
};

constexpr std::string_view kModes[] = {"none", "auto", "manual"};     // by QpStatistics::Mode
constexpr std::string_view kResults[] = {"ok", "overflow", "error"};  // by QpStatistics::Dump

void add_one(FamilySet& families, const Metric& metric, const Port& port, std::string_view label,
             std::string_view value, double number) {
  families.add(metric, {{"device", port.rdma}, {"port", std::to_string(port.number)}, {label, value}}, number);
}

void add_port(FamilySet& families, const Port& port, const QpStatistics& now) {
  if (now.mode) {
    for (size_t mode = 0; mode < std::size(kModes); ++mode)
      add_one(families, kMode, port, "mode", kModes[mode], static_cast<size_t>(*now.mode) == mode ? 1 : 0);
    add_one(families, kMask, port, "criteria", "type", now.by_type ? 1 : 0);
    add_one(families, kMask, port, "criteria", "pid", now.by_pid ? 1 : 0);
  }
  if (!now.dump) return;
  for (size_t result = 0; result < std::size(kResults); ++result)
    add_one(families, kStatus, port, "result", kResults[result], static_cast<size_t>(*now.dump) == result ? 1 : 0);
  for (const auto& [kind, counters] : now.kinds)
    for (const Counter& counter : counters) {
      const auto found = std::find_if(std::begin(kValues), std::end(kValues),
                                      [&](const Value& each) { return each.raw == counter.name; });
      if (found != std::end(kValues))
        add_one(families, found->metric, port, "qp_type", kind, static_cast<double>(counter.value));
    }
}

}  // namespace

void add_rdma_exporter_qp(FamilySet& families, const Node& node) {
  for (const Port& port : node.ports)
    if (port.qp_statistics) add_port(families, port, *port.qp_statistics);
}

std::vector<CompatName> rdma_exporter_qp_names() {
  std::vector<CompatName> out;
  for (const Value& each : kValues) out.push_back({CounterSource::hw, each.raw, each.metric.name});
  return out;
}

}  // namespace fabric
