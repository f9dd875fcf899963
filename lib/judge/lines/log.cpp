// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/log.h"

#include <algorithm>
#include <utility>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/envelope.h"
#include "judge/lines/pattern.h"
#include "judge/lines/statement.h"
#include "judge/lines/time.h"

namespace fabric::lines {
namespace {

constexpr size_t kMaxFindings = 200;  // of one log
constexpr size_t kMaxUnknown = 20;    // kinds of unknown lines
constexpr size_t kMaxNames = 64;      // codes, peers, hosts of a finding
constexpr size_t kMaxOthers = 10;     // other messages of a component
constexpr size_t kNear = 5;           // lines
constexpr size_t kSameEvent = 30;     // lines: one fault causes errors in several programs
constexpr size_t kShownOfLine = 400;  // bytes

void count(std::vector<Counted>& list, const std::string& text, size_t times = 1) {
  if (text.empty()) return;
  if (Counted* known = find_where(list, [&](const Counted& each) { return each.text == text; }); known != nullptr)
    known->count += times;
  else if (list.size() < kMaxNames) list.push_back({text, times});
}

// Adds the codes and names of another line to those of its finding.
void add_names(Found& finding, const Found& line) {
  if (finding.vendor_error.empty()) finding.vendor_error = line.vendor_error;
  for (const auto list : {&Found::codes, &Found::peers, &Found::elsewhere, &Found::devices_elsewhere, &Found::pci,
                          &Found::hosts, &Found::processes})
    for (const Counted& each : line.*list) count(finding.*list, each.text, each.count);
}

bool follows(const LineMessage& consequence, const LineMessage& cause) {
  if (consequence.follows.empty()) return consequence.family() == cause.family();
  return has_word(consequence.follows, cause.family());
}

// Whether the line ends with a row of a dumped completion: four words of eight hexadecimal digits, or 16 bytes.
bool is_dump(std::string_view text) {
  const auto parts = words(text);
  const auto ends_with = [&](std::ptrdiff_t count, size_t digits) {
    return std::ssize(parts) >= count &&
           std::ranges::all_of(parts.end() - count, parts.end(), [&](std::string_view word) {
             return word.size() == digits && word.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
           });
  };
  return ends_with(4, 8) || ends_with(16, 2);
}

// NCCL prints its release once. It belongs to its later lines, because some errors are of old releases only.
constexpr std::string_view kRelease = "NCCL version ", kFamilyOfRelease = "nccl",
                           kWithRelease = "GPU Direct RDMA Disabled";  // a pattern matches it with the release only

// PyTorch: "ncclSystemError: System call failed.", "Last error:", and NCCL's own text, each in a line. Other programs
// have names before these words.
constexpr std::string_view kLastError = "Last error:";

// NCCL's own text, if a message knows it: it says more than the result before it. Else the whole line.
std::string_view without_result(std::string_view line) {
  const size_t at = line.rfind(kLastError);
  if (at == std::string_view::npos || line.substr(0, at).find("nccl") == std::string_view::npos) return line;
  const std::string_view text = trim(line.substr(at + kLastError.size()));
  const LineMessage* message = recognize(read_line(text));
  return message != nullptr && !message->is_component() ? text : line;
}

// Programs that print one message over several lines.
bool continues(std::string_view before, std::string_view text) {
  if (lower(trim(text).substr(0, 5)) == "errno") return true;  // perftest, UCCL
  // perror(3) of a text that ends with a new line: ": Invalid argument".
  if (text.starts_with(": ") && trim(without_errno_texts(lower(text.substr(2)))).empty()) return true;
  constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"NVRM: The NVIDIA GPU", "(PCI ID:"},
      {"NVRM: The NVIDIA GPU", "installed in"},
      {"NVRM: The NVIDIA GPU", "fallen off the bus"},
      {"rror cqe on cqn", "vendor syndrome"},
      {"Completion with error at", "Failed status"},
      {"PCIe Bus Error:", "error status/mask="},
      {"lower than device's capability", "PCIe link "},  // mlx5_pcie_print_link_status()
      {"slower than device's capability", "PCIe link "},
      {"error status/mask=", "    ["},
      {"operation involving a call", "to the fork() system call"},
      {"subsystem is configured to only", "allow registering part"},
      {"Requested OFI provider", "protocol) is not available"},
      {"BIOS has enabled interrupt remapping", "on a chipset that contains"},
      {"can't read ABI version from", "abi_version ("},
      {"BUG: KASAN: ", "+0x"},
      // The reason, the end of the program, and that of its service.
      {"nvidia-fabricmanager-start.sh[", "failed! Exit code: "},
      {"failed! Exit code: ", "nvidia-fabricmanager.service: Control process exited"},
      {"cma_event type RDMA_CM_EVENT_", "cma event RDMA_CM_EVENT_"},  // rping
      {" -- Error -- ", " # "},                                       // Mercury
      {"/sriov_numvfs", "write error: "},                             // a command, and the answer of the shell
      {"terminate called after throwing an instance of", "what(): "},
  };
  if (trim(before).ends_with(kLastError)) return true;
  if (before.find("nccl") != std::string_view::npos && trim(text).ends_with(kLastError)) return true;
  for (const auto& [first, second] : kPairs)
    if (before.find(first) != std::string_view::npos && text.find(second) != std::string_view::npos) return true;
  return (before.find("completion with error:") != std::string_view::npos ||
          before.find("dump error cqe") != std::string_view::npos) &&
         is_dump(text);
}

