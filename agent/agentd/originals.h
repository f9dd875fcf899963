// SPDX-License-Identifier: Apache-2.0
// The saved original settings, and the record of an interrupted self-test.
#pragma once

#include "agentd/environment.h"
#include "enforce/rounds.h"
#include "policy/policy.h"

namespace fabric::agentd {

class OriginalsStore {
 public:
  OriginalsStore(Environment& environment, ErrorLog& errors) : environment_(environment), errors_(errors) {}

  // Checks that the original settings and the record of a self-test can be read and are complete.
  void check();
  // The problem that check() found; nullopt: none.
  [[nodiscard]] const std::optional<LostOriginals>& lost() const { return lost_; }

  // Called before the first write of a port, under the lock. Reads the file again, because fabric-agentctl writes it,
  // too. A malformed file is renamed. After an Error, above all of qos::check_formats(), nothing is written.
  Result<void> save(const Port& port, const Qos& before);
  Result<void> save_sysctl(const std::string& name, const std::string& before);

  // Restores the port's settings if a self-test of it was killed. True if a setting was written. `front_end`: an entry
  // names the port (qos::Terms::front_end).
  bool end_self_test(const Port& port, qos::Turns& turns, bool front_end, qos::Instant now);
  // The settings that the last end_self_test() has not restored, of all ports ("mlx5_0/1 pause, mlx5_0/1 pfc"), or why
  // the record cannot be used.
  [[nodiscard]] std::string left_of_self_tests() const;
  // The port has gone, or has another id.
  void drop(const std::string& id) { left_.erase(id); }
  // An operator may have removed the cause of refusals: every setting is tried at once.
  void forget_refusals() { refusals_ = no_refusals(); }

 private:
  Environment& environment_;
  ErrorLog& errors_;
  static qos::Drift no_refusals() { return {ConflictRule{}, Policy{}.reread}; }

  std::optional<LostOriginals> lost_;
  qos::Drift refusals_ = no_refusals();      // by the end of self-tests
  std::map<std::string, std::string> left_;  // port id -> settings that the end of its self-test has not restored
};

}  // namespace fabric::agentd
