// SPDX-License-Identifier: Apache-2.0
#include "agentd/agent_status.h"

namespace fabric::agentd {
namespace {

// From harmless to worst: the status line counts a port under its worst setting.
constexpr std::array kRanking{Outcome::in_sync, Outcome::applied, Outcome::unverified, Outcome::unsupported,
                              Outcome::pending, Outcome::differs, Outcome::ignored,    Outcome::refused,
                              Outcome::unsaved, Outcome::conflict};

size_t rank(Outcome outcome) { return static_cast<size_t>(std::ranges::find(kRanking, outcome) - kRanking.begin()); }

int worst_of(const Results::OfPort& results) {
  int worst = 0;
  for (const auto& [key, change] : results) worst = std::max(worst, severity(change.outcome));
  return worst;
}

}  // namespace

AgentState state_of(const AgentView& view) {
  AgentState state;
  state.running = true;
  state.version = FABRIC_VERSION;
  state.mode = view.policy.mode;
  state.updated = utc_now();
  state.config_error = view.config_error;
  state.held = view.suspension.reason();
  state.held_until_reload = view.suspension.until_reload();
  state.lost_originals = view.lost_originals;
  state.left_of_self_tests = view.left_of_self_tests;
  for (const auto& [id, entry] : view.table.entries()) {
    if (view.releases.has_lost_entry(id)) state.lost_entry.push_back(id);
    if (policy_for(view.policy, entry.port) != nullptr || !view.results.of(id).empty())
      state.ports[id] = view.results.states_of(id);
  }
  std::ranges::sort(state.lost_entry, natural_less);
  if (!view.results.of(kHostSubject).empty()) state.ports[kHostSubject] = view.results.states_of(kHostSubject);
  return state;
}

std::string service_status(const AgentView& view) {
  std::map<size_t, size_t> ports_at;
  size_t matched = 0;
  for (const auto& [id, entry] : view.table.entries()) {
    if (policy_for(view.policy, entry.port) == nullptr) continue;
    ++matched;
    size_t worst = 0;
    for (const auto& [key, change] : view.results.of(id)) worst = std::max(worst, rank(change.outcome));
    ++ports_at[worst <= rank(Outcome::applied) ? rank(Outcome::in_sync) : worst];
  }
  std::string text = std::string(to_text(view.policy.mode)) + ": " + counted(matched, "port");
  for (const auto& [worst, count] : ports_at) {
    std::string word(to_text(kRanking[worst]));
    std::ranges::replace(word, '_', ' ');
    text += ", " + std::to_string(count) + " " + word;
  }
  const size_t all = view.table.entries().size();
  if (matched < all) text += ", " + std::to_string(all - matched) + " unmanaged";
  if (const std::string& why = view.suspension.reason(); !why.empty()) text += "; " + why;
  if (!view.left_of_self_tests.empty())
    text += "; a self-test was interrupted, not restored: " + view.left_of_self_tests;
  if (!view.config_error.empty()) text += "; configuration invalid, the last valid one stays in use";
  return text;
}

int exit_code(const AgentView& view) {
  int worst = std::max(worst_of(view.results.of(kHostSubject)), view.left_of_self_tests.empty() ? 0 : 1);
  for (const auto& [id, entry] : view.table.entries()) worst = std::max(worst, worst_of(view.results.of(id)));
  return worst;
}

}  // namespace fabric::agentd