bool names_a_cause(const Found& found) {
  const FaultLocation cause = cause_of(found);
  return cause != FaultLocation::unknown && cause != FaultLocation::none;
}

// Whether the line names another port or device than the cause.
bool names_another(const Found& each, const Found& cause) {
  const auto differs = [](const std::vector<Counted>& names, const std::vector<Counted>& known) {
    return std::ranges::any_of(names, [&](const Counted& name) {
      return find_where(known, [&](const Counted& one) { return one.text == name.text; }) == nullptr;
    });
  };
  return (!each.named.ports.empty() && each.named.ports != cause.named.ports) || differs(each.pci, cause.pci) ||
         differs(each.elsewhere, cause.elsewhere);
}

// Whether all functions that the line names are of the card of the cause: "0000:40:00.0" and "0000:40:00.1".
bool is_of_same_card(const Found& each, const Found& cause) {
  const auto card = [](const Counted& address) {
    return std::string_view(address.text).substr(0, address.text.rfind('.'));
  };
  return !each.pci.empty() && std::ranges::all_of(each.pci, [&](const Counted& address) {
    return find_where(cause.pci, [&](const Counted& known) { return card(known) == card(address); }) != nullptr;
  });
}

bool same_names(const std::vector<Counted>& one, const std::vector<Counted>& other) {
  return std::ranges::equal(one, other, {}, &Counted::text, &Counted::text);
}

bool names_a_device(const Found& found) {
  return !found.named.ports.empty() || !found.pci.empty() || !found.elsewhere.empty();
}

// A netdev whose link went down because its own host reset it.
const LineMessage kResetByHost{
    "link-reset-by-host",
    FaultLocation::host,
    "",
    "The link went down because its own host reset the interface, not by the cable: just before, the driver removed "
    "the PTP clock (PHC) of the interface, as it does if it is stopped, unbound or set up again for other queues or "
    "DCB settings; a bond then sees the link down. Find what changed the settings or the driver at this time (lldpad "
    "with DCB, NetworkManager, udev, DPDK), and stop it, or disable DCB on this interface (dcbtool sc NETDEV dcb off).",
    "journalctl -g 'lldpad|NetworkManager|{netdev}'",
    "Linux drivers/net/ethernet/intel/ixgbe ixgbe_setup_tc()"};

