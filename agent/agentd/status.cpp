// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "agentd/port_manager.h"

namespace fabric::agentd {
namespace {

// From harmless to worst: a port is counted under its worst setting.
constexpr std::array kRanking{Outcome::in_sync, Outcome::applied, Outcome::unverified, Outcome::unsupported,
                              Outcome::pending, Outcome::differs, Outcome::ignored,    Outcome::refused,
                              Outcome::unsaved, Outcome::conflict};

size_t rank(Outcome outcome) {
  return static_cast<size_t>(std::find(kRanking.begin(), kRanking.end(), outcome) - kRanking.begin());
}

}  // namespace

std::string PortManager::status() const {
  std::map<size_t, size_t> ports_at;
  size_t matched = 0;
  for (const auto& [id, managed] : ports_) {
    if (policy_for(policy_, managed.port) == nullptr) continue;
    ++matched;
    size_t worst = 0;
    for (const auto& [key, change] : managed.last) worst = std::max(worst, rank(change.outcome));
    ++ports_at[worst <= rank(Outcome::applied) ? rank(Outcome::in_sync) : worst];
  }
  std::string text =
      std::string(to_text(policy_.mode)) + ": " + std::to_string(matched) + (matched == 1 ? " port" : " ports");
  for (const auto& [worst, count] : ports_at) {
    std::string word(to_text(kRanking[worst]));
    std::replace(word.begin(), word.end(), '_', ' ');
    text += ", " + std::to_string(count) + " " + word;
  }
  if (matched < ports_.size()) text += ", " + std::to_string(ports_.size() - matched) + " unmanaged";
  if (!suspended_reason_.empty()) text += "; " + suspended_reason_;
  return config_error_.empty() ? text : text + "; configuration invalid, the last valid one stays in use";
}

int PortManager::exit_code() const {
  size_t worst = 0;
  for (const auto& [id, managed] : ports_)
    for (const auto& [key, change] : managed.last) worst = std::max(worst, rank(change.outcome));
  for (const auto& [key, change] : host_.last) worst = std::max(worst, rank(change.outcome));
  return worst <= rank(Outcome::unverified) ? 0 : worst <= rank(Outcome::differs) ? 1 : 2;
}

}  // namespace fabric::agentd
