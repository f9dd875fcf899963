// SPDX-License-Identifier: Apache-2.0
#include "judge/lines.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

bool is_word_letter(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

// Removes the text before the next separator from `rest` and returns it. Does not allocate: a log has millions of
// lines.
std::string_view cut(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

// Whether the parts of the pattern, which '*' separates, follow each other in the line. A part that ends in a number
// matches whole numbers only: "12" is not found in "120". One that begins with '^' matches at the beginning of a word.
bool has_parts(std::string_view line, std::string_view pattern) {
  size_t from = 0;  // after the parts found so far
  while (!pattern.empty()) {
    std::string_view part = cut(pattern, '*');
    const bool begins_word = part.starts_with('^');
    if (begins_word) part.remove_prefix(1);
    size_t at = line.find(part, from);
    const bool ends_in_number = !part.empty() && is_digit(part.back());
    const auto is_inside_word = [&] {
      return (begins_word && at > 0 && is_word_letter(line[at - 1])) ||
             (ends_in_number && at + part.size() < line.size() && is_word_letter(line[at + part.size()]));
    };
    while (at != std::string_view::npos && is_inside_word()) at = line.find(part, at + 1);
    if (at == std::string_view::npos) return false;
    from = at + part.size();
  }
  return true;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (cut(list, '|') == word) return true;
  return false;
}

bool fits(const LineMessage& message, std::string_view line, const Codes& codes) {
  if (codes.status != 0 && message.status == codes.status) return true;
  if (codes.aer != Aer::none && message.aer == codes.aer) return true;
  if (message.call == Call::of_driver && codes.is_of_driver) return true;
  if (message.call != Call::none && message.call == codes.call)
    if (message.errors.empty() || has_word(message.errors, codes.error)) return true;
  for (std::string_view patterns = message.patterns; !patterns.empty();)
    if (has_parts(line, cut(patterns, '|'))) return true;
  return false;
}

}  // namespace

std::string_view to_text(Cause value) {
  constexpr std::string_view kTexts[] = {"host", "cable", "network", "peer", "software", "none", "unknown"};
  return kTexts[static_cast<size_t>(value)];
}

const std::vector<LineMessage>& messages() {
  static const std::vector<LineMessage> all = [] {
    std::vector<LineMessage> out;
    for (const std::span<const LineMessage> table :
         {kCompletionMessages, kNcclMessages, kLibraryMessages, kDriverMessages, kKernelMessages, kGpuMessages,
          kProgramMessages, kPlatformMessages, kCallMessages})
      out.insert(out.end(), table.begin(), table.end());
    return out;
  }();
  return all;
}

bool matches(const LineMessage& message, std::string_view line) {
  return fits(message, without_denials(line), codes_of(line));
}

const LineMessage* recognize(std::string_view line, const Codes& codes) {
  const std::string read = without_denials(line.substr(0, kMaxLine));
  return find_where(messages(), [&](const LineMessage& message) { return fits(message, read, codes); });
}

const LineMessage* recognize(std::string_view line) {
  line = line.substr(0, kMaxLine);
  return recognize(line, codes_of(line));
}

}  // namespace fabric::lines
