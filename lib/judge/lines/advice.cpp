// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/advice.h"

#include <algorithm>
#include <vector>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/pattern.h"

namespace fabric::lines {
namespace {

// The words that begin advice.
constexpr std::string_view kBegins[] = {
    "please",           "make sure",    "ensure that",  "ensure the",     "check that",      "check if",
    "check whether",    "check your",   "check the",    "verify that",    "verify the",      "verify your",
    "try setting",      "try to set",   "try running",  "try using",      "try increasing",  "try with",
    "consider",         "to fix",       "to enable",    "to force",       "to avoid",        "to resolve",
    "to suppress",      "did you",      "have you",     "see the",        "see log",         "refer to",
    "contact",          "most likely",  "likely cause", "possible cause", "possible causes", "possible reason",
    "possible reasons", "the cause is", "hint",         "hints",          "suggestion",      "it is recommended",
    "we recommend",     "recommended",  "you may",      "you might",      "you need",        "you must",
    "you should",       "you can",      "you probably", "perhaps",        "maybe",           "probably",
    "increase"};
constexpr std::string_view kQuestions =
    "^is *|^are *|^does *|^do *|^did *|^has *|^have *|^was *|^were *|^wrong *|^missing *";

struct Span {
  size_t begin = 0, end = 0;
};

// Sentences and clauses: a point, a comma or the like before a blank ends one.
std::vector<Span> clauses_of(std::string_view line) {
  std::vector<Span> out;
  size_t begin = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const bool is_end = std::string_view(".;!?,:-").find(line[at]) != std::string_view::npos &&
                        (at + 1 == line.size() || line[at + 1] == ' ' || line[at + 1] == '\n');
    if (!is_end && line[at] != '(' && line[at] != '\n') continue;
    out.push_back({begin, at + 1});
    begin = at + 1;
  }
  if (begin < line.size()) out.push_back({begin, line.size()});
  return out;
}

bool is_advice(std::string_view clause) {
  const std::string small = lower(trim(clause));
  if (std::ranges::any_of(kBegins, [&](std::string_view each) {
        return small.starts_with(each) && (small.size() == each.size() || !is_word_letter(small[each.size()]));
      }))
    return true;
  if (has_any(small, "recommended to|^you may need|^you need to|^you should|please ")) return true;
  return small.ends_with('?') && has_any(small, kQuestions);
}

// Advice ends with its sentence; in brackets it may have points of its own.
std::vector<Span> advices_of(std::string_view line) {
  std::vector<Span> out;
  const std::vector<Span> clauses = clauses_of(line);
  for (size_t at = 0; at < clauses.size(); ++at) {
    const auto text = [&](size_t index) {
      return line.substr(clauses[index].begin, clauses[index].end - clauses[index].begin);
    };
    if (!is_advice(text(at))) continue;
    size_t last = at;
    while (last + 1 < clauses.size() &&
           std::string_view(".!?\n").find(line[clauses[last].end - 1]) == std::string_view::npos)
      ++last;
    out.push_back({clauses[at].begin, clauses[last].end});
    at = last;
  }
  return out;
}

}  // namespace

std::string_view advice_in(std::string_view line) {
  constexpr size_t kMost = 300, kShortest = 12;
  for (const Span& part : advices_of(line)) {
    const std::string_view text = trim(line.substr(part.begin, std::min(part.end - part.begin, kMost)));
    if (text.size() >= kShortest && words(text).size() > 2) return text;
  }
  return {};
}

std::string without_advice(std::string_view line) {
  std::string out(line);
  for (const Span& part : advices_of(line))
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(part.begin),
              out.begin() + static_cast<std::ptrdiff_t>(part.end), ' ');
  return out;
}

}  // namespace fabric::lines
