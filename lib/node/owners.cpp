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

}  // namespace fabric