// Links of a driver that has just started.
const LineMessage kLinkStarts{"link-starts",
                              FaultLocation::none,
                              "",
                              "The driver had just made the interface, and its link was not up yet; a later line of "
                              "this NIC reports that it came "
                              "up. Harmless: so begins each start of the driver.",
                              "ip -br link",
                              "Linux mlx5 en_main.c, ice_main.c, bnxt.c, ionic_lif.c, hns3_enet.c"};

// The host of the line and the first PCI address with a domain in it: equal hosts have equal addresses. Empty: it has
// no address.
std::string nic_of(std::string_view text) {
  for (std::string_view word : words(text)) {
    while (!word.empty() && (word.back() == ':' || word.back() == ',')) word.remove_suffix(1);
    if (is_pci_address(word)) return host_of(text) + " " + std::string(word);
  }
  return {};
}

// Whether `reset` reports the reset of the netdev whose link goes down in the other line, shortly before it.
bool is_reset_of(const Found& reset, const Found& down) {
  const std::string_view before = reset.message == nullptr ? "" : reset.message->resets_netdev_after;
  if (before.empty()) return false;
  if (reset.first > down.first || down.first - reset.first > kSameEvent) return false;
  const size_t at = reset.line.find(before);
  if (at == std::string::npos) return false;
  const auto netdev = words(std::string_view(reset.line).substr(at + before.size()));
  return !netdev.empty() && has_any(down.line, "^" + std::string(netdev.front()) + "$");
}

// Whether a line that no rule knows reports a problem. is_marked: by its level.
bool is_error(const LogLine& line, const Condition* condition, bool is_marked) {
  if (line.severity == Severity::informational) return false;
  return is_marked || line.severity == Severity::failure || has_any(line.small, "warn|error|exception|errno") ||
         (condition != nullptr && condition->is_error);
}

// Whether a driver prints a step, without an error: the form of its errors, "mlx5_ib*:(pid ", is that of its debug
// output.
bool is_step_of_driver(const LineMessage& message, const LogLine& line) {
  if (!message.is_component() || message.severity != Severity::plain || line.severity != Severity::plain) return false;
  if (!has_any(message.kind, Printer::nic_driver) || !line.codes.error.empty() || condition_of(line) != nullptr)
    return false;
  const Condition* statement = statement_of(line);
  return statement != nullptr && statement->cause == FaultLocation::none;
}

// Whether a driver of a NIC prints it, in the form of the kernel: "ice 0000:3b:00.0: ".
bool is_of_nic_driver(const LogLine& line) {
  static const PatternList drivers(
      "^mlx5_core *:*:*.*|^bnxt_en *:*:*.*|^ice *:*:*.*|^ionic *:*:*.*|^i40e *:*:*.*|^iavf *:*:*.*|^efa *:*:*.*|^hns3 "
      "*:*:*.*|^infiniband *: ");
  return drivers.is_in(line.small, line.small_groups);
}

// By the condition's column, for a line that only complains.
bool is_error_of_complaint(const Condition& condition, const LogLine& line) {
  if (!line.codes.error.empty()) return true;
  switch (condition.complaint) {
    case Complaint::with_errno: return false;
    case Complaint::of_nic_driver: return is_of_nic_driver(line);
    case Complaint::any: return true;
  }
  return false;
}

// Whether the line is a frame of MPICH's error stack that names a function only: "MPID_Init(513)...........: ",
// "internal_Init(67).: MPI_Init(argc=0x7f, argv=0x7f) failed". The frame with a text is the error.
bool is_frame_of_mpich(std::string_view line) {
  const size_t open = line.find('('), close = line.find(')');
  if (open == 0 || open == std::string_view::npos || close == std::string_view::npos || close < open + 2) return false;
  const std::string_view number = line.substr(open + 1, close - open - 1);
  if (!std::ranges::all_of(line.substr(0, open), is_word_letter) || !std::ranges::all_of(number, is_digit))
    return false;
  std::string_view rest = line.substr(close + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of('.'), rest.size()));
  if (!rest.starts_with(':')) return false;
  rest = trim(rest.substr(1));
  return rest.empty() || (rest.starts_with("MPI_") && rest.ends_with(") failed"));
}

