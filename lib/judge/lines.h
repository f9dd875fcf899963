// SPDX-License-Identifier: Apache-2.0
// Error lines of NCCL, RCCL, UCX, libfabric, MPI, rdma-core, inference programs, Slurm, Kubernetes, the kernel and NIC
// firmware, and what they mean. lines/names.h finds the ports that a line names, lines/time.h when it was written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/fix.h"
#include "judge/lines/codes.h"
#include "judge/lines/pattern.h"
#include "judge/lines/severity.h"

namespace fabric::lines {

std::string_view to_text(FaultLocation value);

// LineMessage::errors of a component whose lines have no errno.
inline constexpr std::string_view kNoErrno = "none";

// A consequence is not a cause of its own. If the log has a cause of the same family(), it is shown there.
enum class Role : uint8_t { cause, consequence };

// The kinds of programs that print the lines of a component, where words, errnos and verbs mean another thing with them
// (condition.h). A component may have several.
enum class Printer : uint16_t {
  other = 0,
  nic_driver = 1 << 0,   // of the kernel
  driver_rest = 1 << 1,  // a row for any line of a NIC's driver that no row before it has: a step, a setting, a link
  gpu = 1 << 2,          // its driver and its services
  storage = 1 << 3,      // a client or target over the network
  fabric = 1 << 4,       // subnet manager and diagnostics of InfiniBand
  switch_software = 1 << 5,  // of a switch
  node_service = 1 << 6,     // container runtime, kubelet, device plugins
  slurm = 1 << 7,
  ranks = 1 << 8,  // connects the processes of a job over TCP
  dpdk = 1 << 9,
  library = 1 << 10,  // of the communication of jobs: the verb of a line is the step that failed
};
constexpr Printer operator|(Printer a, Printer b) {
  return static_cast<Printer>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
constexpr bool has_any(Printer kind, Printer of) {
  return (static_cast<uint16_t>(kind) & static_cast<uint16_t>(of)) != 0;
}

// One message, or a whole family of them. It matches by `patterns`, alternatives separated by '|'; '*' matches any
// text, a number before a '*' or at the end of a pattern matches a whole number only, and '^' is the beginning of a
// word, '$' its end. It also matches by the result of codes_of(): by the status of a work completion, an AER bit, or
// the call that failed together with its errno, in any library's words. Negated statements ("no error") are not read.
// In a line of a program with a mark of its own (program_of()) only its families match by words.
//
// A message with a `printer` is any other error of a component, a part of a program or a driver. The line must match
// one of the alternatives of `printer` as well as one of `patterns`, if there are any, and have this severity.
struct LineMessage {
  std::string_view id;  // FAMILY-NAME
  FaultLocation cause;  // the most likely one
  std::string_view patterns;
  FixRow meaning;           // with the fix: work with hands has its kind
  std::string_view next;    // a command, with {netdev} {rdma} {port} {pci} {peer}
  std::string_view source;  // project and file that prints it
  unsigned status = 0;      // enum ibv_wc_status; 0: none
  Role role = Role::cause;
  Call call = Call::none;               // with any errno, unless `errors` names some
  std::string_view errors = {};         // "ENOMEM|EINVAL"; of a component: kNoErrno
  bool needs_line_before = false;       // it refers to the error line before it
  std::string_view follows = {};        // a consequence of causes of these families, "bnxt|ionic"; empty: of its own
  Aer aer = Aer::none;                  // a bit of the AER registers
  std::string_view printer = {};        // of a component
  Severity severity = Severity::plain;  // at least; plain: `printer` has the mark of an error, "NCCL WARN"
  Printer kind = Printer::other;        // of a component
  bool is_link_down = false;            // the link of the netdev that the line names went down
  // The text before the name of a netdev that its own host resets: if the link of this netdev goes down shortly after,
  // the reset is the cause. Empty: no such message.
  std::string_view resets_netdev_after = {};
  // The NIC that the line names has failed, or its driver resets it: its links go down, and what the host has connected
  // through it is lost.
  bool is_nic_failure = false;
  // A transmit queue of the NIC that the line names stopped: if the NIC has just failed, this is the cause.
  bool is_nic_stall = false;
  // Another host did not answer, or the connection to it was lost: the line does not show at which end, or on the path.
  bool is_silence = false;

  constexpr bool is_component() const { return !printer.empty(); }
  // The program, library, driver or call that reports it.
  constexpr std::string_view family() const { return id.substr(0, id.find('-')); }
};
const std::vector<LineMessage>& messages();

// No message is longer, so the rest of a line is not read.
inline constexpr size_t kMaxLine = 16 * 1024;

// A line, read once for all tables.
struct LogLine {
  std::string text;                   // without_denials(), at most kMaxLine
  std::string small;                  // the text in small letters
  LetterGroups groups, small_groups;  // of both
  Severity severity = Severity::plain;
  Codes codes;
};
LogLine read_line(std::string_view line);

// The program that prints the line, by the mark that all its lines have; 0: no mark that is known.
size_t program_of(std::string_view line);

// The message that the line is; nullptr if it is unknown. Time is linear in the length of the line.
const LineMessage* recognize(const LogLine& line);

// The answers to a log of one line that no rule knows: one that is marked as information, one that is not marked as an
// error, and one whose level only marks it as a warning or an error. Without `next`, not in messages().
extern const LineMessage kInformation, kNoError, kWarning;

}  // namespace fabric::lines
