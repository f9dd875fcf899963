// SPDX-License-Identifier: Apache-2.0
// Decides whether a port that no entry of the policy matches any more gets its original settings back (release =).
#pragma once

#include "agentd/environment.h"
#include "agentd/results.h"
#include "enforce/confirm.h"

namespace fabric::agentd {

class Releases {
 public:
  Releases(Environment& environment, ErrorLog& errors, Results& results)
      : environment_(environment), errors_(errors), results_(results) {}

  // Announces a port that an earlier agent was restoring, or that an entry matched which is gone now.
  void expect(const std::string& id) { states_[id] = State::was_enforced; }
  // The policy replaces `old`.
  void reload(const Policy& old, const Policy& policy, const PortTable& table);
  // The ports have other ids now.
  void note_renames(const Renames& renames);
  // Another device has the port's name now: ends its restore if an entry matches it.
  void new_device(const Port& port, const Policy& policy);
  // Decides whether to restore a port that was managed before the reload, once it is certain that no entry matches it.
  void decide(const Port& port, const Policy& policy);

  // True if the port lost its entry in a reload.
  [[nodiscard]] bool has_lost_entry(const std::string& id) const { return lost_.contains(id); }
  [[nodiscard]] bool is_restoring(const std::string& id) const;
  // Restores the original settings of a port that is_restoring(), as far as they may be written now. Settings that are
  // refused are tried again after a while. The caller holds the lock. nullopt: not tried now.
  std::optional<qos::Reconciled> restore(const Port& port, const qos::WriteTerms& terms, qos::Instant now);

 private:
  enum class State : uint8_t {
    none,          // nothing to restore: an entry matches, the restore has ended, or `release` is "leave"
    was_audited,   // matched by the previous policy in audit mode; not decided yet
    was_enforced,  // matched by the previous policy in enforce mode; not decided yet
    restoring,     // no entry matches: its original settings are being restored
  };
  Environment& environment_;
  ErrorLog& errors_;
  Results& results_;
  std::map<std::string, State> states_;
  struct Retry {
    qos::Instant next{};
    confirm::RetryPause pause{};
  };
  std::map<std::string, Retry> retries_;  // of ports that are being restored
  std::set<std::string> lost_;
};

}  // namespace fabric::agentd