// Whether the line is a frame of a stack, which names functions and libraries, and reports nothing: "#3 0x7f.. in f",
// "frame #3: f", " 3  /usr/lib/libucs.so.0(f+0x1c) [0x7f..]", "[node:1] [ 3] /lib/libc.so.6(+0x7)[0x7f..]".
bool is_stack_frame(std::string_view text) {
  const std::string_view line = trim(text);
  if (line.starts_with("frame #") || line.starts_with("==== backtrace")) return true;
  if (line.starts_with('#') && line.size() > 2 && is_digit(line[1]) && line.find(" 0x") < 8) return true;
  if (!line.ends_with(']')) return false;
  const size_t address = line.rfind("[0x");
  if (address == std::string_view::npos || line.find_first_of(" \t", address) != std::string_view::npos) return false;
  const std::string_view before = trim(line.substr(0, address));
  return before.ends_with(')') && before.find("+0x") != std::string_view::npos && before.find('/') != before.npos;
}

// The line without digits and addresses, to count lines that differ by them only.
std::string shape_of(std::string_view text) {
  std::string out;
  bool is_number = false;
  for (const char letter : text) {
    const bool was_number = std::exchange(is_number, is_digit(letter));
    if (!is_number) out += letter;
    else if (!was_number) out += '#';
  }
  return out;
}

// A component has many messages: each is kept with its first line.
void count_other(Found& component, const Found& found) {
  std::string shape = shape_of(found.line);
  if (shape == shape_of(component.line)) return;
  if (OtherLine* other = find_where(component.others, [&](const OtherLine& each) { return each.shape == shape; }))
    ++other->count;
  else if (component.others.size() < kMaxOthers)
    component.others.push_back({found.line, std::move(shape), found.first, 1});
}

// Shows the message with its cause, and no longer by itself.
void show_with(Found& cause, Found& each) {
  cause.consequences.push_back(
      {each.message, each.line, each.first, each.count, std::move(each.codes), std::move(each.peers)});
  each.count = 0;
}

}  // namespace

FaultLocation cause_of(const Found& found) {
  if (found.message != nullptr && !found.message->is_component()) {
    // Another process of the same host.
    const bool is_own = found.message->cause == FaultLocation::peer && found.named.is_peer_writer;
    return is_own ? FaultLocation::host : found.message->cause;
  }
  FaultLocation cause = FaultLocation::unknown;
  if (found.message != nullptr) cause = found.message->cause;
  if (const Condition* condition = found.condition; condition != nullptr) {
    if (condition->is_consequence) return FaultLocation::unknown;
    if (cause == FaultLocation::unknown || condition->cause == FaultLocation::software ||
        condition->cause == FaultLocation::none)
      cause = condition->cause;
  }
  if (cause != FaultLocation::unknown) return cause;
  const ErrorMeaning* meaning = meaning_of(found.error);
  if (meaning == nullptr) return FaultLocation::unknown;
  // A driver talks to no other host: its errno is of the device.
  const bool is_elsewhere = meaning->cause == FaultLocation::peer || meaning->cause == FaultLocation::network;
  const bool is_of_driver = found.message != nullptr && has_any(found.message->kind, Printer::driver_rest);
  if (is_elsewhere && is_of_driver) return FaultLocation::unknown;
  return meaning->cause;
}

bool is_of_path(const Found& found) {
  const FaultLocation cause = cause_of(found);
  if (cause == FaultLocation::peer || cause == FaultLocation::network) return true;
  if (cause != FaultLocation::unknown) return false;
  return (found.message != nullptr && found.message->is_silence) ||
         (found.condition != nullptr && has_any(found.condition->says, Says::unanswered));
}

