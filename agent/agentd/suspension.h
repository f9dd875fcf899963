// SPDX-License-Identifier: Apache-2.0
// Enforcement is suspended while an `apply --confirm` awaits confirmation, and after it was reverted, until the
// configuration is another one.
#pragma once

#include "agentd/environment.h"
#include "enforce/confirm.h"

namespace fabric::agentd {

class Suspension {
 public:
  Suspension(Environment& environment, ErrorLog& errors) : environment_(environment), errors_(errors) {}

  // Why nothing is written now; empty: enforcing.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool is_awaiting() const { return state_ == State::awaiting; }

  // Reads the record again. `config`: the digest of the policy that would be enforced. True if the reason has changed.
  bool refresh(const std::string& config);

  // What an event of the record, or its deadline, asks for.
  struct Watch {
    std::optional<std::chrono::milliseconds> again{};  // look again then
    bool confirmed = false;  // it has just been confirmed: the configuration on disk is the one wanted
    bool changed = false;    // enforcement was suspended or resumed: check every port
  };
  // Reads the record, and restores the previous settings of `present` when it is overdue.
  Watch watch(const std::string& config, std::vector<Port> present);

  // A reload confirms the configuration of an apply that was reverted.
  void drop_reverted();

 private:
  enum class State : uint8_t {
    none,
    awaiting,  // an apply awaits confirmation
    ended,     // it did, and watch() has not yet seen how it ended
  };
  void revert(confirm::Record& record, std::vector<Port>& present);

  Environment& environment_;
  ErrorLog& errors_;
  State state_ = State::none;
  std::string reason_;
};

}  // namespace fabric::agentd
