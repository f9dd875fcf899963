// SPDX-License-Identifier: Apache-2.0
#include "node/owners.h"

#include <algorithm>

namespace fabric {
namespace {

constexpr std::chrono::milliseconds kPatience{300};  // per reading, which may take 0.5 s in all
constexpr std::chrono::minutes kAge{1}, kAgeUnchanged{10};

constexpr std::array<std::string_view, 3> kKinds{"qp", "cq", "mr"};  // by nldev::Object

const ResourceCount* find_total(const std::vector<ResourceCount>& counts, std::string_view kind) {
  return find_where(counts, [&](const ResourceCount& each) { return each.kind == kind && each.owner.empty(); });
}

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

}  // namespace

Result<void> OwnerReader::read(Netlink& rdma, uint32_t device, const std::vector<ResourceCount>& counts,
                               Clock::time_point now) {
  if (std::exchange(device_, device) != device) known_ = {};
  const auto end = Clock::now() + kPatience;
  std::optional<Error> failure;
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    Known& known = known_.at(kind);
    const ResourceCount* total = find_total(counts, kKinds.at(kind));
    if (total == nullptr) continue;
    const bool due = now >= known.due || (now >= known.changed_due && total->count != known.count);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (due && left.count() > 0) {  // otherwise with the next reading
      known.count = total->count;
      read(known, rdma, static_cast<nldev::Object>(kind), left, now);
    }
    if (known.failure && !failure) failure = known.failure;
  }
  return failure ? Result<void>(*failure) : Result<void>();
}

void OwnerReader::read(Known& known, Netlink& rdma, nldev::Object kind, std::chrono::milliseconds patience,
                       Clock::time_point now) const {
  known.owners.reset();
  known.failure.reset();
  const auto owners = nldev::owners(rdma, device_, kind, patience);
  if (owners) {
    known.owners = *owners;
    known.pause = {};
    known.due = now + kAgeUnchanged;
    known.changed_due = now + kAge;
    return;
  }
  known.pause = std::clamp(2 * known.pause, kAge, kAgeUnchanged);
  known.due = known.changed_due = now + known.pause;
  const int code = owners.error().code;
  if (!is_unsupported(code) && code != ETIMEDOUT) known.failure = owners.error();
}

void OwnerReader::add_to(std::vector<ResourceCount>& counts) const {
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    const std::string name(kKinds.at(kind));
    const auto& owners = known_.at(kind).owners;
    if (!owners || find_total(counts, name) == nullptr) continue;
    counts.push_back({name, "user", owners->user});
    counts.push_back({name, "kernel", owners->kernel});
  }
}

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
  // The kernel or the driver lacks it, or we lack the privilege.
  if (is_unsupported(code) || code == EPERM || code == EACCES) there_ = false;
  else if (code != EOVERFLOW && code != ETIMEDOUT) failure_ = done;
  return failure_;
}

}  // namespace fabric