void Log::add(std::string_view raw) {
  ++lines_;
  Unwrapped line = unwrap(raw);
  if (line.is_part && part_.size() < kMaxLine) {
    part_ += line.text;
    return;
  }
  Line next{std::exchange(part_, {}) + line.text, line.time, lines_, line.level};
  if (next.text.size() > kMaxLine || raw.size() > kMaxRaw) ++cut_;
  if (next.text.size() > kMaxLine) next.text.resize(kMaxLine);
  if (pending_ && pending_->text.size() + next.text.size() < kMaxLine && continues(pending_->text, next.text)) {
    pending_->text += " " + std::string(trim(next.text));
    return;
  }
  if (pending_) take(std::move(*pending_));
  pending_ = std::move(next);
}

void Log::take(Line line) {
  if (const size_t at = line.text.find(kRelease); at != std::string::npos)
    release_ = line.text.substr(at, line.text.find_first_of(" +,)", at + kRelease.size()) - at);
  else if (!release_.empty() && line.text.find(kWithRelease) != std::string::npos) line.text += " (" + release_ + ")";
  if (const std::string_view text = without_result(line.text); text.size() < line.text.size())
    line.text = std::string(text);
  const LogLine read = read_line(line.text);
  note_start(read);
  const Codes& codes = read.codes;
  const LineMessage* message = recognize(read);
  if (message != nullptr && is_step_of_driver(*message, read)) return;
  if (message == nullptr && is_ordinary(read)) return;
  const bool is_known = message != nullptr && !message->is_component();
  if (!is_known && is_stack_frame(line.text)) return;
  if (!is_known && !found_.empty() && is_frame_of_mpich(trim(line.text))) return;  // after the head of the stack
  const bool is_other = message == nullptr && is_of_other_program(read);
  const Condition* condition = is_known || is_other ? nullptr : condition_of_error(read, message);
  // A statement explains more than the level of the only line. A journal has warnings of everything.
  const bool is_marked =
      lines_ > 1 && (has_problem_level(line.text) || (line.level == LineLevel::problem && names_subject(read)));
  if (message == nullptr && !is_error(read, condition, is_marked)) return;
  Found found{.message = message,
              .named = names_in(line.text, *node_, *lids_),
              .line = line.text.substr(0, kShownOfLine),
              .time = line.time,
              .first = line.number,
              .count = 1};
  if (!found.time) found.time = time_of(line.text, now_, uptime_);
  if (!is_known && !is_other) found.error = codes.error;
  found.condition = condition;
  if (message != nullptr && message->status != 0 && codes.status == 0)
    count(found.codes, completion_status_text(message->status));
  for (const std::string& code : codes.texts) count(found.codes, code);
  found.is_fatal = codes.is_fatal;
  found.vendor_error = codes.vendor_error;
  count(found.peers, found.named.peer.empty() ? found.named.peer_lid : found.named.peer);
  for (const std::string& name : found.named.elsewhere) count(found.elsewhere, name);
  for (const std::string& name : found.named.devices_elsewhere) count(found.devices_elsewhere, name);
  for (const std::string& address : found.named.pci) count(found.pci, address);
  count(found.hosts, host_of(line.text));
  count(found.processes, process_of(line.text));
  if (message != nullptr && message->family() == kFamilyOfRelease) count(found.codes, release_);
  if (message != nullptr && message->needs_line_before && last_error_.number != 0) {
    found.before = last_error_.text.substr(0, kShownOfLine);
    found.before_number = last_error_.number;
    found.wrapped = last_found_;
  }
  last_error_ = line;
  last_found_ = std::string::npos;
  if (message == nullptr) return add_unknown(line, std::move(found));

  ++known_;
  for (const size_t number : near_) {
    Found* unknown = find_where(found_, [&](const Found& each) { return each.first == number; });
    if (unknown != nullptr && line.number - number > kNear) unknown->count = 0;
  }
  near_.clear();
  last_known_ = line.number;
  Found* known = find_where(found_, [&](const Found& each) {
    return each.message == message && each.condition == condition && each.named.ports == found.named.ports;
  });
  if (known == nullptr && found_.size() >= kMaxFindings) return;
  last_found_ = known == nullptr ? found_.size() : static_cast<size_t>(known - found_.data());
  if (message->is_link_down)
    if (const auto entry = starting_.find(nic_of(line.text)); entry != starting_.end()) {
      Starting& start = entry->second;
      start.lines = start.found == last_found_ ? start.lines + 1 : 1;  // two kinds of lines: only those of the last one
      start.found = last_found_;
    }
  if (known == nullptr) {
    found_.push_back(std::move(found));
    return;
  }
  ++known->count;
  known->named.is_peer_writer = known->named.is_peer_writer && found.named.is_peer_writer;
  // A fatal error is the cause of those that are not, also if it is logged after them: it, and what it names, comes
  // first.
  if (known->is_fatal == false && found.is_fatal == true) {
    found.count = known->count;
    std::swap(*known, found);
    std::swap(known->others, found.others);
  }
  if (known->error.empty()) known->error = found.error;
  if (message->is_component()) count_other(*known, found);
  add_names(*known, found);
}

