// SPDX-License-Identifier: Apache-2.0
// Compares, writes and restores the host settings of setting/sysctl.h.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "setting/change.h"
#include "setting/sysctl.h"

namespace fabric::qos {

struct SysctlOptions {
  bool dry_run = false;
  // Called before the first write of each name with its current value; must store it durably. After a failure the name
  // is not written.
  std::function<Result<void>(const std::string& name, const std::string& before)> save_original;
  // True for a name in conflict: it is reported, not written.
  std::function<bool(const std::string& name)> conflict{};
};

// Returns one change per wanted name. Writes only the names that differ, and reads them back. Change::from is "-" if
// the name could not be read.
Changes reconcile_sysctl(const Root& root, const SysctlValues& wanted, const SysctlOptions& options);

// The original value of each name, stored as durably as state::Originals.
inline constexpr const char* kSysctlOriginalsFile = "var/lib/fabric-agent/sysctl.json";
Result<SysctlValues> parse_sysctl_originals(std::string_view text, const std::string& file);
std::string sysctl_originals_text(const SysctlValues& originals);
Result<SysctlValues> load_sysctl_originals(const std::string& directory);
// Writes the whole file, also if `originals` is empty.
Result<void> save_sysctl_originals(const std::string& directory, const SysctlValues& originals);
// Adds the name if it is not in `originals` yet, and stores it durably.
Result<void> save_sysctl_original(const std::string& directory, SysctlValues& originals, const std::string& name,
                                  const std::string& before);

}  // namespace fabric::qos
