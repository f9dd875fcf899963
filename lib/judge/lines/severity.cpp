// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/severity.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/advice.h"
#include "judge/lines/pattern.h"

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

// Whether the line has a level of a problem as a word of its own near its beginning: "[ERROR]", "|WARN|", "- CRITICAL".
bool has_level_word(std::string_view line) {
  constexpr std::string_view kLevels[] = {"ERROR", "ERR",  "CRITICAL", "CRIT",    "FATAL",
                                          "EMERG", "EMER", "ALERT",    "WARNING", "WARN"};
  constexpr size_t kWithin = 160;
  const std::string_view beginning = line.substr(0, kWithin);
  return std::ranges::any_of(kLevels, [&](std::string_view level) {
    for (size_t at = beginning.find(level); at != std::string_view::npos; at = beginning.find(level, at + 1)) {
      const size_t end = at + level.size();
      const bool begins = at == 0 || std::string_view(" [|<(:-").find(line[at - 1]) != std::string_view::npos;
      const bool ends = end == line.size() || std::string_view(" ]|>):").find(line[end]) != std::string_view::npos;
      if (begins && ends) return true;
    }
    return false;
  });
}

// Marks of a line that reports no problem.
constexpr std::string_view kInformationalMarks =
    " INFO|[INFO|<info>|[info]|: info: | DEBUG|[DEBUG|<debug>|<trace>|[debug]|: debug: |: debug2: |: debug3: |] debug: "
    "|] debug2: |] debug3: |level=info|level=debug|[I "
    "|advertised sufficient power";  // the last: mlx5_core prints it in the form of its warnings

// Statements that a mark of information does not make harmless, in small letters: the level of a logger is not that of
// the record that it prints (a hardware error of a GPU, level=info), and daemons note a failure that they try again as
// debug output.
constexpr std::string_view kDespiteMark =
    "failed to connect|unable to connect|failed to access|failed to reach|severity_fatal|severity=fatal|severity: "
    "fatal|is unhealthy|as unhealthy|to unhealthy|^aborting";

// Words by which drivers and daemons report a problem, in small letters.
constexpr std::string_view kFailureWords =
    "fail|^error|_err |_error|^timeout|_timeout|timed out|time out|timed-out|timedout|unable|cannot|can't|can "
    "not|couldn't|could not|didn't|wasn't|won't|invalid |invalid:|invalid,|invalid.|is invalid|not valid|not "
    "handled|not match|not allowed|not ready|not respond|not enough|no response|no memory|no free|no more|^no room|out "
    "of memory|out of range|out of resource|out of bounds|^unknown|^unrecogni|disallowed|incorrect|^bad "
    "|^bad_|stuck|^hung| "
    "hang|fatal|exceeded|exceeds|overflow|overrun|abort|reject|refus|denied|mismatch|corrupt|^fault|_fault|code=killed|"
    "code=dumped|code=exited, status=1|code=exited "
    "status=1|critical|insufficient|unhandled|illegal|malformed|malicious|degraded|^too |^lost "
    "|broken|bogus|unexpected|violation|unrecoverable|uncorrect|incompatible|^conflict|^bug:|^wrong|^stall|unreachable|"
    "inaccessible|overheat|thermal shutdown|poison|preemption time|is full|dropping|dropped|giving up|gave "
    "up|^problem|not authorized|unauthorized|as dead|ineligible|^frozen|^unstable|out of * space|array full|buffer "
    "full|queue full|non_recoverable|non-recoverable|ierr$|assertion event|^evicting|device now "
    "detached|error-down|^err$|is closed|null name|was not requested|non-zero usage|status -|expected*, read: |timer "
    "expired|is null|null pointer|unprivileged|not approved|not accessible|abnormal|razwi|^not * in * msec|^not * in * "
    "ms$|^not * within ";
constexpr std::string_view kComplaintWords =
    "not support|unsupported|supported only|not yet implemented|not implemented|^already|n't |not found|not "
    "available|unavailable|not initialized|missing|warning|^warn |no such|inconsisten|no longer|does not|invalid|^no ";
