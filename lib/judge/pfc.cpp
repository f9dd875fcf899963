// SPDX-License-Identifier: Apache-2.0
// Flow and congestion control: PFC, global pause, storms, ECN and CNPs; traffic that PFC does not protect.
#include <cmath>

#include "judge/port_context.h"
#include "judge/rule.h"
#include "nic/capabilities.h"
#include "nic/counter_row.h"
#include "node/endpoints.h"

namespace fabric {

namespace {

std::optional<Finding> ask_pfc_and_pause(const View&, const Port& port) {
  if (!is_judged(port) || !port.qos.pfc) return std::nullopt;
  const bool pfc = port.qos.pfc->bits != 0;
  if (!port.qos.pause && !pfc) return good(port.id(), "PFC none", "not both");
  const std::string pfc_text = "PFC " + to_text(*port.qos.pfc), expected = pfc_text + ", global pause off";
  if (!port.qos.pause)
    return bad(Status::unknown, port.id(), pfc_text + ", global pause -", expected,
               "PFC is on and global pause could not be read: " + why_unread(port, PortPart::settings) + ".",
               "ethtool -a " + port.netdev);
  const std::string observed = pfc_text + ", global pause " + to_text(*port.qos.pause);
  if (!pfc) return good(port.id(), observed, "not both");
  if (!port.qos.pause->rx && !port.qos.pause->tx) return good(port.id(), observed, expected);
  return bad(
      Status::critical, port.id(), observed, expected,
      "Global pause stops all priorities and excludes PFC: the port may ignore PFC frames and lose RoCE packets.",
      {work_of_write(port, SettingId::pause),
       "ethtool -A " + port.netdev + " rx off tx off, and set pause = \"off\" in the policy."});
}

constexpr SettingId kOfPfcAndPause[]{SettingId::pause, SettingId::pfc};

constexpr Rule kPfcAndPause{
    .id = "pfc-and-pause",
    .group = group::settings,
    .title = "Global pause is on at a port with PFC",
    .meaning =
        "Global (802.3x) pause and PFC exclude each other. With both on, pause stops every priority and the port may "
        "ignore PFC frames.",
    .inspect = "ethtool -a NETDEV; dcb pfc show dev NETDEV",
    .fix = "ethtool -A NETDEV rx off tx off, and set pause = \"off\" in the policy.",
    .settings = kOfPfcAndPause,
    .ask_port = ask_pfc_and_pause,
};

// If the policy has pfc, the setting's own check reports a difference.
std::optional<Finding> ask_pfc_on_lossy(const View& view, const Port& port) {
  if (!is_judged(port) || !port.qos.pfc || !fabric_of(view, port).is_lossy()) return std::nullopt;
  if (const PortPolicy* policy = policy_of(view, port); policy != nullptr && policy->want.pfc) return std::nullopt;
  const std::string observed = "PFC " + to_text(*port.qos.pfc), expected = "PFC none";
  if (port.qos.pfc->bits == 0) return good(port.id(), observed, expected);
  return bad(Status::warning, port.id(), observed, expected,
             "The fabric is lossy by the policy: no switch obeys or needs the PFC pause of this port.",
             "Switch PFC off: dcb pfc set dev " + port.netdev +
                 " prio-pfc all:off, or write pfc = [] in a [[port]] entry; or correct the kind of the fabric.");
}

constexpr SettingId kOfPfcOnLossy[]{SettingId::pfc};

constexpr Rule kPfcOnLossy{
    .id = "pfc-on-lossy",
    .group = group::settings,
    .title = "PFC is on at a port of a lossy fabric",
    .meaning =
        "[fabric] of the configuration calls the fabric lossy: its switches mark and drop, and no switch sends or "
        "obeys PFC pause. A port with PFC pauses a peer that does not stop, or is paused by a fault.",
    .inspect = "dcb pfc show dev NETDEV; fabric-agentctl config show",
    .fix = "dcb pfc set dev NETDEV prio-pfc all:off; or correct the kind of the fabric.",
    .settings = kOfPfcOnLossy,
    .ask_port = ask_pfc_on_lossy,
};

// A value in the policy is judged by the setting.
std::optional<Finding> ask_pfc_watchdog(const View& view, const Port& port) {
  if (!is_judged(port) || !port.qos.pfc_watchdog || !port.qos.pfc || port.qos.pfc->bits == 0) return std::nullopt;
  const PortPolicy* entry = policy_of(view, port);
  if (entry != nullptr && entry->want.pfc_watchdog) return std::nullopt;
  const std::string pfc = "PFC " + to_text(*port.qos.pfc), expected = "a time limit for continuous PFC pause";
  if (*port.qos.pfc_watchdog == kAutomaticPfcWatchdog)
    return good(port.id(), pfc + ", watchdog as the firmware chooses", expected);
  if (*port.qos.pfc_watchdog != 0)
    return good(port.id(), pfc + ", watchdog " + std::to_string(*port.qos.pfc_watchdog) + " ms", expected);
  const uint32_t longest = capabilities_of(port.kernel_driver).longest_pfc_watchdog;
  // A number: ethtool --set-tunable rejects words.
  const std::string value = std::to_string(longest == 0 ? kAutomaticPfcWatchdog : longest);
  return bad(Status::warning, port.id(), pfc + ", watchdog off", expected,
             "If this host hangs, the NIC sends PFC pause without end and stops every port of the network behind it.",
             "ethtool --set-tunable " + port.netdev + " pfc-prevention-tout " + value +
                 ", or set pfc_watchdog in the policy.");
}

constexpr SettingId kOfPfcWatchdog[]{SettingId::pfc, SettingId::pfc_watchdog};

constexpr Rule kPfcWatchdog{
    .id = "pfc-watchdog",
    .group = group::settings,
    .title = "The PFC watchdog of the NIC is off",
    .meaning =
        "The NIC stops sending PFC pause after a time without progress (ethtool's tunable pfc-prevention-tout; "
        "NVIDIA's "
        "firmware: 8 s). Without this limit, one host that hangs stops the ports behind its switch. Switches have a "
        "watchdog of their own. Not judged if the driver has no such tunable, or the policy sets pfc_watchdog.",
    .inspect = "ethtool --get-tunable NETDEV pfc-prevention-tout",
    .fix =
        "ethtool --set-tunable NETDEV pfc-prevention-tout MILLISECONDS (65535: the driver chooses), or set "
        "pfc_watchdog in the policy.",
    .settings = kOfPfcWatchdog,
    .ask_port = ask_pfc_watchdog,
};

std::optional<Finding> ask_congestion(const View& view, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  if (signals == nullptr || signals->seconds <= 0 || !is_judged(port)) return std::nullopt;
  const std::pair<const char*, Rise> counters[]{
      {"CNPs sent", signals->cnp_sent}, {"CNPs obeyed", signals->cnp_handled}, {"packets marked", signals->ecn_marked}};
  std::string text;
  for (const auto& [name, rise] : counters)
    if (rise) append_item(text, number_text(*rise / signals->seconds) + " " + name);
  if (text.empty()) return std::nullopt;
  return good(port.id(), text + " per second", "any");
}

constexpr Rule kCongestion{
    .id = "congestion",
    .group = group::counters,
    .title = "Congestion signals",
    .meaning =
        "Rates of congestion notification packets (CNP) sent and obeyed, and of packets received with the ECN mark. "
        "DCQCN at work is not a fault. Listed only.",
    .inspect = "fabric-agentctl counters",
    .ask_port = ask_congestion,
};

using enum Measure;
using S = Signals;

struct Paused {
  Rise PrioritySignals::*priority;
  Rise Signals::*global;
  std::string_view direction;
};
constexpr Paused kSent{&PrioritySignals::tx_pause_seconds, &S::tx_global_pause_seconds, "sent"};
constexpr Paused kReceived{&PrioritySignals::rx_pause_seconds, &S::rx_global_pause_seconds, "received"};

// The most paused priority, or global pause.
template <const Paused& Pauses>
std::optional<Measured> read_pause(const View& view, const RuleWindow&, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  if (signals == nullptr || signals->seconds <= 0) return std::nullopt;
  Rise most;
  std::string what;
  for (size_t i = 0; i < signals->priority.size(); ++i) {
    const Rise rise = signals->priority[i].*Pauses.priority;
    if (!rise || (most && *rise <= *most)) continue;
    most = rise;
    what = "PFC pause " + std::string(Pauses.direction) + ", priority " + std::to_string(i);
  }
  if (const Rise& all = signals->*Pauses.global; all && (!most || *all > *most)) {
    most = all;
    what = "global pause " + std::string(Pauses.direction);
  }
  if (!most) return std::nullopt;
  const double share = std::min(1.0, *most / signals->seconds);
  // The text of a healthy port does not change from reading to reading.
  std::string window = "the time";
  if (share > 0) window = number_text(std::round(signals->seconds * 10) / 10) + " s";
  return Measured{port.id(), share * signals->seconds, signals->seconds,
                  what + ": " + number_text(std::round(share * 1000) / 10) + " % of " + window};
}

// RDMA of the functions behind the port: their bytes by priority are those of its wire.
struct RdmaOfFunctions {
  double bytes = 0;
  std::string names;    // of those that carried some
  bool unseen = false;  // a function is in a guest or another network namespace: its bytes cannot be known here
};
RdmaOfFunctions rdma_of_functions(const View& view, const Port& port, Direction way) {
  RdmaOfFunctions out;
  for (const Port* function : functions_of(view.now, port)) {
    const Signals* seen = signals_of_port(view, *function);
    Rise bytes;
    if (seen != nullptr) bytes = way == Direction::tx ? seen->tx_bytes : seen->rx_bytes;
    out.unseen = out.unseen || !bytes;
    out.bytes += rise(bytes);
    if (rose(bytes)) append_item(out.names, function->id());
  }
  const auto& nics = view.now.topology.nics;
  const Nic* own = nic_at(view.now.topology, port.pci);
  if (own == nullptr || own->is_virtual_function()) return out;
  out.unseen =
      out.unseen || !own->elsewhere.empty() || std::ranges::any_of(nics, [&](const Nic& nic) {
        return nic.is_virtual_function() && nic.rdma.empty() && nic.root == own->root && nic.bridges == own->bridges;
      });
  return out;
}

// RoCE that certainly used a priority without PFC: it did not use those with PFC, and the others carried as much.
// Packets that loop back inside the NIC have no priority. Functions whose bytes are unseen can only hide such traffic:
// their bytes on priorities with PFC count as the port's.
template <Direction Way>
std::optional<Measured> read_unprotected(const View& view, const RuleWindow&, const Port& port) {
  const Signals* own = signals_of_port(view, port);
  if (own == nullptr || !is_judged(port) || !is_roce(port)) return std::nullopt;
  const auto members = members_of(view.now, port);
  std::optional<ByteShares> seen;
  if (members.empty()) seen = byte_shares(view, port, *own, Way);
  else seen = byte_shares(view, with_settings_of(members, port), with_bond(view, port, *own), Way);
  if (!seen) return std::nullopt;
  const RdmaOfFunctions functions = rdma_of_functions(view, port, Way);
  seen->all += functions.bytes;
  const std::string_view way = Way == Direction::tx ? "sent" : "received";
  Measured out{port.id(), 0, 0,
               "RDMA " + std::string(way) + ": on priority " + to_text(seen->with_pfc) + ", or little"};
  if (functions.unseen) out.evidence += "; that of its functions in guests or containers cannot be known here";
  if (seen->all < limit_of(view, kMuchTraffic)) return out;
  out.amount = std::clamp(seen->all - seen->lossless, 0.0, seen->others);
  out.base = seen->all;
  // Ours: smaller shares are not shown.
  constexpr double kShown = 0.01, kShownPriority = 0.1;
  if (out.amount < kShown * out.base) return out;
  PrioSet used;
  for (size_t priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = own->priority[priority];
    const double bytes = rise(Way == Direction::tx ? each.tx_bytes : each.rx_bytes);
    if (!seen->with_pfc.has(priority) && bytes >= kShownPriority * out.amount) used.add(priority);
  }
  out.evidence = "of " + number_text(std::round(out.base / 1e6)) + " MB RDMA " + std::string(way);
  if (!functions.names.empty()) out.evidence += " (with " + functions.names + ")";
  out.evidence +=
      ", " + percent(out.amount / out.base) + " used no priority with PFC (" + to_text(seen->with_pfc) + ")";
  if (used.bits != 0) out.evidence += "; priority " + to_text(used) + " carried as much";
  return out;
}

constexpr Measurement kUnprotectedWindows[]{
    {.window = {"unprotected_sent", ratio, WindowLimits{0.5, kNever, kMinute, 10, kMinute}, "share of the RDMA bytes",
                "ours: a job uses its traffic class or does not", "RDMA on priorities with PFC", 0},
     .meaning = "This host sends RoCE on a priority without PFC: the first congestion loses its packets.",
     .remedy = "The job uses another traffic class. {traffic_class}",
     .read_port = read_unprotected<Direction::tx>},
    {.window = {"unprotected_received", ratio, WindowLimits{0.5, kNever, kMinute, 10, kMinute},
                "share of the RDMA bytes", "ours: as unprotected_sent", "RDMA on priorities with PFC", 0},
     .meaning = "RoCE arrives on a priority without PFC: the senders use another traffic class, or a switch rewrites "
                "the DSCP. The first congestion loses its packets.",
     .remedy = "Check the senders first (fabric-agentctl check --only unprotected-traffic there), then the switches. "
               "{traffic_class}",
     .read_port = read_unprotected<Direction::rx>},
};

constexpr std::string_view kPauseUnit = "share of the time";
constexpr FixRow kStormRemedy{
    "Look for a hung process or GPU: journalctl -k -b; nvidia-smi or amd-smi. Check the PCIe link: "
    "fabric-agentctl check --only pcie. The PFC watchdogs of this NIC (pfc_watchdog in the policy) and of its switch "
    "port limit what it stops. ",
    {Work::ends_jobs, "Reset the NIC if it continues: devlink dev reload pci/{pci}"}};

constexpr Measurement kPauseStormWindows[]{
    {.window = {"tx_pause", ratio, WindowLimits{0.8, 0.99, 10, 10, 30}, kPauseUnit,
                "SONiC's PFC watchdog: more than 80 % of the detection time (most ASICs), 99 % (Mellanox)",
                "PFC pause sent for less than 80 % of the time", 0},
     .meaning = "PFC storm: this host does not drain its receive buffers, and its pause frames stop the network.",
     .remedy = kStormRemedy,
     .read_port = read_pause<kSent>},
    {.window = {"pause_storms", count, WindowLimits{1, 1, kMinute, 0, kMinute}, "PFC storms",
                "ours: the NIC counts one when its own watchdog had to act", "none"},
     .meaning = "The NIC counted a PFC storm: this host did not drain its receive buffers and stopped the network.",
     .remedy = kStormRemedy,
     .sum = {{{{"PFC storms", &S::pause_storm_events}}}}},
};

constexpr Measurement kPauseHeldWindows[]{
    {.window = {"rx_pause", ratio, WindowLimits{0.8, kNever, 10, 10, 30}, kPauseUnit,
                "as tx_pause, and the host that sends pause is at fault",
                "PFC pause received for less than 80 % of the time", 0},
     .meaning = "The switch pauses this port almost all the time: a receiver beyond it does not drain its buffers.",
     .remedy = "Find the host that sends PFC pause (check pause-storm there), and check the PFC watchdog of the "
               "switches. Name this port's switch: fabric-agentctl neighbors",
     .read_port = read_pause<kReceived>},
};

// A scheduled fabric needs no CNPs.
std::optional<Measured> read_cnps_ignored(const View& view, const RuleWindow& rule, const Port& port) {
  if (fabric_of(view, port).kind == FabricKind::scheduled) return std::nullopt;
  return read_counters(view, rule, port);
}

constexpr Measurement kCnpIgnoredWindows[]{
    {.window = {"cnp_ignored", ratio, WindowLimits{1, kNever, kMinute, 0, kMinute}, "CNPs per second",
                "ours: a sender with its reaction point on ignores none", "none", 10},
     .meaning = "CNPs arrive and this sender does not reduce its rate.",
     .remedy =
         "Enable the ECN reaction point in the policy (ecn_rp for the RoCE priority; on NICs with one setting "
         "for all priorities: cc): fabric-agentctl plan --port {netdev}, then fabric-agentctl apply --port {netdev}",
     .sum = {{{{"CNPs ignored", &S::cnp_ignored}}}},
     .read_port = read_cnps_ignored},
};

constexpr Rule kPauseStorm{
    .id = "pause-storm",
    .group = group::counters,
    .title = "This port sends a PFC storm",
    .meaning =
        "This host does not drain its receive buffers and pauses the network, which spreads to every port of the "
        "switch. "
        "Measures the share of time with PFC pause sent, not the number of frames. Causes are a hung process, a slow "
        "PCIe link or failed GPU memory.",
    .inspect =
        "ethtool -S NETDEV | grep -iE 'pause|pfc|xoff|storm'; fabric-agentctl check --only pcie; "
        "nvidia-smi -q -d ECC or amd-smi metric --ecc",
    .fix = "Stop the hung process. If the storm continues, drain the node, then: devlink dev reload pci/ADDRESS",
    .windows = kPauseStormWindows,
};
constexpr Rule kPauseHeld{
    .id = "pause-held",
    .group = group::counters,
    .title = "This port is paused by a PFC storm",
    .meaning =
        "The switch pauses a priority of this port nearly all the time (PFC pause received): a receiver behind it does "
        "not accept its packets, or PFC is in deadlock. This host is the victim.",
    .inspect =
        "ethtool -S NETDEV | grep -iE 'pause|pfc|xoff'; on the switch: PFC counters and PFC watchdog of the ports "
        "towards the receivers",
    .fix = "Find the node whose check reports pause-storm and fix it there.",
    .windows = kPauseHeldWindows,
};
constexpr Rule kCnpIgnored{
    .id = "cnp-ignored",
    .group = group::counters,
    .title = "This sender ignores congestion notifications",
    .meaning = "Congestion notification packets (CNP) arrive and are ignored, so congestion ends in PFC pause.",
    .inspect = "fabric-agentctl show --port NETDEV",
    .fix =
        "Set ecn_rp in the policy to the RoCE priority, or cc to true if the driver has one setting for all "
        "priorities, then: fabric-agentctl apply",
    .windows = kCnpIgnoredWindows,
};

// The settings that decide the priority of the traffic, and which priorities are protected.
constexpr SettingId kOfUnprotectedTraffic[]{SettingId::pfc,       SettingId::trust,     SettingId::apptrust,
                                            SettingId::dscp_map,  SettingId::roce_dscp, SettingId::roce_prio,
                                            SettingId::roce_mode, SettingId::roce_tos,  SettingId::traffic_class};

constexpr Rule kUnprotectedTraffic{
    .id = "unprotected-traffic",
    .group = group::counters,
    .title = "RoCE traffic uses a priority without PFC",
    .meaning =
        "Compares the RDMA bytes of the port, and of its virtual functions and subfunctions that are visible here, "
        "with the port's bytes by priority: half of them or more used no priority with PFC (the policy's, if PFC is "
        "off). The traffic may not have losses yet, but PFC does not protect it when the network is congested. The "
        "priority follows from the DSCP, and the DSCP from the traffic class that the job gives to its queue pairs: "
        "traffic class = DSCP x 4, plus 2 for ECT(0).",
    .inspect = "ethtool -S NETDEV | grep -E 'prio[0-9]_bytes|bytes_pri'; fabric-agentctl show --port NETDEV",
    .fix =
        "Give the job the traffic class of this network (NCCL_IB_TC of fabric-agentctl topo --format nccl; "
        "UCX_IB_TRAFFIC_CLASS and NVSHMEM_IB_TRAFFIC_CLASS have the same value). For programs that set none: "
        "traffic_class (mlx5 with OFED) or roce_tos (rdma_cm) in the policy.",
    .limits = {&kMuchTraffic},
    .settings = kOfUnprotectedTraffic,
    .windows = kUnprotectedWindows,
};

// Settings as a cause of loss: PFC off at one end, RoCE on another priority, too little headroom.

constexpr Limit kBackground{"roce-unprotected",
                            "background_rate",
                            1e4,
                            "bytes a second of a priority",
                            "ours: PTP at its usual rates is about half of it",
                            0,
                            1e12};

using enum Symptom;

// True if a fabric with PFC loses packets.
bool loses_packets(const PortContext& ctx) { return !ctx.fabric.is_lossy() && ctx.symptoms.any_of({discards, loss}); }

double bytes_of(const PrioritySignals& priority) { return rise(priority.rx_bytes) + rise(priority.tx_bytes); }

// The priorities of the set with more than background traffic, if the port counts bytes by priority. Background is
// judged relative to RDMA's share, up to kMostBackground, and PTP's own rate always counts as background.
PrioSet with_traffic(const PortContext& ctx, PrioSet set) {
  constexpr double kBackgroundShare = 0.001, kMostBackground = 1e6;  // ours; bytes a second
  const Signals& seen = ctx.signals;
  double most = 0;
  for (const PrioritySignals& each : seen.priority) most = std::max(most, bytes_of(each));
  if (const double rdma = rise(seen.rx_bytes) + rise(seen.tx_bytes); rdma > 0) most = std::min(most, rdma);
  const double background = std::max(std::min(kBackgroundShare * most, kMostBackground * seen.seconds),
                                     ctx.limit(kBackground) * seen.seconds);
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = seen.priority[static_cast<size_t>(priority)];
    if (each.rx_bytes && each.tx_bytes && bytes_of(each) <= background)
      set.bits = static_cast<uint8_t>(set.bits & ~(1u << priority));
  }
  return set;
}

// The affected priorities without PFC in `pfc`: those with discards, else all lossless ones in use.
PrioSet affected_without(const PortContext& ctx, PrioSet pfc) {
  PrioSet affected = ctx.discarding;
  if (ctx.lossless_discards <= 0) affected = with_traffic(ctx, ctx.lossless.value_or(PrioSet{}));
  return affected.without(pfc);
}

// Only the switch calls these priorities lossless, and there is no sign that RoCE uses them: the port has PFC on
// another priority, and there is no policy, no discard and no byte count.
bool only_switch_has(const PortContext& ctx, PrioSet off) {
  if (ctx.port.qos.pfc->bits == 0 || ctx.policy_pfc || ctx.lossless_discards > 0) return false;
  for (const int priority : to_list(off))
    if (ctx.signals.priority[static_cast<size_t>(priority)].tx_bytes) return false;
  return true;
}

MaybeCause pfc_off_here(const PortContext& ctx) {
  if (!loses_packets(ctx) || !ctx.port.qos.pfc) return std::nullopt;
  PrioSet off = affected_without(ctx, *ctx.port.qos.pfc);
  if (ctx.policy_pfc) off.bits &= ctx.policy_pfc->bits;
  if (off.bits == 0) return std::nullopt;
  const auto& at_switch = ctx.switch_pfc;
  Cause out{.is_proven = !only_switch_has(ctx, off), .evidence = {}};
  out.add("PFC of this port: " + to_text(*ctx.port.qos.pfc) + "; priority " + list_text(off) + " is missing");
  if (at_switch) out.add("PFC of " + ctx.peer_label() + ": " + to_text(*at_switch));
  if (ctx.policy_pfc) out.add("PFC of the policy: " + to_text(*ctx.policy_pfc));
  out.add(all_loss_lines(ctx));
  return out;
}

MaybeCause pfc_off_switch(const PortContext& ctx) {
  const auto& at_switch = ctx.switch_pfc;
  if (!loses_packets(ctx) || !ctx.pfc() || !at_switch) return std::nullopt;
  const PrioSet off = affected_without(ctx, *at_switch);
  if ((off.bits & ctx.pfc()->bits) == 0) return std::nullopt;
  Cause out{.evidence = {"PFC of " + ctx.peer_label() + ": " + to_text(*at_switch) + "; priority " + list_text(off) +
                             " is missing",
                         ctx.pfc_text()}};
  if (ctx.sent.ratio > 0) out.add("this port sent pause, and the switch ignored it");
  out.add(all_loss_lines(ctx));
  return out;
}

constexpr SettingId kClassification[] = {SettingId::trust, SettingId::dscp_map, SettingId::apptrust};

bool differs_from_plan(const View& view, const Port& port, SettingId setting) {
  const Changes* changes = planned_changes(view, port.id());
  if (changes == nullptr) return false;
  for (const Change& change : *changes) {
    if (change.setting != setting || !change.sysctl.empty()) continue;
    const Outcome outcome = with_agent_outcome(view.now, change).outcome;
    if (!is_done(outcome) && (outcome != Outcome::unsupported || is_audit_only(port))) return true;
  }
  return false;
}

MaybeCause wrong_priority(const PortContext& ctx) {
  if (!loses_packets(ctx)) return std::nullopt;
  Cause out;
  if (ctx.port.qos.trust && *ctx.port.qos.trust != Trust::dscp && ctx.policy != nullptr &&
      ctx.policy->want.trust == Trust::dscp) {
    out.add("trust: have pcp, want dscp");
  } else {
    const std::vector<const Port*> members = members_of(ctx.view.now, ctx.port);
    for (const SettingId setting : kClassification) {
      bool differs = differs_from_plan(ctx.view, ctx.port, setting);
      for (const Port* member : members) differs = differs || differs_from_plan(ctx.view, *member, setting);
      if (differs) out.add(std::string(key_text(setting)) + " differs from the policy");
    }
  }
  if (std::string sent = unprotected(ctx, Direction::tx); !sent.empty()) {
    if (out.evidence.empty())
      out.next.emplace_back(
          "The application uses another traffic class: set the traffic class of this network (NCCL_IB_TC of "
          "fabric-agentctl topo --format nccl; roce_tos in the policy for rdma_cm)");
    out.add(std::move(sent));
  }
  if (out.evidence.empty()) return std::nullopt;
  // If RoCE's bytes are protected, the difference concerns other DSCPs.
  if (const std::string line = well_protected(ctx); !line.empty()) out.doubt(line);
  out.add(all_loss_lines(ctx));
  return out;
}

// RoCE that certainly arrived on priorities without PFC, of which this port discarded enough frames: the NIC has no
// other buffer for packets that the senders, or a switch on the way, mark so. Not if this port itself puts them there.
MaybeCause unprotected_arrival(const PortContext& ctx) {
  const Qos& have = ctx.port.qos;
  if (!loses_packets(ctx) || !ctx.symptoms.has(loss) || discards_explain_loss(ctx, ctx.lossless_discards) ||
      have.trust != Trust::dscp || !have.dscp_map)
    return std::nullopt;
  const auto shares = byte_shares(ctx.view, ctx.port, ctx.signals, Direction::rx);
  if (!shares || shares->all < ctx.limit(kMuchTraffic) || !roce_traffic_class(*have.dscp_map, shares->with_pfc))
    return std::nullopt;
  const double arrived = std::clamp(shares->all - shares->lossless, 0.0, shares->others);
  if (arrived <= (1 - ctx.limit(kProtected)) * shares->all) return std::nullopt;
  double discarded = 0;
  PrioSet at;
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = ctx.signals.priority[static_cast<size_t>(priority)];
    if (shares->with_pfc.has(priority) || !rose(each.discards) || !rose(each.rx_bytes)) continue;
    discarded += *each.discards;
    at.add(priority);
  }
  if (!discards_explain_loss(ctx, discarded)) return std::nullopt;
  Cause out;
  out.culprit = Culprit::peer;
  out.meaning =
      "RoCE arrives on a priority without PFC, and this port discards what its buffer cannot take: the senders use "
      "another traffic class, or a switch rewrites the DSCP.";
  out.add("of " + number_text(std::round(shares->all / 1e6)) + " MB RDMA received, at least " +
          percent(arrived / shares->all) + " used no priority with PFC (" + to_text(shares->with_pfc) + ")");
  out.add(plus("frames of priority " + list_text(at) + ", without PFC, discarded here", discarded));
  out.add(all_loss_lines(ctx));
  if (ctx.lossless_discards > 0) out.unexplained.add(discards);
  out.add_ambiguous("a switch that rewrites the DSCP looks the same as senders with another traffic class",
                    "Check the senders: fabric-agentctl check --only unprotected-traffic there. If they are in order, "
                    "look for a switch that rewrites the DSCP");
  out.next.emplace_back("On the senders: " + traffic_class_text(ctx.view, ctx.port));
  out.has_all_steps = true;  // the settings of this port are right
  return out;
}

