// SPDX-License-Identifier: Apache-2.0
// Inside config/: files and folders of a configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fabric::config {

inline constexpr size_t kMaxBytes = 1 << 20;

// A regular file of at most kMaxBytes.
Result<std::string> read_file(const std::string& file);
// "etc/fabric-agent/" of "etc/fabric-agent/fabric-agent.toml"; "" of a bare name.
std::string folder_of(const std::string& file);
// The paths of *.toml in the folder, by name, without hidden ones; errors as errno. No folder: none.
Result<std::vector<std::string>> drop_ins(const std::string& folder);
// The same, for a list of what there is.
std::vector<std::string> toml_files(const std::string& folder);

}  // namespace fabric::config
