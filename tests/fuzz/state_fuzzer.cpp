// SPDX-License-Identifier: Apache-2.0
// Any bytes as the programs' own files: no crash; what was read is written in a form that reads back the same.
#include <algorithm>
#include <cstdlib>

#include "enforce/confirm.h"
#include "enforce/unsettled.h"
#include "fuzzer.h"
#include "judge/health_state.h"
#include "node/inventory.h"
#include "node/pci_state.h"
#include "node/state.h"

namespace fabric {
namespace {

// The file omits states without memory; all others return.
void expect_same(const HealthMemory& read, const HealthMemory& again) {
  require(again.health.now == read.health.now && again.health.wall == read.health.wall);
  require(again.health.devices == read.health.devices);
  require(again.history.since == read.history.since && again.history.past == read.history.past);
  require(again.acks == read.acks);
  for (const auto& [rule, subjects] : read.health.rules)
    for (const auto& [subject, state] : subjects) {
      const HealthState* found = again.health.find(rule, subject);
      require(found == nullptr ? state.phase() == HealthPhase::ok && state.onsets == 0 && !state.struck
                               : *found == state);
    }
}

// The findings that the file has: of the others it has only the number for each rule.
std::vector<Finding> listed(const PublishedReport& published) {
  std::vector<Finding> out;
  for (const Finding& finding : published.report.findings)
    if (is_listed(finding) || is_unverified(finding)) out.push_back(finding);
  return out;
}

void expect_same(const PublishedReport& read, const PublishedReport& again) {
  require(again.updated == read.updated && again.report.findings.size() == read.report.findings.size());
  require(std::ranges::equal(listed(read), listed(again), [](const Finding& a, const Finding& b) {
    return a.id == b.id && a.subject == b.subject && a.status == b.status && a.observed == b.observed &&
           a.expected == b.expected && a.outcome == b.outcome && a.acknowledged == b.acknowledged &&
           a.suppressed == b.suppressed && a.unjudged == b.unjudged;
  }));
  require(published_text(again) == published_text(read));
}

}  // namespace
}  // namespace fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fabric::text_of(data, size);
  if (auto originals = fabric::state::parse_originals(text, "fuzz.json")) {
    auto again = fabric::state::parse_originals(fabric::state::originals_text(*originals), "written.json");
    if (!again || *again != *originals) std::abort();
  }
  if (auto state = fabric::state::parse_agent_state(text, "fuzz.json")) {
    auto again = fabric::state::parse_agent_state(fabric::state::agent_state_text(*state), "written.json");
    if (!again || again->ports != state->ports) std::abort();
  }
  if (auto record = fabric::confirm::parse(text, "fuzz.json")) {
    auto again = fabric::confirm::parse(fabric::confirm::record_text(*record), "written.json");
    if (!again || again->before != record->before || again->sysctl != record->sysctl ||
        again->deadline != record->deadline)
      std::abort();
  }
  if (auto inventory = fabric::parse_inventory(text, "fuzz.json")) {
    auto again = fabric::parse_inventory(fabric::inventory_text(*inventory), "written.json");
    if (!again || again->parts != inventory->parts) std::abort();
  }
  if (auto ports = fabric::qos::Unsettled::parse(text, "fuzz.json")) {
    auto again = fabric::qos::Unsettled::parse(fabric::qos::Unsettled::entries_text(*ports), "written.json");
    if (!again || *again != *ports) std::abort();
  }
  if (auto acks = fabric::parse_acks(text, "fuzz.json")) {
    auto again = fabric::parse_acks(fabric::acks_text(*acks), "written.json");
    if (!again || *again != *acks) std::abort();
  }
  if (auto memory = fabric::parse_health(text, "fuzz.json")) {
    auto again = fabric::parse_health(fabric::health_text(*memory), "written.json");
    if (!again) std::abort();
    fabric::expect_same(*memory, *again);
  }
  if (auto published = fabric::parse_report(text, "fuzz.json")) {
    auto again = fabric::parse_report(fabric::published_text(*published), "written.json");
    if (!again) std::abort();
    fabric::expect_same(*published, *again);
  }
  return 0;
}
