// SPDX-License-Identifier: Apache-2.0
#include "judge/lines.h"

#include <algorithm>
#include <optional>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/pattern.h"
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

// The level of a line of glog, "E1129 13:04:29.119704" or "E20261129 13:04:29.119704": I, W, E or F; ' ': another line.
char glog_level(std::string_view line) {
  for (size_t at = 0; at + 6 < line.size(); ++at) {
    const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '[';
    if (!begins || std::string_view("IWEF").find(line[at]) == std::string_view::npos) continue;
    const size_t digits = line.substr(at + 1).find_first_not_of("0123456789");
    if ((digits == 4 || digits == 8) && line[at + 1 + digits] == ' ') return line[at];
  }
  return ' ';
}

// Whether the program marks the line as one that reports no problem.
bool is_informational(std::string_view line) {
  for (const std::string_view mark : {" INFO", "[INFO", "<info>", "[info]", ": info: ", " DEBUG", "[DEBUG", "<debug>",
                                      "<trace>", "[debug]", ": debug: ", "level=info", "level=debug", " NOTICE "})
    if (line.find(mark) != std::string_view::npos) return true;
  return line.find("[I ") != std::string_view::npos || glog_level(line) == 'I';
}

// Words by which drivers and daemons report a problem, in small letters.
constexpr std::string_view kFailureWords =
    "fail|^error|^err |^err:|^err=|^err (|_err |_error|^timeout|_timeout|timed out|time out|timed-out|timedout|unable|"
    "cannot|can't|can not|couldn't|could not|didn't|wasn't|won't|invalid |invalid:|invalid,|invalid.|is invalid|"
    "not valid|not handled|not match|not allowed|not ready|not respond|not enough|no response|no memory|no free|"
    "no more|^no room|out of memory|out of range|out of resource|out of bounds|^unknown|incorrect|^bad |^bad_|"
    "stuck|^hung| hang|fatal|exceeded|exceeds|overflow|overrun|abort|reject|refus|denied|mismatch|corrupt|^fault|"
    "page fault|_fault|critical|insufficient|unhandled|illegal|malformed|malicious|degraded|^too |^lost |broken|"
    "bogus|unexpected|violation|unrecoverable|uncorrect|incompatible|conflict|^bug:|^wrong|^stall|unreachable|"
    "inaccessible|overheat|thermal shutdown|poison|preemption time|is full|dropping|dropped|giving up|gave up|"
    "is null|null pointer|unprivileged|not approved";
constexpr std::string_view kComplaintWords =
    "not support|unsupported|n't |not found|not available|unavailable|not initialized|missing|warning|^warn |"
    "no such|inconsisten|no longer|does not|invalid|^no ";
// Words of a healthy start, beside those above: "DPC: error containment capabilities: ..."
constexpr std::string_view kHealthyWords =
    "error containment capabilities|collector initialized|is initialized|module verification failed|optional |"
    "workaround|timeout set to|firmware first mode|error cleared|overflow cleared|successfully";
// A note of mlx5_core in the form of its warnings.
constexpr std::string_view kMarkedNote = "advertised sufficient power";

// What the words of a line say; sought when the first component is compared with the line.
struct Tone {
  explicit Tone(std::string_view line) {
    is_note = is_informational(line) || line.find(kMarkedNote) != std::string_view::npos;
    const std::string small = lower(line);
    if (is_note || has_any(small, kHealthyWords)) return;
    const char level = glog_level(line);
    has_failure = level == 'E' || level == 'F' || has_any(small, kFailureWords);
    has_complaint = has_failure || has_any(small, kComplaintWords);
  }
  bool is_note = false, has_failure = false, has_complaint = false;
};

// Most lines report no problem, so that the printers of a few components are sought in them only.
bool is_of_component(const LineMessage& message, std::string_view line, std::optional<Tone>& tone) {
  if (!tone) tone.emplace(line);
  if (tone->is_note) return false;
  if (message.severity == Severity::failure && !tone->has_failure) return false;
  if (message.severity == Severity::complaint && !tone->has_complaint) return false;
  return has_any(line, message.printer) && (message.patterns.empty() || has_any(line, message.patterns));
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (cut(list, '|') == word) return true;
  return false;
}

bool fits(const LineMessage& message, std::string_view line, const Codes& codes, std::optional<Tone>& tone) {
  if (message.is_component()) return is_of_component(message, line, tone);
  if (codes.status != 0 && message.status == codes.status) return true;
  if (codes.aer != Aer::none && message.aer == codes.aer) return true;
  if (message.call == Call::of_driver && codes.is_of_driver) {
    if (!tone) tone.emplace(line);
    return tone->has_failure;
  }
  if (message.call != Call::none && message.call == codes.call)
    if (message.errors.empty() || has_word(message.errors, codes.error)) return true;
  return has_any(line, message.patterns);
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
          kProgramMessages, kPlatformMessages, kCallMessages, kComponentMessages})
      out.insert(out.end(), table.begin(), table.end());
    return out;
  }();
  return all;
}

bool matches(const LineMessage& message, std::string_view line) {
  std::optional<Tone> tone;
  return fits(message, without_denials(line), codes_of(line), tone);
}

const LineMessage* recognize(std::string_view line, const Codes& codes) {
  const std::string read = without_denials(line.substr(0, kMaxLine));
  std::optional<Tone> tone;
  return find_where(messages(), [&](const LineMessage& message) { return fits(message, read, codes, tone); });
}

const LineMessage* recognize(std::string_view line) {
  line = line.substr(0, kMaxLine);
  return recognize(line, codes_of(line));
}

}  // namespace fabric::lines
