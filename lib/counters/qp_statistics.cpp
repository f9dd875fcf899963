// SPDX-License-Identifier: Apache-2.0
#include "counters/qp_statistics.h"

#include <map>
#include <string>
#include <utility>

#include "kernel/rdma/nldev.h"

namespace fabric {
namespace {

constexpr std::chrono::milliseconds kAnswerTimeout{100};

// IB_QPT_* (include/rdma/ib_verbs.h of Linux 6.12) as iproute2 names them; driver-specific types are numbers.
std::string kind_name(uint8_t type) {
  constexpr std::string_view kNames[] = {"SMI",           "GSI",     "RC",         "UC",      "UD",     "RAW_IPV6",
                                         "RAW_ETHERTYPE", "UNKNOWN", "RAW_PACKET", "XRC_INI", "XRC_TGT"};
  return type < std::size(kNames) ? std::string(kNames[type]) : std::to_string(type);
}

// Sums sets of the same type: there are two for a moment when its last queue pair is replaced by another.
std::map<std::string, std::vector<Counter>, std::less<>> sum_by_kind(const std::vector<nldev::QpSet>& sets) {
  std::map<uint8_t, std::map<std::string_view, uint64_t>> sums;
  for (const nldev::QpSet& set : sets) {
    if (!set.automatic || !set.type || set.by_pid) continue;
    for (const Counter& counter : set.counters) sums[*set.type][counter.name] += counter.value;
  }
  std::map<std::string, std::vector<Counter>, std::less<>> out;
  for (const auto& [type, counters] : sums)
    for (const auto& [name, value] : counters) out[kind_name(type)].push_back({std::string(name), value});
  return out;
}

// The kernel or the driver lacks it, or we lack the privilege.
bool is_refused(int code) { return code == EOPNOTSUPP || code == EINVAL || code == EPERM || code == EACCES; }

}  // namespace

Result<void> QpReader::ask(Netlink& rdma, uint32_t port) {
  last_ = {};
  last_.dump = QpStatistics::Dump::error;
  const auto mode = nldev::qp_mode(rdma, device_, port);
  if (!mode) return mode.error();
  last_.mode = mode->mode;
  last_.by_type = mode->by_type;
  last_.by_pid = mode->by_pid;
  last_.dump.reset();
  if (last_.mode != QpStatistics::Mode::automatic || !last_.by_type || last_.by_pid) return {};
  const auto sets = nldev::qp_sets(rdma, device_, port, kAnswerTimeout);
  if (!sets) {
    last_.dump = sets.error().code == EOVERFLOW ? QpStatistics::Dump::overflow : QpStatistics::Dump::error;
    return sets.error();
  }
  last_.dump = QpStatistics::Dump::ok;
  last_.kinds = sum_by_kind(*sets);
  return {};
}

Result<void> QpReader::read(Netlink& rdma, uint32_t device, uint32_t port, Clock::time_point now) {
  if (device_ != device) *this = {}, device_ = device;
  if (!there_ || !backoff_.due(now)) return failure_;
  const auto done = ask(rdma, port);
  failure_ = {};
  if (done) {
    backoff_.succeeded();
    return {};
  }
  const int code = done.error().code;
  backoff_.failed(now);
  if (is_refused(code)) there_ = false;
  else if (code != EOVERFLOW && code != ETIMEDOUT) failure_ = done;
  return failure_;
}

}  // namespace fabric
