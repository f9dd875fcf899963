// SPDX-License-Identifier: Apache-2.0
// Files that are whole at every instant.
#pragma once

#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fabric {

// The directory of `path` below `directory`, made (mode 0755) where it is missing.
Result<Fd> make_directory_of(const std::string& directory, const std::string& path);

// Writes the TOML with a last line that parse_toml() requires (kLastLine) to a new file beside `path` (mode 0644),
// fsyncs it, renames it into place, fsyncs the directory.
Result<void> replace_file(const std::string& directory, const std::string& path, std::string_view toml);

// Durably; one that is missing is no error.
Result<void> remove_file(const std::string& directory, const std::string& path);

}  // namespace fabric
