// SPDX-License-Identifier: Apache-2.0
// Writes each setting of a policy once on an idle port, and the settings from before again.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "settings/reconcile.h"

namespace fabric::qos {

struct SelfTestStep {
  SettingId setting{};
  Outcome outcome = Outcome::unsupported;  // applied: written and read back equal; unverified, ignored, refused
  int code = 0;                            // errno for refused
  std::string from, to, read_back;         // value_text
  std::string second;                      // the value that a sysfs file shows; empty: there is no such file
  std::string detail;
  bool disruptive = false;  // as the driver's table has it
  std::chrono::milliseconds took{};
  uint32_t carrier_downs = 0;  // during the write, and until the carrier was back
  bool link_back = true;
};

struct SelfTest {
  std::vector<SelfTestStep> steps;
  Changes restored;
  [[nodiscard]] bool is_restored() const;
};

struct SelfTestOptions {
  // As Options::save_original. Before the first write; the entry brings the settings back if the program is killed.
  std::function<Result<void>(const Port&, const Qos& before)> save_original;
  std::chrono::milliseconds patience{15'000};  // for the carrier after a write
};

// Why the port must not be tested: queue pairs, a bond, the default route (`route_allowed`: that one is). Empty: it
// may.
std::string why_no_self_test(Kernel& kernel, const Port& port, bool route_allowed);

// The Error is of the first reading, or of saving it: nothing was written.
Result<SelfTest> self_test(Kernel& kernel, Port& port, const Qos& want, const SelfTestOptions& options);

}  // namespace fabric::qos
