// SPDX-License-Identifier: Apache-2.0
// Ports that no entry of the policy matches any more: whether their original settings are restored (release =).
#pragma once

#include "agentd/environment.h"
#include "agentd/results.h"

namespace fabric::agentd {

class Releases {
 public:
  Releases(Environment& environment, ErrorLog& errors, Results& results)
      : environment_(environment), errors_(errors), results_(results) {}

  // An earlier agent was restoring the port's settings, or an entry that is gone now had matched it.
  void expect(const std::string& id) { states_[id] = State::was_enforced; }
  // A new policy, in place of `old`.
  void reload(const Policy& old, const Policy& policy, const PortTable& table);
  // Another device has the port's name now.
  void new_device(const Port& port, const Policy& policy);
  // Decides on a port that was managed before the reload, once it is certain that no entry matches it.
  void decide(const Port& port, const Policy& policy);

  // Whether the port had an entry before a reload, and has none since.
  [[nodiscard]] bool has_lost_entry(const std::string& id) const { return lost_.contains(id); }
  [[nodiscard]] bool is_restoring(const std::string& id) const;
  // Restores the original settings of a port that is_restoring(), as far as that may be done now. Under the lock.
  void restore(Port& port, const Policy& policy);

 private:
  enum class State : uint8_t {
    none,
    was_audited,   // the previous policy matched the port, in audit mode; whether an entry matches is not decided yet
    was_enforced,  // the same in enforce mode
    restoring,     // no entry matches: its original settings are being restored
  };
  Environment& environment_;
  ErrorLog& errors_;
  Results& results_;
  std::map<std::string, State> states_;
  std::set<std::string> lost_;
};

}  // namespace fabric::agentd
