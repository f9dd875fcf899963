// SPDX-License-Identifier: Apache-2.0
// Pieces of HTML: `text` is escaped, `content` is markup.
#pragma once

#include <string>
#include <vector>

#include "model/report.h"

namespace fabric::exporter {

// <name attributes>content</name>
std::string element(std::string_view name, std::string_view attributes, std::string_view content);
// class="name"
std::string css(std::string_view name);
std::string paragraph(const std::string& text);
std::string section(std::string_view title, const std::string& content);
// A term and its text in a <dl>; nothing without text.
std::string term(std::string_view name, const std::string& text, std::string_view attributes = "");
// A list; at most 40 lines, then how many more there are.
std::string items(const std::vector<std::string>& lines, std::string_view attributes = "");
// The status as a word, because not everybody sees colors; then the text and its subjects.
std::string heading(Status status, const std::string& text, const std::string& subjects);
std::string card(Status status, const std::string& content, const std::string& attributes = "");

}  // namespace fabric::exporter
