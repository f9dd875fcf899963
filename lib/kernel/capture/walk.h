// SPDX-License-Identifier: Apache-2.0
// Paths below a directory, whatever symbolic links a captured tree holds.
#pragma once

#include <fcntl.h>

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

// Never waits for the other end of a FIFO, never becomes the terminal's owner.
inline constexpr int kNoSurprise = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// The errors of these have no words.
inline Error failure(int code = errno) { return error(code, ""); }
Result<Fd> open_at(int folder, const std::string& name, int flags);
Result<Fd> open_below(int root, const std::string& path, int flags);
// The descriptor, if it is one of a regular file. EISDIR; ELOOP: a link; EINVAL: anything else.
Result<Fd> regular(Result<Fd> fd);
// To read a file that the folder's owner has written.
Result<Fd> open_foreign(const Result<Fd>& folder, const std::string& name);

}  // namespace fabric
