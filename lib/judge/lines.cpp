// SPDX-License-Identifier: Apache-2.0
#include "judge/lines.h"

#include <algorithm>

#include "base/parse.h"
#include "judge/lines/pattern.h"
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

// Programs with a mark of their own in every line, and the families of messages whose words may explain them.
struct Program {
  std::string_view marks;
  std::string_view families;  // empty: any
};
constexpr Program kPrograms[] = {
    {"NVRM: ", "gpu|nvrm|nvidia"},
    {"HCCL(|HCCP(|^EI00*: [PID: |^EJ00*: [PID: ", "ascend"},
    {"^EAL: |net_mlx4: |net_mlx5: |mlx5_net: |mlx5_pci: |mlx5_common: |common_mlx5: |net_failsafe: |net_ice: |"
     "net_bnxt: |net_ena: |net_iavf: |^ETHDEV: ",
     "dpdk"},
    {"DAOS[*hg  |mercury/src/", "mercury|daos"},
    {"sshd[", "sshd"},  // anybody connects to the server; the lines of a launcher are the client's
    {"nvme_rdma.c:*: |^nvme.c:*:nvme_|^nvme.c:*:spdk_nvme_|nvme_ctrlr.c:*: |nvme_fabric.c:*: |bdev_nvme.c:*: "
     "|nvmf_rdma",
     ""},
};

// The patterns of a message, prepared.
struct Prepared {
  const LineMessage* message;
  PatternList patterns, printer;
};

bool fits(const Prepared& prepared, const LogLine& line, std::string_view families) {
  const LineMessage& message = *prepared.message;
  // Words mean something else in another program; a code, and a harmless line, do not.
  const bool is_of_program =
      families.empty() || message.cause == FaultLocation::none || has_word(families, message.family());
  // Most lines report no problem, so that the printers of a few components are sought in them only.
  if (message.is_component())
    return is_of_program && line.severity >= message.severity && prepared.printer.is_in(line.text, line.groups) &&
           (message.patterns.empty() || prepared.patterns.is_in(line.text, line.groups)) &&
           (message.errors != kNoErrno || line.codes.error.empty());
  const Codes& codes = line.codes;
  if (codes.status != 0 && message.status == codes.status) return true;
  if (codes.aer != Aer::none && message.aer == codes.aer) return true;
  if (message.call == Call::of_driver && codes.is_of_driver) return line.severity == Severity::failure;
  // A request that a driver makes for itself is not a request of a program.
  const bool is_own_step = codes.is_of_driver && message.cause == FaultLocation::software;
  if (message.call != Call::none && message.call == codes.call && !is_own_step)
    if (message.errors.empty() || has_word(message.errors, codes.error)) return true;
  return is_of_program && prepared.patterns.is_in(line.text, line.groups);
}

// The messages that a line may be, by a group of letters of each pattern.
struct MessageIndex {
  std::vector<Prepared> rows;
  std::vector<std::vector<size_t>> by_group{LetterGroups::kKinds};  // indices of rows
  std::vector<size_t> always;  // rows that match by a code as well, or by a short pattern

  MessageIndex() {
    for (const LineMessage& message : messages()) {
      rows.push_back({&message, PatternList(message.patterns), PatternList(message.printer)});
      const PatternList& keys = message.is_component() ? rows.back().printer : rows.back().patterns;
      const bool has_code = message.status != 0 || message.aer != Aer::none || message.call != Call::none;
      if (has_code || std::ranges::any_of(keys.patterns(), [](const auto& each) { return each.groups.empty(); })) {
        always.push_back(rows.size() - 1);
        continue;
      }
      for (const PatternList::Pattern& pattern : keys.patterns()) {
        const uint16_t group =
            *std::ranges::min_element(pattern.groups, {}, [&](uint16_t each) { return by_group[each].size(); });
        by_group[group].push_back(rows.size() - 1);
      }
    }
  }
};

size_t program_in(std::string_view line, const LetterGroups& groups) {
  static const std::vector<PatternList> marks = [] {
    std::vector<PatternList> out;
    for (const Program& each : kPrograms) out.emplace_back(each.marks);
    return out;
  }();
  for (size_t at = 0; at < marks.size(); ++at)
    if (marks[at].is_in(line, groups)) return at + 1;
  return 0;
}

}  // namespace

std::string_view to_text(FaultLocation value) {
  constexpr std::string_view kTexts[] = {"host", "cable", "network", "peer", "software", "none", "unknown"};
  return kTexts[static_cast<size_t>(value)];
}

const LineMessage kInformation{"information",
                               FaultLocation::none,
                               "",
                               "The line is marked as information, or reports that a step succeeded. It does not "
                               "report an error, and is usually harmless. No rule describes it in detail.",
                               "",
                               ""};
const LineMessage kNoError{
    "no-error",
    FaultLocation::unknown,
    "",
    "No rule knows the line. It has no mark of an error, and its words do not say whether it reports a fault or a "
    "step, a setting or a change of state. A line of the kernel has a level, which decides: journalctl -k -o json, "
    "PRIORITY (3 error, 4 warning, 6 information).",
    "",
    ""};

const LineMessage kWarning{
    "unknown-warning",
    FaultLocation::unknown,
    "",
    "No rule knows the line. Its level marks it as a warning or an error of the program; its words name no fault. Look "
    "at the lines of the same program before and after it.",
    "",
    ""};

const std::vector<LineMessage>& messages() {
  static const std::vector<LineMessage> all = [] {
    std::vector<LineMessage> out;
    for (const std::span<const LineMessage> table :
         {kHarmlessMessages, kCompletionMessages, kNcclMessages, kLibraryMessages, kDriverMessages, kKernelMessages,
          kGpuMessages, kProgramMessages, kPlatformMessages, kMpiMessages, kDeviceMessages, kCallMessages,
          kServiceMessages, kTransportMessages, kTrainingMessages, kSourceMessages, kComponentMessages})
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
  out.codes = codes_of(out.text, out.small, out.severity);
  out.text += out.codes.names;
  out.groups = LetterGroups(out.text);
  out.small_groups = LetterGroups(out.small);
  return out;
}

size_t program_of(std::string_view line) { return program_in(line, LetterGroups(line)); }

const LineMessage* recognize(const LogLine& line) {
  static const MessageIndex index;
  const size_t program = program_in(line.text, line.groups);
  const std::string_view families = program == 0 ? std::string_view() : kPrograms[program - 1].families;
  std::vector<size_t> candidates = index.always;
  for (const uint16_t group : line.groups.list())
    candidates.insert(candidates.end(), index.by_group[group].begin(), index.by_group[group].end());
  std::ranges::sort(candidates);
  for (const size_t at : candidates)
    if (fits(index.rows[at], line, families)) return index.rows[at].message;
  return nullptr;
}

}  // namespace fabric::lines