MaybeCause unprotected_roce(const PortContext& ctx) {
  MaybeCause off = pfc_off_here(ctx);
  if (off && off->is_proven) return off;
  MaybeCause other_priority = wrong_priority(ctx);
  if (other_priority && other_priority->is_proven) return other_priority;
  if (auto arrival = unprotected_arrival(ctx)) return arrival;
  if (other_priority && !off) return other_priority;
  return off;
}

// No priority with discards sent pause in the window, by the port's own counters.
bool never_paused(const PortContext& ctx) {
  for (const int priority : to_list(ctx.discarding)) {
    const PrioritySignals& each = ctx.signals.priority[static_cast<size_t>(priority)];
    const bool is_counted = each.tx_pause_frames || each.tx_pause_seconds;
    if (!is_counted || rose(each.tx_pause_frames) || rose(each.tx_pause_seconds)) return false;
  }
  return true;
}

MaybeCause headroom(const PortContext& ctx) {
  if (!ctx.symptoms.has(discards) || !ctx.port.qos.pfc || receives_nothing(ctx) ||
      affected_without(ctx, *ctx.port.qos.pfc).bits != 0)
    return std::nullopt;
  const auto& at_switch = ctx.switch_pfc;
  std::string both_ends = "PFC of this port: " + to_text(*ctx.port.qos.pfc);
  if (at_switch) both_ends += "; of " + ctx.peer_label() + ": " + to_text(*at_switch);
  else both_ends += "; of the switch: unknown";
  Cause out{.is_proven = at_switch.has_value(), .evidence = {std::move(both_ends)}};
  const PauseShare& sent = ctx.sent;
  if (sent.ratio >= ctx.limit(kFaultPause) || is_lasting_storm(ctx)) out.unexplained.add(tx_pause);
  if (sent.ratio > 0) out.add(sent.text());
  else if (never_paused(ctx)) {
    out.add_ambiguous("this port never sent pause: the priority may be in a lossy receive buffer",
                      "Check prio2buffer and buffer_size first: fabric-agentctl plan --port " + ctx.port.netdev);
  }
  if (ctx.port.qos.cable_length) out.add("cable_length: " + std::to_string(*ctx.port.qos.cable_length) + " m");
  out.add(all_loss_lines(ctx));
  if (!discards_explain_loss(ctx, ctx.lossless_discards)) out.unexplained.add(loss);
  return out;
}

