// SPDX-License-Identifier: Apache-2.0
// Writes each setting of a policy once on an idle port, and the settings from before again.
#pragma once

#include "enforce/reconcile.h"

namespace fabric::qos {

struct SelfTestStep {
  SettingId setting{};
  Outcome outcome = Outcome::unsupported;  // applied: written and read back equal; unverified, ignored, refused
  int code = 0;                            // errno for refused
  std::string from, to, read_back;         // value_text
  std::string second;                      // the value by another interface or a file; empty: there is none
  std::string detail;
  bool disruptive = false;  // as the driver's table has it
  std::chrono::milliseconds took{};
  uint32_t carrier_downs = 0;  // during the write, and until the carrier was back
  bool link_back = true;
};

struct SelfTest {
  std::vector<SelfTestStep> steps;
  std::string stopped{};  // why the rest was not tested; empty: all was
  Changes restored;
  [[nodiscard]] bool is_restored() const;
};

struct SelfTestOptions {
  // Below it is the record of the test (state::kSelfTestFile), from before the first write until the settings are
  // restored: the program that starts next restores them if the program is killed (end_self_test()).
  std::string directory = "/";
  UseCheck in_use;                             // asked before each write: use ends the test
  std::chrono::milliseconds patience{15'000};  // for the carrier after a write
};

// Whether the machine's default route leaves by the netdev, or by what is built on it (a VLAN on a bond, a bridge).
bool has_default_route(const Root& root, const std::string& netdev);

// Why the port must not be tested: queue pairs, a bond, the default route (unless `route_allowed`). Empty: it may.
std::string why_no_self_test(Kernel& kernel, const Port& port, bool route_allowed);

// The Error is of the first reading, or of saving it: nothing was written.
Result<SelfTest> self_test(Kernel& kernel, Port& port, const Qos& want, const SelfTestOptions& options);

// Restores what a self-test that was killed has left on these ports, under the lock of state::kLockFile. Ports that are
// in use, or not here, keep their record. Empty: there is none.
Result<Changes> end_self_test(Kernel& kernel, std::span<Port> ports, const std::string& directory,
                              const UseCheck& in_use);

}  // namespace fabric::qos
