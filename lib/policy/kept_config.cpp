// SPDX-License-Identifier: Apache-2.0
#include "policy/kept_config.h"

#include <algorithm>
#include <set>
#include <vector>

#include "policy/config.h"
#include "policy/toml_value.h"

namespace fabric {
namespace {

// The names of keys, at whatever place they stand, and of tables whose keys are free.
const std::set<std::string, std::less<>>& known_names() {
  static const std::set<std::string, std::less<>> all = [] {
    std::set<std::string, std::less<>> names{"rules", "match"};
    for (const std::string& key : config_keys()) names.insert(key.substr(key.rfind('.') + 1));
    return names;
  }();
  return all;
}

// Collects the places of the reasons of suppressed rules: free text, in which people write names.
void collect_reasons(const toml::node& rules, std::vector<toml::source_region>& out) {
  if (!rules.is_table()) return;
  for (auto&& [id, rule] : *rules.as_table())
    if (const auto* table = rule.as_table())
      if (const toml::node* reason = table->get("reason"); reason != nullptr && reason->is_string())
        out.push_back(reason->source());
}

// Collects the places of texts below the node whose path has no known name, and of reasons.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the file's tables, which toml++ limits
void collect_unknown(const toml::node& node, std::vector<toml::source_region>& out) {
  if (const auto* table = node.as_table()) {
    for (auto&& [key, value] : *table) {
      const std::string_view name = key;
      if (name == "rules") collect_reasons(value, out);
      if (!known_names().contains(name)) collect_unknown(value, out);
    }
  } else if (const auto* list = node.as_array()) {
    for (const toml::node& each : *list) collect_unknown(each, out);
  } else if (node.is_string()) {
    out.push_back(node.source());
  }
}

// The index of the place in the text; columns count characters.
size_t index_of(std::string_view text, const toml::source_position& place) {
  size_t at = 0;
  for (size_t line = 1; line < place.line && at < text.size(); ++line) {
    const size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  const auto is_inside = [&] { return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  for (size_t column = 1; column < place.column && at < text.size(); ++column) {
    ++at;
    while (is_inside()) ++at;
  }
  return at;
}

}  // namespace

std::string without_comments(std::string_view text) {
  const bool is_copy = is_last_good(text);
  std::string out;
  std::string_view quote;  // that ends the string; empty: outside of strings
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    size_t size = 1;
    if (!quote.empty()) {
      const bool is_line = quote.size() == 1 && rest.front() == '\n';  // an error: the quote is missing
      if (rest.starts_with(quote) || is_line) {
        size = is_line ? 1 : quote.size();
        quote = {};
      } else if (rest.front() == '\\' && quote.front() == '"' && rest.size() > 1) {
        size = 2;
      }
    } else if (rest.front() == '#') {
      size = std::min(rest.find('\n'), rest.size());
      if (is_copy && at == out.size() && is_mark_of_last_good(rest.substr(0, size))) out += rest.substr(0, size);
      at += size;
      continue;
    } else {
      for (const std::string_view each : {"\"\"\"", "'''", "\"", "'"})
        if (quote.empty() && rest.starts_with(each)) {
          quote = each;
          size = each.size();
        }
    }
    out += rest.substr(0, size);
    at += size;
  }
  return out;
}

std::optional<std::string> kept_config(const std::string& text) {
  std::string out = without_comments(text);
  toml::table table;
  if (const auto problem = parse_toml(out, table)) {
    // The text after the first error is not read.
    const size_t end = index_of(out, {problem->at.line + 1, 1});
    const auto lines = static_cast<size_t>(std::ranges::count(out.substr(end), '\n'));
    std::string begin = out.substr(0, end) + std::string(lines, '\n');
    toml::table other;
    const auto again = parse_toml(begin, other);
    if (again && again->at == problem->at && again->what == problem->what) return begin;
    return out;
  }
  std::vector<toml::source_region> unknown;
  collect_unknown(table, unknown);
  std::ranges::sort(unknown, [](const auto& a, const auto& b) { return b.begin < a.begin; });
  for (const toml::source_region& region : unknown) {
    const size_t begin = index_of(out, region.begin), end = index_of(out, region.end);
    if (end <= begin + 1 || (out[begin] != '"' && out[begin] != '\'') || out[end - 1] != out[begin])
      return std::nullopt;
    const auto lines = static_cast<size_t>(std::ranges::count(out.substr(begin, end - begin), '\n'));
    out.replace(begin, end - begin, "\"hidden\"" + std::string(lines, '\n'));
  }
  return out;
}

}  // namespace fabric