constexpr Rule kPfcOffSwitch{
    .id = "pfc-off-switch",
    .group = group::diagnosis,
    .title = "PFC is off on the switch port for a lossless priority of this host.",
    .meaning =
        "RoCE packets are lost, this port's PFC has the priority, and the switch announces (DCBX) PFC without it: it "
        "neither obeys pause for it nor sends any.",
    .fix = "Enable PFC for the priority on {peer}.\nCheck its announcement: fabric-agentctl neighbors",
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {discards, loss},
    .excludes = "Priorities without traffic.",
    .find_cause = pfc_off_switch,
};

constexpr Rule kUnprotected{
    .id = "roce-unprotected",
    .group = group::diagnosis,
    .title = "RoCE traffic of this port is not protected: PFC is off for its priority, or it uses another one.",
    .meaning =
        "RoCE packets are lost, and this port's PFC lacks a priority with traffic that the switch (LLDP, DCBX) or the "
        "policy has; or trust or the DSCP map differs from the policy; or less than 10 % of the RDMA bytes sent used a "
        "priority with PFC; or more than 10 % of those received used none, and this port discarded enough frames of "
        "these priorities.",
    .fix = "Inspect: fabric-agentctl plan --port {netdev}\nFix: fabric-agentctl apply --port {netdev}",
    .limits = {&kUnprotectedShare, &kProtected, &kMuchTraffic, &kBackground},
    .culprit = Culprit::host,
    .status = Status::critical,
    .explains = {discards, loss},
    .excludes = "A difference is not the cause if 90 % of the bytes used a priority with PFC in both directions.",
    .find_cause = unprotected_roce,
};

