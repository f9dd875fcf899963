// SPDX-License-Identifier: Apache-2.0
// apply --confirm: the guard that reverts it is started before the first write.
#pragma once

#include <optional>
#include <string>

#include "ctl/options.h"
#include "ctl/verbs.h"
#include "settings/confirm.h"

namespace fabric::ctl {

// One apply with --confirm; without that option every step does nothing. The caller holds the lock.
class Trial {
 public:
  // Fails while another apply awaits confirmation; drops the record of a reverted one. Saves the record and starts the
  // guard.
  static Result<Trial> begin(const Options& options, const Policy& policy);
  // Fails while an apply awaits confirmation.
  static Result<void> refuse(const Options& options);

  // Saves the previous settings, before the first write of a port or of a host setting.
  Result<void> remember(const Port& port, const Qos& before, const Keys& keys);
  Result<void> remember(const std::string& sysctl, const std::string& before);
  // After all writes: starts the clock and informs the user. Without any write there is nothing to confirm.
  Result<void> await(Output& output);

 private:
  Trial(std::string root, std::optional<std::chrono::seconds> patience) : root_(std::move(root)), patience_(patience) {}
  std::string root_;
  std::optional<std::chrono::seconds> patience_;
  confirm::Record record_;
};

}  // namespace fabric::ctl
