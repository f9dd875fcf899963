// SPDX-License-Identifier: Apache-2.0
// The saved original settings, and the record of an interrupted self-test.
#pragma once

#include "agentd/environment.h"
#include "enforce/rounds.h"

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
  bool end_self_test(const Port& port, qos::Turns& turns, bool front_end);

 private:
  Environment& environment_;
  ErrorLog& errors_;
  std::optional<LostOriginals> lost_;
};

}  // namespace fabric::agentd
