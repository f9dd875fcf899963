// SPDX-License-Identifier: Apache-2.0
// Passwords and tokens in files of units and in command lines.
#pragma once

#include <string>
#include <string_view>

namespace fabric {

// The text with "hidden" for passwords: values of Environment= lines of units, user:password@ in URLs, values of names
// and options that contain password, secret, token or key. No I/O.
std::string without_secrets(std::string_view text);

}  // namespace fabric
