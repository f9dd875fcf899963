// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fabric {

// The text as one word of a shell's command line: 'my policy.toml'.
std::string shell_word(const std::string& text);

}  // namespace fabric
