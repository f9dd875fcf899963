// SPDX-License-Identifier: Apache-2.0
#include "judge/lines.h"

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/pattern.h"
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (cut(list, '|') == word) return true;
  return false;
}

// The patterns of a message, prepared.
struct Prepared {
  const LineMessage* message;
  PatternList patterns, printer;
};

bool fits(const Prepared& prepared, const LogLine& line, const Groups& groups) {
  const LineMessage& message = *prepared.message;
  // Most lines report no problem, so that the printers of a few components are sought in them only.
  if (message.is_component())
    return line.severity >= message.severity && prepared.printer.is_in(line.text, groups) &&
           (message.patterns.empty() || prepared.patterns.is_in(line.text, groups));
  const Codes& codes = line.codes;
  if (codes.status != 0 && message.status == codes.status) return true;
  if (codes.aer != Aer::none && message.aer == codes.aer) return true;
  if (message.call == Call::of_driver && codes.is_of_driver) return line.severity == Severity::failure;
  if (message.call != Call::none && message.call == codes.call)
    if (message.errors.empty() || has_word(message.errors, codes.error)) return true;
  return prepared.patterns.is_in(line.text, groups);
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
         {kHarmlessMessages, kCompletionMessages, kNcclMessages, kLibraryMessages, kDriverMessages, kKernelMessages,
          kGpuMessages, kProgramMessages, kPlatformMessages, kMpiMessages, kDeviceMessages, kCallMessages,
          kServiceMessages, kTransportMessages, kTrainingMessages, kComponentMessages})
      out.insert(out.end(), table.begin(), table.end());
    return out;
  }();
  return all;
}

LogLine read_line(std::string_view line) {
  LogLine out;
  out.text = without_denials(line.substr(0, kMaxLine));
  out.small = lower(out.text);
  out.severity = severity_of(out.text);
  out.codes = codes_of(out.text, out.severity);
  return out;
}

const LineMessage* recognize(const LogLine& line) {
  static const std::vector<Prepared> all = [] {
    std::vector<Prepared> out;
    for (const LineMessage& message : messages())
      out.push_back({&message, PatternList(message.patterns), PatternList(message.printer)});
    return out;
  }();
  const Groups groups(line.text);
  const Prepared* found = find_where(all, [&](const Prepared& each) { return fits(each, line, groups); });
  return found == nullptr ? nullptr : found->message;
}

}  // namespace fabric::lines
