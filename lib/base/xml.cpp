// SPDX-License-Identifier: Apache-2.0
#include "base/xml.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric {

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text, Breaks::keep)) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string shortened(const std::string& text, size_t length) {
  size_t end = 0, count = 0;
  for (; end < text.size() && count < length; ++count) end += std::max<size_t>(1, utf8_length(text, end));
  return end >= text.size() ? text : text.substr(0, end) + "…";
}

}  // namespace fabric
