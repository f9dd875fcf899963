// SPDX-License-Identifier: Apache-2.0
// The last valid configuration, with which the agent goes on while the files have errors.
#pragma once

#include "policy/config.h"

namespace fabric {

// The last valid configuration that the agent used: show_config() after comments that name its files. Enforcement goes
// on, even after a reboot, if the files become invalid, become empty or vanish, or one of the drop-ins does.
inline constexpr const char* kLastGoodFile = "var/lib/fabric-agent/config.toml";
// Whether the text begins with the comment that identifies such a file.
bool is_last_good(std::string_view text);
// Whether the line is one of the comments at the top of such a file.
bool is_mark_of_last_good(std::string_view line);
struct ConfigInUse {
  LoadedConfig config;
  std::optional<Error> error{};  // why `config` is the last valid one; nullopt: it is that of the files
};
// load_config(); if that fails, the last valid configuration of the same file: the agent's, else that in the folder
// `own` (empty: none), where a program keeps its own copy, unless the file is missing. The same if a drop-in of the
// last valid configuration is gone and the policy differs without it. A link to /dev/null in its place accepts the
// removal. An Error is that of load_config().
Result<ConfigInUse> load_config_in_use(const Root& root, const std::string& file, RuleRows rules,
                                       const std::string& own = {});
// `directory`: the root of the files.
Result<ConfigInUse> load_config_in_use(const std::string& directory, const std::string& file, RuleRows rules);
// Links to /dev/null are not listed in the copy, so that they can be deleted at any time.
Result<void> save_last_good(const std::string& directory, const LoadedConfig& config, RuleRows rules,
                            const char* file = kLastGoodFile);
inline constexpr const char* kOwnLastGood = "config.toml";  // in the folder `own`

}  // namespace fabric