constexpr Rule kHeadroom{
    .id = "headroom",
    .group = group::diagnosis,
    .title = "Frames of a lossless priority overran this port's receive buffer: headroom is missing or too small.",
    .meaning =
        "Frames of a lossless priority were discarded here although PFC is on at both ends: the data in flight after "
        "pause was sent did not fit into the headroom, or the priority is in a buffer without headroom.",
    .fix =
        "Check cable length and buffers: fabric-agentctl show --port {netdev}\nSet cable_length to the real length, "
        "and buffer_size = \"auto\", in the policy.",
    .limits = {&kFewEvents, &kFaultPause, &kSendDiscards},
    .culprit = Culprit::host,
    .status = Status::critical,
    .explains = {discards, loss, tx_pause},
    .excludes =
        "Much larger losses are not explained by these frames. Not concluded if the PFC of the switch is unknown.",
    .find_cause = headroom,
};

// Causes of congestion: ignored CNPs and ECN marks, and the reason for pause received.

constexpr Limit kCongested{"paused-by-network",
                           "congestion_rate",
                           10,
                           "CNPs a second",
                           "ours: fewer in a window of seconds are not congestion",
                           0.1,
                           1e9};

using enum Symptom;

MaybeCause ecn_off(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  const bool ignores = ctx.symptoms.has(ignored), answers_none = ctx.symptoms.has(unanswered);
  if (!ignores && !answers_none) return std::nullopt;
  const auto &rp = ctx.port.qos.ecn_rp, &np = ctx.port.qos.ecn_np;
  Cause out;
  if (ignores) {
    out.add(plus("CNPs received and ignored", *seen.cnp_ignored));
    if (without_congestion_control(ctx, rp).bits != 0) out.add("ecn_rp of this port: " + to_text(*rp));
    if (ctx.symptoms.has(rx_pause)) out.add(ctx.received.text());
  } else {
    out.unexplained.add(rx_pause);
  }
  if (answers_none) {
    out.add(plus("ECN-marked packets received", *seen.ecn_marked));
    out.add("CNPs sent: none");
    if (np) out.add("ecn_np of this port: " + to_text(*np));
  }
  if (ctx.port.qos.cc == false) out.add("cc of this port: off");
  return out;
}