void Log::note_start(const LogLine& line) {
  const bool is_start = has_any(line.text, ": renamed from ");
  if (!is_start && (starting_.empty() || !has_any(line.small, "link up|link is up"))) return;
  const std::string nic = nic_of(line.text);
  if (nic.empty()) return;
  if (is_start) {
    if (starting_.size() < kMaxNames) starting_.try_emplace(nic);
    return;
  }
  const auto entry = starting_.find(nic);
  if (entry == starting_.end()) return;
  if (entry->second.lines > 0) found_[entry->second.found].at_start += entry->second.lines;
  starting_.erase(entry);
}

// Unknown lines are shown if something in them can be decoded, or beside a line that is known.
void Log::add_unknown(const Line& line, Found found) {
  const std::string shape = shape_of(found.line);
  if (const auto at = unknown_.find(shape); at != unknown_.end()) {
    Found& known = found_[at->second];
    if (known.count > 0) ++known.count;
    add_names(known, found);
    return;
  }
  if (unknown_.size() >= kMaxUnknown) return;
  const bool says_something = !found.codes.empty() || !found.peers.empty() || !found.elsewhere.empty() ||
                              !found.pci.empty() || !found.named.ports.empty();
  const bool is_near = last_known_ != 0 && line.number - last_known_ <= kNear;
  if (!says_something && !is_near) near_.push_back(line.number);
  unknown_.emplace(shape, found_.size());
  found_.push_back(std::move(found));
}

