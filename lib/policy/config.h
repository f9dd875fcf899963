// SPDX-License-Identifier: Apache-2.0
// TOML -> Policy. The only folder that sees toml++.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "policy/policy.h"
#include "policy/span.h"

namespace fabric {

inline constexpr const char* kConfigFile = "etc/fabric-agent/fabric-agent.toml";
inline std::string config_file_below(const std::string& root) {
  return root + (root.ends_with('/') ? "" : "/") + kConfigFile;
}

struct ConfigWarning {
  std::string where;  // FILE:LINE:COLUMN
  std::string what;   // with the reason and what to write instead
};
struct LoadedConfig {
  Policy policy;
  std::vector<ConfigWarning> warnings;
  std::vector<std::string> files{};  // that it was read from, without profiles: the main file, the drop-ins
};

// The file and the drop-ins conf.d/*.toml in its directory, in name order. A later file replaces values of an
// earlier one; its [[port]] entries are tried first. Profiles that entries name are profiles/NAME.toml in the same
// directory; of parse_config(), in `profiles` (none when that is empty). An Error's text is one line for each of the
// first ten faults, "FILE:LINE:COLUMN: fault; correction"; unknown keys are errors with the nearest
// known key. Files must give `mode`, in enforce mode a [[port]] entry or [sysctl], and each a key and a newline at its
// end. Nothing half-read is returned. Its code is the errno if the only file could not be read (ENOENT: missing), else
// 0. `rules`: what [rules.ID] may change (rule_rows() of lib/judge).
Result<LoadedConfig> load_config(const std::string& file, RuleRows rules = {});
// The same of `file` where --config gives one; empty, or its default path: kConfigFile below `root`. A captured tree's
// links stay inside it.
Result<LoadedConfig> load_config(const Root& root, const std::string& file, RuleRows rules = {});
Result<LoadedConfig> parse_config(std::string_view text, const std::string& name, const std::string& profiles = {},
                                  RuleRows rules = {});

// The last valid configuration that the agent used: show_config() below a comment that names its main file. Files that
// become invalid, empty or vanish do not end enforcement, not even over a reboot.
inline constexpr const char* kLastGoodFile = "var/lib/fabric-agent/config.toml";
struct ConfigInUse {
  LoadedConfig config;
  std::string error{};  // why the files are not used: `config` is the last valid one; empty: `config` is theirs
};
// load_config(); if that fails, the last valid configuration of the same file. An Error is that of the files.
Result<ConfigInUse> load_config_in_use(const Root& root, const std::string& file, RuleRows rules);
// `directory`: the root below which the files lie.
Result<ConfigInUse> load_config_in_use(const std::string& directory, const std::string& file, RuleRows rules);
Result<void> save_last_good(const std::string& directory, const LoadedConfig& config, RuleRows rules);

// The merged policy as TOML, each value with a comment saying where it came from. Values of a profile stand as the
// entry's own; settings derived from traffic and cnp follow as comments. So parse_config() reads it back to
// the same policy, without any other file.
std::string show_config(const Policy& policy, RuleRows rules = {});

// What of it is enforced, and where: mode, exclude, ports and sysctl, without the places that they come from. One text
// for one configuration, independent of the path and of the reader.
std::string wanted_config(const Policy& policy);

// Every key that a file may have, as fabric-agent.toml(5) heads it: "mode", "sysctl", "conflict.rounds",
// "port.match.driver", "port.pfc". Those of a rule are not among them.
std::vector<std::string> config_keys();

}  // namespace fabric
