// SPDX-License-Identifier: Apache-2.0
// Files that are whole at every instant.
#pragma once

#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fabric {

// The directory of `path` below `directory`, made (mode 0755) where it is missing.
Result<Fd> make_directory_of(const std::string& directory, const std::string& path);

// Writes the text to a new file beside `path` (mode 0644), fsyncs it, renames it into place, fsyncs the directory: a
// reader, or a start after a crash, sees the old or the new file, never a part.
Result<void> replace_file(const std::string& directory, const std::string& path, std::string_view text);

// What `parse` makes of the text and name of a file; nullopt: it is missing.
template <class Parse>
auto parse_file(const Result<std::string>& text, const std::string& path, Parse&& parse)
    -> Result<std::optional<std::decay_t<decltype(*parse(*text, path))>>> {
  using Parsed = std::decay_t<decltype(*parse(*text, path))>;
  if (!text && text.error().code == ENOENT) return std::optional<Parsed>{};
  if (!text) return text.error();
  auto parsed = parse(*text, "/" + path);
  if (!parsed) return parsed.error();
  return std::optional(std::move(*parsed));
}

// ESTALE: a file that was written `age` seconds ago, which is too long.
inline Error stale(const std::string& name, double age, const std::string& why) {
  return error(ESTALE, name + ": written " + std::to_string(static_cast<int64_t>(age)) + " s ago: " + why);
}

// Durably; one that is missing is no error.
Result<void> remove_file(const std::string& directory, const std::string& path);

}  // namespace fabric
