// SPDX-License-Identifier: Apache-2.0
// A rule is one row beside its function in the file of its subject (link.cpp, pfc.cpp, ...). It has its texts, once,
// and judges one of three: the present state, measurements over a window, or the symptoms of a port. rules() has all
// rules.
#pragma once

#include "base/parse.h"
#include "judge/finding.h"

namespace fabric {

inline constexpr double kMinute = 60, kHour = 3600;
inline constexpr std::nullopt_t kNever = std::nullopt;
// Watts, -30 dBm: less than any receiver detects. A lane with less is not in use if the link is up.
inline constexpr double kDark = 1e-6;

// -- Measurements over a window

struct RuleWindow;
using MeasuredList = std::vector<Measured>;

// A reading that is a sum of counter increases, as a rate per second, packet or bit of the port.
struct CounterSum {
  enum class Per : uint8_t { second, packet, bit };
  struct Part {
    std::string_view name;
    Rise Signals::*member = nullptr;
  };
  std::array<Part, 4> parts{};
  Per per = Per::second;
  bool largest = false;           // the parts count the same events: the largest counts, not the sum
  std::array<Part, 2> context{};  // shown, not counted
};

// Adds the readings of the window's read_port() for every port that has what the window measures: a wire, or
// connections. The members of a bond have their own cable, module and pause: each is a subject.
void read_ports(const View& view, const RuleWindow& window, MeasuredList& out);
// The sum of the window's counters. nullopt: the port has none of them.
std::optional<Measured> read_counters(const View& view, const RuleWindow& window, const Port& port);
std::optional<Measured> sum_counters(const CounterSum& sum, const Port& port, const Signals& signals);

// One measurement of a rule. The worst of a rule's measurements is its finding.
struct Measurement {
  WindowRow window;
  double quiet = 0.5;      // below this share of a limit the value counts as quiet again
  bool graced = false;     // not counted while the machine boots or the driver reloads, when links come up
  bool transport = false;  // of connections, or of the device: measured without a wire of the port as well
  // {netdev}, {rdma} and {pci} of the remedy are replaced by the port's names.
  std::string_view meaning;
  FixRow remedy;
  // The remedy of ports without RoCE, such as InfiniBand and EFA, and of ports without a wire; empty: `remedy`.
  FixRow elsewhere{};
  // A second, long window over the same readings, for faults too slow for a short one. It has its own key and state.
  std::optional<WindowRow> slow{};
  CounterSum sum{};
  void (*read)(const View& view, const RuleWindow& window, MeasuredList& out) = read_ports;
  // Called by read_ports(); nullopt: the measurement does not apply to the port.
  std::optional<Measured> (*read_port)(const View& view, const RuleWindow& window, const Port& port) = read_counters;
};

// A measurement with one of its two windows.
struct RuleWindow : WindowRow, Measurement {
  std::string_view rule;  // its id
  bool is_slow = false;
};

// -- Symptoms of a port and their cause (cause.h)

// A fault at a port, without a culprit.
enum class Symptom : uint8_t {
  tx_pause,    // this port sends pause
  rx_pause,    // this port is paused by its peer
  loss,        // RDMA packets were lost, reordered or not acknowledged
  discards,    // this port discarded frames of a lossless priority
  link,        // damaged bits, or link down
  receiver,    // no receive was posted, here or at the far end (RNR)
  pcie,        // PCIe stalls, overflows or errors
  ignored,     // CNPs arrived and were ignored
  unanswered,  // ECN-marked packets arrived and no CNP was sent
  starved,     // InfiniBand: data to send, and no credits
  marked,      // InfiniBand: packets arrived that a device on the path had marked as damaged
  overrun,     // InfiniBand: the receive buffer overran
};

class Symptoms {
 public:
  constexpr Symptoms(std::initializer_list<Symptom> list = {}) {
    for (Symptom each : list) add(each);
  }
  constexpr void add(Symptom symptom) { bits_ = static_cast<uint16_t>(bits_ | 1u << static_cast<unsigned>(symptom)); }
  [[nodiscard]] constexpr bool has(Symptom symptom) const { return (bits_ >> static_cast<unsigned>(symptom) & 1) != 0; }
  [[nodiscard]] constexpr bool any_of(Symptoms other) const { return (bits_ & other.bits_) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr void remove(Symptoms other) { bits_ = static_cast<uint16_t>(bits_ & ~other.bits_); }

 private:
  uint16_t bits_ = 0;
};

struct PortContext;  // one port and all that is known about it: port_context.h

// The result of Rule::find_cause() for the symptoms of a port.
struct Cause {
  bool is_proven = true;  // false: too little evidence; only mentioned by not-enough-evidence
  std::vector<std::string> evidence;
  std::vector<Fix> next{};                   // lines of this case, before the rule's own
  bool has_all_steps = false;                // `next` is the whole fix: the rule's own lines do not follow
  Symptoms unexplained{};                    // symptoms in Rule::explains that are not explained in this case
  Symptoms shared{};                         // symptoms that are explained only in part: other rules are asked too
  std::optional<Status> status{};            // in this case; nullopt: the row's
  Certainty certainty = Certainty::certain;  // likely: `next` has the measurement that decides
  std::string meaning{};                     // in this case; empty: the rule's title
  std::optional<Culprit> culprit{};          // in this case; nullopt: the row's

