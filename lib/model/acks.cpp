// SPDX-License-Identifier: Apache-2.0
#include "model/acks.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric {
namespace {

bool is_of(const AckSeen& seen, const Ack& ack) {
  return seen.id == ack.id && seen.subject == ack.subject && seen.at == ack.at;
}

}  // namespace

bool covers(const Ack& ack, const Finding& finding) {
  return finding.status != Status::ok && ack.id == finding.id &&
         (ack.subject.empty() || glob_match(ack.subject, finding.subject));
}

std::vector<Ack> standing(const std::vector<Ack>& acks, const std::vector<AckSeen>& seen, int64_t wall) {
  std::vector<Ack> out;
  std::copy_if(acks.begin(), acks.end(), std::back_inserter(out), [&](const Ack& ack) {
    return wall < ack.until &&
           std::none_of(seen.begin(), seen.end(), [&](const AckSeen& one) { return one.spent && is_of(one, ack); });
  });
  return out;
}

void follow_acks(std::vector<AckSeen>& seen, const std::vector<Ack>& acks, const Report& report, int64_t wall) {
  std::erase_if(seen, [&](const AckSeen& one) {
    return std::none_of(acks.begin(), acks.end(), [&](const Ack& ack) { return is_of(one, ack); });
  });
  for (const Ack& ack : acks) {
    const bool met = std::any_of(report.findings.begin(), report.findings.end(),
                                 [&](const Finding& finding) { return covers(ack, finding); });
    const auto known = std::find_if(seen.begin(), seen.end(), [&](const AckSeen& one) { return is_of(one, ack); });
    if (known == seen.end()) {
      if (met) seen.push_back({ack.id, ack.subject, ack.at, wall, false});
    } else if (met && !known->spent) {
      known->met = wall;
    } else if (wall - known->met >= kAckOutlasts) {
      known->spent = true;
    }
  }
}

}  // namespace fabric
