// SPDX-License-Identifier: Apache-2.0
// The saved original settings, and what a self-test has left.
#pragma once

#include "agentd/environment.h"

namespace fabric::agentd {

class Originals {
 public:
  Originals(Environment& environment, ErrorLog& errors) : environment_(environment), errors_(errors) {}

  // Whether the original settings can be read, and all of them are there.
  void check();
  // Why not; empty: they are.
  [[nodiscard]] const std::string& error() const { return error_; }

  // Before the first write of a port. Under the lock: `fabric-agentctl` writes the same file, so it is read again. One
  // that cannot be read is set aside.
  Result<void> save(const Port& port, const Qos& before);
  Result<void> save_sysctl(const std::string& name, const std::string& before);

  // Restores what a self-test that was killed has left on the port.
  void end_self_test(Port& port);

 private:
  Environment& environment_;
  ErrorLog& errors_;
  std::string error_;
};

}  // namespace fabric::agentd
