// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/html.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric::exporter {
namespace {

constexpr size_t kMostLines = 40;

}  // namespace

std::string element(std::string_view name, std::string_view attributes, std::string_view content) {
  std::string out = "<";
  out.append(name).append(attributes.empty() ? "" : " ").append(attributes).append(">").append(content);
  return out.append("</").append(name).append(">");
}

std::string css(std::string_view name) { return "class=\"" + std::string(name) + "\""; }

std::string paragraph(const std::string& text) { return element("p", "", escape_xml(text)) + "\n"; }

std::string section(std::string_view title, const std::string& content) {
  return element("section", "", element("h2", "", title) + "\n" + content) + "\n";
}

std::string term(std::string_view name, const std::string& text, std::string_view attributes) {
  return text.empty() ? "" : element("dt", attributes, name) + element("dd", attributes, escape_xml(text)) + "\n";
}

std::string items(const std::vector<std::string>& lines, std::string_view attributes) {
  std::string out;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) out += element("li", "", escape_xml(lines[i])) + "\n";
  if (lines.size() > kMostLines) out += element("li", "", std::to_string(lines.size() - kMostLines) + " more");
  return element("ul", attributes, out);
}

std::string heading(Status status, const std::string& text, const std::string& subjects) {
  return element("h3", "",
                 element("span", css("status"), to_text(status)) + " " + escape_xml(text) + " " + escape_xml(subjects));
}

std::string card(Status status, const std::string& content, const std::string& attributes) {
  return element("li", attributes + "class=\"card " + std::string(to_text(status)) + "\"", content) + "\n";
}

}  // namespace fabric::exporter
