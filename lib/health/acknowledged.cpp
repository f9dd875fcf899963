// SPDX-License-Identifier: Apache-2.0
// Findings that an operator knows of.
#include <algorithm>

#include "health/health.h"
#include "model/acks.h"

namespace fabric {
namespace {

std::string words_of(const Ack& ack) {
  std::string text = (ack.by.empty() ? "" : "by " + ack.by + " ") + ("until " + time_text(ack.until));
  return ack.comment.empty() ? text : text + ": " + ack.comment;
}

}  // namespace

void mark_acknowledged(Report& report, const std::vector<Ack>& acks, int64_t wall) {
  for (Finding& finding : report.findings) {
    const auto ack = std::find_if(acks.begin(), acks.end(),
                                  [&](const Ack& one) { return wall < one.until && covers(one, finding); });
    if (ack == acks.end()) continue;
    finding.acknowledged = true;
    finding.acknowledgement = words_of(*ack);
  }
}

}  // namespace fabric
