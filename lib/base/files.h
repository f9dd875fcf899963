// SPDX-License-Identifier: Apache-2.0
// Writes files where no other user can put another file or a link in their place, and replaces files atomically.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace fabric {

// Opens the directory for writing into it. EPERM: it, a directory above it or a link on the way belongs to another user
// than root and this one, or others can write to one of these directories. A sticky directory of root (/tmp) may be
// above it, or be it.
Result<Fd> open_own_directory(const std::string& directory);

// Opens the directory of `path` below `directory`, by the rules of open_own_directory(). Creates missing directories
// with mode 0755.
Result<Fd> make_directory_of(const std::string& directory, const std::string& path);

// Writes a new file in the open directory. EEXIST: there is one, or a link. The Error names the file.
Result<void> create_file(int directory, const std::string& name, std::string_view text, mode_t mode);

// Writes the text to a new file beside `path` (mode 0644), fsyncs it, renames it into place and fsyncs the directory: a
// reader, or a start after a crash, sees the whole old or the whole new file.
Result<void> replace_file(const std::string& directory, const std::string& path, std::string_view text);

// Calls `parse` with the text and name of a file. nullopt: the file is missing.
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

// ESTALE, for a file that was written `age` seconds ago, which is too long.
inline Error stale(const std::string& name, double age, const std::string& why) {
  return error(ESTALE, name + ": written " + std::to_string(static_cast<int64_t>(age)) + " s ago: " + why);
}

// Removes the file and syncs the directory. A missing file is not an error.
Result<void> remove_file(const std::string& directory, const std::string& path);

}  // namespace fabric
