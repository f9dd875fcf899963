// SPDX-License-Identifier: Apache-2.0
// Health of flow control: PFC pause sent and received, PFC storms, ignored CNPs.
#include <cmath>

#include "health/rule.h"

namespace fabric {
namespace {

using enum HealthMeasure;
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
std::optional<HealthReading> read_pause(const View& view, const HealthRule&, const Port& port) {
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
  if (const Rise& all = signals->*Pauses.global; all && (!most || *all > *most))
    most = all, what = "global pause " + std::string(Pauses.direction);
  if (!most) return std::nullopt;
  const double share = std::min(1.0, *most / signals->seconds);
  return HealthReading{port.id(), share * signals->seconds, signals->seconds,
                       what + ": " + number_text(std::round(share * 1000) / 10) + " % of " +
                           (share > 0 ? number_text(std::round(signals->seconds * 10) / 10) + " s" : "the time")};
}

constexpr std::string_view
    kPauseUnit = "share of the time",
    kStormRemedy =
        "Look for a hung process or GPU: journalctl -k -b; nvidia-smi or amd-smi. Check the PCIe link: "
        "fabric-agentctl check --only pcie. Reset the NIC if it continues: devlink dev reload pci/{pci}";

constexpr HealthRow kRules[]{
    {.check = "pause-storm",
     .window = {"tx_pause", ratio, HealthLimits{0.8, 0.99, 10, 10, 30}, kPauseUnit,
                "SONiC's PFC watchdog: more than 80 % of the detection time (most ASICs), 99 % (Mellanox)",
                "PFC pause sent for less than 80 % of the time", 0},
     .meaning = "PFC storm: this host does not drain its receive buffers, and its pause frames stop the network.",
     .remedy = kStormRemedy,
     .read_port = read_pause<kSent>},
    {.check = "pause-storm",
     .window = {"pause_storms", count, HealthLimits{1, 1, kMinute, 0, kMinute}, "PFC storms",
                "ours: the NIC counts one when its own watchdog had to act", "none"},
     .meaning = "The NIC counted a PFC storm: this host did not drain its receive buffers and stopped the network.",
     .remedy = kStormRemedy,
     .sum = {{{{"PFC storms", &S::pause_storm_events}}}}},
    {.check = "pause-held",
     .window = {"rx_pause", ratio, HealthLimits{0.8, kNever, 10, 10, 30}, kPauseUnit,
                "as tx_pause, and the host that sends pause is at fault",
                "PFC pause received for less than 80 % of the time", 0},
     .meaning = "The switch pauses this port almost all the time: a receiver beyond it does not drain its buffers.",
     .remedy = "Find the host that sends PFC pause (check pause-storm there), and check the PFC watchdog of the "
               "switches. Name this port's switch: fabric-agentctl neighbors",
     .read_port = read_pause<kReceived>},
    {.check = "cnp-ignored",
     .window = {"cnp_ignored", ratio, HealthLimits{1, kNever, kMinute, 0, kMinute}, "CNPs per second",
                "ours: a sender with its reaction point on ignores none", "none", 10},
     .meaning = "CNPs arrive and this sender does not reduce its rate.",
     .remedy =
         "Enable the ECN reaction point in the policy (ecn_rp for the RoCE priority; on NICs with one setting "
         "for all priorities: cc): fabric-agentctl plan --port {netdev}, then fabric-agentctl apply --port {netdev}",
     .sum = {{{{"CNPs ignored", &S::cnp_ignored}}}}},
};

}  // namespace

std::span<const HealthRow> pause_health_rules() { return kRules; }

extern const Check kPauseStormCheck{
    .id = "pause-storm",
    .group = group::counters,
    .title = "This port sends a PFC storm",
    .meaning =
        "This host does not take what it receives and pauses the network, which spreads to every port of the switch. "
        "Measures the share of time with PFC pause sent, not the number of frames. Causes are a hung process, a slow "
        "PCIe link or failed GPU memory.",
    .inspect =
        "ethtool -S NETDEV | grep -iE 'pause|pfc|xoff|storm'; fabric-agentctl check --only pcie; "
        "nvidia-smi -q -d ECC or amd-smi metric --ecc",
    .fix = "Stop the hung process. If the storm continues: devlink dev reload pci/ADDRESS",
};
extern const Check kPauseHeldCheck{
    .id = "pause-held",
    .group = group::counters,
    .title = "This port is paused by a PFC storm",
    .meaning =
        "The switch pauses a priority of this port nearly all the time (PFC pause received): a receiver behind it does "
        "not take its packets, or PFC is in deadlock. This host is the victim.",
    .inspect =
        "ethtool -S NETDEV | grep -iE 'pause|pfc|xoff'; on the switch: PFC counters and PFC watchdog of the ports "
        "towards the receivers",
    .fix = "Find the node whose check reports pause-storm and fix it there.",
};
extern const Check kCnpIgnoredCheck{
    .id = "cnp-ignored",
    .group = group::counters,
    .title = "This sender ignores congestion notifications",
    .meaning = "Congestion notification packets (CNP) arrive and are ignored, so congestion ends in PFC pause.",
    .inspect = "fabric-agentctl show --port NETDEV",
    .fix =
        "Set ecn_rp in the policy to the RoCE priority, or cc to true where the driver has one setting for all "
        "priorities, then: fabric-agentctl apply",
};

}  // namespace fabric
