// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/statement.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/advice.h"
#include "judge/lines/pattern.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

// A part that is switched off, missing or slow may be the fault that is looked for; the words of a state prove nothing
// then.
constexpr std::string_view kDoubtful =
    "fail|error|^err|^not |n't |^no "
    "|^down$|^without|^lost|^missing|^slow|degrad|^unable|cannot|disabl|^off$|removed|timeout|^retry|retries|attempt|^"
    "zero|(null)|^none|unknown|^stop|expired|^kill|exit|denied|^drop|exceed|warn|^hot$|critical|emergenc|alarm|^fault|^"
    "never|^neither|storm|unqualif|unsupport|^drain|removal|^already|^only |recovery mode|!!|^please|refer "
    "to|reduced|^less than|^lower than|^below|^rescue|watchdog|^contact|^older than|^newer|^trying|^tried|more "
    "than|greater than|larger than|staging|^minimum|^at least|^needs|^requires|^instead of|^differ|^other numa|^was "
    "|^but ";

// Words of a fault, or of a job over TCP instead of RDMA. No statement makes them harmless, with or without a mark of
// information: the level of a logger is not that of the event that it prints.
constexpr std::string_view kFaults =
    "^died$|^dead$|^crash$|^crashed|kernel panic|^panicked|^panic:|^assert|lockup|fallen off|fell "
    "off|^xid$|unhealthy|^nan$|abort complete|^aborted|^aborting|^hang$|^hangs|^hung$|^lost$|^segfault|^wedged|powered "
    "off|(down)|^state: down|link is down|up -> down|node reboot required|recovery action|pending retirement|pending "
    "remap|thermal slowdown|^using *socket|^using tcp |^using *network tcp|^instead of|^older than|^differs "
    "from|^mismatch|0xffffffff";