// CNPs received concern the traffic that this port sends; marks and CNPs sent concern the traffic it receives, which
// pause received does not stop.
double congestion_per_second(const Signals& seen) {
  if (seen.seconds <= 0) return 0;
  return seen.cnp_handled.value_or(std::max(rise(seen.cnp_sent), rise(seen.ecn_marked))) / seen.seconds;
}

// True if congestion counters exist and all are 0 since they were reset. A bond's members have none.
bool was_never_marked(const PortContext& ctx) {
  using namespace metrics;
  bool is_counted = false;
  for (const Counter& each : ctx.port.counters.hw) {
    if (each.row == nullptr) continue;
    const Metric* metric = each.row->metric;
    if (metric != &kCnpSent && metric != &kCnpHandled && metric != &metrics::kCnpIgnored && metric != &kEcnMarked)
      continue;
    if (each.value > 0) return false;
    is_counted = true;
  }
  return is_counted;
}

// The first port of this host with a PFC storm: its pause may spread back to this port.
std::string storming_port(const View& view) {
  for (const Port& port : view.now.ports) {
    const Signals* seen = signals_of_port(view, port);
    if (seen == nullptr || is_virtual(port)) continue;
    const PortContext other = make_context(view, port, *seen);
    if (other.symptoms.has(tx_pause) && is_lasting_storm(other)) return port.id();
  }
  return {};
}

