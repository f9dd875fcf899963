// SPDX-License-Identifier: Apache-2.0
#include "counter/widen.h"

#include <algorithm>
#include <array>

namespace fabric {
namespace {

// drivers/infiniband/hw/mlx5/counters.c of Linux 6.12: basic_q_cnts, out_of_seq_q_cnts, retrans_q_cnts, extended_err_cnts,
// roce_accl_cnts, and their sisters of a vport. Sorted.
constexpr std::array<std::string_view, 26> kQCounters{
    "duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "out_of_buffer", "out_of_sequence", "packet_seq_err",
    "req_cqe_error", "req_cqe_flush_error", "req_remote_access_errors", "req_remote_invalid_request", "req_rnr_retries_exceeded",
    "req_transport_retries_exceeded", "resp_cqe_error", "resp_cqe_flush_error", "resp_local_length_error", "resp_remote_access_errors",
    "rnr_nak_retry_err", "roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps",
    "roce_slow_restart_trans", "rx_atomic_requests", "rx_dct_connect", "rx_read_requests", "rx_write_requests"};

constexpr uint64_t kRange = uint64_t{1} << 32;
constexpr uint64_t kQuarter = kRange / 4;

}  // namespace

bool wraps_at_32_bits(std::string_view kernel_driver, std::string_view counter) {
  return kernel_driver == "mlx5_core" && std::binary_search(kQCounters.begin(), kQCounters.end(), counter);
}

Widener::Seen& Widener::seen(const Counter& counter, size_t place) {
  if (place < seen_.size() && seen_[place].name == counter.name) return seen_[place];
  const auto known = std::ranges::find(seen_, counter.name, &Seen::name);
  if (known != seen_.end()) return *known;
  const auto first = static_cast<uint32_t>(counter.value < kRange ? counter.value : 0);
  return seen_.emplace_back(Seen{counter.name, wraps_at_32_bits(driver_, counter.name), first});
}

void Widener::widen(std::vector<Counter>& counters) {
  for (size_t i = 0; i < counters.size(); ++i) {
    Counter& counter = counters[i];
    Seen& seen = this->seen(counter, i);
    if (!seen.wraps || counter.value >= kRange) continue;
    const auto now = static_cast<uint32_t>(counter.value);
    if (now < seen.last) seen.wrapped = seen.last >= kRange - kQuarter && now < kQuarter ? seen.wrapped + kRange : 0;
    seen.last = now;
    counter.value += seen.wrapped;
  }
}

}  // namespace fabric
