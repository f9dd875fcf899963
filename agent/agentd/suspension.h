// SPDX-License-Identifier: Apache-2.0
// Suspends enforcement while an `apply --confirm` awaits confirmation, and after it was reverted until the
// configuration changes.
#pragma once

#include "agentd/environment.h"
#include "enforce/confirm.h"

namespace fabric::agentd {

class Suspension {
 public:
  Suspension(Environment& environment, ErrorLog& errors) : environment_(environment), errors_(errors) {}

  // Why nothing is written now; empty: not suspended.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // reason() without kEnforceAnyway, if a reload ends the suspension; else empty.
  [[nodiscard]] const std::string& until_reload() const { return until_reload_; }
  [[nodiscard]] bool is_awaiting() const { return state_ == State::awaiting; }

  // True if the record could not be read, so that an apply may be pending and nothing is enforced; or if it still waits
  // for its removal by end_reverted(): call watch() soon.
  [[nodiscard]] bool must_watch() const { return is_unread_ || removal_ != Removal::none; }

  // Reads the record. `config`: the digest of the policy that would be enforced. True if the reason has changed.
  bool refresh(const std::string& config);

  // The caller's next steps after watch().
  struct NextSteps {
    std::optional<std::chrono::milliseconds> again{};  // call watch() again after this time
    bool confirmed = false;           // the apply has just been confirmed: read the configuration files again
    bool changed = false;             // enforcement was suspended or resumed: check every port
    std::set<std::string> written{};  // ports whose previous settings were restored: they must be settled
  };
  struct Ports {
    // The ports that are present, also excluded ones if the record names their cards (confirm::with_excluded()).
    std::function<std::vector<Port>(const confirm::Record&)> present;
    std::function<bool(const Port&)> front_end;  // confirm::RevertTerms::front_end
  };
  // Reads the record, and restores the previous settings of the ports if the deadline has passed. Settings that this
  // process may not write are left to another one (confirm::Share). Call it when the record changes.
  NextSteps watch(const std::string& config, const Ports& ports, qos::Turns& turns);

  // Removes the record of a reverted apply: a reload confirms its configuration. If that fails, the reason is logged,
  // and watch() tries again.
  void end_reverted();

 private:
  enum class State : uint8_t {
    none,      // no apply awaits confirmation or has just ended; a reverted one may still suspend enforcement
    awaiting,  // an apply awaits confirmation
    ended,     // an apply was confirmed or reverted, and watch() has not handled that yet
  };
  // A reload ends a reverted apply: its record is removed then, or as soon as that is possible.
  enum class Removal : uint8_t {
    none,   // nothing is left to remove
    named,  // the record of the apply `removed_`, and no later one
    any,    // the record of any reverted apply: it could not be read at the reload
  };
  // The record could not be read in watch().
  NextSteps again_unread(NextSteps next);
  // Removes the record by `removal_`.
  Result<void> remove_reverted(std::chrono::milliseconds patience);
  // Restores the previous settings and logs the result. Returns the pause before the next call; nullopt: all are
  // restored, and that is recorded.
  std::optional<std::chrono::milliseconds> revert(confirm::Record& record, const Ports& ports, qos::Turns& turns,
                                                  NextSteps& next);

  Environment& environment_;
  ErrorLog& errors_;
  State state_ = State::none;
  std::string reason_, until_reload_;
  bool is_unread_ = false;  // since the last watch()
  Removal removal_ = Removal::none;
  std::string removed_;  // its id, if named
  confirm::RetryPause pause_;
};

}  // namespace fabric::agentd