  void add(std::string line) { evidence.push_back(std::move(line)); }
  void add(const std::vector<std::string>& lines) { evidence.insert(evidence.end(), lines.begin(), lines.end()); }
  void doubt(std::string line) {
    is_proven = false;
    add(std::move(line));
  }
  // Another cause looks the same from this host. `step`: the measurement that decides.
  void add_ambiguous(const std::string& line, Fix step) {
    certainty = Certainty::likely;
    add("ambiguous: " + line);
    next.push_back(std::move(step));
  }
};

// -- The row

struct Rule {
  std::string_view id;         // "pfc-and-pause": stable; used by --only, explain, [rules.ID] and metrics
  std::string_view group;      // accepted by --only as well
  std::string_view title;      // the fault, as a headline: "The PCIe link is below its capability"
  std::string_view meaning;    // the comparison, and the effect of a fault; of a cause: its evidence
  std::string_view inspect{};  // commands that show the evidence; NETDEV, RDMADEV and ADDRESS are placeholders
  // Empty if every finding is ok (listed with --verbose, no fault in tests/faults). A rule of a cause has steps
  // separated by newlines, with {netdev} {rdma} {pci} {peer} (fill_names).
  FixRow fix{};
  // The fix of a cause on a lossy, a scheduled and an InfiniBand fabric. Empty: `fix`. InfiniBand has credits in place
  // of PFC.
  FixRow fix_lossy{}, fix_scheduled{}, fix_infiniband{};
  std::array<const Limit*, 7> limits{};
  // The settings whose present values the rule judges. In audit mode a finding about a value that enforcement would
  // change is listed and does not count, as that of the setting itself.
  std::span<const SettingId> settings{};

  // The present state: one of these three. Pure. ask() appends at most one finding per subject, without id, and none
  // for subjects to which the rule does not apply.
  void (*ask)(const View& view, Findings& findings) = nullptr;
  std::optional<Finding> (*ask_host)(const View& view) = nullptr;
  std::optional<Finding> (*ask_port)(const View& view, const Port& port) = nullptr;
  // Measurements over a window. Without an ask function they alone answer the rule.
  std::span<const Measurement> windows{};

  // The cause of symptoms. Causes with the same remedy are one rule. A check may be one as well: it then is the cause
  // of what no other rule explains, and has one finding for both.
  Culprit culprit = Culprit::none;
  Status status = Status::warning;
  Symptoms explains{};
  bool explains_stopped_host = false;  // also a host that receives nothing at all while it sends pause
  std::string_view excludes{};         // for `explain`: the evidence that contradicts the cause
  std::optional<Cause> (*find_cause)(const PortContext& ctx) = nullptr;

  [[nodiscard]] bool is_cause() const;
};

namespace group {
inline constexpr std::string_view link = "link", settings = "settings", topology = "topology", platform = "platform",
                                  cabling = "cabling", host = "host", network = "network", agent = "agent",
                                  counters = "counters", device = "device", diagnosis = "diagnosis";
}  // namespace group
// The order of reports: from the wire up.
inline constexpr std::string_view kRuleGroups[] = {group::link,     group::settings, group::topology, group::platform,
                                                   group::cabling,  group::host,     group::network,  group::agent,
                                                   group::counters, group::device,   group::diagnosis};

inline bool Rule::is_cause() const { return group == group::diagnosis; }

// The rules of each subject, in its file.
extern const std::span<const Rule> kAgentRules, kCablingRules, kDeviceRules, kFirmwareRules, kFunctionRules, kGidRules,
    kHostRules, kInventoryRules, kLimitsRules, kLinkRules, kLossRules, kMtuRules, kNetworkRules, kOpticsRules,
    kPartitionRules, kPcieRules, kPfcRules, kPlanesRules, kPlatformRules, kPortStateRules, kRailsRules,
    kRdmaSoftwareRules, kSettingsRules, kSymmetryRules, kTopologyRules, kUnexplainedRules, kUnseenRules;
// All rules, sorted by group, then by id; settings in the order of their table, causes in the order in which they are
// asked.
std::span<const Rule> rules();
// The settings whose present values a rule judges, whatever the policy wants.
Keys judged_settings();
// nullptr: unknown id.
const Rule* find_rule(std::string_view id);

// The windows and limits that the configuration may change.
RuleRows rule_rows();

// "Limit: 20 microseconds to leave the deepest idle state. Source: ours. Key: [rules.c-states] limit"
std::string limit_text(const Limit& limit);
// "MEANING\nExcludes: ...\nInspect: COMMANDS\nFix: COMMANDS\nLimit: ...", for `explain`. Omits the steps of a cause.
std::string runbook(const Rule& rule);

}  // namespace fabric
