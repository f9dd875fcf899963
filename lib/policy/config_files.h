// SPDX-License-Identifier: Apache-2.0
// Where the files of a configuration are: on the host, or below a root.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"

namespace fabric {

inline constexpr size_t kMaxConfigBytes = 1 << 20;  // of one file

// The files of a configuration. Messages show the names that the functions take and return.
class ConfigFiles {
 public:
  // `below` is the beginning of every name, and replaces the root, which the links of a captured tree do not leave.
  // Empty: the root is the host's, and names are paths of this process.
  ConfigFiles(const Root& root, std::string below) : root_(root), below_(std::move(below)) {}

  // A regular file of at most kMaxConfigBytes.
  [[nodiscard]] Result<std::string> read(const std::string& file) const;
  // The names of *.toml in the folder, sorted, without hidden files. Empty if the folder does not exist.
  [[nodiscard]] Result<std::vector<std::string>> drop_ins(const std::string& folder) const;
  // Whether the file is a link to /dev/null, by which systemd.unit(5) masks a unit.
  [[nodiscard]] bool is_masked(const std::string& file) const;
  // The folder with the package's profiles.
  [[nodiscard]] std::string shipped_profiles() const;

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const;
  const Root& root_;
  std::string below_;
};

// Whether `file`, which --config names, is empty or kConfigFile below the root.
bool is_default_config(const Root& root, const std::string& file);
// The files of kConfigFile below the root.
ConfigFiles default_config_files(const Root& root);

}  // namespace fabric