// A mark of information says more than doubtful words. The narrow ones first. A reset or a clean-up has a reason before
// it, independent of the program that prints it.
constexpr Condition kStatements[] = {
    {"states-recovery",
     unknown,
     "recovery flow|recovery start|^start*recover|^begin*recover|^attempt*recover|^recovering|recovery in "
     "progress|reset scheduled|^schedul*reset|request*reset|^resetting|is being reset|going to reset|^will reset|reset "
     "event|reset in progress|^start*reset|^begin*reset|^trigger*reset|^reset(*done|reset done|reset completed|reset "
     "request|reset detected|reset issued|^dumping|state dump|^dump of|^coredump|core dump|recovery is not "
     "permitted|^health work*not permitted|tear down|tearing "
     "down|^start*teardown|^quiesc|^halting|^reinit|^re-init|^restarting|^rebooting|^rolling back",
     {"The message says that the driver or the program resets, restarts, recovers or cleans up a part, or saves its "
      "state for a report. That is a consequence: an error, a request or a reset before it is the cause, and its "
      "connections, such as those of RDMA, are lost. Look at the lines before this one, of the same device."}},

    // ibstat, ibstatus, ibv_devinfo -v, rdma link
    {"states-port",
     unknown,
     "physical state: |phys state: |physical_state |phys_state: |^state: initializing|^state: armed|state: port_init",
     {"The line shows the state of an RDMA port. LinkUp and Active: it is ready. Polling: no signal comes from the "
      "other end: the cable, a module, or a port that is switched off there. Disabled: it is switched off on this "
      "host; that of a RoCE port also means that its netdev is down or has no carrier (ip link). Initializing (INIT): "
      "the link of an InfiniBand port is up, and no subnet manager has set up the port (sminfo)."},
     false,
     {.words = "linkup|link_up"}},  // the state of a healthy port

    {"states-later",
     none,
     "^pending update|update is pending|update pending|^pending activation|take effect|takes effect|taking effect|take "
     "affect|after reboot|after the reboot|after a reboot|next reboot|next boot|upon reboot|reboot to|requires a "
     "reboot|reboot is required|reboot required|reboot needed|after reload|after a reload|next reload|next reset|next "
     "power cycle|after a power cycle",
     {"The message says that something was written or changed that is used later only: after a reset or reload of the "
      "device (devlink dev reload), a reboot, or a restart of the service. Harmless; no action but that step."},
     false,
     {.words =
          "fail|error|cannot|unable|offline|not take|requires a reset|^recover|critical|^fault|retire|remap|degrad"}},

    {"states-fewer",
     none,
     "only * out of *|only * of the *|only * of * request|^limiting|limited to|^limit*to |reduced "
     "to|^reducing|^lowering|lowered to|^capped|capping|^clamp|^fewer|rounded|^truncat*to |^adjust|shrunk to|scaled "
     "down",
     {"The message says that the program got, or takes, less or something else than it asked for, and goes on with it: "
      "queues, rings, vectors, a size or a rate that others share, or that the part does not have. Harmless for the "
      "function; no action if the speed is right."},
     false,
     {.words = "fail|error|^lane|^width|^x1 |^x2 |^x4 |^x8 "
               "|^x16|^gt/s|gb/s|^gbps|mbps|^link|pcie|memlock|^fault|recovery mode|refer "
               "to|gpus|nvlink|nvswitch|^hcas|^nics|^ranks|^nodes|^planes|^hosts|^workers|thermal|temperature|throttl|^"
               "clocks|^speed|^power",
      .shares = false}},

    {"states-taint",
     none,
     "inheriting taint|tainting kernel|taints kernel|kernel taint",
     {"The kernel notes that a module was loaded that is not part of it: proprietary, of another package, or not "
      "signed. Harmless; no action."}},

    {"states-capabilities",
     none,
     "capabilities:|capability:|^capabilities*+|features:|^feature flags|^supported *:|^caps:|hardware "
     "abilit|^abilities",
     {"The line lists what a device, a port or a program can do, as found at its start. Harmless; no action."},
     false,
     {.words = kDoubtful}},

    {"states-version",
     none,
     "^version:*.|version *.*.|version is *.|^firmware *.*.*|^fw *.*.*|^driver *.*.*|^release *.*.|^build *.*.",
     {"The line names a version of a driver, a firmware or a program, at its start. Harmless; no action. Compare it "
      "with other hosts if only this one fails."},
     false,
     {.words = kDoubtful, .two_versions = true}},

    {"states-connected",
     none,
     "established|^connected|^accepted|^joined|address resolved|route resolved|handshake complete|handshake "
     "done|^online$|^rejoined|^reconnected|link up|link is up|^active ports|becomes ready|link ready|is "
     "reachable|carrier acquired|gained carrier|changed state to up",
     {"The message says that a connection or a link is there: established, active, up. Harmless; no action."},
     false,
     {.words = kDoubtful}},

    {"states-start",
     none,
     "initialized|initialised|^initializing|^initialising|^init "
     "done|^started|^starting|^loaded|^loading|^registered|^registering|^enabled|^enabling|^created|^creating|^added|^"
     "adding|^attached|^probed|^opened|^opening|^listening|^discovered|^found |^using |^use "
     "|^selected|^selecting|^choosing|^chosen|^picked|^assigned|^allocated|^reserved|^configured|^configuring|^set to "
     "|^setting |^mapped|^mapping|^bound to|^binding|^success|^succeeded|^complete|^done$|^finished|^ready$|status "
     "0$|status=0$|rc 0$|rc=0$|^running|^entering|^waiting for client|^giving out "
     "device|^polled|^posted|^polling|^updated|^updating|^writing|^reading|^read |device "
     "found|^negotiated|^restored|^resumed|^resuming|^default|^activated|^activating|^granted|^accepting",
     {"The message reports a step of a start, a choice or a setting that succeeded, and no error. Harmless; no "
      "action, unless a value in it is not the one that was meant."},
     false,
     {.words = kDoubtful}},
};

