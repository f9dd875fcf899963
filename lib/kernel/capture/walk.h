// SPDX-License-Identifier: Apache-2.0
// Paths below a directory, whatever symbolic links a captured tree holds.
#pragma once

#include <map>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace fabric {

// Without leading slashes; "." for the directory itself.
std::string below(const std::string& path);

using Links = std::map<std::string, std::string>;

// Walks `path` below `root` and follows links without ever leaving it; the outcome holds no link and no "..". Links on
// the way are added to `met`.
Result<std::string> walk(int root, const std::string& path, Links* met = nullptr);

Result<Fd> open_below(int root, const std::string& path, int flags);

}  // namespace fabric