namespace {

// Right after a NIC has failed, the loss of its link is not the fault of a cable, and lost connections of its host are
// not the fault of a peer. The ports of a card have one firmware: on all of them the transmit queues stop, and the
// requests of the driver fail. Lines of another device or of another host are no consequence of it.
void fold_lost_by_nic(std::vector<Found>& all) {
  for (Found& each : all) {
    if (each.message == nullptr || each.message->is_nic_failure) continue;
    const bool is_link = each.message->is_link_down, is_stall = each.message->is_nic_stall;
    const bool is_of_card = is_stall || (has_any(each.message->kind, Printer::nic_driver) && !each.pci.empty());
    if (!is_link && !is_of_card && (!is_of_path(each) || names_a_device(each))) continue;
    Found* nic = find_where(all, [&](const Found& other) {
      if (other.message == nullptr || !other.message->is_nic_failure) return false;
      if (other.first >= each.first || each.first - other.first > kSameEvent) return false;
      if (!same_names(each.hosts, other.hosts)) return false;  // equal hosts have equal PCI addresses
      if (is_of_card) return is_of_same_card(each, other);
      return !is_link || (names_a_device(each) && !names_another(each, other));
    });
    if (nic == nullptr) continue;
    show_with(*nic, each);
    nic->consequences.back().may_be_own = !is_link && !is_stall;
  }
}

// A consequence is shown with its cause.
void fold_consequences(std::vector<Found>& all) {
  for (Found& each : all) {
    if (each.message == nullptr || each.message->role != Role::consequence) continue;
    // A message that is known is a better cause than a component.
    Found* cause = nullptr;
    for (Found& other : all)
      if (other.message != nullptr && other.message->role == Role::cause &&
          other.message->cause != FaultLocation::none && follows(*each.message, *other.message) &&
          (cause == nullptr || (cause->message->is_component() && !other.message->is_component())))
        cause = &other;
    if (cause == nullptr) continue;
    for (const Counted& address : each.pci) count(cause->pci, address.text);
    // UCX names the peer of a failed request in a line of its own.
    if (is_of_path(*cause) && cause->peers.empty()) cause->peers = std::exchange(each.peers, {});
    show_with(*cause, each);
  }
}

// A component's message right after a known cause is shown with it, because the usual causes of the component say less;
// not if its words name a cause of their own, or if it names another port or device.
void fold_components(std::vector<Found>& all) {
  for (Found& each : all) {
    if (each.message == nullptr || !each.message->is_component() || each.message->cause != FaultLocation::unknown)
      continue;
    if (each.count == 0) continue;  // shown with the NIC that failed
    if (!each.others.empty() || (each.condition != nullptr && each.condition->cause != FaultLocation::unknown))
      continue;
    Found* cause = nullptr;  // the last one before it
    for (Found& other : all)
      if (other.message != nullptr && !other.message->is_component() && other.message->role == Role::cause &&
          other.message->cause != FaultLocation::none && other.first < each.first &&
          each.first - other.first <= kNear && !names_another(each, other) &&
          (cause == nullptr || other.first > cause->first))
        cause = &other;
    if (cause != nullptr) show_with(*cause, each);
  }
}

// A message that refers to the line before it is shown with the component of that line, if its words name the cause.
void fold_wrapped(std::vector<Found>& all) {
  for (Found& each : all) {
    if (each.wrapped >= all.size() || each.count == 0 || each.message->is_component()) continue;
    Found& cause = all[each.wrapped];
    const bool is_component = cause.message != nullptr && cause.message->is_component();
    if (is_component && cause.count > 0 && cause.condition != nullptr && names_a_cause(cause)) show_with(cause, each);
  }
}

// Lines of a program that name no cause are shown with a line near them of the same program that does.
void fold_wrappers(std::vector<Found>& all) {
  std::vector<size_t> programs;
  for (const Found& each : all) programs.push_back(program_of(each.line));
  for (size_t at = 0; at < all.size(); ++at) {
    Found& each = all[at];
    const bool is_known = each.message != nullptr && !each.message->is_component();
    if (programs[at] == 0 || each.count == 0 || is_known || cause_of(each) != FaultLocation::unknown) continue;
    Found* cause = nullptr;
    for (size_t other = 0; other < all.size(); ++other) {
      Found& reason = all[other];
      const size_t distance = std::max(each.first, reason.first) - std::min(each.first, reason.first);
      if (reason.count > 0 && names_a_cause(reason) && programs[other] == programs[at] && distance <= kSameEvent &&
          (!names_a_device(reason) || !names_another(each, reason)) &&
          (cause == nullptr || (cause->message == nullptr && reason.message != nullptr)))
        cause = &reason;
    }
    if (cause == nullptr) continue;
    if (each.message == nullptr)
      each.others.insert(each.others.begin(), {each.line, shape_of(each.line), each.first, each.count});
    for (OtherLine& other : each.others)
      if (cause->others.size() < kMaxOthers) cause->others.push_back(std::move(other));
    if (each.message != nullptr) show_with(*cause, each);
    each.count = 0;
  }
}

void sort_by_cause(std::vector<Found>& all) {
  const auto rank = [](const Found& each) {
    if (each.message == nullptr) return 3;
    if (each.message->is_component()) return 1;
    if (each.message->role == Role::consequence) return 2;
    if (each.message->cause == FaultLocation::none) return 4;
    return 0;
  };
  std::ranges::stable_sort(all, {}, rank);
  // A message that names no cause is often of a layer above; the reason is in a line of another program, shortly
  // before.
  if (all.empty() || cause_of(all.front()) != FaultLocation::unknown) return;
  const Found& first = all.front();
  const bool is_known = first.message != nullptr && !first.message->is_component();
  auto reason = all.end();
  for (auto each = all.begin(); each != all.end(); ++each)
    if (names_a_cause(*each) && (!is_known || each->first < first.first) && each->first + kSameEvent >= first.first &&
        (reason == all.end() || each->first < reason->first))
      reason = each;
  if (reason != all.end()) std::rotate(all.begin(), reason, reason + 1);
}

}  // namespace