MaybeCause paused_by_network(const PortContext& ctx) {
  Cause out;
  const Signals& seen = ctx.signals;
  if (ctx.symptoms.has(starved)) {  // credits come only from the far end of the cable; a link that retrains waits too
    out.add("data to send and no credits for at least " + percent(*starved_share(ctx)) + " of the time; " +
            plus("port_xmit_wait ticks", *seen.transmit_wait));
    if (ctx.symptoms.any_of({link, overrun})) out.doubt("but this link has errors, and waits while it retrains");
    else out.add("this link has no errors");
    out.meaning = "The fabric gives this port too few credits: a port behind it is full.";
    out.next.emplace_back(
        "Follow PortXmitWait along the path (ibqueryerrors): the slow port is behind the last one that waits.");
    return out;
  }
  if (!ctx.symptoms.has(rx_pause)) return std::nullopt;
  const PauseShare& received = ctx.received;
  out.add(received.text());
  if (received.priority < 0 && ctx.pfc() && ctx.pfc()->bits != 0) {
    out.add(plus("global pause frames received", rise(seen.rx_global_pause_frames)));
    out.add(ctx.pfc_text());
    std::string step = "On " + ctx.peer_label() + ": disable 802.3x flow control";
    if (!ctx.fabric.is_lossy()) step += ", and enable PFC for the RoCE priority";
    out.next.push_back(step + ".");
    return out;
  }
  if (ctx.fabric.is_lossy()) {  // nothing should pause
    if (received.ratio >= ctx.limit(kFaultPause)) out.status = Status::critical;
    out.add("the fabric is lossy by the policy, and " + ctx.peer_label() + " sends pause");
    out.next.push_back("Switch pause and PFC off on " + ctx.peer_label() +
                       " and on this port, or correct the kind of the fabric.");
    return out;
  }
  if (congestion_per_second(seen) >= ctx.limit(kCongested) || received.ratio < ctx.limit(kFaultPause))
    return std::nullopt;
  out.status = Status::critical;
  if (ctx.fabric.kind == FabricKind::scheduled) {
    out.is_proven = received.measured;
    out.add_ambiguous(
        "a scheduled fabric marks nothing: its leaf also pauses while many senders share one receiver",
        "Compare the receivers: fabric-agentctl diagnose there; one with its link full is incast, one with "
        "an idle link and PFC pause sent is slow");
    return out;
  }
  const bool is_counted = seen.cnp_handled || seen.cnp_sent || seen.ecn_marked;
  out.is_proven = is_counted && received.measured;
  out.add(is_counted ? "hardly any CNP arrived with it" : "this driver does not count CNPs");
  const auto& rp = ctx.port.qos.ecn_rp;
  if (without_congestion_control(ctx, rp).bits != 0)
    out.doubt("but ecn_rp of this port is " + to_text(*rp) + ": it would ignore CNPs");
  // The switches may not mark, or another port's storm may spread: this end cannot decide.
  if (is_counted && was_never_marked(ctx))
    out.add_ambiguous(
        "no mark and no CNP was ever counted here: if the switches do not mark, any congestion looks like this",
        "Check first that the switches mark (ECN) the queue of the RoCE priority before they pause");
  if (const std::string source = storming_port(ctx.view); !source.empty())
    out.add_ambiguous(source + " of this host has a PFC storm, which spreads: it may be the source",
                      "Fix " + source + " first, and check whether this ends with it");
  if (received.priority < 0)
    out.next.push_back(
        {"Global pause stops every priority: enable PFC for the RoCE priority, and turn global pause off on " +
             ctx.peer_label() + " and on this port: ",
         {work_of_write(ctx.port, SettingId::pause), "ethtool -A " + ctx.port.netdev + " rx off tx off"}});
  return out;
}

