// SPDX-License-Identifier: Apache-2.0
#include "config/reader.h"

#include <algorithm>

namespace fabric::config {
namespace {

// Insertions, deletions, substitutions and swaps of neighbours (Damerau-Levenshtein, optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      size_t substitute = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitute});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string Reader::line(const toml::node& node) const { return file_ + ":" + std::to_string(node.source().begin.line); }

std::string Reader::place(const toml::source_position& at) const {
  return file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void Reader::fail(const toml::source_position& at, const std::string& what) {
  faults_.errors.push_back(place(at) + ": " + what);
}

void Reader::warn(const toml::source_position& at, const std::string& what) { faults_.warnings.push_back({place(at), what}); }

bool Reader::good(const MaybeProblem& problem, std::string_view key, std::string_view instead) {
  if (!problem) return true;
  fail(problem->at, std::string(key) + ": " + problem->what + "; write " + std::string(instead));
  return false;
}

void Reader::unknown_key(const toml::source_position& at, std::string_view key, std::span<const std::string_view> known) {
  // A key of a megabyte is shown, and compared, by its beginning.
  std::string_view head = key.substr(0, 40);
  auto nearest = std::min_element(known.begin(), known.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(head, a) < edit_distance(head, b);
  });
  std::string text = "unknown key " + toml_string(head) + (head.size() < key.size() ? "..." : "");
  if (edit_distance(head, *nearest) * 2 <= std::max(head.size(), nearest->size())) {
    fail(at, text + "; did you mean \"" + std::string(*nearest) + "\"?");
    return;
  }
  text += "; known here:";
  for (std::string_view name : known) text += " " + std::string(name);
  fail(at, text);
}

MaybeProblem read_texts(const toml::node& node, std::vector<std::string>& out) {
  std::vector<std::string> texts;
  auto add = [&](const toml::node& element) -> MaybeProblem {
    if (auto problem = read_text(element, texts.emplace_back())) return problem;
    if (texts.back().empty()) return TomlProblem{element.source().begin, "the string is empty"};
    return std::nullopt;
  };
  if (const auto* array = node.as_array()) {
    for (size_t i = 0; i < array->size(); ++i)
      if (auto problem = add(*array->get(i))) return problem;
  } else if (!node.is_string()) {
    return TomlProblem{node.source().begin, "expected a string or an array of strings, not " + describe(node)};
  } else if (auto problem = add(node)) {
    return problem;
  }
  out = std::move(texts);
  return std::nullopt;
}

std::string texts_toml(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + toml_string(text);
  return "[" + out + "]";
}

}  // namespace fabric::config
