// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fabric {

// A file of the configuration as a capture keeps it: without comments, and with "hidden" for texts of rules (but
// `severity`) and of unknown keys, and for unknown keys in quotes. If it is no TOML it ends with the line of the error,
// in which every unknown word is crossed out. It is read with the same result, or has errors in the same lines. The
// comments by which the last valid configuration is recognized stay. nullopt: it would have no error any more.
std::optional<std::string> kept_config(const std::string& text);

// The text of a TOML file without comments, except those by which the last valid configuration is recognized.
std::string without_comments(std::string_view text);

}  // namespace fabric