// Lossless networks pause. This is information, not a fault.
MaybeCause congestion(const PortContext& ctx) {
  if (ctx.fabric.is_lossy()) return std::nullopt;
  const PauseShare &received = ctx.received, &sent = ctx.sent;
  Cause out{.is_proven = false, .evidence = {}};
  if (ctx.symptoms.has(rx_pause) && received.measured &&
      (congestion_per_second(ctx.signals) >= ctx.limit(kCongested) || received.ratio < ctx.limit(kFaultPause))) {
    out.is_proven = true;
    out.add(received.text());
    const Signals& seen = ctx.signals;
    if (rose(seen.cnp_handled)) out.add(plus("CNPs received and handled", *seen.cnp_handled));
    else if (rose(seen.cnp_sent)) out.add(plus("CNPs sent", *seen.cnp_sent));
    else if (rose(seen.ecn_marked)) out.add(plus("ECN-marked packets received", *seen.ecn_marked));
  } else {
    out.unexplained.add(rx_pause);
  }
  // A port that sends pause and discards frames nonetheless does not work.
  if (ctx.symptoms.has(tx_pause) && !ctx.symptoms.has(discards) && sent.measured &&
      sent.ratio < ctx.limit(kFaultPause) && !is_lasting_storm(ctx) && !sends_pause_alone(ctx)) {  // slow-host
    out.is_proven = true;
    out.add(sent.text());
  } else {
    out.unexplained.add(tx_pause);
  }
  if (out.is_proven && !ctx.symptoms.any_of({loss, discards})) out.add("no loss");
  if (out.evidence.empty() && ctx.symptoms.has(rx_pause)) out.add(received.text());
  if (out.evidence.empty()) return std::nullopt;
  return out;
}

}  // namespace

