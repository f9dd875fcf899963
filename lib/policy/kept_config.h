// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fabric {

// A file of the configuration as a capture keeps it: without comments, and with "hidden" for reasons and the texts of
// unknown keys. It is read with the same result, or the same errors in the same lines. The comments by which the last
// valid configuration is recognized stay. nullopt: a text of an unknown key was not found in the file.
std::optional<std::string> kept_config(const std::string& text);

// The text of a TOML file without comments, except those by which the last valid configuration is recognized.
std::string without_comments(std::string_view text);

}  // namespace fabric
