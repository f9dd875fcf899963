// SPDX-License-Identifier: Apache-2.0
// TOML -> Policy. The only folder that sees toml++.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "policy/policy.h"

namespace fabric {

inline constexpr const char* kConfigFile = "etc/fabric-agent/fabric-agent.toml";
inline std::string config_file_below(const std::string& root) {
  if (root.ends_with('/')) return root + kConfigFile;
  return root + "/" + kConfigFile;
}

struct ConfigWarning {
  std::string where;  // FILE:LINE:COLUMN
  std::string what;   // with the reason and what to write instead
};
struct LoadedConfig {
  Policy policy;
  std::vector<ConfigWarning> warnings;
  std::vector<std::string> files{};  // the files that were read: the main file, the drop-ins; without profiles
};

// Reads the file, then the drop-ins conf.d/*.toml in its directory, in name order. A later file replaces values of an
// earlier one, and its [[port]] entries are tried first. Profiles that entries name are profiles/NAME.toml in the same
// directory. Together the files must set `mode`, and in enforce mode have a [[port]] entry or [sysctl]; each file must
// have a key, and a newline at its end: an empty one may be truncated. A drop-in that is a link to /dev/null is read as
// if it did not exist.
// An Error has one line for each of the first ten faults, "FILE:LINE:COLUMN: fault; correction"; an unknown key is an
// error that names the nearest known key. Its code is the errno if a file could not be read (ENOENT: the only one is
// missing), else 0. `rules`: what [rules.ID] may change (rule_rows() of lib/judge).
Result<LoadedConfig> load_config(const std::string& file, RuleRows rules = {});
// Reads `file`, which --config names; if it is empty or the default path, kConfigFile below `root`. Links in a captured
// tree stay inside it.
Result<LoadedConfig> load_config(const Root& root, const std::string& file, RuleRows rules = {});
// Reads the text of one file, with profiles from the folder `profiles` (empty: without profiles). `mode` may be absent.
Result<LoadedConfig> parse_config(std::string_view text, const std::string& name, const std::string& profiles = {},
                                  RuleRows rules = {});

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

// The merged policy as TOML, each value with its origin as a comment. Values of a profile appear as the entry's own,
// and settings derived from traffic and cnp as comments, so that parse_config() reads the same policy back without any
// other file.
std::string show_config(const Policy& policy, RuleRows rules = {});

// The part of the policy that is enforced, as TOML: mode, exclude, ports and sysctl, without their origins. The same
// configuration has the same text, independent of the path and of the reader.
std::string wanted_config(const Policy& policy);

// Every key that a file may have, as in the headings of fabric-agent.toml(5): "mode", "sysctl", "conflict.rounds",
// "port.match.driver", "port.pfc". Without the keys of rules.
std::vector<std::string> config_keys();

}  // namespace fabric