void Log::finish() {
  Line only_line;  // of a log that has one
  if (lines_ == 1) only_line = pending_ ? *pending_ : Line{part_, std::nullopt, 1, LineLevel::none};
  if (!part_.empty()) {
    Line rest{std::exchange(part_, {}), std::nullopt, lines_};
    if (pending_) take(std::move(*std::exchange(pending_, std::nullopt)));
    take(std::move(rest));
  }
  if (pending_) take(std::move(*std::exchange(pending_, std::nullopt)));
  // Without any known line every error line is shown.
  if (known_ > 0)
    for (const size_t number : near_)
      if (Found* unknown = find_where(found_, [&](const Found& each) { return each.first == number; }))
        unknown->count = 0;
  for (Found& each : found_)
    if (each.message != nullptr && each.message->is_link_down && each.at_start == each.count)
      each.message = &kLinkStarts;
  for (Found& each : found_)
    if (each.message != nullptr && each.message->is_link_down)
      if (find_where(found_, [&](const Found& other) { return is_reset_of(other, each); }) != nullptr)
        each.message = &kResetByHost;
  fold_lost_by_nic(found_);
  fold_consequences(found_);
  fold_components(found_);
  fold_wrapped(found_);
  fold_wrappers(found_);
  std::erase_if(found_, [](const Found& each) { return each.count == 0; });
  if (found_.empty() && !trim(only_line.text).empty()) judge_unknown(only_line);
  sort_by_cause(found_);
}

// A log of one line that no rule knows: an error that its words explain, else kInformation or kNoError.
void Log::judge_unknown(const Line& only_line) {
  const std::string& text = only_line.text;
  LogLine line = read_line(text);
  const Condition* condition = condition_of(line);
  // A mark of information proves nothing about the value of a setting, or about words that are enough for an error.
  const bool is_open = line.severity == Severity::plain || line.severity == Severity::complaint ||
                       is_of_environment(line) || has_words_of_fault(line) ||
                       (condition != nullptr && condition->is_error);
  const bool is_certain = condition != nullptr && is_error_of_complaint(*condition, line);
  const bool has_error = line.severity == Severity::complaint && is_certain && !is_of_other_program(line);
  if (has_error) {
    found_.push_back({.line = text.substr(0, kShownOfLine), .first = 1, .count = 1, .condition = condition});
    return;
  }
  if (line.severity > Severity::complaint) return;
  const LineMessage* answer = is_open ? &kNoError : &kInformation;
  if (only_line.level == LineLevel::problem || has_problem_level(text)) answer = &kWarning;
  else if (only_line.level == LineLevel::information && !has_words_of_fault(line)) answer = &kInformation;
  Found out{.message = answer,
            .line = text.substr(0, kShownOfLine),
            .time = only_line.time ? only_line.time : time_of(text, now_, uptime_),
            .first = 1,
            .count = 1};
  // Words that are enough for an error say more than those of a step; a mark of information says more than a reset.
  const Condition* statement = condition != nullptr && condition->is_error ? nullptr : statement_of(line);
  if (statement != nullptr && (is_open || statement->cause == FaultLocation::none)) {
    out.message = nullptr;
    out.condition = statement;
  }
  // The component that would print the line if it reported an error.
  line.severity = Severity::failure;
  if (const LineMessage* printer = recognize(line); printer != nullptr && printer->is_component())
    out.printer = printer;
  found_.push_back(std::move(out));
}

}  // namespace fabric::lines
