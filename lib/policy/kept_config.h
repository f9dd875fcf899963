// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace fabric {

// A file of the configuration as a capture keeps it: without comments, and with "hidden" for reasons and the texts of
// unknown keys. It is read with the same result, or the same errors in the same lines. The two comments by which the
// last valid configuration is recognized stay. nullopt: a text of an unknown key was not found in the file.
std::optional<std::string> kept_config(const std::string& text);

}  // namespace fabric