constexpr Rule kEcnOff{
    .id = "ecn-off",
    .group = group::diagnosis,
    .title = "Congestion control is off on this port: it ignores CNPs, or does not answer ECN marks.",
    .meaning =
        "The NIC ignored 10 % of the CNPs or more, at least one a second; or 1000 or more ECN-marked packets arrived "
        "and no CNP was sent, on a RoCE port whose ecn_np lacks the priority or is unknown.",
    .fix =
        "Inspect the settings of congestion control: fabric-agentctl show --port {netdev}\nFix: enable them in the "
        "policy (ecn_rp and ecn_np for the RoCE priority; on NICs with one setting for all priorities: cc), then "
        "fabric-agentctl apply --port {netdev}. If the driver has none, fabric-agentctl plan shows what to do",
    .limits = {&kIgnoredCnps, &kMarked, &kFewEvents},
    .culprit = Culprit::host,
    .explains = {ignored, unanswered, rx_pause},
    .excludes = "Delay-based congestion control needs no CNPs.",
    .find_cause = ecn_off,
};

constexpr Rule kPausedByNetwork{
    .id = "paused-by-network",
    .group = group::diagnosis,
    .title =
        "The network stops this port without congestion on the paths of this port: a receiver or a link elsewhere is "
        "full.",
    .meaning =
        "PFC pause, or global pause of a port without PFC, received for 20 % of the window with hardly any CNP: the "
        "full "
        "queue is not filled by this port's packets. Or global pause frames on a port with PFC. Or InfiniBand: data "
        "and no credits for 5 % of the window "
        "(a tick of port_xmit_wait counts as eight bytes).",
    .fix =
        "Find the port that sends pause: fabric-agentctl diagnose on the other hosts of the pod, and the pause "
        "counters "
        "of {peer} towards them. The first host with pause sent is the source.\nIf there is none, compare "
        "the ECN marking of {peer} with that of the switches above it.",
    .fix_scheduled =
        "Find the receiver: fabric-agentctl diagnose on the other hosts of the job; the first host with PFC pause sent "
        "is the source.\nIf there is none, compare the virtual output queues and credits of {peer} towards the "
        "receivers.",
    .fix_infiniband =
        "Run fabric-agentctl diagnose on the hosts behind that port: the first one that receives too slowly, or whose "
        "link has errors, is the cause.\nIf there is none, many senders meet there: read the discards along the path "
        "(ibqueryerrors), and check routing and congestion control of the subnet manager.",
    .limits = {&kFaultPause, &kCongested, &kStarved, &kPausedBytes},
    .culprit = Culprit::network,
    .explains = {rx_pause, starved},
    .excludes = "Drivers that count no CNPs or no pause time; a link with errors, which waits while it retrains.",
    .find_cause = paused_by_network,
};

constexpr Rule kBusyNetwork{
    .id = "busy-network",
    .group = group::diagnosis,
    .title = "The lossless network is busy, and works: PFC pauses, and congestion control slows the senders.",
    .meaning =
        "Pause received for more than 5 % of the window with ten CNPs a second or more for this port's traffic, or "
        "pause in either direction for 5 to 20 %.",
    .fix =
        "If the job is slow, look at incast: queue depth and ECN marks of {peer} and the switches above, job placement "
        "and rail use.",
    .limits = {&kPauseShare, &kPauseFramesShare, &kFaultPause, &kCongested},
    .culprit = Culprit::none,
    .status = Status::ok,
    .explains = {rx_pause, tx_pause},
    .excludes =
        "Drivers that count pause frames and no pause time; a port that sends pause and receives none (slow-host).",
    .find_cause = congestion,
};

constexpr Rule kTable[]{kPfcAndPause, kPfcOnLossy, kPfcWatchdog,        kCongestion,   kPauseStorm,
                        kPauseHeld,   kCnpIgnored, kUnprotectedTraffic, kPfcOffSwitch, kUnprotected,
                        kHeadroom,    kEcnOff,     kPausedByNetwork,    kBusyNetwork};
const std::span<const Rule> kPfcRules = kTable;

}  // namespace fabric
