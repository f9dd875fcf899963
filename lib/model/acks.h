// SPDX-License-Identifier: Apache-2.0
// Health states, past findings and acknowledgements, stored over a restart.
#pragma once

#include <string>
#include <vector>

#include "model/health.h"

namespace fabric {

// An acknowledgement whose finding was seen. `spent`: the finding has cleared since, which ends the acknowledgement.
struct AckSeen {
  std::string id, subject{};
  int64_t at = 0, met = 0;  // when it was given; when its finding was last seen
  bool spent = false;
  bool operator==(const AckSeen&) const = default;
};

// A finding of a health rule from its onset to its end, in seconds since boot.
struct PastFinding {
  std::string rule, subject;
  Status status = Status::warning;  // the worst
  double from = 0;
  std::optional<double> until;  // nullopt: it lasts
  std::string evidence{};
  bool operator==(const PastFinding&) const = default;
};

// Findings of a day at most, oldest first.
struct HealthHistory {
  std::optional<double> since;  // watched without a gap from then on
  std::vector<PastFinding> past;
};

struct HealthMemory {
  Health health;
  HealthHistory history{};
  std::vector<AckSeen> acks;
};

// The acknowledgements in force at `wall`: neither expired nor spent.
std::vector<Ack> standing(const std::vector<Ack>& acks, const std::vector<AckSeen>& seen, int64_t wall);

bool covers(const Ack& ack, const Finding& finding);

// Seconds: a finding that is absent for less may be one that comes and goes.
inline constexpr int64_t kAckOutlasts = 300;

// Updates `seen` with the findings at `wall`; entries without an acknowledgement are dropped.
void follow_acks(std::vector<AckSeen>& seen, const std::vector<Ack>& acks, const Report& report, int64_t wall);

}  // namespace fabric
