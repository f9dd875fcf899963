// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace fabric {

// Any text as content or double-quoted attribute of XML or HTML: by clean_text(), with line breaks kept.
std::string escape_xml(std::string_view text);

// The first `length` characters, with "…" if there are more.
std::string shortened(const std::string& text, size_t length);

}  // namespace fabric