// The value of a word that is a whole number; nullopt: another word.
std::optional<unsigned> count_of(std::string_view word) {
  while (word.ends_with(',') || word.ends_with('.')) word.remove_suffix(1);
  return parse_number<unsigned>(word);
}

// Whether the line counts nothing ("found 0 devices"), or less than all ("configured 7 of 8 rails"): the step
// succeeded, and its result may be the fault. "rank 0" and "shard 1 of 8" count nothing.
bool counts_too_few(std::string_view small) {
  constexpr std::string_view kCounting[] = {
      "found",  "using", "use",  "uses", "loaded",    "registered", "allocated",  "created",  "selected", "opened",
      "read",   "added", "have", "has",  "got",       "discovered", "configured", "detected", "enabled",  "initialized",
      "mapped", "with",  "only", "sees", "connected", "attached",   "received",   "probed",   "activated"};
  const auto parts = words(small);
  for (size_t at = 0; at + 2 < parts.size(); ++at) {
    if (!contains(kCounting, parts[at])) continue;
    const auto number = count_of(parts[at + 1]);
    if (!number) continue;
    const bool has_noun = parts[at + 2].front() >= 'a' && parts[at + 2].front() <= 'z';
    if (*number == 0 && has_noun) return true;
    const size_t all = parts[at + 2] == "of" ? at + 3 : at + 4;
    const bool is_share =
        parts[at + 2] == "of" || (at + 3 < parts.size() && parts[at + 2] == "out" && parts[at + 3] == "of");
    if (!is_share || all >= parts.size()) continue;
    if (const auto whole = count_of(parts[all]); whole && *number < *whole) return true;
  }
  return false;
}

// Whether the line names two versions that differ, "2.18.1" and "2.19.3": it may compare them.
bool has_two_versions(std::string_view small) {
  std::string_view first;
  for (std::string_view word : words(small)) {
    const size_t begin = word.find_first_of("0123456789");
    if (begin == std::string_view::npos) continue;
    word = word.substr(begin);
    word = word.substr(0, word.find_first_not_of("0123456789."));
    while (word.ends_with('.')) word.remove_suffix(1);
    if (std::ranges::count(word, '.') < 2) continue;
    if (!first.empty() && word != first) return true;
    first = word;
  }
  return false;
}

bool names_fault(const LogLine& line) {
  static const PatternList faults(kFaults);
  return faults.is_in(line.small, line.small_groups);
}

}  // namespace

std::span<const Condition> statements() { return kStatements; }

bool has_words_of_fault(const LogLine& line) { return names_fault(line) || counts_too_few(line.small); }

const Condition* statement_of(const LogLine& line) {
  static const std::vector<std::pair<PatternList, PatternList>> lists = [] {
    std::vector<std::pair<PatternList, PatternList>> out;
    for (const Condition& each : kStatements) out.emplace_back(PatternList(each.words), PatternList(each.denied.words));
    return out;
  }();
  if (is_of_environment(line)) return nullptr;
  const bool is_other = is_of_other_program(line);  // its reset is not that of a NIC or a GPU
  const auto is_stated = [&](const PatternList& words) {
    const std::string stated = lower(without_advice(line.text));
    return words.is_in(stated, LetterGroups(stated));
  };
  const bool is_marked = line.severity == Severity::informational, is_fault = names_fault(line),
             is_few = counts_too_few(line.small);
  for (size_t at = 0; at < lists.size(); ++at)
    if (lists[at].first.is_in(line.small, line.small_groups) && is_stated(lists[at].first) &&
        (is_marked || !lists[at].second.is_in(line.small, line.small_groups))) {
      const OtherMeaning& denied = kStatements[at].denied;
      if (denied.two_versions && has_two_versions(line.small)) return nullptr;
      if (kStatements[at].cause == none) return is_fault || (is_few && denied.shares) ? nullptr : &kStatements[at];
      return is_other ? nullptr : &kStatements[at];
    }
  return nullptr;
}

}  // namespace fabric::lines
