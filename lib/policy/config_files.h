// SPDX-License-Identifier: Apache-2.0
// Inside config/: files and folders of a configuration.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"

namespace fabric::config {

inline constexpr size_t kMaxBytes = 1 << 20;

// Where a configuration is read from. Names are as messages show them.
class Files {
 public:
  // Names begin with `below`, and lead to files below the root, which a captured tree's links do not leave. Empty:
  // the root is the host's, and names are paths of this process.
  Files(const Root& root, std::string below) : root_(root), below_(std::move(below)) {}

  // A regular file of at most kMaxBytes.
  [[nodiscard]] Result<std::string> read(const std::string& file) const;
  // The names of *.toml in the folder, sorted, without hidden ones; errors as errno. No folder: none.
  [[nodiscard]] Result<std::vector<std::string>> drop_ins(const std::string& folder) const;
  // The folder of the package's profiles.
  [[nodiscard]] std::string shipped_profiles() const;

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const;
  const Root& root_;
  std::string below_;
};

}  // namespace fabric::config
