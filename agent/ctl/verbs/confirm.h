// SPDX-License-Identifier: Apache-2.0
// apply --confirm: the way back is laid before the first write.
#pragma once

#include <optional>
#include <string>

#include "ctl/options.h"
#include "ctl/verbs.h"
#include "settings/confirm.h"

namespace fabric::ctl {

// One apply, on trial where the command line says --confirm; without it, every step does nothing. The caller holds the
// lock.
class Trial {
 public:
  // Refused while another apply awaits confirmation. The record of a lapsed one is dropped: this apply is the
  // operator's new word. On trial, its record and its guard stand when this returns.
  static Result<Trial> begin(const Options& options, const Policy& policy);
  // An Error while an apply awaits confirmation.
  static Result<void> refuse(const Options& options);

  // Before the first write of a port, of a host setting: makes durable what stood.
  Result<void> remember(const Port& port, const Qos& before, const Keys& keys);
  Result<void> remember(const std::string& sysctl, const std::string& before);
  // All is written: the time begins to run, and the user is told. Nothing was written: there is nothing to confirm.
  Result<void> await(Output& output);

 private:
  Trial(std::string root, std::optional<std::chrono::seconds> patience) : root_(std::move(root)), patience_(patience) {}
  std::string root_;
  std::optional<std::chrono::seconds> patience_;
  confirm::Record record_;
};

}  // namespace fabric::ctl