// Words of a healthy start, beside those above: "DPC: error containment capabilities: ..."
constexpr std::string_view kHealthyWords =
    "error containment capabilities|collector initialized|is initialized|module verification failed|optional |"
    "workaround|timeout set to|timeout set for|code=killed, status=15/term|firmware first mode|error cleared|overflow "
    "cleared|successfully";

// A trace of the kernel: "xs_tcp_send_request(8320) = -32".
bool is_failed_call(std::string_view line) {
  constexpr std::string_view kResult = ") = -";
  const size_t at = line.find(" kernel: ") == std::string_view::npos ? std::string_view::npos : line.find(kResult);
  return at != std::string_view::npos && at + kResult.size() < line.size() && is_digit(line[at + kResult.size()]);
}

// The lines of another program in those of supervisord have a level of their own, if any: "INFO pmon#/supervisord:
// xcvrd Error: unable to access file".
std::string_view without_supervisor(std::string_view line) {
  constexpr std::string_view kSupervisor = "supervisord: ";
  const size_t at = line.find(kSupervisor);
  return at == std::string_view::npos ? line : line.substr(at + kSupervisor.size());
}
}  // namespace

bool has_problem_level(std::string_view line) {
  const char level = glog_level(line);
  return level == 'W' || level == 'E' || level == 'F' || has_level_word(line);
}

Severity severity_of(std::string_view whole) {
  const std::string_view line = without_supervisor(whole);
  const char level = glog_level(line);
  static const PatternList healthy(kHealthyWords), failures(kFailureWords), complaints(kComplaintWords);
  const std::string small = lower(line);
  if (level == 'I' || has_any(line, kInformationalMarks))
    return has_any(small, kDespiteMark) ? Severity::failure : Severity::informational;
  const LetterGroups groups(small);
  // Most lines have none of these words, so that advice is sought in few.
  if (!has_level_word(line) && healthy.is_in(small, groups) && healthy.is_in(lower(without_advice(line)), groups))
    return Severity::informational;
  if (level == 'E' || level == 'F' || failures.is_in(small, groups) || is_failed_call(line)) return Severity::failure;
  return complaints.is_in(small, groups) ? Severity::complaint : Severity::plain;
}

// Help that PyTorch prints below every error of CUDA or HIP (c10/cuda/CUDAException.cpp): its words are no finding.
constexpr std::string_view kHelp[] = {"kernel errors might be asynchronously reported at some other API call",
                                      "so the stacktrace below might be incorrect", "to enable device-side assertions"};

std::string without_denials(std::string_view line) {
  std::string out(line);
  for (const std::string_view help : kHelp)
    for (size_t at = out.find(help); at != std::string::npos; at = out.find(help, at))
      out.replace(at, help.size(), help.size(), ' ');
  const std::string small = lower(line);
  constexpr std::string_view kOne[] = {"error", "failure", "fault", "timeout"};
  constexpr std::string_view kMany[] = {"errors", "failures", "faults", "timeouts"};
  std::string_view before;  // the word before this one
  for (size_t at = 0; at < small.size();) {
    size_t end = at;
    while (end < small.size() && is_word_letter(small[end])) ++end;
    const std::string_view word = std::string_view(small).substr(at, end - at);
    if (word.empty()) {
      if (small[at] != ' ') before = {};
      ++at;
      continue;
    }
    // "port 0 error" counts ports: without "no", only the plural counts errors.
    const bool is_many = contains(kMany, word);
    const bool is_denied = before == "no" || before == "zero" || before == "without";
    const std::string_view after = std::string_view(small).substr(end);
    const size_t value = after.starts_with(": ") ? 2 : 1;
    const size_t digits = after.find_first_not_of("0x", value);  // after "0" or "0x0"
    const bool is_zero = (after.starts_with(": 0") || after.starts_with("=0")) &&
                         (digits == std::string_view::npos || !is_word_letter(after[digits]));
    const bool is_error = is_many || contains(kOne, word);
    // Blanks the denying word, too: "no " alone marks a complaint.
    const size_t from = is_error && is_denied ? static_cast<size_t>(before.data() - small.data()) : at;
    if ((is_error && is_denied) || (is_many && (before == "0" || is_zero)))
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(from), end - from, ' ');
    before = word;
    at = end;
  }
  return out;
}

}  // namespace fabric::lines
