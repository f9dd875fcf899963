// SPDX-License-Identifier: Apache-2.0
// Compares, writes and restores the host settings of setting/sysctl.h.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "setting/change.h"
#include "setting/sysctl.h"

namespace fabric::qos {

// Called before the first write of each name with its current value; must store it durably. After a failure the name is
// not written. An empty function fails.
using SaveSysctl = std::function<Result<void>(const std::string& name, const std::string& before)>;
// True for a name in conflict: it is reported, not written. Null: there is none.
using SysctlConflict = std::function<bool(const std::string& name)>;

// Returns one change per wanted name. Writes only the names that differ, and reads them back. Change::from is "-" if
// the name could not be read.
Changes reconcile_sysctl(const Root& root, const SysctlValues& wanted, const SaveSysctl& save,
                         const SysctlConflict& in_conflict = {});
// Like reconcile_sysctl(), with saved originals as the wanted values: does not save any originals.
Changes write_back_sysctl(const Root& root, const SysctlValues& saved);
// The changes that reconcile_sysctl() would make now, reported as "differs". Writes nothing.
Changes plan_sysctl(const Root& root, const SysctlValues& wanted, const SysctlConflict& in_conflict = {});

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
