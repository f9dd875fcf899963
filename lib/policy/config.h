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

// Every key that a file may have, as in the headings of fabric-agent.toml(5): "mode", "sysctl", "conflict.rounds",
// "port.match.driver", "port.pfc". Without the keys of rules.
std::vector<std::string> config_keys();

}  // namespace fabric
