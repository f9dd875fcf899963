// SPDX-License-Identifier: Apache-2.0
#include "counters/widen.h"

#include <algorithm>
#include <array>

namespace fabric {
namespace {

// drivers/infiniband/hw/mlx5/counters.c of Linux 6.12: basic_q_cnts, out_of_seq_q_cnts, retrans_q_cnts,
// extended_err_cnts, roce_accl_cnts. Sorted. Their sisters of a vport, in switchdev mode, are called "vport_" and so
// on.
constexpr std::array<std::string_view, 26> kQCounters{"duplicate_request",
                                                      "implied_nak_seq_err",
                                                      "local_ack_timeout_err",
                                                      "out_of_buffer",
                                                      "out_of_sequence",
                                                      "packet_seq_err",
                                                      "req_cqe_error",
                                                      "req_cqe_flush_error",
                                                      "req_remote_access_errors",
                                                      "req_remote_invalid_request",
                                                      "req_rnr_retries_exceeded",
                                                      "req_transport_retries_exceeded",
                                                      "resp_cqe_error",
                                                      "resp_cqe_flush_error",
                                                      "resp_local_length_error",
                                                      "resp_remote_access_errors",
                                                      "rnr_nak_retry_err",
                                                      "roce_adp_retrans",
                                                      "roce_adp_retrans_to",
                                                      "roce_slow_restart",
                                                      "roce_slow_restart_cnps",
                                                      "roce_slow_restart_trans",
                                                      "rx_atomic_requests",
                                                      "rx_dct_connect",
                                                      "rx_read_requests",
                                                      "rx_write_requests"};

constexpr std::string_view kOfVport = "vport_";

// mlx5/core/en_stats.c of Linux 6.12: what it reads with MLX5E_READ_CTR32_BE or from a Q counter, and
// link_down_events_phy. The two percentages beside outbound_pci_stalled_*_events fall as they please. Sorted.
constexpr std::array<std::string_view, 9> kStatistics{
    "dev_internal_queue_oob",         "dev_out_of_buffer",  "link_down_events_phy", "outbound_pci_stalled_rd_events",
    "outbound_pci_stalled_wr_events", "rx_if_down_packets", "rx_out_of_buffer",     "rx_pci_signal_integrity",
    "tx_pci_signal_integrity"};

constexpr uint64_t kRange = uint64_t{1} << 32;
constexpr uint64_t kQuarter = kRange / 4;

}  // namespace

bool wraps_at_32_bits(std::string_view kernel_driver, std::string_view counter) {
  if (kernel_driver != "mlx5_core") return false;
  if (counter.starts_with(kOfVport)) counter.remove_prefix(kOfVport.size());
  return std::ranges::binary_search(kQCounters, counter) || std::ranges::binary_search(kStatistics, counter);
}

Widener::Seen& Widener::seen(std::vector<Seen>& known, const Counter& counter, size_t place) const {
  if (place < known.size() && known[place].name == counter.name) return known[place];
  const auto found = std::ranges::find(known, counter.name, &Seen::name);
  if (found != known.end()) {
    if (place >= known.size()) return *found;
    std::iter_swap(known.begin() + static_cast<ptrdiff_t>(place), found);  // where it is looked for first
    return known[place];
  }
  const auto first = static_cast<uint32_t>(counter.value < kRange ? counter.value : 0);
  return known.emplace_back(Seen{counter.name, wraps_at_32_bits(driver_, counter.name), first});
}

void Widener::widen(std::vector<Counter>& counters, std::vector<Seen>& known) const {
  for (size_t i = 0; i < counters.size(); ++i) {
    Counter& counter = counters[i];
    Seen& seen = this->seen(known, counter, i);
    if (!seen.wraps || counter.value >= kRange) continue;
    const auto now = static_cast<uint32_t>(counter.value);
    if (now < seen.last) seen.wrapped = seen.last >= kRange - kQuarter && now < kQuarter ? seen.wrapped + kRange : 0;
    seen.last = now;
    counter.value += seen.wrapped;
  }
}

}  // namespace fabric
