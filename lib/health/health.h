// SPDX-License-Identifier: Apache-2.0
// The health rules (model/health_rules.h) as checks: what is measured, and how it is told.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/view.h"

namespace fabric {

// What the view shows of one rule, one reading a subject. A subject without a reading: nothing is known of it.
std::vector<HealthReading> read_health(const View& view, std::string_view rule);

// Takes in all that the view shows. `now`: seconds since boot; `wall`: the same moment in seconds since 1970. What has
// not been seen for long is dropped.
void advance_health(Health& health, const View& view, double now, int64_t wall);

// Of a device that went, the PCI address at which it was, empty of one without; nothing of one that is there.
std::optional<std::string> place_of_gone(const HealthDevice& device);

// What a rule says of one subject now. Nothing: it is not known, or the rule is off.
std::optional<Status> health_status(const View& view, std::string_view rule, std::string_view subject);

// The findings of all rules of one check, at most one a subject.
void ask_health(std::string_view check, const View& view, std::vector<Finding>& findings);

// Marks what an operator has acknowledged, as seen at `wall`. An acknowledgement holds for findings that began before
// it was over; one that has expired marks nothing.
void mark_acknowledged(Report& report, const std::vector<Ack>& acks, int64_t wall);

// One row of the texts: what a finding of the rule means and what to do.
struct HealthText {
  std::string_view rule, expected, meaning, remedy;
};
const HealthText& health_text(std::string_view rule);

// "2026-11-21T14:30:00Z" (RFC 3339).
std::string time_text(int64_t wall);

}  // namespace fabric
