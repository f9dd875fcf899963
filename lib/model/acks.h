// SPDX-License-Identifier: Apache-2.0
// What whoever watches remembers over a restart.
#pragma once

#include <string>
#include <vector>

#include "model/health.h"

namespace fabric {

// An acknowledgement that has met its finding. `spent`: the finding has cleared since, and the acknowledgement is over.
struct AckSeen {
  std::string id, subject{};
  int64_t at = 0, met = 0;  // when it was given; when its finding was seen last
  bool spent = false;
  bool operator==(const AckSeen&) const = default;
};

struct HealthMemory {
  Health health;
  std::vector<AckSeen> acks;
};

// Those that hold at `wall`: neither expired nor spent.
std::vector<Ack> standing(const std::vector<Ack>& acks, const std::vector<AckSeen>& seen, int64_t wall);

// Does it cover the finding?
bool covers(const Ack& ack, const Finding& finding);

// A finding that is gone for less than that (seconds) may be one that comes and goes.
inline constexpr int64_t kAckOutlasts = 300;

// Takes in which acknowledgements meet a finding at `wall`, and which have lost theirs; those that are no longer there
// are dropped.
void follow_acks(std::vector<AckSeen>& seen, const std::vector<Ack>& acks, const Report& report, int64_t wall);

}  // namespace fabric
